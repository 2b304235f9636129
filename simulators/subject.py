"""The shipped wallet and overlay as subjects of the conformance kit: `python -m simulators.subject wallet`.

An example to copy: everything here is what a consumer of any make has to bring along to be tested.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import msgspec

from controller.bus.client import AsyncSubscription, Delivery, Feed
from controller.bus.envelope import Environment
from controller.bus.errors import BusError
from controller.bus.gap_keeper import Cursor
from controller.bus.lease import Lease
from controller.bus.snapshot import Snapshot
from controller.games.published import Wager
from controller.games.settlement import LayoutSlip
from controller.table import events
from controller.table.events import Audience
from simulators.overlay import Overlay
from simulators.wallet import Bet, Wallet, WalletStopped

Fields = Mapping[str, Any]
POLL_MS = 100


class Consumer(Protocol):
    """What stands behind the bus, and answers the kit."""

    @property
    def cursor(self) -> Cursor | None:
        """Where to go on; None to join at the snapshot."""
        ...

    def joined(self, snapshot: Snapshot) -> None:
        """Start from the snapshot that was joined at."""
        ...

    def heard(self, delivery: Delivery) -> None:
        """Act on a message. Raises BusError or WalletStopped."""
        ...

    def answer(self, request: str, fields: Fields, *, fresh: bool) -> dict[str, Any]:
        """Answer a request about the books; `fresh` is neither stale nor behind."""
        ...

    def close(self) -> None:
        """Let go of the books."""
        ...


class WalletSubject:
    """The wallet of one table, with the betting system's lease and slips beside it."""

    def __init__(self, folder: Path, feed: Feed) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._wallet = Wallet(folder / "books.db", table=feed.table, environment=feed.environment)
        self._lease = Lease()
        for roundid in self._wallet.waiting():
            self._hand_over_slips(roundid)  # Ended between a result and its slips.

    @property
    def cursor(self) -> Cursor | None:
        """After the last message that was booked; before the first one in new books."""
        return Cursor(*self._wallet.cursor) if self._wallet.cursor else Cursor()

    def joined(self, snapshot: Snapshot) -> None:
        """A wallet has a cursor from its first day on and never joins at a snapshot."""
        raise AssertionError(snapshot.seq)

    def heard(self, delivery: Delivery) -> None:
        """Book the message, effect and cursor in one transaction, and move the lease."""
        self._wallet.heard(delivery.raw, 0)
        event = delivery.event()
        self._lease.heard(event, wall_us=_wall_us(), monotonic_us=_monotonic_us())
        if isinstance(event, events.RoundConfirmed):
            self._hand_over_slips(delivery.envelope.roundid or "")

    def answer(self, request: str, fields: Fields, *, fresh: bool) -> dict[str, Any]:
        """Move money, or tell what the books say."""
        match request:
            case "deposit":
                self._wallet.deposit(fields["player"], fields["amount"], fields["reference"])
                return {}
            case "debit":
                return {"accepted": self._wallet.debit(_bet(fields), fields["amount"]).accepted}
            case "withdraw":
                return {"accepted": self._wallet.withdraw(_bet(fields))}
            case "balance":
                player = fields["player"]
                return {"balance": self._wallet.balance(player), "claim": self._wallet.claim(player)}
            case "betting":
                open_now = self._lease.is_open(wall_us=_wall_us(), monotonic_us=_monotonic_us())
                return {"open": open_now and fresh}
            case _:
                return {"error": f"a wallet can not {request}"}

    def close(self) -> None:
        """Close the books."""
        self._wallet.close()

    def _hand_over_slips(self, roundid: str) -> None:
        """Nobody chooses anything in this game: a slip is what was debited."""
        slips: dict[str, dict[Wager, int]] = {}
        boxes: dict[str, str] = {}
        for key, stake in self._wallet.stakes(roundid).items():
            player, box, wager = key.split("/")
            slips.setdefault(player, {})[Wager(wager)] = stake
            boxes[player] = box
        self._wallet.close_slips(
            roundid, {player: (LayoutSlip(boxes[player], stakes),) for player, stakes in slips.items()}
        )


class OverlaySubject:
    """The overlay of one table. It keeps nothing, and starts from the snapshot."""

    cursor = None

    def __init__(self, _folder: Path, feed: Feed) -> None:
        self._overlay = Overlay(table=feed.table)

    def joined(self, snapshot: Snapshot) -> None:
        """Show what lies there already."""
        self._overlay.start_from(snapshot)

    def heard(self, delivery: Delivery) -> None:
        """Show the message."""
        self._overlay.heard(delivery.raw, 0)

    def answer(self, request: str, fields: Fields, *, fresh: bool) -> dict[str, Any]:
        """Tell what is shown."""
        if request != "shown":
            return {"error": f"an overlay can not {request}"}
        shown = self._overlay.snapshot
        last = shown.last if shown.last and shown.last.roundid == shown.roundid else None
        return {
            "roundno": shown.round_no,
            "phase": shown.phase,
            "places": {
                place: [laid.card for laid in cards] for place, cards in shown.places.items() if cards
            },
            "burned": shown.burned,
            "incident": shown.incident.prompt if shown.incident else None,
            "cancelled": last.cancelled if last else None,
            "rev": last.rev if last else 0,
            "stale": not fresh,
        }

    def close(self) -> None:
        """Nothing is kept."""


KINDS: Mapping[str, Callable[[Path, Feed], Consumer]] = {
    "wallet": WalletSubject,
    "overlay": OverlaySubject,
}


class Desk:
    """Where the kit's requests arrive, and the bus's messages."""

    def __init__(self, kind: Callable[[Path, Feed], Consumer]) -> None:
        self._kind = kind
        self._consumer: Consumer | None = None
        self._subscription: AsyncSubscription | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopped: str | None = None
        self._seq = 0

    async def answer(self, line: bytes) -> dict[str, Any]:
        """Answer one request."""
        fields = msgspec.json.decode(line, type=dict[str, Any])
        request = fields["do"]
        if request == "start":
            await self._start(fields)
            return {}
        if self._consumer is None:
            return {"error": f"{request} before start"}
        if request == "where":
            state = "running" if self._stopped is None else "stopped"
            return {"seq": self._seq, "state": state, "why": self._stopped}
        return self._consumer.answer(request, fields, fresh=self._is_fresh())

    async def _start(self, fields: Fields) -> None:
        await self._leave()
        feed = Feed(
            live=fields["live"],
            replay=fields["replay"],
            table=fields["table"],
            audience=Audience(fields["audience"]),
            environment=Environment(fields["environment"]),
        )
        self._consumer = self._kind(Path(fields["folder"]), feed)
        self._stopped, self._seq = None, self._consumer.cursor.seq if self._consumer.cursor else 0
        self._subscription = AsyncSubscription(feed, cursor=self._consumer.cursor)
        self._task = asyncio.create_task(self._consume(self._consumer, self._subscription))

    async def _leave(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._consumer is not None:
            self._consumer.close()

    async def _consume(self, consumer: Consumer, subscription: AsyncSubscription) -> None:
        """Act on the feed until something is wrong with it; then a person must look."""
        joined = consumer.cursor is not None
        try:
            async with subscription:
                while True:
                    delivery = await subscription.next(POLL_MS)
                    if not joined and subscription.snapshot is not None:
                        joined = True
                        consumer.joined(subscription.snapshot)
                        self._seq = subscription.snapshot.seq
                    if delivery is not None:
                        consumer.heard(delivery)
                        self._seq = delivery.cursor.seq
        except (BusError, WalletStopped) as fault:
            self._stopped = str(fault)

    def _is_fresh(self) -> bool:
        subscription = self._subscription
        if subscription is None or self._stopped is not None:
            return False
        return not subscription.stale() and not subscription.behind()


def _bet(fields: Fields) -> Bet:
    return Bet(fields["roundid"], fields["player"], fields["box"], Wager(fields["wager"]))


def _wall_us() -> int:
    return time.time_ns() // 1_000


def _monotonic_us() -> int:
    return time.monotonic_ns() // 1_000


async def main(kind: str) -> None:
    """Answer lines of standard input until it ends."""
    desk = Desk(KINDS[kind])
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        sys.stdout.buffer.write(msgspec.json.encode(await desk.answer(line)) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    if sys.argv[1:] not in ([kind] for kind in KINDS):
        sys.exit(f"usage: python -m simulators.subject {'|'.join(KINDS)}")
    asyncio.run(main(sys.argv[1]))
