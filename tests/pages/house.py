"""A table with its pages, in this process: what a browser would send goes to the real station and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
from starlette.testclient import TestClient, WebSocketTestSession
from station.recorded import Session, write_config

from controller.bus.commands import Reply
from controller.bus.wire import CommandRequest
from controller.station.config import StationConfig
from controller.station.outbox import JournalOutbox
from controller.station.pages.board import last_round
from controller.station.pages.server import Pages
from controller.table.picture import draw
from controller.table.state import TableState
from simulators.cast import PINS

HOST = "localhost"


class House:
    """The station of a recorded session, which works at once; its pages without a socket of their own."""

    def __init__(self, folder: Path, **changed: str) -> None:
        self.session = Session(write_config(folder, **changed))
        self.config: StationConfig = self.session.config
        self.clock = self.session.clock
        assert self.config.pages is not None
        outbox = JournalOutbox(self.config.table_dir, lambda: self.session.station.journal)
        told = last_round(outbox, self.config.settings.table)
        self.pages = Pages(self, self.config.pages, snapshot=told, picture=draw(self.table_state))
        self.session.station.pages = self.pages
        self.taken: list[CommandRequest] = []

    @property
    def table_state(self) -> TableState:
        return self.session.station.table_state

    def submit(self, endpoint: str, request: CommandRequest, reply: Reply) -> bool:
        self.taken.append(request)
        self.clock.us += 1_000
        taken = self.session.station.submit(endpoint, request, reply)
        self.session.station.work()
        return taken

    def client(self, **headers: str) -> TestClient:
        """A browser that asks by our own name."""
        base = f"http://{HOST}:{self.pages.port}"
        return TestClient(self.pages.app, base_url=base, headers={"origin": base, **headers})

    def close(self) -> None:
        self.session.stop()


def log_in(client: TestClient, actor: str = "anna", **form: str) -> Any:
    """Knock at the dealer's page."""
    sent = form or {"pin": PINS[actor]}
    body = sent if "badge" in sent else {"actor": actor, **sent}
    return client.post("/login/dealer", json=body)


def live(client: TestClient) -> WebSocketTestSession:
    """Connect as a page does, which names the host that it was loaded from."""
    return client.websocket_connect(f"ws://{client.base_url.netloc.decode()}/live/dealer")


def heard(socket: WebSocketTestSession, kind: str) -> Any:
    """Return the next frame of this kind."""
    while True:
        frame = json.loads(socket.receive_text())
        if frame["frame"] == kind:
            return frame


def press(house: House, shown: Any, command: dict[str, Any], request: str = "p1", **changed: Any) -> str:
    """Spell a press on the picture that was shown."""
    told = {
        "frame": "press",
        "request": request,
        "moment": shown["moment"],
        "round_no": shown["view"]["picture"]["round_no"],
        "until_us": house.clock.us + 1_500_000,
        "command": command,
        **changed,
    }
    return msgspec.json.encode(told).decode()
