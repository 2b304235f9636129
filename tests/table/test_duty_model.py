"""People come and go in any order; a second, much simpler account of rows 31 and 32 says what comes of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random

import msgspec
import pytest
from profiles import profile
from table.dealt import ANNA, BORIS, CLARA, DORA, SETTINGS, Dealt, digest, refusal

from controller.cards import DECK
from controller.table import inputs as i
from controller.table.events import HaltReason, IncidentKind, Refusal
from controller.table.inputs import Role
from controller.table.picture import draw

MAY = {
    ANNA: {Role.DEALER},
    DORA: {Role.DEALER, Role.SUPERVISOR},
    BORIS: {Role.SUPERVISOR},
    CLARA: {Role.SUPERVISOR},
}
STEPS = 120


class Account:
    """Who is on duty, whether a round is open, and whether the table pauses, as a pit boss notes it."""

    def __init__(self) -> None:
        self.duty: dict[str, Role] = {}
        self.in_round = False
        self.paused_by: Role | None = None

    @property
    def has_dealer(self) -> bool:
        return Role.DEALER in self.duty.values()

    def log_in(self, actor: str, role: Role, right: bool) -> Refusal | None:
        if actor in self.duty:
            return Refusal.DUAL_LOGIN
        if not right:
            return Refusal.WRONG_SECRET
        if role not in MAY[actor]:
            return Refusal.WRONG_ROLE
        if role is Role.DEALER and self.has_dealer:
            return Refusal.DUAL_LOGIN
        self.duty[actor] = role
        return None

    def log_out(self, actor: str, whom: str) -> Refusal | None:
        if actor not in self.duty:
            return Refusal.NOT_ON_DUTY
        if whom != actor and self.duty[actor] is not Role.SUPERVISOR:
            return Refusal.WRONG_ROLE
        if whom not in self.duty:
            return Refusal.NOT_ON_DUTY
        if self.duty[whom] is Role.DEALER and self.in_round:
            return Refusal.IN_A_ROUND
        del self.duty[whom]
        return None

    def start(self, actor: str) -> Refusal | None:
        if actor not in self.duty:
            return Refusal.NOT_ON_DUTY
        if self.in_round:
            return Refusal.WRONG_PHASE
        if not self.has_dealer:
            return Refusal.NO_DEALER
        if self.paused_by is not None:
            return Refusal.PAUSED
        self.in_round = True
        return None

    def pause(self, actor: str) -> Refusal | None:
        if actor not in self.duty:
            return Refusal.NOT_ON_DUTY
        if self.paused_by is not None:
            return Refusal.HALTED_ALREADY
        self.paused_by = self.duty[actor]
        return None

    def resume(self, actor: str) -> Refusal | None:
        if actor not in self.duty:
            return Refusal.NOT_ON_DUTY
        if self.paused_by is None:
            return Refusal.NOT_HALTED
        if self.paused_by is Role.SUPERVISOR and self.duty[actor] is not Role.SUPERVISOR:
            return Refusal.WRONG_ROLE
        self.paused_by = None
        return None


class Both:
    """The table and the account, side by side."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.account = Account()
        shipped = profile("russian_poker_live", login_tries=1_000, breaker_cases=1_000, count_every_rounds=0)
        self.d = Dealt(settings=msgspec.structs.replace(SETTINGS, profile=shipped), staffed=False)
        self.d.start()
        self.d.plug()
        assert self.log_in(BORIS, Role.SUPERVISOR, True) is None
        self.d.press(i.OpenTable(), BORIS)
        for card in DECK:
            self.d.scan(str(card))
        for command in (i.VerifyDeck(52), i.ConfirmShuffle()):
            self.d.press(command, BORIS)

    def press(self, command: i.AnyCommand, actor: str) -> Refusal | None:
        """Press in the role of the duty; who is off duty, in a role that he has."""
        role = self.d.table.state.duty.role_of(actor) or min(MAY[actor])
        return refusal(self.d.press(command, actor, role=role))

    def log_in(self, actor: str, role: Role, right: bool) -> Refusal | None:
        given = role if role in MAY[actor] else min(MAY[actor])
        command = i.LogIn(role, actor, i.Proof.PIN if right else None)
        told = refusal(self.d.press(command, actor, role=given))
        assert told == self.account.log_in(actor, role, right), (actor, role)
        return told

    def end_round(self) -> None:
        """Cancel and collect, where a dealer and a supervisor are there to do so."""
        roles = {role: actor for actor, role in self.account.duty.items()}
        if not self.account.in_round or len(roles) < 2:
            return
        dealer, supervisor = roles[Role.DEALER], roles[Role.SUPERVISOR]
        for command, actor in (
            (i.Observed(IncidentKind.DEVICE_FAILED), dealer),
            (i.ConfirmCancel(), supervisor),
            (i.ClearTable(), dealer),
            (i.ConfirmShuffle(), dealer),
        ):
            assert self.press(command, actor) is None
        self.account.in_round = False

    def step(self) -> Refusal | None:
        """Do one thing, sensible or not; returns how it was answered."""
        random, account = self.random, self.account
        actor, whom = random.choice(tuple(MAY)), random.choice(tuple(MAY))
        role = Role.SUPERVISOR if account.in_round else random.choice((Role.DEALER, Role.SUPERVISOR))
        kind = random.randrange(7)
        if kind < 2:
            return self.log_in(actor, role, random.random() < 0.9)
        presses: list[tuple[i.AnyCommand, Callable[[], Refusal | None]]] = [
            (i.LogOut(whom if whom != actor else None), lambda: account.log_out(actor, whom)),
            (i.OpenBetting(), lambda: account.start(actor)),
            (i.PauseTable(HaltReason.BREAK), lambda: account.pause(actor)),
            (i.ResumeTable(), lambda: account.resume(actor)),
        ]
        if kind - 2 == len(presses):
            self.end_round()
            return None
        command, expected = presses[kind - 2]
        told = self.press(command, actor)
        assert told == expected(), (command, actor)
        return told


@pytest.mark.parametrize("seed", range(60 if os.environ.get("TABLECTL_SOAK") else 12))
def test_no_legal_order_is_refused_and_a_wrong_one_changes_nothing(seed: int) -> None:
    both = Both(seed)
    for _ in range(STEPS):
        before = digest(both.d.table)
        if both.step() is not None:
            assert digest(both.d.table) == before
        shown = draw(both.d.table.state)
        assert {shown.dealer, *shown.supervisors} - {None} == set(both.account.duty)
        assert ("open_betting" in shown.buttons) == (
            both.account.has_dealer and both.account.paused_by is None and not both.account.in_round
        )


def test_the_orders_above_meet_every_answer() -> None:
    """The proof that they are worth something."""
    told: set[Refusal | None] = set()
    rounds = 0
    for seed in range(12):
        both = Both(seed)
        told |= {both.step() for _ in range(STEPS)}
        rounds += both.d.table.state.round_no
    assert told >= {
        None,
        Refusal.WRONG_SECRET,
        Refusal.WRONG_ROLE,
        Refusal.DUAL_LOGIN,
        Refusal.NOT_ON_DUTY,
        Refusal.IN_A_ROUND,
        Refusal.NO_DEALER,
        Refusal.PAUSED,
        Refusal.HALTED_ALREADY,
        Refusal.NOT_HALTED,
    }
    assert rounds > 12
