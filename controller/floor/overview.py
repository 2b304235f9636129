"""Many tables from their streams: what the public was told, folded from where each one's last round opened.

It only reads, and leaves nothing on the server. What comes before the last round is asked for by subject: no
incident and no halt outlasts the opening of a round, only the last result does.
"""

from __future__ import annotations

import re

from msgspec.structs import replace
from nats.js import JetStreamContext
from nats.js.api import RawStreamMsg
from nats.js.errors import NotFoundError

from controller.bus.endpoints import NAME
from controller.bus.envelope import decode
from controller.bus.errors import ChainBroken, MalformedMessage
from controller.bus.snapshot import LastOutcome, Snapshot, apply
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
        """Go to where the last round opened, or to the first message when none is there."""
        opened = await self._last("round.opened")
        start = opened or await self._jetstream.get_msg(self._name, seq=1, subject=">", next=True)
        before = (start.seq or 1) - 1
        result = await self._result_before(before)
        self.snapshot, self._sequence = replace(_just_before(self.table, start), last=result), before

    async def _result_before(self, sequence: int) -> LastOutcome | None:
        """Return the last result up to a stream sequence, as the fold of its messages has it."""
        found = [await self._last(f"round.{end}") for end in ("confirmed", "cancelled", "corrected")]
        known = sorted((one for one in found if one is not None and (one.seq or 0) <= sequence), key=_seq)
        result = Snapshot(table=self.table, audience=PUBLIC)
        for message in known:
            at = _just_before(self.table, message)
            result = apply(replace(at, last=result.last), message.data or b"")
        return result.last

    async def _last(self, family: str) -> RawStreamMsg | None:
        try:
            return await self._jetstream.get_last_msg(self._name, f"tables.{self.table}.{PUBLIC}.{family}")
        except NotFoundError:
            return None

    def _take(self, message: RawStreamMsg) -> None:
        assert self.snapshot is not None, "begun before"
        self.snapshot = apply(self.snapshot, message.data or b"")
        self._sequence = message.seq or 0


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


def _just_before(table: str, message: RawStreamMsg) -> Snapshot:
    envelope = decode(message.data or b"")
    return Snapshot(table=table, audience=PUBLIC, seq=envelope.seq - 1, hash=envelope.prevhash)


def _seq(message: RawStreamMsg) -> int:
    return message.seq or 0
