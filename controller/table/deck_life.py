"""The life of a deck: loaded, verified, changed (procedures, "Inventory"; rows 4, 5, 6 and 16, RPL-76).

A deck is loaded before the first round: scanned in card by card, or accepted by its receipt by two people.
Then it is verified in view of the camera by its count. How it goes out of use is in `deck_end`.
"""

from __future__ import annotations

from controller.cards import Anomaly, Card, CodeMap, Register
from controller.table import shoe_life, stub_count
from controller.table.charts import Phase
from controller.table.deck_end import close
from controller.table.events import (
    DeckLoaded,
    DeckOffered,
    DeckRejected,
    DeckScanned,
    DeckVerified,
    IncidentKind,
    Loading,
    Refusal,
    Rejection,
    ShoeEnd,
    Verdict,
)
from controller.table.gate import refuse
from controller.table.incidents import LOAD_NEW_DECK, decide, note_incident, open_incident
from controller.table.inputs import CardRead, ChangeDeck, ChangeReason, LoadDeck, Role
from controller.table.shoe_state import DeckInUse, Receipt, SuspectDeck, UnplacedRead
from controller.table.state import Incident, TableState, register_of

DECK_PLACE = "deck"
"""The place of a card that is being scanned in; its number counts the scans."""


# Loading.


def scan_in(t: TableState, read: CardRead) -> None:
    """Take a card of the set that is being scanned in: new, or the whole of the deck in use once more."""
    if shoe_life.is_begun(t):
        refuse(t, "card_read", Refusal.NOT_OWED)  # What is left of it is counted.
        return
    register = _scanned(t, read.code)
    checked = register.check(read.code)
    # A mark may be of a look before this set was begun: then the card is its first of this value.
    again = shoe_life.is_repeat(t, read) and isinstance(checked, Card) and read.code in t.shoe.scanning
    if isinstance(checked, Card) and not again:
        _take_in(t, read.code, register.out_count + 1)
    elif again or checked is Anomaly.ALREADY_OUT:
        where = (DECK_PLACE, register.where(read.code))
        incident = open_incident(
            t, IncidentKind.SAME_CODE_AGAIN, "4", first="ask", prompt="SAME_CARD", where=where
        )
        if isinstance(checked, Card):
            incident.read = UnplacedRead(checked, read.code, read.key)
    elif t.shoe.deck is not None and not t.shoe.scanning:
        refuse(t, "card_read", Refusal.UNKNOWN_DECK)  # Nobody has begun to scan the deck in use.
    else:
        _reject(t, Rejection.FOREIGN_CARD, "6", missing=register.left_count)


def _take_in(t: TableState, code: str, n: int) -> None:
    t.shoe.receipt = None
    t.shoe.scanning.append(code)
    t.emit(DeckScanned(n=n))


def same_card_answered(t: TableState, incident: Incident, yes: bool, actor: str) -> None:
    """Row 4 in the set: a second look at a card is dropped; a doubled card rejects the set (row 5).

    Where a code is on many cards another one of it may well have come.
    """
    if yes:
        decide(t, incident, Verdict.DUPLICATE_READ, actor)
        return
    if incident.read is not None:
        decide(t, incident, Verdict.WENT_ON, actor)
        _take_in(t, incident.read.code, len(t.shoe.scanning) + 1)
        return
    missing = _scanned(t, t.shoe.scanning[0]).left_count
    decide(t, incident, Verdict.DECK_OUT, actor)
    _send_away(t, Rejection.DOUBLED_CARD, missing=missing)


def load_by_receipt(t: TableState, command: LoadDeck, actor: str) -> Refusal | None:
    """Accept a deck unopened: two people name the same deck and receipt (Inventory)."""
    if not may_load(t):
        return Refusal.NOT_OWED
    if command.deck not in {deck.name for deck in t.decks}:
        return Refusal.UNKNOWN_DECK
    first = t.shoe.receipt
    if first is None or first.by == actor:
        t.shoe.receipt = Receipt(command.deck, command.receipt, actor)
        t.emit(DeckOffered(deck=command.deck, receipt=command.receipt, by=actor))
        return None
    if (first.deck, first.receipt) != (command.deck, command.receipt):
        return Refusal.OTHER_RECEIPT
    _load(t, _deck_named(t, command.deck), Loading.RECEIPT)
    return None


def may_load(t: TableState) -> bool:
    """Whether a deck may be accepted by its receipt: none is in use, none is being scanned in."""
    return t.shoe.deck is None and not t.shoe.scanning


def verify(t: TableState, count: int, actor: str, role: Role) -> Refusal | None:
    """The deck was counted in view of the camera (RPL-76); that ends its loading."""
    shoe = t.shoe
    if not may_verify(t):
        return Refusal.NO_DECK
    if shoe.supervised and role is not Role.SUPERVISOR:
        return Refusal.WRONG_ROLE
    if shoe.scanning:
        register = _scanned(t, shoe.scanning[0])
        if count > register.size or count == register.out_count < register.size:
            reason = Rejection.EXTRA_CARD if count > register.size else Rejection.MISSING_CARD
            _reject(t, reason, "25", missing=register.left_count, counted=count)
            return None
        if count != register.out_count:
            return Refusal.WRONG_COUNT
        if shoe.deck is None:
            _load(t, register.deck, Loading.SCANNED)
    elif count != stub_count.expected(t):
        return stub_count.count(t, count, actor, role)
    shoe.scanning.clear()
    shoe.supervised = False
    stub_count.note_good(t)
    t.move("verify_deck")
    if shoe_life.is_begun(t):
        t.move("shoe_goes_on")
    t.emit(DeckVerified(count=count))
    return None


def may_verify(t: TableState) -> bool:
    """Whether there is a deck to verify: in use, or (partly) scanned in."""
    return t.shoe.deck is not None or bool(t.shoe.scanning)


def _scanned(t: TableState, code: str) -> Register[int]:
    """Return the register of the set that is being scanned in; its first code says which deck it is."""
    shoe = t.shoe
    if shoe.deck is not None:
        deck = _deck_named(t, shoe.deck.name)
    else:
        begins = shoe.scanning[0] if shoe.scanning else code
        deck = next((deck for deck in t.decks if deck.card(begins) is not None), t.decks[0])
    register: Register[int] = Register(deck, t.other_decks)
    for n, known in enumerate(shoe.scanning, 1):
        register.take(known, n)
    return register


def _deck_named(t: TableState, name: str) -> CodeMap:
    return next(deck for deck in t.decks if deck.name == name)


def _load(t: TableState, deck: CodeMap, loading: Loading) -> None:
    shoe = t.shoe
    shoe.decks_count += 1
    shoe.deck = DeckInUse(
        name=deck.name,
        number=shoe.decks_count,
        loaded_at=t.now,
        loaded_round=t.round_no,
        good_round=t.round_no,
    )
    shoe.receipt = None
    shoe.last_collected = ()
    t.register = register_of(deck, t.decks, t.other_decks)
    t.emit(DeckLoaded(deck=deck.name, number=shoe.decks_count, loading=loading))


def _reject(t: TableState, reason: Rejection, cell: str, *, missing: int, counted: int | None = None) -> None:
    """Rows 5, 6 and 25 before the first card is dealt: the set never comes into use."""
    note_incident(t, IncidentKind.DECK_REJECTED, cell, Verdict.DECK_OUT, LOAD_NEW_DECK)
    _send_away(t, reason, missing=missing, counted=counted)


def _send_away(t: TableState, reason: Rejection, *, missing: int, counted: int | None = None) -> None:
    shoe = t.shoe
    t.emit(DeckRejected(reason=reason, n=len(shoe.scanning), missing=missing, counted=counted))
    shoe.scanning.clear()
    if shoe.deck is not None:  # It was in use, and was scanned again to be sure.
        counts = reason in (Rejection.MISSING_CARD, Rejection.EXTRA_CARD)
        good_round = shoe.deck.good_round if counts else shoe.deck.loaded_round
        close(t, SuspectDeck(ShoeEnd.COUNT if counts else ShoeEnd.INTEGRITY, good_round))


# Changing.


def change(t: TableState, command: ChangeDeck, role: Role) -> Refusal | None:
    """A supervisor takes the deck out of use between two rounds."""
    shoe, reason = t.shoe, command.reason
    if t.round is not None:
        return Refusal.WRONG_PHASE
    if role is not Role.SUPERVISOR:
        return Refusal.WRONG_ROLE
    if not may_change(t):
        return Refusal.NO_DECK
    if reason is ChangeReason.CHANGED and not stub_count.is_counted(t):
        return Refusal.COUNT_DUE
    if shoe.scanning and shoe.deck is None:
        _send_away(t, Rejection.WITHDRAWN, missing=_scanned(t, shoe.scanning[0]).left_count)
    shoe.scanning.clear()
    shoe.receipt = None
    if shoe.deck is not None:
        since = shoe.deck.loaded_round if reason is ChangeReason.INTEGRITY else t.round_no
        close(t, SuspectDeck(ShoeEnd(reason), since))
    if t.phase is not Phase.DECK_CHECK:
        t.move("change_deck")
    return None


def may_change(t: TableState) -> bool:
    """Whether there is anything to send away."""
    shoe = t.shoe
    return t.round is None and (shoe.deck is not None or bool(shoe.scanning) or shoe.receipt is not None)
