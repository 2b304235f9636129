"""What a while of listening shows to be set wrong: by the bytes, by the codes, by the config alone.

Every sign is one text: what was seen, what was expected, what to change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from controller.cards import CodeMap
from controller.cards.card import DECK
from controller.cards.codes import SPELLINGS
from controller.station.device_config import Reader, ScannerConfig
from drivers import delimited
from drivers.contract import (
    Checksummed,
    CodeRead,
    FailedReadCause,
    Framer,
    Garbage,
    ReadFailed,
    Report,
    SerialSettings,
)
from drivers.families import FAMILIES, SIGNS, open_framer

NO_READ_TEXTS = frozenset({"NR", "NOREAD", "NO READ", "NO LABEL", "NOLABEL", "BADCODE", "ERROR", "?"})
"""What scanners of several makers send in place of a code (hardware notes, 2.1)."""
TEXT_SHARE = (7, 10)
SHOWN_MAX = 3
ANY_LENGTH = {"min_length": 1, "max_length": 250}
SEVEN_BITS_COUNT_MIN = 4
"""Fewer bytes have their parity bits right by chance."""


class Decks(NamedTuple):
    """The table's deck, and the other decks that its config names."""

    own: CodeMap
    others: tuple[CodeMap, ...]

    def tell(self, code: str) -> str:
        """Say which card has this code, and of which deck."""
        for deck in (self.own, *self.others):
            card = deck.card(code)
            if card is not None:
                return f"{card} of deck {deck.name}"
        return "no card of a deck that this table's config names"


class Heard(NamedTuple):
    """What came in: chunks with their times, what the driver reported of them, and every code in them, of
    whatever length; `told` is what the device has said of itself."""

    line: Sequence[tuple[int, bytes]]
    reports: Sequence[Report]
    codes: Sequence[str]
    told: Sequence[str] = ()

    @property
    def data(self) -> bytes:
        """All bytes."""
        return b"".join(chunk for _, chunk in self.line)

    @property
    def has_frame(self) -> bool:
        """Whether one whole frame came in: a code, or the device's word that it could not read one."""
        no_read = ReadFailed(FailedReadCause.NO_READ)
        return bool(self.codes) or no_read in self.reports


def codes_of(reader: Reader, line: Sequence[tuple[int, bytes]]) -> tuple[str, ...]:
    """Return the codes in what came in, those too that the options refuse for their length."""
    try:
        framer = open_framer(reader.family, {**reader.options, **ANY_LENGTH})
    except ValueError:
        framer = open_framer(reader.family, reader.options)  # Of a family whose codes have one length.
    return _codes(framer, line)


def config_signs(scanner: ScannerConfig, deck: CodeMap) -> Iterator[str]:
    """Yield what the config alone shows: a deck whose codes the driver would refuse."""
    shortest, longest = scanner.options.get("min_length"), scanner.options.get("max_length")
    lengths = sorted({len(code) for code in deck.cards})
    if isinstance(shortest, int) and lengths[0] < shortest:
        yield (
            f"min_length {shortest} refuses codes of deck {deck.name}, which have {lengths[0]} characters: "
            f"set it to {lengths[0]}"
        )
    if isinstance(longest, int) and lengths[-1] > longest:
        yield (
            f"max_length {longest} refuses codes of deck {deck.name}, which have {lengths[-1]} characters: "
            f"set it to {lengths[-1]}"
        )
    if scanner.family == delimited.FAMILY and (shortest is None or longest is None):
        yield (
            f"min_length, max_length: not both set, so a piece of a code may pass for one; codes of deck "
            f"{deck.name} have {lengths[0]} to {lengths[-1]} characters"
        )


def line_signs(reader: Reader, heard: Heard) -> Iterator[str]:
    """Yield what the bytes show of the line and the device's own settings."""
    data = heard.data
    if not data:
        yield (
            "no byte came in: let it read something while this listens; check cable and power, its interface "
            "(serial, not keyboard), and on what its trigger is set"
        )
        return
    if reader.family in SIGNS:
        wrong = SIGNS[reader.family](reader.options, heard.line).wrong
        yield from wrong
        if wrong:
            return
    if heard.has_frame:
        noise = sum(report.count for report in heard.reports if isinstance(report, Garbage))
        if noise:
            yield f"noise: {noise} of {len(data)} bytes belong to no frame: check cable, plug and shield"
    elif heard.told:
        yield "the device answers, and has read nothing: let it read something while this listens"
    else:
        yield _without_frame(reader, data, heard.line)


def seen(reader: Reader, line: Sequence[tuple[int, bytes]]) -> Iterator[str]:
    """Yield how the device is set, as far as its bytes show it."""
    if reader.family in SIGNS:
        yield from SIGNS[reader.family](reader.options, line).seen
    lengths = sorted({len(code) for code in codes_of(reader, line)})
    if lengths:
        yield f"codes have {' or '.join(map(str, lengths))} characters"


def _without_frame(reader: Reader, data: bytes, line: Sequence[tuple[int, bytes]]) -> str:
    """Say why there may be bytes and not one frame."""
    said = f"{len(data)} bytes without a frame of {reader.family}"
    other = _other_family(reader, line)
    if other is not None:
        return f'{said}: they are frames of {other}: set family = "{other}", or the device\'s protocol'
    if _is_text(data):
        if reader.family == delimited.FAMILY:
            return (
                f"{said}: text arrives, but no code is in it: see the bytes above, compare with the options"
            )
        return (
            f"{said}: raw text arrives in place of packets: set the device's data format to packets "
            f'(an SSI scanner: parameter 0xEE to 1), or set family = "{delimited.FAMILY}"'
        )
    parity = _seven_bit_parity(data)
    if parity is not None:
        return (
            f"{said}: they are text of 7 bits with {'even' if parity == 'E' else 'odd'} parity: set "
            f'line.bytesize = 7 and line.parity = "{parity}", or the scanner to 8 bits without parity'
        )
    return (
        f"{said}, and no text: garbage as from a wrong baud rate: the line is opened at "
        f"{line_text(reader.line)}; set line.baud to the device's own rate (its manual or set-up sheet says "
        "it), then compare the parity"
    )


def line_text(line: SerialSettings) -> str:
    """Return how a line is opened, as people write it."""
    return f"{line.baud} {line.bytesize}{line.parity}{line.stopbits}"


def _is_text(data: bytes) -> bool:
    count = sum(0x20 <= byte <= 0x7E or byte in b"\r\n\t" for byte in data)
    return count * TEXT_SHARE[1] >= len(data) * TEXT_SHARE[0]


def _seven_bit_parity(data: bytes) -> str | None:
    """Return the parity under which every byte is a character of seven bits; None if there is none."""
    if len(data) < SEVEN_BITS_COUNT_MIN or not _is_text(bytes(byte & 0x7F for byte in data)):
        return None
    odd_counts = {byte.bit_count() % 2 for byte in data}
    return None if len(odd_counts) > 1 else "O" if odd_counts == {1} else "E"


def _other_family(reader: Reader, line: Sequence[tuple[int, bytes]]) -> str | None:
    """Return a family with a checksum, of which the bytes hold a whole frame."""
    for family in FAMILIES:
        framer = open_framer(family, {})
        checked = isinstance(framer, Checksummed) and framer.has_checksum
        if family != reader.family and checked and _codes(framer, line):
            return family
    return None


def _codes(framer: Framer, line: Sequence[tuple[int, bytes]]) -> tuple[str, ...]:
    codes = []
    for at_us, chunk in line:
        framer.receive(chunk, at_us)
        while (report := framer.next_report()) is not None:
            if isinstance(report, CodeRead):
                codes.append(report.code)
    return tuple(codes)


# Codes.


def code_signs(scanner: ScannerConfig, decks: Decks, codes: Sequence[str]) -> Iterator[str]:
    """Yield what is told by codes that are not of the table's deck."""
    foreign = [code for code in dict.fromkeys(codes) if decks.own.card(code) is None]
    groups: dict[str, list[str]] = {}
    for code in foreign:
        groups.setdefault(_sign(scanner, decks, code), []).append(code)
    for sign, several in groups.items():
        shown = ", ".join(map(repr, several[:SHOWN_MAX]))
        more = f" and {len(several) - SHOWN_MAX} more" if len(several) > SHOWN_MAX else ""
        yield f"{shown}{more}: {sign}"


def _sign(scanner: ScannerConfig, decks: Decks, code: str) -> str:
    own = decks.own
    if code.upper() in NO_READ_TEXTS:
        said = scanner.options.get("no_read", "the driver's default")
        return f"this is no code but a failed read: add it to the option no_read, which is {said}"
    other = next((deck for deck in decks.others if deck.card(code) is not None), None)
    if other is not None:
        return f"codes of deck {other.name}; the table plays with deck {own.name}: change cards or config"
    for known in own.cards:
        if known.casefold() == code.casefold():
            return f"codes of deck {own.name} but for capital letters: change the scanner's case setting"
    scheme = next((name for name, spell in SPELLINGS.items() if code in map(spell, DECK)), None)
    if scheme is not None:
        return f"spelled by scheme {scheme}, which no deck of this table's config has: give it that deck file"
    for known in sorted(own.cards, key=len, reverse=True):
        if known in code:
            before, _, behind = code.partition(known)
            parts = [f"prefix {before!r}" if before else "", f"postfix {behind!r}" if behind else ""]
            return (
                f"codes of deck {own.name} with {' and '.join(filter(None, parts))}: switch that off in the "
                "scanner, or set the option"
            )
    return f"of no deck that this table's config names: compare them with the deck file of {own.name}"
