"""Retention: gaming days that are older than the table's file says are removed, and the log says so first.

Removed with a day are its journal, with the signatures in it, and the recordings that ended before what is
kept begins. The open day and the one before stay always: a start reads both.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import date
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from controller.journal import Days, JournalError, Reader
from controller.journal.files import sync_folder
from controller.station.config import StationConfig
from controller.station.errors import StationError
from controller.station.evidence_log import DayRemoved, EvidenceLog
from controller.station.start import gaming_day

SIDE_FILES = ("", "-wal", "-shm", ".lock")
CHUNK_BYTES = 1 << 20


log = logging.getLogger("station")


def apply_retention(config: StationConfig, now_us: int) -> bool:
    """Remove what is beyond retention; return whether anything was.

    A table does not stop for what it can't remove: the log says so, and the next day tries again.
    """
    try:
        removed = remove_old_days(config, now_us)
    except (StationError, JournalError, OSError) as error:
        log.error("old days are not removed", extra={"facts": {"reason": str(error)}})
        return False
    if removed:
        log.info("old days removed", extra={"facts": {"journals": ", ".join(removed)}})
    return bool(removed)


def remove_old_days(config: StationConfig, now_us: int) -> tuple[str, ...]:
    """Remove what is beyond retention; return the names of the journals removed.

    Raises EvidenceDamaged, JournalError, OSError; whatever was not removed goes at the next start or day.
    """
    kept_days = config.evidence.retention_days
    if kept_days is None:
        return ()
    paths = Days(config.table_dir).paths()
    today = gaming_day(now_us, config.day_begins_hour)
    old = [path for path in paths[:-2] if _age_days(path, today) > kept_days]
    if not old:
        return ()
    evidence = EvidenceLog(config.table_dir)
    noted = {entry.file for entry in evidence.read() if isinstance(entry, DayRemoved)}
    for path in old:
        # A process that died between the note and the removal has left both.
        if path.name not in noted:
            evidence.add(_note(path, now_us, kept_days))
        for ending in SIDE_FILES:
            path.with_name(path.name + ending).unlink(missing_ok=True)
    for recording in _ended_before(config.table_dir / "sessions", _begins_us(paths[len(old)])):
        recording.unlink()
    sync_folder(config.table_dir)
    return tuple(path.name for path in old)


def _age_days(path: Path, today: str) -> int:
    return (date.fromisoformat(today) - date.fromisoformat(path.stem)).days


def _begins_us(path: Path) -> int:
    with Reader.open(path) as reader:
        return reader.opening.at_us


def _note(path: Path, now_us: int, kept_days: int) -> DayRemoved:
    with Reader.open(path) as reader:
        ends, rounds = reader.heads(), sum(1 for _ in reader.signatures())
    hashed = sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            hashed.update(chunk)
    return DayRemoved(
        at_us=now_us,
        file=path.name,
        sha256=hashed.hexdigest(),
        retention_days=kept_days,
        rounds=rounds,
        ends=ends,
    )


def _ended_before(sessions: Path, kept_from_us: int) -> Iterator[Path]:
    """Yield recordings of which the next one begins before what is kept: `EPOCH-BEGINNING.capture`."""
    paths = sorted(sessions.glob("*-*.capture"))
    for path, following in pairwise(paths):
        if int(following.stem.split("-")[1]) <= kept_from_us:
            yield path
