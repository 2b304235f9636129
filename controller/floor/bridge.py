"""The bridge: one audience's messages into its JetStream stream, each once by id, in order, none missing.

A session begins with the stream's last message, asks the table for what follows it, and lets the server
take each message only behind the one before. Whatever goes wrong, the next session begins in the same way.
Two bridges of one table do no harm: one of them comes too late and begins again.
"""

from __future__ import annotations

import asyncio
import logging

import nats.errors
from nats.js.api import Header, PubAck
from nats.js.errors import BadRequestError

from controller.bus.client import AsyncSubscription, Delivery, Feed
from controller.bus.errors import BusError, EndpointRefused, ReplayRefused
from controller.floor.errors import BridgeStopped, FloorRefused
from controller.floor.nats_server import (
    AWAY,
    Address,
    Server,
    connected,
    has_no_jetstream,
    text_of,
    while_connected,
)
from controller.floor.streams import End, open_stream, stream_name, subject_of

BATCH = 200
"""Messages on their way to the server at once."""
IDLE_MS = 500
ACKNOWLEDGED_S = 10.0
PAUSE_S, PAUSE_S_MAX = 0.1, 5.0
"""Between two sessions: doubled each time, until something has been carried."""
OVERTAKEN = "the stream has grown meanwhile: another bridge carries this table, too"
OVERTAKEN_S = 1.0
WRONG_LAST = (10070, 10071)
"""JetStream: the last id, or the last sequence, is another one."""


class _Overtaken(nats.errors.Error):
    """The stream has another end than the one that was read."""


class Carrier:
    """Carries one feed. `run` is a task to supervise."""

    def __init__(self, feed: Feed, address: Address, *, from_now: bool) -> None:
        """`from_now`: an empty stream begins at the table's present, not at message 1."""
        self._feed = feed
        self._address = address
        self._from_now = from_now
        self._name = stream_name(feed.table, feed.audience)
        self._log = logging.getLogger("bridge")
        self._said: set[str] = set()
        self._table_is_silent = False
        self._pause_s = PAUSE_S
        self._has_worked = False

    async def run(self) -> None:
        """Carry for ever. Raises FloorRefused or BridgeStopped when a person must look."""
        while True:
            try:
                async with connected(self._address) as server:
                    await while_connected(server, self._session(server))
            except AWAY as error:
                self._meet(error)
            await asyncio.sleep(self._pause_s)
            self._pause_s = min(2 * self._pause_s, PAUSE_S_MAX)

    async def _session(self, server: Server) -> None:
        end = await open_stream(server.jetstream, self._feed)
        if not self._has_worked or self._said - {OVERTAKEN}:
            self._say(logging.INFO, "carrying", after=end.cursor.seq)
        self._has_worked = True
        self._said &= {OVERTAKEN}
        joins = self._from_now and end.sequence == 0
        try:
            async with AsyncSubscription(self._feed, cursor=None if joins else end.cursor) as table:
                while True:
                    batch = await self._batch(table)
                    if batch:
                        end = await self._publish(server, batch, end)
                        self._pause_s = PAUSE_S
        except EndpointRefused as error:
            raise FloorRefused(str(error)) from error
        except BusError as error:
            raise self._broken(end, error) from error

    async def _batch(self, table: AsyncSubscription) -> list[Delivery]:
        """Return what has come from the table, at most BATCH; nothing when it is silent."""
        batch: list[Delivery] = []
        delivery = await table.next(IDLE_MS)
        while delivery is not None:
            batch.append(delivery)
            delivery = await table.next(0) if len(batch) < BATCH else None
        if table.stale() != self._table_is_silent:
            self._table_is_silent = table.stale()
            text = "not been heard for 3 s; waiting for it" if self._table_is_silent else "been heard again"
            self._say(logging.WARNING, f"the table has {text}")
        return batch

    async def _publish(self, server: Server, batch: list[Delivery], end: End) -> End:
        """Return the end of the stream when the server has all of it."""
        pending: list[asyncio.Future[PubAck]] = []
        first = end.sequence + 1
        for delivery in batch:
            pending.append(await self._offer(server, delivery, end))
            end = End(end.sequence + 1, delivery.cursor, delivery.envelope.id)
        try:
            async with asyncio.timeout(ACKNOWLEDGED_S):
                stored = await asyncio.gather(*pending)
        except BadRequestError as error:
            if error.err_code in WRONG_LAST:
                raise _Overtaken from error
            raise
        if [ack.seq for ack in stored] != list(range(first, first + len(batch))):
            raise _Overtaken
        return end

    async def _offer(self, server: Server, delivery: Delivery, end: End) -> asyncio.Future[PubAck]:
        """Send one message, which the server takes behind `end` or not at all."""
        if len(delivery.raw) > server.payload_max:
            raise BridgeStopped(
                f"message {delivery.envelope.id}: {len(delivery.raw)} bytes, {self._address.text} takes "
                f"{server.payload_max}; raise max_payload there"
            )
        headers = {
            Header.MSG_ID.value: delivery.envelope.id,
            Header.EXPECTED_LAST_SEQUENCE.value: str(end.sequence),
        }
        if end.id is not None:
            headers[Header.EXPECTED_LAST_MSG_ID.value] = end.id
        subject = subject_of(delivery.envelope, self._feed.audience)
        return await server.jetstream.publish_async(subject, delivery.raw, stream=self._name, headers=headers)

    def _meet(self, error: BaseException) -> None:
        """Say what is wrong, once until it is over; of another bridge once for all. Raises FloorRefused."""
        where = self._address.text
        if isinstance(error, _Overtaken):
            self._pause_s = OVERTAKEN_S
            text = OVERTAKEN
        elif has_no_jetstream(error):
            if not self._has_worked:
                raise FloorRefused(f"{where}: the server has no JetStream; switch it on (-js)")
            text = f"{where}: JetStream does not answer; trying again"
        else:
            text = f"{where}: {text_of(error)}; trying again"
        if text not in self._said:
            self._say(logging.WARNING, text)
        self._said.add(text)

    def _broken(self, end: End, error: BusError) -> BridgeStopped:
        last = f"ends with {self._feed.table}/{self._feed.audience}/{end.cursor.seq}"
        if end.sequence == 0:
            last = "is empty"
        text = f"stream {self._name} {last}, and the table does not go on from there: {error}"
        if end.sequence == 0 and isinstance(error, ReplayRefused):
            text += "; --from-now begins the stream at the table's present"
        return BridgeStopped(text)

    def _say(self, level: int, text: str, **facts: int) -> None:
        self._log.log(level, text, extra={"facts": {"stream": self._name, **facts}})
