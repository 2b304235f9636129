"""Burning: a card goes out of the deck face down, bound by a commitment like any hidden card."""

from __future__ import annotations

from controller.games.procedure import BURN
from controller.table.events import BurnReason, CardBurned
from controller.table.state import LaidCard, TableState, UnplacedRead


def burn(t: TableState, read: UnplacedRead, reason: BurnReason) -> None:
    """Burn a card that has been read."""
    current = t.in_play
    n = len(current.burned) + 1
    t.register.take(read.code, (BURN, n))
    commitment = t.commitment(read, place=BURN, n=n, reading=1)
    current.burned.append(
        LaidCard(
            place=BURN,
            n=n,
            deal=current.deal,
            reading=1,
            card=read.card,
            code=read.code,
            key=read.key,
            commitment=commitment,
            open=False,
            fact=None,
        )
    )
    t.emit(CardBurned(n=n, deal=current.deal, reason=reason, commitment=commitment))
