"""FEIG OBID i-scan readers: asked again and again which ISO15693 tags are on their antenna.

Hardware notes, section 4. One question at a time, each sent from `tick`. A question that gets no answer is
counted and asked again, beginning with a link test, which also tells the reader's own address. A reply counts
only whole, with its CRC and from that address; after anything else the line must fall silent before the next
question. An inventory that comes too late still says who is there.

`ont` is how the reader is configured. 0: each inventory lists all tags there are. 1: each tag is listed once
when it comes; then a reply that is lost takes its tags with it, so the field is switched off and on after
every flaw, which makes all tags speak again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from drivers.contract import (
    CodeRead,
    DeviceReported,
    DeviceState,
    FailedReadCause,
    Garbage,
    ReadFailed,
    ReadTogether,
    Report,
    ReportQueue,
    read_options,
)
from drivers.feig_obid.about import About
from drivers.feig_obid.frames import (
    ANY_ADDRESS,
    MORE_INVENTORY,
    NEW_INVENTORY,
    NO_DATA,
    Command,
    Reply,
    Status,
    length_of,
    read_reply,
    read_tags,
    request,
)
from drivers.feig_obid.options import FeigOptions
from drivers.feig_obid.presence import Judgement, Presence
from drivers.line_hints import BaudWatch, Strays

FAMILY = "feig_obid"
MILLISECOND = 1_000
IDLE_US = 5_000
"""The reader wants so much silence before a frame begins."""
REPLIES_MAX = 64
"""Replies to one inventory; a reader that always has more is asked anew."""
GARBAGE_RUN_MAX = 4096

NOT_ASKED = "bytes that nobody asked for"
DAMAGED = "reply with a wrong length or checksum"
CUT_SHORT = "reply that stopped in the middle"
OTHER_READER = "reply from another address: two readers on one line?"
OTHER_QUESTION = "reply to another question"
ECHO = "the question itself came back: switch the echo of the adapter off"
OTHER_TAGS = "inventory with records that are no ISO15693 tags"
REFUSED = "the reader takes no inventory: switch its scan mode and buffered-read mode off"
ENDLESS = "inventory without an end"

WITH_TAGS = frozenset({Status.OK, Status.RF_WARNING, Status.RF_ERROR, Status.OVERFLOW, Status.MORE_DATA})
COMPLETE = frozenset({Status.OK, Status.NO_TAG, Status.RF_WARNING})
UNREADABLE = frozenset(
    {
        Status.BAD_DATA,
        Status.RF_ERROR,
        Status.NO_VALID_DATA,
        Status.OVERFLOW,
        Status.TAG_ERROR,
        Status.ISO14443_ERROR,
    }
)
"""There is a tag, or noise, that could not be read."""


def open_feig(options: Mapping[str, object]) -> FeigFramer:
    """Build the framer. Raises ValueError for an unknown option, or a value out of range."""
    return FeigFramer(read_options(FAMILY, FeigOptions, options))


class FeigFramer:
    """One reader on one line; see `drivers.contract.Framer`.

    When a question is sent depends on when `tick` comes; what the answers mean depends on stamps alone.
    """

    def __init__(self, options: FeigOptions) -> None:
        self.options = options
        self._presence = Presence(
            Judgement(options.gone_after, options.real_after, options.apart_ms * MILLISECOND)
        )
        self._address = options.address
        self._reports = ReportQueue()
        self._baud = BaudWatch(self._reports)
        self._to_send = self._question = b""
        self._held = bytearray()
        self._strays = Strays()
        self._stray_hint = ""
        self._gap_us: int | None = None
        self._asked: Command | None = None
        self._answer_by_us = 0
        self._next: Command | None = None
        self._next_at_us = 0
        self._next_inventory_us = 0
        self._uids: dict[str, None] = {}
        self._replies_count = 0
        self._whole = True
        self._after_reset = False
        self._is_silent = False
        self._unanswered_count = 0
        self._unread_count = 0
        self._told = ""
        self._about = About()

    @property
    def has_checksum(self) -> bool:
        """A CRC over the frame; see `drivers.contract.Checksummed`."""
        return True

    @property
    def shortest_timeout_us(self) -> int:
        """The silence before a question."""
        return IDLE_US

    def opened(self, at_us: int) -> None:
        """Begin with a link test. Who was on the antenna is remembered: cards lie where they lie."""
        if self._gap_us is not None:
            self._gap_us = None
            self._end_strays(self._hint(CUT_SHORT) if self._held else self._stray_hint)
        self._address = self.options.address
        self._is_silent, self._unanswered_count, self._unread_count = False, 0, 0
        self._begin_inventory()
        self._asked, self._told = None, ""
        self._about.forget()
        self._plan(Command.LINK_TEST, at_us)
        self.tick(at_us)

    def receive(self, chunk: bytes, at_us: int) -> None:
        """Take a chunk. A question that is due waits for the next tick: these bytes came before it."""
        self._expire(at_us)
        for byte in chunk:
            self._take(byte, at_us)
        if chunk:
            is_open = bool(self._held) or self._strays.count > 0
            self._gap_us = at_us + self.options.char_gap_ms * MILLISECOND if is_open else None

    def tick(self, at_us: int) -> None:
        """Let time-outs pass, then send the question that is due."""
        self._expire(at_us)
        if self._gap_us is None and self._next is not None and at_us >= self._next_at_us:
            self._ask(self._next, at_us)

    def next_deadline_us(self) -> int | None:
        """Return when a reply ends, fails to come, or the next question is due; None before the opening."""
        if self._gap_us is not None:
            return self._gap_us
        if self._asked is not None:
            return self._answer_by_us
        return self._next_at_us if self._next is not None else None

    def next_report(self) -> Report | None:
        """Take the oldest report."""
        return self._reports.take()

    def acknowledge(self, report: Report) -> None:
        """Change nothing: a reader lists what is there until it is gone."""

    def bytes_to_send(self) -> bytes:
        """Take the question that was asked last."""
        sent, self._to_send = self._to_send, b""
        return sent

    def ask_about_itself(self) -> None:
        """Ask for the software version in place of the next inventory."""
        self._about.is_wanted = True

    def told_about_itself(self) -> tuple[str, ...]:
        """Return what the reader has answered; see `drivers.contract.Probe`."""
        return self._about.texts()

    # Questions.

    def _plan(self, command: Command, at_us: int) -> None:
        self._next, self._next_at_us = command, at_us

    def _ask(self, command: Command, at_us: int) -> None:
        if self._about.is_wanted and command is Command.INVENTORY and not self._replies_count:
            self._about.is_wanted, command = False, Command.SOFTWARE_VERSION
        data = {Command.LINK_TEST: NO_DATA, Command.INVENTORY: NEW_INVENTORY}.get(command, b"")
        wait_ms = self.options.link_ms
        if command is Command.INVENTORY:
            wait_ms = self.options.reply_ms
            if self._replies_count:
                data = MORE_INVENTORY
            else:
                self._next_inventory_us = at_us + self.options.poll_ms * MILLISECOND
        self._question = request(self._address, command, data, advanced=self.options.advanced)
        self._to_send = self._question
        self._asked, self._next = command, None
        self._answer_by_us = at_us + wait_ms * MILLISECOND

    def _begin_inventory(self) -> None:
        self._uids, self._replies_count, self._whole = {}, 0, True

    # Bytes.

    def _expire(self, at_us: int) -> None:
        if self._gap_us is not None:
            if at_us < self._gap_us:
                return
            over_us, self._gap_us = self._gap_us, None
            self._end_strays(self._hint(CUT_SHORT) if self._held else self._stray_hint)
            if self._asked is not None:
                self._fail(over_us, Command.INVENTORY)
            elif self.options.ont:
                self._ask_anew(over_us, Command.RF_RESET)
        elif self._asked is not None and at_us >= self._answer_by_us:
            self._fail(self._answer_by_us, Command.LINK_TEST)

    def _take(self, byte: int, at_us: int) -> None:
        if self._strays.count:
            self._stray(bytes((byte,)), self._stray_hint)
            return
        self._held.append(byte)
        length = length_of(self._held)
        if length == 0:
            self._stray(self._clear_held(), self._hint(DAMAGED))
        elif length == len(self._held):
            self._complete(self._clear_held(), at_us)

    def _complete(self, frame: bytes, at_us: int) -> None:
        reply = read_reply(frame)
        if reply is None:
            self._stray(frame, self._hint(DAMAGED))
            return
        self._baud.framed()
        if self._address not in (ANY_ADDRESS, reply.address):
            self._reports.put(Garbage(len(frame), OTHER_READER))
        elif frame == self._question and reply.command == Command.INVENTORY:
            # As an answer it would say that there is no tag. A link test is answered by its own bytes.
            self._reports.put(Garbage(len(frame), ECHO))
        elif reply.command == self._asked:
            self._answered(reply, len(frame), at_us)
        elif reply.command == Command.INVENTORY:
            self._overhear(reply, at_us)
        else:
            self._reports.put(Garbage(len(frame), OTHER_QUESTION))

    def _hint(self, hint: str) -> str:
        return hint if self._asked is not None else NOT_ASKED

    def _clear_held(self) -> bytes:
        held = bytes(self._held)
        self._held.clear()
        return held

    def _stray(self, data: bytes, hint: str) -> None:
        """Count bytes that are no answer; nothing is asked before the line falls silent."""
        if self._strays.count >= GARBAGE_RUN_MAX:
            self._report_strays(hint)
            self._lose()  # Noise without an end: nothing can be asked, so cards pass unseen.
        self._strays.add(data)
        self._stray_hint = hint

    def _end_strays(self, hint: str) -> None:
        self._strays.add(self._clear_held())
        if self._strays.count:
            self._report_strays(hint)

    def _report_strays(self, hint: str) -> None:
        strays, self._strays = self._strays, Strays()
        self._baud.report(strays.garbage(hint))

    # Answers.

    def _fail(self, at_us: int, again: Command) -> None:
        """Nothing usable came: count it and ask again."""
        self._asked = None
        self._unanswered_count += 1
        if self._unanswered_count == self.options.silent_after:
            self._lose()
        if again is Command.LINK_TEST:
            self._address = self.options.address  # Another reader may have taken its place.
        elif self._address == ANY_ADDRESS:
            again = Command.LINK_TEST
        elif self.options.ont:
            again = Command.RF_RESET
        self._ask_anew(at_us, again)

    def _lose(self) -> None:
        """The reader can't be heard any more; say so once."""
        if not self._is_silent:
            self._is_silent = True
            self._reports.put(DeviceReported(DeviceState.GONE))

    def _ask_anew(self, at_us: int, command: Command) -> None:
        """Keep what the replies so far have listed, and begin an inventory from the start."""
        if self._uids:
            self._judge(at_us, complete=False)
        self._begin_inventory()
        due_us = at_us + IDLE_US
        self._plan(command, max(due_us, self._next_inventory_us) if command is Command.INVENTORY else due_us)

    def _answered(self, reply: Reply, length: int, at_us: int) -> None:
        self._asked = None
        self._about.note(reply)
        match reply.command:
            case Command.LINK_TEST:
                self._address = reply.address
                if self.options.ont:
                    self._ask_anew(at_us, Command.RF_RESET)
                else:
                    self._ask_anew(at_us, Command.INVENTORY)
            case Command.RF_RESET:
                self._after_reset = True
                self._ask_anew(at_us, Command.INVENTORY)
            case Command.SOFTWARE_VERSION:
                self._ask_anew(at_us, Command.INVENTORY)
            case _:
                self._take_inventory(reply, length, at_us)

    def _take_inventory(self, reply: Reply, length: int, at_us: int) -> None:
        if reply.status not in COMPLETE | WITH_TAGS | UNREADABLE:
            self._tell_once(REFUSED, length)
            self._fail(at_us, Command.INVENTORY)
            return
        self._unanswered_count = 0
        if self._is_silent:
            self._is_silent = False
            self._reports.put(DeviceReported(DeviceState.BACK))
        if reply.status in WITH_TAGS and (reply.data or reply.status == Status.OK):
            tags = read_tags(reply.data)
            self._uids |= dict.fromkeys(tags.uids)
            self._whole = self._whole and tags.whole
        self._replies_count += 1
        if reply.status == Status.MORE_DATA and self._replies_count < REPLIES_MAX:
            self._plan(Command.INVENTORY, at_us + IDLE_US)
            return
        if not self._whole:
            self._tell_once(OTHER_TAGS, length)
        elif reply.status == Status.MORE_DATA:
            self._tell_once(ENDLESS, length)
        else:
            self._told = ""
        complete = self._whole and reply.status in COMPLETE
        self._judge(at_us, complete=complete)
        self._count_unread(reply.status in UNREADABLE or not self._whole)
        self._uids = {}
        self._ask_anew(at_us, Command.INVENTORY)

    def _overhear(self, reply: Reply, at_us: int) -> None:
        """Take an inventory that came too late, or that somebody else asked for: its cards are there.

        It lists what has entered since nobody knows when, so a card that is known is no news.
        """
        if reply.status in WITH_TAGS | COMPLETE:
            tags = read_tags(reply.data)
            complete = reply.status in COMPLETE and (tags.whole or not reply.data)
            self._report(tags.uids, at_us, complete=complete, all_speak=True)

    def _judge(self, at_us: int, *, complete: bool) -> None:
        """Take what this inventory has listed."""
        self._report(self._uids, at_us, complete=complete, all_speak=self._after_reset)
        self._after_reset = False

    def _report(self, uids: Iterable[str], at_us: int, *, complete: bool, all_speak: bool = False) -> None:
        """Report who has come. Behind a reset all tags speak, so those known are no news."""
        if self.options.ont == 0 or all_speak:
            groups = self._presence.listed(uids, at_us, complete=complete and self.options.ont == 0)
        else:
            groups = self._presence.entered(uids, at_us)
        for group in groups:
            if not group.in_order:
                self._reports.put(ReadTogether(len(group.uids)))
            for uid in group.uids:
                self._reports.put(CodeRead(uid))

    def _count_unread(self, failed: bool) -> None:
        self._unread_count = self._unread_count + 1 if failed else 0
        if self._unread_count == self.options.no_read_after:
            self._reports.put(ReadFailed(FailedReadCause.NO_READ))

    def _tell_once(self, hint: str, count: int) -> None:
        """Report what every inventory shows, once while it lasts."""
        if hint != self._told:
            self._told = hint
            self._reports.put(Garbage(count, hint))
