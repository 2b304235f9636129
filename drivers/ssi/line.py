"""What goes over an SSI line besides commands: the packet that wants an answer, and bytes that are none."""

from __future__ import annotations

from drivers.contract import Report
from drivers.ssi.packet import AGAIN, CONTINUED, Packet


class Exchange:
    """The last packet that wants an answer, and where its answer stands."""

    def __init__(self, packet: Packet, *, report: Report | None, answer: bytes) -> None:
        self.packet = packet
        self.report = report
        self.answer = answer
        self.is_durable = report is None
        self.is_waiting = True
        """The scanner waits for the answer, as far as is known."""

    def repeats(self, packet: Packet) -> bool:
        """Tell whether `packet` is a marked repetition of this one. Other status bits say nothing."""
        return (
            packet.has(AGAIN)
            and (packet.opcode, packet.data) == (self.packet.opcode, self.packet.data)
            and packet.has(CONTINUED) == self.packet.has(CONTINUED)
        )

    def take_answer(self) -> bytes:
        if not (self.is_waiting and self.is_durable):
            return b""
        self.is_waiting = False
        return self.answer


class Run:
    """Bytes that are no packet, up to the next silence: counted, not kept."""

    def __init__(self) -> None:
        self.is_open = False
        self.count = 0
        self.may_hold_read = False
        """Whether a byte is of 0x01-0x7F: a card's packet begins with one, and most noise has none."""
        self.is_text = True
        """Whether it is characters and line ends alone, as a raw read is."""

    def add(self, data: bytes) -> None:
        """Count bytes, and look at them before they are forgotten."""
        self.is_open = True
        self.count += len(data)
        self.may_hold_read = self.may_hold_read or any(0x01 <= byte <= 0x7F for byte in data)
        self.is_text = self.is_text and all(0x20 <= byte <= 0x7E or byte in b"\r\n" for byte in data)
