"""Readers that deal nothing: a second capture, which reads every card once more, and readers at places.

What they see is compared with what was dealt (rows 2, 3, 7, 10, 11 and 23a of the procedures). A look is
told alike whatever it was, is taken in every hold, and is judged as soon as no incident is open. The dealing
reader may be a card behind: a card that is due may be seen here first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from controller.games.procedure import BURN, Deal
from controller.table import aside, laying, procedures, readings, shoe_life, surplus
from controller.table.charts import IN_ROUND, IncidentState, Phase, is_accepted
from controller.table.events import IncidentKind, ReadCompared, Refusal, Verdict
from controller.table.gate import refuse
from controller.table.incidents import note_incident
from controller.table.inputs import (
    CardRead,
    CardsTogether,
    Commanded,
    ReadFailed,
    Role,
    ShoeComplained,
    ShoeResulted,
    ShoeStandsBy,
    UntakenRead,
)
from controller.table.situations import Axis, Known, known
from controller.table.state import LaidCard, Look, TableState, Where

FromReader: TypeAlias = CardRead | ReadFailed | CardsTogether | ShoeResulted | ShoeComplained | ShoeStandsBy

CELL = "3 unseen"
LOOKS_MAX = 200
"""Looks of one reader in one round that are remembered: several times its cards. More are a device gone mad,
and count as not seen."""
FORGOTTEN = frozenset({IncidentKind.DISPUTED_READ, IncidentKind.WRONG_PLACE})
"""Once such a case is closed, a look that still fits no card was wrong: the card must be seen anew."""


def take(t: TableState, value: FromReader) -> None:
    """Take what a reader that deals nothing has to say; only a code says anything."""
    name = str(value.__struct_config__.tag)
    if not isinstance(value, CardRead) or shoe_life.is_cutting_card(t, value.code):
        refuse(t, name, Refusal.DEALS_NOTHING)
    elif t.phase is Phase.DECK_CHECK or not is_accepted(t.phase, IncidentState.NONE, name):
        refuse(t, name, Refusal.WRONG_PHASE)
    else:
        t.emit(ReadCompared(scanner=value.scanner))
        if t.round is not None:
            _note(t, value.scanner, value.code, repeat=value.repeat)
        elif t.incident is None and not _waits(t, value.code):
            surplus.card_not_due(t, None)


def note_untaken(t: TableState, reads: Sequence[UntakenRead]) -> None:
    """Remember, in a round, what came in when the process went down."""
    for read in reads if t.is_round_open else ():
        if read.scanner in t.settings.second_readers and read.code is not None:
            _note(t, read.scanner, read.code, repeat=False)


def _note(t: TableState, scanner: str, code: str, *, repeat: bool) -> None:
    """Remember a look, unless it is another one at the same card.

    Where a code is on many cards the same one again is another card, but for what the driver marks and for
    cards that are or were scanned again.
    """
    looks = t.in_play.looks.setdefault(scanner, [])
    seen = any(look.code == code and look.deal == t.in_play.deal for look in looks)
    again = _is_unique(t) or t.incident_state is IncidentState.RESCAN
    unseen = any(card.code == code for card in _unseen(t, scanner))
    repeat = repeat or code in t.in_play.scanned_again
    if len(looks) < LOOKS_MAX and (not seen or (not again and (unseen or not repeat))):
        looks.append(Look(code, t.in_play.deal))


def _is_unique(t: TableState) -> bool:
    """Whether each code of the deck is on one card."""
    return t.register.deck.copies == 1


# What fits.


def _waits(t: TableState, code: str) -> bool:
    """Whether a card with this code is out already and waits for the next round (row 10a)."""
    return any(card.read.code == code for card in t.shoe.kept)


def _cards_out(t: TableState) -> list[LaidCard]:
    current = t.in_play
    return [*current.laid, *current.burned, *current.held]


def _looks(t: TableState, scanner: str) -> list[Look]:
    return [look for look in t.in_play.looks.get(scanner, ()) if look.deal == t.in_play.deal]


def _pair(t: TableState, scanner: str) -> tuple[list[LaidCard], list[Look]]:
    """Return the cards where this reader looks that it has not seen, and its looks that fit none of them."""
    place = t.settings.second_readers[scanner]
    unseen = [card for card in _cards_out(t) if place in (None, card.place)]
    left = []
    for look in _looks(t, scanner):
        card = next((card for card in unseen if card.code == look.code), None)
        if card is None:
            left.append(look)
        else:
            unseen.remove(card)
    return unseen, left


def _unseen(t: TableState, scanner: str) -> list[LaidCard]:
    return _pair(t, scanner)[0]


# What does not.


def follow(t: TableState) -> None:
    """End a step: compare what was seen with what lies there; the first difference is asked about."""
    if t.round is None or t.phase not in IN_ROUND | {Phase.CONFIRMED}:
        return
    for scanner, place in t.settings.second_readers.items():
        _settle(t, scanner)
        if t.incident is None and t.phase is not Phase.CANCELLED:
            _compare(t, scanner, place)


def _settle(t: TableState, scanner: str) -> None:
    """Mark the looks that fit; with no case open, forget those that do not fit any more."""
    _, left = _pair(t, scanner)
    for look in _looks(t, scanner):
        look.met = look.met or not any(look is other for other in left)
    if t.incident is None:
        gone = [look for look in left if look.met or _was_wrong(t, look)]
        kept = [look for look in t.in_play.looks.get(scanner, ()) if not any(look is one for one in gone)]
        t.in_play.looks[scanner] = kept


def _was_wrong(t: TableState, look: Look) -> bool:
    """Whether a look counts no more once its case is closed, and the card must be seen anew.

    Where a code is on many cards, one that had passed unread is taken for another one when it is seen again.
    """
    return look.asked in FORGOTTEN or (look.asked is IncidentKind.MISREAD_LATE and not _is_unique(t))


def _compare(t: TableState, scanner: str, place: str | None) -> None:
    unseen, left = _pair(t, scanner)
    fresh = [look for look in left if look.asked is None and not _waits(t, look.code)]
    elsewhere = [] if place is None else _elsewhere(t, place, fresh)
    strays = [look for look in fresh if all(look is not one for one, _ in elsewhere)]
    laid = [card for card in unseen if _can_be_read(card)]
    if t.phase is Phase.CONFIRMED:
        _after_result(t, strays)
    elif elsewhere and procedures.applies(t, IncidentKind.WRONG_PLACE):
        _lies_wrongly(t, *elsewhere[0])
    elif strays and laid:
        _differs(t, strays[0], laid[0])
    elif len(strays) > 1 and procedures.applies(t, IncidentKind.MISREAD_LATE):
        _passed_unread(t, strays)
    elif strays and not _may_come(t, place):
        strays[0].asked = surplus.card_unscanned(t)


def _can_be_read(card: LaidCard) -> bool:
    """Whether a reader should have seen this card: one that two people have entered no reader can read."""
    return card.fact is not None and not card.manual


def _elsewhere(t: TableState, place: str, looks: Iterable[Look]) -> list[tuple[Look, LaidCard]]:
    """Return the looks at cards of this round that were dealt to another place than the reader's.

    Where a code is on many cards it may as well be the one that is due here.
    """
    if not _is_unique(t) and _may_come(t, place):
        return []
    others = {card.code: card for card in _cards_out(t) if card.place != place}
    return [(look, others[look.code]) for look in looks if look.code in others]


def _may_come(t: TableState, place: str | None) -> bool:
    """Whether the card that is due may be the one that was seen: the dealing reader reads it next."""
    if not laying.is_card_due(t):
        return False
    step = t.in_play.run.owed
    assert isinstance(step, Deal)
    return place in (None, BURN if aside.burn_due(t) is not None else step.place)


def _lies_wrongly(t: TableState, look: Look, card: LaidCard) -> None:
    """Row 11: a card of this round lies at another place than it was dealt to."""
    look.asked = IncidentKind.WRONG_PLACE
    later = known(card is not t.in_play.laid[-1]) if card in t.in_play.laid else Known.UNKNOWN
    values = {Axis.LATER: later, Axis.CERTAIN: Known.UNKNOWN}
    procedures.meet(t, IncidentKind.WRONG_PLACE, values, where=(card.place, card.n))


def _differs(t: TableState, look: Look, card: LaidCard) -> None:
    """Row 3: in its turn, or at its place, a card reads as another one than was dealt."""
    look.asked = IncidentKind.DISPUTED_READ
    readings.contradicted(t, card)


def _passed_unread(t: TableState, looks: Iterable[Look]) -> None:
    """Row 2: a second card came out, and the one before was never read by the dealing reader."""
    for look in looks:
        look.asked = IncidentKind.MISREAD_LATE
    values = {Axis.CERTAIN: Known.UNKNOWN, **readings.rescan_values(t)}
    procedures.meet(t, IncidentKind.MISREAD_LATE, values)


def _after_result(t: TableState, looks: Sequence[Look]) -> None:
    """A card came out after RESULT: the deck is checked."""
    for look in looks:
        look.asked = IncidentKind.SURPLUS_CARD
    if looks and not t.deck_suspect and t.shoe.suspect is None:
        surplus.card_not_due(t, None)


# What must agree before the result counts.


def unseen_card(t: TableState) -> Where | None:
    """Return the first card that a reader which must agree has not seen, None where all have."""
    limits = t.settings.limits
    for scanner, place in t.settings.second_readers.items():
        must = limits.second_capture_agrees if place is None else limits.position_readers_agree
        if not must or t.round is None:
            continue
        for card in _unseen(t, scanner):
            if _can_be_read(card):
                return (card.place, card.n)
    return None


def may_confirm(t: TableState, value: Commanded) -> bool:
    """Whether RESULT is taken: all have seen every card, or a supervisor presses, which goes on record."""
    if unseen_card(t) is None:
        return True
    if value.role is not Role.SUPERVISOR:
        return False
    note_incident(t, IncidentKind.NOT_SEEN_AGAIN, CELL, Verdict.WENT_ON, "SHOW_CARD", value.actor)
    return True
