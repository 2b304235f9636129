"""Cards beside the deal: burned ones are out of the deck, held ones wait for their place.

Both lie face down and are bound by a commitment like any hidden card.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.games.procedure import BURN, HELD
from controller.table.events import BurnReason, CardBurned, CardHeld, IncidentKind
from controller.table.shoe_state import UnplacedRead
from controller.table.state import LaidCard, TableState


def burn(t: TableState, read: UnplacedRead, reason: BurnReason) -> None:
    """Burn a card: it goes out of the deck; the first one of a shoe face up (BAC-13)."""
    current = t.in_play
    n = len(current.burned) + 1
    shown = reason is BurnReason.FIRST_CARD
    burned = _put(t, read, BURN, n, is_open=shown)
    current.burned.append(burned)
    card = str(read.card) if shown else None
    t.emit(
        CardBurned(
            n=n, deal=current.deal, reason=reason, commitment=burned.commitment, card=card, manual=read.manual
        )
    )


def burn_due(t: TableState) -> BurnReason | None:
    """Return why the next card is burned instead of dealt, None when it is not."""
    if t.shoe.burns_due:
        return t.shoe.burns_due[0]
    return BurnReason.RELIEF if t.in_play.burn_due else None


def burn_as_due(t: TableState, read: UnplacedRead, reason: BurnReason) -> None:
    """Burn the card that is due to be burned; the first one of a shoe says how many follow (BAC-13)."""
    if reason is BurnReason.RELIEF:
        t.in_play.burn_due = False
    else:
        t.shoe.burns_due.pop(0)
    burn(t, read, reason)
    if reason is BurnReason.FIRST_CARD:
        assert t.game.shoe is not None
        t.shoe.burns_due += [BurnReason.NEW_SHOE] * t.game.shoe.burn_counts[read.card.rank]


def burn_asked_about(t: TableState) -> None:
    """Burn the cards that people are being asked about: with the deal they fall too, and are opened.

    Where nobody has said whether it is a card at all, the cards are counted before the next round.
    """
    for incident in t.incidents:
        if incident.read is not None and incident.kind is IncidentKind.SAME_CODE_AGAIN:
            t.deck_suspect = True
        elif incident.read is not None:
            burn(t, incident.read, BurnReason(incident.kind))


def hold(t: TableState, read: UnplacedRead, reason: IncidentKind) -> None:
    """Keep a card: it is the next one that becomes due (row 23a)."""
    current = t.in_play
    current.held_count += 1
    n = current.held_count
    current.held.append(_put(t, read, HELD, n, kind=reason))
    commitment = current.held[-1].commitment
    assert commitment is not None
    t.emit(CardHeld(n=n, deal=current.deal, reason=reason, commitment=commitment, manual=read.manual))


def _put(
    t: TableState,
    read: UnplacedRead,
    place: str,
    n: int,
    *,
    is_open: bool = False,
    kind: IncidentKind | None = None,
) -> LaidCard:
    t.register.take(read.code, (place, n))
    return LaidCard(
        place=place,
        n=n,
        deal=t.in_play.deal,
        reading=1,
        card=read.card,
        code=read.code,
        key=read.key,
        commitment=None if is_open else t.commitment(read, place=place, n=n, reading=1),
        open=is_open,
        fact=None,
        manual=read.manual,
        kind=kind,
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
