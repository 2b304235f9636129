"""Zebra/Symbol scanners that speak SSI packets: checksum, acknowledgement, retransmission.

Hardware notes, section 3. The scanner says one thing at a time and repeats it, marked, until it is answered,
twice at most. Four rules govern:

- A card is what a packet with a right checksum says. It is acknowledged once it is durable, never before.
- A marked repetition of the last packet is that packet: answered again, reported once. Equal codes without
  the mark are two cards. A marked packet whose first transmission never arrived is a card.
- Bytes that are no packet, and all that follow them, are nothing until the line has been silent for the
  character time-out. Then the scanner is asked to resend. What it does not resend in time was perhaps a
  card, and so a failed read.
- The line is half duplex: nothing is sent while bytes of a packet are coming in, and no command while the
  scanner waits for an answer. A late acknowledgement dies when the scanner has gone on to its next packet.

A repetition of the last packet behind bytes that were no packet may be that packet or an equal card: a failed
read. An equal card that vanished whole can't be told from an answer that did.
Reads hang on bytes and stamps alone, never on what was acknowledged or sent, so that a replay has the same.

The line: 9600 8N1, `settle_ms` 300 as by default. Bytes that come in while it settles are not heard, so the
set-up begins `set_up_delay_ms` after the open; set it above `settle_ms`, or the set-up takes a repetition.
"""

from __future__ import annotations

from collections.abc import Mapping

from drivers.contract import (
    DeviceReported,
    DeviceState,
    FailedReadCause,
    Garbage,
    ReadFailed,
    Report,
    ReportQueue,
    read_options,
)
from drivers.line_hints import BaudWatch
from drivers.ssi.commands import ANSWERS, SENDS_MAX, Commands, Verdict
from drivers.ssi.line import Exchange, Run
from drivers.ssi.options import SetUp, ZebraSsiOptions, read_decode, set_up_commands
from drivers.ssi.packet import (
    AGAIN,
    CHECKSUM_LENGTH,
    CONTINUED,
    LENGTH_MIN,
    POWER_UP,
    Nak,
    Opcode,
    Packet,
    Source,
    decode,
    encode,
)

FAMILY = "zebra_ssi"
GARBAGE_RUN_MAX = 4096
"""An endless flood is reported every so many bytes."""
RESEND_MARGIN_US = 100_000
"""A scanner's repetition begins one response time-out after its packet; by then it has surely begun."""
SET_UP_RETRY_US = 10_000_000
"""A scanner that is silent may have no power yet; it is asked again for as long as the line is open."""
OUT_MAX = 1024

NO_PACKET = "bytes that are no packet: noise, or another baud rate"
BROKEN = "a damaged packet; the scanner is asked to send it again"
RAW = "characters without a packet: the scanner was set to raw; it is set to packets now: scan the card again"
RAW_KEPT = (
    "characters without a packet: the scanner is set to raw; set its parameter 0xEE to 1, or use set_up"
)
ECHO = "our own packet came back: the line or the adapter echoes"
UNKNOWN = "a packet of a kind that no card is in"

ACK = encode(Packet(Opcode.CMD_ACK))
NAK_RESEND = encode(Packet(Opcode.CMD_NAK, bytes((Nak.RESEND,))))
NAK_DENIED = encode(Packet(Opcode.CMD_NAK, bytes((Nak.DENIED,))))
ENABLE, DISABLE = Packet(Opcode.SCAN_ENABLE), Packet(Opcode.SCAN_DISABLE)


def open_zebra_ssi(options: Mapping[str, object]) -> ZebraSsiFramer:
    """Build the framer. Raises ValueError for an unknown option, or a value out of range."""
    given = dict(options)
    if isinstance(given.get("no_read"), str):
        given["no_read"] = [given["no_read"]]
    return ZebraSsiFramer(read_options(FAMILY, ZebraSsiOptions, given))


class ZebraSsiFramer:
    """The engine for one scanner on one line; see `drivers.contract.Framer` and `Interlock`."""

    def __init__(self, options: ZebraSsiOptions) -> None:
        self.options = options
        self.revision: str | None = None
        """What the scanner says that it is, after `ask_about_itself`."""
        self.capabilities: bytes | None = None
        """The data of its capabilities reply, as they came."""
        self._held = bytearray()
        self._run = Run()
        self._silence_us: int | None = None
        self._damage_us: int | None = None
        self._damaged_count = 0
        self._exchange: Exchange | None = None
        self._is_multipacket = False
        self._wants_resend = False
        self._set_up_us: int | None = None
        self._is_setting_up = False
        self._was_refused = False
        self._was_silent = False
        self._is_due = True
        self._now_us = 0
        self._response_us = options.response_timeout_ms * 1000
        self._commands = Commands(response_us=self._response_us, wakeup=options.wakeup)
        self._out = bytearray()
        self._reports = ReportQueue()
        self._baud = BaudWatch(self._reports)

    # The contract.

    @property
    def shortest_timeout_us(self) -> int:
        """The character time-out."""
        return self.options.char_timeout_ms * 1000

    @property
    def has_checksum(self) -> bool:
        """A sum over the packet; see `drivers.contract.Checksummed`."""
        return True

    def opened(self, at_us: int) -> None:
        """Begin anew; the set-up follows after its delay. An answer that is due is for a repetition only."""
        self._pass(at_us)
        if self._held or self._run.is_open:
            self._lose_track()
            run, self._run = self._run, Run()
            cut_short = ReadFailed(FailedReadCause.CUT_SHORT)
            self._reports.put(cut_short if run.may_hold_read else run.garbage(NO_PACKET))
        self._silence_us = None
        self._give_damage_up()
        if self._exchange is not None:
            self._exchange.is_waiting = False
        self._wants_resend = False
        self._was_silent = False
        self._out.clear()
        self._commands.clear()
        self._plan_set_up(at_us + self.options.set_up_delay_ms * 1000)
        self._now_us = at_us

    def receive(self, chunk: bytes, at_us: int) -> None:
        """Take a chunk; silences that had passed before it end first."""
        self._pass(at_us)
        self._now_us = at_us
        for byte in chunk:
            self._take(byte)
        if chunk:
            self._silence_us = at_us + self.shortest_timeout_us if self._is_receiving else None
        self._work(at_us)

    def tick(self, at_us: int) -> None:
        """Let silences pass, and send what is due."""
        self._pass(at_us)
        self._now_us = at_us
        self._work(at_us)

    def next_deadline_us(self) -> int | None:
        """Return when a silence ends something, a command is given up, or one can be sent."""
        now = self._now_us if self._commands.can_start and self._is_line_free else None
        due = (self._silence_us, self._damage_us, self._set_up_us, self._commands.due_us, now)
        return min((at for at in due if at is not None), default=None)

    def next_report(self) -> Report | None:
        """Take the oldest report."""
        return self._reports.take()

    def acknowledge(self, report: Report) -> None:
        """Release the answer to the packet behind this very report, if the scanner still waits for it."""
        if self._exchange is not None and report is self._exchange.report:
            self._exchange.is_durable = True

    def bytes_to_send(self) -> bytes:
        """Take answers and commands; nothing while a packet is coming in."""
        if self._is_receiving:
            return b""
        if self._wants_resend:
            self._out += NAK_RESEND
            self._wants_resend = False
        if self._exchange is not None:
            self._out += self._exchange.take_answer()
        out = bytes(self._out) + self._commands.take_bytes()
        self._out.clear()
        return out

    def expect(self, is_due: bool) -> None:
        """Enable or disable scanning, with the option `interlock`."""
        if self.options.interlock and is_due != self._is_due:
            self._is_due = is_due
            self._commands.withdraw(Opcode.SCAN_ENABLE, Opcode.SCAN_DISABLE)
            self._commands.ask(ENABLE if is_due else DISABLE)

    def ask_about_itself(self) -> None:
        """Ask for what `revision` and `capabilities` hold once the replies came; the next `tick` sends it."""
        self._commands.ask(Packet(Opcode.REQUEST_REVISION), Packet(Opcode.CAPABILITIES_REQUEST))

    def told_about_itself(self) -> tuple[str, ...]:
        """Return what came back; see `drivers.contract.Probe`."""
        told = () if self.revision is None else (f"revision {self.revision}",)
        return told if self.capabilities is None else (*told, f"capabilities {self.capabilities.hex()}")

    # Bytes.

    @property
    def _is_receiving(self) -> bool:
        return bool(self._held) or self._run.is_open

    def _take(self, byte: int) -> None:
        if self._run.is_open:
            self._run.add(bytes((byte,)))
            if self._run.count >= GARBAGE_RUN_MAX:
                self._report_flood()
            return
        self._held.append(byte)
        length = self._held[0]
        if length < LENGTH_MIN:
            self._lose_track()
        elif len(self._held) == length + CHECKSUM_LENGTH:
            packet = decode(bytes(self._held))
            if packet is None:
                self._lose_track()
            else:
                self._held.clear()
                self._baud.framed()
                self._hear(packet)

    def _lose_track(self) -> None:
        self._run.add(bytes(self._held))
        self._held.clear()

    def _report_flood(self) -> None:
        self._baud.report(self._run.garbage(NO_PACKET))
        self._run.count = 0
        if self._run.may_hold_read:
            self._note_damage(self._now_us)

    # Time.

    def _pass(self, at_us: int) -> None:
        while True:
            due = [at for at in (self._silence_us, self._damage_us) if at is not None and at <= at_us]
            if not due:
                return
            if min(due) == self._silence_us:
                self._end_run(self._silence_us)
            else:
                self._give_damage_up()

    def _end_run(self, at_us: int) -> None:
        """Judge what was no packet, at the silence behind it."""
        self._lose_track()
        run, self._run, self._silence_us = self._run, Run(), None
        if run.is_probe:
            self._reports.put(run.garbage(NO_PACKET))
            return
        if run.is_text and run.count and self._damage_us is None:
            # Raw reads are never sent again, so there is nothing to wait for.
            self._reports.put(ReadFailed(FailedReadCause.DAMAGED))
            is_told = self.options.set_up is not SetUp.NONE
            self._reports.put(Garbage(run.count, RAW if is_told else RAW_KEPT))
            self._plan_set_up(at_us)
            return
        self._wants_resend = True
        if run.count:
            self._baud.report(Garbage(run.count, BROKEN if run.may_hold_read else NO_PACKET))
        if run.may_hold_read:
            self._note_damage(at_us)

    def _note_damage(self, at_us: int) -> None:
        """A read may have been in this; wait for its repetition, unless that was the last one."""
        self._damaged_count += 1
        self._damage_us = at_us + self._response_us + RESEND_MARGIN_US
        if self._damaged_count == SENDS_MAX:
            self._give_damage_up()

    def _give_damage_up(self) -> None:
        if self._damage_us is not None:
            self._reports.put(ReadFailed(FailedReadCause.DAMAGED))
        self._forget_damage()

    def _forget_damage(self) -> None:
        self._damage_us = None
        self._damaged_count = 0

    # Packets.

    def _hear(self, packet: Packet) -> None:
        if packet.source == Source.HOST:
            self._reports.put(Garbage(LENGTH_MIN + len(packet.data) + CHECKSUM_LENGTH, ECHO))
        elif packet.opcode in ANSWERS:
            self._hear_answer(packet)
        elif self._exchange is not None and self._exchange.repeats(packet):
            self._hear_again(self._exchange, packet)
        else:
            # A marked packet is the repetition of what was damaged; an unmarked one says that it is lost.
            if not packet.has(AGAIN):
                self._give_damage_up()
            self._forget_damage()
            self._hear_new(packet)

    def _hear_again(self, last: Exchange, packet: Packet) -> None:
        in_doubt = self._damage_us is not None and last.report is not None
        self._forget_damage()
        if in_doubt:
            self._begin(packet, ReadFailed(FailedReadCause.DAMAGED))
        else:
            last.is_waiting = True
            self._wants_resend = False

    def _hear_new(self, packet: Packet) -> None:
        match packet.opcode:
            case Opcode.DECODE_DATA if packet.has(CONTINUED) or self._is_multipacket:
                # No card has so long a code. A last part can't be told from a card behind a lost last part.
                self._is_multipacket = packet.has(CONTINUED)
                self._begin(packet, ReadFailed(FailedReadCause.WRONG_LENGTH))
            case Opcode.DECODE_DATA:
                self._begin(packet, read_decode(packet.data, self.options))
            case Opcode.SEGMENT:
                self._begin(packet, ReadFailed(FailedReadCause.WRONG_LENGTH), answer=NAK_DENIED)
            case Opcode.EVENT:
                self._begin(packet, None)
                if packet.data[:1] == bytes((POWER_UP,)):
                    self._restart()
            case _:
                self._begin(packet, None, answer=NAK_DENIED)
                self._reports.put(Garbage(LENGTH_MIN + len(packet.data) + CHECKSUM_LENGTH, UNKNOWN))

    def _begin(self, packet: Packet, report: Report | None, *, answer: bytes = ACK) -> None:
        """Take `packet` as the one that the scanner wants answered now."""
        last = self._exchange
        if last is not None and last.report is None and len(self._out) < OUT_MAX:
            self._out += last.take_answer()
        self._exchange = Exchange(packet, report=report, answer=answer)
        self._wants_resend = False
        if report is not None:
            self._reports.put(report)

    def _restart(self) -> None:
        self._is_multipacket = False
        self._reports.put(DeviceReported(DeviceState.RESTARTED))
        self._commands.clear()
        self._plan_set_up(self._now_us)

    def _hear_answer(self, packet: Packet) -> None:
        if packet.opcode == Opcode.REPLY_REVISION:
            self.revision = "".join(chr(byte) for byte in packet.data if 0x20 <= byte <= 0x7E)
        elif packet.opcode == Opcode.CAPABILITIES_REPLY:
            self.capabilities = packet.data
        self._judge(self._commands.hear(packet, self._now_us))

    # Commands.

    @property
    def _is_line_free(self) -> bool:
        """Whether a command may leave: an answer that is durable goes out in front of it."""
        last = self._exchange
        is_owed = last is not None and last.is_waiting and not last.is_durable
        return not self._is_receiving and not is_owed

    def _plan_set_up(self, at_us: int) -> None:
        if self.options.set_up is not SetUp.NONE or self.options.interlock:
            self._set_up_us = at_us

    def _work(self, at_us: int) -> None:
        if self._set_up_us is not None and at_us >= self._set_up_us:
            self._begin_set_up()
        self._judge(self._commands.expire(at_us))
        if self._is_line_free:
            self._commands.start(at_us)

    def _begin_set_up(self) -> None:
        self._set_up_us = None
        self._is_setting_up, self._was_refused = True, False
        self._commands.ask(*set_up_commands(self.options))
        if self.options.interlock:
            self._commands.ask(ENABLE if self._is_due else DISABLE)

    def _judge(self, verdict: Verdict | None) -> None:
        match verdict:
            case None:
                return
            case Verdict.UNANSWERED:
                self._is_setting_up = False
                self._plan_set_up(self._now_us + SET_UP_RETRY_US)
                if not self._was_silent:
                    self._reports.put(DeviceReported(DeviceState.SILENT))
                self._was_silent = True
                return
            case Verdict.REFUSED:
                self._was_refused = True
        self._was_silent = False
        if self._is_setting_up and self._commands.is_idle:
            self._is_setting_up = False
            state = DeviceState.REFUSED if self._was_refused else DeviceState.CONFIGURED
            self._reports.put(DeviceReported(state))
