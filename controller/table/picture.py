"""The picture: what the people at the table see, and the single next action.

A pure function of the table. Face-down cards are backs; counts are all that a picture tells of them.
"""

from __future__ import annotations

import msgspec

from controller.cards import CodeMap
from controller.games.procedure import Betting, Deal, LayAside, Turn
from controller.table import (
    acknowledgements,
    aside,
    corrections,
    deck_life,
    guards,
    halts,
    held_reads,
    interruptions,
    laying,
    manual,
    observations,
    procedures,
    redeal,
    second_look,
    shoe_life,
    stub_count,
    surplus,
)
from controller.table.charts import IncidentState, Phase, is_accepted
from controller.table.consumers import Consumer
from controller.table.events import BurnReason, IncidentKind
from controller.table.inputs import PRESS_NAMES, Role
from controller.table.shoe_state import Shoe
from controller.table.state import LaidCard, OpenWindow, TableState
from controller.table.texts import CALLED_AGAIN, prompt_text

BACK = "back"


class Prompt(msgspec.Struct, frozen=True, omit_defaults=True):
    """The single next action. `not_before_us`: it is refused, or an early draw, before that time."""

    code: str
    text: str
    place: str | None = None
    n: int | None = None
    not_before_us: int | None = None
    incident: int | None = None


class WindowPicture(msgspec.Struct, frozen=True):
    """The window that was opened last."""

    window: str
    closes_at_us: int
    is_open: bool
    settled: bool


class CorrectionPicture(msgspec.Struct, frozen=True):
    """The correction that waits for its second person, who enters the cards without seeing them here."""

    roundid: str
    rev: int
    reason: str
    by: str
    until_us: int


class ConsumerPicture(msgspec.Struct, frozen=True, omit_defaults=True):
    """A registered consumer: how many ends of rounds it has not acknowledged, and the oldest of them."""

    name: str
    role: str
    must_acknowledge: bool
    behind: int = 0
    oldest: str | None = None
    oldest_rev: int | None = None


class Picture(msgspec.Struct, frozen=True, omit_defaults=True):
    """The table as it lies. `buttons` are the presses that are taken now, by any person of the right role."""

    table: str
    epoch: int
    at_us: int
    phase: Phase
    round_no: int
    prompt: Prompt
    buttons: tuple[str, ...]
    scanners_down: tuple[str, ...]
    roundid: str | None = None
    places: dict[str, tuple[str, ...]] = {}
    burned_count: int = 0
    held_count: int = 0
    window: WindowPicture | None = None
    incident_kind: str | None = None
    incident_state: str | None = None
    reported_by: str | None = None
    reason: str | None = None
    rescans_used: int = 0
    entered_by: str | None = None
    """Who has entered the card that can't be read; another person enters it too."""
    correction: CorrectionPicture | None = None
    read_meanwhile: int = 0
    """Cards that were read while the table took none, and are not dealt with yet."""
    lies: str | None = None
    """Names what is to be confirmed after a restart; the press brings it back."""
    reports: tuple[str, ...] = ()
    """The kinds that people may report now, by `observed`."""
    deal: int = 1
    """Counts the deals of the round; more than 1 after a redeal."""
    escalated: bool = False
    dealer: str | None = None
    """Who deals; None: somebody has to log in."""
    supervisors: tuple[str, ...] = ()
    paused: str | None = None
    """Why; in a round it is to come."""
    closing: str | None = None
    blocked: tuple[str, ...] = ()
    """The cells behind a block; in a round it is to come."""
    unlocked_by: str | None = None
    """Who has pressed the first of the two presses that unlock."""
    deck: str | None = None
    deck_number: int = 0
    last_round: int | None = None
    """The round after which the shoe closes."""
    consumers: tuple[ConsumerPicture, ...] = ()
    worn: tuple[str, ...] = ()
    """What should be retired, told between rounds alone."""


def draw(t: TableState) -> Picture:
    """Draw the table."""
    current, incident, held = t.round, t.incident, t.halts
    entry = incident.entry if incident is not None else None
    return Picture(
        table=t.settings.table,
        epoch=t.epoch,
        at_us=t.now,
        phase=t.phase,
        round_no=t.round_no,
        prompt=prompt(t),
        buttons=buttons(t),
        scanners_down=tuple(sorted(set(t.settings.scanners) - t.scanners_up)),
        roundid=current.id if current is not None else None,
        places=_places(current.laid) if current is not None else {},
        burned_count=len(current.burned) if current is not None else 0,
        held_count=len(t.shoe.kept) + (len(current.held) if current is not None else 0),
        window=_window(current.window) if current is not None else None,
        incident_kind=incident.kind if incident is not None else None,
        incident_state=incident.state if incident is not None else None,
        reported_by=incident.reported_by if incident is not None else None,
        reason=incident.reason if incident is not None else None,
        rescans_used=current.rescans_used if current is not None else 0,
        entered_by=entry.by if entry is not None else None,
        correction=_correction(t),
        read_meanwhile=held_reads.waiting_count(t),
        lies=interruptions.lies(t) if t.incident_state is IncidentState.PICTURE else None,
        reports=observations.reportable(t),
        deal=current.deal if current is not None else 1,
        escalated=incident.escalated if incident is not None else False,
        dealer=t.duty.dealer.actor if t.duty.dealer is not None else None,
        supervisors=tuple(one.actor for one in t.duty.supervisors),
        paused=held.pause.reason if held.pause is not None else None,
        closing=held.close.reason if held.close is not None else None,
        blocked=tuple(block.cell for block in held.blocks),
        unlocked_by=held.unlocking.by if held.unlocking is not None else None,
        deck=t.shoe.deck.name if t.shoe.deck is not None else None,
        deck_number=t.shoe.decks_count,
        last_round=t.shoe.last_round,
        consumers=tuple(_consumer(t, one) for one in t.settings.consumers),
        worn=t.shoe.worn if current is None else (),
    )


def _correction(t: TableState) -> CorrectionPicture | None:
    waits = corrections.pending(t)
    if waits is None:
        return None
    return CorrectionPicture(waits.roundid, waits.rev, waits.reason, waits.by, waits.until)


def _consumer(t: TableState, consumer: Consumer) -> ConsumerPicture:
    waiting = t.acknowledgements.waiting(consumer.name)
    return ConsumerPicture(
        consumer.name,
        consumer.role,
        consumer.must_acknowledge,
        behind=t.acknowledgements.behind(consumer.name),
        oldest=waiting[0].roundid if waiting else None,
        oldest_rev=waiting[0].rev if waiting else None,
    )


def _places(laid: list[LaidCard]) -> dict[str, tuple[str, ...]]:
    places: dict[str, tuple[str, ...]] = {}
    for card in laid:
        places[card.place] = (*places.get(card.place, ()), str(card.card) if card.open else BACK)
    return places


def _window(window: OpenWindow | None) -> WindowPicture | None:
    if window is None:
        return None
    return WindowPicture(window.window, window.closes_at, window.is_open, window.settled)


BURNS = {BurnReason.FIRST_CARD: "SHOW_FIRST_CARD", BurnReason.NEW_SHOE: "BURN_NEXT"}
BETWEEN_ROUNDS = {
    Phase.CLOSED: "OPEN_TABLE",
    Phase.SHUFFLING: "SHUFFLE",
    Phase.READY: "START",
    Phase.RESULT_PROPOSED: "CONFIRM_RESULT",
    Phase.CONFIRMED: "CLEAR_TABLE",
    Phase.CANCELLED: "CLEAR_TABLE",
    Phase.DECIDING: "WAIT_FOR_PLAYERS",
}


def prompt(t: TableState) -> Prompt:
    """Return the single next action of the people at the table."""
    incident = t.incident
    if incident is not None:
        text = prompt_text(incident.prompt, incident.place, incident.n)
        if incident.escalated:
            text += CALLED_AGAIN
        return Prompt(incident.prompt, text, incident.place, incident.n, incident=incident.number)
    if t.phase is Phase.SHUFFLING and t.is_round_open:
        return _say("OTHER_SCANNER" if t.strange_devices else "REDEAL")
    if t.round is None and t.duty.dealer is None:
        return _say("LOG_IN")
    if t.phase is Phase.READY and t.halts.blocks:
        return _say("UNBLOCK")
    if t.phase is Phase.READY and t.halts.pause is not None:
        return _say("PAUSED")
    if t.phase is Phase.READY and t.strange_devices:
        return _say("OTHER_SCANNER")
    if t.phase is Phase.READY and shoe_life.awaits_stand_by(t):
        return _say("WAIT_FOR_SHOE")
    if t.phase is Phase.READY and acknowledgements.is_waited_for(t):
        return _say("WAIT_FOR_CONSUMERS")
    if t.phase is Phase.READY and guards.is_disk_low(t):
        return _say("FREE_DISK")
    if t.phase is Phase.DECK_CHECK:
        return _load(t.shoe, t.decks)
    if stub_count.is_due(t):
        return _say("COUNT_STUB")
    if t.phase is Phase.RESULT_PROPOSED and (unseen := second_look.unseen_card(t)) is not None:
        return _say("SHOW_CARD", *unseen)
    if t.phase in BETWEEN_ROUNDS and not (t.phase is Phase.DECIDING and laying.is_card_due(t)):
        return _say(BETWEEN_ROUNDS[t.phase])
    return _owed(t)


def _load(shoe: Shoe, decks: tuple[CodeMap, ...]) -> Prompt:
    scanned_count = len(shoe.scanning)
    if scanned_count > 0 and scanned_count < decks[0].size:
        said = _say("SCAN_DECK", deck_life.DECK_PLACE, scanned_count + 1)
        return msgspec.structs.replace(said, text=f"{said.text}, which has {decks[0].size}")
    if shoe.receipt is not None:
        return _say("ACCEPT_DECK")
    if shoe.deck is None and scanned_count == 0:
        return _say("LOAD_DECK")
    return _say("SUPERVISOR_VERIFIES" if shoe.supervised else "VERIFY_DECK")


def _say(code: str, place: str | None = None, n: int | None = None, not_before: int | None = None) -> Prompt:
    return Prompt(code, prompt_text(code, place, n), place, n, not_before)


def _owed(t: TableState) -> Prompt:
    current = t.in_play
    window = current.window
    if window is not None and not window.settled and window.decides is None:
        return _say("PLACE_BETS" if window.is_open else "WAIT_FOR_FACTS")
    match current.run.owed:
        case Deal(place=place, n=n):
            not_before = None if laying.is_card_due(t) else current.free_at
            burn = aside.burn_due(t)
            if burn is not None:
                return _say(BURNS.get(burn, "BURN_CARD"), not_before=not_before, n=len(current.burned) + 1)
            return _say("DEAL_CARD", place, n, not_before)
        case Turn(place=place):
            return _say("TURN", place)
        case LayAside(place=place, n=n):
            return _say("LAY_ASIDE", place, n)
        case Betting() | _:
            raise AssertionError(f"nothing is owed in {t.phase}")


def buttons(t: TableState) -> tuple[str, ...]:
    """Return the names of the presses that the table takes now, in the order of the page."""
    if t.duty.dealer is None and not t.duty.supervisors:
        return ()
    state = t.incident_state
    names = [name for name in PRESS_NAMES if is_accepted(t.phase, state, name)]
    return tuple(name for name in names if _fits(t, name))


def _fits(t: TableState, name: str) -> bool:
    """The charts take it; would the table, too?"""
    match name:
        case "go_on":
            return interruptions.may_go_on(t)
        case "confirm_shuffle" if not t.is_round_open:
            return True
        case "confirm_shuffle":
            return guards.why_no_deal(t, Role.SUPERVISOR) is None
        case "open_betting":
            return guards.why_no_round(t, Role.SUPERVISOR) is None
        case "pause_table" | "close_after_round":
            return halts.may_halt(t)
        case "resume_table":
            return not halts.may_halt(t)
        case "unblock":
            return bool(t.halts.blocks)
        case "repeat_shuffle":
            return not shoe_life.is_begun(t)
        case "cutting_card":
            return t.game.shoe is not None and shoe_life.is_begun(t) and t.shoe.last_round is None
        case "load_deck" | "verify_deck" | "change_deck" | "count_stub":
            return _fits_deck(t, name)
        case "confirm_result" | "clear_table":
            return not stub_count.is_due(t)
        case "close_table":
            return stub_count.is_counted(t) and not t.is_round_open
        case "turn_cards":
            return _is_settled(t) and isinstance(t.in_play.run.owed, Turn)
        case "lay_card_aside":
            return _is_settled(t) and isinstance(t.in_play.run.owed, LayAside)
        case "dispute_reading":
            return t.incident_state is IncidentState.NONE and bool(t.in_play.laid)
        case "call_surplus":
            return t.incident_state is IncidentState.NONE and surplus.callable_card(t) is not None
        case "observed":
            return bool(observations.reportable(t))
        case "withdraw_report":
            return observations.may_withdraw(t)
        case "order_rescan" | "confirm_cancel":
            return procedures.offers(t, name)
        case "void_box":
            return observations.may_void(t)
        case "order_redeal":
            return redeal.may_redeal(t)
        case "order_entry":
            return manual.may_order(t)
        case "close_table":
            return not t.is_round_open
        case "propose_correction":
            return t.round_no > 0 and corrections.may_correct(t) and corrections.pending(t) is None
        case "approve_correction" | "withdraw_correction":
            return corrections.may_correct(t) and corrections.pending(t) is not None
        case _:
            return True


def _fits_deck(t: TableState, name: str) -> bool:
    incident = t.incident
    match name:
        case "load_deck":
            return deck_life.may_load(t)
        case "verify_deck":
            return deck_life.may_verify(t)
        case "change_deck":
            return deck_life.may_change(t)
        case _:
            is_again = incident is None or incident.kind is IncidentKind.WRONG_COUNT
            return is_again and stub_count.is_countable(t)


def _is_settled(t: TableState) -> bool:
    window = t.in_play.window
    return window is None or window.settled
