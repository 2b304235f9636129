"""The table's signing key at a start: drawn once, then never another one without anybody saying so.

The log of evidence names the key. A start with another one, or without any, refuses: signatures would change
hands in silence. A person begins a new key with `tablectl key CONFIG --new --by NAME --reason WHY`.
"""

from __future__ import annotations

from controller.journal.signing import KeyUnusable, Signer, create_key, load_key
from controller.station.config import StationConfig
from controller.station.errors import StartRefused
from controller.station.evidence_log import EvidenceLog, KeyBegun


def open_key(config: StationConfig, now_us: int) -> Signer:
    """Return the table's key; draw it at the very first start.

    Raises StartRefused, EvidenceDamaged, KeyUnusable.
    """
    path, log = config.evidence.key, EvidenceLog(config.table_dir)
    known = log.public_key()
    if known is None:
        # A key without an entry: the process died between the two, or the log was kept aside.
        signer = load_key(path) if path.exists() else create_key(path)
        log.add(KeyBegun(at_us=now_us, public_key=signer.public_key))
        return signer
    return load_known(config, known)


def load_known(config: StationConfig, known: str | None = None) -> Signer:
    """Return the key if it is the one that the log names. Raises StartRefused, EvidenceDamaged, KeyUnusable."""
    path, log = config.evidence.key, EvidenceLog(config.table_dir)
    known = known or log.public_key()
    try:
        signer = load_key(path)
    except KeyUnusable as error:
        raise StartRefused(f"{error}; put it back from its safe copy, or begin another: {_new(config)}") from None
    if known is not None and signer.public_key != known:
        raise StartRefused(
            f"{path}: holds the key {signer.public_key[:16]}..., expected {known[:16]}..., which {log.path} "
            f"names; put that key back, or begin another: {_new(config)}"
        )
    return signer


def begin_key(config: StationConfig, entry_at_us: int, by: str, reason: str) -> Signer:
    """Draw another key and keep the old file beside it. Raises KeyUnusable, EvidenceDamaged."""
    path, log = config.evidence.key, EvidenceLog(config.table_dir)
    if path.exists():
        path.replace(path.with_name(f"{path.stem}.{entry_at_us}{path.suffix}"))
    signer = create_key(path)
    log.add(KeyBegun(at_us=entry_at_us, public_key=signer.public_key, by=by, reason=reason))
    return signer


def _new(config: StationConfig) -> str:
    return f"tablectl key {config.path} --new --by NAME --reason WHY"
