"""The parts of a station run side by side; one that dies ends all, with its name in the log."""

from __future__ import annotations

import asyncio
import logging

log = logging.getLogger("station")


async def named(name: str, part: object) -> None:
    """Await a part of the station; a fault goes to the log with the part's name and ends the process."""
    assert hasattr(part, "__await__")
    try:
        await part
    except asyncio.CancelledError:
        raise
    except BaseException:
        log.critical("a part of the station died", extra={"facts": {"part": name}}, exc_info=True)
        raise
