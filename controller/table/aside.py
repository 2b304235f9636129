"""Cards beside the deal: burned ones are out of the deck, held ones wait for their place.

Both lie face down and are bound by a commitment like any hidden card.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.games.procedure import BURN, HELD
from controller.table.events import BurnReason, CardBurned, CardHeld, IncidentKind
from controller.table.state import LaidCard, TableState, UnplacedRead


def burn(t: TableState, read: UnplacedRead, reason: BurnReason) -> None:
    """Burn a card: it goes out of the deck."""
    current = t.in_play
    n = len(current.burned) + 1
    current.burned.append(_put(t, read, BURN, n))
    commitment = current.burned[-1].commitment
    assert commitment is not None
    t.emit(CardBurned(n=n, deal=current.deal, reason=reason, commitment=commitment, manual=read.manual))


def burn_asked_about(t: TableState) -> None:
    """Burn the cards that people are being asked about: with the deal they fall too, and are opened."""
    for incident in t.incidents:
        if incident.read is not None:
            burn(t, incident.read, BurnReason(incident.kind))


def hold(t: TableState, read: UnplacedRead, reason: IncidentKind) -> None:
    """Keep a card: it is the next one that becomes due (row 23a)."""
    current = t.in_play
    current.held_count += 1
    n = current.held_count
    current.held.append(_put(t, read, HELD, n))
    commitment = current.held[-1].commitment
    assert commitment is not None
    t.emit(CardHeld(n=n, deal=current.deal, reason=reason, commitment=commitment, manual=read.manual))


def _put(t: TableState, read: UnplacedRead, place: str, n: int) -> LaidCard:
    t.register.take(read.code, (place, n))
    return LaidCard(
        place=place,
        n=n,
        deal=t.in_play.deal,
        reading=1,
        card=read.card,
        code=read.code,
        key=read.key,
        commitment=t.commitment(read, place=place, n=n, reading=1),
        open=False,
        fact=None,
        manual=read.manual,
    )


def note_relief(t: TableState) -> str:
    """Row 31: a dealer who relieves another one burns the first card, where the profile says so.

    Returns who deals the round that has just been opened.
    """
    assert t.duty.dealer is not None, "no round without a dealer"
    dealer = t.duty.dealer.actor
    relieves = t.duty.last_dealer not in (None, dealer)
    t.in_play.burn_due = relieves and t.settings.limits.burn_at_dealer_change
    t.duty = replace(t.duty, last_dealer=dealer)
    return dealer
