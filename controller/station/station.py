"""The running station: what comes in, one queue, one consumer, and what goes out once it is durable.

Inputs are stamped, recorded and queued by whoever brings them; the consumer alone steps the table,
writes the journal and only then lets anything leave the process.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from controller.bus.commands import CommandIntake, Reply
from controller.bus.doors import Doors
from controller.bus.reasons import text_of
from controller.bus.replay_server import ReplayServer
from controller.bus.wire import Answer, CommandRequest
from controller.journal import Journal
from controller.journal.recording import Kind, Line
from controller.station.badge_readers import BadgeReaders
from controller.station.config import StationConfig
from controller.station.device_talk import DeviceTalk
from controller.station.doorkeeper import Sender, identify
from controller.station.due import drivers_due_us, due_drivers, passed_timer, table_due_us
from controller.station.feeds import OpenFeeds, open_publisher
from controller.station.guards import Guards
from controller.station.intake import FROM_DEVICES, Intake, Taken, encode_command, encode_start, open_framers
from controller.station.interlocks import Interlocks
from controller.station.kernel import Stepped, closing_of
from controller.station.metrics import Metrics, open_server
from controller.station.outbox import JournalOutbox
from controller.station.pages.presses import DrawCard
from controller.station.pages.server import Pages, open_pages
from controller.station.parts import named
from controller.station.past_rounds import PastRounds
from controller.station.pulse import pulse_of
from controller.station.readers import dealing_framers
from controller.station.report_log import log_report
from controller.station.retention import apply_retention
from controller.station.scanner_line import ScannerLine
from controller.station.scrape import reading_of
from controller.station.silences import Silences
from controller.station.start import OpenJournal, Start, gaming_day, journal_path, open_journal, start
from controller.station.tower_lights import TowerLights
from controller.table.events import Audience
from controller.table.inputs import AnyInput, Commanded, EnterCard, encode_input
from controller.table.picture import draw
from controller.table.quarantine import suspect
from controller.table.state import TableState
from drivers.contract import REPORTS_MAX, Clock, Report
from drivers.port import OpenPort, Port

FLOOD = 1_000
"""So many inputs waiting for the consumer are a flood: commands are answered BUSY, a scanner is cut off."""
QUEUE_MAX = FLOOD + REPORTS_MAX
"""Room for one more chunk of reports after the flood has begun."""
ALIVE_S = 1.0
ENCODER = msgspec.json.Encoder(order="deterministic")

log = logging.getLogger("station")


class Waiting(NamedTuple):
    """One input in the queue, and what is done for its sender once it is durable."""

    taken: Taken
    scanner: str | None = None
    reply: Reply | None = None


class Station:
    """One table's daemon. `run` is its whole life."""

    def __init__(
        self,
        config: StationConfig,
        clock: Clock,
        *,
        new_key: Callable[[], str] = lambda: secrets.token_hex(32),
        open_file: OpenJournal = open_journal,
        open_feeds: OpenFeeds = open_publisher,
        open_port: OpenPort = Port,
        draw_card: DrawCard | None = None,
        on_recovery_step: Callable[[], None] = lambda: None,
    ) -> None:
        """Recover the table and begin an epoch; raises what `start` raises.

        `draw_card` has a simulated shoe deal, for the person at the dealer's page.
        """
        self.config = config
        self.clock = clock
        self._open_file = open_file
        self.metrics = Metrics(lambda: reading_of(self))
        self._metrics_server = open_server(config.metrics_port, self.metrics)
        begun = start(config, clock.now_us(), open_file=open_file, on_step=on_recovery_step)
        self._take_over(begun)
        self._draw_key = new_key
        self._past = PastRounds(config.settings.table, config.table_dir, lambda: self.journal)
        self._queue: asyncio.Queue[Waiting] = asyncio.Queue(QUEUE_MAX)
        self._stepping = False
        self._moved = asyncio.Event()
        self._last_us = begun.started.at
        is_low = begun.started.disk_free_mb is not None
        self._guards = Guards(clock, config.table_dir, config.settings.limits, is_low=is_low)
        self._on_removed_days: Callable[[], None] = lambda: None
        apply_retention(config, begun.started.at)
        self.intake = Intake(open_framers(config), self._key, self._garbage, config.station_commands)
        self._talk = DeviceTalk(clock.now_us)
        self._silences = Silences()
        self._interlocks = Interlocks(dealing_framers(config, self.intake.framers))
        self.feeds = open_feeds(config, self.kernel)
        self.ports = {
            name: open_port(
                name, scanner.port, settings=scanner.line, listener=ScannerLine(self, name), clock=clock
            )
            for name, scanner in config.scanners.items()
        }
        self.badges = BadgeReaders(
            config,
            clock,
            submit=self.submit,
            round_no=lambda: self.kernel.table.state.round_no,
            on_moved=self._moved.set,
            talk=self._talk,
        )
        self.lights = TowerLights(config.lights, clock)
        self.pages: Pages | None = None
        self._draw_card = draw_card
        self.alive_at_us = 0
        self.recorder.write(Line(begun.started.at, Kind.START, "station", encode_start(begun.started)))
        self._step(Waiting(Taken(begun.started)))

    def _take_over(self, begun: Start) -> None:
        self.kernel = begun.kernel
        self.journal: Journal = begun.journal
        self.recorder = begun.recorder
        self.stops = begun.stops
        self._sign = begun.sign

    @property
    def waiting_count(self) -> int:
        """How many inputs wait for the consumer."""
        return self._queue.qsize()

    async def run(self, stopped: asyncio.Event | None = None) -> None:
        """Run until `stopped` is set (or cancelled). A task that dies ends all, with its name in the log."""
        commands = CommandIntake(self.config.endpoints, self.submit)
        table = self.config.settings.table
        outbox = JournalOutbox(self.config.table_dir, lambda: self.journal)
        replay = ReplayServer(self.config.endpoints, outbox, table=table, starts=outbox.starts(table))
        self._on_removed_days = lambda: replay.forget_before(outbox.starts(table))
        sockets = {**self.feeds.sockets, **commands.sockets, **replay.sockets}
        doors = Doors(self.config.bus, sockets, on_rebound=self.beat) if self.config.bus else None
        try:
            self.pages = open_pages(self, outbox, draw(self.table_state), self._draw_card)
            async with asyncio.TaskGroup() as tasks:
                parts = {
                    "consumer": self._consume(),
                    "timers": self._watch_deadlines(),
                    "alive": self._beat(),
                    "commands": commands.run(),
                    "replay": replay.run(),
                    **({} if self._metrics_server is None else {"metrics": self._metrics_server.run()}),
                    **({"doors": doors.run()} if doors else {}),
                    **({"pages": self.pages.run()} if self.pages else {}),
                    **{f"port {name}": port.run() for name, port in self.ports.items()},
                    **{f"badge reader {name}": one.port.run() for name, one in self.badges.readers.items()},
                    **{f"light {name}": port.run() for name, port in self.lights.ports.items()},
                }
                running = [tasks.create_task(named(name, part), name=name) for name, part in parts.items()]
                if stopped is not None:
                    await stopped.wait()
                    for task in running:
                        task.cancel()
        finally:
            if doors:
                doors.close()
            commands.close()
            replay.close()
            self.close()

    @property
    def table_state(self) -> TableState:
        """The table as it is now."""
        return self.kernel.table.state

    def close(self) -> None:
        """Close journal, recording, feeds, metrics and pages."""
        if self.pages:
            self.pages.close()
        if self._metrics_server is not None:
            self._metrics_server.close()
        self._talk.close()
        self.feeds.close()
        self.journal.close()
        self.recorder.close()
        self.stops.close()

    # What comes in.

    def bring(self, kind: Kind, source: str, payload: str = "") -> int:
        """Stamp and record what came from outside now, and queue the inputs that it means.

        Returns how many inputs were queued.
        """
        return self._bring(Line(self._stamp(), kind, source, payload))

    def look(self) -> None:
        """Bring what the machine under the table has to tell; a flood comes first."""
        for value in self._guards.look() if not self.is_flooded() else ():
            at = self._stamp()
            text = encode_input(msgspec.structs.replace(value, at=at)).decode()
            self._bring(Line(at, Kind.INPUT, "station", text))

    def _stamp(self) -> int:
        return max(self.clock.now_us(), self._last_us + 1)

    def _bring(self, line: Line) -> int:
        self.recorder.write(line)
        self._last_us = line.at_us
        scanner = line.source if line.kind in FROM_DEVICES else None
        taken = self.intake.take(line)
        if line.kind in FROM_DEVICES:
            self._send_to_device(line.source)
        for one in taken:
            self._last_us = max(self._last_us, one.value.at)
            self._queue.put_nowait(Waiting(one, scanner))
        self._bring_silences(line)
        self._moved.set()
        return len(taken)

    def _bring_silences(self, line: Line) -> None:
        """Bring what a silence means as lines of their own: when it ends hangs on what was sent."""
        if line.kind is Kind.OPENED:
            self._silences.opened(line.source)
        for value in self._silences.take(self._stamp, self.intake.device):
            self._bring(Line(value.at, Kind.INPUT, "station", encode_input(value).decode()))

    def is_flooded(self) -> bool:
        """Return whether more comes in than the table can take."""
        return self._queue.qsize() >= FLOOD

    def _key(self, scanner: str, at: int) -> str:
        key = self._draw_key()
        self.recorder.write(Line(at, Kind.KEY, scanner, key))
        return key

    def _garbage(self, scanner: str, report: Report) -> None:
        self._silences.hear(scanner, report)
        log_report(scanner, report, self._talk)

    def submit(self, endpoint: str, request: CommandRequest, reply: Reply) -> bool:
        """Queue a command; False when the queue is full. A PIN or badge code goes no further than this."""
        if self.is_flooded():
            return False
        duty, now_us = self.kernel.table.state.duty, self.clock.now_us()
        sender = identify(endpoint, request, duty=duty, now_us=now_us, people=self.config.people)
        if not isinstance(sender, Sender):
            reply(sender)
            return True
        at = self._stamp()
        value = Commanded(
            at=at,
            request=request.request,
            actor=request.actor,
            role=sender.role,
            round_no=request.round_no,
            command=sender.command,
            key=self._draw_key() if isinstance(sender.command, EnterCard) else None,
            past=self._past.of(sender.command),
        )
        self.recorder.write(Line(at, Kind.COMMAND, endpoint, encode_command(value)))
        self._last_us = at
        self._queue.put_nowait(Waiting(Taken(value), reply=reply))
        return True

    # The one consumer.

    async def _consume(self) -> None:
        while True:
            waiting = await self._queue.get()
            self._stepping = True
            self._step(waiting)
            self._stepping = False
            self._moved.set()
            # A flood of inputs gives sockets, ports and timers their turn.
            await asyncio.sleep(0)

    def _step(self, waiting: Waiting) -> None:
        value = waiting.taken.value
        table = self.kernel.table
        repeated = isinstance(value, Commanded) and table.answer_to(value) is not None
        if not repeated:
            stepped = self._take(value)
            self._write(value.at, stepped)
            self._send(stepped)
            self.metrics.published(value, self.clock.now_us())
            self._interlocks.tell(self.kernel.table.state)
        if isinstance(value, Commanded) and waiting.reply is not None:
            answer = table.answer_to(value)
            assert answer is not None
            refusal = answer.refusal
            waiting.reply(Answer(value.request, refusal is None, refusal, text_of(refusal)))
        if waiting.scanner is not None and waiting.taken.report is not None:
            self.intake.framers[waiting.scanner].acknowledge(waiting.taken.report)
            self._send_to_device(waiting.scanner)

    def _send_to_device(self, scanner: str) -> None:
        self.ports[scanner].write(self.intake.framers[scanner].bytes_to_send())

    def _take(self, value: AnyInput) -> Stepped:
        """Step the kernel; while it steps, a file says with what."""
        self.stops.taking(suspect(self.kernel.table.state, value))
        stepped = self.kernel.step(value)
        self.stops.taken()
        return stepped

    def _write(self, at: int, stepped: Stepped) -> None:
        closing = closing_of(stepped)
        self.journal.append(
            at_us=at,
            input=stepped.input,
            events=stepped.events_raw,
            messages={audience.value: sent for audience, sent in stepped.messages.items()},
            carried=stepped.carried,
            sign=self._sign(closing) if closing is not None else None,
        )

    def _send(self, stepped: Stepped) -> None:
        self.feeds.publish(stepped.messages)
        picture = draw(self.kernel.table.state)
        self.feeds.picture(ENCODER.encode(picture))
        self.lights.show(picture)
        if self.pages:
            self.pages.show(picture, stepped.messages[Audience.PUBLIC])
        if stepped.carried is not None:
            self.journal.checkpoint()
            self._roll_day()

    def _roll_day(self) -> None:
        """Begin a new journal file when a gaming day has ended; only at a round's end."""
        path = journal_path(self.config, self._last_us)
        if path.name <= self.journal.reader.path.name:
            return
        heads = self.journal.heads()
        self.journal.close()
        self.journal = self._open_file(path, heads)
        for text in self.config.kept_texts:
            self.journal.add_document(text)
        day = gaming_day(self._last_us, self.config.day_begins_hour)
        log.info("new gaming day", extra={"facts": {"day": day, "journal": path.name}})
        if apply_retention(self.config, self._last_us):
            self._on_removed_days()

    def work(self) -> None:
        """Work off what is queued and what is due, without a loop: a station inside another process."""
        while True:
            while not self._queue.empty():
                self._step(self._queue.get_nowait())
            due = self.next_due_us()
            if due is None or due > self.clock.now_us():
                return
            self._fire_due()

    # Time.

    def next_due_us(self) -> int | None:
        """Return when the next deadline of the table or of a driver is due."""
        due = [*table_due_us(self.kernel.table), *drivers_due_us(self.intake.framers)]
        return min((*due, *self.badges.next_due_us()), default=None)

    def is_idle(self) -> bool:
        """Return whether nothing is left to do until something comes in or the clock moves on."""
        due = self.next_due_us()
        return self._queue.empty() and not self._stepping and (due is None or due > self.clock.now_us())

    async def _watch_deadlines(self) -> None:
        while True:
            self._moved.clear()
            due = self.next_due_us()
            sleepers: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._moved.wait())]
            if due is not None:
                sleepers.append(asyncio.ensure_future(self.clock.sleep_until(due)))
            try:
                await asyncio.wait(sleepers, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for sleeper in sleepers:
                    sleeper.cancel()
            if self._queue.empty() and not self._stepping:
                self._fire_due()

    def _fire_due(self) -> None:
        """Bring the deadlines that have passed, the earliest first."""
        now = self.clock.now_us()
        self.badges.fire_due(now)
        for name in due_drivers(self.intake.framers, now):
            self.bring(Kind.TICK, name)
        passed = passed_timer(self.kernel.table, now)
        if passed is not None:
            name, number = passed
            self.bring(Kind.TIMER, name, str(number))

    async def _beat(self) -> None:
        while True:
            self.beat()
            self.look()
            await asyncio.sleep(ALIVE_S)

    def beat(self) -> None:
        """Send `alive` and the picture once more, for those who have just come."""
        self._talk.tell_due()
        self.journal.check_place()
        self.alive_at_us = self.clock.now_us()
        self.feeds.alive(pulse_of(self.kernel.table.state, self.alive_at_us))
