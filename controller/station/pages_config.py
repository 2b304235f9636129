"""`[pages]` of a table's file: where the pages are served, and how long a log-in lasts."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Annotated

import msgspec

from controller.station.errors import ConfigError

HOST = re.compile(r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$")


class PagesFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The section; a table without one has no pages.

    `hosts` are the names by which a reverse proxy on this machine asks, such as `rp1.studio.example`.
    `overlay_delay_ms` is how far the video is behind the table.
    """

    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)]
    address: str = "127.0.0.1"
    hosts: tuple[str, ...] = ()
    idle_minutes: Annotated[int, msgspec.Meta(ge=1, le=1_440)] = 30
    session_hours: Annotated[int, msgspec.Meta(ge=1, le=24)] = 12
    overlay_delay_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = 0


def check_pages(path: Path, pages: PagesFile | None) -> PagesFile | None:
    """Return the section of the table file `path` if it can be served. Raises ConfigError."""
    if pages is None:
        return None
    try:
        is_local = ipaddress.ip_address(pages.address).is_loopback
    except ValueError:
        is_local = False
    if not is_local:
        raise ConfigError(
            f"{path}: pages.address: got {pages.address!r}, expected a loopback address such as 127.0.0.1; "
            "another machine comes in by a reverse proxy with TLS, whose name stands under pages.hosts"
        )
    for host in pages.hosts:
        if HOST.match(host) is None:
            raise ConfigError(
                f"{path}: pages.hosts: got {host!r}, expected a name in lower case, with a port if it is "
                "not 443, such as rp1.studio.example"
            )
    return pages
