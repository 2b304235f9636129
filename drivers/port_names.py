"""Names of ports that stay the same when a device is plugged in again, and what they stand for now.

- a path, best one under `/dev/serial/by-id/`;
- `usb:VID:PID:SERIAL` (hex, hex, the device's serial number), `usb:VID:PID@LOCATION` for one without a serial
  number (the socket it is plugged into), `usb:VID:PID` where there is one such device;
- `socket://HOST:PORT`, a serial line behind a device server.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec

USB, SOCKET = "usb:", "socket:"
_USB_NAME = re.compile(r"usb:([0-9a-fA-F]{4}):([0-9a-fA-F]{4})(?::(?P<serial>.+)|@(?P<location>.+))?")
FORMS = "a path, usb:VID:PID:SERIAL, usb:VID:PID@LOCATION or socket://HOST:PORT (`tablectl ports` lists them)"


class FoundPort(msgspec.Struct, frozen=True, kw_only=True):
    """A serial port of this machine. Without `usb` (VID and PID) it is no USB device."""

    node: str
    usb: tuple[int, int] | None = None
    serial_number: str | None = None
    location: str | None = None
    description: str = ""
    links: tuple[str, ...] = ()
    """Its names under `/dev/serial/by-id`."""


def is_socket(name: str) -> bool:
    """Tell whether `name` is reached over the network."""
    return name.startswith(SOCKET)


def check_name(name: str) -> None:
    """Raise ValueError for a name that no port can have. A path may be anything but empty, without NUL."""
    if name.startswith(USB) and _USB_NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r}: expected usb:VID:PID with four hex digits each; give {FORMS}")
    if is_socket(name):
        try:
            parts = urlsplit(name)
            rest = parts.path or parts.query or parts.fragment or parts.username is not None
            whole = name.startswith("socket://") and parts.hostname and parts.port and not rest
        except ValueError:
            whole = False
        if not whole:
            raise ValueError(f"{name!r}: expected socket://HOST:PORT")
    if not name or "\0" in name:
        raise ValueError(f"{name!r}: expected a port; give {FORMS}")


def find_node(name: str, found: Sequence[FoundPort]) -> str:
    """Return the node that a `usb:` name stands for among the ports that are there now.

    Raises FileNotFoundError when there is none, and OSError (ENOTUNIQ) when there are several.
    """
    matching = [port.node for port in found if _fits(name, port)]
    if not matching:
        raise FileNotFoundError(errno.ENOENT, "no such device is plugged in")
    if len(matching) > 1:
        nodes = ", ".join(sorted(matching))
        raise OSError(errno.ENOTUNIQ, f"{len(matching)} devices have this name: {nodes}")
    return matching[0]


def _fits(name: str, port: FoundPort) -> bool:
    match = _USB_NAME.fullmatch(name)
    if match is None or port.usb != (int(match[1], 16), int(match[2], 16)):
        return False
    if match["location"] is not None:
        return port.location == match["location"]
    return match["serial"] in (None, port.serial_number)


def stable_name(port: FoundPort, found: Sequence[FoundPort]) -> str:
    """Return the name to write into a table's file: the shortest one that no other port of `found` has.

    A port that is no USB device has its node for a name.
    """
    if port.usb is None:
        return port.node
    usb = f"{USB}{port.usb[0]:04x}:{port.usb[1]:04x}"
    names = [f"{usb}:{port.serial_number}"] if port.serial_number else []
    names += [f"{usb}@{port.location}"] if port.location else []
    own = [name for name in names if sum(_fits(name, other) for other in found) == 1]
    return next(iter((*own, *port.links)), port.node)
