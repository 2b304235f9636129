"""What a case has in its hands: the table that the kit plays, the subject, and what to hold against it.

A case is one coroutine function; its docstring says the clause of the contract. It ends, or raises `Differs`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from controller.conformance import rounds
from controller.conformance.feed import KitTable
from controller.conformance.subject import Subject
from controller.games.baccarat import LAYOUT
from controller.games.published import Outcome, Wager

OPENING = 1_000
PLAYERS = ("ann", "bob")
CATCH_UP_S = 4.0
QUIET_S = 1.3
"""How long something that must not happen is waited for: longer than a consumer's retry."""
STALE_S = 3.5
POLL_S = 0.02


class Differs(Exception):
    """The subject did something else than the contract says."""


@dataclass
class Trial:
    """One case being played. `books` names the subject's books; they outlive its process."""

    table: KitTable
    subject: Subject
    books: str
    round_no: int = 0
    starts: int = 0

    async def begin(self) -> None:
        """Start the subject and wait until it listens. Raises Differs if it never subscribes."""
        self.starts += 1
        await self.subject.start(self.table.feed, books=self.books)
        if not await self.table.joined():
            raise Differs("the subject has not subscribed to the live feed in 5 s")

    async def restart_subject(self) -> None:
        """Kill the subject's process and start it on the same books."""
        await self.subject.kill()
        await self.begin()

    async def caught_up(self) -> None:
        """Wait until the subject has acted on the table's last message. Raises Differs."""
        await self.comes(lambda: self.reached(self.table.snapshot.seq), "the last message is acted on")

    async def reached(self, seq: int) -> bool:
        """Whether the subject has acted on message `seq`."""
        where = await self.subject.ask("where")
        return bool(where["seq"] >= seq)

    async def comes(
        self, is_so: Callable[[], Awaitable[bool]], what: str, *, within_s: float = CATCH_UP_S
    ) -> None:
        """Wait until something is so. Raises Differs."""
        loop = asyncio.get_running_loop()
        end = loop.time() + within_s
        while not await is_so():
            if loop.time() > end:
                where = dict(await self.subject.ask("where"))
                raise Differs(f"{what}: not in {within_s} s; the subject is at {where}")
            await asyncio.sleep(POLL_S)


class WalletTrial(Trial):
    """A case of a wallet: two players with 1,000 each, and rounds in which they bet."""

    async def begin_with_money(self) -> None:
        """Start the subject and fill the purses."""
        await self.begin()
        for player in PLAYERS:
            await self.subject.ask("deposit", player=player, amount=OPENING, reference=f"opening-{player}")

    async def open_round(self, **betting: int) -> None:
        """Open the next round and its betting time."""
        self.next_round()
        await self.table.say(*self.opened(), rounds.betting(self.round_no, **betting))

    def next_round(self) -> None:
        """Go on to the next round; what is said belongs to it."""
        self.round_no += 1
        self.table.roundid, self.table.rev = f"{self.table.feed.table}-{self.round_no}", 1
        self.table.phase = "betting"

    def opened(self) -> list[Any]:
        """Return the opening of the round."""
        return rounds.opening(self.round_no)

    @property
    def roundid(self) -> str:
        """The round that is played."""
        assert self.table.roundid is not None, "a round has been opened"
        return self.table.roundid

    async def bet(
        self, player: str, amount: int, *, wager: Wager = Wager.PLAYER, roundid: str | None = None
    ) -> bool:
        """Ask for a debit; return whether the money was taken."""
        answer = await self.subject.ask("debit", **self.named(player, wager, roundid), amount=amount)
        return bool(answer["accepted"])

    async def withdraw(self, player: str, *, wager: Wager = Wager.PLAYER) -> bool:
        """Ask for a debit to be cancelled; return whether it was."""
        answer = await self.subject.ask("withdraw", **self.named(player, wager, None))
        return bool(answer["accepted"])

    def named(self, player: str, wager: Wager, roundid: str | None) -> Mapping[str, str]:
        """Return the key of a bet."""
        return {
            "roundid": roundid or self.roundid,
            "player": player,
            "box": LAYOUT,
            "wager": wager,
        }

    async def taken(self, player: str, amount: int, *, wager: Wager = Wager.PLAYER) -> None:
        """Place a bet that has to be taken. Raises Differs."""
        if not await self.bet(player, amount, wager=wager):
            raise Differs(f"a bet of {amount} of {player} on {wager}: refused, expected to be taken")

    async def refused(self, player: str, amount: int, *, roundid: str | None = None) -> None:
        """Ask for a debit that has to be refused. Raises Differs."""
        if await self.bet(player, amount, roundid=roundid):
            raise Differs(f"a debit of {amount} of {player}: taken, expected to be refused")

    async def staked(self, *, ann: int = 100, bob: int = 0) -> None:
        """Play the next round until bets are closed; Ann bets on Player, Bob on Banker."""
        await self.open_round()
        await self.caught_up()
        if ann:
            await self.taken("ann", ann)
        if bob:
            await self.taken("bob", bob, wager=Wager.BANKER)
        await self.close()

    async def close(self) -> None:
        """Say that no more bets are taken."""
        self.table.phase = "dealing"
        await self.table.say(rounds.no_more_bets(self.round_no))

    async def confirm(self, outcome: Outcome = rounds.PLAYER_WINS) -> list[bytes]:
        """Say the result; return its messages."""
        self.table.phase = "confirmed"
        return await self.table.say(*rounds.confirmed(outcome))

    async def confirm_next_round(self) -> None:
        """Play one more round without bets, so that something follows what has gone before."""
        self.next_round()
        await self.table.say(*self.opened(), rounds.betting(self.round_no))
        await self.close()
        await self.confirm(rounds.TIE)

    async def cancel(self) -> list[bytes]:
        """Cancel the round; return its messages."""
        self.table.phase = "cancelled"
        return await self.table.say(*rounds.cancelled())

    async def correct(self, outcome: Outcome | None, *, rev: int = 2) -> list[bytes]:
        """Correct the round's result; return the messages."""
        self.table.rev = rev
        return await self.table.say(*rounds.corrected(self.roundid, outcome, rev=rev))

    async def has(self, ann: int, bob: int = OPENING, *, owed: int = 0) -> None:
        """Hold the purses, and what Ann owes, against the books once all is acted on. Raises Differs."""
        await self.caught_up()
        await self.has_now(ann, bob, owed=owed)

    async def has_now(self, ann: int, bob: int = OPENING, *, owed: int = 0) -> None:
        """Hold the purses, and what Ann owes, against the books as they are. Raises Differs."""
        books = {player: await self.subject.ask("balance", player=player) for player in PLAYERS}
        got = (books["ann"]["balance"], books["bob"]["balance"], books["ann"].get("claim", 0))
        if got != (ann, bob, owed):
            when = "after its restart " if self.starts > 1 else ""
            told = f"{when}ann has {got[0]}, bob {got[1]}, ann owes {got[2]}"
            raise Differs(f"{told}; expected {ann}, {bob}, {owed}")

    async def stands(self, ann: int, bob: int = OPENING) -> None:
        """Hold that nothing moves any more, whether the subject goes on or has stopped. Raises Differs."""

        async def is_decided() -> bool:
            return await self.has_stopped() or await self.reached(self.table.snapshot.seq)

        await self.comes(is_decided, "the last message is acted on, or the wallet has stopped")
        await self.has_now(ann, bob)

    async def has_stopped(self) -> bool:
        """Whether the subject says that a person must look."""
        where = await self.subject.ask("where")
        return bool(where["state"] == "stopped")

    async def stops(self) -> None:
        """Wait until the subject has stopped. Raises Differs."""
        await self.comes(self.has_stopped, "the wallet has stopped")

    async def takes_bets(self) -> bool:
        """Whether the subject would take a new bet now."""
        answer = await self.subject.ask("betting")
        return bool(answer["open"])

    async def opens(self) -> None:
        """Wait until new bets are taken. Raises Differs."""
        await self.comes(self.takes_bets, "new bets are taken")

    async def shuts(self, *, within_s: float = CATCH_UP_S) -> None:
        """Wait until no new bets are taken. Raises Differs."""

        async def is_shut() -> bool:
            return not await self.takes_bets()

        await self.comes(is_shut, "no new bets are taken", within_s=within_s)

    async def stays_shut(self, *, for_s: float = QUIET_S) -> None:
        """Hold that no new bet is taken all this time. Raises Differs."""
        loop = asyncio.get_running_loop()
        end = loop.time() + for_s
        while loop.time() < end:
            if await self.takes_bets():
                raise Differs("new bets are taken, expected none")
            await asyncio.sleep(POLL_S)


WalletCase: TypeAlias = Callable[[WalletTrial], Awaitable[None]]
