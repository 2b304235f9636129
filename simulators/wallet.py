"""A wallet with a double-entry ledger: what the shipped betting system books with, and an example to copy.

It demonstrates the rules for consumers: it acts on `confirmed`, `cancelled` and `corrected` alone, books
each bet of a revision once, and stores its cursor in the transaction of the effect. Money is integer minor
units; what comes back for a wager is worked out by `controller.games.settlement` and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path

import msgspec

from controller.bus.acknowledging import ending_of
from controller.bus.envelope import (
    GENESIS,
    Envelope,
    Environment,
    check_origin,
    decode,
    event_of,
    message_hash,
    source_of,
)
from controller.bus.errors import ChainBroken
from controller.games.published import Outcome, VoidedDeal, Wager
from controller.games.settlement import REFUNDED_LATE, BoxSlip, LayoutSlip, Line, settle
from controller.table.events import Audience, RoundCancelled, RoundConfirmed, RoundCorrected
from controller.table.inputs import Acknowledge
from simulators.acknowledging import acknowledged
from simulators.actor import Feed, Listener, Planned
from simulators.ledger import CASH, HOUSE, Entry, Kind, Ledger, RoundRecord, RoundState, claims, purse

Slip = tuple[BoxSlip | LayoutSlip, ...]
"""All boxes of one player in one round, or what he has on the layout."""


class WalletStopped(Exception):
    """The table and the books contradict each other, or speak a language unknown here. A person must look."""


class Refusal(StrEnum):
    """Why a debit was not taken."""

    BALANCE = "BALANCE"
    ROUND_CANCELLED = "ROUND_CANCELLED"
    """The tombstone of a cancelled round; it stands for ever."""
    ROUND_ENDED = "ROUND_ENDED"
    """The slips are closed, or the result is booked."""
    OTHER_AMOUNT = "OTHER_AMOUNT"
    """The same bet was debited with another amount; nothing was changed."""
    WITHDRAWN = "WITHDRAWN"
    """The debit was cancelled; its key is used up."""


class Bet(msgspec.Struct, frozen=True):
    """What money is debited for. A round has each of them once. `late`: after "no more bets" (RPL-04).

    `deal`: the one whose answer it pays for; what is placed in betting time is of deal 1 (OAB-24).
    """

    roundid: str
    player: str
    box: str
    wager: Wager
    late: bool = False
    deal: int = 1

    @property
    def key(self) -> str:
        """Name the bet inside its round, such as `ann/box2/ANTE`, or `ann/box2/BET/deal2` after a redeal."""
        deal = f"/deal{self.deal}" if self.deal > 1 else ""
        return f"{self.player}/{self.box}/{self.wager}{deal}{'/late' if self.late else ''}"


class DebitAnswer(msgspec.Struct, frozen=True):
    """The answer to a debit; the same debit always gets the same one. `refusal` is None when it was taken."""

    refusal: Refusal | None

    @property
    def accepted(self) -> bool:
        """Whether the money was taken."""
        return self.refusal is None


class Credit(msgspec.Struct, frozen=True):
    """What one bet brought in one revision: the stake included, or the difference to the revision before."""

    bet: str
    amount: int
    outcome: str


class Told(msgspec.Struct, frozen=True):
    """A result as the wallet keeps it: the outcome, and the deals that were abandoned before it."""

    outcome: Outcome
    voided: tuple[VoidedDeal, ...] = ()


class Wallet(Listener):
    """The wallet of one table's players, an actor on the settlement feed.

    `path` is a database file; None keeps the books in memory. Everything it has accepted survives it.
    It `acknowledges` where the table's file lists it.
    """

    feed = Feed.SETTLEMENT

    def __init__(
        self,
        path: Path | None = None,
        *,
        table: str = "rp1",
        environment: Environment = Environment.SIMULATED,
        name: str = "wallet",
        acknowledges: bool = False,
    ) -> None:
        self.name = name
        self._acknowledges = acknowledges
        self._source = source_of(table, environment)
        self._stream = f"{table}/{Audience.SETTLEMENT}"
        self._ledger = Ledger(path, table)

    # Money in, stakes out.

    def deposit(self, player: str, amount: int, reference: str) -> None:
        """Pay `amount` into a purse; the same reference pays once. A slash would split a bet's key."""
        if "/" in player:
            raise ValueError(f"player {player!r}: a player's id has no slash")
        with self._ledger.transaction():
            entry = Entry("", 0, f"deposit/{reference}", Kind.DEPOSIT, amount)
            if self._ledger.entry(entry.roundid, entry.rev, entry.bet) is None:
                self._ledger.post(entry, {purse(player): amount, CASH: -amount})

    def debit(self, bet: Bet, amount: int) -> DebitAnswer:
        """Take a stake or a fee. Safe to repeat: the stored answer comes back, taken or refused."""
        assert amount > 0, f"{bet.key}: a debit of {amount}"
        with self._ledger.transaction():
            known = self._ledger.entry(bet.roundid, 0, bet.key)
            if known is not None:
                return self._stored(bet, known, amount)
            refusal = self._why_not(bet, amount)
            if refusal is not None:
                self._ledger.post(Entry(bet.roundid, 0, bet.key, Kind.REFUSED, amount, refusal), {})
            else:
                entry = Entry(bet.roundid, 0, bet.key, Kind.DEBIT, amount)
                self._ledger.post(entry, {purse(bet.player): -amount, HOUSE: amount})
            return DebitAnswer(refusal)

    def withdraw(self, bet: Bet) -> bool:
        """Cancel a debit before the slips are closed; False when there is nothing to cancel (any more)."""
        with self._ledger.transaction():
            taken = self._ledger.open_debits(bet.roundid).get(bet.key)
            known = self._ledger.round(bet.roundid)
            if taken is None or known.slips is not None or known.state is RoundState.CANCELLED:
                return False
            self._ledger.withdraw(bet.roundid, bet.key, {purse(bet.player): taken, HOUSE: -taken})
            return True

    def close_slips(self, roundid: str, slips: Mapping[str, Slip], *, deal: int = 1) -> None:
        """Take every player's final slip; no debit of the round's deals so far is taken after it.

        The result may be here already: then it is booked now. Slips of a cancelled round are dropped, and
        those of an abandoned deal when the next deal's come (OAB-24).
        Raises WalletStopped for other slips than those handed over before, or that the debits contradict.
        """
        encoded = msgspec.json.encode(slips, order="deterministic")
        with self._ledger.transaction():
            known = self._ledger.round(roundid)
            if known.state is RoundState.CANCELLED:
                return
            if known.slips is not None and deal <= known.deal:
                if (known.slips, known.deal) != (encoded, deal):
                    raise WalletStopped(f"{roundid}: other slips than those handed over before")
                return
            self._check_stakes(roundid, slips)
            self._ledger.save_round(roundid, msgspec.structs.replace(known, slips=encoded, deal=deal))
            if known.outcome is not None:
                self._book(roundid, known.rev, slips, msgspec.json.decode(known.outcome, type=Told))

    # What the table says.

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Book one message of the settlement feed, effect and cursor in one transaction.

        A message at or before the cursor has been booked. Raises ChainBroken for a gap or another chain,
        ForeignSource, MalformedMessage, and WalletStopped; the books are then as before the message.
        """
        envelope = decode(message)
        check_origin(envelope, source=self._source, stream=self._stream)
        with self._ledger.transaction():
            seq, last_hash = self._ledger.cursor() or (0, GENESIS)
            if envelope.seq <= seq:
                return []
            if envelope.seq != seq + 1 or envelope.prevhash != last_hash:
                raise ChainBroken(f"{envelope.id} does not follow number {seq} ({last_hash[:12]})")
            self._act(envelope)
            self._ledger.save_cursor(envelope.seq, message_hash(message))
            ending = ending_of(envelope)
            if ending is not None:
                self._ledger.save_ended(ending.roundid, ending.rev)
        return acknowledged(self.name, ending, now_us) if self._acknowledges else []

    def repeat(self, now_us: int) -> list[Planned]:
        """After a start: acknowledge once more what was booked last, since the table may not know."""
        last = self._ledger.ended()
        if last is None or not self._acknowledges:
            return []
        return acknowledged(self.name, Acknowledge(*last), now_us)

    def settle(
        self, roundid: str, rev: int, outcome: Outcome, voided: tuple[VoidedDeal, ...] = ()
    ) -> tuple[Credit, ...] | None:
        """Book a result; None while the slips are missing. The same revision gets the stored answer.

        Slips of an abandoned deal count for nothing (OAB-24). A higher revision pays the difference. Raises
        WalletStopped for a round that was cancelled, or a revision out of order.
        """
        with self._ledger.transaction():
            known = self._ledger.round(roundid)
            if known.state is RoundState.CANCELLED:
                raise WalletStopped(f"{roundid}: confirmed after it was cancelled")
            if rev <= known.rev:
                return self.credits(roundid, rev) if known.slips is not None else None
            if rev != known.rev + 1:
                raise WalletStopped(f"{roundid}: revision {rev} after revision {known.rev}")
            told = Told(outcome, voided)
            slips = known.slips if known.deal > len(voided) else None
            known = RoundRecord(RoundState.CONFIRMED, rev, slips, msgspec.json.encode(told), known.deal)
            self._ledger.save_round(roundid, known)
            if slips is None:
                return None
            self._book(roundid, rev, msgspec.json.decode(slips, type=dict[str, Slip]), told)
            return self.credits(roundid, rev)

    def cancel(self, roundid: str) -> tuple[Credit, ...]:
        """Refund every debit of the round and bury it; no debit of it is ever taken again (RPL-73).

        Raises WalletStopped for a round whose result is known: after it, only a correction may come.
        """
        with self._ledger.transaction():
            known = self._ledger.round(roundid)
            if known.state is RoundState.CONFIRMED:
                raise WalletStopped(f"{roundid}: cancelled after it was confirmed")
            if known.state is RoundState.OPEN:
                for bet, stake in self._ledger.open_debits(roundid).items():
                    entry = Entry(roundid, 1, bet, Kind.CREDIT, stake, "REFUND")
                    self._ledger.post(entry, {purse(_player(bet)): stake, HOUSE: -stake})
                buried = msgspec.structs.replace(known, state=RoundState.CANCELLED, rev=1)
                self._ledger.save_round(roundid, buried)
            return self.credits(roundid, 1)

    # What the books say.

    def credits(self, roundid: str, rev: int) -> tuple[Credit, ...]:
        """Return what was credited in a revision, the lost bets with 0."""
        entries = self._ledger.entries(roundid, rev)
        return tuple(Credit(entry.bet, entry.amount, entry.note) for entry in entries)

    def stakes(self, roundid: str) -> dict[str, int]:
        """Return what was debited in a round and not withdrawn, by bet."""
        return self._ledger.open_debits(roundid)

    def balance(self, player: str) -> int:
        """Return what is in a purse; 0 for a player nobody knows."""
        return self._ledger.balance(purse(player))

    def balances(self) -> dict[str, int]:
        """Return all purses, by player."""
        return {
            name.removeprefix(purse("")): amount
            for name, amount in self._ledger.balances().items()
            if name.startswith(purse(""))
        }

    def claim(self, player: str) -> int:
        """Return what a player owes after a correction that his purse could not bear."""
        return -self._ledger.balance(claims(player))

    def total(self) -> int:
        """Return the sum over all accounts, which is 0 in books that balance."""
        return sum(self._ledger.balances().values())

    def trial_balance(self) -> tuple[str, ...]:
        """Return what is wrong with the books, one sentence each; nothing in books that balance."""
        return tuple(self._ledger.faults())

    def waiting(self) -> tuple[str, ...]:
        """Return the rounds whose result is here and whose slips are not."""
        return self._ledger.rounds_without_slips()

    @property
    def cursor(self) -> tuple[int, str] | None:
        """Number and hash of the last message booked."""
        return self._ledger.cursor()

    def close(self) -> None:
        """Close the database file; a wallet in memory is gone with it."""
        self._ledger.close()

    def _stored(self, bet: Bet, known: Entry, amount: int) -> DebitAnswer:
        if known.amount != amount:
            return DebitAnswer(Refusal.OTHER_AMOUNT)
        if self._ledger.is_withdrawn(bet.roundid, bet.key):
            return DebitAnswer(Refusal.WITHDRAWN)
        return DebitAnswer(Refusal(known.note) if known.kind is Kind.REFUSED else None)

    def _why_not(self, bet: Bet, amount: int) -> Refusal | None:
        known = self._ledger.round(bet.roundid)
        if known.state is RoundState.CANCELLED:
            return Refusal.ROUND_CANCELLED
        if known.slips is not None and bet.deal <= known.deal:
            return Refusal.ROUND_ENDED
        return Refusal.BALANCE if amount > self.balance(bet.player) else None

    def _act(self, envelope: Envelope) -> None:
        event = event_of(envelope)
        if event is None:
            raise WalletStopped(f"{envelope.id}: no wallet here knows {envelope.type}; install a newer one")
        match event:
            case (
                RoundConfirmed(rev=rev, outcome=outcome, voided=voided)
                | RoundCorrected(rev=rev, outcome=outcome, voided=voided)
            ):
                self.settle(_roundid(envelope), rev, outcome, voided)
            case RoundCancelled():
                self.cancel(_roundid(envelope))
            case _:
                pass  # It moves no money.

    def _check_stakes(self, roundid: str, slips: Mapping[str, Slip]) -> None:
        """A player without a slip has no debit; what each slip stakes is compared when it is settled."""
        strangers = {_player(bet) for bet in self._ledger.open_debits(roundid)} - set(slips)
        if strangers:
            raise WalletStopped(f"{roundid}: debits without a slip: {', '.join(sorted(strangers))}")

    def _book(self, roundid: str, rev: int, slips: Mapping[str, Slip], told: Told) -> None:
        lines = {
            _bet_of(roundid, player, line).key: line
            for player, slip in slips.items()
            for line in _settled(roundid, player, slip, told)
        }
        staked = {bet: line.stake for bet, line in lines.items()}
        debits = self._ledger.open_debits(roundid)
        if staked != debits:
            odd = sorted(dict(staked.items() ^ debits.items()))
            raise WalletStopped(f"{roundid}: slips and debits differ for {', '.join(odd)}")
        for bet, line in lines.items():
            owed = line.returned - self._ledger.credited(roundid, bet)
            entry = Entry(roundid, rev, bet, Kind.CREDIT, owed, line.outcome)
            self._ledger.post(entry, self._postings(_player(bet), owed))

    def _postings(self, player: str, owed: int) -> dict[str, int]:
        """A negative difference that the purse can't bear is booked as a claim."""
        taken = max(owed, -self.balance(player))
        return {purse(player): taken, claims(player): owed - taken, HOUSE: -owed}


def _settled(roundid: str, player: str, slip: Slip, told: Told) -> Iterable[Line]:
    try:
        return settle(slip, told.outcome, told.voided)
    except ValueError as error:
        raise WalletStopped(f"{roundid}: slip of {player}: {error}") from error


def _bet_of(roundid: str, player: str, line: Line) -> Bet:
    late = line.rules == REFUNDED_LATE.rules
    return Bet(roundid, player, line.box, line.wager, late=late, deal=line.deal)


def _player(bet: str) -> str:
    return bet.partition("/")[0]


def _roundid(envelope: Envelope) -> str:
    if envelope.roundid is None:
        raise WalletStopped(f"{envelope.id}: {envelope.type} names no round")
    return envelope.roundid
