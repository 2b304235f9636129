"""Acknowledgements: who has acted on which end of a round, and the START that waits for it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from profiles import profile
from table.dealt import ANNA, BETS, BORIS, CLARA, SETTINGS, Dealt, every, only, refusal

from controller.table import inputs as i
from controller.table.consumers import ENDS_KEPT, Consumer
from controller.table.events import Audience, IncidentKind, InputRefused, Refusal, RoundAcknowledged
from controller.table.inputs import Role
from controller.table.picture import ConsumerPicture, draw
from controller.table.settings import TableSettings
from controller.table.table import Table

WALLET, OVERLAY = "wallet", "overlay"
CONSUMERS = (
    Consumer(name=WALLET, role="wallet", audience=Audience.SETTLEMENT, must_acknowledge=True),
    Consumer(name=OVERLAY, role="stream", audience=Audience.PUBLIC, must_acknowledge=False),
)


def settings(*, waits: bool = False, consumers: tuple[Consumer, ...] = CONSUMERS) -> TableSettings:
    """Return the settings of a table with consumers, whose START `waits` for them or not."""
    procedures = profile("russian_poker_live", acknowledged_before_start=waits)
    return msgspec.structs.replace(SETTINGS, profile=procedures, consumers=consumers)


def acknowledge(d: Dealt, roundid: str, rev: int = 1, who: str = WALLET) -> Refusal | None:
    """A consumer acknowledges; it knows of no round number."""
    return refusal(d.press(i.Acknowledge(roundid, rev), who, role=Role.CONSUMER, round_no=0))


def behind(d: Dealt, who: str = WALLET) -> ConsumerPicture:
    return next(one for one in draw(d.table.state).consumers if one.name == who)


def next_round(d: Dealt) -> Refusal | None:
    """Collect the cards, shuffle, press START; return why it was refused."""
    d.press(i.ClearTable())
    d.press(i.ConfirmShuffle())
    return refusal(d.press(i.OpenBetting()))


def test_an_end_is_unacknowledged_until_its_consumer_says_so() -> None:
    d = Dealt(settings=settings())
    d.to_result()
    assert behind(d).behind == 0
    d.press(i.ConfirmResult())
    assert behind(d) == ConsumerPicture(WALLET, "wallet", True, behind=1, oldest="rp1-1", oldest_rev=1)
    assert acknowledge(d, "rp1-1") is None
    assert only(d.last, RoundAcknowledged) == RoundAcknowledged(consumer=WALLET, roundid="rp1-1", rev=1)
    assert behind(d) == ConsumerPicture(WALLET, "wallet", True)
    assert behind(d, OVERLAY).behind == 1


def test_an_acknowledgement_is_for_the_audit_alone() -> None:
    assert RoundAcknowledged.audiences == {Audience.AUDIT}


def test_once_more_changes_nothing_and_is_accepted() -> None:
    d = Dealt(settings=settings()).to_confirmed()
    acknowledge(d, "rp1-1")
    known = d.table.state.acknowledgements
    assert acknowledge(d, "rp1-1") is None and not every(d.last, RoundAcknowledged)
    assert d.table.state.acknowledgements == known


def test_the_same_request_gets_the_stored_answer() -> None:
    d = Dealt(settings=settings()).to_confirmed()
    sent = {"role": Role.CONSUMER, "round_no": 0, "request": "rp1-1/1"}
    assert refusal(d.press(i.Acknowledge("rp1-1", 1), WALLET, **sent)) is None
    assert d.press(i.Acknowledge("rp1-1", 1), WALLET, **sent) == ()
    assert refusal(d.press(i.Acknowledge("rp1-1", 2), WALLET, **sent)) is Refusal.OTHER_REQUEST


@pytest.mark.parametrize(
    ("command", "who", "role", "reason"),
    [
        (i.Acknowledge("rp1-1", 1), "stranger", Role.CONSUMER, Refusal.UNKNOWN_CONSUMER),
        (i.Acknowledge("rp1-2", 1), WALLET, Role.CONSUMER, Refusal.UNKNOWN_ROUND),
        (i.Acknowledge("rp1-1", 2), WALLET, Role.CONSUMER, Refusal.UNKNOWN_ROUND),
        (i.Acknowledge("rp1-1", 1), BETS, Role.BETTING, Refusal.WRONG_ROLE),
        (i.Acknowledge("rp1-1", 1), ANNA, Role.DEALER, Refusal.WRONG_ROLE),
        (i.ClearTable(), WALLET, Role.CONSUMER, Refusal.WRONG_ROLE),
        (i.BetsTaken({}), WALLET, Role.CONSUMER, Refusal.WRONG_ROLE),
    ],
)
def test_what_is_refused_changes_nothing(
    command: i.AnyCommand, who: str, role: Role, reason: Refusal
) -> None:
    d = Dealt(settings=settings()).to_confirmed()
    known, events = d.table.state.acknowledgements, d.press(command, who, role=role)
    assert only(events, InputRefused).reason is reason and len(events) == 1
    assert d.table.state.acknowledgements == known


def test_a_cancelled_round_and_a_correction_are_ends_too() -> None:
    d = Dealt(settings=settings()).to_cancelled()
    assert acknowledge(d, "rp1-1") is None and behind(d).behind == 0
    d = Dealt(settings=settings()).to_confirmed()
    acknowledge(d, "rp1-1")
    d.press(i.ProposeCorrection("rp1-1", i.CorrectionReason.WRONG_RESULT, ()), BORIS)
    d.press(i.ApproveCorrection("rp1-1", ()), CLARA)
    assert behind(d) == ConsumerPicture(WALLET, "wallet", True, behind=1, oldest="rp1-1", oldest_rev=2)
    assert acknowledge(d, "rp1-1", 2) is None and behind(d).behind == 0


def test_one_acknowledgement_covers_everything_before_it() -> None:
    d = Dealt(settings=settings()).to_confirmed()
    assert next_round(d) is None
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    d.press(i.ConfirmCancel(), BORIS)
    assert (behind(d).behind, behind(d).oldest) == (2, "rp1-1")
    assert acknowledge(d, "rp1-2") is None and behind(d).behind == 0
    assert acknowledge(d, "rp1-1") is None and behind(d).behind == 0, "a late one takes nothing back"


def test_it_is_taken_in_an_incident_and_between_rounds() -> None:
    d = Dealt(settings=settings()).to_confirmed()
    next_round(d)
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    assert acknowledge(d, "rp1-1") is None
    d.press(i.ConfirmCancel(), BORIS)
    d.press(i.ClearTable())
    d.press(i.CloseTable())
    assert acknowledge(d, "rp1-2") is None and behind(d).behind == 0


def test_no_round_opens_before_those_who_must_have_acknowledged() -> None:
    d = Dealt(settings=settings(waits=True)).to_confirmed()
    assert next_round(d) is Refusal.UNACKNOWLEDGED
    picture = draw(d.table.state)
    assert picture.prompt.code == "WAIT_FOR_CONSUMERS" and "open_betting" not in picture.buttons
    assert acknowledge(d, "rp1-1", who=OVERLAY) is None
    assert refusal(d.press(i.OpenBetting())) is Refusal.UNACKNOWLEDGED, "the overlay need not"
    assert acknowledge(d, "rp1-1") is None
    picture = draw(d.table.state)
    assert picture.prompt.code == "START" and "open_betting" in picture.buttons
    assert refusal(d.press(i.OpenBetting())) is None


def test_by_default_nobody_is_waited_for() -> None:
    d = Dealt(settings=settings()).to_confirmed()
    assert next_round(d) is None and behind(d).behind == 1


def reborn(d: Dealt, record: bytes, consumers: tuple[Consumer, ...] = CONSUMERS) -> Table:
    """Return the table that a start makes of a `carried` record, under a config with these consumers."""
    table = Table(settings(consumers=consumers), d.game, d.table.state.decks[0])
    table.restore(record)
    table.step(i.Started(at=d.now + 1, epoch=2, program="1.0", rules="rules", documents=()))
    return table


def boundary(d: Dealt) -> bytes:
    d.press(i.ClearTable())
    record = d.table.carried()
    assert record is not None
    return record


def test_a_restart_knows_who_is_behind() -> None:
    d = Dealt(settings=settings()).to_confirmed()
    acknowledge(d, "rp1-1", who=OVERLAY)
    table = reborn(d, boundary(d))
    assert [one.behind for one in draw(table.state).consumers] == [1, 0]


def test_a_new_consumer_owes_nothing_for_the_past_and_one_taken_out_is_forgotten() -> None:
    d = Dealt(settings=settings()).to_confirmed()
    late = Consumer(name="late", role="wallet", audience=Audience.SETTLEMENT, must_acknowledge=True)
    table = reborn(d, boundary(d), (late,))
    assert [(one.name, one.behind) for one in draw(table.state).consumers] == [("late", 0)]


def test_of_a_consumer_that_never_comes_back_only_the_newest_ends_are_known_by_name() -> None:
    d = Dealt(settings=settings()).to_ready()
    for _ in range(ENDS_KEPT + 5):
        d.press(i.OpenBetting())
        d.press(i.Observed(IncidentKind.DEVICE_FAILED))
        d.press(i.ConfirmCancel(), BORIS)
        _tidy_up(d)
    assert behind(d).behind == ENDS_KEPT + 5 and behind(d).oldest == "rp1-6"
    assert acknowledge(d, "rp1-5") is Refusal.UNKNOWN_ROUND
    assert acknowledge(d, "rp1-6") is None and behind(d).behind == ENDS_KEPT - 1


def _tidy_up(d: Dealt) -> None:
    """Collect, count where it is due, shuffle; two people unlock a table that the breaker has blocked."""
    steps: list[tuple[Callable[[], object], str]] = [
        (lambda: d.press(i.CountStub(52)), "COUNT_STUB"),
        (lambda: d.press(i.ClearTable()), "CLEAR_TABLE"),
        (lambda: d.press(i.ConfirmShuffle()), "SHUFFLE"),
        (lambda: (d.press(i.Unblock()), d.press(i.Unblock(), BORIS)), "UNBLOCK"),
    ]
    for step, code in steps:
        if draw(d.table.state).prompt.code == code:
            step()
