"""What goes over an SSI line besides commands: the packet that wants an answer, and bytes that are none."""

from __future__ import annotations

from drivers.contract import Report
from drivers.line_hints import Strays
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


class Run(Strays):
    """Bytes that are no packet, up to the next silence."""

    def __init__(self) -> None:
        super().__init__()
        self.is_open = False
        self._has_length = False
        self.is_text = True
        """Whether it is characters and line ends alone, as a raw read is."""

    def add(self, data: bytes | bytearray) -> None:
        """Count bytes, and look at them before they are forgotten."""
        super().add(data)
        self.is_open = True
        self._has_length = self._has_length or any(0x01 <= byte <= 0x7F for byte in data)
        self.is_text = self.is_text and all(0x20 <= byte <= 0x7E or byte in b"\r\n" for byte in data)

    @property
    def may_hold_read(self) -> bool:
        """Whether a byte is of 0x01-0x7F: a card's packet begins with one, and most noise has none.

        Nor has a modem command, though its letters could be a length.
        """
        return self._has_length and not self.is_probe
