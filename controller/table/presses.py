"""Presses and facts: what people at the table and the betting system command, and who may.

A command that the charts let through is done here or refused for what only its content can tell.
"""

from __future__ import annotations

import hashlib
from typing import assert_never

from msgspec.structs import replace

from controller.games.procedure import LayAside, Turn
from controller.table import (
    acknowledgements,
    corrections,
    dealing,
    deck_end,
    deck_life,
    duty,
    guards,
    halts,
    interruptions,
    laying,
    manual,
    observations,
    procedures,
    quarantine,
    readings,
    redeal,
    result,
    scanners,
    second_look,
    shoe_life,
    stub_count,
    surplus,
    told_facts,
)
from controller.table import inputs as i
from controller.table.cells import PRESSES
from controller.table.events import (
    DeckShuffled,
    IncidentKind,
    InputAccepted,
    Refusal,
    TableClosed,
    TableOpened,
)
from controller.table.gate import refuse, why_not
from controller.table.state import Incident, RequestAnswer, TableState

REQUESTS_MAX = 10_000
"""Answers remembered at once; a round has some fifty requests, so only a flood gets here. The oldest go."""


def obey(t: TableState, value: i.Commanded) -> None:
    """Take a command: do it, or refuse it with a reason. One that was answered before changes nothing."""
    if answer_to(t, value) is not None:
        return
    name = i.command_name(value.command)
    round_no = t.round_no
    refusal = _check_sender(t, value) or quarantine.why_not(t, value)
    if refusal is None and not isinstance(value.command, IN_EVERY_PHASE):
        refusal = why_not(t, name)
    before = len(t.events)
    if refusal is None:
        refusal = _obey(t, value)
    if refusal is None:
        t.events.insert(
            before,
            InputAccepted(request=value.request, actor=value.actor, role=value.role, command=name),
        )
    else:
        assert len(t.events) == before or refusal is Refusal.TOO_LATE, "a refused press changes nothing"
        refuse(t, name, refusal, value)
    quarantine.press_refused(t, refusal)
    key, digest = _request_key(value), _digest(value)
    if key in t.requests:
        key = f"{key}/{digest}"
    t.requests[key] = RequestAnswer(digest, round_no, refusal)
    if len(t.requests) > REQUESTS_MAX:
        del t.requests[next(iter(t.requests))]


def answer_to(t: TableState, value: i.Commanded) -> RequestAnswer | None:
    """Return the answer that this very command got before; ids belong to their senders."""
    key, digest = _request_key(value), _digest(value)
    for known in (t.requests.get(key), t.requests.get(f"{key}/{digest}")):
        if known is not None and known.command == digest:
            return known
    return None


def _request_key(value: i.Commanded) -> str:
    # Not the role: a request that is sent again must be known also when its sender has gone off duty.
    sender = value.role.value if value.role in SYSTEMS else "person"
    return f"{sender}/{value.actor}/{value.request}"


def _digest(value: i.Commanded) -> str:
    command = value.command
    if isinstance(command, i.LogIn):  # Who is on duty already shows no PIN again: only what was sent counts.
        command = replace(command, name="", proof=None)
    return hashlib.sha256(i.encode_command(command)).hexdigest()[:16]


def _check_sender(t: TableState, value: i.Commanded) -> Refusal | None:
    if _request_key(value) in t.requests:
        return Refusal.OTHER_REQUEST
    # An acknowledgement names its round itself, often one before this; once more it changes nothing.
    if value.round_no != t.round_no and not isinstance(value.command, i.Acknowledge):
        return Refusal.EXPIRED_REQUEST
    is_person = value.role not in SYSTEMS
    if is_person and not isinstance(value.command, i.LogIn) and t.duty.role_of(value.actor) != value.role:
        return Refusal.NOT_ON_DUTY
    allowed = ROLES.get(type(value.command), DEALING_STAFF)
    return None if value.role in allowed else Refusal.WRONG_ROLE


DEALING_STAFF = frozenset({i.Role.DEALER, i.Role.SUPERVISOR})
SUPERVISORS = frozenset({i.Role.SUPERVISOR})
BETTING_SYSTEM = frozenset({i.Role.BETTING})
CONSUMERS = frozenset({i.Role.CONSUMER})
SYSTEMS = BETTING_SYSTEM | CONSUMERS
"""Those who never log in: their endpoint is their right."""
IN_EVERY_PHASE = i.LogIn | i.LogOut | i.Acknowledge
"""What is taken in every phase, whatever is open."""
ROLES: dict[type[i.Command], frozenset[i.Role]] = {
    i.BetsTaken: BETTING_SYSTEM,
    i.WindowFacts: BETTING_SYSTEM,
    i.DecisionTaken: BETTING_SYSTEM | DEALING_STAFF,
    i.Acknowledge: CONSUMERS,
    i.ConfirmCancel: SUPERVISORS,
    i.GoOn: SUPERVISORS,
    i.OrderRescan: SUPERVISORS,
    i.OrderEntry: SUPERVISORS,
    i.ProposeCorrection: SUPERVISORS,
    i.ApproveCorrection: SUPERVISORS,
    i.WithdrawCorrection: SUPERVISORS,
    i.VoidBox: SUPERVISORS,
    i.OrderRedeal: SUPERVISORS,
}


def _obey(t: TableState, value: i.Commanded) -> Refusal | None:
    """Do what is commanded, or return why not; a refused command has changed nothing."""
    command = value.command
    match command:
        case i.BetsTaken() | i.WindowFacts():
            return told_facts.note_facts(t, command)
        case i.DecisionTaken():
            return told_facts.note_decision(t, command)
        case i.Acknowledge():
            return acknowledgements.acknowledge(t, value, command)
        case i.AnswerQuestion():
            return _answer(t, command, value.actor)
        case (
            i.DisputeReading()
            | i.CallSurplus()
            | i.Observed()
            | i.WithdrawReport()
            | i.ConfirmCancel()
            | i.ConfirmPicture()
            | i.GoOn()
            | i.OrderRescan()
            | i.OrderEntry()
            | i.VoidBox()
            | i.OrderRedeal()
        ):
            return _exception(t, command, value.actor)
        case i.EnterCard() | i.ProposeCorrection() | i.ApproveCorrection() | i.WithdrawCorrection():
            return _two_people(t, command, value)
        case i.LogIn():
            return duty.log_in(t, value, command)
        case i.LogOut():
            return duty.log_out(t, value, command)
        case i.PauseTable() | i.CloseAfterRound() | i.ResumeTable() | i.Unblock():
            return _halt(t, value, command)
        case i.OpenBetting() | i.CloseBetting() | i.TurnCards() | i.LayCardAside() | i.ConfirmResult():
            return _round_press(t, command, value)
        case i.LoadDeck() | i.VerifyDeck() | i.ChangeDeck() | i.CountStub() | i.CuttingCard():
            return _deck_press(t, command, value)
        case _:
            return _table_press(t, command, value.role)


def _table_press(t: TableState, command: i.TablePress, role: i.Role) -> Refusal | None:
    match command:
        case i.OpenTable():
            t.move("open_table")
            t.emit(TableOpened())
            deck_end.day_begins(t)
        case i.CloseTable():
            if t.is_round_open:
                return Refusal.WRONG_PHASE  # The deck is shuffled for a redeal.
            if not stub_count.is_counted(t):
                return Refusal.COUNT_DUE
            _close(t)
        case i.ConfirmShuffle() if t.is_round_open:
            return redeal.deal_again(t, role)
        case i.ConfirmShuffle():
            t.move("confirm_shuffle")
            t.register.shuffle()
            shoe_life.begin(t)
            t.emit(DeckShuffled())
        case i.RepeatShuffle() if shoe_life.is_begun(t):
            return Refusal.NOT_OWED
        case i.RepeatShuffle():
            t.move("repeat_shuffle")
            t.emit(DeckShuffled(repeat=True))
        case i.ClearTable():
            if stub_count.is_due(t):
                return Refusal.COUNT_DUE
            _clear(t)
        case _:
            assert_never(command)
    return None


def _halt(t: TableState, value: i.Commanded, command: i.HaltPress) -> Refusal | None:
    match command:
        case i.PauseTable():
            return halts.pause(t, value, command)
        case i.CloseAfterRound():
            return halts.close_after_round(t, value, command)
        case i.ResumeTable():
            return halts.resume(t, value)
        case i.Unblock():
            return halts.unblock(t, value)
        case _:
            assert_never(command)


def _deck_press(t: TableState, command: i.DeckPress, value: i.Commanded) -> Refusal | None:
    match command:
        case i.LoadDeck():
            return deck_life.load_by_receipt(t, command, value.actor)
        case i.VerifyDeck(count=count):
            return deck_life.verify(t, count, value.actor, value.role)
        case i.ChangeDeck():
            return deck_life.change(t, command, value.role)
        case i.CountStub(count=count):
            return stub_count.count(t, count, value.actor, value.role)
        case i.CuttingCard():
            return shoe_life.cutting_card_out(t)
        case _:
            assert_never(command)


def _close(t: TableState) -> None:
    t.move("close_table")
    t.emit(TableClosed())
    halts.drop_orders(t)
    duty.end_of_day(t)


def _clear(t: TableState) -> None:
    """The cards are collected: this is the round boundary."""
    t.move("clear_table")
    deck_end.collected(t)
    t.round = None
    if t.deck_suspect or t.shoe.deck is None:
        t.move("deck_suspect")
        t.deck_suspect = False
    elif t.game.shoe is not None:
        t.move("shoe_goes_on")
    t.requests = {
        request: answer for request, answer in t.requests.items() if answer.round_no >= t.round_no - 1
    }
    if t.halts.close is not None:
        _close(t)
    halts.take_hold(t)


def _round_press(t: TableState, command: i.RoundPress, value: i.Commanded) -> Refusal | None:
    match command:
        case i.OpenBetting():
            refusal = guards.why_no_round(t, value.role)
            if refusal is not None:
                return refusal
            scanners.accept(t)
            dealing.open_round(t)
        case i.CloseBetting():
            dealing.close_window(t, "dealer")
        case i.TurnCards(place=place):
            step = t.in_play.run.owed
            if not isinstance(step, Turn) or step.place != place or not _settled(t):
                return Refusal.NOT_OWED
            laying.turn_cards(t, step)
        case i.LayCardAside():
            step = t.in_play.run.owed
            if not isinstance(step, LayAside) or not _settled(t):
                return Refusal.NOT_OWED
            laying.lay_aside(t, step)
        case i.ConfirmResult():
            if stub_count.is_due(t):
                return Refusal.COUNT_DUE
            if not second_look.may_confirm(t, value):
                return Refusal.NOT_SEEN_AGAIN
            result.confirm(t)
        case _:
            assert_never(command)
    return None


def _settled(t: TableState) -> bool:
    window = t.in_play.window
    return window is None or window.settled


def _answer(t: TableState, command: i.AnswerQuestion, actor: str) -> Refusal | None:
    incident = _top(t)
    if incident.number != command.incident:
        return Refusal.WRONG_INCIDENT
    if incident.kind is IncidentKind.SAME_CODE_AGAIN and t.round is None:
        deck_life.same_card_answered(t, incident, command.yes, actor)
    else:
        procedures.answered(t, incident, command.yes, actor)
    return None


def _exception(t: TableState, command: i.ExceptionPress, actor: str) -> Refusal | None:
    name = i.command_name(command)
    if name in PRESSES and not procedures.offers(t, name):
        return Refusal.NOT_OFFERED
    match command:
        case i.DisputeReading():
            return readings.dispute(t, actor)
        case i.CallSurplus():
            return surplus.call_surplus(t, actor)
        case i.Observed():
            return observations.observe(t, command, actor)
        case i.WithdrawReport():
            return observations.withdraw_report(t, _top(t), actor)
        case i.ConfirmCancel():
            return observations.confirm_cancel(t, _top(t), actor)
        case i.ConfirmPicture(picture=picture):
            return interruptions.picture_confirmed(t, _top(t), picture, actor)
        case i.GoOn():
            if duty.may_sign(t):
                return duty.sign_change(t, _top(t), actor)
            return interruptions.go_on(t, _top(t), actor)
        case i.OrderRescan():
            return readings.order_rescan(t, _top(t))
        case i.OrderEntry():
            return manual.order(t, _top(t), actor)
        case i.VoidBox():
            return observations.void_box(t, command, _top(t), actor)
        case i.OrderRedeal():
            return redeal.order_redeal(t, _top(t), actor)
        case _:
            assert_never(command)


def _two_people(t: TableState, command: i.TwoPeoplePress, value: i.Commanded) -> Refusal | None:
    """What passes only when another person has entered the same."""
    match command:
        case i.EnterCard():
            return manual.enter(t, _top(t), command, value)
        case i.ProposeCorrection():
            return corrections.propose(t, command, value)
        case i.ApproveCorrection():
            return corrections.approve(t, command, value)
        case i.WithdrawCorrection():
            return corrections.withdraw(t, value)
        case _:
            assert_never(command)


def _top(t: TableState) -> Incident:
    assert t.incident is not None, "the charts let this through with an incident only"
    return t.incident
