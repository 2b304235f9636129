"""The simulated scanner: the bytes of each fault, and the same bytes for the same seed."""

from __future__ import annotations

import pytest

from drivers.delimited import DelimitedOptions, Terminator
from simulators.devices.delimited import DelimitedScanner, Fault


def sent(seed: int = 0, options: DelimitedOptions | None = None) -> tuple[DelimitedScanner, list[bytes]]:
    pieces: list[bytes] = []
    return DelimitedScanner(pieces.append, options, seed=seed), pieces


def test_scan_and_no_read() -> None:
    scanner, pieces = sent()
    scanner.scan("1010")
    scanner.no_read()
    assert pieces == [b"1010\n", b"NOREAD\n"]


def test_no_read_is_silent_where_the_scanner_has_no_word_for_it() -> None:
    scanner, pieces = sent(options=DelimitedOptions(no_read=()))
    scanner.no_read()
    assert pieces == []


def test_code_that_no_frame_carries_is_refused() -> None:
    scanner, pieces = sent()
    with pytest.raises(ValueError, match="printable"):
        scanner.scan("10\n")
    assert pieces == []


def test_split_at_every_offset() -> None:
    for offset in range(1, 5):
        scanner, pieces = sent()
        scanner.scan_split("1010", offset)
        assert pieces == [b"1010\n"[:offset], b"1010\n"[offset:]]


def test_merged_frames_leave_in_one_piece() -> None:
    scanner, pieces = sent()
    scanner.scan("1010", Fault.MERGED)
    assert pieces == []
    scanner.scan("4130")
    scanner.scan("2050", Fault.MERGED)
    scanner.flush()
    scanner.flush()
    assert pieces == [b"1010\n4130\n", b"2050\n"]


@pytest.mark.parametrize("seed", range(30))
def test_faults_are_what_they_are_called(seed: int) -> None:
    options = DelimitedOptions(terminator=Terminator.CR_LF)
    scanner, pieces = sent(seed, options)
    scanner.scan("1010", Fault.SPLIT)
    assert len(pieces) == 2
    assert b"".join(pieces) == b"1010\r\n"
    pieces.clear()
    scanner.scan("1010", Fault.CUT)
    assert b"1010".startswith(pieces[0])
    assert 1 <= len(pieces[0]) < 4
    pieces.clear()
    scanner.scan("1010", Fault.LOST_TERMINATOR)
    assert pieces == [b"1010"]
    pieces.clear()
    scanner.scan("1010", Fault.NOISE)
    assert pieces[0].endswith(b"1010\r\n")
    assert all(byte >= 0x80 for byte in pieces[0][:-6])
    assert len(pieces[0]) > 6
    pieces.clear()
    scanner.scan("1010", Fault.FLIPPED_BYTE)
    differing = [(got, true) for got, true in zip(pieces[0], b"1010\r\n", strict=True) if got != true]
    assert len(differing) == 1
    assert (differing[0][0] ^ differing[0][1]).bit_count() == 1


def test_cutting_a_code_of_one_character_sends_nothing_of_the_terminator() -> None:
    scanner, pieces = sent()
    scanner.scan("1", Fault.CUT)
    assert pieces == [b"1"]


def test_same_seed_same_bytes() -> None:
    def everything(seed: int) -> list[bytes]:
        scanner, pieces = sent(seed)
        for fault in Fault:
            scanner.scan("1010", fault)
        scanner.noise(20)
        return pieces

    assert everything(7) == everything(7)
    assert everything(7) != everything(8)
