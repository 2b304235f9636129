"""Cases of the betting lease: when a new bet may be taken, and when none may."""

from __future__ import annotations

import asyncio

from controller.conformance import rounds
from controller.conformance.case import STALE_S, WalletTrial


async def bets_are_taken_in_betting_time(trial: WalletTrial) -> None:
    """Betting time is open, the table is alive, nothing is missing."""
    await trial.open_round()
    await trial.opens()


async def none_before_the_first_round(trial: WalletTrial) -> None:
    """No round, no bets."""
    await trial.stays_shut(for_s=0.5)


async def the_dealer_ends_betting_time(trial: WalletTrial) -> None:
    """`bets.closed` ends betting time before its published end."""
    await trial.open_round()
    await trial.opens()
    await trial.close()
    await trial.shuts()


async def a_lost_close_extends_nothing(trial: WalletTrial) -> None:
    """Betting time ends at its published time, whether `bets.closed` arrives or not."""
    await trial.open_round(duration_ms=1_500)
    await trial.opens()
    await asyncio.sleep(1.5)
    await trial.shuts(within_s=0.3)


async def a_late_opening_gives_what_is_left(trial: WalletTrial) -> None:
    """The opening is heard late: the published time counts, not the duration from now on."""
    await trial.open_round(duration_ms=10_000, begun_ms_ago=8_500)
    await trial.opens()
    await asyncio.sleep(1.5)
    await trial.shuts(within_s=0.3)


async def a_clock_behind_gives_no_more_than_the_duration(trial: WalletTrial) -> None:
    """The consumer's clock is behind the table's: the duration since receipt counts."""
    await trial.open_round(duration_ms=1_500, begun_ms_ago=-60_000)
    await trial.opens()
    await asyncio.sleep(1.5)
    await trial.shuts(within_s=0.3)


async def an_opening_of_the_past_opens_nothing(trial: WalletTrial) -> None:
    """An opening that is heard after its published end."""
    await trial.open_round(duration_ms=1_000, begun_ms_ago=5_000)
    await trial.stays_shut(for_s=0.7)


async def a_window_is_not_opened_twice(trial: WalletTrial) -> None:
    """The opening arrives again after the close: a window is never reopened."""
    trial.next_round()
    opening = await trial.table.say(*trial.opened(), rounds.betting(trial.round_no))
    await trial.opens()
    await trial.close()
    await trial.shuts()
    await trial.table.send(*opening)
    await trial.stays_shut()


async def an_incident_stops_betting(trial: WalletTrial) -> None:
    """An incident that stops betting; after its end bets are taken again."""
    await trial.open_round()
    await trial.opens()
    await trial.table.say(rounds.halt(7))
    await trial.shuts()
    await trial.table.say(rounds.halt(7, over=True))
    await trial.opens()


async def each_of_two_incidents_stops_betting(trial: WalletTrial) -> None:
    """Of two incidents the end of one is not the end of both."""
    await trial.open_round()
    await trial.opens()
    await trial.table.say(rounds.halt(7), rounds.halt(8))
    await trial.table.say(rounds.halt(8, over=True))
    await trial.caught_up()
    await trial.stays_shut(for_s=0.5)


async def a_cancel_ends_betting_time(trial: WalletTrial) -> None:
    """`cancelled` in betting time ends it."""
    await trial.open_round()
    await trial.opens()
    await trial.cancel()
    await trial.shuts()


async def three_seconds_of_silence_shut(trial: WalletTrial) -> None:
    """No `alive` for 3 s: no new bets; `alive` again: they are taken again."""
    await trial.open_round()
    await trial.opens()
    trial.table.is_alive = False
    await asyncio.sleep(STALE_S)
    await trial.shuts(within_s=0.5)
    trial.table.is_alive = True
    await trial.opens()


async def silence_is_no_end_of_a_round(trial: WalletTrial) -> None:
    """No `alive` for 3 s: open rounds wait; nothing is refunded, and the result is paid."""
    await trial.staked(ann=100)
    await trial.caught_up()
    trial.table.is_alive = False
    await asyncio.sleep(STALE_S)
    await trial.has_now(ann=900)
    trial.table.is_alive = True
    await trial.confirm()
    await trial.has(ann=1_100)


async def messages_are_no_sign_of_life(trial: WalletTrial) -> None:
    """Only `alive` says that the table is alive; messages of a stopped clock do not."""
    await trial.open_round()
    await trial.opens()
    trial.table.is_alive = False
    for incident in range(10, 24):
        await trial.table.say(rounds.halt(incident), rounds.halt(incident, over=True))
        await asyncio.sleep(STALE_S / 14)
    await trial.shuts(within_s=0.5)


async def a_restarted_consumer_keeps_the_published_end(trial: WalletTrial) -> None:
    """A consumer that starts in betting time takes bets until the published end, or none."""
    await trial.open_round(duration_ms=3_000)
    await trial.opens()
    await trial.restart_subject()
    await asyncio.sleep(3.0)
    await trial.shuts(within_s=0.3)


CASES = (
    bets_are_taken_in_betting_time,
    none_before_the_first_round,
    the_dealer_ends_betting_time,
    a_lost_close_extends_nothing,
    a_late_opening_gives_what_is_left,
    a_clock_behind_gives_no_more_than_the_duration,
    an_opening_of_the_past_opens_nothing,
    a_window_is_not_opened_twice,
    an_incident_stops_betting,
    each_of_two_incidents_stops_betting,
    a_cancel_ends_betting_time,
    three_seconds_of_silence_shut,
    silence_is_no_end_of_a_round,
    messages_are_no_sign_of_life,
    a_restarted_consumer_keeps_the_published_end,
)
