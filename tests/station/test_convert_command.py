"""`tablectl convert`: what other tools have captured becomes a capture that is replayed and played."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.cli import main
from controller.journal.recording import read_lines
from controller.station.playing import read_recorded
from controller.station.replay import read_card_inputs
from drivers.contract import CodeRead, FailedReadCause, ReadFailed


def convert(source: Path, *words: str) -> Path:
    target = source.with_suffix(".capture")
    assert main(["convert", str(source), str(target), "--family", "delimited", *words]) == 0
    return target


def test_hex_lines_of_any_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "bench.hex"
    source.write_text(
        "# taken on the bench\n"
        "313031300a\n"
        "\n"
        "0x32 0x30, 0x32 0x30\n"
        "0a                # its end\n"
        "33:30:33:30:0A\n"
    )
    target = convert(source, "--gap", "50", "--scanner", "left")
    assert [(line.at_us, line.source, line.payload) for line in read_lines(target)] == [
        (0, "left", "313031300a"),
        (50_000, "left", "32303230"),
        (100_000, "left", "0a"),
        (150_000, "left", "333033300a"),
    ]
    assert [one.report for one in read_card_inputs(target)] == [
        CodeRead("1010"),
        CodeRead("2020"),
        CodeRead("3030"),
    ]
    assert "4 chunks, in which 3 codes are read and 0 reads fail" in capsys.readouterr().out


def test_times_in_hex_lines_are_kept(tmp_path: Path) -> None:
    source = tmp_path / "bench.txt"
    source.write_text("1764504000.250000 31 30\n1764504000.250001 31300d\n1764504002.0 31 30\n")
    target = convert(source, "--options", '{"terminator": "cr", "char_gap_ms": 20}')
    assert [line.at_us for line in read_lines(target)] == [0, 1, 1_750_000]
    assert [one.report for one in read_card_inputs(target)] == [
        CodeRead("1010"),
        ReadFailed(FailedReadCause.CUT_SHORT),
    ]
    assert [after for after, _ in read_recorded(target, None).chunks] == [0, 1, 1_749_999]


def test_raw_bytes_hold_no_silence(tmp_path: Path) -> None:
    source = tmp_path / "line.bin"
    source.write_bytes(b"".join(b"%d\n" % code for code in range(1000, 1100)))
    target = convert(source, "--options", '{"char_gap_ms": 10}')
    assert [one.report for one in read_card_inputs(target)] == [
        CodeRead(str(code)) for code in range(1000, 1100)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("31 30\n31 3\n", "bad.hex: line 2: got '3', expected pairs of hex digits"),
        ("3130\n\nhello\n", "line 3: got 'hello'"),
        ("2.5 31\n2.4 31\n", "line 2: time falls back by 0.100000 s"),
        ("2.5\n", "line 1: a time without bytes"),
        ("# nothing\n", "no bytes in it"),
    ],
)
def test_what_is_not_understood_is_named_by_its_line(
    tmp_path: Path, text: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "bad.hex", tmp_path / "bad.capture"
    source.write_text(text)
    assert main(["convert", str(source), str(target), "--family", "delimited"]) == 1
    assert expected in capsys.readouterr().err
    assert not target.exists()


def test_a_capture_is_never_overwritten_and_the_driver_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "one.hex"
    source.write_text("313031300a\n")
    target = convert(source)
    words = ["convert", str(source), str(target), "--family"]
    assert main([*words, "delimited"]) == 1
    assert "name a new file" in capsys.readouterr().err
    assert main([*words, "telepathy"]) == 2
    assert main([*words, "delimited", "--options", '{"speed": 3}']) == 2
    assert "option 'speed'" in capsys.readouterr().err
    assert main([*words, "delimited", "--options", '{"speed":' + "[" * 100_000]) == 2
    assert main([*words, "delimited", "--scanner", "two words"]) == 2
    assert main([*words, "delimited", "--gap", "9" * 400]) == 2
