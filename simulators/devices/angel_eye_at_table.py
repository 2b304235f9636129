"""The Angel Eye shoe of a simulated table: what people do with it, and what may happen then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from drivers import angel_eye, contract
from simulators.devices.angel_eye import COPIES, AngelEyeShoe, LineFault
from simulators.devices.mishaps import Handling, Mishap

NOISE_COUNT = 3
COPY_US = 40_000
"""From one copy of an Angel Eye's frame to the next."""
CHATTER_COUNT = 10


class AngelEyeAtTable:
    """A shoe that knows the drawing rules and sends each frame thrice.

    A card that no coup is due is an overdraw as long as the coup lies there, and drawn outside a coup else;
    it opens the next coup, if it is not taken away.
    """

    copies: Mapping[Mishap, tuple[LineFault, int]] = {
        Mishap.LOST: (LineFault.LOST, COPIES),
        Mishap.LOST_COPY: (LineFault.LOST, 1),
        Mishap.DOUBLED: (LineFault.DOUBLED, 1),
        Mishap.SPLIT: (LineFault.SPLIT, COPIES),
        Mishap.MERGED: (LineFault.MERGED, 1),
        Mishap.CUT: (LineFault.CUT, 1),
        Mishap.FLIPPED: (LineFault.FLIPPED, 1),
        Mishap.NOISE: (LineFault.NOISE, 1),
        Mishap.DAMAGED: (LineFault.FLIPPED, COPIES),
    }
    """What happens to how many copies of the frame that tells the card."""

    def __init__(self, sink: Callable[[bytes], object], options: Mapping[str, Any]) -> None:
        answer = bytes.fromhex(angel_eye.open_angel_eye(options).options.acknowledge)
        self._mishap: Mishap | None = Mishap.LOST
        self._shoe = AngelEyeShoe(sink, acknowledgement=answer, line_fault=self._line_fault)
        self._shoe.run()  # It was switched on before anybody listened.
        self._mishap = None
        self._is_on = False
        self._says_so = True
        self._due_us: int | None = None

    def _line_fault(self, frame: angel_eye.Frame, copy: int) -> LineFault | None:
        fault, count = self.copies.get(self._mishap, (None, 0)) if self._mishap else (None, 0)
        return fault if frame.letter in "SI" and copy <= count else None

    def scan(self, code: str | None, mishap: Mishap | None, at_us: int) -> None:
        """A card is drawn, or the one shown again that was not read."""
        card = None if code is None else int(code, 16)
        self._mishap = mishap
        if self._shoe.unread is not None:
            if card is None:
                self._shoe.complain(self._shoe.unread)
            else:
                self._shoe.read_again(card)
        elif self._is_on and self._shoe.due is not None:
            self._draw(card, mishap)
        else:
            self._draw_beside(angel_eye.UNKNOWN_FACE if card is None else card)
        self._begin_to_send(at_us)

    def _draw(self, card: int | None, mishap: Mishap | None) -> None:
        """Draw a card of the coup."""
        shoe = self._shoe
        match mishap:
            case _ if card is None:
                shoe.draw(angel_eye.UNKNOWN_FACE, is_read=False)
                return
            case Mishap.PULLED_BACK:
                shoe.draw_and_pull_back()
                return
            case Mishap.CODE_ERROR:
                shoe.draw(card, is_read=False, why_not=contract.Fault.CODE_ERROR)
                return
            case Mishap.STORM:
                shoe.storm(CHATTER_COUNT)
            case Mishap.TIME_OUT:
                shoe.complain(contract.Fault.DRAW_TIME_OUT)
                shoe.complain(contract.Fault.DRAW_TIME_OUT, cleared=True)
            case Mishap.LIES:
                shoe.lies = True
            case Mishap.NO_STAND_BY:
                self._says_so = False
        shoe.draw(card)

    def _draw_beside(self, card: int) -> None:
        """Draw a card that no coup is due; the one before is pushed back first."""
        shoe = self._shoe
        if self._is_on and shoe.surplus is None:
            shoe.draw(card)
            return
        self._take_away()
        shoe.draw_outside(card)
        shoe.surplus = card

    def _take_away(self) -> None:
        if self._shoe.surplus is not None:
            self._shoe.end_outside(self._shoe.surplus)
            self._shoe.surplus = None

    def disturb(self, mishap: Mishap | Handling, at_us: int) -> None:
        """Send noise, start anew, or be handled."""
        self._mishap = None
        match mishap:
            case Handling.STAND_BY:
                self._shoe.stand_by(says_so=self._says_so)
                self._is_on, self._says_so = True, True
            case Handling.COLLECTED:
                self._shoe.end_coup()
                self._is_on = False
            case Handling.PUSHED_BACK:
                if self._is_on and self._shoe.unread is None:
                    self._shoe.pull_back()
            case Handling.SHOWN:
                self._take_away()
            case Mishap.POWER_CYCLE:
                self._shoe.power_up()
                self._is_on = False
            case _:
                self._shoe.noise(NOISE_COUNT)
        self._begin_to_send(at_us)

    def hear(self, data: bytes, at_us: int) -> None:
        """Take an answer."""
        self._shoe.hear(data)

    def _begin_to_send(self, at_us: int) -> None:
        if self._due_us is None:
            self.tick(at_us)

    def tick(self, at_us: int) -> None:
        """Send the next copy."""
        self._shoe.step()
        self._due_us = at_us + COPY_US if self._shoe.has_more else None

    def next_deadline_us(self) -> int | None:
        """Return when the next copy is sent."""
        return self._due_us
