"""One page's connection. It gets the newest picture, nothing older, and is cut when it stops reading.

What waits for a page is one mark that there is something newer, and the answers to the few presses that it
may have under way: no page can make the daemon hold more.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from controller.station.pages import frames
from controller.station.pages.board import Board
from controller.station.pages.frames import Answered, Draw, Press, Refused
from controller.station.pages.house import House
from controller.station.pages.presses import DrawCard, draw, press
from controller.station.pages.sessions import Session
from controller.station.pages.views import Hall, View

BEAT_S = 1.0
PACE_S = 0.02
"""In a flood a page gets so many pictures a second as an eye can tell apart."""
SEND_S = 3.0
"""A page that takes nothing for so long is covered by then; its connection is cut."""
UNDER_WAY_MAX = 8
FRAMES_A_SECOND_MAX = 20
SESSION_OVER, NOT_UNDERSTOOD, TOO_FAST, TOO_SLOW = 4401, 4400, 4429, 4408


class Link:
    """A page that is connected. `run` is its whole life."""

    def __init__(
        self, socket: WebSocket, session: Session, view: View, *, house: House, board: Board
    ) -> None:
        self._socket = socket
        self._session = session
        self._view = view
        self._house = house
        self._board = board
        self._news = asyncio.Event()
        self._shown = 0
        self._answers: deque[Answered] = deque()
        self._under_way = 0

    def wake(self) -> None:
        """There is something newer than what was sent."""
        self._news.set()

    async def run(
        self,
        hall: Hall,
        *,
        why_over: Callable[[], str | None],
        seen: Callable[[], None],
        draw_card: DrawCard | None,
    ) -> None:
        """Serve until either side ends it. `why_over` says once a beat whether the session has ended."""
        session = self._session
        welcome = frames.Welcome(self._now_us(), session.actor, session.name, session.role, hall)
        async with listening(self._socket, self._hear(seen, draw_card), self.wake) as hearing:
            await send(self._socket, welcome)
            while not hearing.done():
                await self._tell()  # First: a press that ends the session is answered, too.
                why = why_over()
                if why is not None:
                    await send(self._socket, frames.Over(why))
                    await close(self._socket, SESSION_OVER)
                    return
                await asyncio.sleep(PACE_S)
                with suppress(TimeoutError):
                    async with asyncio.timeout(BEAT_S):
                        await self._news.wait()

    async def _tell(self) -> None:
        """Send the answers that wait, and the newest picture if it is new; else a sign of life."""
        self._news.clear()
        had_answers = bool(self._answers)
        board = self._board
        if self._shown != board.version:
            self._shown = board.version
            view = self._view.build(board, self._view.role)
            await send(self._socket, frames.Showing(self._now_us(), board.moment, view))
        elif not had_answers:
            await send(self._socket, frames.Beat(self._now_us()))
        while self._answers:
            self._under_way -= 1
            await send(self._socket, self._answers.popleft())

    async def _hear(self, seen: Callable[[], None], draw_card: DrawCard | None) -> None:
        """Take presses; what can't be one ends the connection."""
        loop = asyncio.get_running_loop()
        heard: deque[float] = deque(maxlen=FRAMES_A_SECOND_MAX)
        while True:
            raw = await self._socket.receive_text()
            if len(heard) == heard.maxlen and loop.time() - heard[0] < 1.0:
                await close(self._socket, TOO_FAST)
                return
            heard.append(loop.time())
            try:
                pressed = frames.decode(raw)
            except (msgspec.MsgspecError, UnicodeError):
                await close(self._socket, NOT_UNDERSTOOD)
                return
            seen()
            self._take(pressed, draw_card)

    def _take(self, pressed: Press | Draw, draw_card: DrawCard | None) -> None:
        self._under_way += 1
        if self._under_way > UNDER_WAY_MAX:
            self._answer(Answered(pressed.request, False, Refused.TOO_MANY))
        elif isinstance(pressed, Draw):
            self._answer(draw(self._board, pressed, self._now_us(), draw_card))
        else:
            press(self._house, self._board, self._session, pressed, self._answer)

    def _answer(self, answered: Answered) -> None:
        self._answers.append(answered)
        self._news.set()

    def _now_us(self) -> int:
        return self._house.clock.now_us()


@asynccontextmanager
async def listening(
    socket: WebSocket, hear: Coroutine[Any, Any, None], wake: Callable[[], None]
) -> AsyncIterator[asyncio.Task[None]]:
    """Hear a page while it is told things; `wake` is called when it says no more. A slow one is cut."""
    hearing = asyncio.create_task(hear)
    hearing.add_done_callback(lambda _: wake())
    try:
        yield hearing
    except TimeoutError:
        await close(socket, TOO_SLOW)
    except WebSocketDisconnect:
        pass
    finally:
        hearing.cancel()
        with suppress(asyncio.CancelledError, WebSocketDisconnect):
            await hearing


async def send(socket: WebSocket, frame: msgspec.Struct) -> None:
    """Send a frame. Raises TimeoutError when the page takes nothing for too long."""
    async with asyncio.timeout(SEND_S):
        await socket.send_text(frames.encode(frame).decode())


async def close(socket: WebSocket, code: int) -> None:
    """End a connection that may have ended already."""
    with suppress(RuntimeError, TimeoutError, WebSocketDisconnect):
        async with asyncio.timeout(SEND_S):
            if socket.application_state is WebSocketState.CONNECTED:
                await socket.close(code)
