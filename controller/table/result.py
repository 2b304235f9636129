"""The end of a round: the engine's result, its confirmation, and the opening of every commitment."""

from __future__ import annotations

from controller.games.published import for_public
from controller.table.events import OpenedCard, ResultProposed, RoundClosed, RoundConfirmed
from controller.table.state import Round, TableState


def propose(t: TableState) -> None:
    """Publish the engine's result; the dealer confirms it or something is wrong with it."""
    t.emit(ResultProposed(outcome=for_public(t.in_play.run.outcome)))


def confirm(t: TableState) -> None:
    """The dealer has pressed RESULT: the round is final and every commitment is opened."""
    current = t.in_play
    t.move("confirm_result")
    t.emit(
        RoundConfirmed(
            rev=1,
            outcome=current.run.outcome,
            voided=tuple(current.voided),
            opened=open_commitments(current),
        )
    )
    t.emit(RoundClosed(rev=1))


def open_commitments(current: Round) -> tuple[OpenedCard, ...]:
    """Open what has not been opened yet: burned cards, withdrawn readings, unturned cards, of every deal."""
    cards = (*current.abandoned, *current.laid, *current.burned)
    unopened = [laid.opening() for laid in cards if not laid.open]
    for laid in cards:
        laid.open = True
    return (*current.withdrawn, *unopened)
