"""OAB-24 in a whole studio: half of the rounds are dealt anew, and everybody gets what the last deal says.

The oracle is told of the last deal alone: what the abandoned one has cost must have come back by itself.
With TABLECTL_SOAK=1 a thousand rounds and 200 players.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from e2e.family import Family, Size
from e2e.test_family import Viewer
from e2e.test_recording import Listener
from oracle import expected_balances
from rich.console import Console

from controller.bus.envelope import decode, event_of
from controller.bus.snapshot import Snapshot, fold
from controller.games.published import Wager
from controller.games.settlement import LineOutcome
from controller.journal import Days
from controller.station.recall import recall
from controller.station.recall_command import render_round
from controller.station.replay import replay_recording, verify_recording
from controller.station.verify_command import make_report
from controller.table import events as ev
from controller.table.events import AUDIENCES, Audience
from simulators.faults.catalogue import MISDEALS, Course
from simulators.ledger import Kind
from simulators.studio import differences

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
ROUNDS, PLAYERS = (1_000, 200) if SOAK else (60, 12)
SEED = 5

pytestmark = pytest.mark.timeout(3_600 if SOAK else 120)


class Redealing(Family):
    """Oasis with bonus, where every other fault is a miscount."""

    heard: dict[Audience, Listener]

    def course(self) -> Course:
        course = super().course()
        others = [fault for fault in course.faults if fault not in MISDEALS]
        misdeals = [MISDEALS[index % len(MISDEALS)] for index in range(len(others))]
        return course._replace(faults=(*others, *misdeals))


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Redealing:
    """The rounds, played."""
    folder = tmp_path_factory.mktemp("redeals")
    played = Redealing(folder, "oasis_with_bonus", Size(ROUNDS, PLAYERS, SEED))
    played.viewer = Viewer(played.config.settings.table)
    played.heard = {audience: Listener(audience) for audience in AUDIENCES}
    played.play(played.viewer, *played.heard.values())
    return played


def events_of(studio: Redealing, audience: Audience) -> Iterator[tuple[str, Any]]:
    """Yield what an audience was told inside rounds."""
    for raw in studio.heard[audience].heard_all:
        envelope = decode(raw)
        yield envelope.roundid or "", event_of(envelope)


def dealt_anew(studio: Redealing) -> list[str]:
    return [
        roundid
        for roundid, event in events_of(studio, Audience.SETTLEMENT)
        if isinstance(event, ev.RoundRedealt)
    ]


def test_faults_and_incidents_match_one_to_one(studio: Redealing) -> None:
    assert differences(studio.studio) == []
    committed = Counter(case.fault.id for case in studio.studio.dealer.committed.values())
    assert {fault.id for fault in MISDEALS} <= set(committed)
    misdealt = sum(committed[fault.id] for fault in MISDEALS)
    assert len(dealt_anew(studio)) == misdealt > ROUNDS // 4


def test_every_balance_is_what_the_oracle_says_of_the_last_deal(studio: Redealing) -> None:
    wallet, rounds = studio.studio.wallet, list(studio.rounds())
    assert wallet.waiting() == () and wallet.total() == 0 and wallet.trial_balance() == ()
    assert wallet.balances() == expected_balances(studio.opening, rounds)
    assert len(rounds) > ROUNDS * 3 // 4


def test_what_the_abandoned_deal_cost_comes_back_and_the_next_may_cost_anew(studio: Redealing) -> None:
    """Every debit has its credit; those of a deal that was abandoned are refunds to the last unit."""
    ledger = studio.studio.wallet._ledger
    refunded, anew = Counter[str](), Counter[str]()
    last_deals = studio.studio.dealer.deals
    for roundid in dealt_anew(studio):
        open_boxes = {"box1", "box2"}
        debits = {entry.bet: entry.amount for entry in ledger.entries(roundid, 0) if entry.kind is Kind.DEBIT}
        credits = {entry.bet: entry for entry in ledger.entries(roundid, 1)}
        assert debits.keys() == credits.keys()
        assert last_deals[int(roundid.split("-")[1])] == 2
        for bet, amount in debits.items():
            _, box, wager, *rest = bet.split("/")
            if box not in open_boxes or wager not in (Wager.EXCHANGE_FEE, Wager.BET) or rest == ["late"]:
                continue
            if rest == ["deal2"]:
                anew[wager] += 1
            else:
                assert (credits[bet].amount, credits[bet].note) == (amount, LineOutcome.REFUND)
                refunded[wager] += 1
    assert min(refunded[wager] for wager in (Wager.EXCHANGE_FEE, Wager.BET)) > 0
    assert min(anew[wager] for wager in (Wager.EXCHANGE_FEE, Wager.BET)) > 0


def test_keys_of_abandoned_cards_are_told_with_the_end_of_the_round_alone(studio: Redealing) -> None:
    """A key opens one card; nobody is told one of the abandoned deal before the terminal event, or after."""
    for audience in AUDIENCES:
        ends: dict[str, str] = {}
        for roundid, event in events_of(studio, audience):
            if isinstance(event, ev.RoundConfirmed | ev.RoundCancelled):
                ends |= {card.key: roundid for card in event.opened if card.deal == 1 and card.key}
        before_the_end = b"".join(
            raw
            for raw in studio.heard[audience].heard_all
            if not decode(raw).type.startswith(("tablectl.round.confirmed.", "tablectl.round.cancelled."))
        ).decode()
        redealt = {key for key, roundid in ends.items() if roundid in set(dealt_anew(studio))}
        assert bool(redealt) == (audience is not Audience.SETTLEMENT)
        assert not any(key in before_the_end for key in redealt)


def test_the_snapshot_shows_the_last_deal_and_nothing_of_the_one_before(studio: Redealing) -> None:
    for audience in AUDIENCES:
        snapshot = Snapshot(table=studio.config.settings.table, audience=audience)
        deal = 1
        for raw in studio.heard[audience].heard_all:
            snapshot = fold(snapshot, [raw])
            match event_of(decode(raw)):
                case ev.RoundOpened():
                    deal = 1
                case ev.RoundRedealt(deal=deal):
                    assert not snapshot.places and not snapshot.hands and snapshot.proposed is None
                    assert [window.stage for window in snapshot.windows] == ["betting"]
                case ev.RoundConfirmed(outcome=outcome, opened=opened):
                    lies = {
                        (place, card.n, card.reading): card.card
                        for place, of in snapshot.places.items()
                        for card in of
                    }
                    if lies and outcome.dealer.cards:
                        assert tuple(card.card for card in snapshot.places["dealer"]) == outcome.dealer.cards
                    for card in opened:
                        where = (card.place, card.n, card.reading)
                        assert card.deal != deal or where not in lies or lies[where] == card.card
            assert snapshot.deal == deal


def test_viewers_hear_of_it(studio: Redealing) -> None:
    assert "the round is dealt anew, bets stand" in studio.viewer.seen
    assert any(", deal 2  dealing" in line for line in studio.viewer.seen)


def test_an_arbiter_reads_both_deals(studio: Redealing) -> None:
    confirmed = [
        roundid
        for roundid in dealt_anew(studio)
        if studio.studio.auditor.rounds[roundid].terminals == ["confirmed"]
    ]
    told = recall(studio.config.table_dir, confirmed[-1])
    assert [redeal.deal for redeal in told.redeals] == [2] and [each.deal for each in told.voided] == [1]
    fates = {(card.deal, card.fate) for card in told.cards}
    assert {(1, "abandoned"), (2, "played")} <= fates and (1, "played") not in fates
    bound, held = told.commitments
    assert bound == held > 5
    assert msgspec.json.decode(msgspec.json.encode(told))["redeals"]
    console = Console(width=160, color_system=None)
    with console.capture() as shown:
        console.print(render_round(told))
    assert "DEALT ANEW at " in shown.get() and "Deal 1 is void" in shown.get()


def test_the_journal_verifies_and_its_recording_gives_the_same_bytes(studio: Redealing) -> None:
    days = Days(studio.studio.journal_folder)
    assert list(days.verify()) == []
    assert make_report(days.paths()).findings == []
    [recording] = (studio.config.table_dir / "sessions").glob("*.capture")
    replayed = list(replay_recording(recording))
    for audience in AUDIENCES:
        sent = [raw for again in replayed for raw in again.messages[audience]]
        assert sent == studio.heard[audience].heard_all
    assert verify_recording(recording).difference is None
