"""Which input is taken in which phase and incident: the golden table, and every cell of it really fed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from statemachine.exceptions import TransitionNotAllowed
from table.dealt import ANNA, BETS, BLUE, BORIS, CLARA, DORA, FAILS, IN_PLAY, Dealt, digest, refusal

from controller.cards import Card
from controller.table import inputs as i
from controller.table.charts import (
    INCIDENT_TARGETS,
    PHASE_TARGETS,
    IncidentChart,
    IncidentState,
    Phase,
    PhaseChart,
    is_accepted,
)
from controller.table.events import HaltReason, IncidentKind, Refusal
from controller.table.picture import draw
from controller.table.table import IN_ROUND

GOLDEN = Path(__file__).with_name("matrix.txt")
LETTERS = {
    IncidentState.NONE: "-",
    IncidentState.RESCAN: "r",
    IncidentState.QUESTION: "q",
    IncidentState.SUPERVISOR: "s",
    IncidentState.LOST: "l",
    IncidentState.PICTURE: "p",
    IncidentState.ENTRY: "e",
}
NAMES = ("card_read", "read_failed", "bets_taken", "window_facts", *i.PRESS_NAMES)


def written() -> str:
    """Return the matrix as text: a cell holds the letters of the incident states that take the input."""
    legend = ", ".join(f"{letter} {state}" for state, letter in LETTERS.items())
    lines = [
        "Inputs taken, by phase and state of the newest incident.",
        f"{legend}; a dot: never.",
        "Scanner changes, timers, starts and log-ins are taken always and not listed.",
        "",
        f"{'':20}" + " ".join(f"{phase:15}" for phase in Phase),
    ]
    for name in NAMES:
        cells = [
            "".join(letter for state, letter in LETTERS.items() if is_accepted(phase, state, name)) or "."
            for phase in Phase
        ]
        lines.append(f"{name:20}" + " ".join(f"{cell:15}" for cell in cells))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def test_the_matrix_is_the_golden_one() -> None:
    """To accept a change: write `written()` to matrix.txt and say in the commit why."""
    assert written() == GOLDEN.read_text()


PHASES: dict[Phase, Callable[[Dealt], Dealt]] = {
    Phase.CLOSED: lambda d: (d.start(), d.plug(), d)[-1],
    Phase.DECK_CHECK: lambda d: (d.start(), d.plug(), d.press(i.OpenTable()), d)[-1],
    Phase.SHUFFLING: lambda d: (d.to_ready(), d.press(i.RepeatShuffle()), d)[-1],
    Phase.READY: Dealt.to_ready,
    Phase.BETTING: Dealt.to_betting,
    Phase.DEALING: lambda d: d.to_dealing().deal(5),
    Phase.DECIDING: Dealt.to_options,
    Phase.RESULT_PROPOSED: Dealt.to_result,
    Phase.CONFIRMED: Dealt.to_confirmed,
    Phase.CANCELLED: Dealt.to_cancelled,
}


def _ask_rescan(d: Dealt) -> None:
    d.unplug()
    d.plug()
    d.answer(True)


def to_entry(d: Dealt) -> None:
    """The card that is due, or was laid last, can't be read."""
    if d.phase is not Phase.DEALING:
        d.press(i.DisputeReading())
    else:
        d.fail()
    d.fail()
    d.press(i.OrderEntry(), BORIS)


INCIDENTS: dict[IncidentState, Callable[[Dealt], object]] = {
    IncidentState.NONE: lambda d: None,
    IncidentState.RESCAN: _ask_rescan,
    IncidentState.QUESTION: lambda d: (d.unplug(), d.plug()),
    IncidentState.SUPERVISOR: lambda d: d.press(i.Observed(IncidentKind.DEVICE_FAILED)),
    IncidentState.LOST: Dealt.unplug,
    IncidentState.PICTURE: Dealt.start,
    IncidentState.ENTRY: to_entry,
}
BEFORE_ENTRY: dict[Phase, Callable[[Dealt], Dealt]] = {
    Phase.DEALING: lambda d: d.to_switch().deal(2),
    Phase.DECIDING: Dealt.to_final_options,
    Phase.RESULT_PROPOSED: Dealt.to_result,
}
"""A card is entered by hand after the initial deal only (RPL-75)."""
SITUATIONS = [
    (phase, state)
    for phase, state in product(Phase, IncidentState)
    if state is IncidentState.NONE
    or (phase in IN_ROUND and (state is not IncidentState.ENTRY or phase in BEFORE_ENTRY))
]


def situation(phase: Phase, state: IncidentState) -> Dealt:
    """Return a table in this phase with the newest incident in this state."""
    to_phase = BEFORE_ENTRY if state is IncidentState.ENTRY else PHASES
    d = to_phase[phase](Dealt(FAILS))
    INCIDENTS[state](d)
    assert (d.phase, d.table.state.incident_state) == (phase, state)
    return d


def attempts() -> list[tuple[str, Callable[[Dealt], object]]]:
    """Return every kind of input, by its name in the matrix, some in more than one variant."""
    presses: list[tuple[i.AnyCommand, str]] = [
        (i.BetsTaken(IN_PLAY), BETS),
        (i.WindowFacts("options", undecided=False), BETS),
        (i.WindowFacts("buy_time", anyone_bought=True, acknowledges=True), BETS),
        (i.DecisionTaken("options", "box2", "BET"), BETS),
        (i.OpenTable(), ANNA),
        (i.CloseTable(), ANNA),
        (i.LoadDeck("blue", "R-1"), ANNA),
        (i.LoadDeck("blue", "R-2"), BORIS),
        (i.LoadDeck("moon", "R-1"), ANNA),
        (i.VerifyDeck(52), ANNA),
        (i.VerifyDeck(51), ANNA),
        (i.ChangeDeck(i.ChangeReason.CHANGED), BORIS),
        (i.ChangeDeck(i.ChangeReason.INTEGRITY), ANNA),
        (i.ChangeDeck(i.ChangeReason.CHANGED), BORIS),
        (i.CountStub(52), ANNA),
        (i.CountStub(51), BORIS),
        (i.ConfirmShuffle(), ANNA),
        (i.RepeatShuffle(), ANNA),
        (i.ClearTable(), ANNA),
        (i.OpenBetting(), ANNA),
        (i.CloseBetting(), ANNA),
        *((i.TurnCards(place), ANNA) for place in ("switch", "box1", "nowhere")),
        (i.LayCardAside(), ANNA),
        (i.ConfirmResult(), ANNA),
        (i.DisputeReading(), ANNA),
        (i.CallSurplus(), ANNA),
        (i.Observed(IncidentKind.CARD_ON_FLOOR, "box1"), ANNA),
        (i.WithdrawReport(), ANNA),
        (i.ConfirmCancel(), BORIS),
        (i.AnswerQuestion(1, True), ANNA),
        (i.AnswerQuestion(1, False), ANNA),
        (i.AnswerQuestion(99, False), ANNA),
        (i.ConfirmPicture("another"), ANNA),
        (i.GoOn(), BORIS),
        (i.OrderRescan(), BORIS),
        (i.OrderEntry(), BORIS),
        (i.EnterCard(1, "2s"), BORIS),
        (i.EnterCard(99, "2s"), BORIS),
        (i.ProposeCorrection("rp1-1", i.CorrectionReason.WRONG_RESULT, ()), BORIS),
        (i.ApproveCorrection("rp1-1", ()), CLARA),
        (i.WithdrawCorrection(), CLARA),
        (i.VoidBox("box1"), BORIS),
        (i.OrderRedeal(), BORIS),
        (i.LogIn(i.Role.DEALER, "Dora", i.Proof.PIN), DORA),
        (i.LogIn(i.Role.DEALER, "Dora"), DORA),
        (i.LogIn(i.Role.SUPERVISOR, "Boris", i.Proof.BADGE), BORIS),
        (i.LogOut(), ANNA),
        (i.LogOut(CLARA), ANNA),
        (i.PauseTable(HaltReason.BREAK), ANNA),
        (i.CloseAfterRound(HaltReason.SHIFT_END), BORIS),
        (i.ResumeTable(), BORIS),
        (i.Unblock(), BORIS),
    ]
    feeds: list[tuple[str, Callable[[Dealt], object]]] = [
        ("card_read", lambda d: d.scan()),
        ("card_read", lambda d: d.scan("2c")),
        ("card_read", lambda d: d.scan(code="A01")),
        ("card_read", lambda d: d.scan(code="what?")),
        ("read_failed", Dealt.fail),
        ("scanner", Dealt.plug),
        ("scanner", Dealt.unplug),
        ("start", Dealt.start),
        (
            "timer",
            lambda d: d.advance(20_000) or d.feed(i.TimerExpired(at=d.now + 1, name="window", number=0)),
        ),
    ]
    feeds += [
        ("confirm_picture", Dealt.confirm_picture),
        ("scanner", lambda d: d.plug("other")),
        ("scanner", lambda d: d.feed(i.ScannerRestarted(at=d.now + 1, scanner="shoe"))),
        ("scanner", lambda d: d.feed(i.CardsTogether(at=d.now + 1, scanner="shoe", count=2))),
        ("measured", lambda d: d.feed(i.Measured(at=d.now + 1, disk_free_mb=3))),
        ("clock", lambda d: d.feed(i.ClockStepped(at=d.now + 1, step_ms=-900))),
    ]
    return feeds + [
        (i.command_name(command), lambda d, command=command, actor=actor: d.press(command, actor))
        for command, actor in presses
    ]


@pytest.mark.parametrize(("phase", "state"), SITUATIONS)
def test_every_input_is_answered_and_a_refused_one_changes_nothing(
    phase: Phase, state: IncidentState
) -> None:
    d = situation(phase, state)
    for name, attempt in attempts():
        before, steps = digest(d.table), len(d.steps)
        attempt(d)
        assert all(d.steps[steps:]), f"{name} got no answer"
        draw(d.table.state)
        if refusal(d.last) is not None:
            assert len(d.steps) > steps + 1 or digest(d.table) == before, (
                f"{name} was refused and moved the table"
            )
        if name in NAMES and not is_accepted(phase, state, name):
            assert refusal(d.last) is not None, f"{name} is not in the matrix, and was taken"
        if digest(d.table) != before:
            d = situation(phase, state)


@pytest.mark.parametrize(("phase", "state"), SITUATIONS)
def test_every_button_shown_is_a_press_that_the_charts_take(phase: Phase, state: IncidentState) -> None:
    """What is shown must be pressable: no button leads to WRONG_PHASE, HELD or NO_INCIDENT."""
    commands = {
        name: command
        for command in i.AnyCommand.__args__
        if (name := str(command.__struct_config__.tag)) in i.PRESS_NAMES
    }
    arguments: dict[str, tuple[object, ...]] = {
        "load_deck": ("blue", "R-1"),
        "verify_deck": (52,),
        "change_deck": (i.ChangeReason.CHANGED,),
        "count_stub": (52,),
        "turn_cards": ("switch",),
        "observed": (IncidentKind.CARD_ON_FLOOR,),
        "propose_correction": ("rp1-1", i.CorrectionReason.WRONG_RESULT, ()),
        "approve_correction": ("rp1-1", ()),
        "void_box": ("box1",),
        "pause_table": (HaltReason.BREAK,),
        "close_after_round": (HaltReason.BREAK,),
    }
    shown = draw(situation(phase, state).table.state).buttons
    for name in i.PRESS_NAMES:
        d = situation(phase, state)
        number = d.table.state.incident.number if d.table.state.incident else 0
        arguments["confirm_picture"] = (draw(d.table.state).lies,)
        with_number = {"answer_question": (number, False), "enter_card": (number, "2s")}
        given = with_number.get(name, arguments.get(name, ()))
        events = d.press(commands[name](*given), BORIS)
        if refusal(events) is Refusal.ROUND_CANCELLED:
            continue  # Which round, and whether it can be corrected, the press alone says.
        assert (name in shown) == (refusal(events) is None), (name, events)


def test_an_unknown_scanner_is_refused_everywhere() -> None:
    for phase in Phase:
        d = situation(phase, IncidentState.NONE)
        before = digest(d.table)
        code = BLUE.code(Card.parse("2c"))
        read = i.CardRead(at=d.now + 1, scanner="spare", code=code, device_seq=None, key="00" * 32)
        assert refusal(d.feed(read)) is Refusal.UNKNOWN_SCANNER
        assert (
            refusal(d.feed(i.ReadFailed(at=d.now + 1, scanner="spare", cause="x"))) is Refusal.UNKNOWN_SCANNER
        )
        assert refusal(d.feed(i.ScannerOpened(at=d.now + 1, scanner="spare"))) is Refusal.UNKNOWN_SCANNER
        assert digest(d.table) == before


@pytest.mark.parametrize(
    ("chart", "targets"), [(PhaseChart, PHASE_TARGETS), (IncidentChart, INCIDENT_TARGETS)]
)
def test_the_tables_lead_where_the_charts_lead(chart: Any, targets: dict[tuple[str, str], str]) -> None:
    """Each chart itself is stepped from each of its states with each of its events."""
    events = {event.id for event in chart().events}
    for state in chart.states:
        for event in events if not state.final else ():
            running = chart(start_value=state.id)
            try:
                running.send(event)
            except TransitionNotAllowed:
                assert (state.id, event) not in targets
                continue
            there = next(iter(running.configuration)).id
            assert there == targets.get((state.id, event), "closed")


def test_the_library_refuses_what_we_rely_on_being_refused() -> None:
    """python-statemachine 3.2 ignores unknown events by default; our charts must not."""
    with pytest.raises(TransitionNotAllowed):
        PhaseChart().send("no_such_event")
