"""Readings that are wrong, missing or doubled: rows 1 to 6 of the procedures, RPL-75."""

from __future__ import annotations

from collections import Counter

from controller.cards import Anomaly
from controller.games.procedure import BURN, Deal, Window
from controller.table import dealing, deck_end, held_reads, laying, result, surplus, wear
from controller.table.aside import burn, burn_due
from controller.table.cells import CellVerdict
from controller.table.charts import IncidentState, Phase
from controller.table.events import BurnReason, CardsRevealed, IncidentKind, Refusal, ShoeEnd, Verdict
from controller.table.gate import refuse
from controller.table.incidents import (
    LOAD_NEW_DECK,
    ask,
    cancel,
    decide,
    last_card,
    note_incident,
    open_incident,
    withdraw_card,
)
from controller.table.inputs import CancelReason, CardRead
from controller.table.procedures import SCANS_DRAWN_CARD, act, judge, meet
from controller.table.shoe_state import SuspectDeck, UnplacedRead
from controller.table.situations import Axis, Known, known
from controller.table.state import Incident, LaidCard, TableState, Where


def wrong_code(t: TableState, anomaly: Anomaly, read: CardRead) -> None:
    """Rows 4 to 6: a code that is not of this deck, or of a card that is out already.

    The value alone can't tell a second look at a card from a doubled card; the dealer can.
    """
    card = t.register.deck.card(read.code)
    if anomaly is not Anomaly.ALREADY_OUT:
        meet(t, IncidentKind.FOREIGN_CARD, {}, where=_due_place(t))
    elif card is not None and read.repeat and t.register.deck.copies > 1 and t.incident is None:
        # The last card of that value may have been read twice; that it is one too many is the answer's part.
        value_again(t, UnplacedRead(card, read.code, read.key))
    elif t.register.deck.copies > 1:
        _impossible(t, read.code)
    else:
        where = t.register.where(read.code)
        meet(t, IncidentKind.SAME_CODE_AGAIN, {Axis.CERTAIN: Known.UNKNOWN}, where=where)


def _impossible(t: TableState, code: str) -> None:
    """Row 5: one card more of a value than the shoe has; void, and the shoe closes."""
    incident = open_incident(
        t,
        IncidentKind.IMPOSSIBLE_CARD,
        "5",
        first="ask_supervisor",
        prompt="CHECK_DECK",
        where=_due_place(t),
        other=t.register.where(code),
    )
    cancel(t, incident, CancelReason.DECK_INTEGRITY, None)


def strange_between_rounds(t: TableState, anomaly: Anomaly) -> None:
    """Rows 5 and 6 while no card is due: the shoe closes, whose rounds are suspect since its load."""
    impossible = anomaly is Anomaly.ALREADY_OUT
    kind = IncidentKind.IMPOSSIBLE_CARD if impossible else IncidentKind.FOREIGN_CARD
    note_incident(t, kind, "5" if impossible else "6", Verdict.DECK_OUT, LOAD_NEW_DECK)
    assert t.shoe.deck is not None
    suspect = SuspectDeck(ShoeEnd.INTEGRITY, t.shoe.deck.loaded_round)
    if t.round is not None:
        t.shoe.suspect = suspect
        return
    deck_end.close(t, suspect)
    t.move("change_deck")


def value_again(t: TableState, read: UnplacedRead) -> None:
    """Row 4 where a code is on many cards: the same value at once is a second look, or another card."""
    where = t.register.where(read.code) if t.register.places(read.code) else None
    meet(t, IncidentKind.SAME_CODE_AGAIN, {Axis.CERTAIN: Known.UNKNOWN}, where=where, read=read)


@act(CellVerdict.TAKE)
def _take(t: TableState, incident: Incident, by: str | None) -> None:
    """It is another card: it is taken as it came; one that the shoe can't have is row 5."""
    read = incident.read
    if read is None or isinstance(t.register.check(read.code), Anomaly):
        incident.read, incident.cell = None, "5"
        cancel(t, incident, CancelReason.DECK_INTEGRITY, by)
        return
    decide(t, incident, Verdict.WENT_ON, by)
    if laying.is_card_due(t):
        laying.deal_card(t, read)
    else:
        surplus.card_not_due(t, read)


@act(CellVerdict.DROP)
def _drop(t: TableState, incident: Incident, by: str | None) -> None:
    """The same card was read twice; the second reading counts as never made (row 4)."""
    decide(t, incident, Verdict.DUPLICATE_READ, by)
    below = t.incident
    if below is not None and below.kind is IncidentKind.SCANNER_LOST and below.state is IncidentState.RESCAN:
        # The card that was drawn while the scanner was away had been read after all.
        decide(t, below, Verdict.DUPLICATE_READ, by)


def asked_about_already(t: TableState) -> None:
    """The card that people are being asked about was scanned once more; its question stands.

    It was taken for the card that came out while the scanner was away.
    """
    top = t.incident
    if top is not None and top.kind is IncidentKind.SCANNER_LOST:
        decide(t, top, Verdict.DUPLICATE_READ, None)
    else:
        refuse(t, "card_read", Refusal.HELD)


def read_failed(t: TableState) -> None:
    """The card that is due could not be read (row 1, RPL-75); one that is to be burned belongs to no hand."""
    step = t.in_play.run.owed
    initial = isinstance(step, Deal) and t.game.initial_deal(step) and burn_due(t) is None
    values = {Axis.INITIAL: known(initial), Axis.RESCAN: _rescan_left(t, initial=initial, tries=0)}
    where = _due_place(t)
    if where is not None:
        wear.note_rescan(t, *where)
    meet(t, IncidentKind.FAILED_READ, values, where=where)


def may_fail_again(t: TableState, incident: Incident) -> bool:
    """Whether a failed scan says anything: of a card that is scanned again, or that came unseen."""
    came_unseen = incident.kind in SCANS_DRAWN_CARD and isinstance(t.in_play.run.owed, Deal)
    return came_unseen or Axis.RESCAN in incident.values


def rescan_failed(t: TableState, incident: Incident) -> None:
    """The re-scan failed too: the cell says what then.

    A card that came with a lost scanner, or that is scanned to be burned, has not failed before.
    """
    if Axis.RESCAN in incident.values:
        initial = incident.values[Axis.INITIAL] is Known.YES
        incident.values[Axis.RESCAN] = _rescan_left(t, initial=initial, tries=incident.tries)
        judge(t, incident, None)
        return
    decide(t, incident, Verdict.WENT_ON, None)
    if t.incident is None:
        read_failed(t)


def rescanned(t: TableState, incident: Incident, read: UnplacedRead) -> None:
    """The scan that was asked for: it corrects a reading, or is simply the card that was drawn."""
    if t.round is not None:
        t.round.scanned_again.add(read.code)
    if incident.burns:
        burn(t, read, BurnReason(incident.kind))
        decide(t, incident, Verdict.BURNED, None)
        return
    if incident.again is not None:
        _take_again(t, incident, read)
        return
    if incident.fact is not None:
        _correct(t, incident, {len(t.in_play.laid) - 1: read})
        return
    if incident.kind is IncidentKind.HELD_READ and not held_reads.is_in_order(t, incident, read.code):
        return
    decide(t, incident, Verdict.ENTERED if read.manual else Verdict.RESCANNED, None)
    below = t.incident
    if below is not None and _waits_for_card(below):
        rescanned(t, below, read)  # The card that could not be read is the one that came with the scanner.
    elif below is None and laying.is_card_due(t):
        laying.deal_card(t, read)
    else:
        surplus.card_not_due(t, read)


def _waits_for_card(incident: Incident) -> bool:
    """Whether a card that lies on no place yet may be the one that this incident is about."""
    scans = incident.state is IncidentState.RESCAN and incident.fact is None and incident.again is None
    return scans or incident.kind is IncidentKind.HELD_READ


def dispute(t: TableState, actor: str) -> Refusal | None:
    """A card lies there as another than the one that was read: the last one, or one before it (row 3)."""
    if not t.in_play.laid:
        return Refusal.TOO_LATE
    last = last_card(t)
    values = {Axis.LATER: known(last is None), **rescan_values(t)}
    where = None if last is None else (last.place, last.n)
    if where is not None:
        wear.note_rescan(t, *where)
    meet(t, IncidentKind.DISPUTED_READ, values, where=where, reported_by=actor)
    return None


def contradicted(t: TableState, card: LaidCard) -> None:
    """Row 3, by another reader: it has read this card of the round as another one."""
    wear.note_rescan(t, card.place, card.n)
    is_last = card is last_card(t)
    values = {Axis.LATER: known(not is_last), **rescan_values(t)}
    meet(t, IncidentKind.DISPUTED_READ, values, where=(card.place, card.n))


@act(CellVerdict.RESCAN)
def _rescan(t: TableState, incident: Incident, _by: str | None) -> None:
    """The card is scanned again; a disputed one is withdrawn first. In the initial deal it counts."""
    late = incident.kind is IncidentKind.DISPUTED_READ and incident.values[Axis.LATER] is Known.YES
    if late or incident.kind in (IncidentKind.MISREAD_LATE, IncidentKind.SHOE_DISAGREES):
        _rescan_all(t, incident, None)
        return
    withdraw_disputed(t, incident)
    _count_rescan(t, incident)


def reading_stands(t: TableState, incident: Incident) -> None:
    """The report is taken back: a reading that was withdrawn for it counts again, publicly."""
    if incident.kind is IncidentKind.DISPUTED_READ and incident.fact is not None:
        old = t.in_play.laid[-1]
        t.in_play.laid[-1] = _lay_again(t, old, UnplacedRead(old.card, old.code, old.key, old.manual))


@act(CellVerdict.RESCAN_ALL)
def _rescan_all(t: TableState, incident: Incident, by: str | None) -> None:
    """All cards of the round are scanned again, from the first, in the order of drawing.

    Where none lies yet, the misread card is the first one: it is scanned as the one that is due. Where one of
    them can't be read it goes on with that.
    """
    if not t.in_play.laid:
        decide(t, incident, Verdict.RESCANNED, by)
        return
    if incident.again is None:
        incident.again = []
    _count_rescan(t, incident)
    _ask_next(t, incident, len(incident.again))


def _ask_next(t: TableState, incident: Incident, index: int) -> None:
    laid = t.in_play.laid[index]
    incident.place, incident.n = laid.place, laid.n
    ask(t, incident, "ask_rescan", "SCAN_FROM_FIRST")


def order_rescan(t: TableState, incident: Incident) -> Refusal | None:
    """A supervisor has the card scanned once more (RPL-75, after the initial deal)."""
    incident.entry = None
    prompt = "SCAN_DRAWN_CARD" if incident.kind in SCANS_DRAWN_CARD else "SCAN_AGAIN"
    ask(t, incident, "ask_rescan", prompt)
    _rescan(t, incident, None)
    return None


def withdraw_disputed(t: TableState, incident: Incident) -> None:
    """Take the reading of a disputed last card back, once: another one is to come."""
    disputed = incident.kind is IncidentKind.DISPUTED_READ and incident.again is None
    if disputed and incident.fact is None:
        laid = t.in_play.laid[-1]  # A window may have ended since the report; no card has come since.
        incident.fact = laid.fact
        withdraw_card(t, laid, IncidentKind.DISPUTED_READ)


def rescan_values(t: TableState) -> dict[Axis, Known]:
    """Return what a new re-scan is judged by: whether the last card is of the initial deal, and the count."""
    laid = t.in_play.laid
    initial = not laid or _is_initial(t, laid[-1])
    return {Axis.INITIAL: known(initial), Axis.RESCAN: _rescan_left(t, initial=initial, tries=0)}


def _rescan_left(t: TableState, *, initial: bool, tries: int) -> Known:
    """Whether the procedures allow one more: so many in the whole initial deal, later so many a card."""
    if initial:
        return known(t.in_play.rescans_used < t.game.rescans_at_most)
    return known(tries < t.settings.limits.read_tries)


def _count_rescan(t: TableState, incident: Incident) -> None:
    """Count a re-scan; that of a card which came with a lost scanner is its first scan (RPL-75)."""
    incident.tries += 1
    if Axis.RESCAN in incident.values and incident.values[Axis.INITIAL] is Known.YES:
        t.in_play.rescans_used += 1


def _is_initial(t: TableState, laid: LaidCard) -> bool:
    assert laid.fact is not None
    step = t.in_play.run.asked[laid.fact]
    return isinstance(step, Deal) and t.game.initial_deal(step)


def is_scanned_again(t: TableState, code: str) -> bool:
    """Whether all cards of the round are being scanned once more, and this is one of the deck's."""
    scanning = t.incident is not None and t.incident.again is not None
    return scanning and t.register.deck.card(code) is not None


def scanned_again(t: TableState, read: CardRead) -> None:
    """Take the next card of the round as it is scanned once more; the last one ends it.

    When a card comes in its turn that has been scanned before, the order was lost: begin again.
    """
    incident, laid = t.incident, t.in_play.laid
    card = t.register.deck.card(read.code)
    assert incident is not None and incident.again is not None and card is not None
    if t.register.deck.copies == 1 and any(known.code == read.code for known in incident.again):
        if laid[len(incident.again)].code != read.code:
            refuse(t, "card_read", Refusal.ALREADY_READ)
            return
        incident.again = []
        _ask_next(t, incident, 0)
        return
    t.in_play.scanned_again.add(read.code)
    _take_again(t, incident, UnplacedRead(card, read.code, read.key))


def _take_again(t: TableState, incident: Incident, read: UnplacedRead) -> None:
    """Put the next card of the round beside those that have been scanned, or entered, once more."""
    laid = t.in_play.laid
    assert incident.again is not None
    incident.again.append(read)
    if len(incident.again) < len(laid):
        _ask_next(t, incident, len(incident.again))
        return
    pairs = enumerate(zip(laid, incident.again, strict=True))
    _correct(t, incident, {index: new for index, (old, new) in pairs if old.code != new.code or new.manual})


def _correct(t: TableState, incident: Incident, changed: dict[int, UnplacedRead]) -> None:
    """Lay cards again as they read now, publicly; `changed` by their index in the order of drawing.

    What people could see when a window closed has been decided on: it stands, or the round falls (P5).
    """
    current = t.in_play
    old = {index: current.laid[index] for index in changed}
    decided_on = any(
        index < current.laid_at_window and (card.open or card.shown_to_betting)
        for index, card in old.items()
        if card.card != changed[index].card
    )
    facts = {card.fact: changed[index].card for index, card in old.items() if card.fact is not None}
    if decided_on or _are_gone(t, incident, old, changed) or not current.run.correct(facts):
        cancel(t, incident, CancelReason.WRONG_READING, None)
        return
    manual = any(read.manual for read in changed.values())
    decide(t, incident, Verdict.ENTERED if manual else Verdict.RESCANNED, None)
    for card in old.values():
        if card.fact != incident.fact:
            withdraw_card(t, card, incident.kind)
    for index, read in changed.items():
        current.laid[index] = _lay_again(t, old[index], read)
    if changed:
        _tell_again(t)


def _are_gone(
    t: TableState, incident: Incident, old: dict[int, LaidCard], changed: dict[int, UnplacedRead]
) -> bool:
    """Whether cards are read as ones that lie elsewhere: more of a code than the shoe has beside these."""
    asked_about = [known.read.code for known in t.incidents if known.read is not None]
    taken = Counter([code for code, _ in t.register.out()] + asked_about)
    withdrawn = (card for card in old.values() if card.fact != incident.fact)
    taken.subtract(card.code for card in withdrawn)
    taken.update(read.code for read in changed.values())
    return any(taken[read.code] > t.register.deck.copies for read in changed.values())


def _lay_again(t: TableState, old: LaidCard, read: UnplacedRead) -> LaidCard:
    assert old.fact is not None
    step = t.in_play.run.asked[old.fact]
    assert isinstance(step, Deal)
    if not old.open:
        t.in_play.withdrawn.append(old.opening())
    laid = laying.lay(t, read, step, fact=old.fact)
    if old.open and not laid.open:  # It had been turned, so it lies open.
        laid.open = True
        t.emit(CardsRevealed(place=laid.place, cards=(laid.opening(),)))
    return laid


def _tell_again(t: TableState) -> None:
    """Publish anew what hung on the corrected cards; windows keep their times."""
    current = t.in_play
    window = current.window
    dealing.announce(t)
    if isinstance(current.run.owed, Window) and window is not None and window.is_open:
        dealing.offer_hands(t, current.run.owed)
    if t.phase is Phase.RESULT_PROPOSED:
        result.propose(t)


def lies_wrongly(t: TableState, read: UnplacedRead) -> None:
    """Row 11: the shoe gives the card another place than the order of drawing does."""
    values = {Axis.LATER: Known.NO, Axis.CERTAIN: Known.UNKNOWN}
    meet(t, IncidentKind.WRONG_PLACE, values, where=_due_place(t), read=read)


def _due_place(t: TableState) -> Where | None:
    step = t.in_play.run.owed
    if isinstance(step, Deal) and burn_due(t) is not None:
        return (BURN, len(t.in_play.burned) + 1)
    return (step.place, step.n) if isinstance(step, Deal) else None
