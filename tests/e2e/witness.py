"""A witness: everything that leaves a station, moment by moment, except the journal and the recording.

Messages of every audience, `alive`, pictures, the frames of every page, answers to commands, log lines,
metrics, the snapshots that the replay server would serve, and the time at which the table wants the clock
next. Whatever a station says some day in another way belongs here, or the proof of secrecy does not cover it.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import zmq
from e2e.taped import Driver, KeyedLink, Tape, run_now

from controller.bus.publisher import Publisher
from controller.bus.replay_server import Archive
from controller.bus.snapshot import Snapshot, encode_snapshot
from controller.bus.wire import Answer, encode
from controller.station.config import StationConfig
from controller.station.kernel import Kernel
from controller.station.log import JsonLines
from controller.station.outbox import JournalOutbox
from controller.station.pages import frames
from controller.station.pages.board import Board, last_round
from controller.station.pages.overlay_view import overlay_view
from controller.station.pages.views import VIEWS
from controller.station.station import Station
from controller.table.events import AUDIENCES
from controller.table.picture import Picture, draw

HASHED = re.compile(rb'"(prevhash|hash|digest|commitment)":"[0-9a-f]{64}"')
"""Commitments and what is computed from them, by the names of the fields that hold them."""
MASK = b"0" * 64
CREATED = re.compile(rb"^\w+_created\b.*$", re.MULTILINE)
"""When a metric was made, by the wall clock."""
STATES_EVERY = 4
"""At each so many moments the replay server is asked for the state of the round too: it folds it anew."""


class Output(NamedTuple):
    """Something that left the station; `channel` says by which way."""

    channel: str
    raw: bytes


Moment = list[Output]
"""What left the station between two rests, in order."""


class _Ear:
    """Stands in the place of a PUB socket."""

    def __init__(self, channel: str, hear: Callable[[str, bytes], None]) -> None:
        self._channel = channel
        self._hear = hear

    def send(self, raw: bytes, _flags: int = 0) -> None:
        self._hear(self._channel, raw)

    def close(self, linger: int | None = None) -> None: ...


class _TappedPublisher(Publisher):
    """The publisher, with ears for sockets."""

    def __init__(self, config: StationConfig, kernel: Kernel, hear: Callable[[str, bytes], None]) -> None:
        self._hear = hear
        super().__init__(
            config.endpoints,
            source=(config.settings.table, config.environment),
            heads=kernel.envelopes.heads(),
        )

    def _bound(self, endpoint: str, *_: Any) -> zmq.Socket[bytes]:
        return _Ear(endpoint.rpartition("/")[2], self._hear)  # type: ignore[return-value]


class _LogEar(logging.Handler):
    def __init__(self, hear: Callable[[str, bytes], None], folder: str) -> None:
        super().__init__(logging.NOTSET)
        self._hear = hear
        self._folder = folder
        self.setFormatter(JsonLines())

    def emit(self, record: logging.LogRecord) -> None:
        """Hear the line; wall time and the folder of this run differ from run to run."""
        line = {**json.loads(self.format(record)), "time": "then"}
        self._hear("log", json.dumps(line).replace(self._folder, "folder").encode())


class _PagesEar:
    """Stands in the place of the pages: hears what each of them would be pushed after every step."""

    def __init__(self, station: Station, hear: Callable[[str, bytes], None]) -> None:
        self._hear = hear
        outbox = JournalOutbox(station.config.table_dir, lambda: station.journal)
        told = last_round(outbox, station.config.settings.table)
        self._board = Board(told, draw(station.table_state))
        self._push()

    def show(self, picture: Picture, messages: Sequence[bytes]) -> None:
        """Take a step."""
        self._board.take(picture, messages)
        self._push()
        if messages:
            told = self._board.snapshot
            shown = frames.Showing(picture.at_us, told.seq, overlay_view(told))
            self._hear("page.overlay", frames.encode(shown))

    def close(self) -> None: ...

    def _push(self) -> None:
        board = self._board
        for view in VIEWS.values():
            shown = frames.Showing(board.picture.at_us, board.moment, view.build(board, view.role))
            self._hear(f"page.{view.name}", frames.encode(shown))


class Witness:
    """Drives a tape into a station of its own and hears what it says. `moments` is all of it, in order."""

    def __init__(self, config: StationConfig, tape: Tape) -> None:
        self.moments: list[Moment] = []
        self._heard: Moment = []
        self._link = KeyedLink(config, lambda config, kernel: _TappedPublisher(config, kernel, self._hear))
        self._station: Station | None = None
        self._archives: list[Archive] = []
        ear = _LogEar(self._hear, str(config.run_dir.parent))
        root = logging.getLogger()
        level = root.level
        root.addHandler(ear)
        root.setLevel(logging.INFO)  # As the daemon sets it (controller.station.log).
        try:
            Driver(self._link, self._moment).run(tape)
        finally:
            root.removeHandler(ear)
            root.setLevel(level)

    def _hear(self, channel: str, raw: bytes) -> None:
        self._heard.append(Output(channel, HASHED.sub(rb'"\1":"' + MASK + b'"', raw)))

    def _moment(self, answer: Answer | None) -> None:
        station = self._link.station
        assert station is not None
        if answer is not None:
            self._hear("answer", encode(answer))
        station.beat()
        self._hear("due", str(station.next_due_us()).encode())
        self._hear("metrics", CREATED.sub(b"", station.metrics.text()))
        for audience, archive in zip(AUDIENCES, self._archives_of(station), strict=True):
            run_now(archive.refresh())
            self._hear(f"snapshot.{audience}", encode_snapshot(archive.snapshot))
            roundid = archive.snapshot.roundid
            if roundid is not None and len(self.moments) % STATES_EVERY == 0:
                self._hear(f"state.{audience}", encode_snapshot(run_now(archive.state_of(roundid))))
        self.moments.append(self._heard)
        self._heard = []

    def _archives_of(self, station: Station) -> list[Archive]:
        if station is not self._station:
            self._station = station
            station.pages = _PagesEar(station, self._hear)  # type: ignore[assignment]
            table = station.config.settings.table
            starts = [Snapshot(table=table, audience=audience) for audience in AUDIENCES]
            outbox = JournalOutbox(station.config.table_dir, lambda: station.journal)
            self._archives = [Archive(outbox, start) for start in starts]
        return self._archives

    def messages(self, audience: str) -> list[tuple[int, dict[str, Any]]]:
        """Return an audience's messages as (number of the moment, JSON)."""
        return [
            (index, json.loads(output.raw))
            for index, moment in enumerate(self.moments)
            for output in moment
            if output.channel == f"live.{audience}" and not output.raw.startswith(b'{"alive"')
        ]
