"""The betting lease, as a consumer holds it: may a bet of this round be taken now?

Betting time ends at its published time by the wall clock, or so long after the opening was heard as it lasts
by the monotonic clock, whichever is earlier. A lost or late `bets.closed` extends nothing, and nothing opens
a window a second time.
"""

from __future__ import annotations

from controller.table import events


class Lease:
    """One table's lease, folded from the events of any audience in order.

    It knows nothing of the line: who takes bets asks `Subscription.stale` and `behind` too.
    """

    def __init__(self) -> None:
        self._window: str | None = None
        self._closes_at_us = 0
        self._expires_us = 0
        self._is_over = False
        """Betting time of this round has been open, and is not any more."""
        self._halts: set[int] = set()

    def heard(self, event: events.Event | None, *, wall_us: int, monotonic_us: int) -> None:
        """Take the next event, received at these times of the consumer's own two clocks."""
        match event:
            case events.BettingOpened() if not self._is_over:
                self._window = event.window
                self._closes_at_us = event.closes_at_us
                self._expires_us = min(
                    monotonic_us + event.duration_ms * 1_000,
                    monotonic_us + event.closes_at_us - wall_us,
                )
            case events.RoundOpened():
                self._window, self._is_over = None, False
                self._halts.clear()
            case events.BetsClosed() | events.RoundConfirmed() | events.RoundCancelled():
                self._window, self._is_over = None, True
            case events.IncidentOpened(stops_betting=True):
                self._halts.add(event.incident)
            case events.IncidentClosed():
                self._halts.discard(event.incident)
            case _:
                pass  # It neither opens nor ends betting time.

    def is_open(self, *, wall_us: int, monotonic_us: int) -> bool:
        """Whether betting time still runs by both clocks, and no incident stops it."""
        running = wall_us < self._closes_at_us and monotonic_us < self._expires_us
        return self._window is not None and not self._halts and running
