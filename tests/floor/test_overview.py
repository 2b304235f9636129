"""The floor: each table's line is the fold of all that its stream holds, wherever it is looked at."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from bus.conftest import on_a_loop
from bus.streams import OUTCOME, RULES, Step, cancelled_round, filled, normal_round, stamp
from floor.nats_side import NatsServer, started, until
from nats.js import JetStreamContext
from rich.console import Console

from controller.bus.envelope import Envelopes, Environment
from controller.bus.snapshot import Snapshot, fold
from controller.cli import main
from controller.floor.floor_command import show_live
from controller.floor.nats_server import address_of
from controller.floor.overview import Floor, TableStream
from controller.floor.overview_sheet import age_text
from controller.table import events as ev
from controller.table.events import Audience
from controller.table.events.reasons import HaltReason

PUBLIC = Audience.PUBLIC


def corrected(of: int, *, rev: int) -> Step:
    correction = ev.RoundCorrected(
        roundid=f"rp1-{of}", rev=rev, reason="MISREAD", cell="36", incident=1, outcome=OUTCOME
    )
    return [correction, ev.RoundClosed(rev=rev)], stamp(9, "ready", of, rev=rev)


def steps() -> Iterator[Step]:
    """Rounds that are confirmed, cancelled and corrected, the older one too, and halts between them."""
    yield [ev.DealerChanged(dealer="dora", name="Dora")], stamp(1, "closed")
    yield from normal_round(1)
    yield from normal_round(2)
    yield corrected(2, rev=2)
    yield corrected(1, rev=2)
    yield from cancelled_round(3)
    yield corrected(2, rev=3)
    yield [ev.TablePaused(reason=HaltReason.BREAK)], stamp(3, "ready")
    yield [ev.TableResumed()], stamp(3, "ready")
    yield from normal_round(4)


def public_rows(table: str, events: Iterator[Step]) -> list[bytes]:
    builder = Envelopes(table=table, environment=Environment.SIMULATED)
    return [raw for step in events for raw in builder.build(*step)[PUBLIC]]


def told(snapshot: Snapshot | None) -> dict[str, Any]:
    """What a line shows."""
    assert snapshot is not None
    keys = ("seq", "time", "phase", "roundid", "incident", "last", "paused", "blocked")
    return {key: getattr(snapshot, key) for key in keys}


def test_at_every_message_the_line_is_the_fold_of_the_whole_stream(server: NatsServer) -> None:
    rows = public_rows("rp1", steps())
    server.fill("rp1", PUBLIC, [])
    whole = Snapshot(table="rp1", audience=PUBLIC)

    async def look(jetstream: JetStreamContext) -> list[tuple[Snapshot | None, Snapshot | None]]:
        live, seen = TableStream(jetstream, "rp1"), []
        for number, raw in enumerate(rows, 1):
            family = json.loads(raw)["type"].removeprefix("tablectl.").removesuffix(".v1")
            await jetstream.publish(f"tables.rp1.public.{family}", raw)
            fresh = TableStream(jetstream, "rp1")
            await live.follow(number)
            await fresh.follow(number)
            seen.append((live.snapshot, fresh.snapshot))
        return seen

    for raw, (live, fresh) in zip(rows, server.ask(look), strict=True):
        whole = fold(whole, [raw])
        assert told(live) == told(whole)
        assert told(fresh) == told(whole)
    assert whole.last is not None and whole.last.roundid == "rp1-4"


def lines(capsys: pytest.CaptureFixture[str], server: NatsServer) -> dict[str, dict[str, Any]]:
    assert main(["floor", server.url, "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {line["table"]: line for line in found}


def test_a_line_of_json_for_each_table(server: NatsServer, capsys: pytest.CaptureFixture[str]) -> None:
    held = public_rows("rp1", iter(list(normal_round(1))[:7]))
    server.fill("rp1", PUBLIC, held)
    server.fill("bac-2", PUBLIC, public_rows("bac-2", cancelled_round(1)))
    server.fill("new", PUBLIC, [])
    server.fill("rp9", Audience.SETTLEMENT, [])
    found = lines(capsys, server)
    assert list(found) == ["bac-2", "new", "rp1"]
    assert found["new"] == {"table": "new"}
    assert (found["rp1"]["phase"], found["rp1"]["roundid"]) == ("dealing", "rp1-1")
    assert found["rp1"]["incident"]["prompt"] == "Scan again"
    assert "last" not in found["rp1"] and found["rp1"]["age_ms"] > 0
    assert found["bac-2"]["last"]["cancelled"] == "TECHNICAL"


def test_the_sheet(server: NatsServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.fill("rp1", PUBLIC, public_rows("rp1", iter(list(normal_round(1))[:7])))
    server.fill("rp2", PUBLIC, public_rows("rp2", cancelled_round(1)))
    assert main(["floor", server.url]) == 0
    shown = capsys.readouterr().out
    for words in ("2 tables", "rp1-1", "dealing", "Scan again", "round cancelled", "TECHNICAL"):
        assert words in shown


def test_a_stream_that_holds_something_else_is_shown_as_broken(
    server: NatsServer, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = public_rows("rp1", normal_round(1))
    server.fill("rp1", PUBLIC, [*rows[:4], *rows[5:]])
    assert "rp1/public/6: number 6 on" in lines(capsys, server)["rp1"]["broken"]
    assert main(["floor", server.url]) == 0
    assert "BROKEN" in capsys.readouterr().out


def test_a_stream_that_was_made_anew_is_read_anew(server: NatsServer) -> None:
    async def look(jetstream: JetStreamContext) -> Sequence[Snapshot | None]:
        floor = Floor(jetstream)
        seen = [stream.snapshot for stream in await floor.look()]
        await jetstream.delete_stream("tables-rp1-public")
        seen += [stream.snapshot for stream in await floor.look()]
        await asyncio.to_thread(server.fill, "rp1", PUBLIC, public_rows("rp1", cancelled_round(1)))
        return seen + [stream.snapshot for stream in await floor.look()]

    server.fill("rp1", PUBLIC, filled(rounds=1).rows[PUBLIC])
    before, after = server.ask(look)
    assert before is not None and after is not None
    assert (before.round_no, after.round_no, after.rules) == (2, 1, RULES)


def test_nothing_to_show_is_a_finding(
    server: NatsServer, directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["floor", server.url]) == 1
    assert "does `tablectl bridge nats` run?" in capsys.readouterr().err
    with started(directory, "") as other:
        assert main(["floor", other.url]) == 1
        assert "is it switched on (-js)?" in capsys.readouterr().err
        away = other.url
    assert main(["floor", away]) == 1
    assert away in capsys.readouterr().err
    assert main(["floor", "http://127.0.0.1"]) == 2


def test_on_a_terminal_it_goes_on_and_keeps_the_picture_while_the_server_is_away(server: NatsServer) -> None:
    server.fill("rp1", PUBLIC, public_rows("rp1", normal_round(1)))
    written = io.StringIO()
    terminal = Console(file=written, force_terminal=True, width=150, height=40, color_system=None)

    def is_shown(words: str) -> bool:
        return words in written.getvalue()

    def forget() -> None:
        written.seek(0)
        written.truncate()

    with on_a_loop(lambda: show_live(address_of(server.url), terminal)):
        until(lambda: is_shown("1 table"))
        server.fill("rp2", PUBLIC, public_rows("rp2", cancelled_round(1)))
        until(lambda: is_shown("rp2"))
        server.kill()
        until(lambda: is_shown("STALE"))
        forget()
        until(lambda: is_shown("STALE") and is_shown("rp2"))
        server.begin()
        forget()
        until(lambda: is_shown("2 tables") and not is_shown("STALE"), forget_stale(written, forget))


def forget_stale(written: io.StringIO, forget: Any) -> Any:
    """Return what drops a picture that still says that the server is away."""
    return lambda: forget() if "STALE" in written.getvalue() else None


@pytest.mark.parametrize(
    ("age_us", "text"),
    [
        (-5, "0 s"),
        (59_999_999, "59 s"),
        (60_000_000, "1 min"),
        (3_600_000_000, "1 h"),
        (86_400_000_000, "1 d"),
    ],
)
def test_ages(age_us: int, text: str) -> None:
    assert age_text(age_us) == text
