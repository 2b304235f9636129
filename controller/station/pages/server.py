"""The web server of the pages: a part of the station, on the station's loop.

/{view}             the page
/static/...         its files, kept in memory
/texts/{language}   the table of texts
/house              what a page shows before anybody has logged in
/login/{view}  /logout/{view}
/live/{view}        the connection of a page whose person is logged in
/overlay  /live/overlay   what goes over the stream: public, without log-in
"""

from __future__ import annotations

import hashlib
import mimetypes
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from controller.bus.snapshot import Snapshot
from controller.station.errors import PagesRefused, PeopleError
from controller.station.outbox import JournalOutbox
from controller.station.pages.board import Board, last_round
from controller.station.pages.frames import FRAME_BYTES_MAX
from controller.station.pages.guard import Guard
from controller.station.pages.house import House
from controller.station.pages.links import SESSION_OVER, Link
from controller.station.pages.login import FrontDoor, LogInForm, NotIn
from controller.station.pages.overlay import Overlays
from controller.station.pages.presses import DrawCard
from controller.station.pages.sessions import Ended, Session, Sessions
from controller.station.pages.texts import LANGUAGES, table_of_texts
from controller.station.pages.views import VIEWS, View, hall
from controller.station.pages_config import PagesFile
from controller.station.people import read_people
from controller.table.picture import Picture

BODY_BYTES_MAX = 4_096
LINKS_MAX = 32
CONNECTIONS_MAX = 128
PING_S, PONG_S = 5.0, 10.0
FULL = 4503


class Asset(msgspec.Struct, frozen=True):
    """A file of the pages, in memory."""

    body: bytes
    kind: str
    tag: str


class Pages:
    """The pages of one table. `show` is told every step; `run` is a task to supervise."""

    def __init__(
        self,
        house: House,
        pages: PagesFile,
        *,
        snapshot: Snapshot,
        picture: Picture,
        draw_card: DrawCard | None = None,
    ) -> None:
        """Bind the address. Raises PagesRefused."""
        self._house = house
        self._board = Board(snapshot, picture)
        self._draw_card = draw_card
        self._sessions = Sessions(
            idle_s=pages.idle_minutes * 60, life_s=pages.session_hours * 3_600, now_s=time.monotonic
        )
        self._door = FrontDoor(house, self._sessions, now_s=time.monotonic)
        self._hall = hall(house.config, draws=draw_card is not None)
        self._links: set[Link] = set()
        self._overlays = Overlays(house, self._board, delay_ms=pages.overlay_delay_ms)
        self._assets = dict(_assets())
        self._texts = {language: msgspec.json.encode(table_of_texts(language)) for language in LANGUAGES}
        self._socket = _bound(house, pages)
        self.port: int = self._socket.getsockname()[1]
        self.app = self._application(pages)

    def show(self, picture: Picture, messages: Sequence[bytes]) -> None:
        """Take what a step has made; sending it is done later, page by page."""
        self._board.take(picture, messages)
        for link in self._links:
            link.wake()
        if messages:
            self._overlays.wake()

    async def run(self) -> None:
        """Serve until cancelled."""
        config = uvicorn.Config(
            self.app,
            ws="websockets-sansio",
            http="h11",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=CONNECTIONS_MAX,
            ws_max_size=FRAME_BYTES_MAX,
            ws_per_message_deflate=False,
            ws_ping_interval=PING_S,
            ws_ping_timeout=PONG_S,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=1,
        )
        await _Server(config).serve([self._socket])

    def close(self) -> None:
        """Free the address."""
        self._socket.close()

    # Who may.

    def _cookie(self, view: View) -> str:
        """Cookies know no ports: each table of a machine, and each page of it, has one of its own."""
        return f"tablectl_{self._hall.table}_{view.name}"

    def _session(self, connection: HTTPConnection, view: View) -> Session | Ended:
        state = self._house.table_state
        found = self._sessions.find(connection.cookies.get(self._cookie(view)), busy=state.is_round_open)
        if not isinstance(found, Session):
            return found
        is_on_duty = state.duty.role_of(found.actor) is view.role
        if found.was_on_duty and not is_on_duty:
            self._sessions.end(found.token)
            return Ended.OFF_DUTY
        found.was_on_duty = is_on_duty
        return found

    # What is served.

    def _application(self, pages: PagesFile) -> Starlette:
        hosts = {*pages.hosts, f"{pages.address}:{self.port}", f"localhost:{self.port}"}
        return Starlette(
            routes=[
                Route("/", lambda _: RedirectResponse("/dealer")),
                Route("/house", self._serve_house),
                Route("/texts/{language}", self._serve_texts),
                Route("/static/{name:path}", self._serve_asset),
                Route("/login/{view}", self._log_in, methods=["POST"]),
                Route("/logout/{view}", self._log_out, methods=["POST"]),
                WebSocketRoute("/live/overlay", self._overlays.live),
                WebSocketRoute("/live/{view}", self._live),
                Route("/overlay", self._serve_overlay),
                Route("/{view}", self._serve_page),
            ],
            middleware=[Middleware(Guard, hosts=frozenset(hosts))],
        )

    async def _serve_page(self, request: Request) -> Response:
        name = request.path_params["view"]
        return _of(self._assets.get(f"{name}.html") if name in VIEWS else None, request)

    async def _serve_overlay(self, request: Request) -> Response:
        return _of(self._assets["overlay.html"], request)

    async def _serve_asset(self, request: Request) -> Response:
        return _of(self._assets.get(request.path_params["name"]), request)

    async def _serve_texts(self, request: Request) -> Response:
        body = self._texts.get(request.path_params["language"])
        return Response(body, media_type="application/json") if body else Response(status_code=404)

    async def _serve_house(self, _request: Request) -> Response:
        """Tell what the log-in shows: the table, and the names that players may see, by role."""
        try:
            people = read_people(self._house.config.people).people
        except PeopleError:
            people = {}
        names = {
            view.name: {actor: one.name for actor, one in people.items() if view.role in one.roles}
            for view in VIEWS.values()
        }
        told = {"table": self._hall.table, "environment": self._hall.environment, "people": names}
        return JSONResponse(told)

    async def _log_in(self, request: Request) -> Response:
        view = VIEWS.get(request.path_params["view"])
        if view is None:
            return Response(status_code=404)
        body = await _small_body(request)
        try:
            form = msgspec.json.decode(body, type=LogInForm)
        except (msgspec.MsgspecError, UnicodeError):
            return Response(status_code=400)
        address = request.client.host if request.client is not None else ""
        let_in = await self._door.log_in(form, view.role, address)
        if isinstance(let_in, NotIn):
            answer = JSONResponse({"reason": let_in.reason, "wait_s": let_in.wait_s}, 403)
            if let_in.wait_s:
                answer.status_code = 429
                answer.headers["retry-after"] = str(let_in.wait_s)
            return answer
        self._sessions.end(request.cookies.get(self._cookie(view)))
        answer = JSONResponse({"actor": let_in.actor})
        is_tls = request.headers["origin"].startswith("https:")
        answer.set_cookie(
            self._cookie(view), let_in.token, httponly=True, samesite="strict", secure=is_tls, path="/"
        )
        return answer

    async def _log_out(self, request: Request) -> Response:
        view = VIEWS.get(request.path_params["view"])
        if view is None:
            return Response(status_code=404)
        self._sessions.end(request.cookies.get(self._cookie(view)))
        answer = Response(status_code=204)
        answer.delete_cookie(self._cookie(view), httponly=True, samesite="strict", path="/")
        return answer

    async def _live(self, websocket: WebSocket) -> None:
        view = VIEWS.get(websocket.path_params["view"])
        if view is None:
            await websocket.close()
            return
        session = self._session(websocket, view)
        await websocket.accept()  # Only then can the page be told why.
        if not isinstance(session, Session):
            await websocket.close(SESSION_OVER, session)
            return
        if len(self._links) >= LINKS_MAX:
            await websocket.close(FULL)
            return
        link = Link(websocket, session, view, house=self._house, board=self._board)
        self._links.add(link)

        def why_over() -> str | None:
            found = self._session(websocket, view)
            return None if isinstance(found, Session) else found.value

        try:
            await link.run(
                self._hall,
                why_over=why_over,
                seen=lambda: self._sessions.seen(session),
                draw_card=self._draw_card,
            )
        finally:
            self._links.discard(link)


def open_pages(
    house: House, outbox: JournalOutbox, picture: Picture, draw_card: DrawCard | None
) -> Pages | None:
    """Return the pages of a table, None when it has none. Raises PagesRefused."""
    pages = house.config.pages
    if pages is None:
        return None
    told = last_round(outbox, house.config.settings.table)
    return Pages(house, pages, snapshot=told, picture=picture, draw_card=draw_card)


class _Server(uvicorn.Server):
    """Signals belong to the station."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _bound(house: House, pages: PagesFile) -> socket.socket:
    family = socket.AF_INET6 if ":" in pages.address else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((pages.address, pages.port))
    except OSError as error:
        bound.close()
        raise PagesRefused(
            f"{house.config.path}: pages: {pages.address}:{pages.port} can't be served: {error.strerror}; "
            "another table of this machine may have it: each needs a port of its own"
        ) from None
    return bound


def _assets() -> Iterator[tuple[str, Asset]]:
    for item in files(__package__).joinpath("static").iterdir():
        body = item.read_bytes()
        kind = mimetypes.guess_type(item.name)[0] or "application/octet-stream"
        yield item.name, Asset(body, kind, f'"{hashlib.sha256(body).hexdigest()[:16]}"')


def _of(asset: Asset | None, request: Request) -> Response:
    if asset is None:
        return Response(status_code=404)
    headers = {"etag": asset.tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == asset.tag:
        return Response(status_code=304, headers=headers)
    return Response(asset.body, media_type=asset.kind, headers=headers)


async def _small_body(request: Request) -> bytes:
    """Read a body; of one that is too long only so much that it can't be read as JSON."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            return b""
    return body
