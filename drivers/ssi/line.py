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
        self.was_answered = False

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
        self.was_answered = True
        return self.answer


class Run:
    """Bytes that are no packet, up to the next silence: counted, not kept."""

    def __init__(self) -> None:
        self.is_open = False
        self.count = 0
        self.has_printable = False
        self.is_text = True

    def add(self, data: bytes) -> None:
        self.is_open = True
        self.count += len(data)
        printable = [0x20 <= byte <= 0x7E for byte in data]
        self.has_printable = self.has_printable or any(printable)
        self.is_text = self.is_text and all(
            good or byte in b"\r\n" for good, byte in zip(printable, data, strict=True)
        )
