"""The betting lease by itself: two clocks, one window a round."""

from __future__ import annotations

from controller.bus.lease import Lease
from controller.conformance import rounds
from controller.table.events import BettingOpened, Event

SECOND = 1_000_000
NOON = 1_700_000_000 * SECOND
OPENED = BettingOpened(
    window="betting",
    prompt="PLACE_BETS",
    duration_ms=15_000,
    closes_at_us=NOON + 15 * SECOND,
    guard_ms=1_000,
    grace_ms=500,
)


def held(*heard: Event, wall_us: int = NOON, monotonic_us: int = 0) -> Lease:
    lease = Lease()
    for event in heard:
        lease.heard(event, wall_us=wall_us, monotonic_us=monotonic_us)
    return lease


def is_open(lease: Lease, after_s: float, *, wall_is_off_s: float = 0) -> bool:
    wall_us = NOON + round((after_s + wall_is_off_s) * SECOND)
    return lease.is_open(wall_us=wall_us, monotonic_us=round(after_s * SECOND))


def test_betting_time_ends_at_its_published_time() -> None:
    lease = held(OPENED)
    assert is_open(lease, 0) and is_open(lease, 14.999) and not is_open(lease, 15)


def test_the_earlier_of_two_clocks_counts() -> None:
    assert not is_open(held(OPENED), 14.6, wall_is_off_s=0.4)
    assert not is_open(held(OPENED, wall_us=NOON - 60 * SECOND), 15, wall_is_off_s=-60)
    late = held(OPENED, wall_us=NOON + 5 * SECOND, monotonic_us=5 * SECOND)
    assert is_open(late, 14.9) and not is_open(late, 15)


def test_a_wall_clock_that_is_set_back_gives_nothing() -> None:
    assert not is_open(held(OPENED), 15, wall_is_off_s=-3_600)


def test_a_window_is_open_once_a_round() -> None:
    opening = rounds.opening(1)
    for end in (rounds.no_more_bets(1), rounds.cancelled()[0], rounds.confirmed(rounds.TIE)[0]):
        assert not is_open(held(*opening, OPENED, end), 1)
        assert not is_open(held(*opening, OPENED, end, OPENED), 1)
        assert is_open(held(*opening, OPENED, end, *rounds.opening(2), OPENED), 1)


def test_an_incident_that_stops_betting_does_so_until_its_end() -> None:
    assert not is_open(held(OPENED, rounds.halt(7)), 1)
    assert not is_open(held(OPENED, rounds.halt(7), rounds.halt(8), rounds.halt(7, over=True)), 1)
    assert is_open(held(OPENED, rounds.halt(7), rounds.halt(7, over=True)), 1)
