"""What a cell of any profile has people do, and what must come of it, of one deck or out of a shoe."""

from __future__ import annotations

from table.dealt import ANNA, BORIS, Dealt, every, only, refusal
from table.procedures_expected import Says

from controller.table import inputs as i
from controller.table.cells import PRESSES
from controller.table.charts import IncidentState
from controller.table.events import (
    CardDealt,
    CardWithdrawn,
    IncidentAsked,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    RoundCancelled,
    Verdict,
)
from controller.table.picture import draw
from controller.table.situations import cancel_reason
from controller.table.state import Incident


def messages(d: Dealt) -> set[str]:
    """Return the cells that the last input's messages name."""
    asked = {event.cell for event in (*every(d.last, IncidentOpened), *every(d.last, IncidentAsked))}
    return asked | {event.cell for event in every(d.last, IncidentDecided)}


def open_case(d: Dealt, state: IncidentState) -> Incident:
    """Return the newest incident, which is in this state."""
    incident = d.table.state.incident
    assert incident is not None and incident.state is state
    return incident


def is_asked(d: Dealt, kind: IncidentKind, says: Says) -> None:
    """One question is open, and only its answer is taken."""
    incident = d.table.state.incident
    assert incident is not None and (incident.kind, incident.asks) == (kind, says.asks)
    picture = draw(d.table.state)
    assert {"answer_question", "confirm_picture"} & set(picture.buttons)
    assert not PRESSES & set(picture.buttons) and picture.prompt.incident == incident.number
    assert refusal(d.press(i.ConfirmCancel(), BORIS)) is not None
    assert refusal(d.scan()) is Refusal.HELD


def is_scanned(d: Dealt, kind: IncidentKind, code: str | None = None) -> None:
    """The card is scanned, and lies at its place: a disputed one again, another one for the first time.

    `code` is its code when it is not the next card of the shoe.
    """
    open_case(d, IncidentState.RESCAN)
    current = d.table.state.in_play
    before = len(current.laid)
    if kind is IncidentKind.DISPUTED_READ:
        d.scan(str(current.laid[-1].card))
        assert only(d.last, CardDealt).reading == 2
    else:
        d.scan(code=code)
        before += 1
    assert every(d.last, IncidentDecided)[0].verdict is Verdict.RESCANNED
    assert len(d.table.state.in_play.laid) == before and only(d.last, CardDealt)


def are_all_scanned(d: Dealt) -> None:
    """Every card is scanned again from the first, in the order of drawing; all are as they were."""
    laid = list(d.table.state.in_play.laid)
    for index, card in enumerate(laid):
        prompt = draw(d.table.state).prompt
        assert (prompt.code, prompt.place, prompt.n) == ("SCAN_FROM_FIRST", card.place, card.n), index
        d.scan(str(card.card))
    assert only(d.last, IncidentDecided).verdict is Verdict.RESCANNED
    assert not every(d.last, CardWithdrawn) and d.table.state.in_play.laid == laid


def is_entered(d: Dealt, kind: IncidentKind) -> None:
    """Two people say which card it is; where all are scanned again, the others are scanned after it."""
    lost = kind is IncidentKind.SCANNER_LOST
    laid = list(d.table.state.in_play.laid)
    assert refusal(d.press(i.OrderEntry(), BORIS)) is None
    incident = open_case(d, IncidentState.ENTRY)
    again = incident.again is not None
    comes = lost or kind is IncidentKind.FAILED_READ
    card = d.shoe.pop(0) if comes else laid[0 if again else -1].card
    for actor in (ANNA, BORIS):
        d.press(i.EnterCard(incident.number, str(card)), actor)
    for known in laid[1:] if again else ():
        d.scan(str(known.card))
    assert only(every(d.last, CardDealt), CardDealt).manual
    assert every(d.last, IncidentDecided)[0].verdict is Verdict.ENTERED
    if lost:  # The next card would be entered, too.
        d.plug()
        d.answer(False)


def is_confirmed_cancel(d: Dealt) -> None:
    """Where a person has only reported it, another one presses."""
    if d.table.state.incident is not None:
        assert d.table.state.incident.reported_by == ANNA
        assert PRESSES & set(draw(d.table.state).buttons) == {"confirm_cancel"}
        d.press(i.ConfirmCancel(), BORIS)


def is_refunded(d: Dealt, kind: IncidentKind) -> None:
    """The round is cancelled with every incident, and everybody has everything back."""
    event = only(d.last, RoundCancelled)
    assert (event.reason, event.refund) == (cancel_reason(kind), "all")
    assert {decided.verdict for decided in every(d.last, IncidentDecided)} == {Verdict.CANCELLED}


def is_dropped(d: Dealt, *, count: int) -> None:
    """The second reading counts as never made: so many cards are out as before."""
    assert only(d.last, IncidentDecided).verdict is Verdict.DUPLICATE_READ
    assert len(d.table.state.in_play.laid) == d.table.state.register.out_count == count
