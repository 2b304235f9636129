"""The table: a deterministic function of its inputs. Same inputs, same events, byte for byte.

`Table.step` takes one input and returns what happened. It never raises for anything that people,
scanners or networks do: an input that is not taken is an event with a reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, assert_never

from controller.cards import Anomaly, Card, CodeMap
from controller.games.procedure import Game
from controller.table import (
    acknowledgements,
    by_hand,
    dealing,
    deck_end,
    deck_life,
    escalation,
    guards,
    held_reads,
    interruptions,
    laying,
    presses,
    quarantine,
    readings,
    scanners,
    second_look,
    shoe_life,
    shoe_opinion,
    short_deck,
    station_commands,
    surplus,
    wear,
)
from controller.table import carried as carrying
from controller.table import inputs as i
from controller.table.charts import IN_ROUND, Phase
from controller.table.events import (
    ControllerStarted,
    Event,
    Refusal,
)
from controller.table.gate import refuse, why_not
from controller.table.settings import TableSettings
from controller.table.shoe_state import UnplacedRead
from controller.table.state import Deadline, RequestAnswer, TableState, new_state

FromScanner: TypeAlias = (
    i.CardRead
    | i.ReadFailed
    | i.CardsTogether
    | i.ScannerOpened
    | i.ScannerLost
    | i.ScannerRestarted
    | i.ShoeResulted
    | i.ShoeComplained
    | i.ShoeStandsBy
    | i.CommandScanned
)


class Table:
    """One table. `state` is for reading (pictures, tests); only `step` changes it.

    `deck` or one of `spare_decks` is loaded; `other_decks` are those whose cards are known as foreign.
    """

    def __init__(
        self,
        settings: TableSettings,
        game: Game,
        deck: CodeMap,
        other_decks: Iterable[CodeMap] = (),
        *,
        spare_decks: Iterable[CodeMap] = (),
    ) -> None:
        self.state: TableState = new_state(settings, game, (deck, *spare_decks), other_decks)

    def step(self, value: i.AnyInput) -> tuple[Event, ...]:
        """Take one input and return its events, in the order in which they happened.

        Raises AssertionError when time does not rise, and for bugs of our own; then the process stops
        before the input is journaled.
        """
        t = self.state
        assert value.at > t.now or t.epoch == 0, f"time went from {t.now} to {value.at}"
        t.events = []
        stale = isinstance(value, i.TimerExpired) and not _is_armed(t, value)
        if not isinstance(value, i.Started):
            _expire_due(t, value.at)
        t.now = value.at
        if stale:
            refuse(t, "timer_expired", Refusal.STALE_TIMER)
        else:
            _take(t, value)
        laying.follow_held(t)
        held_reads.follow(t)
        shoe_opinion.follow(t)
        second_look.follow(t)
        short_deck.follow(t)
        by_hand.follow(t)
        return tuple(t.events)

    @property
    def deadlines(self) -> dict[str, Deadline]:
        """The deadlines that are armed, by name."""
        return self.state.deadlines

    @property
    def roundid(self) -> str | None:
        """Id of the round that is open or whose cards still lie, None between rounds."""
        return self.state.round.id if self.state.round is not None else None

    def answer_to(self, value: i.Commanded) -> RequestAnswer | None:
        """Return the stored answer to a command, None if it is new (or forgotten)."""
        return presses.answer_to(self.state, value)

    def carried(self) -> bytes | None:
        """Return the `carried` record at a round boundary, None while a round is open."""
        return carrying.encode(self.state)

    def restore(self, record: bytes) -> None:
        """Become the table that wrote `record`. Raises msgspec.ValidationError for a foreign record."""
        carrying.restore(self.state, record)


def _take(t: TableState, value: i.AnyInput) -> None:
    answered = isinstance(value, i.Started | i.Commanded | i.TimerExpired)
    if not answered and quarantine.is_left_out(t, value):
        quarantine.leave_out(t, value)
        return
    match value:
        case i.Started():
            _started(t, value)
        case i.Commanded():
            presses.obey(t, value)
        case i.TimerExpired():
            pass  # What was due has passed already.
        case i.Measured():
            guards.measured(t, value.disk_free_mb)
        case i.ClockStepped():
            guards.clock_stepped(t, value.step_ms)
        case _:
            _from_scanner(t, value)


def _from_scanner(t: TableState, value: FromScanner) -> None:
    if value.scanner not in t.settings.scanners:
        refuse(t, str(value.__struct_config__.tag), Refusal.UNKNOWN_SCANNER)
        return
    if value.scanner in t.settings.second_readers and isinstance(value, second_look.FromReader):
        second_look.take(t, value)
        return
    match value:
        case i.CardRead():
            _card_read(t, value)
        case i.ReadFailed():
            _read_failed(t, value)
        case i.CardsTogether():
            held_reads.expect_together(t)
        case i.CommandScanned():
            station_commands.scanned(t, value)
        case i.ScannerOpened():
            scanners.opened(t, value)
        case i.ScannerLost():
            scanners.lost(t, value)
        case i.ScannerRestarted():
            scanners.restarted(t, value)
        case i.ShoeResulted():
            shoe_opinion.resulted(t, value)
        case i.ShoeComplained():
            shoe_opinion.complained(t, value)
        case i.ShoeStandsBy():
            shoe_opinion.stands_by(t, value)
        case _:
            assert_never(value)


def _started(t: TableState, value: i.Started) -> None:
    t.epoch, t.program, t.rules = value.epoch, value.program, value.rules
    t.scanners_up.clear()
    t.quarantined = frozenset(value.quarantined)
    t.emit(
        ControllerStarted(
            epoch=value.epoch, program=value.program, rules=value.rules, documents=value.documents
        )
    )
    untaken = [read for read in value.untaken if not _is_untaken_cutting_card(t, read)]
    held_reads.note_untaken(t, untaken)
    acknowledgements.registered(t)
    deck_end.started(t)
    if t.phase in IN_ROUND:
        interruptions.scanner_lost(t)
    if t.is_round_open:
        interruptions.restarted(t)
    second_look.note_untaken(t, untaken)
    for read in untaken:
        if read.code is not None and read.scanner not in t.settings.second_readers:
            _untaken_between_rounds(t, read.code)
    t.disk_free_mb = None
    if value.disk_free_mb is not None:
        guards.measured(t, value.disk_free_mb)


# Scanners.


def _card_read(t: TableState, read: i.CardRead) -> None:
    if shoe_life.is_cutting_card(t, read.code):
        _cutting_card(t)
        return
    refusal = why_not(t, "card_read")
    repeated = t.phase is not Phase.DECK_CHECK and shoe_life.is_repeat(t, read)
    if refusal is not None:
        if repeated:
            refuse(t, "card_read", refusal)  # Another look at the card that people are asked about.
        else:
            _hold_back(t, read, refusal)
        return
    checked = t.register.check(read.code)
    if shoe_opinion.is_outside(t, read.place):
        surplus.card_not_due(t, None)
    elif t.phase is Phase.DECK_CHECK:
        deck_life.scan_in(t, read)
    elif t.phase in (Phase.READY, Phase.CONFIRMED):
        _card_between_rounds(t, read, checked)
    elif readings.is_scanned_again(t, read.code):
        readings.scanned_again(t, read)
    elif isinstance(checked, Anomaly):
        readings.wrong_code(t, checked, read)
    elif _is_asked_about(t, read.code):
        readings.asked_about_already(t)
    else:
        wear.note_read(t, read.scanner, failed=False)
        taken = UnplacedRead(checked, read.code, read.key)
        if repeated or t.incident is not None or not shoe_opinion.lies_wrongly(t, read.place):
            _take_card(t, taken, repeated=repeated)
        elif laying.is_card_due(t):
            readings.lies_wrongly(t, taken)
        else:
            surplus.card_not_due(t, taken)


def _cutting_card(t: TableState) -> None:
    """The reserved code: it is no card, and whatever waits goes on waiting."""
    refusal = shoe_life.cutting_card_out(t)
    if refusal is not None:
        refuse(t, "card_read", refusal)


def _is_untaken_cutting_card(t: TableState, read: i.UntakenRead) -> bool:
    """Whether the cutting card came in when the process went down; then that is said."""
    is_it = read.code is not None and shoe_life.is_cutting_card(t, read.code)
    if is_it:
        _cutting_card(t)
    return is_it


def _is_asked_about(t: TableState, code: str) -> bool:
    """Whether people are being asked about this very card; a code that is on many says nothing."""
    asked = any(known.read is not None and known.read.code == code for known in t.incidents)
    return asked and t.register.deck.copies == 1


def _take_card(t: TableState, read: UnplacedRead, *, repeated: bool) -> None:
    if t.incident is not None:
        readings.rescanned(t, t.incident, read)
    elif repeated:
        readings.value_again(t, read)
    elif laying.is_card_due(t):
        laying.deal_card(t, read)
    else:
        surplus.card_not_due(t, read)


def _hold_back(t: TableState, read: i.CardRead | i.ReadFailed, refusal: Refusal) -> None:
    """A read that comes while the table is held is no play, but it is not forgotten."""
    refuse(t, str(read.__struct_config__.tag), refusal)
    if refusal is Refusal.HELD:
        held_reads.hold(t, read)


def _card_between_rounds(t: TableState, read: i.CardRead, checked: Card | Anomaly) -> None:
    """A card came out before START or after RESULT."""
    is_seen = checked is Anomaly.ALREADY_OUT and t.register.deck.copies == 1
    if t.phase is Phase.CONFIRMED and (is_seen or t.deck_suspect or t.shoe.suspect is not None):
        refuse(t, "card_read", Refusal.WRONG_PHASE)  # A card of this round, or one that changes nothing.
    elif t.game.shoe is None:
        surplus.card_not_due(t, None)
    elif isinstance(checked, Anomaly):
        readings.strange_between_rounds(t, checked)
    else:
        surplus.card_not_due(t, UnplacedRead(checked, read.code, read.key))


def _untaken_between_rounds(t: TableState, code: str) -> None:
    """A read that the process never took; it lies there unscanned, in a phase in which that means something.

    A card of this round seen again means nothing; another one means a deck check.
    """
    is_out = t.register.check(code) is Anomaly.ALREADY_OUT
    gone = is_out or t.deck_suspect or t.shoe.suspect is not None
    if t.phase is Phase.CONFIRMED and gone:
        refuse(t, "card_read", Refusal.WRONG_PHASE)
    elif t.phase in (Phase.READY, Phase.CONFIRMED) and (t.game.shoe is None or t.incident is None):
        surplus.card_not_due(t, None)


def _read_failed(t: TableState, value: i.ReadFailed) -> None:
    refusal = why_not(t, "read_failed")
    if refusal is not None:
        _hold_back(t, value, refusal)
    elif t.incident is not None and readings.may_fail_again(t, t.incident):
        wear.note_read(t, value.scanner, failed=True)
        readings.rescan_failed(t, t.incident)
    elif t.incident is None and laying.is_card_due(t):
        wear.note_read(t, value.scanner, failed=True)
        readings.read_failed(t)
    else:
        refuse(t, "read_failed", Refusal.NOT_OWED)


# Time.


def _is_armed(t: TableState, value: i.TimerExpired) -> bool:
    deadline = t.deadlines.get(value.name)
    return deadline is not None and deadline.number == value.number and deadline.due <= value.at


def _expire_due(t: TableState, at: int) -> None:
    """Let every deadline up to `at` pass, each at its own time, before anything else that comes then.

    A window ends when it was published to end, however late the station is with its timer.
    """
    while due := [(deadline.due, name) for name, deadline in t.deadlines.items() if deadline.due <= at]:
        t.now, name = min(due)
        expired = i.TimerExpired(at=t.now, name=name, number=t.deadlines[name].number)
        left_out = quarantine.is_left_out(t, expired)
        t.disarm(name)
        if left_out:
            quarantine.leave_out(t, expired)
        else:
            _expire(t, name)


def _expire(t: TableState, name: str) -> None:
    match name:
        case dealing.WINDOW_TIMER:
            dealing.close_window(t, "time")
        case dealing.GRACE_TIMER:
            dealing.settle_window(t)
        case laying.HELD_TIMER:
            laying.follow_held(t)
        case interruptions.GONE_TIMER:
            interruptions.scanner_gone(t)
        case by_hand.TIMER:
            pass  # The card that is due now is asked for at the end of the step.
        case _:
            escalation.expire(t, name)
