"""The table: a deterministic function of its inputs. Same inputs, same events, byte for byte.

`Table.step` takes one input and returns what happened. It never raises for anything that people,
scanners or networks do: an input that is not taken is an event with a reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from controller.cards import Anomaly, CodeMap
from controller.games.procedure import Game
from controller.table import carried as carrying
from controller.table import (
    dealing,
    deck_end,
    deck_life,
    escalation,
    interruptions,
    presses,
    readings,
    surplus,
    wear,
)
from controller.table import inputs as i
from controller.table.charts import IN_ROUND, Phase
from controller.table.events import (
    ControllerStarted,
    Event,
    Refusal,
    ScannerChanged,
)
from controller.table.gate import refuse, why_not
from controller.table.settings import TableSettings
from controller.table.state import Deadline, RequestAnswer, TableState, UnplacedRead, new_state


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
                if stale:
                    refuse(t, "timer_expired", Refusal.STALE_TIMER)
            case i.Commanded():
                presses.obey(t, value)
            case _:
                assert_never(value)
        dealing.follow_held(t)
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


def _started(t: TableState, value: i.Started) -> None:
    t.epoch, t.program, t.rules = value.epoch, value.program, value.rules
    t.scanners_up.clear()
    t.emit(
        ControllerStarted(
            epoch=value.epoch, program=value.program, rules=value.rules, documents=value.documents
        )
    )
    deck_end.started(t)
    if t.phase in IN_ROUND:
        interruptions.scanner_lost(t)
    if t.is_round_open:
        interruptions.restarted(t)


# Scanners.


def _card_read(t: TableState, read: i.CardRead) -> None:
    if read.scanner not in t.settings.scanners:
        refuse(t, "card_read", Refusal.UNKNOWN_SCANNER)
        return
    refusal = why_not(t, "card_read")
    if refusal is not None:
        refuse(t, "card_read", refusal)
        return
    checked = t.register.check(read.code)
    if t.phase is Phase.DECK_CHECK:
        deck_life.scan_in(t, read)
    elif t.phase is Phase.READY:
        surplus.card_not_due(t, None)
    elif t.phase is Phase.CONFIRMED:
        _card_after_result(t, checked is Anomaly.ALREADY_OUT)
    elif readings.is_scanned_again(t, read.code):
        readings.scanned_again(t, read)
    elif isinstance(checked, Anomaly):
        readings.wrong_code(t, checked, read)
    elif any(known.read is not None and known.read.code == read.code for known in t.incidents):
        readings.asked_about_already(t)
    else:
        wear.note_read(t, read.scanner, failed=False)
        _take_card(t, UnplacedRead(checked, read.code, read.key))


def _take_card(t: TableState, read: UnplacedRead) -> None:
    if t.incident is not None:
        readings.rescanned(t, t.incident, read)
    elif dealing.is_card_due(t):
        dealing.deal_card(t, read)
    else:
        surplus.card_not_due(t, read)


def _card_after_result(t: TableState, is_out: bool) -> None:
    """A card of this round seen again means nothing; another one means a deck check."""
    if is_out or t.deck_suspect or t.shoe.suspect is not None:
        refuse(t, "card_read", Refusal.WRONG_PHASE)
        return
    surplus.card_not_due(t, None)


def _read_failed(t: TableState, value: i.ReadFailed) -> None:
    if value.scanner not in t.settings.scanners:
        refuse(t, "read_failed", Refusal.UNKNOWN_SCANNER)
        return
    refusal = why_not(t, "read_failed")
    if refusal is not None:
        refuse(t, "read_failed", refusal)
    elif t.incident is not None and readings.may_fail_again(t, t.incident):
        wear.note_read(t, value.scanner, failed=True)
        readings.rescan_failed(t, t.incident)
    elif t.incident is None and dealing.is_card_due(t):
        wear.note_read(t, value.scanner, failed=True)
        readings.read_failed(t)
    else:
        refuse(t, "read_failed", Refusal.NOT_OWED)


def _scanner_changed(t: TableState, value: i.ScannerOpened | i.ScannerLost) -> None:
    if value.scanner not in t.settings.scanners:
        refuse(t, "scanner_changed", Refusal.UNKNOWN_SCANNER)
        return
    if isinstance(value, i.ScannerOpened):
        t.scanners_up.add(value.scanner)
        t.emit(ScannerChanged(scanner=value.scanner, up=True))
        if t.phase in IN_ROUND:
            interruptions.scanner_back(t)
        return
    t.scanners_up.discard(value.scanner)
    t.emit(ScannerChanged(scanner=value.scanner, up=False, reason=value.reason))
    if t.phase in IN_ROUND:
        interruptions.scanner_lost(t)


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
        t.disarm(name)
        if name == dealing.WINDOW_TIMER:
            dealing.close_window(t, "time")
        elif name == dealing.GRACE_TIMER:
            dealing.settle_window(t)
        elif name == dealing.HELD_TIMER:
            dealing.follow_held(t)
        else:
            escalation.expire(t, name)
