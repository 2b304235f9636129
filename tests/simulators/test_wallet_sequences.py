"""Every sequence of what a wallet can be told: money is conserved, and a tombstone is never broken.

The model beside it is a page of sums and knows nothing of ledgers. TABLECTL_SOAK=1 plays sequences of five.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from itertools import product

from controller.bus.envelope import Envelopes, Environment, Stamp
from controller.conformance import rounds
from controller.games.baccarat import LAYOUT
from controller.games.published import Outcome, Wager
from controller.games.settlement import LayoutSlip
from controller.table.events import Audience, Event
from simulators.wallet import Bet, Wallet, WalletStopped

LENGTH = 5 if os.environ.get("TABLECTL_SOAK") else 3
ROUND = "rp1-1"
OPENING = 1_000
FIRST = Bet(ROUND, "ann", LAYOUT, Wager.PLAYER)
LATE = Bet(ROUND, "ann", LAYOUT, Wager.TIE)
STAKES = {FIRST: 900, LATE: 60}
RESULTS = (rounds.PLAYER_WINS, rounds.BANKER_WINS, rounds.TIE)
KINDS = (
    "debit",
    "retry",
    "withdraw",
    "late",
    "cancel",
    "cancel again",
    "confirm",
    "confirm again",
    "correct",
)


@dataclass
class Model:
    """What must have happened to Ann's money."""

    answers: dict[Bet, bool] = field(default_factory=dict)
    withdrawn: set[Bet] = field(default_factory=set)
    state: str = "open"
    rev: int = 0
    returned: int = 0
    stopped: bool = False
    closed: bool = False
    """The slips are handed over."""

    @property
    def staked(self) -> dict[Bet, int]:
        taken = (bet for bet, accepted in self.answers.items() if accepted and bet not in self.withdrawn)
        return {bet: STAKES[bet] for bet in taken}

    @property
    def money(self) -> int:
        """The purse less what she owes."""
        return OPENING - sum(self.staked.values()) + self.returned

    def debit(self, bet: Bet) -> bool:
        if bet not in self.answers:
            self.answers[bet] = self.state == "open" and not self.closed and self.money >= STAKES[bet]
        return bet not in self.withdrawn and self.answers[bet]

    def withdraw(self, bet: Bet) -> bool:
        if self.state != "open" or self.closed or bet not in self.staked:
            return False
        self.withdrawn.add(bet)
        return True

    def cancel(self) -> None:
        if self.state == "confirmed":
            self.stopped = True
        else:
            self.state, self.returned = "cancelled", sum(self.staked.values())

    def result(self, rev: int) -> None:
        if self.state == "cancelled" or rev > self.rev + 1:
            self.stopped = True
        elif rev == self.rev + 1:
            stakes = {bet.wager: stake for bet, stake in self.staked.items()}
            self.state, self.rev = "confirmed", rev
            self.returned = rounds.returned(RESULTS[(rev - 1) % 3], stakes)


class Table:
    """Says what it is told to say, numbered and chained."""

    def __init__(self) -> None:
        self._envelopes = Envelopes(table="rp1", environment=Environment.SIMULATED)
        self.said: dict[str, bytes] = {}
        self.rev = 0

    def say(self, kind: str) -> bytes:
        match kind:
            case "cancel":
                [event, _] = rounds.cancelled()
            case "confirm":
                self.rev = max(self.rev, 1)
                [event, _] = rounds.confirmed(RESULTS[0])
            case _:
                self.rev = max(self.rev, 1) + 1
                [event, _] = rounds.corrected(ROUND, self._result(), rev=self.rev)
        self.said[kind] = self._message(event)
        return self.said[kind]

    def _result(self) -> Outcome:
        return RESULTS[(self.rev - 1) % 3]

    def _message(self, event: Event) -> bytes:
        stamp = Stamp(at_us=1, epoch=1, phase="dealing", rules="r", roundid=ROUND, rev=max(self.rev, 1))
        [message] = self._envelopes.build([event], stamp)[Audience.SETTLEMENT]
        return message


def play(sequence: tuple[str, ...]) -> None:
    wallet, model, table = Wallet(), Model(), Table()
    wallet.deposit("ann", OPENING, "opening")
    for kind in sequence:
        step(wallet, model, table, kind)
        purse, owed = wallet.balance("ann"), wallet.claim("ann")
        assert (purse - owed, purse >= 0) == (model.money, True), (sequence, kind)
        assert wallet.total() == 0 and wallet.trial_balance() == (), (sequence, kind)
    if model.state == "cancelled":
        assert wallet.balance("ann") == OPENING, sequence
        assert not wallet.debit(Bet(ROUND, "ann", LAYOUT, Wager.BANKER), 1).accepted, sequence
    wallet.close()


def step(wallet: Wallet, model: Model, table: Table, kind: str) -> None:
    match kind:
        case "debit" | "retry":
            assert wallet.debit(FIRST, STAKES[FIRST]).accepted == model.debit(FIRST)
        case "late":
            assert wallet.debit(LATE, STAKES[LATE]).accepted == model.debit(LATE)
        case "withdraw":
            assert wallet.withdraw(FIRST) == model.withdraw(FIRST)
        case "cancel again" | "confirm again":
            message = table.said.get(kind.removesuffix(" again"))
            if message is not None and not model.stopped:
                wallet.heard(message, 0)
        case _:
            tell(wallet, model, table, kind)


def tell(wallet: Wallet, model: Model, table: Table, kind: str) -> None:
    """Say something new; a wallet that it contradicts stops, with its books as before."""
    message = table.say(kind)
    if model.stopped:
        return
    if kind == "cancel":
        model.cancel()
    else:
        wallet.close_slips(ROUND, slips(model))
        model.closed = model.state != "cancelled"
        model.result(1 if kind == "confirm" else table.rev)
    try:
        wallet.heard(message, 0)
    except WalletStopped:
        assert model.stopped, kind
    else:
        assert not model.stopped, kind


def slips(model: Model) -> dict[str, tuple[LayoutSlip, ...]]:
    stakes = {bet.wager: stake for bet, stake in model.staked.items()}
    return {"ann": (LayoutSlip(LAYOUT, stakes),)} if stakes else {}


def test_every_sequence_conserves_money_and_keeps_tombstones() -> None:
    sequences = list(product(KINDS, repeat=LENGTH))
    for sequence in sequences:
        play(sequence)
    print(f"{len(sequences)} sequences of length {LENGTH}")
