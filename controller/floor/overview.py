"""Many tables from their streams: what the public was told, folded from the last result or round on.

It only reads, and leaves nothing on the server. No incident and no halt outlasts the opening of a round, so
nothing that is shown here comes from before its last result.
"""

from __future__ import annotations

import re

from nats.js import JetStreamContext
from nats.js.api import RawStreamMsg
from nats.js.errors import NotFoundError

from controller.bus.endpoints import NAME
from controller.bus.envelope import decode
from controller.bus.errors import ChainBroken, MalformedMessage
from controller.bus.snapshot import Snapshot, apply
from controller.floor.streams import stream_name
from controller.table.events import Audience

PUBLIC = Audience.PUBLIC
_STREAM = re.compile(rf"tables-(?P<table>{NAME.pattern})-{PUBLIC}")


class TableStream:
    """One table's public stream. `snapshot` is None while it holds nothing."""

    def __init__(self, jetstream: JetStreamContext, table: str) -> None:
        self._jetstream = jetstream
        self._name = stream_name(table, PUBLIC)
        self._sequence = 0
        self.table = table
        self.snapshot: Snapshot | None = None
        self.broken: str | None = None
        """What is wrong with the stream; then `snapshot` stays as it was before."""

    async def follow(self, last: int) -> None:
        """Take what is new up to stream sequence `last`. Raises what `nats_server.AWAY` says."""
        if self.broken is not None:
            return
        if last < self._sequence:
            self.snapshot = None  # The stream has been made anew.
        try:
            if self.snapshot is None and last > 0:
                await self._begin()
                last = max(last, self._sequence + 1)
            while self.snapshot is not None and self._sequence < last:
                self._take(await self._jetstream.get_msg(self._name, self._sequence + 1))
        except NotFoundError:
            self.snapshot = (
                None  # It has been deleted, or cut short, meanwhile: begin anew with the next look.
            )
        except (ChainBroken, MalformedMessage) as error:
            self.broken = str(error)

    async def _begin(self) -> None:
        """Go to the opening of the last round, or to the result before it while it has none itself."""
        opened, *ends = [await self._last(f"round.{kind}") for kind in ("opened", "confirmed", "cancelled")]
        ended = max(filter(None, ends), key=_sequence, default=None)
        start = min(filter(None, (opened, ended)), key=_sequence, default=None)
        if opened is None or start is None:
            start = await self._jetstream.get_msg(self._name, seq=1, subject=">", next=True)
        envelope = decode(start.data or b"")
        self.snapshot = Snapshot(
            table=self.table, audience=PUBLIC, seq=envelope.seq - 1, hash=envelope.prevhash
        )
        self._sequence = _sequence(start) - 1

    async def _last(self, family: str) -> RawStreamMsg | None:
        try:
            return await self._jetstream.get_last_msg(self._name, f"tables.{self.table}.{PUBLIC}.{family}")
        except NotFoundError:
            return None

    def _take(self, message: RawStreamMsg) -> None:
        assert self.snapshot is not None, "begun before"
        self.snapshot = apply(self.snapshot, message.data or b"")
        self._sequence = _sequence(message)


class Floor:
    """All tables of one server, as long as one connection lasts."""

    def __init__(self, jetstream: JetStreamContext) -> None:
        self._jetstream = jetstream
        self._tables: dict[str, TableStream] = {}

    async def look(self) -> list[TableStream]:
        """Return all tables by name, as they are now. Raises what `nats_server.AWAY` says."""
        ends = await self._ends()
        self._tables = {
            table: self._tables.get(table) or TableStream(self._jetstream, table) for table in sorted(ends)
        }
        for table, stream in self._tables.items():
            await stream.follow(ends[table])
        return list(self._tables.values())

    async def _ends(self) -> dict[str, int]:
        """Return the last stream sequence of each table's public stream."""
        ends: dict[str, int] = {}
        offset = 0
        while page := await self._jetstream.streams_info(offset):
            offset += len(page)
            for info in page:
                named = _STREAM.fullmatch(info.config.name or "")
                if named is not None:
                    ends[named["table"]] = info.state.last_seq
        return ends


def _sequence(message: RawStreamMsg) -> int:
    return message.seq or 0
