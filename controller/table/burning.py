"""Burning: a card goes out of the deck face down, bound by a commitment like any hidden card."""

from __future__ import annotations

from msgspec.structs import replace

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


def note_dealer(t: TableState) -> str:
    """Row 31: a dealer who relieves another one burns the first card, where the profile says so.

    Returns who deals the round that has just been opened.
    """
    assert t.duty.dealer is not None, "no round without a dealer"
    dealer = t.duty.dealer.actor
    relieves = t.duty.last_dealer not in (None, dealer)
    t.in_play.burn_due = relieves and t.settings.limits.burn_at_dealer_change
    t.duty = replace(t.duty, last_dealer=dealer)
    return dealer
