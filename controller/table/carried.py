"""The `carried` record: all that a table takes from one round to the next.

Written at every round boundary, in the transaction of the step that reaches it. Recovery is this record
and the inputs after it, through the same code.
"""

from __future__ import annotations

import msgspec

from controller.table.charts import Phase
from controller.table.state import RequestAnswer, TableState

VERSION = 1


class Carried(msgspec.Struct, frozen=True, kw_only=True):
    """The table between two rounds; `now` is the time of the input that reached the boundary."""

    version: int
    phase: Phase
    epoch: int
    program: str
    rules: str
    now: int
    round_no: int
    incidents_count: int
    timers_count: int
    requests: dict[str, RequestAnswer]
    scanners_up: tuple[str, ...]
    devices: dict[str, str] = {}
    strange_devices: dict[str, str] = {}
    quarantined: tuple[str, ...] = ()
    disk_free_mb: int | None = None


def encode(t: TableState) -> bytes | None:
    """Return the record, or None while a round is open."""
    if t.round is not None:
        return None
    assert not t.incidents and not t.deadlines and not t.deck_suspect
    record = Carried(
        version=VERSION,
        phase=t.phase,
        epoch=t.epoch,
        program=t.program,
        rules=t.rules,
        now=t.now,
        round_no=t.round_no,
        incidents_count=t.incidents_count,
        timers_count=t.timers_count,
        requests=t.requests,
        scanners_up=tuple(sorted(t.scanners_up)),
        devices=t.devices,
        strange_devices=t.strange_devices,
        quarantined=tuple(sorted(t.quarantined)),
        disk_free_mb=t.disk_free_mb,
    )
    return msgspec.json.encode(record, order="deterministic")


def restore(t: TableState, raw: bytes) -> None:
    """Set a fresh table to what `raw` says. Raises msgspec.ValidationError for anything else."""
    record = msgspec.json.decode(raw, type=Carried)
    if record.version != VERSION:
        raise msgspec.ValidationError(f"carried record of version {record.version}, expected {VERSION}")
    t.phase = record.phase
    t.epoch, t.program, t.rules, t.now = record.epoch, record.program, record.rules, record.now
    t.round_no = record.round_no
    t.incidents_count = record.incidents_count
    t.timers_count = record.timers_count
    t.requests = dict(record.requests)
    t.scanners_up = set(record.scanners_up)
    t.devices, t.strange_devices = dict(record.devices), dict(record.strange_devices)
    t.quarantined, t.disk_free_mb = frozenset(record.quarantined), record.disk_free_mb
