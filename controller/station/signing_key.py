"""The table's signing key: drawn once, then never another one without anybody saying so.

The log of evidence names the key. A start with another one, or without any, refuses: signatures would change
hands in silence. A person begins a new key with `tablectl key CONFIG --new --by NAME --reason WHY`.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from controller.journal import Days, WriterLock
from controller.journal.signing import KeyUnusable, Signer, create_key, load_key
from controller.station.config import StationConfig
from controller.station.errors import StartRefused
from controller.station.evidence_log import EvidenceLog, KeyBegun

NEW = "tablectl key CONFIG --new --by NAME --reason WHY"


def open_key(config: StationConfig, now_us: int) -> Signer:
    """Return the table's key for a start; draw it at the very first. Raises StartRefused, KeyUnusable."""
    path, log = config.evidence.key, EvidenceLog(config.table_dir)
    if log.public_key() is not None:
        return load_known(path, log)
    # A key without an entry: the process died between the two, or the log was kept aside.
    signer = load_key(path) if path.exists() else create_key(path)
    log.add(KeyBegun(at_us=now_us, public_key=signer.public_key))
    return signer


def load_known(path: Path, log: EvidenceLog) -> Signer:
    """Return the key at `path` if it is the one that the log names. Raises StartRefused."""
    known = log.public_key()
    if known is None:
        raise StartRefused(f"{log.path}: names no key yet; the table's first start draws one: tablectl run")
    try:
        signer = load_key(path)
    except KeyUnusable as error:
        raise StartRefused(f"{error}; put its safe copy back, or begin another: {NEW}") from None
    if signer.public_key != known:
        raise StartRefused(
            f"{path}: holds the key {signer.public_key[:16]}..., expected {known[:16]}..., which {log.path} "
            f"names; put that key back, or begin another: {NEW}"
        )
    return signer


def begin_key(config: StationConfig, now_us: int, *, by: str, reason: str) -> Signer:
    """Draw another key and keep the old file beside it; the table must not be running.

    Raises JournalInUse, KeyUnusable, EvidenceDamaged.
    """
    path, log = config.evidence.key, EvidenceLog(config.table_dir)
    with ExitStack() as stack:
        for newest in Days(config.table_dir).paths()[-1:]:
            stack.callback(WriterLock(newest).release)
        if path.exists():
            path.rename(path.with_name(f"{path.stem}.{now_us}{path.suffix}"))
        signer = create_key(path)
        log.add(KeyBegun(at_us=now_us, public_key=signer.public_key, by=by, reason=reason))
    return signer
