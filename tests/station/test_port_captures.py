"""Card inputs from chunks alone, cut anyhow; captures of ports without a table."""

from __future__ import annotations

import json
import random
from pathlib import Path

import msgspec
import pytest
from station.recorded import NOON, Session, cancelled_round, write_config

from controller.cli import main
from controller.journal.recording import FIRST_LINE, Kind, Line, read_lines
from controller.station.replay import CardInput, card_inputs, framers_of, read_card_inputs, replay_recording
from controller.table import inputs as i
from drivers.contract import CodeRead, FailedReadCause, ReadFailed
from drivers.families import open_framer
from simulators.devices.cuts import byte_by_byte, merged, recut


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A stopped session: a plain round, and one full of incidents that is cancelled."""
    session = Session(write_config(tmp_path_factory.mktemp("played"))).open_table().round().round()
    cancelled_round(session)
    session.stop()
    return session


def chunks(lines: list[Line]) -> list[tuple[int, bytes]]:
    return [(line.at_us, bytes.fromhex(line.payload)) for line in lines if line.kind is Kind.CHUNK]


def lines_of(cut: list[tuple[int, bytes]]) -> list[Line]:
    return [Line(at, Kind.CHUNK, "shoe", data.hex()) for at, data in cut]


def said(found: list[CardInput]) -> list[object]:
    return [(one.scanner, one.report) for one in found]


def test_the_chunks_alone_give_the_cards_of_the_session(played: Session) -> None:
    inputs = [i.decode_input(stepped.input) for stepped in replay_recording(played.recording)]
    cards = [one for one in inputs if isinstance(one, i.CardRead | i.ReadFailed)]
    found = read_card_inputs(played.recording)
    assert len(found) > 60
    assert [(one.scanner, getattr(one, "code", None), getattr(one, "cause", None)) for one in cards] == [
        (scanner, getattr(report, "code", None), getattr(report, "cause", None))
        for _, scanner, report in found
    ]


@pytest.mark.parametrize("seed", range(5))
def test_chunks_cut_anyhow_give_the_same_cards(played: Session, seed: int) -> None:
    line = chunks(list(read_lines(played.recording)))
    expected = said(read_card_inputs(played.recording))

    def again(cut: list[tuple[int, bytes]]) -> list[object]:
        return said(card_inputs(framers_of(played.recording), lines_of(cut)))

    shortest = framers_of(played.recording)["shoe"].shortest_timeout_us
    assert again(list(recut(line, seed))) == expected
    assert again(list(byte_by_byte(line))) == expected
    whole = list(merged(line, shortest))
    assert len(whole) < len(line) / 10
    assert again(whole) == expected
    assert again(list(recut(merged(line, shortest), seed))) == expected


def port_capture(path: Path, *lines: str, scanners: tuple[str, ...] = ("shoe delimited",)) -> Path:
    header = [FIRST_LINE, *(f"# scanner {scanner}" for scanner in scanners)]
    path.write_text("".join(f"{text}\n" for text in (*header, *lines)))
    return path


def test_a_port_capture_lists_its_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = port_capture(
        tmp_path / "two.capture",
        f"{NOON} chunk left {b'101'.hex()}",
        f"{NOON + 1000} chunk right {b'202#'.hex()}",
        f"{NOON + 2000} chunk left {b'NOREAD'.hex()}0a",
        f"{NOON + 3000} chunk right {b'303'.hex()}",
        scanners=("left delimited", 'right delimited {"postfix": "#", "char_gap_ms": 50}'),
    )
    reports = [(scanner, report) for _, scanner, report in read_card_inputs(path)]
    assert reports == [
        ("left", CodeRead("101NOREAD")),
        ("right", ReadFailed(FailedReadCause.CUT_SHORT)),
    ]
    assert main(["replay", str(path)]) == 0
    assert "left  read    101NOREAD" in capsys.readouterr().out
    assert main(["replay", str(path), "--json"]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["input"], first["code"]) == ("card_read", "101NOREAD")
    assert (second["input"], second["cause"], second["at"]) == ("read_failed", "CUT_SHORT", NOON + 53_000)
    assert main(["replay", str(path), "--verify"]) == 2
    silent = port_capture(tmp_path / "silent.capture", scanners=("left delimited",))
    assert main(["replay", str(silent)]) == 0
    assert capsys.readouterr().out == "no card is read in it, and no reading fails\n"


GOLDEN = sorted((Path(__file__).parents[2] / "seeds" / "sessions").glob("*.capture"))


@pytest.mark.parametrize("capture", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_session_is_replayed_as_its_driver_hears_it(capture: Path) -> None:
    """A reader that is polled has to be asked: without an opening a tag that comes back is no second read."""
    kept = [json.loads(text) for text in capture.with_suffix(".reports").read_text().splitlines()]
    expected = [one for one in kept if one.pop("type") in ("CodeRead", "ReadFailed")]
    heard_until_us = [line.at_us for line in read_lines(capture)][-1] + 1_000_000
    inputs = [one for one in read_card_inputs(capture) if one.at_us <= heard_until_us]
    found = [msgspec.to_builtins(one.report) for one in inputs]
    assert expected
    assert [{key: one[key] for key in one if one[key] and key != "type"} for one in found] == expected


def test_a_gap_in_a_port_capture_ends_what_had_begun(tmp_path: Path) -> None:
    """Where a line is opened anew half a frame is no beginning; a capture may say so, or that it was lost."""
    half, rest = b"10".hex(), b"10\n1020\n".hex()
    cut_short = ReadFailed(FailedReadCause.CUT_SHORT)
    for gap in (f"{NOON + 1} opened shoe /dev/ttyUSB0", f"{NOON + 1} lost shoe unplugged"):
        path = port_capture(
            tmp_path / f"{gap.split()[1]}.capture",
            f"{NOON} chunk shoe {half}",
            gap,
            f"{NOON + 2} chunk shoe {rest}",
        )
        reports = [one.report for one in read_card_inputs(path)]
        assert reports == [cut_short, CodeRead("10"), CodeRead("1020")]
    whole = port_capture(
        tmp_path / "whole.capture", f"{NOON} chunk shoe {half}", f"{NOON + 2} chunk shoe {rest}"
    )
    assert [one.report for one in read_card_inputs(whole)] == [CodeRead("1010"), CodeRead("1020")]


def test_time_outs_of_several_scanners_pass_in_order_of_time() -> None:
    path_options = {"left": {"char_gap_ms": 30}, "right": {"char_gap_ms": 10}}
    framers = {name: open_framer("delimited", options) for name, options in path_options.items()}
    random_order = [Line(5, Kind.CHUNK, "left", "31"), Line(6, Kind.CHUNK, "right", "32")]
    found = card_inputs(framers, random_order)
    assert [(at, scanner) for at, scanner, _ in found] == [(10_006, "right"), (30_005, "left")]


@pytest.mark.parametrize(
    ("line", "scanner", "expected"),
    [
        ("1 chunk other 31", "shoe delimited", "the header has shoe"),
        ("1 chunk shoe 3x", "shoe delimited", "hexadecimal"),
        ("1 chunk shoe 31", "shoe telepathy", "telepathy"),
        ("1 chunk shoe 31", "shoe delimited {]", "scanner shoe"),
        ("1 chunk shoe 31", 'shoe delimited {"x": 1}', "option 'x'"),
    ],
)
def test_a_port_capture_that_is_not_understood(
    tmp_path: Path, line: str, scanner: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = port_capture(tmp_path / "bad.capture", line, scanners=(scanner,))
    assert main(["replay", str(path)]) == 1
    assert expected in capsys.readouterr().err


def test_a_port_capture_never_makes_its_reader_fail(tmp_path: Path) -> None:
    rng = random.Random(7)
    noise = [f"{at * 1000} chunk shoe {rng.randbytes(rng.randint(0, 30)).hex()}" for at in range(300)]
    path = port_capture(tmp_path / "noise.capture", *noise)
    assert said(read_card_inputs(path)) == said(read_card_inputs(path))
