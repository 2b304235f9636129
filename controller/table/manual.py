"""Manual entry: a card that no scanner can read is entered by two people, blind to each other.

Row 2 of the procedures, and RPL-75 after the initial deal (in the deal, a card whose one re-scan fails
cancels the round, so nothing there waits for an entry). One of the two is a supervisor. What the first has
entered is told to nobody, not even by a refusal: whether it can be true is asked when both agree.
"""

from __future__ import annotations

from controller.cards import Anomaly, Card
from controller.table import procedures, readings
from controller.table.events import CardEntered, EntriesVoided, IncidentKind, Refusal
from controller.table.incidents import ask, cancel
from controller.table.inputs import CancelReason, Commanded, EnterCard, Role
from controller.table.situations import Axis, Known
from controller.table.state import Entry, Incident, TableState, UnplacedRead

ENTERABLE = (IncidentKind.FAILED_READ, IncidentKind.DISPUTED_READ)


def may_order(t: TableState) -> bool:
    """Whether the cell offers it, and it is about one card: any that was dealt is scanned again with all."""
    incident = t.incident
    if incident is None or incident.kind not in ENTERABLE or not procedures.offers(t, "order_entry"):
        return False
    return incident.kind is IncidentKind.FAILED_READ or incident.values[Axis.LATER] is Known.NO


def order(t: TableState, incident: Incident) -> Refusal | None:
    """A supervisor has the card entered."""
    if not may_order(t):
        return Refusal.NOT_OFFERED
    readings.withdraw_disputed(t, incident)
    ask(t, incident, "ask_entry", "ENTER_CARD")
    return None


def enter(t: TableState, incident: Incident, command: EnterCard, sender: Commanded) -> Refusal | None:
    """Take one person's entry; with the second one the card lies, or both are void."""
    if incident.number != command.incident:
        return Refusal.WRONG_INCIDENT
    card, first = Card.parse(command.card), incident.entry
    if _lies_open(t, card):
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


def _lies_open(t: TableState, card: Card) -> bool:
    """Whether everybody can see that it can't be this card. A face-down one is never told by a refusal."""
    is_out = t.register.check(t.register.code_of(card)) is Anomaly.ALREADY_OUT
    return is_out and any(laid.card == card and laid.open for laid in t.in_play.laid)


def _lay(t: TableState, incident: Incident, card: Card, sender: Commanded, by: tuple[str, str]) -> None:
    """Both agree: the card lies like one that was read, marked for ever."""
    code = t.register.code_of(card)
    t.emit(CardEntered(incident=incident.number, place=incident.place, n=incident.n, by=by))
    if isinstance(t.register.check(code), Anomaly):
        # Row 5: it lies face down already, or was burned. Two people may cancel; they learn nothing else.
        incident.cell = "5"
        cancel(t, incident, CancelReason.DECK_INTEGRITY, sender.actor)
        return
    assert sender.key is not None, "the station draws a key for every entered card"
    readings.rescanned(t, incident, UnplacedRead(card, code, sender.key, manual=True))
