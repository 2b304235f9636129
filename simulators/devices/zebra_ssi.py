"""A Zebra scanner that speaks SSI: what `drivers.zebra_ssi` talks to, with the faults of a real line.

It starts raw and sends packets once parameter 0xEE is 1. It says one thing at a time: a packet is repeated
after 2 s without an answer, or at once when asked, twice at most; then it beeps low four times and the scan
is lost (hardware notes, 3.4). The same seed and calls give the same bytes.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple, assert_never

from drivers.ssi.packet import (
    CHECKSUM_LENGTH,
    PERMANENT,
    POWER_UP,
    Nak,
    Opcode,
    Packet,
    Source,
    decode,
    encode,
)

SENDS_MAX = 3
RESPONSE_US = 2_000_000
CHAR_GAP_US = 200_000
CODE_128 = b"\x03"
CODE_39 = b"\x01"
NO_READ = "NR"
PACKET_FORMAT = b"\xee"
BOOT_EVENT = b"\xf0\x02"
REVISION = b"SIM-1.0 R00"
CAPABILITIES = b"\x00\x0f\x00\x01"


class Fault(StrEnum):
    """What can happen to one packet of the scanner, or to the answer that it gets."""

    LOST = "lost"
    """Nothing of it arrives."""
    DOUBLED = "doubled"
    """The line carries it twice, without the mark of a repetition."""
    SPLIT = "split"
    """Sent in two pieces, cut anywhere; the pieces belong together."""
    CUT = "cut"
    """Only the first part is sent, and silence follows."""
    MERGED = "merged"
    """Held back and sent in one piece with the next packet."""
    NOISE = "noise"
    """A burst of noise directly in front of it."""
    FLIPPED = "flipped"
    """One bit behind the length byte is wrong."""
    LENGTH = "length"
    """The length byte is another one."""
    LOST_ACK = "lost-ack"
    """It arrives, its answer does not."""


class _Message(NamedTuple):
    packet: Packet
    fault: Fault | None
    times: int
    """So many of its transmissions have the fault."""


class ZebraScanner:
    """One scanner. `sink` takes what it sends; `receive` takes what the host sends."""

    def __init__(self, sink: Callable[[bytes], object], *, seed: int = 0, suffix: bytes = b"") -> None:
        self.lost: list[Packet] = []
        """What it gave up with low, low, low, low; or lost with its power."""
        self.delivered: list[Packet] = []
        self.heard: list[Packet] = []
        """Every packet of the host, in order."""
        self.nak_count = 0
        """So many commands of the host will be answered with a request to resend."""
        self.is_deaf = False
        """Whether it hears nothing: no power, or a cable with one wire broken."""
        self.suffix = suffix
        self._sink = sink
        self._random = random.Random(seed)
        self._kept: dict[bytes, int] = {}
        self._waiting: deque[_Message] = deque()
        self._held_back = b""
        self._start()

    def _start(self) -> None:
        self._settings = dict(self._kept)
        self.is_enabled = True
        self._waiting.clear()
        self._sent_count = 0
        self._due_us: int | None = None
        self._loses_answer = False
        self._buffer = bytearray()
        self._buffered_us = 0

    @property
    def is_packeted(self) -> bool:
        """Whether decoded data leave in packets."""
        return self._settings.get(PACKET_FORMAT) == 1

    def scan(self, code: str, at_us: int, fault: Fault | None = None, *, times: int = 1) -> bool:
        """Read a code and send it; False while scanning is disabled, when nothing is read."""
        return self._decoded(CODE_128, code, at_us, fault=fault, times=times)

    def no_read(self, at_us: int) -> None:
        """See a card and fail to read it, with the no-read message switched on."""
        self._decoded(CODE_39, NO_READ, at_us, fault=None, times=1)

    def noise(self, count: int) -> None:
        """Send `count` bytes of noise outside printable ASCII."""
        self._sink(self._noise(count))

    def power_cycle(self, at_us: int) -> None:
        """Lose the power: what was not written into it is forgotten, what was not sent is lost."""
        self.lost += [message.packet for message in self._waiting]
        self._start()
        if self._settings.get(BOOT_EVENT) == 1:
            self._say(_from_scanner(Opcode.EVENT, bytes((POWER_UP,))), at_us)

    def receive(self, data: bytes, at_us: int) -> None:
        """Take what the host sent."""
        if self.is_deaf:
            return
        if at_us - self._buffered_us > CHAR_GAP_US:
            self._buffer.clear()
        self._buffered_us = at_us
        for byte in data:
            if byte or self._buffer:  # A NUL between packets wakes it, and is no packet.
                self._buffer.append(byte)
            if self._buffer and len(self._buffer) == self._buffer[0] + CHECKSUM_LENGTH:
                packet = decode(bytes(self._buffer))
                self._buffer.clear()
                self._hear(packet, at_us)

    def tick(self, at_us: int) -> None:
        """Repeat what was not answered, or give it up."""
        if self._due_us is not None and at_us >= self._due_us:
            self._send_again(at_us)

    def next_deadline_us(self) -> int | None:
        """Return when `tick` is wanted next."""
        return self._due_us

    def _decoded(self, kind: bytes, code: str, at_us: int, *, fault: Fault | None, times: int) -> bool:
        if not self.is_enabled:
            return False
        if self.is_packeted:
            self._say(
                _from_scanner(Opcode.DECODE_DATA, kind + code.encode()), at_us, fault=fault, times=times
            )
        else:
            self._sink(code.encode() + self.suffix)
        return True

    def _say(self, packet: Packet, at_us: int, *, fault: Fault | None = None, times: int = 0) -> None:
        self._waiting.append(_Message(packet, fault, times))
        if len(self._waiting) == 1:
            self._transmit(at_us)

    def _transmit(self, at_us: int) -> None:
        message = self._waiting[0]
        is_faulty = self._sent_count < message.times
        packet = message.packet.again() if self._sent_count else message.packet
        self._sent_count += 1
        self._due_us = at_us + RESPONSE_US
        for piece in self._pieces(encode(packet), message.fault if is_faulty else None):
            self._sink(piece)

    def _pieces(self, raw: bytes, fault: Fault | None) -> Iterator[bytes]:
        """Yield what arrives of a packet, chunk by chunk."""
        before, self._held_back = self._held_back, b""
        offset = self._random.randrange(1, len(raw))
        match fault:
            case None:
                yield before + raw
            case Fault.LOST:
                self._held_back = before
            case Fault.DOUBLED:
                yield before + raw + raw
            case Fault.SPLIT:
                yield before + raw[:offset]
                yield raw[offset:]
            case Fault.CUT:
                yield before + raw[:offset]
            case Fault.MERGED:
                self._held_back = before + raw
            case Fault.NOISE:
                yield before + self._noise(self._random.randrange(1, 8)) + raw
            case Fault.FLIPPED:
                flipped = raw[offset] ^ (1 << self._random.randrange(8))
                yield before + raw[:offset] + bytes((flipped,)) + raw[offset + 1 :]
            case Fault.LENGTH:
                yield before + bytes(((raw[0] + self._random.randrange(1, 256)) % 256,)) + raw[1:]
            case Fault.LOST_ACK:
                self._loses_answer = True
                yield before + raw
            case _:
                assert_never(fault)

    def _hear(self, packet: Packet | None, at_us: int) -> None:
        if packet is None:
            self._answer(Opcode.CMD_NAK, bytes((Nak.RESEND,)))
            return
        self.heard.append(packet)
        if packet.opcode in (Opcode.CMD_ACK, Opcode.CMD_NAK):
            self._hear_answer(packet, at_us)
        elif self.nak_count:
            self.nak_count -= 1
            self._answer(Opcode.CMD_NAK, bytes((Nak.RESEND,)))
        else:
            self._obey(packet)

    def _hear_answer(self, packet: Packet, at_us: int) -> None:
        lost, self._loses_answer = self._loses_answer, False
        if lost or not self._waiting:
            return
        if packet.opcode == Opcode.CMD_NAK and packet.data == bytes((Nak.RESEND,)):
            self._send_again(at_us)
            return
        (self.delivered if packet.opcode == Opcode.CMD_ACK else self.lost).append(self._waiting[0].packet)
        self._next(at_us)

    def _send_again(self, at_us: int) -> None:
        if self._sent_count < SENDS_MAX:
            self._transmit(at_us)
        else:
            self.lost.append(self._waiting[0].packet)
            self._next(at_us)

    def _next(self, at_us: int) -> None:
        self._waiting.popleft()
        self._sent_count, self._due_us, self._loses_answer = 0, None, False
        if self._waiting:
            self._transmit(at_us)

    def _obey(self, packet: Packet) -> None:
        match packet.opcode:
            case Opcode.REQUEST_REVISION:
                self._answer(Opcode.REPLY_REVISION, REVISION)
                return
            case Opcode.CAPABILITIES_REQUEST:
                self._answer(Opcode.CAPABILITIES_REPLY, CAPABILITIES)
                return
            case Opcode.SCAN_ENABLE | Opcode.SCAN_DISABLE:
                self.is_enabled = packet.opcode == Opcode.SCAN_ENABLE
            case Opcode.PARAM_SEND:
                self._set(packet)
        self._answer(Opcode.CMD_ACK)

    def _set(self, packet: Packet) -> None:
        rest = packet.data[1:]  # The first byte is the beep.
        while rest:
            width = 2 if rest[0] >= 0xF0 else 1
            self._settings[rest[:width]] = rest[width]
            if packet.has(PERMANENT):
                self._kept[rest[:width]] = rest[width]
            rest = rest[width + 1 :]

    def _answer(self, opcode: Opcode, data: bytes = b"") -> None:
        self._sink(encode(_from_scanner(opcode, data)))

    def _noise(self, count: int) -> bytes:
        return bytes(self._random.randrange(0x80, 0x100) for _ in range(count))


def _from_scanner(opcode: Opcode, data: bytes) -> Packet:
    return Packet(opcode, data, source=Source.DECODER)
