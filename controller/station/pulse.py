"""What `alive` says of a table."""

from __future__ import annotations

from controller.bus.publisher import OpenWindow, Pulse
from controller.table.dealing import BETTING
from controller.table.events import EVERYBODY, SHOW
from controller.table.state import TableState


def pulse_of(state: TableState, now_us: int) -> Pulse:
    """Return the pulse of now; the bettors are told of betting time alone, the show of every open window."""
    window = state.round.window if state.round is not None else None
    told = None
    if window is not None and window.is_open:
        audiences = EVERYBODY if window.window == BETTING else SHOW
        told = OpenWindow(window.window, window.closes_at, audiences)
    return Pulse(at_us=now_us, epoch=state.epoch, phase=state.phase, window=told)
