"""Who is on duty: rows 31 and 32 of the procedures, log-ins that fail, restarts and boundaries."""

from __future__ import annotations

import msgspec
import pytest
from profiles import profile
from table.dealt import (
    ANNA,
    BETS,
    BORIS,
    CLARA,
    DORA,
    FAILS,
    IN_A_ROUND,
    SETTINGS,
    STAFF,
    Dealt,
    digest,
    every,
    only,
    refusal,
)
from table.test_matrix import attempts

from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import (
    Audience,
    CardBurned,
    CardDealt,
    DealerChanged,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    LoggedIn,
    LoggedOut,
    Refusal,
    RoundCancelled,
    RoundOpened,
    Verdict,
)
from controller.table.events.reasons import HaltReason
from controller.table.inputs import Role
from controller.table.picture import draw
from controller.table.table import Table

BURNS = msgspec.structs.replace(SETTINGS, profile=profile("russian_poker_live", burn_at_dealer_change=True))


def next_round(d: Dealt) -> Dealt:
    """Collect the cards and go to START."""
    d.press(i.ClearTable())
    d.press(i.ConfirmShuffle())
    return d


def relieved(d: Dealt) -> Dealt:
    """Anna goes, Dora comes."""
    d.press(i.LogOut())
    d.log_in(DORA)
    return d


# Row 32.


def test_row_32_no_round_without_a_dealer() -> None:
    d = Dealt().to_ready()
    d.press(i.LogOut())
    shown = draw(d.table.state)
    assert shown.prompt.code == "LOG_IN" and "open_betting" not in shown.buttons and shown.dealer is None
    before = digest(d.table)
    assert refusal(d.press(i.OpenBetting(), BORIS)) is Refusal.NO_DEALER  # Not for a supervisor either.
    assert digest(d.table) == before and d.phase is Phase.READY
    d.log_in(DORA)
    d.press(i.OpenBetting(), DORA)
    assert only(d.last, RoundOpened).dealer == DORA


@pytest.mark.parametrize("actor", [ANNA, BORIS])
def test_row_32_who_is_not_on_duty_presses_nothing(actor: str) -> None:
    d = Dealt(staffed=False)
    d.start()
    d.plug()
    for name, attempt in attempts():
        if name in i.PRESS_NAMES or name == "log_out":
            before = digest(d.table)
            attempt(d)
            assert refusal(d.last) is Refusal.NOT_ON_DUTY and digest(d.table) == before, name
    assert draw(d.table.state).buttons == ()
    d.log_in(actor)
    assert "open_table" in draw(d.table.state).buttons
    assert refusal(d.press(i.OpenTable(), actor)) is None


def test_row_32_a_second_dealer_is_refused_between_rounds() -> None:
    d = Dealt().to_ready()
    before = digest(d.table)
    assert refusal(d.log_in(DORA)) is Refusal.DUAL_LOGIN
    assert digest(d.table) == before and draw(d.table.state).dealer == ANNA


@pytest.mark.parametrize(
    ("actor", "role"), [(ANNA, Role.DEALER), (ANNA, Role.SUPERVISOR), (BORIS, Role.DEALER)]
)
def test_row_32_nobody_is_on_duty_twice(actor: str, role: Role) -> None:
    d = Dealt().to_ready()
    before = digest(d.table)
    assert refusal(d.log_in(actor, role)) is Refusal.DUAL_LOGIN
    assert digest(d.table) == before


def test_row_32_a_role_that_a_person_has_not_is_refused() -> None:
    d = Dealt().to_ready()
    wanted = i.LogIn(Role.SUPERVISOR, "Dora", i.Proof.PIN)
    assert refusal(d.press(wanted, DORA, role=Role.DEALER)) is Refusal.WRONG_ROLE


def test_a_press_in_another_role_than_that_of_the_duty_is_refused() -> None:
    d = Dealt().to_dealing().deal(3)
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    assert refusal(d.press(i.ConfirmCancel(), ANNA, role=Role.SUPERVISOR)) is Refusal.NOT_ON_DUTY


def test_the_betting_system_is_no_person() -> None:
    d = Dealt().to_ready()
    assert refusal(d.press(i.LogIn(Role.BETTING, "Bets", i.Proof.PIN), BETS)) is Refusal.WRONG_ROLE
    assert refusal(d.press(i.LogOut(ANNA), BETS)) is Refusal.WRONG_ROLE


# Row 31.


def test_row_31_dealers_change_between_rounds() -> None:
    d = next_round(Dealt().to_confirmed())
    d.press(i.LogOut())
    assert only(d.last, LoggedOut).actor == ANNA and only(d.last, DealerChanged) == DealerChanged()
    d.log_in(DORA)
    changed = only(d.last, DealerChanged)
    assert (changed.dealer, changed.name, changed.signed_by) == (DORA, "Dora", ())
    d.press(i.OpenBetting(), DORA)
    assert only(d.last, RoundOpened).dealer == DORA
    assert refusal(d.press(i.CloseBetting(), ANNA)) is Refusal.NOT_ON_DUTY


@pytest.mark.parametrize("where", IN_A_ROUND)
def test_row_31_no_dealer_leaves_a_round(where: str) -> None:
    d = IN_A_ROUND[where](Dealt(FAILS))
    before = digest(d.table)
    for command, actor in ((i.LogOut(), ANNA), (i.LogOut(ANNA), BORIS)):
        assert refusal(d.press(command, actor)) is Refusal.IN_A_ROUND
        assert digest(d.table) == before


@pytest.mark.parametrize("phase", [Phase.CONFIRMED, Phase.CANCELLED])
def test_row_31_the_dealer_collects_the_cards_first(phase: Phase) -> None:
    d = Dealt()
    d = d.to_confirmed() if phase is Phase.CONFIRMED else d.to_cancelled()
    assert refusal(d.press(i.LogOut())) is Refusal.IN_A_ROUND
    assert refusal(d.log_in(DORA)) is Refusal.DUAL_LOGIN
    next_round(d)
    assert refusal(d.press(i.LogOut())) is None


@pytest.mark.parametrize("where", IN_A_ROUND)
def test_row_31_a_change_inside_a_round_takes_two_signatures(where: str) -> None:
    d = IN_A_ROUND[where](Dealt(FAILS))
    d.log_in(DORA)
    opened = only(d.last, IncidentOpened)
    assert (opened.cell, opened.dealer) == ("31", ANNA) and draw(d.table.state).dealer == ANNA
    assert "go_on" in draw(d.table.state).buttons
    assert refusal(d.press(i.GoOn(), ANNA)) is Refusal.WRONG_ROLE
    assert refusal(d.press(i.GoOn(), DORA)) is Refusal.NOT_ON_DUTY
    assert refusal(d.log_in("emil", Role.DEALER)) is Refusal.DUAL_LOGIN
    d.press(i.GoOn(), BORIS)
    decided, changed = only(d.last, IncidentDecided), only(d.last, DealerChanged)
    assert (decided.verdict, decided.by) == (Verdict.DEALER_CHANGED, BORIS)
    assert (changed.dealer, changed.signed_by) == (DORA, (DORA, BORIS))
    assert not d.table.state.incidents and draw(d.table.state).dealer == DORA
    assert refusal(d.press(i.Observed(IncidentKind.DEVICE_FAILED), ANNA)) is Refusal.NOT_ON_DUTY
    assert refusal(d.press(i.Observed(IncidentKind.DEVICE_FAILED), DORA)) is None


@pytest.mark.parametrize("actor", [ANNA, BORIS])
def test_row_31_a_change_inside_a_round_may_be_withdrawn(actor: str) -> None:
    d = Dealt().to_dealing().deal(3)
    d.log_in(DORA)
    d.press(i.WithdrawReport(), actor)
    assert only(d.last, IncidentDecided).verdict is Verdict.WITHDRAWN
    assert draw(d.table.state).dealer == ANNA
    d.deal(1)


def test_row_31_a_change_that_a_supervisor_cancels_ends_the_round() -> None:
    d = Dealt().to_dealing().deal(3)
    d.log_in(DORA)
    d.press(i.ConfirmCancel(), BORIS)
    assert only(d.last, RoundCancelled) and draw(d.table.state).dealer == ANNA


def test_row_31_a_new_dealer_burns_the_first_card() -> None:
    d = relieved(next_round(Dealt(settings=BURNS).to_confirmed()))
    d.press(i.OpenBetting(), DORA)
    d.press(i.CloseBetting(), DORA)
    d.bets()
    assert draw(d.table.state).prompt.code == "BURN_CARD"
    d.scan("2s")
    burned = only(d.last, CardBurned)
    assert burned.reason == "RELIEF" and not every(d.last, CardDealt) and "2s" not in str(burned)
    assert (draw(d.table.state).prompt.code, draw(d.table.state).prompt.n) == ("DEAL_CARD", 1)
    d.scan("2c")
    assert (only(d.last, CardDealt).place, d.table.state.in_play.rescans_used) == ("box1", 0)
    d.press(i.Observed(IncidentKind.DEVICE_FAILED), DORA)
    d.press(i.ConfirmCancel(), BORIS)
    assert [card.card for card in only(d.last, RoundCancelled).opened if card.place == "burn"] == ["2s"]


def test_row_31_a_card_to_be_burned_that_fails_is_no_re_scan_of_the_deal() -> None:
    d = relieved(next_round(Dealt(settings=BURNS).to_confirmed()))
    d.press(i.OpenBetting(), DORA)
    d.press(i.CloseBetting(), DORA)
    d.bets()
    d.fail()
    opened = only(d.last, IncidentOpened)
    assert (opened.place, opened.n, d.table.state.in_play.rescans_used) == ("burn", 1, 0)
    d.scan("2s")
    assert only(d.last, CardBurned).n == 1 and not d.table.state.incidents


def test_row_31_twice_unread_is_for_the_supervisor() -> None:
    d = relieved(next_round(Dealt(settings=BURNS).to_confirmed()))
    d.press(i.OpenBetting(), DORA)
    d.press(i.CloseBetting(), DORA)
    d.bets()
    d.fail()
    d.fail()
    assert d.table.state.incident_state == "supervisor"
    d.press(i.OrderRescan(), BORIS)
    d.scan("2s")
    assert only(d.last, CardBurned)


@pytest.mark.parametrize("settings", [SETTINGS, BURNS], ids=["not in the profile", "same dealer"])
def test_row_31_nobody_burns_for_nothing(settings: object) -> None:
    d = next_round(Dealt(settings=settings).to_confirmed())
    if settings is SETTINGS:
        relieved(d)
    else:
        d.press(i.LogOut())
        d.log_in(ANNA)
    d.press(i.OpenBetting(), BORIS)
    assert not d.table.state.in_play.burn_due


def test_row_31_a_dealer_who_took_over_inside_a_round_burns_in_the_next() -> None:
    d = Dealt(settings=BURNS).to_result()
    d.log_in(DORA)
    d.press(i.GoOn(), BORIS)
    d.press(i.ConfirmResult(), DORA)
    d.press(i.ClearTable(), DORA)
    d.press(i.ConfirmShuffle(), DORA)
    d.press(i.OpenBetting(), DORA)
    assert d.table.state.in_play.burn_due


# Who leaves, and when.


def test_supervisors_come_and_go_at_any_time() -> None:
    d = Dealt().to_dealing().deal(3)
    d.press(i.LogOut(), BORIS)
    assert only(d.last, LoggedOut).by is None
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    assert refusal(d.press(i.ConfirmCancel(), BORIS)) is Refusal.NOT_ON_DUTY
    d.log_in(BORIS)
    d.press(i.ConfirmCancel(), BORIS)
    assert d.phase is Phase.CANCELLED


def test_a_supervisor_logs_out_who_has_left() -> None:
    d = Dealt().to_ready()
    assert refusal(d.press(i.LogOut(BORIS), ANNA)) is Refusal.WRONG_ROLE
    d.press(i.LogOut(ANNA), BORIS)
    assert only(d.last, LoggedOut).by == BORIS and draw(d.table.state).dealer is None
    assert refusal(d.press(i.LogOut(ANNA), BORIS)) is Refusal.NOT_ON_DUTY


def test_closing_the_table_ends_everybodys_duty() -> None:
    d = Dealt().to_ready()
    d.press(i.CloseTable())
    assert [out.actor for out in every(d.last, LoggedOut)] == [BORIS, CLARA, ANNA]
    assert refusal(d.press(i.OpenTable())) is Refusal.NOT_ON_DUTY


# Log-ins that fail.


def test_too_many_wrong_log_ins_lock_a_person_out_for_a_while() -> None:
    d = Dealt().to_ready()
    limits = d.settings.limits
    reasons = [refusal(d.log_in(DORA, right=False)) for _ in range(limits.login_tries)]
    assert reasons == [Refusal.WRONG_SECRET] * (limits.login_tries - 1) + [Refusal.LOCKED_OUT]
    assert not every(d.events[-1:], LoggedIn)
    d.press(i.LogOut())
    assert refusal(d.log_in(DORA)) is Refusal.LOCKED_OUT  # The right PIN, too.
    assert refusal(d.log_in(ANNA)) is None  # Others are not concerned.
    d.press(i.LogOut())
    d.advance(limits.login_locked_s * 1_000)
    assert refusal(d.log_in(DORA, right=False)) is Refusal.WRONG_SECRET  # Counted from nothing again.
    assert refusal(d.log_in(DORA)) is None


def test_a_right_log_in_forgets_the_wrong_ones() -> None:
    d = Dealt().to_ready()
    d.press(i.LogOut())
    for _ in range(3):
        for _ in range(d.settings.limits.login_tries - 1):
            assert refusal(d.log_in(ANNA, right=False)) is Refusal.WRONG_SECRET
        assert refusal(d.log_in(ANNA)) is None
        d.press(i.LogOut())


def test_nobody_is_locked_out_while_on_duty() -> None:
    d = Dealt().to_ready()
    for _ in range(d.settings.limits.login_tries + 1):
        assert refusal(d.log_in(ANNA, right=False)) is Refusal.DUAL_LOGIN
    d.press(i.LogOut())
    assert refusal(d.log_in(ANNA)) is None


def test_a_repeated_log_in_is_answered_from_memory_and_counted_once() -> None:
    d = Dealt().to_ready()
    wrong = i.LogIn(Role.DEALER, "Dora")
    d.press(wrong, DORA, request="once")
    assert d.press(wrong, DORA, request="once") == ()
    assert d.table.state.duty.failures[DORA].count == 1


def test_a_log_out_that_is_sent_again_gets_its_answer_though_nobody_is_on_duty_any_more() -> None:
    d = Dealt().to_ready()
    d.press(i.LogOut(), ANNA, request="bye")
    assert d.press(i.LogOut(), ANNA, request="bye", role=Role.SUPERVISOR) == ()


# Boundaries, restarts, secrecy.


@pytest.mark.parametrize("staffed", [True, False])
def test_duty_and_failures_are_carried(staffed: bool) -> None:
    d = Dealt().to_ready()
    d.log_in(DORA, right=False)
    if not staffed:
        for actor in STAFF:
            d.press(i.LogOut(), actor)
    again = Table(d.settings, d.game, d.table.state.register.deck)
    record = d.table.carried()
    assert record is not None
    again.restore(record)
    assert (again.state.duty, again.state.halts) == (d.table.state.duty, d.table.state.halts)
    assert again.carried() == record


@pytest.mark.parametrize("where", IN_A_ROUND)
def test_row_35_a_restart_sends_nobody_home(where: str) -> None:
    d = IN_A_ROUND[where](Dealt(FAILS))
    d.start()
    d.plug()
    shown = draw(d.table.state)
    assert (shown.dealer, shown.supervisors) == (ANNA, (BORIS, CLARA))
    assert refusal(d.confirm_picture()) is None


def test_ids_of_people_are_heard_by_the_audit_alone() -> None:
    d = Dealt().to_dealing().deal(3)
    d.log_in(DORA)
    d.press(i.GoOn(), BORIS)
    d.press(i.Observed(IncidentKind.DEVICE_FAILED), DORA)
    d.press(i.ConfirmCancel(), BORIS)
    d.press(i.PauseTable(HaltReason.BREAK), DORA)
    d.press(i.ClearTable(), BORIS)
    d.press(i.ResumeTable(), BORIS)
    for event in d.events:
        for audience in Audience:
            told = event.seen_by(audience)
            text = msgspec.json.encode(told).decode()
            if audience is not Audience.AUDIT:
                assert not any(actor in text for actor in (ANNA, BORIS, CLARA, DORA)), text
    heard = [event for event in d.events if event.seen_by(Audience.PUBLIC)]
    assert [changed.name for changed in every(heard, DealerChanged)] == ["Anna", "Dora"]
