"""Scanners that go and come back (row 30), and a process that goes down in a round (row 35)."""

from __future__ import annotations

import msgspec
import pytest
from table.dealt import (
    ANNA,
    BORIS,
    FAILS,
    IN_A_ROUND,
    SETTINGS,
    Dealt,
    digest,
    every,
    live_rules,
    only,
    refusal,
)

from controller.table import inputs as i
from controller.table.charts import IncidentState, Phase
from controller.table.events import (
    CardBurned,
    CardDealt,
    DecisionClosed,
    DecisionOpened,
    FactsSettled,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    Refusal,
    RoundCancelled,
    ScannerChanged,
    Verdict,
)
from controller.table.picture import draw

DECIDED = {"options", "final_options", "buy_time"}


def finish(d: Dealt) -> Dealt:
    """Play the round to its end, whatever stage it is in."""
    for _ in range(60):
        match draw(d.table.state).prompt.code:
            case "PLACE_BETS":
                d.press(i.CloseBetting())
            case "WAIT_FOR_FACTS":
                d.bets()
            case "DEAL_CARD":
                d.deal(1)
            case "WAIT_FOR_PLAYERS":
                window = d.table.state.in_play.window
                assert window is not None
                d.all_decided(window.window)
            case "TURN":
                d.turn(draw(d.table.state).prompt.place or "")
            case "LAY_ASIDE":
                d.press(i.LayCardAside())
            case "CONFIRM_RESULT":
                d.press(i.ConfirmResult())
            case "CLEAR_TABLE":
                return d
            case code:
                raise AssertionError(code)
    raise AssertionError("the round does not end")


# Row 30.


@pytest.mark.parametrize("where", IN_A_ROUND)
def test_row_30_lost_and_back_nothing_was_drawn(where: str) -> None:
    d = IN_A_ROUND[where](Dealt(FAILS))
    d.unplug()
    assert only(d.last, IncidentOpened).kind is IncidentKind.SCANNER_LOST
    assert draw(d.table.state).scanners_down == ("shoe",)
    assert refusal(d.fail()) in (Refusal.HELD, Refusal.WRONG_PHASE)
    d.plug()
    assert d.table.state.incident_state is IncidentState.QUESTION
    d.answer(False)
    assert only(d.last, IncidentDecided).verdict is Verdict.WENT_ON
    assert finish(d).phase is Phase.CONFIRMED


@pytest.mark.parametrize("where", ["dealing", "switch"])
def test_row_30_the_card_drawn_meanwhile_is_the_due_one(where: str) -> None:
    d = IN_A_ROUND[where](Dealt())
    d.unplug()
    d.plug()
    d.answer(True)
    d.scan()
    assert only(d.last, CardDealt)
    assert d.table.state.incident is None and draw(d.table.state).rescans_used == 0


@pytest.mark.parametrize("where", ["betting", "options", "final_options", "turns", "result"])
def test_row_30_the_card_drawn_meanwhile_is_surplus_when_none_is_due(where: str) -> None:
    d = IN_A_ROUND[where](Dealt())
    d.unplug()
    d.plug()
    d.answer(True)
    d.scan("2s")
    assert only(d.last, IncidentOpened).prompt == "FACE_SEEN"
    d.answer(False)
    assert only(d.last, CardBurned)


def test_row_30_the_card_drawn_meanwhile_had_been_read_after_all() -> None:
    d = Dealt().to_dealing().deal(3)
    d.unplug()
    d.plug()
    d.answer(True)
    d.scan("As")
    assert only(d.last, IncidentOpened).kind is IncidentKind.SAME_CODE_AGAIN
    d.answer(True)
    assert d.table.state.incident is None
    d.deal(1)


def test_rpl_75_a_card_read_again_because_of_a_lost_link_has_its_own_re_scan() -> None:
    d = Dealt().to_dealing().deal(3)
    d.unplug()
    d.plug()
    d.answer(True)
    d.fail()
    assert only(d.last, IncidentOpened).kind is IncidentKind.FAILED_READ
    assert draw(d.table.state).rescans_used == 1
    d.deal(1)
    d.fail()
    assert only(d.last, RoundCancelled).reason == "WRONG_READING"


def test_row_30_lost_while_a_failed_card_waits_for_its_re_scan() -> None:
    d = Dealt().to_dealing().deal(3)
    d.fail()
    d.unplug()
    d.plug()
    d.answer(True)
    d.scan()  # One card, for both incidents.
    assert (only(d.last, CardDealt).place, d.table.state.incidents) == ("dealer", [])
    assert [decided.verdict for decided in every(d.last, IncidentDecided)] == [Verdict.RESCANNED] * 2


def test_row_30_lost_while_a_disputed_card_waits_for_its_re_scan() -> None:
    d = Dealt().to_dealing().deal(4)
    d.press(i.DisputeReading())
    d.unplug()
    d.plug()
    d.answer(True)
    d.scan("2s")  # It came out of the shoe, so it is not the card that lies there and is disputed.
    assert not every(d.last, CardDealt)
    d.answer(False)
    d.scan("3s")
    again = only(d.last, CardDealt)
    assert (again.place, again.reading) == ("dealer", 2) and not d.table.state.incidents


def test_row_30_lost_while_a_surplus_card_is_asked_about() -> None:
    d = Dealt().to_dealing().deal(4)
    called = d.table.state.in_play.laid[-1].card
    d.press(i.CallSurplus())
    d.unplug()
    d.plug()
    d.answer(True)
    d.scan("2s")  # With a question open no card is due: this one is surplus too.
    assert not every(d.last, CardDealt)
    d.answer(False)
    d.answer(False)
    burned = [laid.card for laid in d.table.state.in_play.burned]
    assert [str(card) for card in burned] == ["2s", str(called)]


def test_row_30_lost_again_while_a_supervisor_is_asked() -> None:
    d = Dealt().to_switch()
    d.unplug()
    d.plug()
    d.answer(True)
    d.fail()
    assert d.table.state.incident_state is IncidentState.RESCAN  # It has its own re-scan before it.
    d.fail()
    assert d.table.state.incident_state is IncidentState.SUPERVISOR
    d.unplug()
    assert only(d.last, ScannerChanged).up is False
    assert IncidentState(d.table.state.incident_state) is IncidentState.LOST
    d.plug()
    d.answer(False)
    assert d.table.state.incident_state is IncidentState.SUPERVISOR  # The unread card still waits.


def test_row_30_lost_again_while_the_same_card_is_asked_about() -> None:
    d = Dealt().to_dealing().deal(3)
    d.unplug()
    d.plug()
    d.answer(True)
    d.scan("As")
    d.unplug()
    d.answer(True)
    assert d.table.state.incident_state is IncidentState.LOST  # The scanner is still away.


@pytest.mark.parametrize("phase", [Phase.READY, Phase.CONFIRMED])
def test_row_30_between_rounds_a_lost_scanner_is_no_incident(phase: Phase) -> None:
    d = Dealt()
    d = d.to_ready() if phase is Phase.READY else d.to_confirmed()
    d.unplug()
    assert not every(d.last, IncidentOpened)


# Row 35.


@pytest.mark.parametrize("where", [place for place in IN_A_ROUND if place not in DECIDED])
def test_row_35_the_dealer_confirms_the_picture_and_the_round_goes_on(where: str) -> None:
    d = IN_A_ROUND[where](Dealt(FAILS))
    before = draw(d.table.state).places
    d.start()
    assert [opened.kind for opened in every(d.last, IncidentOpened)] == [
        IncidentKind.SCANNER_LOST,
        IncidentKind.RESTARTED,
    ]
    assert draw(d.table.state).prompt.code == "CONFIRM_PICTURE"
    assert draw(d.table.state).places == before
    d.plug()
    d.confirm_picture()
    d.answer(False)
    assert finish(d).phase is Phase.CONFIRMED


@pytest.mark.parametrize("where", IN_A_ROUND)
def test_row_35_a_picture_that_differs_is_reported(where: str) -> None:
    d = IN_A_ROUND[where](Dealt(FAILS))
    d.start()
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    d.press(i.ConfirmCancel(), BORIS)
    assert only(d.last, RoundCancelled).reason == "TECHNICAL" and not d.table.state.incidents


@pytest.mark.parametrize("where", IN_A_ROUND)
@pytest.mark.parametrize("changed", [{"program": "1.1"}, {"rules": "others"}], ids=["program", "rules"])
def test_row_35_under_another_program_or_rules_only_a_cancel(where: str, changed: dict[str, str]) -> None:
    d = IN_A_ROUND[where](Dealt(FAILS))
    d.start(**changed)
    d.plug()
    d.confirm_picture()
    assert [name for name in draw(d.table.state).buttons if name != "close_betting"] == ["confirm_cancel"]
    assert refusal(d.press(i.GoOn(), BORIS)) is Refusal.TOO_EARLY
    assert refusal(d.press(i.WithdrawReport(), ANNA)) is Refusal.NO_INCIDENT
    d.press(i.ConfirmCancel(), BORIS)
    assert only(d.last, RoundCancelled).reason == "TECHNICAL"


@pytest.mark.parametrize("where", sorted(DECIDED))
def test_row_35_silence_in_an_interrupted_window_is_never_judged(where: str) -> None:
    d = IN_A_ROUND[where](Dealt(FAILS))
    settled = len(every(d.events, FactsSettled))
    d.start()
    d.plug()
    d.advance(60_000)
    assert every(d.events, DecisionClosed)[-1].ended_by == "time"  # Time is never held.
    d.confirm_picture()
    assert "go_on" not in draw(d.table.state).buttons
    assert refusal(d.press(i.GoOn(), BORIS)) is Refusal.TOO_EARLY
    d.facts(where, undecided=True, acknowledges=True)
    assert refusal(d.press(i.GoOn(), BORIS)) is Refusal.TOO_EARLY
    assert len(every(d.events, FactsSettled)) == settled and d.phase is Phase.DECIDING
    d.press(i.ConfirmCancel(), BORIS)
    assert only(d.last, RoundCancelled).reason == "TECHNICAL"


@pytest.mark.parametrize("acknowledged", [True, False])
@pytest.mark.parametrize("late", [True, False], ids=["after the end", "before the end"])
@pytest.mark.parametrize("where", sorted(DECIDED))
def test_row_35_go_on_if_nobody_is_undecided(where: str, late: bool, acknowledged: bool) -> None:
    d = IN_A_ROUND[where](Dealt(FAILS))
    d.start()
    d.plug()
    if late:
        d.advance(60_000)
    d.facts(where, undecided=False, anyone_bought=False)
    d.facts(where, acknowledges=acknowledged)
    d.confirm_picture()
    assert d.phase is Phase.DECIDING
    assert draw(d.table.state).buttons == ("confirm_cancel", "go_on")
    d.press(i.GoOn(), BORIS)
    d.answer(False)
    d.advance(60_000)
    assert every(d.events, FactsSettled)[-1].acknowledged is acknowledged
    assert len(every(d.events, DecisionClosed)) == len(every(d.events, DecisionOpened))
    assert finish(d).phase is Phase.CONFIRMED


def test_row_35_no_other_window_opens_over_an_interrupted_one() -> None:
    d = Dealt(rules=live_rules(skip_unused_switch_cards=True)).to_options()
    d.start()
    d.facts("options", anyone_drew=False)
    d.advance(60_000)
    assert len(every(d.events, DecisionOpened)) == 1


def test_row_35_down_twice() -> None:
    d = Dealt(FAILS).to_buy_time()
    for _ in range(2):
        d.start()
        d.plug()
    d.facts("buy_time", undecided=False, anyone_bought=False)
    d.facts("buy_time", acknowledges=True)
    for _ in range(2):
        d.confirm_picture()
        d.press(i.GoOn(), BORIS)
    d.answer(False)
    assert not d.table.state.incidents and d.phase is Phase.RESULT_PROPOSED


@pytest.mark.parametrize("phase", [Phase.CLOSED, Phase.READY, Phase.CONFIRMED, Phase.CANCELLED])
def test_row_35_between_rounds_a_restart_holds_nothing(phase: Phase) -> None:
    d = Dealt()
    match phase:
        case Phase.READY:
            d.to_ready()
        case Phase.CONFIRMED:
            d.to_confirmed()
        case Phase.CANCELLED:
            d.to_cancelled()
    d.start()
    assert d.phase is phase and not d.table.state.incidents


def test_row_30_the_question_waits_until_every_scanner_is_back() -> None:
    two = msgspec.structs.replace(SETTINGS, scanners=("shoe", "spare"))
    d = Dealt(settings=two)
    d.start()
    for scanner in two.scanners:
        d.feed(i.ScannerOpened(at=d.now + 1, scanner=scanner))
    d.press(i.OpenTable())
    d.load()
    d.press(i.VerifyDeck(52))
    d.press(i.ConfirmShuffle())
    d.press(i.OpenBetting())
    for scanner in two.scanners:
        d.feed(i.ScannerLost(at=d.now + 1, scanner=scanner, reason="unplugged"))
    d.feed(i.ScannerOpened(at=d.now + 1, scanner="spare"))
    assert d.table.state.incident_state is IncidentState.LOST
    d.feed(i.ScannerOpened(at=d.now + 1, scanner="shoe"))
    assert d.table.state.incident_state is IncidentState.QUESTION


def test_row_35_an_older_page_cannot_confirm_another_picture() -> None:
    d = Dealt().to_dealing().deal(4)
    d.start()
    older = draw(d.table.state).lies
    d.start()
    d.plug()
    newer = draw(d.table.state).lies
    assert older is not None and newer is not None and older != newer
    before = digest(d.table)
    for stale in (older, "", "none"):
        assert refusal(d.press(i.ConfirmPicture(stale))) is Refusal.OTHER_PICTURE
    assert digest(d.table) == before
    d.press(i.ConfirmPicture(newer))
    assert refusal(d.last) is None


def test_row_35_the_picture_is_named_by_what_lies_there_and_by_nothing_hidden() -> None:
    def lies(card: str, count: int) -> str | None:
        d = Dealt().to_dealing()
        for one in [card, "As", "4c", "Ah"][:count]:
            d.scan(one)
        d.start()
        return draw(d.table.state).lies

    assert lies("2c", 4) == lies("7d", 4), "box 1 lies face down"
    assert lies("2c", 4) != lies("2c", 3)
    assert draw(Dealt().to_dealing().table.state).lies is None
