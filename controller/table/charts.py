"""The two charts of every game: the phase of the round, and the state of an open incident.

They say which inputs a table takes and where each event leads. Both are read once, at import, into tables
of plain pairs: a step of a table costs a look-up, not a run of the chart. A test walks the charts
themselves beside the tables, and another keeps (phase, incident, input) as a golden.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from statemachine import State, StateChart


class Phase(StrEnum):
    """Where a round stands; on the wire in every envelope."""

    CLOSED = "closed"
    DECK_CHECK = "deck_check"
    SHUFFLING = "shuffling"
    READY = "ready"
    BETTING = "betting"
    DEALING = "dealing"
    DECIDING = "deciding"
    RESULT_PROPOSED = "result_proposed"
    CONFIRMED = "confirmed"
    CANCELLED = "cancelled"


IN_ROUND = frozenset({Phase.BETTING, Phase.DEALING, Phase.DECIDING, Phase.RESULT_PROPOSED})
"""The phases in which a round may still be cancelled."""


class IncidentState(StrEnum):
    """What an open incident waits for. `none` is the table without one."""

    NONE = "none"
    RESCAN = "rescan"
    """The dealer scans a card (once more)."""
    QUESTION = "question"
    """The dealer answers yes or no."""
    SUPERVISOR = "supervisor"
    """A supervisor decides."""
    LOST = "lost"
    """A scanner is gone; it comes back by itself."""
    PICTURE = "picture"
    """The dealer confirms the picture after a restart."""
    ENTRY = "entry"
    """Two people enter the card that can't be read."""


class PhaseChart(StateChart[Any]):
    """Life of a round. Transitions without a target are inputs that a phase takes and stays in."""

    allow_event_without_transition = False
    catch_errors_as_events = False

    closed = State(initial=True)
    deck_check = State()
    shuffling = State()
    ready = State()
    betting = State()
    dealing = State()
    deciding = State()
    result_proposed = State()
    confirmed = State()
    cancelled = State()

    # The day: open, verify, shuffle, and off again between two rounds.
    open_table = closed.to(deck_check)
    close_table = deck_check.to(closed) | shuffling.to(closed) | ready.to(closed)
    load_deck = deck_check.to(None)
    verify_deck = deck_check.to(shuffling)
    change_deck = deck_check.to(None) | shuffling.to(deck_check) | ready.to(deck_check)
    count_stub = deck_check.to(None) | shuffling.to(None) | result_proposed.to(None) | confirmed.to(None)
    count_stub |= cancelled.to(None)
    cutting_card = (
        ready.to(None)
        | betting.to(None)
        | dealing.to(None)
        | deciding.to(None)
        | result_proposed.to(None)
        | confirmed.to(None)
    )
    confirm_shuffle = shuffling.to(ready)
    repeat_shuffle = shuffling.to(None) | ready.to(shuffling)

    # The round.
    open_betting = ready.to(betting)
    close_betting = betting.to(None)
    bets_closed = betting.to(dealing)
    window_opened = dealing.to(deciding)
    window_settled = deciding.to(dealing)
    turn_cards = dealing.to(None)
    lay_card_aside = dealing.to(None)
    result_ready = dealing.to(result_proposed)
    confirm_result = result_proposed.to(confirmed)
    round_cancelled = (
        betting.to(cancelled) | dealing.to(cancelled) | deciding.to(cancelled) | result_proposed.to(cancelled)
    )
    clear_table = confirmed.to(shuffling) | cancelled.to(shuffling)
    shoe_goes_on = shuffling.to(ready)
    deck_suspect = shuffling.to(deck_check) | ready.to(shuffling)

    # What comes from the scanners, where it means something.
    card_read = (
        deck_check.to(None)
        | ready.to(None)
        | betting.to(None)
        | dealing.to(None)
        | deciding.to(None)
        | result_proposed.to(None)
        | confirmed.to(None)
    )
    read_failed = dealing.to(None) | deciding.to(None) | result_proposed.to(None)

    # Facts of the betting system.
    bets_taken = dealing.to(None) | deciding.to(None) | result_proposed.to(None)
    decision_taken = deciding.to(None) | dealing.to(None)
    window_facts = deciding.to(None) | dealing.to(None) | result_proposed.to(None)

    # When something goes wrong.
    dispute_reading = dealing.to(None) | deciding.to(None) | result_proposed.to(None)
    call_surplus = dealing.to(None) | deciding.to(None)
    observed = (
        shuffling.to(None)
        | ready.to(None)
        | betting.to(None)
        | dealing.to(None)
        | deciding.to(None)
        | result_proposed.to(None)
    )
    withdraw_report = betting.to(None) | dealing.to(None) | deciding.to(None) | result_proposed.to(None)
    confirm_cancel = betting.to(None) | dealing.to(None) | deciding.to(None) | result_proposed.to(None)
    answer_question = (
        deck_check.to(None)
        | ready.to(None)
        | confirmed.to(None)
        | betting.to(None)
        | dealing.to(None)
        | deciding.to(None)
        | result_proposed.to(None)
    )
    confirm_picture = betting.to(None) | dealing.to(None) | deciding.to(None) | result_proposed.to(None)
    go_on = betting.to(None) | dealing.to(None) | deciding.to(None) | result_proposed.to(None)
    order_rescan = dealing.to(None) | deciding.to(None) | result_proposed.to(None)
    order_entry = dealing.to(None) | deciding.to(None) | result_proposed.to(None)
    enter_card = dealing.to(None) | deciding.to(None) | result_proposed.to(None)

    # A result that was confirmed is corrected between two rounds, or while its cards still lie.
    propose_correction = (
        closed.to(None)
        | deck_check.to(None)
        | shuffling.to(None)
        | ready.to(None)
        | confirmed.to(None)
        | cancelled.to(None)
    )
    approve_correction = (
        closed.to(None)
        | deck_check.to(None)
        | shuffling.to(None)
        | ready.to(None)
        | confirmed.to(None)
        | cancelled.to(None)
    )
    withdraw_correction = (
        closed.to(None)
        | deck_check.to(None)
        | shuffling.to(None)
        | ready.to(None)
        | confirmed.to(None)
        | cancelled.to(None)
    )
    void_box = dealing.to(None) | deciding.to(None) | result_proposed.to(None)

    # A redeal: the round stays open while the deck is shuffled again (OAB-24).
    order_redeal = dealing.to(None) | deciding.to(None) | result_proposed.to(None)
    round_redealt = dealing.to(shuffling) | deciding.to(shuffling) | result_proposed.to(shuffling)
    deal_again = shuffling.to(dealing)
    round_cancelled |= shuffling.to(cancelled)
    withdraw_report |= shuffling.to(None)
    confirm_cancel |= shuffling.to(None)
    confirm_picture |= shuffling.to(None)
    go_on |= shuffling.to(None)

    # What keeps the next round from opening. Log-ins are taken always and are not in the chart.
    pause_table = (
        deck_check.to(None)
        | shuffling.to(None)
        | ready.to(None)
        | betting.to(None)
        | dealing.to(None)
        | deciding.to(None)
        | result_proposed.to(None)
        | confirmed.to(None)
        | cancelled.to(None)
    )
    resume_table = (
        deck_check.to(None)
        | shuffling.to(None)
        | ready.to(None)
        | betting.to(None)
        | dealing.to(None)
        | deciding.to(None)
        | result_proposed.to(None)
        | confirmed.to(None)
        | cancelled.to(None)
    )
    close_after_round = (
        betting.to(None)
        | dealing.to(None)
        | deciding.to(None)
        | result_proposed.to(None)
        | confirmed.to(None)
        | cancelled.to(None)
    )
    unblock = closed.to(None) | deck_check.to(None) | shuffling.to(None) | ready.to(None)


class IncidentChart(StateChart[Any]):
    """Life of an incident. It closes the gate for cards and confirmations, never for time or facts."""

    allow_event_without_transition = False
    catch_errors_as_events = False

    none = State(initial=True)
    rescan = State()
    question = State()
    supervisor = State()
    lost = State()
    picture = State()
    entry = State()
    closed = State(final=True)

    ask = (
        none.to(question)
        | lost.to(question)
        | supervisor.to(question)
        | entry.to(question)
        | question.to(None)
    )
    ask_rescan = (
        none.to(rescan)
        | question.to(rescan)
        | supervisor.to(rescan)
        | lost.to(rescan)
        | entry.to(rescan)
        | rescan.to(None)
    )
    ask_entry = supervisor.to(entry) | rescan.to(entry)
    ask_supervisor = (
        none.to(supervisor)
        | rescan.to(supervisor)
        | question.to(supervisor)
        | picture.to(supervisor)
        | lost.to(supervisor)
        | entry.to(supervisor)
        | supervisor.to(None)
    )
    lose_scanner = none.to(lost) | question.to(lost) | rescan.to(lost) | supervisor.to(lost)
    ask_picture = none.to(picture)
    close = (
        rescan.to(closed)
        | question.to(closed)
        | supervisor.to(closed)
        | picture.to(closed)
        | lost.to(closed)
        | entry.to(closed)
    )

    # Who may move it: the inputs that it takes while it is open.
    card_read = rescan.to(None)
    read_failed = rescan.to(None)
    answer_question = question.to(None)
    confirm_cancel = supervisor.to(None) | entry.to(None)
    count_stub = supervisor.to(None)
    withdraw_report = supervisor.to(None)
    go_on = supervisor.to(None)
    order_rescan = supervisor.to(None) | entry.to(None)
    order_entry = supervisor.to(None)
    enter_card = entry.to(None)
    void_box = supervisor.to(None)
    order_redeal = supervisor.to(None)
    confirm_picture = picture.to(None)
    observed = rescan.to(None) | question.to(None) | lost.to(None) | picture.to(None) | entry.to(None)


UNGATED = frozenset({"close_betting", "bets_taken", "window_facts", "decision_taken"})
"""Inputs that an open incident never holds back: time, and what the betting system knows."""

ONLY_IN_INCIDENT = frozenset(
    {
        "answer_question",
        "confirm_cancel",
        "withdraw_report",
        "go_on",
        "order_rescan",
        "void_box",
        "order_redeal",
        "confirm_picture",
        "order_entry",
        "enter_card",
    }
)


def _targets(chart: type[StateChart[Any]]) -> dict[tuple[str, str], str]:
    return {
        (state.id, event.id): transition.target.id if transition.target is not None else state.id
        for state in chart.states
        for transition in state.transitions
        for event in transition.events
    }


def _inputs(chart: type[StateChart[Any]], state_id: str) -> frozenset[str]:
    state = next(state for state in chart.states if state.id == state_id)
    return frozenset(event.id for transition in state.transitions for event in transition.events)


PHASE_INPUTS = {phase: _inputs(PhaseChart, phase) for phase in Phase}
INCIDENT_INPUTS: dict[IncidentState, frozenset[str]] = {
    state: _inputs(IncidentChart, state) for state in IncidentState if state is not IncidentState.NONE
}


PHASE_TARGETS = {key: Phase(target) for key, target in _targets(PhaseChart).items()}
INCIDENT_TARGETS = {
    key: IncidentState(target) for key, target in _targets(IncidentChart).items() if target != "closed"
}
"""(state, event) to the state it leads to, itself where it stays; a closed incident has none.

Another pair is a bug of ours.
"""


def is_accepted(phase: Phase, incident: IncidentState, name: str) -> bool:
    """Return whether the input `name` is taken in this phase, with an incident in this state."""
    if name not in PHASE_INPUTS[phase]:
        return False
    if incident is IncidentState.NONE:
        return name not in ONLY_IN_INCIDENT
    return name in UNGATED or name in INCIDENT_INPUTS[incident]
