"""The decision table at work: a case is met, its cell found, and what the cell says is done.

A case is a kind and the values of its axes. Where a value is unknown the cell asks for it and the case is
judged again with the answer. What each verdict does is in the module of its subject (`readings`, `surplus`,
`interruptions`), which registers it here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from controller.games.procedure import Deal
from controller.table import laying
from controller.table.aside import burn_due
from controller.table.cells import Cell, CellVerdict, Deck
from controller.table.charts import IncidentState, Phase
from controller.table.deck_end import close, settle_cases
from controller.table.events import (
    CardsRestored,
    IncidentKind,
    PositionCorrected,
    ShoeEnd,
    Verdict,
)
from controller.table.incidents import WAITS_FOR_SUPERVISOR, ask, cancel, decide, open_incident
from controller.table.shoe_state import SuspectDeck, UnplacedRead
from controller.table.situations import ROUND, SITUATIONS, Axis, Known, cancel_reason, known
from controller.table.state import Incident, TableState, Where

Act = Callable[[TableState, Incident, str | None], None]
ACTS: dict[CellVerdict, Act] = {}
"""What a verdict does, given who has answered or pressed."""

SCANS = frozenset({CellVerdict.RESCAN, CellVerdict.RESCAN_ALL})
SCANS_DRAWN_CARD = frozenset({IncidentKind.SCANNER_LOST, IncidentKind.HELD_READ})
"""The card that is scanned has not been taken before."""


def act(verdict: CellVerdict) -> Callable[[Act], Act]:
    """Register what `verdict` does."""

    def register(function: Act) -> Act:
        assert verdict not in ACTS, verdict
        ACTS[verdict] = function
        return function

    return register


def meet(
    t: TableState,
    kind: IncidentKind,
    values: Mapping[Axis, Known],
    *,
    where: Where | tuple[str, None] | None = None,
    read: UnplacedRead | None = None,
    called: int | None = None,
    reported_by: str | None = None,
) -> Incident:
    """Open the incident of a case in the state that its cell names, and do what the cell says.

    `read` is a card that lies on no place; `called` the fact of the card on a place that it is about.
    """
    cell = t.settings.profile.cell(kind, _phase(t), values)
    incident = open_incident(
        t,
        kind,
        cell.id,
        first=_chart_event(kind, cell),
        prompt=_prompt(kind, cell, values, reported=reported_by is not None),
        where=where,
        reason=SITUATIONS[kind].reason if reported_by is not None else None,
        reported_by=reported_by,
    )
    incident.read, incident.fact, incident.values = read, called, dict(values)
    _take_cell(incident, cell)
    if cell.verdict in ACTS:
        ACTS[cell.verdict](t, incident, reported_by)
    return incident


def judge(t: TableState, incident: Incident, by: str | None) -> None:
    """Look the case up again, with what is known by now, and do what its cell says."""
    cell = t.settings.profile.cell(incident.kind, _phase(t), incident.values)
    _take_cell(incident, cell)
    if cell.verdict in (CellVerdict.ASK, CellVerdict.SUPERVISOR, *SCANS):
        prompt = _prompt(incident.kind, cell, incident.values, reported=False)
        ask(t, incident, _chart_event(incident.kind, cell), prompt)
    if cell.verdict in ACTS:
        ACTS[cell.verdict](t, incident, by)


def answered(t: TableState, incident: Incident, yes: bool, by: str) -> None:
    """The dealer has answered the question that the cell asks."""
    assert incident.asks is not None, incident
    incident.values[incident.asks] = known(yes)
    judge(t, incident, by)


def applies(t: TableState, kind: IncidentKind) -> bool:
    """Whether the profile decides this kind in this phase.

    While the deck is shuffled again inside a round no card lies: only what may happen at any time does.
    """
    situation = SITUATIONS[kind]
    applicable = t.settings.profile.rows[situation.row].not_applicable is None
    fits = situation.phases >= ROUND if is_redeal_shuffle(t) else t.phase in situation.phases
    return applicable and fits


def offers(t: TableState, press: str) -> bool:
    """Whether the newest incident waits for a supervisor, and its cell offers this press."""
    incident = t.incident
    return incident is not None and incident.state in WAITS_FOR_SUPERVISOR and press in incident.presses


def decision_to_come(t: TableState) -> Known:
    """Whether somebody may still decide on what he sees (RPL-71)."""
    if t.phase in (Phase.RESULT_PROPOSED, Phase.CONFIRMED):
        return Known.NO
    return known(t.game.decision_to_come(frozenset(t.in_play.stages_closed)))


def due_spot(t: TableState) -> Where | None:
    """Return place and number of the card that is due to be dealt, None for a burn and for no card."""
    step = t.in_play.run.owed
    return (step.place, step.n) if isinstance(step, Deal) and burn_due(t) is None else None


def is_redeal_shuffle(t: TableState) -> bool:
    """Whether the deck is shuffled again inside a round (OAB-24)."""
    return t.phase is Phase.SHUFFLING and t.is_round_open


def _phase(t: TableState) -> Phase:
    """In the shuffle of a redeal a case is judged as in the deal."""
    return Phase.DEALING if is_redeal_shuffle(t) else t.phase


def _take_cell(incident: Incident, cell: Cell) -> None:
    incident.cell, incident.presses, incident.asks = cell.id, cell.presses or (), cell.asks
    incident.deck_out = cell.deck is Deck.OUT


def _chart_event(kind: IncidentKind, cell: Cell) -> str:
    match cell.verdict:
        case CellVerdict.ASK:
            return "ask_picture" if kind is IncidentKind.RESTARTED else "ask"
        case CellVerdict.RESCAN | CellVerdict.RESCAN_ALL:
            return "ask_rescan"
        case _:
            return "ask_supervisor"


def _prompt(kind: IncidentKind, cell: Cell, values: Mapping[Axis, Known], *, reported: bool) -> str:
    match cell.verdict:
        case CellVerdict.ASK:
            assert cell.asks is not None
            return SITUATIONS[kind].questions[cell.asks]
        case CellVerdict.RESCAN:
            return "SCAN_DRAWN_CARD" if kind in SCANS_DRAWN_CARD else "SCAN_AGAIN"
        case CellVerdict.RESCAN_ALL:
            return "SCAN_FROM_FIRST"
        case CellVerdict.SUPERVISOR:
            return _call(kind, values)
        case CellVerdict.CANCEL if reported or cell.deck is Deck.KEEP:
            return "CALL_SUPERVISOR"
        case CellVerdict.SHUFFLE:
            return "SHUFFLE_AGAIN"
        case CellVerdict.CHECK_DECK:
            return "CHECK_DECK"
        case _:
            return "CHECK_DECK" if cell.deck is Deck.OUT else "NOTED"


def _call(kind: IncidentKind, values: Mapping[Axis, Known]) -> str:
    """Return the prompt while a supervisor is waited for: what there is for him to look at."""
    match kind:
        case IncidentKind.DEALER_CHANGE:
            return "SIGN_DEALER_CHANGE"
        case IncidentKind.SCANNER_LOST if values[Axis.GONE] is Known.YES:
            return "GONE_TOO_LONG"
        case IncidentKind.SCANNER_LOST if values[Axis.OTHER] is Known.YES:
            return "OTHER_SCANNER"
        case IncidentKind.QUARANTINED:
            return "PRESS_LEFT_OUT" if values[Axis.CERTAIN] is Known.YES else "INPUT_LEFT_OUT"
        case _:
            return "CALL_SUPERVISOR"


@act(CellVerdict.CANCEL)
def _cancel(t: TableState, incident: Incident, by: str | None) -> None:
    """Cancel. A person's report is never more than a report: another person presses (P8).

    A reading that fails again after a report is no report any more.
    """
    reason = cancel_reason(incident.kind)
    if incident.reported_by is None or incident.tries:
        cancel(t, incident, reason, by)
        return
    incident.reason, incident.presses = reason, ("confirm_cancel",)
    if incident.state is not IncidentState.SUPERVISOR:
        ask(t, incident, "ask_supervisor", "CALL_SUPERVISOR")


WENT_ON_AS = {
    IncidentKind.WRONG_FACT: Verdict.REFUND,
    IncidentKind.WRONG_PLACE: Verdict.RESTORED,
    IncidentKind.TABLE_CLEARED: Verdict.RESTORED,
    IncidentKind.CARD_ON_FLOOR: Verdict.RESTORED,
}
"""What going on means, where it means more than that."""


@act(CellVerdict.GO_ON)
@act(CellVerdict.RESTORE)
def go_on(t: TableState, incident: Incident, by: str | None) -> None:
    """The round goes on; where cards were moved they lie again as the picture shows them."""
    verdict = WENT_ON_AS.get(incident.kind, Verdict.WENT_ON)
    decide(t, incident, verdict, by, incident.reason)
    if incident.kind is IncidentKind.WRONG_PLACE:
        t.emit(PositionCorrected(place=incident.place))
    elif verdict is Verdict.RESTORED:
        t.emit(CardsRestored(place=incident.place))
    if incident.kind is IncidentKind.WRONG_PLACE and incident.read is not None:
        laying.deal_card(t, incident.read)  # It lies where it was due.


@act(CellVerdict.SHUFFLE)
def _shuffle(t: TableState, incident: Incident, by: str | None) -> None:
    """A card came out before a round is open: the deck is shuffled again (RPL-77)."""
    decide(t, incident, Verdict.SHUFFLE_AGAIN, by)
    t.move("deck_suspect")


@act(CellVerdict.CHECK_DECK)
def _check_deck(t: TableState, incident: Incident, by: str | None) -> None:
    """The deck is checked before the next round, or changed where the cell takes it out (RPL-76)."""
    decide(t, incident, Verdict.DECK_OUT if incident.deck_out else Verdict.DECK_CHECK, by)
    if t.round is not None:
        t.deck_suspect = True
        return
    settle_cases(t, by)
    if incident.deck_out and t.shoe.deck is not None:
        close(t, SuspectDeck(ShoeEnd.FLOOR, t.round_no))
    t.move("change_deck")
