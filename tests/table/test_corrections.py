"""Correction of a confirmed result (row 36, P6, RPL-74): revision by revision, by two people."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import msgspec
import pytest
from table.dealt import ANNA, BETS, BLUE, BORIS, CLARA, RED, Dealt, digest, every, only, refusal
from table.test_decisions import OPEN, dealt

from controller.games.published import Outcome, Result, refund_all
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    Audience,
    CardAt,
    CorrectionProposed,
    CorrectionVoided,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    RoundClosed,
    RoundConfirmed,
    RoundCorrected,
    Verdict,
)
from controller.table.inputs import CorrectionReason
from controller.table.picture import draw
from controller.table.table import Table

CARIBBEAN = "caribbean_poker"
SHOE = "As 2c Ks 3d 9h 5h 7d 8c 4d Jd"
"""Box 1 gets As Ks 9h 7d 4d, the dealer 2c 3d 5h 8c Jd, the last one face up: he does not qualify."""
MINUTE = 60_000
FOUR = (CardAt("dealer", 1, "Jh"),)
"""The dealer's first card was a jack: a pair, so he qualifies."""
OTHER = (CardAt("dealer", 2, "Jh"),)
LATER = (CardAt("dealer", 2, "Js"),)


def finish(d: Dealt) -> Dealt:
    """Play a round of a sister game, in which the boxes bet, to its confirmed result."""
    for _ in range(60):
        prompt = draw(d.table.state).prompt
        match prompt.code:
            case "DEAL_CARD":
                d.scan()
            case "WAIT_FOR_PLAYERS":
                window = d.table.state.in_play.window
                assert window is not None
                for box in window.decides.boxes if window.decides is not None else ():
                    d.press(i.DecisionTaken(window.window, box, "BET"), BETS)
                if window.decides is None:
                    d.all_decided(window.window, anyone_bought=False)
            case "TURN":
                d.press(i.TurnCards(prompt.place or ""))
            case "CONFIRM_RESULT":
                d.press(i.ConfirmResult())
                return d
            case code:
                raise AssertionError(code)
    raise AssertionError("the round does not end")


def caribbean() -> Dealt:
    """One confirmed round of Caribbean, its cards cleared; the table shuffles."""
    d = finish(dealt(CARIBBEAN, SHOE, box1=OPEN))
    d.press(i.ClearTable())
    return d


def live() -> Dealt:
    """One confirmed round of live Russian Poker, cleared."""
    d = Dealt().to_confirmed()
    d.press(i.ClearTable())
    return d


def propose(
    d: Dealt,
    cards: tuple[CardAt, ...] = (),
    actor: str = BORIS,
    *,
    roundid: str = "rp1-1",
    request: str | None = None,
    round_no: int | None = None,
) -> Refusal | None:
    command = i.ProposeCorrection(roundid, CorrectionReason.WRONG_READING, cards)
    return refusal(d.press(command, actor, request=request, round_no=round_no))


def approve(
    d: Dealt,
    cards: tuple[CardAt, ...] = (),
    actor: str = CLARA,
    *,
    roundid: str = "rp1-1",
    request: str | None = None,
    round_no: int | None = None,
) -> Refusal | None:
    command = i.ApproveCorrection(roundid, cards)
    return refusal(d.press(command, actor, request=request, round_no=round_no))


def correct(d: Dealt, cards: tuple[CardAt, ...] = ()) -> RoundCorrected:
    """Correct round 1, by both supervisors."""
    assert propose(d, cards) is None
    assert approve(d, cards) is None
    return only(d.last, RoundCorrected)


def wagers(outcome: Outcome) -> set[Result]:
    return {
        told.outcome
        for box in outcome.boxes
        for row in (*(row for hand in box.hands for row in hand.rows.values()), box.fold or {})
        for told in row.values()
    }


# What a correction is.


def test_rpl_74_a_wrong_result_of_live_russian_poker_refunds_every_wager() -> None:
    d = live()
    first = only(d.events, RoundConfirmed).outcome
    corrected = correct(d)
    assert (corrected.rev, corrected.refund, corrected.cell) == (2, "all", "RPL-74")
    assert corrected.outcome == refund_all(first) and wagers(corrected.outcome) == {Result.REFUND}
    assert corrected.by == (BORIS, CLARA) and corrected.reason == CorrectionReason.WRONG_READING
    assert only(d.last, RoundClosed).rev == 2
    assert d.phase is Phase.SHUFFLING and not d.table.state.incidents


def test_row_36_the_result_is_that_of_the_cards_that_lay_there() -> None:
    d = caribbean()
    first = only(d.events, RoundConfirmed).outcome
    assert not first.dealer.qualified
    corrected = correct(d, FOUR)
    assert (corrected.rev, corrected.refund, corrected.cell, corrected.cards) == (2, None, "36", FOUR)
    assert corrected.outcome.dealer.qualified and corrected.outcome.dealer.cards[0] == "Jh"
    other = finish(dealt(CARIBBEAN, SHOE.replace("2c", "Jh"), box1=OPEN))
    assert corrected.outcome == only(other.events, RoundConfirmed).outcome


def test_p7_a_correction_is_an_incident_opened_decided_and_closed() -> None:
    d = live()
    corrected = correct(d)
    opened, decided = only(d.last, IncidentOpened), only(d.last, IncidentDecided)
    assert opened.kind is IncidentKind.WRONG_RESULT and opened.incident == corrected.incident
    assert (decided.verdict, decided.by, decided.cell) == (Verdict.CORRECTED, CLARA, "RPL-74")


def test_a_correction_of_a_correction_is_the_next_revision() -> None:
    d = caribbean()
    first = only(d.events, RoundConfirmed).outcome
    assert correct(d, FOUR).rev == 2
    refunded = correct(d)
    assert (refunded.rev, refunded.refund) == (3, "all")
    assert refunded.outcome == refund_all(first)
    fourth = correct(d, LATER)
    assert (fourth.rev, fourth.refund, fourth.cards) == (4, None, (*FOUR, *LATER))
    assert fourth.outcome.dealer.cards[:2] == ("Jh", "Js")


def test_a_correction_may_take_an_earlier_one_back() -> None:
    d = caribbean()
    correct(d, FOUR)
    back = correct(d, (CardAt("dealer", 1, "2c"),))
    assert (back.rev, back.cards) == (3, ())
    assert back.outcome == only(d.events, RoundConfirmed).outcome


def test_two_cards_that_were_exchanged_are_corrected_together() -> None:
    d = caribbean()
    swapped = (CardAt("dealer", 1, "3d"), CardAt("dealer", 2, "2c"))
    assert propose(d, swapped[:1]) is Refusal.IMPOSSIBLE_CARD
    assert correct(d, swapped).outcome.dealer.cards[:2] == ("3d", "2c")


def test_an_older_round_is_corrected_as_well_as_the_last_one() -> None:
    d = live()
    for _ in range(2):
        d.shoe = Dealt().shoe
        d.press(i.ConfirmShuffle())
        d.press(i.OpenBetting())
        d.press(i.CloseBetting())
        d.bets()
        d.deal(20)
        d.all_decided("options")
        d.deal(5)
        d.all_decided("final_options")
        d.turn()
        d.press(i.ConfirmResult())
        d.press(i.ClearTable())
    assert correct(d).roundid == "rp1-1"
    assert d.table.state.round_no == 3


# Who hears what.


def test_the_public_sees_no_wagers_and_no_names_and_the_audit_everything() -> None:
    corrected = correct(caribbean(), FOUR)
    told = {audience: corrected.seen_by(audience) for audience in Audience}
    assert told[Audience.AUDIT] is corrected
    for audience in (Audience.PUBLIC, Audience.BETTING, Audience.SETTLEMENT):
        heard = told[audience]
        assert isinstance(heard, RoundCorrected)
        assert heard.by == () and heard.digest is None
        assert heard.cards == (() if audience is Audience.SETTLEMENT else FOUR)
        assert bool(wagers(heard.outcome)) == (audience is not Audience.PUBLIC)


def test_a_proposal_tells_no_card_before_it_is_approved() -> None:
    d = caribbean()
    propose(d, FOUR)
    told = only(d.last, CorrectionProposed)
    assert (told.rev, told.by, told.roundid) == (2, BORIS, "rp1-1")
    shown = draw(d.table.state).correction
    assert shown is not None and shown.by == BORIS
    for record in (*d.last, draw(d.table.state)):
        assert "Jh" not in msgspec.json.encode(record).decode()


# What is refused, and why.


def test_a_cancelled_round_is_a_tombstone() -> None:
    d = Dealt().to_cancelled()
    assert propose(d) is Refusal.ROUND_CANCELLED


@pytest.mark.parametrize("roundid", ["rp1-2", "rp1-0", "rp2-1", "", "rp1-01"])
def test_a_round_that_has_not_ended_here_is_unknown(roundid: str) -> None:
    assert propose(live(), roundid=roundid) is Refusal.UNKNOWN_ROUND


def test_a_round_in_play_is_never_held_up_by_an_old_one() -> None:
    d = live()
    d.press(i.ConfirmShuffle())
    d.press(i.OpenBetting())
    assert propose(d) is Refusal.WRONG_PHASE


def test_the_round_whose_cards_still_lie_can_be_corrected() -> None:
    d = Dealt().to_confirmed()
    assert correct(d).rev == 2
    assert d.phase is Phase.CONFIRMED
    assert refusal(d.press(i.ClearTable())) is None


def test_rpl_74_live_russian_poker_is_never_paid_by_other_cards() -> None:
    assert propose(live(), (CardAt("dealer", 1, "2s"),)) is Refusal.REFUND_ONLY


@pytest.mark.parametrize("card", [CardAt("dealer", 5, "Jh"), CardAt("box1", 3, "Ah")])
def test_p5_what_players_have_decided_on_is_refunded_instead(card: CardAt) -> None:
    d = caribbean()
    assert propose(d, (card,)) is Refusal.DECIDED_ON
    assert correct(d).refund == "all"


def test_under_other_rules_only_a_refund_is_left() -> None:
    d = caribbean()
    d.start(rules="others")
    assert propose(d, FOUR) is Refusal.OTHER_RULES
    assert correct(d).refund == "all"


def test_another_course_of_the_round_can_only_be_refunded() -> None:
    """A dealer who had not qualified would have been for sale (GRP-17)."""
    d = finish(dealt("grandmaster_russian_poker", SHOE.replace("3d", "Jh"), box1=OPEN))
    d.press(i.ClearTable())
    assert propose(d, (CardAt("dealer", 2, "3d"),)) is Refusal.OTHER_COURSE
    assert propose(d, (CardAt("dealer", 2, "Js"),)) is None


def test_p5_who_was_offered_a_purchase_has_seen_the_dealers_hand() -> None:
    d = finish(dealt("grandmaster_russian_poker", SHOE, box1=OPEN))
    d.press(i.ClearTable())
    assert propose(d, OTHER) is Refusal.DECIDED_ON


@pytest.mark.parametrize(
    ("cards", "why"),
    [
        ((CardAt("dealer", 6, "Jh"),), Refusal.UNKNOWN_PLACE),
        ((CardAt("box4", 1, "Jh"),), Refusal.UNKNOWN_PLACE),
        ((*FOUR, *FOUR), Refusal.UNKNOWN_PLACE),
        ((CardAt("dealer", 1, "As"),), Refusal.IMPOSSIBLE_CARD),
        ((CardAt("dealer", 1, "2c"),), Refusal.NO_CHANGE),
    ],
)
def test_cards_that_cannot_have_lain_there_are_refused(cards: tuple[CardAt, ...], why: Refusal) -> None:
    d = caribbean()
    before = digest(d.table)
    assert propose(d, cards) is why
    assert digest(d.table) == before


def test_what_stands_already_is_no_correction() -> None:
    d = live()
    correct(d)
    assert propose(d) is Refusal.NO_CHANGE


def test_one_correction_waits_at_a_time_and_its_people_may_drop_it() -> None:
    d = caribbean()
    propose(d, FOUR)
    assert propose(d, OTHER, CLARA) is Refusal.CORRECTION_WAITS
    assert refusal(d.press(i.WithdrawCorrection(), ANNA)) is Refusal.WRONG_ROLE
    assert refusal(d.press(i.WithdrawCorrection(), CLARA)) is None
    voided = only(d.last, CorrectionVoided)
    assert (voided.by, voided.cause) == ((CLARA,), "withdrawn")
    assert approve(d, FOUR) is Refusal.NO_CORRECTION
    assert refusal(d.press(i.WithdrawCorrection(), CLARA)) is Refusal.NO_CORRECTION
    assert propose(d, OTHER, CLARA) is None


def test_a_proposal_has_its_time() -> None:
    d = live()
    propose(d)
    d.advance(10 * MINUTE)
    assert approve(d) is Refusal.TOO_LATE
    assert draw(d.table.state).correction is None
    assert "approve_correction" not in draw(d.table.state).buttons
    assert refusal(d.press(i.WithdrawCorrection(), CLARA)) is Refusal.NO_CORRECTION
    assert propose(d, actor=CLARA) is None
    assert approve(d, actor=BORIS) is None


# Must show: one wrong, both different, same person twice, expired, replayed: none passes.


class Deed(NamedTuple):
    """Somebody proposes or approves cards; `replays`: the first request comes once more."""

    proposes: bool
    actor: str
    cards: tuple[CardAt, ...] = FOUR
    expired: bool = False
    replays: bool = False


DEEDS = (
    *(
        Deed(proposes, actor, cards)
        for proposes in (True, False)
        for actor in (BORIS, CLARA)
        for cards in (FOUR, OTHER)
    ),
    *(Deed(proposes, ANNA) for proposes in (True, False)),
    Deed(False, CLARA, expired=True),
    Deed(False, CLARA, replays=True),
)


def expected(deeds: tuple[Deed, ...]) -> list[str]:
    """Say of each deed what becomes of it: the rule, typed once more."""
    said: list[str] = []
    waits: Deed | None = None
    for index, deed in enumerate(deeds):
        if said and said[-1] == "passes":
            break
        if deed.replays and index > 0:
            said.append("nothing")
        elif deed.replays or deed.expired or deed.actor == ANNA or deed.proposes == (waits is not None):
            said.append("refused")
        elif deed.proposes:
            said.append("taken")
            waits = deed
        elif waits is None or waits.actor == deed.actor:
            said.append("refused")
        else:
            said.append("passes" if waits.cards == deed.cards else "voids")
            waits = None
    return said


def happened(d: Dealt, deed: Deed, since: int) -> str:
    before = digest(d.table)
    if deed.replays and len(d.inputs) > since:
        d.feed(msgspec.structs.replace(d.inputs[since], at=d.now + 1))
        assert digest(d.table) == before
        return "nothing"
    give = propose if deed.proposes else approve
    give(d, deed.cards, deed.actor, round_no=0 if deed.expired else None)
    corrected = every(d.last, RoundCorrected)
    if refusal(d.last) is not None:
        assert digest(d.table) == before and not corrected
        return "refused"
    if every(d.last, CorrectionVoided):
        return "voids"
    return "passes" if corrected else "taken"


@pytest.mark.parametrize("first", [deed for deed in DEEDS if not deed.replays])
def test_nothing_passes_but_two_who_agree_in_every_order(first: Deed) -> None:
    for rest in product(DEEDS, repeat=2):
        d = caribbean()
        since = len(d.inputs)
        deeds = (first, *rest)
        wanted = expected(deeds)
        got = [happened(d, deed, since) for deed in deeds[: len(wanted)]]
        assert got == wanted, deeds
        assert len(every(d.events, RoundCorrected)) == (wanted[-1] == "passes")


def test_a_refund_and_a_card_are_different_entries() -> None:
    d = caribbean()
    propose(d)
    assert approve(d, FOUR) is None
    voided = only(d.last, CorrectionVoided)
    assert (voided.cause, voided.by) == ("different", (BORIS, CLARA))
    assert approve(d) is Refusal.NO_CORRECTION


def test_an_approval_that_has_passed_does_not_pass_again() -> None:
    d = live()
    propose(d)
    approve(d, request="once")
    again = d.inputs[-1]
    d.feed(msgspec.structs.replace(again, at=d.now + 1))
    assert not every(d.last, RoundCorrected)
    assert approve(d, request="twice") is Refusal.NO_CORRECTION
    assert len(every(d.events, RoundCorrected)) == 1


# What goes from round to round.


def test_a_record_carries_what_waits_and_what_was_corrected() -> None:
    d = caribbean()
    correct(d, FOUR)
    propose(d, LATER)
    record = d.table.carried()
    assert record is not None
    table = Table(d.settings, d.game, BLUE, (RED,))
    table.restore(record)
    assert table.state.corrections == d.table.state.corrections
    assert table.state.proposal == d.table.state.proposal
    d.table = table
    assert approve(d, LATER) is None
    assert only(d.last, RoundCorrected).rev == 3
