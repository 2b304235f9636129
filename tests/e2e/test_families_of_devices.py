"""Rounds at tables of every device family, with what goes wrong on its line: what lay is what was dealt.

With a checksum no wrong card is ever confirmed. Without one, wrong cards are counted and the rate is printed
beside the expected one. A few rounds of line faults each; TABLECTL_SOAK=1 plays a thousand of each family
with every fault of the catalogue.
"""

from __future__ import annotations

import asyncio
import os
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import oracle_cards
import pytest
from e2e.laid import Laid
from e2e.revisions import as_it_stands, refunded
from oracle import expected_balances

from controller.cards import Card
from controller.station.config import StationConfig, load
from controller.station.replay import verify_recording
from controller.table.events import IncidentKind
from simulators.faults.catalogue import BETWEEN_ROUNDS, LIVE, Amount, Course, Plan
from simulators.faults.garbled import DOUBLED, NO_CARD, READ_AGAIN, UNNOTICED
from simulators.faults.line_faults import GARBLED, LINE_FAULTS, with_line
from simulators.links import DirectLink, FastLinks, Link
from simulators.simulate_command import START_US
from simulators.studio import OPENING_BALANCE, Studio, differences
from simulators.world import World

CONFIG = Path(__file__).parents[2] / "config"
SOAK = bool(os.environ.get("TABLECTL_SOAK"))
TABLES = {"delimited": "demo", "feig_obid": "feig", "zebra_ssi": "ssi"}
GARBLES = (UNNOTICED, DOUBLED, READ_AGAIN, NO_CARD)
"""What a wrong bit may come to where nothing checks it."""
CHECKED = ("feig_obid", "zebra_ssi")
"""The families whose frames have a checksum."""
SEED = 4
GARBLED_ROUNDS = 1000 if SOAK else 12
REAL_ROUNDS = 60 if SOAK else 3


class Played(NamedTuple):
    """A table that has been played to its end."""

    family: str
    config: StationConfig
    studio: Studio
    laid: Laid

    def lay(self, number: int) -> list[str]:
        """Return the cards that really lay in a round, in the order of dealing."""
        dealer = self.studio.dealer
        out_count, burned = dealer.out[number]
        shoe = dealer.shoe_of(number, dealer.deals[number])[:out_count]
        return [str(card) for index, card in enumerate(shoe) if index not in burned]

    def wrong(self) -> dict[int, list[tuple[str, str]]]:
        """Return the confirmed rounds with cards that were read as others: which lay, and what was read."""
        found = {}
        for number, cards in self.laid.confirmed.items():
            pairs = zip(self.lay(number), cards, strict=True)
            if differ := [(lay, read) for lay, read in pairs if read is not None and lay != read]:
                found[number] = differ
        return found


def config_in(folder: Path, family: str) -> StationConfig:
    """Copy the family's table so that everything it makes lies in `folder`."""
    for kind in ("games", "decks", "profiles", "tables"):
        (folder / kind).mkdir(parents=True)
        for file in (CONFIG / kind).glob("*.toml"):
            (folder / kind / file.name).write_text(file.read_text().replace("../../run", "../run"))
    return load(folder / "tables" / f"{TABLES[family]}.toml")


def course_of(family: str) -> Course:
    """What can go wrong; without a card that the scanner's own eye takes for another, where frames are
    checked: that is nothing that a line can do."""
    if not SOAK:
        more = [fault for fault in LIVE.faults if fault.id in GARBLES and family not in CHECKED]
        return LIVE._replace(faults=(*LINE_FAULTS[family], *more))
    course = with_line(LIVE, family)
    if family not in CHECKED:
        return course
    return course._replace(faults=tuple(fault for fault in course.faults if fault.id != UNNOTICED))


def play(config: StationConfig, link: Link, plan: Plan, rounds: int) -> Played:
    """Let a studio play the rounds."""
    studio = Studio(config, seed=SEED, rounds=rounds, plan=plan)
    laid = Laid()
    asyncio.run(World(link, (*studio.actors, laid), is_done=studio.dealer.is_done).run())
    return Played(next(iter(config.scanners.values())).family, config, studio, laid)


@pytest.fixture(scope="module", params=TABLES)
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A family's table, played in this process."""
    family = request.param
    config = config_in(tmp_path_factory.mktemp(family), family)
    course = course_of(family)
    rounds = 1000 if SOAK else len(course.faults)
    return play(config, DirectLink(config, START_US), Plan(SEED, Amount.MANY, course=course), rounds)


def test_what_the_line_does_is_repaired_or_becomes_its_incident(played: Played) -> None:
    assert differences(played.studio) == []
    committed = {case.fault.id for case in played.studio.dealer.committed.values()}
    print(f"\n{played.family}: {len(played.laid.confirmed)} rounds confirmed; {sorted(committed)}")
    assert len(committed) >= len(LINE_FAULTS[played.family]) // 2


def test_only_a_line_without_a_checksum_confirms_a_wrong_card(played: Played) -> None:
    wrong, dealer = played.wrong(), played.studio.dealer
    read = sum(map(len, played.laid.confirmed.values()))
    print(f"\n{played.family}: {read} cards confirmed, {len(wrong)} of them wrong")
    assert read > 0 and (played.family not in CHECKED or wrong == {})
    told = {
        number: [(str(misread.card), str(misread.read_as))] for number, misread in dealer.misreads.items()
    }
    assert wrong == {number: told[number] for number in told if number in played.laid.confirmed}


def test_no_card_lies_twice_and_every_doubled_one_was_asked_about(played: Played) -> None:
    for cards in played.laid.confirmed.values():
        known = [card for card in cards if card is not None]
        assert len(set(known)) == len(known)
    kind, records = IncidentKind.SAME_CODE_AGAIN, played.studio.auditor.rounds
    committed = played.studio.committed()
    doubled = [
        name
        for name, case in committed.items()
        if kind in dict(case.fault.incidents) and case.fault.id not in BETWEEN_ROUNDS
    ]
    asked = [name for name in doubled if kind in dict(records[name].incidents)]
    assert asked == doubled and (doubled or played.family == "feig_obid")


def test_every_balance_is_what_the_oracle_says(played: Played) -> None:
    studio = played.studio
    assert studio.wallet.waiting() == () and studio.wallet.trial_balance() == ()
    rounds = []
    for roundid in studio.auditor.rounds:
        if bets := studio.betting.bets_of(roundid):
            number = int(roundid.split("-")[1])
            shoe = as_it_stands(studio, number, studio.dealer.shoe_of(number, studio.dealer.deals[number]))
            rounds.append({"cards": cards_of(studio, number, shoe), "bets": refunded(studio, number, bets)})
    opening = dict.fromkeys(studio.betting.crowd.players, OPENING_BALANCE)
    assert studio.wallet.balances() == expected_balances(opening, rounds)


def cards_of(studio: Studio, number: int, shoe: list[Card]) -> Any:
    """Lay the cards by hand, burned ones left out."""
    out_count, burned = studio.dealer.out[number]
    return oracle_cards.live([str(card) for at, card in enumerate(shoe[:out_count]) if at not in burned])


def test_a_session_with_answers_and_polls_replays_to_the_byte(played: Played) -> None:
    [recording] = sorted((played.config.table_dir / "sessions").glob("*.capture"))
    assert verify_recording(recording).difference is None


def test_the_rate_of_wrong_cards_without_a_checksum_is_the_expected_one(tmp_path: Path) -> None:
    """Every round has one code with one wrong bit, on a card that nobody sees at once."""
    config = config_in(tmp_path, "delimited")
    plan = Plan(SEED, Amount.MANY, GARBLED, course=with_line(LIVE, "delimited"))
    played = play(config, DirectLink(config, START_US), plan, GARBLED_ROUNDS)
    garbled = played.studio.dealer.garbled.values()
    chances = [float(one.chance) for one in garbled]
    unnoticed = sum(one.fault == UNNOTICED for one in garbled)
    expected, spread = sum(chances), sqrt(sum(chance * (1 - chance) for chance in chances))
    print(
        f"\n{len(chances)} codes with a wrong bit: {unnoticed} ({unnoticed / len(chances):.1%}) read as "
        f"another card, expected {expected:.1f} ({expected / len(chances):.1%}); "
        f"{len(played.wrong())} confirmed"
    )
    assert differences(played.studio) == []
    assert abs(unnoticed - expected) <= 4 * spread
    assert len(played.wrong()) <= unnoticed


@pytest.mark.parametrize("family", CHECKED if SOAK else ["zebra_ssi"])
def test_the_same_rounds_over_real_lines(tmp_path: Path, family: str) -> None:
    """A device that hears and repeats lives the same life over a pty as in this process."""
    ended = []
    for name in ("real", "direct"):
        config = config_in(tmp_path / name, family)
        link: Link = FastLinks(config, START_US) if name == "real" else DirectLink(config, START_US)
        plan = Plan(SEED, Amount.MANY, course=LIVE._replace(faults=LINE_FAULTS[family]))
        played = play(config, link, plan, REAL_ROUNDS)
        assert differences(played.studio) == []
        ended.append((played.laid.confirmed, played.studio.wallet.balances()))
    assert len(ended[0][0]) == REAL_ROUNDS and ended[0] == ended[1]
