"""What becomes of a press: it is the command of the bus, or it is dropped at once and with a reason.

A press is never kept for later. It carries the moment that it was pressed on and until when it counts, so
that one which was stuck on its way is refused when it arrives: the person has seen another table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from controller.bus.wire import Answer, CommandRequest, Reason
from controller.station.pages.board import Board
from controller.station.pages.frames import Answered, Draw, Press, Refused
from controller.station.pages.house import House
from controller.station.pages.sessions import Session
from controller.table import inputs as i

SKEW_US = 5_000_000
"""A press that counts for longer than this was stamped by a page that does not know the time."""
AT_ANY_MOMENT = (i.Observed, i.PauseTable, i.CloseAfterRound, i.ResumeTable, i.LogOut, i.CuttingCard)
"""What is meant whatever the table asks just then: a report is not lost to a card that was read meanwhile."""
NOT_OF_PAGES = (i.LogIn, i.BetsTaken, i.WindowFacts)

Reply: TypeAlias = Callable[[Answered], None]
DrawCard: TypeAlias = Callable[[], None]


def why_void(press: Press | Draw, board: Board, now_us: int) -> Refused | None:
    """Return why a press does not count any more, None when it does."""
    if not now_us <= press.until_us <= now_us + SKEW_US:
        return Refused.PRESSED_LATE
    is_bound = isinstance(press, Draw) or not isinstance(press.command, AT_ANY_MOMENT)
    return Refused.TABLE_MOVED_ON if is_bound and press.moment != board.moment else None


def press(house: House, board: Board, session: Session, pressed: Press, reply: Reply) -> None:
    """Bring a press to the table; `reply` is called once, when its input is durable or it is dropped."""
    void = why_void(pressed, board, house.clock.now_us())
    if isinstance(pressed.command, NOT_OF_PAGES):
        void = Refused.NOT_FROM_HERE
    if void is not None:
        reply(Answered(pressed.request, False, void))
        return
    request = CommandRequest(pressed.request, session.actor, pressed.round_no, pressed.command)

    def answered(answer: Answer) -> None:
        reply(Answered(answer.request, answer.accepted, answer.reason))

    if not house.submit("operator", request, answered):
        reply(Answered(pressed.request, False, Reason.BUSY))


def draw(board: Board, pressed: Draw, now_us: int, draw_card: DrawCard | None) -> Answered:
    """Have a simulated shoe deal its next card."""
    void = why_void(pressed, board, now_us)
    if draw_card is None:
        void = Refused.NO_SHOE
    if void is not None or draw_card is None:
        return Answered(pressed.request, False, void)
    draw_card()
    return Answered(pressed.request, True)
