"""A table at which one scanner deals, a second capture sees every card again, and each place has a reader.

What they miss, see wrongly or see elsewhere is asked about one to one, and every balance is as the oracle
says. Each fault of the readers once; TABLECTL_SOAK=1 plays a thousand rounds with every fault there is.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from pathlib import Path

import oracle_cards
import pytest
from e2e.revisions import as_it_stands, refunded
from oracle import expected_balances

from controller.bus.envelope import decode, event_of
from controller.journal import Days, Reader
from controller.station.config import StationConfig, load
from controller.station.replay import verify_recording
from controller.table.events import Audience, ReadCompared
from simulators.faults.catalogue import LIVE, Amount, Course, Plan
from simulators.faults.courses import BACCARAT
from simulators.faults.line_faults import GARBLED, with_line
from simulators.faults.misdeeds import DEEDS
from simulators.faults.reader_faults import OF_A_CAPTURE, OF_PADS, with_readers
from simulators.links import DirectLink, FastLinks, Link
from simulators.simulate_command import START_US
from simulators.studio import OPENING_BALANCE, Studio, differences
from simulators.world import World

CONFIG = Path(__file__).parents[2] / "config"
SOAK = bool(os.environ.get("TABLECTL_SOAK"))
OF_READERS = (*OF_A_CAPTURE, *OF_PADS)
ROUNDS = 1000 if SOAK else len(OF_READERS) + 1
REAL_ROUNDS = 60 if SOAK else 2
SEED = 6
"""Its first rounds have each fault of the readers once."""
WITH_ANOTHER_CARD = 4
"""A seed whose first garbled code is another card's."""
CAPTURE = "capture"
pytestmark = pytest.mark.timeout(7200 if SOAK else 120)


def config_in(folder: Path) -> StationConfig:
    """Copy the table so that everything it makes lies in `folder`."""
    for kind in ("games", "decks", "profiles", "tables"):
        (folder / kind).mkdir(parents=True)
        for file in (CONFIG / kind).glob("*.toml"):
            (folder / kind / file.name).write_text(file.read_text().replace("../../run", "../run"))
    return load(folder / "tables" / "many_readers.toml")


def course_of(config: StationConfig) -> Course:
    """What can go wrong: with the readers and, in the soak, all else that can."""
    if not SOAK:
        return LIVE._replace(faults=OF_READERS)
    return with_readers(with_line(LIVE, "delimited"), config.settings.second_readers)


def play(config: StationConfig, link: Link, plan: Plan, rounds: int) -> Studio:
    studio = Studio(config, seed=SEED, rounds=rounds, plan=plan)
    asyncio.run(World(link, studio.actors, is_done=studio.dealer.is_done).run())
    return studio


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> StationConfig:
    return config_in(tmp_path_factory.mktemp("readers"))


@pytest.fixture(scope="module")
def studio(config: StationConfig) -> Studio:
    """A table that has been played to its end in this process."""
    plan = Plan(SEED, Amount.MANY, course=course_of(config))
    return play(config, DirectLink(config, START_US), plan, ROUNDS)


def test_faults_and_incidents_match_one_to_one(studio: Studio) -> None:
    assert differences(studio) == []
    committed = Counter(case.fault.id for case in studio.dealer.committed.values())
    print(f"\n{dict(sorted(committed.items()))}")
    assert {fault.id for fault in OF_READERS} <= committed.keys()


def test_every_balance_is_what_the_oracle_says(studio: Studio) -> None:
    wallet, dealer = studio.wallet, studio.dealer
    assert wallet.waiting() == () and wallet.total() == 0 and wallet.trial_balance() == ()
    rounds = []
    for roundid in studio.auditor.rounds:
        if bets := studio.betting.bets_of(roundid):
            number = int(roundid.split("-")[1])
            out_count, burned = dealer.out[number]
            shoe = as_it_stands(studio, number, dealer.shoe_of(number, dealer.deals[number]))
            laid = [str(card) for at, card in enumerate(shoe[:out_count]) if at not in burned]
            rounds.append({"cards": oracle_cards.live(laid), "bets": refunded(studio, number, bets)})
    opening = dict.fromkeys(studio.betting.crowd.players, OPENING_BALANCE)
    assert len(rounds) > ROUNDS * 3 // 4
    assert wallet.balances() == expected_balances(opening, rounds)


def test_every_reader_has_looked_and_the_journal_verifies(config: StationConfig, studio: Studio) -> None:
    seen: Counter[str] = Counter()
    for path in Days(config.table_dir).paths():
        with Reader.open(path) as reader:
            for step in reader.steps():
                events = (event_of(decode(raw)) for raw in step.messages.get(Audience.AUDIT, ()))
                seen.update(event.scanner for event in events if isinstance(event, ReadCompared))
    confirmed = sum(record.terminals == ["confirmed"] for record in studio.auditor.rounds.values())
    print(f"\n{confirmed} rounds confirmed; looks: {dict(seen)}")
    assert seen[CAPTURE] > 20 * confirmed
    pads = {name: seen[name] for name, place in config.settings.second_readers.items() if place}
    assert len(pads) == 4 and min(pads.values()) > 4 * confirmed
    assert list(Days(config.table_dir).verify()) == []


def test_the_recording_replays_to_the_byte(config: StationConfig, studio: Studio) -> None:
    [recording] = sorted((config.table_dir / "sessions").glob("*.capture"))
    assert verify_recording(recording).difference is None


def test_a_garbled_code_is_never_confirmed_where_others_look(tmp_path: Path) -> None:
    """Without a checksum it may be another card's; the second capture sees which card it was."""
    config = config_in(tmp_path)
    course = with_readers(with_line(LIVE, "delimited"), config.settings.second_readers)
    plan = Plan(WITH_ANOTHER_CARD, Amount.MANY, GARBLED, course=course)
    studio = play(config, DirectLink(config, START_US), plan, 200 if SOAK else 4)
    assert differences(studio) == []
    assert "shoe-misread" in {case.fault.id for case in studio.dealer.committed.values()}
    assert not studio.dealer.misreads


def test_a_second_capture_beside_a_shoe_whose_codes_spell_values(tmp_path: Path) -> None:
    """No shipped table has one. A value may come again, and a card that is scanned again passes it again."""
    config_in(tmp_path)
    table, profile = tmp_path / "tables" / "baccarat.toml", tmp_path / "profiles" / "baccarat.toml"
    text = table.read_text()
    shoe = text[text.index("[scanners.shoe]") :]
    capture = shoe.replace("scanners.shoe", "scanners.capture").replace("devices/shoe", "devices/capture")
    head = "[scanners.capture]\n"
    table.write_text(text + capture.replace(head, f'\n{head}reads = "second"\n', 1))
    limits = profile.read_text()
    profile.write_text(limits.replace("[limits]\n", "[limits]\nsecond_capture_agrees = true\n"))
    config = load(table)
    faults = with_readers(BACCARAT, config.settings.second_readers).faults[-len(OF_A_CAPTURE) :]
    plan = Plan(SEED, Amount.MANY, course=BACCARAT._replace(faults=faults))
    studio = play(config, DirectLink(config, START_US), plan, 300 if SOAK else len(faults) + 2)
    assert differences(studio) == []
    assert {fault.id for fault in OF_A_CAPTURE} <= {
        case.fault.id for case in studio.dealer.committed.values()
    }


def test_the_same_rounds_over_real_lines(tmp_path: Path) -> None:
    ended = []
    for name in ("real", "direct"):
        config = config_in(tmp_path / name)
        link: Link = FastLinks(config, START_US) if name == "real" else DirectLink(config, START_US)
        course = LIVE._replace(faults=OF_READERS)
        studio = play(config, link, Plan(SEED, Amount.MANY, course=course), REAL_ROUNDS)
        assert differences(studio) == []
        ended.append((studio.committed(), studio.wallet.balances()))
    assert len(ended[0][0]) == REAL_ROUNDS and ended[0] == ended[1]


def test_only_a_table_with_such_readers_has_their_faults() -> None:
    pads = {f"pad_{place}": place for place in ("box1", "box2", "box3", "dealer")}
    assert with_readers(LIVE, {}) == LIVE
    assert with_readers(LIVE, {CAPTURE: None}).faults == (*LIVE.faults, *OF_A_CAPTURE)
    assert with_readers(LIVE, pads).faults == (*LIVE.faults, *OF_PADS)
    assert with_readers(LIVE, {CAPTURE: None, "pad_box1": "box1"}).faults == (*LIVE.faults, *OF_A_CAPTURE)
    assert all(fault.id in DEEDS for fault in OF_READERS)
