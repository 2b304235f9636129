"""The end of a round: the engine's result, its confirmation, and the opening of every commitment."""

from __future__ import annotations

from controller.games.published import for_public
from controller.table.events import ManualCard, OpenedCard, ResultProposed, RoundClosed, RoundConfirmed
from controller.table.state import Round, TableState


def propose(t: TableState) -> None:
    """Publish the engine's result; the dealer confirms it or something is wrong with it."""
    current = t.in_play
    t.emit(ResultProposed(outcome=for_public(current.run.outcome), manual=_manual_cards(current)))


def confirm(t: TableState) -> None:
    """The dealer has pressed RESULT: the round is final and every commitment is opened."""
    current = t.in_play
    t.move("confirm_result")
    t.emit(
        RoundConfirmed(
            rev=1,
            outcome=current.run.outcome,
            opened=open_commitments(current),
            manual=_manual_cards(current),
        )
    )
    t.emit(RoundClosed(rev=1))


def _manual_cards(current: Round) -> tuple[ManualCard, ...]:
    return tuple(ManualCard(laid.place, laid.n) for laid in current.laid if laid.manual)


def open_commitments(current: Round) -> tuple[OpenedCard, ...]:
    """Open what has not been opened yet: burned cards, withdrawn readings, unturned cards."""
    unopened = [laid.opening() for laid in (*current.laid, *current.burned) if not laid.open]
    for laid in (*current.laid, *current.burned):
        laid.open = True
    return (*current.withdrawn, *unopened)
