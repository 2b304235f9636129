"""An Angel Eye baccarat shoe: what `drivers.angel_eye` reads, with the faults of a real line and a real deal.

The shoe knows the drawing rules, so it says itself where a card goes and who has won. `draw` and the other
things that people do put frames on the outbox; `step` sends one copy, `run` all of them. A frame leaves the
outbox when the host has acknowledged it or after three copies. The same seed and calls give the same bytes.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from typing import assert_never

from drivers import contract
from drivers.angel_eye import FAULTS, PLACES, UNKNOWN_FACE, Frame, encode, next_seq

COPIES = 3
POSITIONS = {place: byte for byte, place in PLACES.items()}
FAULT_NUMBERS = {fault: number for number, fault in FAULTS.items()}
COMPLAINT, COMPLAINT_OF_CARD = 0x80, 0xC0
"""The upper bits of the data of `E` as they were seen: of a draw, and of a card that was not read."""
PLAYER, TIE, BANKER, BANKER_SIX = 0x90, 0xA0, 0xC0, 0xD0
PLAYER_PAIR, BANKER_PAIR = 1, 2
BANKER_DRAWS_ON = {3: "012345679", 4: "234567", 5: "4567", 6: "67"}
"""The points of Banker's first two cards, and of Player's third card on which Banker draws (BAC-07)."""


class LineFault(StrEnum):
    """What can happen to one copy of a frame on its way."""

    LOST = "lost"
    DOUBLED = "doubled"
    SPLIT = "split"
    """Sent in two pieces, cut anywhere; the pieces belong together."""
    CUT = "cut"
    """Only the first part arrives."""
    MERGED = "merged"
    """Held back and sent in one piece with the next copy, or by `flush`."""
    FLIPPED = "flipped"
    """One bit of the copy is wrong."""
    NOISE = "noise"
    """A burst of noise directly in front of the copy."""


class Hand:
    """The cards of one side, as card bytes."""

    def __init__(self) -> None:
        self.cards: list[int] = []

    @property
    def points(self) -> int:
        """The sum of the points, tens and pictures 0 (BAC-03)."""
        return sum(point(card) for card in self.cards) % 10

    @property
    def is_pair(self) -> bool:
        """Whether the first two cards have one rank."""
        return len(self.cards) > 1 and self.cards[0] & 0xF == self.cards[1] & 0xF


def point(card: int) -> int:
    """Return what a card byte counts."""
    return card & 0xF if card & 0xF < 10 else 0


def place_due(player: Hand, banker: Hand) -> str | None:
    """Return where the next card of a coup goes, None when it is complete (BAC-05 to BAC-07)."""
    counts = len(player.cards), len(banker.cards)
    if sum(counts) < 4:
        return ("P1", "B1", "P2", "B2")[sum(counts)]
    if counts == (2, 2):
        if max(player.points, banker.points) >= 8:
            return None
        if player.points <= 5:
            return "P3"
        return "B3" if banker.points <= 5 else None
    if len(banker.cards) == 3:
        return None
    third = str(point(player.cards[2]))
    return "B3" if banker.points <= 2 or third in BANKER_DRAWS_ON.get(banker.points, "") else None


class AngelEyeShoe:
    """One shoe. `sink` takes what it sends; `acknowledgement` is what it takes for one, empty for none.

    `line_fault` says what happens to a copy: it is asked for each with the frame and the number of the copy.
    """

    def __init__(
        self,
        sink: Callable[[bytes], object],
        *,
        acknowledgement: bytes = b"",
        line_fault: Callable[[Frame, int], LineFault | None] | None = None,
        seed: int = 0,
    ) -> None:
        self._sink = sink
        self._acknowledgement = acknowledgement
        self._line_fault = line_fault
        self._random = random.Random(seed)
        self._outbox: deque[Frame] = deque()
        self._sent_count = 0
        self._seq = 0
        self._held_back = b""
        self._laid: list[Hand] = []
        """The hand that each card of the coup was laid at."""
        self.unread: contract.Fault | None = None
        """Why the card that was drawn last is not read yet."""
        self.lies = False
        """Whether it will say of this coup that another side has won."""
        self.surplus: int | None = None
        """The card byte that was drawn beyond a coup, while it waits for the next one."""
        self._begin()
        self.power_up()

    @property
    def due(self) -> str | None:
        """Where the next card goes; None when the coup is complete."""
        return place_due(self.player, self.banker)

    @property
    def has_more(self) -> bool:
        """Whether a frame waits to be sent."""
        return bool(self._outbox)

    # What people do.

    def power_up(self) -> None:
        """Start: it forgets coup, surplus and what it has not sent yet."""
        self._outbox.clear()
        self._sent_count = 0
        self.surplus = None
        self._begin()
        self._seq = 0
        self._outbox.append(Frame(0, "S"))

    def end_coup(self) -> None:
        """The cards of the coup are collected, or it is broken off."""
        self._begin()

    def stand_by(self, *, says_so: bool = True) -> None:
        """Begin a coup, with the surplus card of the last one if there is any; some begin without a word."""
        self._begin()
        if says_so:
            self._say("P")
        if self.surplus is not None:
            card, self.surplus = self.surplus, None
            self._say("R", POSITIONS["P1"], UNKNOWN_FACE)
            self._lay("P1", card)

    def draw(
        self, card: int, *, is_read: bool = True, why_not: contract.Fault = contract.Fault.NOT_READ
    ) -> None:
        """Draw a card. Beyond a complete coup it is surplus: an overdraw.

        `why_not` is what the shoe says of one that is not read.
        """
        place = self.due
        if place is None:
            self.surplus = card
            self.complain(contract.Fault.OVERDRAW)
            return
        self._say("D", POSITIONS[place], UNKNOWN_FACE)
        if is_read:
            self._lay(place, card)
        else:
            self.unread = why_not
            self.complain(why_not)

    def read_again(self, card: int) -> None:
        """Show the card again that was drawn and not read."""
        place, why = self.due, self.unread
        assert place is not None and why is not None, "no card waits to be read"
        self.complain(why, cleared=True)
        self._lay(place, card)

    def pull_back(self) -> None:
        """Push the last card of the coup back, if there is one, so that it is drawn anew."""
        if not self._laid:
            return
        self._laid.pop().cards.pop()
        self.complain(contract.Fault.PULLED_BACK_ON_WAY)
        self.complain(contract.Fault.PULLED_BACK_ON_WAY, cleared=True)

    def draw_and_pull_back(self) -> None:
        """Begin to draw a card, and push it back before it is read."""
        place = self.due
        assert place is not None, "no card is due"
        self._say("D", POSITIONS[place], UNKNOWN_FACE)
        self.complain(contract.Fault.PULLED_BACK_AT_EXIT)
        self.complain(contract.Fault.PULLED_BACK_AT_EXIT, cleared=True)

    def complain(self, fault: contract.Fault, *, cleared: bool = False) -> None:
        """Say that something is wrong (time-out, pulled back, ...), or that it is right again."""
        bits = COMPLAINT_OF_CARD if fault is contract.Fault.NOT_READ else COMPLAINT
        self._say("e" if cleared else "E", bits | FAULT_NUMBERS[fault])

    def draw_outside(self, card: int) -> None:
        """Draw a card while no coup is on."""
        self._say("d", POSITIONS["P1"], card)

    def end_outside(self, card: int) -> None:
        """Take back or show the card that was drawn outside."""
        self._say("i", POSITIONS["P1"], card)

    def storm(self, count: int) -> None:
        """A contact that chatters: the same complaint comes and goes `count` times."""
        for _ in range(count):
            self.complain(contract.Fault.INDICATOR_BUTTON)
            self.complain(contract.Fault.INDICATOR_BUTTON, cleared=True)

    # The line.

    def step(self) -> bool:
        """Send the next copy; False when nothing waits."""
        if not self._outbox:
            return False
        frame = self._outbox[0]
        self._sent_count += 1
        fault = self._line_fault(frame, self._sent_count) if self._line_fault else None
        if self._sent_count == COPIES:
            self._end_frame()
        self._send(encode(frame), fault)
        return True

    def run(self) -> None:
        """Send all that waits."""
        while self.step():
            pass

    def hear(self, data: bytes) -> None:
        """Take what the host sent: its acknowledgement ends the copies of the frame on the line."""
        if self._acknowledgement and self._acknowledgement in data and self._sent_count:
            self._end_frame()

    def noise(self, count: int) -> None:
        """Send `count` bytes of noise that begin no frame."""
        self._send_pieces(self._noise(count))

    def flush(self) -> None:
        """Send what `LineFault.MERGED` has held back."""
        if self._held_back:
            self._send_pieces(b"")

    def _begin(self) -> None:
        self.player, self.banker = Hand(), Hand()
        self._laid.clear()
        self.unread = None
        self.lies = False

    def _lay(self, place: str, card: int) -> None:
        hand = self.player if place[0] == "P" else self.banker
        hand.cards.append(card)
        self._laid.append(hand)
        self.unread = None
        self._say("I", POSITIONS[place], card)
        if self.due is None:
            self._say("G", self._result())

    def _result(self) -> int:
        player, banker = self.player.points, self.banker.points
        if player == banker:
            kind = TIE
        elif player > banker:
            kind = PLAYER
        else:
            kind = BANKER_SIX if banker == 6 else BANKER
        if self.lies:
            kind = PLAYER if kind == TIE else TIE
        return kind | PLAYER_PAIR * self.player.is_pair | BANKER_PAIR * self.banker.is_pair

    def _say(self, letter: str, *data: int) -> None:
        self._seq = next_seq(self._seq)
        self._outbox.append(Frame(self._seq, letter, bytes(data)))

    def _end_frame(self) -> None:
        self._outbox.popleft()
        self._sent_count = 0

    def _send(self, copy: bytes, fault: LineFault | None) -> None:
        match fault:
            case None:
                self._send_pieces(copy)
            case LineFault.LOST:
                pass
            case LineFault.DOUBLED:
                self._send_pieces(copy, copy)
            case LineFault.SPLIT:
                offset = self._random.randrange(1, len(copy))
                self._send_pieces(copy[:offset], copy[offset:])
            case LineFault.CUT:
                self._send_pieces(copy[: self._random.randrange(1, len(copy))])
            case LineFault.MERGED:
                self._held_back += copy
            case LineFault.FLIPPED:
                offset = self._random.randrange(len(copy))
                flipped = copy[offset] ^ (1 << self._random.randrange(8))
                self._send_pieces(copy[:offset] + bytes((flipped,)) + copy[offset + 1 :])
            case LineFault.NOISE:
                self._send_pieces(self._noise(self._random.randrange(1, 8)) + copy)
            case _:
                assert_never(fault)

    def _send_pieces(self, first: bytes, *others: bytes) -> None:
        self._sink(self._held_back + first)
        self._held_back = b""
        for piece in others:
            self._sink(piece)

    def _noise(self, count: int) -> bytes:
        return bytes(self._random.randrange(0x80, 0x100) for _ in range(count))
