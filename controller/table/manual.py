"""Manual entry: a card that no scanner can read is entered by two people, blind to each other.

Row 2 of the procedures, and RPL-75 after the initial deal (in the deal, a card whose one re-scan fails
cancels the round, so nothing there waits for an entry). It is the card at hand, or one that can't be read
when all cards are scanned again; the scanning goes on behind it. While a scanner stays away it is every card
(`by_hand`). One of the two is a supervisor. What the first has entered is told to nobody, not even by a
refusal: whether it can be true is asked when both agree.
"""

from __future__ import annotations

from controller.cards import DECK, Anomaly, Card
from controller.table import by_hand, procedures, readings
from controller.table.events import CardEntered, EntriesVoided, IncidentKind, Refusal
from controller.table.incidents import ask, cancel
from controller.table.inputs import CancelReason, Commanded, EnterCard, Role
from controller.table.shoe_state import UnplacedRead
from controller.table.situations import Axis, Known
from controller.table.state import Entry, Incident, TableState


def may_order(t: TableState) -> bool:
    """Whether the cell offers it, and the table knows which card it is about."""
    incident = t.incident
    if incident is None or not procedures.offers(t, "order_entry"):
        return False
    match incident.kind:
        case IncidentKind.FAILED_READ | IncidentKind.SCANNER_LOST:
            return True
        case IncidentKind.DISPUTED_READ if incident.values[Axis.LATER] is Known.NO:
            return True
        case _:
            return incident.again is not None


def order(t: TableState, incident: Incident, actor: str) -> Refusal | None:
    """A supervisor has the card entered, or all that become due while the scanner stays away."""
    if not may_order(t):
        return Refusal.NOT_OFFERED
    if incident.kind is IncidentKind.SCANNER_LOST:
        by_hand.begin(t, incident, actor)
        return None
    readings.withdraw_disputed(t, incident)
    ask(t, incident, "ask_entry", "ENTER_CARD")
    return None


def enter(t: TableState, incident: Incident, command: EnterCard, sender: Commanded) -> Refusal | None:
    """Take one person's entry; with the second one the card lies, or both are void."""
    if incident.number != command.incident:
        return Refusal.WRONG_INCIDENT
    card, first = Card.parse(command.card), incident.entry
    if _lies_open(t, incident, card):
        return Refusal.IMPOSSIBLE_CARD
    if first is None:
        incident.entry = Entry(sender.actor, sender.role, card)
        return None
    if first.by == sender.actor:
        return Refusal.SAME_PERSON
    if Role.SUPERVISOR not in (first.role, sender.role):
        return Refusal.WRONG_ROLE
    incident.entry = None
    both = (first.by, sender.actor)
    if first.card == card:
        _lay(t, incident, card, sender, both)
    else:
        t.emit(EntriesVoided(incident=incident.number, by=both))
    return None


def _lies_open(t: TableState, incident: Incident, card: Card) -> bool:
    """Whether everybody can see that it can't be this card. A face-down one is never told by a refusal.

    While all cards are scanned again, only what has been scanned says what lies there.
    """
    laid, deck = t.in_play.laid, t.register.deck
    if incident.again is not None:
        pairs = zip(laid, incident.again, strict=False)
        return sum(old.open and new.card == card for old, new in pairs) * len(DECK) >= deck.size
    is_out = t.register.check(t.register.code_of(card)) is Anomaly.ALREADY_OUT
    lies_open = any(known.card == card and known.open for known in laid)
    return is_out and lies_open and not _lies_hidden(t, card)


def _lies_hidden(t: TableState, card: Card) -> bool:
    """Whether one of these cards lies face down, in this round or since an earlier one of the shoe."""
    current, shoe = t.in_play, t.shoe
    beside = (*current.laid, *current.burned, *current.held)
    return (
        any(known.card == card and not known.open for known in beside)
        or any(kept.read.card == card for kept in shoe.kept)
        or any(sealed.card == str(card) for sealed in shoe.sealed)
    )


def _lies_elsewhere(t: TableState, incident: Incident, code: str) -> bool:
    """Whether the cards of this code are known to be others.

    While all cards are scanned again, the old readings of the round prove nothing.
    """
    if incident.again is None:
        return isinstance(t.register.check(code), Anomaly)
    elsewhere = len(t.register.places(code)) - sum(known.code == code for known in t.in_play.laid)
    again = sum(known.code == code for known in incident.again)
    return elsewhere + again >= t.register.deck.copies


def _lay(t: TableState, incident: Incident, card: Card, sender: Commanded, by: tuple[str, str]) -> None:
    """Both agree: the card lies like one that was read, marked for ever."""
    code = t.register.code_of(card)
    t.emit(CardEntered(incident=incident.number, place=incident.place, n=incident.n, by=by))
    if _lies_elsewhere(t, incident, code):
        # Row 5: it lies face down already, or was burned. Two people may cancel; they learn nothing else.
        incident.cell = "5"
        cancel(t, incident, CancelReason.DECK_INTEGRITY, sender.actor)
        return
    assert sender.key is not None, "the station draws a key for every entered card"
    readings.rescanned(t, incident, UnplacedRead(card, code, sender.key, manual=True))
