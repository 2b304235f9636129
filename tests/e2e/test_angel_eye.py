"""Baccarat out of an Angel Eye shoe with every fault of table, shoe and line: frames in, balances out.

No wrong card is ever confirmed, since every frame is checked. TABLECTL_SOAK=1 plays a thousand rounds.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import oracle_baccarat as oracle
import pytest
from e2e.coups import Coups
from e2e.laid import Laid

from controller.bus.envelope import decode, event_of
from controller.journal import Days
from controller.station.config import StationConfig, load
from controller.station.replay import verify_recording
from controller.table.events import ShoeJudged
from drivers.angel_eye import FAMILY
from simulators.actor import Feed, Listener, Planned
from simulators.faults.catalogue import Amount, Course, Plan
from simulators.faults.courses import BACCARAT
from simulators.faults.garbled import UNNOTICED
from simulators.faults.line_faults import CAN_NOT_HAPPEN, LINE_FAULTS, with_line
from simulators.links import DirectLink, FastLinks
from simulators.simulate_command import START_US
from simulators.studio import OPENING_BALANCE, differences

CONFIG = Path(__file__).parents[2] / "config"
SOAK = bool(os.environ.get("TABLECTL_SOAK"))
PLAYERS = 200 if SOAK else 12
SEED = 4
REAL_ROUNDS = 60 if SOAK else 4
LIES = "line-lies"
SHORT_SHOE = ("cutting_card_from_end = 16", "cutting_card_from_end = 370")
"""A cutting card so early that shoes change within a small run."""
pytestmark = pytest.mark.timeout(7200 if SOAK else 120)


class Judge(Listener):
    """Counts in which rounds the shoe agrees with the rules, and where it does not."""

    feed = Feed.AUDIT

    def __init__(self) -> None:
        self.name = "judge"
        self.agrees: dict[str, bool] = {}

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Note a comparison."""
        envelope = decode(message)
        match event_of(envelope):
            case ShoeJudged(agrees=agrees):
                self.agrees[envelope.roundid or ""] = agrees
        return []


def config_in(folder: Path) -> StationConfig:
    """Copy the table so that everything it makes lies in `folder`."""
    for kind in ("games", "decks", "profiles", "tables"):
        (folder / kind).mkdir(parents=True)
        for file in (CONFIG / kind).glob("*.toml"):
            (folder / kind / file.name).write_text(file.read_text().replace("../../run", "../run"))
    game = folder / "games" / "baccarat.toml"
    short = game.read_text().replace(*SHORT_SHOE)
    assert short != game.read_text()
    game.write_text(short)
    return load(folder / "tables" / "baccarat_angel_eye.toml")


def course() -> Course:
    """What can go wrong; no card that the shoe's own eye takes for another, which no line can do."""
    whole = with_line(BACCARAT, FAMILY)
    return whole._replace(faults=tuple(fault for fault in whole.faults if fault.id != UNNOTICED))


@pytest.fixture(scope="module")
def coups(tmp_path_factory: pytest.TempPathFactory) -> Coups:
    config = config_in(tmp_path_factory.mktemp("angel_eye"))
    rounds = 1000 if SOAK else len(course().faults)
    made = Coups(config, Plan(SEED, Amount.MANY, course=course()), rounds, PLAYERS)
    return made.play(DirectLink(config, START_US), Laid(), Judge())


def test_faults_and_incidents_match_one_to_one(coups: Coups) -> None:
    assert differences(coups.studio) == []
    committed = Counter(case.fault.id for case in coups.dealer.committed.values())
    print(f"\n{len(coups.studio.auditor.rounds)} rounds, {committed.total()} faults: {dict(committed)}")
    possible = {fault.id for fault in coups.plan.course.faults} - {"betting-silent"}
    assert possible.isdisjoint(CAN_NOT_HAPPEN[FAMILY])
    # A fault at a card that a surplus one has taken the place of is not committed.
    assert len(committed.keys() & possible) >= (len(possible) if SOAK else len(possible) * 3 // 4)


def test_no_wrong_card_is_confirmed_and_no_wrong_winner(coups: Coups) -> None:
    laid, _ = coups.listeners
    assert isinstance(laid, Laid)
    ends: Counter[str] = Counter()
    for number, cards in laid.confirmed.items():
        assert cards == coups.lay(number), number
        outcome = json.loads(coups.studio.auditor.rounds[f"ba2-{number}"].outcome)
        assert outcome["coup"]["winner"] == oracle.coup(coups.lay(number)).winner, number
        ends[outcome["coup"]["winner"]] += 1
    print(
        f"\n{sum(map(len, laid.confirmed.values()))} cards confirmed in {ends.total()} rounds: {dict(ends)}"
    )
    assert ends.total() > len(coups.dealer.committed) // 2


def test_the_shoe_agrees_with_the_rules_unless_it_lies(coups: Coups) -> None:
    _, judge = coups.listeners
    assert isinstance(judge, Judge)
    lies = {roundid for roundid, case in coups.studio.committed().items() if case.fault.id == LIES}
    assert lies == {roundid for roundid, agrees in judge.agrees.items() if not agrees} and lies
    # It says nothing where it has lost its place, or where the coup was broken off.
    assert len(judge.agrees) > len(coups.studio.auditor.rounds) // 2


def test_every_balance_is_what_the_oracle_says(coups: Coups) -> None:
    wallet = coups.studio.wallet
    assert wallet.waiting() == () and wallet.total() == 0 and wallet.trial_balance() == ()
    opening = dict.fromkeys(coups.studio.betting.crowd.players, OPENING_BALANCE)
    assert wallet.balances() == oracle.expected_balances(opening, list(coups.rounds()))


def test_journal_and_session_verify(coups: Coups) -> None:
    assert list(Days(coups.studio.journal_folder).verify()) == []
    for recording in (coups.config.table_dir / "sessions").glob("*.capture"):
        assert verify_recording(recording).difference is None


def test_the_same_rounds_over_a_pty(tmp_path: Path) -> None:
    """Each frame thrice at the shoe's own time, cut and lost on a real line as in this process."""
    ended = []
    plan = Plan(SEED, Amount.MANY, course=BACCARAT._replace(faults=LINE_FAULTS[FAMILY]))
    for name in ("real", "direct"):
        config = config_in(tmp_path / name)
        laid = Laid()
        link = FastLinks(config, START_US) if name == "real" else DirectLink(config, START_US)
        played = Coups(config, plan, REAL_ROUNDS, 4).play(link, laid)
        assert differences(played.studio) == []
        ended.append((laid.confirmed, played.studio.wallet.balances()))
    assert ended[0] == ended[1] and ended[0][0]
