"""The overlays over the stream: public, without log-in, and they press nothing.

An overlay is sent what the public feed says, whole and newest, when that feed has said something and at no
other time: steps that the public does not hear of can't be told from silence. It says which rules it shows.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import suppress
from typing import Annotated

import msgspec
from starlette.websockets import WebSocket

from controller.station.pages import frames
from controller.station.pages.board import Board
from controller.station.pages.house import House
from controller.station.pages.links import BEAT_S, NOT_UNDERSTOOD, PACE_S, TOO_FAST, close, listening, send
from controller.station.pages.overlay_view import OverlayHall, overlay_hall, overlay_view

OVERLAYS_MAX = 16
ECHOES_A_SECOND_MAX = 5
FULL = 4503

log = logging.getLogger("station")


class OverlayWelcome(msgspec.Struct, frozen=True, tag_field="frame", tag="welcome"):
    """The first frame."""

    at_us: int
    hall: OverlayHall


class Echo(msgspec.Struct, frozen=True, tag_field="frame", tag="echo", forbid_unknown_fields=True):
    """The one thing that an overlay says: the hash of the rules of the round that it shows now."""

    rules: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{1,64}$")]


class Overlays:
    """All overlays of one table."""

    def __init__(self, house: House, board: Board, *, delay_ms: int) -> None:
        self._house = house
        self._board = board
        self._hall = overlay_hall(house.config, delay_ms)
        self._links: set[OverlayLink] = set()

    def wake(self) -> None:
        """The public feed has said something."""
        for link in self._links:
            link.wake()

    async def live(self, websocket: WebSocket) -> None:
        """Serve one overlay until either side ends it."""
        await websocket.accept()
        if len(self._links) >= OVERLAYS_MAX:
            await websocket.close(FULL)
            return
        link = OverlayLink(websocket, house=self._house, board=self._board)
        self._links.add(link)
        try:
            await link.run(self._hall)
        finally:
            self._links.discard(link)


class OverlayLink:
    """One overlay. What waits for it is one mark that there is something newer."""

    def __init__(self, websocket: WebSocket, *, house: House, board: Board) -> None:
        self._socket = websocket
        self._house = house
        self._board = board
        self._news = asyncio.Event()
        self._shown: int | None = None
        self._rules: str | None = None

    def wake(self) -> None:
        """There is something newer than what was sent."""
        self._news.set()

    async def run(self, hall: OverlayHall) -> None:
        """Serve until either side ends it."""
        async with listening(self._socket, self._hear(), self.wake) as hearing:
            await send(self._socket, OverlayWelcome(self._now_us(), hall))
            while not hearing.done():
                await self._tell()
                await asyncio.sleep(PACE_S)
                with suppress(TimeoutError):
                    async with asyncio.timeout(BEAT_S):
                        await self._news.wait()

    async def _tell(self) -> None:
        self._news.clear()
        told = self._board.snapshot
        if told.seq == self._shown:
            await send(self._socket, frames.Beat(self._now_us()))
            return
        self._shown = told.seq
        await send(self._socket, frames.Showing(self._now_us(), told.seq, overlay_view(told)))

    async def _hear(self) -> None:
        """Take echoes; anything else ends the connection."""
        loop = asyncio.get_running_loop()
        heard: deque[float] = deque(maxlen=ECHOES_A_SECOND_MAX)
        while True:
            raw = await self._socket.receive_text()
            if len(heard) == heard.maxlen and loop.time() - heard[0] < 1.0:
                await close(self._socket, TOO_FAST)
                return
            heard.append(loop.time())
            try:
                echo = _ECHOES.decode(raw)
            except (msgspec.MsgspecError, UnicodeError):
                await close(self._socket, NOT_UNDERSTOOD)
                return
            self._note(echo.rules)

    def _note(self, rules: str) -> None:
        """Write down which rules an overlay shows. It may be behind the table by the delay of its video."""
        if rules == self._rules:
            return
        self._rules = rules
        in_force = self._board.snapshot.rules
        facts = {"rules": rules, "in_force": in_force}
        if rules == in_force:
            log.info("an overlay shows the rules in force", extra={"facts": facts})
        else:
            log.warning("an overlay shows other rules than those in force", extra={"facts": facts})

    def _now_us(self) -> int:
        return self._house.clock.now_us()


_ECHOES: msgspec.json.Decoder[Echo] = msgspec.json.Decoder(Echo)
