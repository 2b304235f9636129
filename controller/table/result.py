"""The end of a round: the engine's result, its confirmation, and the opening of every commitment."""

from __future__ import annotations

from controller.games.published import Outcome, for_public, refund_box
from controller.table.events import OpenedCard, ResultProposed, RoundClosed, RoundConfirmed
from controller.table.state import Round, TableState


def propose(t: TableState) -> None:
    """Publish the engine's result; the dealer confirms it or something is wrong with it."""
    t.emit(ResultProposed(outcome=for_public(outcome(t.in_play))))


def outcome(current: Round) -> Outcome:
    """Return the engine's result; boxes that were taken out of the round have all their wagers back."""
    judged: Outcome = current.run.outcome
    for box, cell in current.voided_boxes.items():
        judged = refund_box(judged, box, cell)
    return judged


def confirm(t: TableState) -> None:
    """The dealer has pressed RESULT: the round is final and every commitment is opened."""
    current = t.in_play
    t.move("confirm_result")
    t.emit(
        RoundConfirmed(
            rev=1,
            outcome=outcome(current),
            voided=tuple(current.voided),
            opened=open_commitments(current),
        )
    )
    t.emit(RoundClosed(rev=1))


def open_commitments(current: Round) -> tuple[OpenedCard, ...]:
    """Open what has not been opened yet: burned and held cards, withdrawn readings, unturned cards, of every
    deal."""
    cards = (*current.abandoned, *current.laid, *current.burned, *current.held)
    unopened = [laid.opening() for laid in cards if not laid.open]
    for laid in cards:
        laid.open = True
    return (*current.withdrawn, *unopened)
