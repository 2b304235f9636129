"""The end of a round: the engine's result, its confirmation, and the opening of every commitment."""

from __future__ import annotations

from collections.abc import Mapping

from controller.games.published import Outcome, for_public, refund_box
from controller.table import acknowledgements, shoe_life
from controller.table.events import ManualCard, OpenedCard, ResultProposed, RoundClosed, RoundConfirmed
from controller.table.state import Round, TableState


def propose(t: TableState) -> None:
    """Publish the engine's result; the dealer confirms it or something is wrong with it."""
    current = t.in_play
    t.emit(ResultProposed(outcome=for_public(outcome(current)), manual=_manual_cards(current)))


def outcome(current: Round) -> Outcome:
    """Return the engine's result; boxes that were taken out of the round have all their wagers back."""
    return void_boxes(current.run.outcome, current.voided_boxes)


def void_boxes(judged: Outcome, voided: Mapping[str, str]) -> Outcome:
    """Refund all wagers of the boxes that are out of the round, by the cells that said so (rows 23, 24)."""
    for box, cell in voided.items():
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
            opened=open_commitments(t),
            manual=_manual_cards(current),
        )
    )
    t.emit(RoundClosed(rev=1))
    acknowledgements.ended(t, current.id, 1)


def _manual_cards(current: Round) -> tuple[ManualCard, ...]:
    return tuple(ManualCard(laid.place, laid.n) for laid in current.laid if laid.manual)


def open_commitments(t: TableState) -> tuple[OpenedCard, ...]:
    """Open what has not been opened yet: burned and held cards, withdrawn readings, unturned cards, of every
    deal. Out of a shoe that goes on burned and held cards stay closed."""
    current = t.in_play
    cards = (*current.abandoned, *current.laid)
    if t.game.shoe is None:
        cards = (*cards, *current.burned, *current.held)
    else:
        shoe_life.round_over(t)
    unopened = [laid.opening() for laid in cards if not laid.open]
    for laid in cards:
        laid.open = True
    return (*current.withdrawn, *unopened)
