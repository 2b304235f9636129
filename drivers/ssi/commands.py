"""Commands from the host to an SSI scanner: one on its way at a time, sent again when nobody answers.

Hardware notes, 3.4: the scanner answers within the response time-out, else the command is sent again, twice
at most, marked as a repetition.
"""

from __future__ import annotations

from collections import deque
from enum import StrEnum

from drivers.ssi.packet import Nak, Opcode, Packet, encode

SENDS_MAX = 3
WAKEUP = b"\x00"
ANSWERS = {Opcode.CMD_ACK, Opcode.CMD_NAK, Opcode.REPLY_REVISION, Opcode.CAPABILITIES_REPLY}
"""Packets that answer a command. They are never acknowledged themselves."""


class Verdict(StrEnum):
    """How a command ended."""

    TAKEN = "taken"
    REFUSED = "refused"
    UNANSWERED = "unanswered"


class Commands:
    """The commands that wait and the one that was sent. Bytes to send collect in it until they are taken."""

    def __init__(self, *, response_us: int, wakeup: bool) -> None:
        self._response_us = response_us
        self._prefix = WAKEUP if wakeup else b""
        self._waiting: deque[Packet] = deque()
        self._sent: Packet | None = None
        self._sent_count = 0
        self._out = b""
        self.due_us: int | None = None
        """When the command on its way counts as not answered."""

    @property
    def is_idle(self) -> bool:
        """Whether everything that was asked has ended."""
        return self._sent is None and not self._waiting

    @property
    def can_start(self) -> bool:
        """Whether a command waits and none is on its way."""
        return self._sent is None and bool(self._waiting)

    def ask(self, *packets: Packet) -> None:
        """Queue commands; one that waits already under its opcode with its data is not queued twice."""
        self._waiting.extend(packet for packet in packets if packet not in self._waiting)

    def withdraw(self, *opcodes: Opcode) -> None:
        """Take back the commands of these kinds that were not sent yet."""
        self._waiting = deque(packet for packet in self._waiting if packet.opcode not in opcodes)

    def clear(self) -> None:
        """Forget every command."""
        self._waiting.clear()
        self._end()
        self._out = b""

    def start(self, at_us: int) -> None:
        """Send the next command, if one waits and none is on its way."""
        if self.can_start:
            self._sent = self._waiting.popleft()
            self._sent_count = 0
            self._send(self._sent, at_us)

    def hear(self, answer: Packet, at_us: int) -> Verdict | None:
        """Take one of `ANSWERS`; None when it ends nothing."""
        if self._sent is None:
            return None
        if answer.opcode != Opcode.CMD_NAK:
            self._end()
            return Verdict.TAKEN
        if answer.data[:1] == bytes((Nak.RESEND,)):
            return self._send_again(at_us)
        self._end()
        return Verdict.REFUSED

    def expire(self, at_us: int) -> Verdict | None:
        """Send again what was not answered in time; None unless that was the last time."""
        if self.due_us is None or at_us < self.due_us:
            return None
        return self._send_again(at_us)

    def take_bytes(self) -> bytes:
        """Take what has to be sent now."""
        out, self._out = self._out, b""
        return out

    def _send_again(self, at_us: int) -> Verdict | None:
        assert self._sent is not None
        if self._sent_count == SENDS_MAX:
            self.clear()
            return Verdict.UNANSWERED
        self._send(self._sent.again(), at_us)
        return None

    def _send(self, packet: Packet, at_us: int) -> None:
        self._out = self._prefix + encode(packet)
        self._sent_count += 1
        self.due_us = at_us + self._response_us

    def _end(self) -> None:
        self._sent = None
        self.due_us = None
