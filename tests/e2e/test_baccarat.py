"""Baccarat out of a shoe with every fault that it can have: faults one to one, balances as the oracle says.

With TABLECTL_SOAK=1 a thousand rounds and 200 players, and the pair bets in a second run.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import oracle_baccarat as oracle
import pytest
from e2e.coups import Coups
from e2e.family import config_in
from e2e.revisions import corrections_of

from controller.bus.envelope import decode, event_of
from controller.games.settlement import LineOutcome
from controller.journal import Days, Reader
from controller.station.proofs import Proofs
from controller.table.events import Audience, ShoeClosed, ShoeEnd
from simulators.faults.catalogue import Amount, Plan
from simulators.faults.courses import course_of
from simulators.links import DirectLink
from simulators.overlay import Overlay
from simulators.simulate_command import START_US
from simulators.studio import OPENING_BALANCE, differences

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
ROUNDS, PLAYERS = (1000, 200) if SOAK else (80, 12)
SHORT_SHOE = {"cutting_card_from_end": "370", "pairs": "true"}
"""A cutting card so early that shoes change within a small run."""
pytestmark = pytest.mark.timeout(3600 if SOAK else 120)


class Viewer(Overlay):
    """Remembers what the stream showed."""

    def __init__(self, table: str) -> None:
        super().__init__(table=table, name="viewer")
        self.seen: set[str] = set()

    def heard(self, message: bytes, now_us: int) -> list[Any]:
        planned = super().heard(message, now_us)
        self.seen.update(self.lines())
        return planned


@pytest.fixture(scope="module", params=[SHORT_SHOE, *([{"cutting_card_from_end": "16"}] if SOAK else [])])
def coups(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Coups:
    config = config_in(tmp_path_factory.mktemp("baccarat"), "baccarat", request.param)
    course = course_of(config.game, config.settings.boxes_not_told)
    coups = Coups(config, Plan(3, Amount.MANY, course=course), ROUNDS, PLAYERS)
    return coups.play(DirectLink(config, START_US), Viewer("ba1"))


def test_faults_and_incidents_match_one_to_one(coups: Coups) -> None:
    assert differences(coups.studio) == []
    committed = {case.fault.id for case in coups.dealer.committed.values()}
    assert len(coups.dealer.committed) > ROUNDS // 2
    if SOAK:
        assert committed == {fault.id for fault in coups.plan.course.faults} - {"betting-silent"}


def test_every_balance_is_what_the_oracle_says(coups: Coups) -> None:
    wallet = coups.studio.wallet
    assert wallet.waiting() == () and wallet.total() == 0 and wallet.trial_balance() == ()
    opening = dict.fromkeys(coups.studio.betting.crowd.players, OPENING_BALANCE)
    rounds = list(coups.rounds())
    assert len(rounds) > ROUNDS * 3 // 4
    assert wallet.balances() == oracle.expected_balances(opening, rounds)
    assert len(set(wallet.balances().values())) > 3


def test_row_36_each_correction_is_paid_by_difference_once(coups: Coups) -> None:
    met: Counter[bool] = Counter()
    for played in coups.rounds():
        number, corrections = played["number"], corrections_of(coups.studio, played["number"])
        if not corrections:
            continue
        met[corrections[-1]] += 1
        first = {player: {**bet, "refunded": False} for player, bet in played["bets"].items()}
        before = paid(coups.cards(number, as_read=True), first)
        after = paid(played["cards"], played["bets"])
        roundid = f"ba1-{number}"
        booked = [
            {credit.bet: credit.amount for credit in coups.studio.wallet.credits(roundid, rev)}
            for rev in (1, 2)
        ]
        assert booked == [before, {bet: after[bet] - before[bet] for bet in before}]
    assert met.total() >= (20 if SOAK else 2)


def paid(cards: Sequence[str], bets: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return what comes back for each bet, by the wallet's key for it."""
    return {
        f"{player}/layout/{line.wager}{'/late' if bet.get('late') else ''}": line.returned
        for player, bet in bets.items()
        for line in oracle.explain(cards, bet)
    }


def test_every_wager_has_met_every_outcome(coups: Coups) -> None:
    credits = (
        credit
        for roundid in coups.studio.auditor.rounds
        for credit in coups.studio.wallet.credits(roundid, 1)
    )
    met = Counter((credit.bet.split("/")[2], credit.outcome) for credit in credits)
    wagers = {str(wager) for wager in coups.config.game.rules.wagers}  # type: ignore[attr-defined]
    assert {wager for wager, _ in met} == wagers
    for wager in wagers:
        ends = {LineOutcome.WIN, LineOutcome.LOSE, LineOutcome.REFUND}
        ends |= {LineOutcome.PUSH} if wager in ("PLAYER", "BANKER") else set()
        missing = ends - {outcome for known, outcome in met if known == wager}
        assert not missing or not SOAK, (wager, missing)
        assert len(missing) <= 1, (wager, missing)


def test_the_shoe_has_changed_and_every_burned_card_was_opened(coups: Coups) -> None:
    """The audit's stream alone proves it: what lay face down opens when its shoe closes."""
    messages: list[bytes] = []
    for path in Days(coups.studio.journal_folder).paths():
        with Reader.open(path) as reader:
            messages += [raw for step in reader.steps() for raw in step.messages.get(Audience.AUDIT, ())]
    closed = [event for raw in messages if isinstance(event := event_of(decode(raw)), ShoeClosed)]
    ends = Counter(event.reason for event in closed)
    # A whole shoe hardly ever lasts until its cutting card: too many of its coups have a fault.
    plan = coups.config.game.shoe
    assert plan is not None and (ends[ShoeEnd.CUTTING_CARD] >= 2 or plan.cutting_card_from_end < 100), ends
    assert ends[ShoeEnd.INTEGRITY] >= 2, ends
    assert sum(len(event.opened) for event in closed) > len(closed)
    proofs = Proofs(Audience.AUDIT)
    assert list(proofs.take(messages)) == []
    assert proofs.checked > sum(len(event.opened) for event in closed)


def test_viewers_see_both_sides_and_the_result(coups: Coups) -> None:
    [viewer] = coups.listeners
    assert isinstance(viewer, Viewer)
    said = "\n".join(viewer.seen)
    assert re.search(r"^the player .* [0-9]$", said, re.MULTILINE)
    assert re.search(r"^result: player \d, banker \d, (player|banker|tie)$", said, re.MULTILINE)


def test_the_journal_verifies(coups: Coups) -> None:
    assert list(Days(coups.studio.journal_folder).verify()) == []
