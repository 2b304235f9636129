"""The table: a deterministic function of its inputs. Same inputs, same events, byte for byte.

`Table.step` takes one input and returns what happened. It never raises for anything that people,
scanners or networks do: an input that is not taken is an event with a reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from controller.cards import Anomaly, CodeMap
from controller.games.procedure import Game, LayAside, Turn
from controller.table import carried as carrying
from controller.table import dealing, incidents
from controller.table import inputs as i
from controller.table.charts import IncidentState, Phase, is_accepted
from controller.table.events import (
    ControllerStarted,
    DeckShuffled,
    DeckVerified,
    Event,
    IncidentKind,
    InputAccepted,
    InputRefused,
    Refusal,
    ScannerChanged,
    TableClosed,
    TableOpened,
    Verdict,
)
from controller.table.settings import TableSettings
from controller.table.state import Deadline, Incident, RequestAnswer, TableState, new_state

IN_ROUND = frozenset({Phase.BETTING, Phase.DEALING, Phase.DECIDING, Phase.RESULT_PROPOSED})
DECK_SIZE = 52


class Table:
    """One table and one deck. `state` is for reading (pictures, tests); only `step` changes it."""

    def __init__(
        self, settings: TableSettings, game: Game, deck: CodeMap, other_decks: Iterable[CodeMap] = ()
    ) -> None:
        self.state: TableState = new_state(settings, game, deck, other_decks)

    def step(self, value: i.AnyInput) -> tuple[Event, ...]:
        """Take one input and return its events, in the order in which they happened.

        Raises AssertionError when time does not rise, and for bugs of our own; then the process stops
        before the input is journaled.
        """
        t = self.state
        assert value.at > t.now or t.epoch == 0, f"time went from {t.now} to {value.at}"
        t.now = value.at
        t.events = []
        match value:
            case i.Started():
                _started(t, value)
            case i.CardRead():
                _card_read(t, value)
            case i.ReadFailed():
                _read_failed(t, value)
            case i.ScannerOpened() | i.ScannerLost():
                _scanner_changed(t, value)
            case i.TimerExpired():
                _timer_expired(t, value)
            case i.Commanded():
                _commanded(t, value)
            case _:
                assert_never(value)
        return tuple(t.events)

    @property
    def deadlines(self) -> dict[str, Deadline]:
        """The deadlines that are armed, by name."""
        return self.state.deadlines

    @property
    def roundid(self) -> str | None:
        """Id of the round that is open or whose cards still lie, None between rounds."""
        return self.state.round.id if self.state.round is not None else None

    def answer_to(self, request: str) -> RequestAnswer | None:
        """Return the stored answer to a request id, None if it is new (or forgotten)."""
        return self.state.requests.get(request)

    def carried(self) -> bytes | None:
        """Return the `carried` record at a round boundary, None while a round is open."""
        return carrying.encode(self.state)

    def restore(self, record: bytes) -> None:
        """Become the table that wrote `record`. Raises msgspec.ValidationError for a foreign record."""
        carrying.restore(self.state, record)


def _started(t: TableState, value: i.Started) -> None:
    t.epoch, t.program, t.rules = value.epoch, value.program, value.rules
    t.scanners_up.clear()
    t.emit(
        ControllerStarted(
            epoch=value.epoch, program=value.program, rules=value.rules, documents=value.documents
        )
    )
    if t.phase in IN_ROUND:
        incidents.restarted(t)


def _refuse(t: TableState, name: str, reason: Refusal, command: i.Commanded | None = None) -> None:
    t.emit(
        InputRefused(
            input=name,
            reason=reason,
            actor=command.actor if command is not None else None,
            request=command.request if command is not None else None,
        )
    )


def _why_not(t: TableState, name: str) -> Refusal | None:
    """Ask both charts; None when the input is taken."""
    if is_accepted(t.phase, t.incident_state, name):
        return None
    if is_accepted(t.phase, IncidentState.NONE, name):
        return Refusal.HELD
    return Refusal.WRONG_PHASE if t.incident is not None else _why_not_now(t, name)


def _why_not_now(t: TableState, name: str) -> Refusal:
    in_an_incident = any(is_accepted(t.phase, state, name) for state in IncidentState)
    return Refusal.NO_INCIDENT if in_an_incident else Refusal.WRONG_PHASE


# Scanners.


def _card_read(t: TableState, read: i.CardRead) -> None:
    if read.scanner not in t.settings.scanners:
        _refuse(t, "card_read", Refusal.UNKNOWN_SCANNER)
        return
    refusal = _why_not(t, "card_read")
    if refusal is not None:
        _refuse(t, "card_read", refusal)
        return
    checked = t.register.check(read.code)
    match t.phase:
        case Phase.READY:
            _card_before_round(t)
        case Phase.CONFIRMED:
            _card_after_result(t, checked is Anomaly.ALREADY_OUT)
        case _:
            if isinstance(checked, Anomaly):
                incidents.wrong_code(t, checked, read)
                return
            unplaced = incidents.unplaced(read, checked)
            if t.incident is not None:
                incidents.rescanned(t, t.incident, unplaced)
            elif dealing.is_card_due(t):
                dealing.deal_card(t, unplaced)
            else:
                incidents.card_not_due(t, unplaced)


def _card_before_round(t: TableState) -> None:
    """A card came out of the shoe before a round is open: the deck is shuffled again (RPL-77)."""
    incidents.note_incident(t, IncidentKind.EARLY_DRAW, "7", Verdict.SHUFFLE_AGAIN, incidents.SHUFFLE_AGAIN)
    t.move("deck_suspect")


def _card_after_result(t: TableState, is_out: bool) -> None:
    """A card of this round seen again means nothing; another one means a deck check."""
    if is_out or t.deck_suspect:
        _refuse(t, "card_read", Refusal.WRONG_PHASE)
        return
    incidents.note_incident(t, IncidentKind.LATE_CARD, "RPL-71", Verdict.DECK_CHECK, incidents.CHECK_DECK)
    t.deck_suspect = True


def _read_failed(t: TableState, value: i.ReadFailed) -> None:
    if value.scanner not in t.settings.scanners:
        _refuse(t, "read_failed", Refusal.UNKNOWN_SCANNER)
        return
    refusal = _why_not(t, "read_failed")
    if refusal is not None:
        _refuse(t, "read_failed", refusal)
    elif t.incident is not None:
        incidents.rescan_failed(t, t.incident)
    elif dealing.is_card_due(t):
        incidents.read_failed(t)
    else:
        _refuse(t, "read_failed", Refusal.NOT_OWED)


def _scanner_changed(t: TableState, value: i.ScannerOpened | i.ScannerLost) -> None:
    if value.scanner not in t.settings.scanners:
        _refuse(t, "scanner_changed", Refusal.UNKNOWN_SCANNER)
        return
    if isinstance(value, i.ScannerOpened):
        t.scanners_up.add(value.scanner)
        t.emit(ScannerChanged(scanner=value.scanner, up=True))
        if t.phase in IN_ROUND:
            incidents.scanner_back(t)
        return
    t.scanners_up.discard(value.scanner)
    t.emit(ScannerChanged(scanner=value.scanner, up=False, reason=value.reason))
    if t.phase in IN_ROUND:
        incidents.scanner_lost(t)


# Time.


def _timer_expired(t: TableState, value: i.TimerExpired) -> None:
    deadline = t.deadlines.get(value.name)
    if deadline is None or deadline.number != value.number or value.at < deadline.due:
        _refuse(t, "timer_expired", Refusal.STALE_TIMER)
        return
    t.disarm(value.name)
    if value.name == dealing.WINDOW_TIMER:
        dealing.close_window(t, "time")
    else:
        assert value.name == dealing.GRACE_TIMER, value.name
        dealing.settle_window(t)


# Commands.


def _commanded(t: TableState, value: i.Commanded) -> None:
    name = i.command_name(value.command)
    round_no = t.round_no
    refusal = _check_sender(t, value) or _why_not(t, name)
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
        _refuse(t, name, refusal, value)
    t.requests[value.request] = RequestAnswer(round_no, refusal)


def _check_sender(t: TableState, value: i.Commanded) -> Refusal | None:
    if value.round_no != t.round_no:
        return Refusal.EXPIRED_REQUEST
    allowed = ROLES.get(type(value.command), DEALING_STAFF)
    return None if value.role in allowed else Refusal.WRONG_ROLE


DEALING_STAFF = frozenset({i.Role.DEALER, i.Role.SUPERVISOR})
SUPERVISORS = frozenset({i.Role.SUPERVISOR})
BETTING_SYSTEM = frozenset({i.Role.BETTING})
ROLES: dict[type[i.Command], frozenset[i.Role]] = {
    i.BetsTaken: BETTING_SYSTEM,
    i.WindowFacts: BETTING_SYSTEM,
    i.ConfirmCancel: SUPERVISORS,
    i.GoOn: SUPERVISORS,
    i.OrderRescan: SUPERVISORS,
}


def _obey(t: TableState, value: i.Commanded) -> Refusal | None:
    """Do what is commanded, or return why not; a refused command has changed nothing."""
    command = value.command
    match command:
        case i.BetsTaken() | i.WindowFacts():
            return _note_facts(t, command)
        case i.AnswerQuestion():
            return _answer(t, command, value.actor)
        case (
            i.DisputeReading()
            | i.CallSurplus()
            | i.ReportCancel()
            | i.WithdrawReport()
            | i.ConfirmCancel()
            | i.ConfirmPicture()
            | i.GoOn()
            | i.OrderRescan()
        ):
            return _exception(t, command, value.actor)
        case i.OpenBetting() | i.CloseBetting() | i.TurnCards() | i.LayCardAside() | i.ConfirmResult():
            return _round_press(t, command)
        case _:
            return _table_press(t, command)


def _table_press(t: TableState, command: i.TablePress) -> Refusal | None:
    match command:
        case i.OpenTable():
            t.move("open_table")
            t.emit(TableOpened())
        case i.CloseTable():
            t.move("close_table")
            t.emit(TableClosed())
        case i.VerifyDeck(count=count):
            if count != DECK_SIZE:
                return Refusal.WRONG_COUNT
            t.move("verify_deck")
            t.emit(DeckVerified(count=count))
        case i.ConfirmShuffle():
            t.move("confirm_shuffle")
            t.register.shuffle()
            t.emit(DeckShuffled())
        case i.RepeatShuffle():
            t.move("repeat_shuffle")
            t.emit(DeckShuffled(repeat=True))
        case i.ClearTable():
            _clear(t)
        case _:
            assert_never(command)
    return None


def _clear(t: TableState) -> None:
    """The cards are collected: this is the round boundary."""
    t.move("clear_table")
    t.round = None
    if t.deck_suspect:
        t.move("deck_suspect")
        t.deck_suspect = False
    t.requests = {
        request: answer for request, answer in t.requests.items() if answer.round_no >= t.round_no - 1
    }


def _round_press(t: TableState, command: i.RoundPress) -> Refusal | None:
    match command:
        case i.OpenBetting():
            if not t.scanners_up.issuperset(t.settings.scanners):
                return Refusal.SCANNER_DOWN
            dealing.open_round(t)
        case i.CloseBetting():
            dealing.close_window(t, "dealer")
        case i.TurnCards(place=place):
            step = t.in_play.run.owed
            if not isinstance(step, Turn) or step.place != place or not _settled(t):
                return Refusal.NOT_OWED
            dealing.turn_cards(t, step)
        case i.LayCardAside():
            step = t.in_play.run.owed
            if not isinstance(step, LayAside) or not _settled(t):
                return Refusal.NOT_OWED
            dealing.lay_aside(t, step)
        case i.ConfirmResult():
            dealing.confirm(t)
        case _:
            assert_never(command)
    return None


def _settled(t: TableState) -> bool:
    window = t.in_play.window
    return window is None or window.settled


def _note_facts(t: TableState, command: i.BetsTaken | i.WindowFacts) -> Refusal | None:
    window = t.in_play.window
    assert window is not None
    if isinstance(command, i.BetsTaken):
        if not set(command.boxes) <= set(t.game.boxes):
            return Refusal.UNKNOWN_PLACE
        if window.window != dealing.BETTING or window.settled:
            return _too_late(t, wrong=dealing.contradicts_bets(t, command))
        dealing.note_bets(t, command)
        return None
    final = t.in_play.answers.get(command.window)
    if final is not None:
        return _too_late(t, wrong=dealing.contradicts(final, command))
    if command.window != window.window or window.window == dealing.BETTING:
        return Refusal.WRONG_WINDOW
    dealing.note_facts(t, command)
    return None


def _too_late(t: TableState, *, wrong: bool) -> Refusal:
    """Facts that are final stay; if the late ones say that they were wrong, that goes on record."""
    if wrong:
        incidents.note_incident(t, IncidentKind.WRONG_FACT, "41", Verdict.REFUND, incidents.NOTED)
    return Refusal.TOO_LATE


def _answer(t: TableState, command: i.AnswerQuestion, actor: str) -> Refusal | None:
    incident = _top(t)
    if incident.number != command.incident:
        return Refusal.WRONG_INCIDENT
    incidents.answer(t, incident, command.yes, actor)
    return None


def _exception(t: TableState, command: i.ExceptionPress, actor: str) -> Refusal | None:
    match command:
        case i.DisputeReading():
            return incidents.dispute(t, actor)
        case i.CallSurplus():
            return incidents.call_surplus(t, actor)
        case i.ReportCancel():
            incidents.report(t, command, actor)
            return None
        case i.WithdrawReport():
            return incidents.withdraw_report(t, _top(t), actor)
        case i.ConfirmCancel():
            return incidents.confirm_cancel(t, _top(t), actor)
        case i.ConfirmPicture():
            incidents.picture_confirmed(t, _top(t), actor)
            return None
        case i.GoOn():
            return incidents.go_on(t, _top(t), actor)
        case i.OrderRescan():
            return incidents.order_rescan(t, _top(t))
        case _:
            assert_never(command)


def _top(t: TableState) -> Incident:
    assert t.incident is not None, "the charts let this through with an incident only"
    return t.incident
