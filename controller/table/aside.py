"""Cards beside the deal: burned ones are out of the deck, held ones wait for their place.

Both lie face down and are bound by a commitment like any hidden card.
"""

from __future__ import annotations

from controller.games.procedure import BURN, HELD
from controller.table.events import CardBurned, CardHeld, IncidentKind
from controller.table.state import LaidCard, TableState, UnplacedRead


def burn(t: TableState, read: UnplacedRead, reason: IncidentKind) -> None:
    """Burn a card: it goes out of the deck."""
    current = t.in_play
    n = len(current.burned) + 1
    current.burned.append(_put(t, read, BURN, n))
    commitment = current.burned[-1].commitment
    assert commitment is not None
    t.emit(CardBurned(n=n, deal=current.deal, reason=reason, commitment=commitment))


def hold(t: TableState, read: UnplacedRead, reason: IncidentKind) -> None:
    """Keep a card: it is the next one that becomes due (row 23a)."""
    current = t.in_play
    current.held_count += 1
    n = current.held_count
    current.held.append(_put(t, read, HELD, n))
    commitment = current.held[-1].commitment
    assert commitment is not None
    t.emit(CardHeld(n=n, deal=current.deal, reason=reason, commitment=commitment))


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
    )
