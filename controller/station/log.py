"""Structured logs: one JSON object a line on standard error. No card and no code is ever logged."""

from __future__ import annotations

import logging
import sys
import traceback
from datetime import UTC, datetime
from types import TracebackType

import msgspec

from controller.bus.errors import BusError
from controller.journal import JournalError
from controller.station.errors import StationError

ENVIRONMENT_FAULTS = (StationError, JournalError, BusError, OSError)
"""Errors whose text is written for people. That of a bug may name a card that lies face down."""


class JsonLines(logging.Formatter):
    """Formats a record as one JSON object; what is passed as `extra={"facts": {...}}` becomes members."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "where": record.name,
            "what": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["exception"] = trace(record.exc_info[1])
        return msgspec.json.encode(line).decode()


def trace(error: BaseException) -> str:
    """Return where `error` came from and what caused it; of a bug its kind alone, without its text."""
    lines: list[str] = []
    current: BaseException | None = error
    while current is not None:
        text = f": {current}" if isinstance(current, ENVIRONMENT_FAULTS) else ""
        lines += [*traceback.format_tb(current.__traceback__), f"{type(current).__name__}{text}\n"]
        if isinstance(current, BaseExceptionGroup):
            lines += [trace(inner) for inner in current.exceptions]
        current = current.__cause__ or current.__context__
    return "".join(lines)


def _stopped(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """Log what ends the process, in place of Python's own report, which has its text."""
    if isinstance(error, KeyboardInterrupt):
        sys.__excepthook__(kind, error, where)
        return
    logging.getLogger("station").critical("the process stops", exc_info=(kind, error, where))


def set_up(level: int = logging.INFO) -> None:
    """Send all logs of this process to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    sys.excepthook = _stopped
