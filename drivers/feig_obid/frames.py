"""Frames of FEIG OBID i-scan readers: standard and advanced, and the tags in an inventory's reply.

Hardware notes, section 4. Pure functions of bytes; `framer` has the conversation.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

STX = 0x02
"""Begins an advanced frame; a standard one begins with its length, which is never this."""
ANY_ADDRESS = 0xFF
STANDARD_MAX, ADVANCED_MAX = 255, 65_535
REPLY_MIN, ADVANCED_REPLY_MIN = 6, 8
RECORD_BYTES = 10
ISO15693 = 0x03


class Command(IntEnum):
    """What a host may ask; the last one is for whoever sets a reader up, no driver needs it."""

    LINK_TEST = 0x52
    RF_RESET = 0x69
    INVENTORY = 0xB0
    SOFTWARE_VERSION = 0x65
    READ_CONFIG = 0x80


class Status(IntEnum):
    """What a reply says of itself, as far as an inventory's course depends on it."""

    OK = 0x00
    NO_TAG = 0x01
    BAD_DATA = 0x02
    """A checksum on the air was wrong."""
    RF_ERROR = 0x83
    RF_WARNING = 0x84
    """Noise on the air; the data are valid."""
    NO_VALID_DATA = 0x90
    OVERFLOW = 0x93
    MORE_DATA = 0x94
    TAG_ERROR = 0x95
    ISO14443_ERROR = 0x96


NO_DATA = b"\x00"
"""The operand of a link test."""
NEW_INVENTORY, MORE_INVENTORY = b"\x01\x00", b"\x01\x80"


class Reply(NamedTuple):
    """What a reader answered."""

    address: int
    command: int
    status: int
    data: bytes


class Tags(NamedTuple):
    """The tags of one reply. Not `whole`: there are records that nobody here can read."""

    uids: tuple[str, ...]
    whole: bool


def crc16(data: Iterable[int]) -> int:
    """Return the reflected CRC with polynomial 0x8408 and start 0xFFFF; 0 over a frame with its CRC."""
    crc = 0xFFFF
    for byte in data:
        crc = (crc >> 8) ^ _CRC_OF_BYTE[(crc ^ byte) & 0xFF]
    return crc


def _crc_of_byte(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ 0x8408 if byte & 1 else byte >> 1
    return byte


_CRC_OF_BYTE = tuple(_crc_of_byte(byte) for byte in range(256))


def request(address: int, command: Command, data: bytes = b"", *, advanced: bool = False) -> bytes:
    """Frame what the host asks. `data` is the command's own, such as `NEW_INVENTORY`."""
    return _frame(bytes((address, command)) + data, advanced=advanced)


def encode(reply: Reply, *, advanced: bool = False) -> bytes:
    """Frame a reply as a reader sends it: advanced where it was asked so, or where it is too long."""
    return _frame(bytes((reply.address, reply.command, reply.status)) + reply.data, advanced=advanced)


def _frame(body: bytes, *, advanced: bool) -> bytes:
    if advanced or len(body) + 3 > STANDARD_MAX:
        framed = bytes((STX, *(len(body) + 5).to_bytes(2, "big"))) + body
    else:
        framed = bytes((len(body) + 3,)) + body
    return framed + crc16(framed).to_bytes(2, "little")


def length_of(beginning: bytes | bytearray) -> int | None:
    """Return how long the reply is that begins so: None while it can't be told, 0 if no reply begins so."""
    if not beginning:
        return None
    if beginning[0] != STX:
        return beginning[0] if beginning[0] >= REPLY_MIN else 0
    if len(beginning) < 3:
        return None
    length = int.from_bytes(beginning[1:3], "big")
    return length if length >= ADVANCED_REPLY_MIN else 0


def read_reply(frame: bytes) -> Reply | None:
    """Read a reply of the length that it says; None when its CRC is wrong."""
    if crc16(frame) != 0:
        return None
    body = frame[3:-2] if frame[0] == STX else frame[1:-2]
    return Reply(body[0], body[1], body[2], body[3:])


def read_tags(data: bytes) -> Tags:
    """Read the records of an inventory: their count, then type, DSFID and UID of each.

    Records of other tags than ISO15693 have other lengths, so what follows the first of them is lost. A
    count that does not fit the length gives no tag at all: it is not known what the bytes are.
    """
    if not data:
        return Tags((), False)
    records = [data[start : start + RECORD_BYTES] for start in range(1, len(data), RECORD_BYTES)]
    known = 0
    while known < len(records) and records[known][0] == ISO15693:
        known += 1
    whole = known == len(records) == data[0] and len(data) == 1 + RECORD_BYTES * known
    if not whole and (known >= data[0] or known == len(records)):
        return Tags((), False)
    return Tags(tuple(record[2:].hex().upper() for record in records[:known]), whole)


def write_tags(uids: Iterable[str]) -> bytes:
    """Return the data of an inventory that found these tags; DSFID 0."""
    records = [bytes((ISO15693, 0)) + bytes.fromhex(uid) for uid in uids]
    return bytes((len(records),)) + b"".join(records)
