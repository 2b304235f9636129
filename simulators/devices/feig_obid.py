"""A FEIG OBID i-scan reader: what `drivers.feig_obid` asks, with the faults of a real antenna.

Everything it says is an answer. The same seed and calls give the same bytes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from enum import StrEnum
from typing import assert_never

from drivers.feig_obid.frames import (
    ANY_ADDRESS,
    NO_DATA,
    STX,
    Command,
    Reply,
    Status,
    crc16,
    encode,
    write_tags,
)

REQUEST_MIN = 5
VERSION = bytes.fromhex("03 00 00 00 21 00 08")
"""Firmware 3.0 of a reader of type 0x21 that takes ISO15693 tags."""


class Fault(StrEnum):
    """What can happen to the answer to one inventory."""

    PARTIAL = "partial"
    """Some of the tags are missing in it, as of stacked cards; all but one when there is only one."""
    BLEED = "bleed"
    """It lists a tag that lies on another antenna as well."""
    FLICKER = "flicker"
    """One tag has lost its field."""
    MORE_DATA = "more-data"
    """The tags do not fit into one reply."""
    LOST_REPLY = "lost-reply"
    DAMAGED_REPLY = "damaged-reply"
    """One bit of it is wrong."""
    CUT_REPLY = "cut-reply"
    """It stops in the middle."""
    LATE_REPLY = "late-reply"
    """A slow poll: it comes when `release` is called."""
    OTHER_ADDRESS = "other-address"
    """Another reader answers."""
    NO_READ = "no-read"
    """There is a tag that can't be read."""
    RF_WARNING = "rf-warning"
    """Noise on the air; what it lists is valid."""
    POWER_CYCLE = "power-cycle"
    """The reader starts anew: no answer, and every tag speaks again."""


class FeigReader:
    """One reader with its antenna. `sink` takes what it sends; cards come and go by `place` and `lift`."""

    def __init__(
        self, sink: Callable[[bytes], object], *, address: int = 0, ont: int = 0, seed: int = 0
    ) -> None:
        self.address = address
        self.ont = ont
        self.neighbours = "E004010000000BEE"
        """The tag that bleeds over from the next antenna."""
        self.muted: set[str] = set()
        """Tags that never answer."""
        self.questions_count = 0
        self._sink = sink
        self._random = random.Random(seed)
        self._tags: dict[str, None] = {}
        self._quiet: set[str] = set()
        """Tags that were listed and have been there since."""
        self._left_over: list[str] = []
        self._faults: list[Fault] = []
        self._late = b""
        self._heard = b""

    def place(self, *uids: str) -> None:
        """Tags come onto the antenna."""
        self._tags |= dict.fromkeys(uids)

    def lift(self, *uids: str) -> None:
        """Tags leave the antenna."""
        for uid in uids:
            self._tags.pop(uid, None)
            self._quiet.discard(uid)

    def disturb(self, *faults: Fault) -> None:
        """Let these happen to the next inventories, one to each."""
        self._faults += faults

    def hear(self, data: bytes) -> None:
        """Take what the host sends; whole questions are answered, the wrong ones are not."""
        self._heard += data
        while (length := self._question_length()) is not None:
            question, self._heard = self._heard[:length], self._heard[length:]
            self._answer(question)

    def storm(self, count: int) -> None:
        """Send inventories that nobody asked for, one behind the other: a reader left in its scan mode."""
        for _ in range(count):
            self._inventory(more=False, advanced=False)

    def release(self) -> None:
        """Send the answer that `Fault.LATE_REPLY` has held back."""
        late, self._late = self._late, b""
        if late:
            self._sink(late)

    def _question_length(self) -> int | None:
        heard = self._heard
        if len(heard) < REQUEST_MIN:
            return None
        length = int.from_bytes(heard[1:3], "big") if heard[0] == STX else heard[0]
        if length < REQUEST_MIN:
            self._heard = b""  # A frame error: no answer at all.
            return None
        return length if length <= len(heard) else None

    def _answer(self, question: bytes) -> None:
        self.questions_count += 1
        advanced = question[0] == STX
        body = question[3:-2] if advanced else question[1:-2]
        if crc16(question) != 0 or body[0] not in (self.address, ANY_ADDRESS):
            return
        match body[1], body[2:]:
            case Command.LINK_TEST, operand if operand == NO_DATA:
                self._send(Reply(self.address, body[1], Status.OK, b""), advanced=advanced)
            case Command.RF_RESET, _:
                self._quiet.clear()
                self._send(Reply(self.address, body[1], Status.OK, b""), advanced=advanced)
            case Command.SOFTWARE_VERSION, b"":
                self._send(Reply(self.address, body[1], Status.OK, VERSION), advanced=advanced)
            case Command.INVENTORY, mode if len(mode) == 2:
                self._inventory(more=bool(mode[1] & 0x80), advanced=advanced)
            case _:
                self._send(Reply(self.address, body[1], 0x80, b""), advanced=advanced)

    def _inventory(self, *, more: bool, advanced: bool) -> None:
        fault = self._faults.pop(0) if self._faults else None
        if more:
            uids, self._left_over = self._left_over, []
        else:
            uids = [uid for uid in self._tags if uid not in self.muted]
            if self.ont:
                uids = [uid for uid in uids if uid not in self._quiet]
        self._send_tags(self._disturbed(uids, fault), fault, advanced=advanced)

    def _disturbed(self, uids: list[str], fault: Fault | None) -> list[str]:
        match fault:
            case Fault.PARTIAL:
                return self._random.sample(uids, self._random.randrange(len(uids))) if uids else []
            case Fault.BLEED:
                return [*uids, self.neighbours]
            case Fault.FLICKER if uids:
                lost = self._random.choice(uids)
                self._quiet.discard(lost)
                return [uid for uid in uids if uid != lost]
            case Fault.MORE_DATA if len(uids) > 1:
                first = self._random.randrange(1, len(uids))
                self._left_over = uids[first:]
                return uids[:first]
            case Fault.NO_READ:
                return []
            case _:
                return uids

    def _send_tags(self, uids: list[str], fault: Fault | None, *, advanced: bool) -> None:
        self._quiet |= set(uids)
        status = Status.OK if uids else Status.NO_TAG
        if fault is Fault.MORE_DATA and self._left_over:
            status = Status.MORE_DATA
        elif fault is Fault.RF_WARNING:
            status = Status.RF_WARNING
        elif fault is Fault.NO_READ:
            status = Status.RF_ERROR
        data = b"" if status in (Status.NO_TAG, Status.RF_ERROR) else write_tags(uids)
        self._send(Reply(self.address, Command.INVENTORY, status, data), fault, advanced=advanced)

    def _send(self, reply: Reply, fault: Fault | None = None, *, advanced: bool) -> None:
        frame = encode(reply, advanced=advanced)
        match fault:
            case Fault.LOST_REPLY:
                pass
            case Fault.POWER_CYCLE:
                self._quiet.clear()
                self._left_over = []
            case Fault.DAMAGED_REPLY:
                offset = self._random.randrange(len(frame))
                flipped = frame[offset] ^ (1 << self._random.randrange(8))
                self._sink(frame[:offset] + bytes((flipped,)) + frame[offset + 1 :])
            case Fault.CUT_REPLY:
                self._sink(frame[: self._random.randrange(1, len(frame))])
            case Fault.LATE_REPLY:
                self._late = frame
            case Fault.OTHER_ADDRESS:
                self._sink(encode(reply._replace(address=self.address + 1), advanced=advanced))
            case (
                Fault.PARTIAL
                | Fault.BLEED
                | Fault.FLICKER
                | Fault.MORE_DATA
                | Fault.NO_READ
                | Fault.RF_WARNING
                | None
            ):
                self._sink(frame)
            case _:
                assert_never(fault)
