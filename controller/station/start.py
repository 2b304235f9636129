"""A start: open the journal, take its inputs again, and begin an epoch and a recording."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import msgspec

from controller.journal import Days, Heads, Journal, Reader
from controller.journal.recording import Kind, Line, Recorder
from controller.journal.signing import Closing, Sign
from controller.station.approvals import check_approved
from controller.station.bus_config import check_keys
from controller.station.clock import check_behind
from controller.station.config import StationConfig
from controller.station.errors import StartRefused
from controller.station.guards import free_mb
from controller.station.kernel import Kernel, recover
from controller.station.people import check_staffed
from controller.station.signing_key import open_key
from controller.station.stops import Stops
from controller.station.untaken import untaken_reads
from controller.table.events import AUDIENCES
from controller.table.inputs import Started, decode_input

PROGRAM = version("tablectl")
AUDIENCE_NAMES = tuple(audience.value for audience in AUDIENCES)

log = logging.getLogger("station")

OpenJournal = Callable[[Path, Heads | None], Journal]


def open_journal(path: Path, heads: Heads | None) -> Journal:
    """Open or begin a journal file; `heads` are those of the day before."""
    return Journal.open(path, audiences=AUDIENCE_NAMES, heads=heads)


class Start(NamedTuple):
    """What a start has found and made. `started` is still to be taken as the first input."""

    kernel: Kernel
    journal: Journal
    recorder: Recorder
    started: Started
    stops: Stops
    sign: Callable[[Closing], Sign]


def start(
    config: StationConfig,
    now_us: int,
    *,
    open_file: OpenJournal = open_journal,
    on_step: Callable[[], None] = lambda: None,
) -> Start:
    """Recover the table of `config` and begin its next epoch.

    Raises StartRefused, PeopleError, KeyFileUnusable or JournalError when starting would break a promise.
    """
    check_approved(config)
    check_staffed(config)
    check_keys(config.bus)
    for folder in (config.run_dir, config.table_dir, config.table_dir / "sessions"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    signer = open_key(config, now_us)
    kernel = Kernel(config)
    journal = _open_newest(config, now_us, open_file)
    try:
        last_us = journal.heads().at_us
        check_behind(now_us, last_us)
        since = _last_boundary(journal.reader, config)
        _recover(kernel, journal.reader, config, since, on_step)
        stops = Stops(config.table_dir)
        started = _started(config, journal, stops, at=max(now_us, last_us + 1))
        journal.add_document(config.settings.profile.content)
        recorder = _record(config, started, journal, since)
    except BaseException:
        journal.close()
        raise
    sign = partial(signer.heads, config.settings.table, config.environment.value)
    return Start(kernel, journal, recorder, started, stops, sign)


def recovered(config: StationConfig, reader: Reader) -> Kernel:
    """Return the table as its newest journal leaves it, to look at. Raises StartRefused or JournalError."""
    kernel = Kernel(config)
    _recover(kernel, reader, config, _last_boundary(reader, config), lambda: None)
    return kernel


def _started(config: StationConfig, journal: Journal, stops: Stops, *, at: int) -> Started:
    """Tell the table that it starts, and what the start has found."""
    heads = journal.heads()
    free = free_mb(config.table_dir)
    untaken = untaken_reads(config, epoch=heads.epoch, last_us=heads.at_us)
    if untaken or stops.twice:
        facts = {"reads_never_taken": len(untaken), "inputs_left_out": len(stops.twice)}
        log.warning("the run before stopped in the middle", extra={"facts": facts})
    return Started(
        at=at,
        epoch=heads.epoch + 1,
        program=PROGRAM,
        rules=config.rules,
        documents=tuple(journal.add_document(text) for text in config.documents.values()),
        untaken=untaken,
        quarantined=stops.twice,
        disk_free_mb=free if free < config.settings.limits.disk_free_mb else None,
    )


def gaming_day(at_us: int, begins_hour: int) -> str:
    """Return the gaming day, `2026-11-30`, that `at_us` belongs to; it begins at that hour UTC."""
    moment = datetime.fromtimestamp(at_us / 1_000_000, UTC) - timedelta(hours=begins_hour)
    return moment.date().isoformat()


def journal_path(config: StationConfig, at_us: int) -> Path:
    """Return the journal file of the gaming day."""
    day = gaming_day(at_us, config.day_begins_hour)
    return config.table_dir / f"{day}.journal"


def _open_newest(config: StationConfig, now_us: int, open_file: OpenJournal) -> Journal:
    paths = Days(config.table_dir).paths()
    if not paths:
        return open_file(journal_path(config, now_us), None)
    if len(paths) == 1:
        return open_file(paths[-1], None)
    with Reader.open(paths[-1]) as newest:
        opening = newest.opening
    return open_file(paths[-1], opening)


class Boundary(msgspec.Struct, frozen=True):
    """The last round boundary: its record, None before the first one, and where the steps after it begin."""

    carried: bytes | None
    journal: str
    after: int


def _last_boundary(reader: Reader, config: StationConfig) -> Boundary:
    """Find the last `carried` record; that of the day before when today's file has none yet."""
    carried = reader.last_carried()
    if carried is not None:
        return Boundary(carried[1], reader.path.name, carried[0])
    paths = Days(config.table_dir).paths()
    if len(paths) < 2:
        return Boundary(None, reader.path.name, 0)
    with Reader.open(paths[-2]) as before:
        carried = before.last_carried()
    assert carried is not None, "a day ends with a record"
    return Boundary(carried[1], reader.path.name, 0)


def _recover(
    kernel: Kernel, reader: Reader, config: StationConfig, since: Boundary, on_step: Callable[[], None]
) -> None:
    """Take the inputs after the last boundary again."""
    if reader.last_carried() is None and since.carried is not None:
        kernel.restore(since.carried)
    _check_documents(reader, config)
    recover(kernel, reader, on_step=on_step)


def _check_documents(reader: Reader, config: StationConfig) -> None:
    """An open round is finished, or cancelled, under the config that opened it."""
    carried = reader.last_carried()
    opened = False
    documents: tuple[str, ...] | None = None
    for step in reader.steps(carried[0] if carried is not None else 0):
        value = decode_input(step.input)
        documents = value.documents if isinstance(value, Started) else documents
        opened = opened or any(b'"event":"round.opened"' in event for event in step.events)
    if not opened or documents is None:
        return
    wanted = {reader.document(document) for document in documents}
    if wanted != set(config.documents.values()):
        raise StartRefused(
            f"{reader.path}: a round is open under another config than {config.path} and the files it names; "
            f"start with the config of that round, end the round, then change it"
        )


def _record(config: StationConfig, started: Started, journal: Journal, since: Boundary) -> Recorder:
    facts = [
        ("table", config.settings.table),
        ("environment", config.environment.value),
        ("program", started.program),
        ("epoch", str(started.epoch)),
        ("config", config.path.name),
        *(("document", _quoted(name, text)) for name, text in config.documents.items()),
        ("journal", f"{since.journal} after {since.after}"),
    ]
    if since.carried is not None:
        facts.append(("carried", since.carried.decode()))
    path = config.table_dir / "sessions" / f"{started.epoch:06d}-{started.at}.capture"
    # A start of this epoch that died before its first step was durable: nothing from outside is in it.
    path.unlink(missing_ok=True)
    recorder = Recorder(path, facts)
    for step in journal.reader.steps(since.after):
        recorder.write(Line(step.at_us, Kind.INPUT, "journal", step.input.decode()))
    return recorder


def _quoted(name: str, text: str) -> str:
    return f"{name} {msgspec.json.encode(text).decode()}"


def documents_of(facts: tuple[str, ...]) -> Mapping[str, str]:
    """Return the config texts that a recording's header holds, by file name."""
    documents = {}
    for fact in facts:
        name, _, quoted = fact.partition(' "')
        documents[name] = msgspec.json.decode('"' + quoted, type=str)
    return documents
