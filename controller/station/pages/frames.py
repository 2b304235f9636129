"""What travels between a page and the daemon: JSON frames, told apart by `frame`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import msgspec

from controller.bus.wire import Text
from controller.station.pages.views import Hall
from controller.table.inputs import AnyCommand

FRAME_BYTES_MAX = 8_192
"""What a page may send at once; the longest press, a correction with all its cards, is a third of it."""


class Refused(StrEnum):
    """Why the pages themselves refuse a press. Those of the table are `Refusal`, of the bus `Reason`."""

    PRESSED_LATE = "PRESSED_LATE"
    """It took too long to get here; it is dropped, not done now."""
    TABLE_MOVED_ON = "TABLE_MOVED_ON"
    """It was pressed on another moment than the table is in."""
    TOO_MANY = "TOO_MANY"
    """This page waits for answers already."""
    NOT_FROM_HERE = "NOT_FROM_HERE"
    """No press of a page, such as a log-in or a fact of the betting system."""
    NO_SHOE = "NO_SHOE"
    """No simulated shoe deals at this table."""


class Welcome(msgspec.Struct, frozen=True, tag_field="frame", tag="welcome"):
    """The first frame: who is logged in, and the house."""

    at_us: int
    actor: str
    name: str
    role: str
    hall: Hall


class Showing(msgspec.Struct, frozen=True, tag_field="frame", tag="view"):
    """The newest picture, whole. A page that is slow gets fewer of them, never an old one later."""

    at_us: int
    moment: int
    view: Any


class Beat(msgspec.Struct, frozen=True, tag_field="frame", tag="beat"):
    """The table lives, and nothing has changed. A page that hears nothing for a while covers itself."""

    at_us: int


class Answered(msgspec.Struct, frozen=True, tag_field="frame", tag="answer", omit_defaults=True):
    """Whether a press was taken."""

    request: str
    accepted: bool
    reason: str | None = None


class Over(msgspec.Struct, frozen=True, tag_field="frame", tag="over"):
    """The session has ended; the connection is closed behind this."""

    reason: str


class Press(msgspec.Struct, frozen=True, tag_field="frame", tag="press", forbid_unknown_fields=True):
    """A button was pressed, on the picture of `moment` in round `round_no`. After `until_us` it is void."""

    request: Text
    moment: Annotated[int, msgspec.Meta(ge=0)]
    round_no: Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
    until_us: int
    command: AnyCommand


class Draw(msgspec.Struct, frozen=True, tag_field="frame", tag="draw", forbid_unknown_fields=True):
    """The person at the page draws the next card from a simulated shoe."""

    request: Text
    moment: Annotated[int, msgspec.Meta(ge=0)]
    until_us: int


_DECODER: msgspec.json.Decoder[Press | Draw] = msgspec.json.Decoder(Press | Draw)
_ENCODER = msgspec.json.Encoder(order="deterministic")


def encode(frame: msgspec.Struct) -> bytes:
    """Return a frame as it is sent."""
    return _ENCODER.encode(frame)


def decode(raw: str) -> Press | Draw:
    """Read what a page has sent. Raises msgspec.MsgspecError or UnicodeError for anything else."""
    return _DECODER.decode(raw)
