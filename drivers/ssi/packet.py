"""Zebra/Symbol SSI packets: bytes to packet and back (hardware notes, 3.1).

`LENGTH OPCODE SOURCE STATUS DATA... CHECKSUM(2)`. LENGTH counts all but the checksum. The checksum makes
the sum of all bytes nought: any single wrong byte shows, two bytes that changed places do not.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec

LENGTH_MIN, LENGTH_MAX = 4, 255
CHECKSUM_LENGTH = 2


class Opcode(IntEnum):
    """What a packet is for, as far as this program says or hears it."""

    REQUEST_REVISION = 0xA3
    REPLY_REVISION = 0xA4
    PARAM_SEND = 0xC6
    CMD_ACK = 0xD0
    CMD_NAK = 0xD1
    CAPABILITIES_REQUEST = 0xD3
    CAPABILITIES_REPLY = 0xD4
    START_DECODE = 0xE4
    STOP_DECODE = 0xE5
    BEEP = 0xE6
    LED_ON = 0xE7
    SCAN_ENABLE = 0xE9
    SCAN_DISABLE = 0xEA
    DECODE_DATA = 0xF3
    EVENT = 0xF6
    SEGMENT = 0x73
    """A part of a message that is too long for one packet, on newer scanners."""


class Source(IntEnum):
    """Who speaks."""

    DECODER = 0x00
    HOST = 0x04


class Nak(IntEnum):
    """Why a packet was not taken."""

    RESEND = 0x01
    BAD_CONTEXT = 0x02
    DENIED = 0x06
    CANCEL = 0x0A


AGAIN = 0x01
"""Status bit: this packet was sent before."""
CONTINUED = 0x02
"""Status bit: the message goes on in the next packet."""
PERMANENT = 0x08
"""Status bit of PARAM_SEND: the change survives a power cycle."""

POWER_UP = 0x03
"""Data of the EVENT that a scanner sends after it has started."""


class Packet(msgspec.Struct, frozen=True):
    """One packet. `status` has bits that newer scanners set and no guide explains: mask it."""

    opcode: int
    data: bytes = b""
    source: int = Source.HOST
    status: int = 0

    def has(self, bit: int) -> bool:
        """Tell whether a status bit is set."""
        return bool(self.status & bit)

    def again(self) -> Packet:
        """Return the packet as its sender repeats it."""
        return msgspec.structs.replace(self, status=self.status | AGAIN)


def encode(packet: Packet) -> bytes:
    """Return the bytes of a packet. Raises ValueError when its data do not fit into one."""
    length = LENGTH_MIN + len(packet.data)
    if length > LENGTH_MAX:
        raise ValueError(
            f"packet: got {len(packet.data)} bytes of data, expected {LENGTH_MAX - LENGTH_MIN} at most"
        )
    body = bytes((length, packet.opcode, packet.source, packet.status)) + packet.data
    return body + (-sum(body) & 0xFFFF).to_bytes(CHECKSUM_LENGTH, "big")


def decode(raw: bytes) -> Packet | None:
    """Return the packet that `raw` is, from LENGTH to checksum, or None when the checksum is wrong.

    `raw` must be as long as its first byte says; the caller counts.
    """
    assert len(raw) == raw[0] + CHECKSUM_LENGTH >= LENGTH_MIN + CHECKSUM_LENGTH, raw[0]
    body, checksum = raw[:-CHECKSUM_LENGTH], raw[-CHECKSUM_LENGTH:]
    if (sum(body) + int.from_bytes(checksum, "big")) & 0xFFFF:
        return None
    return Packet(opcode=raw[1], data=body[LENGTH_MIN:], source=raw[2], status=raw[3])
