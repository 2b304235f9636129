"""Captures that other tools made, turned into port captures: hex lines and raw bytes.

Hex: one chunk a line, bytes as pairs of hex digits, apart or not, with `0x` or not; `#` begins a comment. A
first word with a decimal point is the time in seconds; without it a line is `gap_us` after the one before.
Raw bytes have no times: they are spaced as at 9600 baud, so that no silence cuts a frame.

Times of a converted capture count from its own beginning.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from controller.journal.recording import Kind, Line, Recorder
from controller.station.errors import StationError

RAW_SUFFIXES = frozenset({".bin", ".raw"})
RAW_CHUNK_BYTES = 8
RAW_CHUNK_US = 8_333
"""Eight bytes at 9600 8N1; less than the shortest character gap that a driver can be set to."""
TIME_S = re.compile(r"\d{1,10}\.\d{1,9}")
HEX_WORD = re.compile(r"(?:0[xX])?((?:[0-9a-fA-F]{2})+)[,;]?")


def is_raw(path: Path) -> bool:
    """Tell a file of raw bytes from one of hex lines by its name."""
    return path.suffix.lower() in RAW_SUFFIXES


def raw_chunks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the bytes of a raw file as chunks with their times."""
    for number, offset in enumerate(range(0, len(data), RAW_CHUNK_BYTES)):
        yield number * RAW_CHUNK_US, data[offset : offset + RAW_CHUNK_BYTES]


def hex_chunks(path: Path, *, gap_us: int) -> Iterator[tuple[int, bytes]]:
    """Yield the chunks of a file of hex lines. Raises StationError naming the first line not understood."""
    begun_us = before_us = None
    for number, text in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        where = f"{path}: line {number}"
        words = text.partition("#")[0].replace(":", " ").split()
        if not words:
            continue
        at_us = 0 if before_us is None else before_us + gap_us
        if TIME_S.fullmatch(words[0]):
            read_us = int(Decimal(words.pop(0)) * 1_000_000)
            # Seconds since 1970 or since anything else: the first stamp is where it begins.
            begun_us = read_us - at_us if begun_us is None else begun_us
            at_us = read_us - begun_us
        if before_us is not None and at_us < before_us:
            raise StationError(f"{where}: time falls back by {(before_us - at_us) / 1_000_000:.6f} s")
        yield at_us, _bytes_of(where, words)
        before_us = at_us


def _bytes_of(where: str, words: list[str]) -> bytes:
    found = b""
    for word in words:
        match = HEX_WORD.fullmatch(word)
        if match is None:
            raise StationError(
                f"{where}: got {word[:40]!r}, expected pairs of hex digits; a file of raw bytes is named "
                f"{' or '.join(sorted(RAW_SUFFIXES))}"
            )
        found += bytes.fromhex(match[1])
    if not found:
        raise StationError(f"{where}: a time without bytes")
    return found


def convert(source: Path, target: Path, scanner: str, *, driver: str, gap_us: int) -> int:
    """Write `source` as the port capture `target` of one scanner; returns how many chunks it has.

    `driver` is the family and its options as the capture's header has them. Raises StationError for a
    source that is not understood, and for a target that is there already; then nothing is written.
    """
    try:
        data = source.read_bytes()
        chunks = list(raw_chunks(data) if is_raw(source) else hex_chunks(source, gap_us=gap_us))
    except OSError as error:
        raise StationError(f"{source}: can't be read: {error.strerror}") from None
    if not chunks:
        raise StationError(f"{source}: no bytes in it")
    facts = [
        (
            "converted",
            f"from {'raw bytes' if is_raw(source) else 'hex lines'}; times count from the beginning",
        ),
        ("sha256", hashlib.sha256(data).hexdigest()),
        ("scanner", f"{scanner} {driver}"),
    ]
    try:
        recorder = Recorder(target, facts)
    except OSError as error:
        raise StationError(f"{target}: can't be made: {error.strerror}; name a new file") from None
    for at_us, chunk in chunks:
        recorder.write(Line(at_us, Kind.CHUNK, scanner, chunk.hex()))
    recorder.close()
    return len(chunks)
