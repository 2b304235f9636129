"""Two cards that a reader saw at once (row 9): the table holds before it takes one of them."""

from __future__ import annotations

import msgspec
from profiles import profile
from table.dealt import BORIS, SETTINGS, Dealt, every, only, refusal
from table.played import prompt_of

from controller.table import inputs as i
from controller.table.charts import IncidentState, Phase
from controller.table.events import (
    CardBurned,
    CardDealt,
    CardShown,
    IncidentKind,
    IncidentOpened,
    ReadHeld,
    Refusal,
    RoundCancelled,
)
from controller.table.picture import draw

DEFAULT = msgspec.structs.replace(SETTINGS, profile=profile("default"))


def together(d: Dealt, count: int = 2) -> Dealt:
    """The reader says that the next reads came at once."""
    d.feed(i.CardsTogether(at=d.now + 1, scanner="shoe", count=count))
    return d


def two_at_once(d: Dealt) -> tuple[str, str]:
    """Two cards come at once while the table is dealing; the reader lists the second one first."""
    together(d.to_dealing().deal(4))
    first, second = str(d.shoe[0]), str(d.shoe[1])
    opened = only(d.last, IncidentOpened)
    assert (opened.kind, opened.prompt) == (IncidentKind.TWO_CARDS, "ORDER_CERTAIN")
    for card in (second, first):
        assert refusal(d.scan(card)) is Refusal.HELD
        assert only(d.last, ReadHeld) and not every(d.last, CardDealt) and not every(d.last, CardShown)
    return first, second


def test_row_9_two_cards_at_once_are_scanned_in_the_order_that_people_know() -> None:
    d = Dealt(settings=DEFAULT)
    first, second = two_at_once(d)
    d.answer(True)
    for card in (first, second):
        assert prompt_of(d) == "CARD_READ_MEANWHILE"
        d.answer(True)
        d.scan(card)
        assert only(d.last, CardDealt)
    assert [str(lies.card) for lies in d.table.state.in_play.laid[-2:]] == [first, second]
    assert not d.table.state.incidents
    assert not d.table.state.in_play.unplaced_reads.together


def test_rpl_71_of_two_cards_at_once_the_second_is_burned() -> None:
    d = Dealt()
    first, second = two_at_once(d)
    d.answer(True)
    assert prompt_of(d) == "FACE_SEEN"
    d.answer(False)
    assert prompt_of(d) == "SCAN_TO_BURN"
    d.scan(second)
    assert only(d.last, CardBurned)
    assert prompt_of(d) == "CARD_READ_MEANWHILE"
    d.answer(True)
    d.scan(first)
    assert only(d.last, CardDealt) and not d.table.state.incidents


def test_rpl_70_a_second_card_whose_face_was_seen_cancels() -> None:
    d = Dealt()
    two_at_once(d)
    d.answer(True)
    d.answer(True)
    assert only(d.last, RoundCancelled).reason == "EXTRA_CARD"


def test_row_9_nobody_knows_the_order() -> None:
    d = Dealt(settings=DEFAULT)
    two_at_once(d)
    d.answer(False)
    assert d.table.state.incident_state is IncidentState.SUPERVISOR
    d.press(i.ConfirmCancel(), BORIS)
    assert only(d.last, RoundCancelled)


def test_a_third_card_close_behind_joins_the_case() -> None:
    d = Dealt(settings=DEFAULT)
    two_at_once(d)
    together(d, 1)
    assert refusal(d.last) is Refusal.HELD
    assert [incident.kind for incident in d.table.state.incidents] == [IncidentKind.TWO_CARDS]


def test_they_may_come_while_a_card_is_to_be_scanned_again() -> None:
    """The newer case comes first: neither of the two is taken for the card that is waited for."""
    d = Dealt(settings=DEFAULT)
    d.to_dealing().deal(4)
    d.fail()
    assert d.table.state.incident_state is IncidentState.RESCAN
    together(d)
    assert refusal(d.scan()) is Refusal.HELD
    assert prompt_of(d) == "ORDER_CERTAIN"


def test_outside_a_deal_their_order_means_nothing() -> None:
    d = together(Dealt().to_betting())
    assert d.phase is Phase.BETTING
    assert refusal(d.last) is Refusal.WRONG_PHASE
    assert not d.table.state.incidents


def test_what_is_remembered_of_their_order_ends_with_them() -> None:
    """After the two are dealt with, cards of a later hold are asked about in the order of reading."""
    d = Dealt(settings=DEFAULT)
    first, second = two_at_once(d)
    d.answer(True)
    for card in (first, second):
        d.answer(True)
        d.scan(card)
    d.shoe = d.shoe[2:]
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    later, latest = str(d.shoe[0]), str(d.shoe[1])
    d.scan(later)
    d.scan(latest)
    d.press(i.WithdrawReport())
    d.answer(True)
    d.scan(latest)
    assert d.table.state.incident_state is IncidentState.SUPERVISOR
    assert draw(d.table.state).incident_kind == "HELD_READ"
