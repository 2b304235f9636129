"""The picture: what the people at the table see, and the single next action.

A pure function of the table. Face-down cards are backs; counts are all that a picture tells of them.
"""

from __future__ import annotations

import msgspec

from controller.games.procedure import Betting, Deal, LayAside, Turn
from controller.table import dealing, interruptions, observations, procedures, redeal, surplus
from controller.table.charts import IncidentState, Phase, is_accepted
from controller.table.inputs import PRESS_NAMES
from controller.table.state import LaidCard, OpenWindow, TableState
from controller.table.texts import prompt_text

BACK = "back"


class Prompt(msgspec.Struct, frozen=True, omit_defaults=True):
    """The single next action. `not_before_us`: it is refused, or an early draw, before that time."""

    code: str
    text: str
    place: str | None = None
    n: int | None = None
    not_before_us: int | None = None
    incident: int | None = None


class WindowPicture(msgspec.Struct, frozen=True):
    """The window that was opened last."""

    window: str
    closes_at_us: int
    is_open: bool
    settled: bool


class Picture(msgspec.Struct, frozen=True, omit_defaults=True):
    """The table as it lies. `buttons` are the presses that are taken now, by any person of the right role."""

    table: str
    epoch: int
    at_us: int
    phase: Phase
    round_no: int
    prompt: Prompt
    buttons: tuple[str, ...]
    scanners_down: tuple[str, ...]
    roundid: str | None = None
    places: dict[str, tuple[str, ...]] = {}
    burned_count: int = 0
    held_count: int = 0
    window: WindowPicture | None = None
    incident_kind: str | None = None
    incident_state: str | None = None
    reported_by: str | None = None
    reason: str | None = None
    rescans_used: int = 0
    reports: tuple[str, ...] = ()
    """The kinds that people may report now, by `observed`."""
    deal: int = 1
    """Counts the deals of the round; more than 1 after a redeal."""


def draw(t: TableState) -> Picture:
    """Draw the table."""
    current, incident = t.round, t.incident
    return Picture(
        table=t.settings.table,
        epoch=t.epoch,
        at_us=t.now,
        phase=t.phase,
        round_no=t.round_no,
        prompt=prompt(t),
        buttons=buttons(t),
        scanners_down=tuple(sorted(set(t.settings.scanners) - t.scanners_up)),
        roundid=current.id if current is not None else None,
        places=_places(current.laid) if current is not None else {},
        burned_count=len(current.burned) if current is not None else 0,
        held_count=len(current.held) if current is not None else 0,
        window=_window(current.window) if current is not None else None,
        incident_kind=incident.kind if incident is not None else None,
        incident_state=incident.state if incident is not None else None,
        reported_by=incident.reported_by if incident is not None else None,
        reason=incident.reason if incident is not None else None,
        rescans_used=current.rescans_used if current is not None else 0,
        reports=observations.reportable(t),
        deal=current.deal if current is not None else 1,
    )


def _places(laid: list[LaidCard]) -> dict[str, tuple[str, ...]]:
    places: dict[str, tuple[str, ...]] = {}
    for card in laid:
        places[card.place] = (*places.get(card.place, ()), str(card.card) if card.open else BACK)
    return places


def _window(window: OpenWindow | None) -> WindowPicture | None:
    if window is None:
        return None
    return WindowPicture(window.window, window.closes_at, window.is_open, window.settled)


BETWEEN_ROUNDS = {
    Phase.CLOSED: "OPEN_TABLE",
    Phase.DECK_CHECK: "VERIFY_DECK",
    Phase.SHUFFLING: "SHUFFLE",
    Phase.READY: "START",
    Phase.RESULT_PROPOSED: "CONFIRM_RESULT",
    Phase.CONFIRMED: "CLEAR_TABLE",
    Phase.CANCELLED: "CLEAR_TABLE",
    Phase.DECIDING: "WAIT_FOR_PLAYERS",
}


def prompt(t: TableState) -> Prompt:
    """Return the single next action of the people at the table."""
    incident = t.incident
    if incident is not None:
        text = prompt_text(incident.prompt, incident.place, incident.n)
        return Prompt(incident.prompt, text, incident.place, incident.n, incident=incident.number)
    if t.phase is Phase.SHUFFLING and t.is_round_open:
        return _say("REDEAL")
    if t.phase in BETWEEN_ROUNDS and not (t.phase is Phase.DECIDING and dealing.is_card_due(t)):
        return _say(BETWEEN_ROUNDS[t.phase])
    return _owed(t)


def _say(code: str, place: str | None = None, n: int | None = None, not_before: int | None = None) -> Prompt:
    return Prompt(code, prompt_text(code, place, n), place, n, not_before)


def _owed(t: TableState) -> Prompt:
    current = t.in_play
    window = current.window
    if window is not None and not window.settled and window.decides is None:
        return _say("PLACE_BETS" if window.is_open else "WAIT_FOR_FACTS")
    match current.run.owed:
        case Deal(place=place, n=n):
            return _say("DEAL_CARD", place, n, None if dealing.is_card_due(t) else current.free_at)
        case Turn(place=place):
            return _say("TURN", place)
        case LayAside(place=place, n=n):
            return _say("LAY_ASIDE", place, n)
        case Betting() | _:
            raise AssertionError(f"nothing is owed in {t.phase}")


def buttons(t: TableState) -> tuple[str, ...]:
    """Return the names of the presses that the table takes now, in the order of the page."""
    state = t.incident_state
    names = [name for name in PRESS_NAMES if is_accepted(t.phase, state, name)]
    return tuple(name for name in names if _fits(t, name))


def _fits(t: TableState, name: str) -> bool:
    """The charts take it; would the table, too?"""
    match name:
        case "go_on":
            return interruptions.may_go_on(t)
        case "confirm_shuffle" if not t.is_round_open:
            return True
        case "open_betting" | "confirm_shuffle":
            return t.scanners_up.issuperset(t.settings.scanners)
        case "turn_cards":
            return _is_settled(t) and isinstance(t.in_play.run.owed, Turn)
        case "lay_card_aside":
            return _is_settled(t) and isinstance(t.in_play.run.owed, LayAside)
        case "dispute_reading":
            return t.incident_state is IncidentState.NONE and bool(t.in_play.laid)
        case "call_surplus":
            return t.incident_state is IncidentState.NONE and surplus.callable_card(t) is not None
        case "observed":
            return bool(observations.reportable(t))
        case "withdraw_report":
            return observations.may_withdraw(t)
        case "order_rescan" | "confirm_cancel":
            return procedures.offers(t, name)
        case "void_box":
            return observations.may_void(t)
        case "order_redeal":
            return redeal.may_redeal(t)
        case "close_table":
            return not t.is_round_open
        case _:
            return True


def _is_settled(t: TableState) -> bool:
    window = t.in_play.window
    return window is None or window.settled
