"""Single steps that go wrong, as a sensor, a message or a person tells them, at any moment of a course."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from table.dealt import ANNA, BETS, RED
from table.playing import Course
from table.shapes import Clear, Owed, Result, Start, owed

from controller.cards import Card
from controller.games.procedure import DEALER, Betting, Deal, DecisionOf, Turn, Window
from controller.table import inputs as i
from controller.table.events import IncidentKind
from controller.table.observations import reportable
from controller.table.picture import draw
from controller.table.situations import SITUATIONS, Axis

Report = Callable[[Course], object]
STAGES = ("options", "final_options", "buy_time")
WRONG_EXCHANGES = ((), (0,), (6,), (1, 1), (1, 2, 3, 4, 5, 6))


def is_met(course: Course) -> bool:
    """Whether the table waits for the step that is next, not for an earlier or later one."""
    step, current = course.shape.steps[course.index], course.d.table.state.round
    if isinstance(step, Start | Result | Clear):
        return True
    return current is not None and current.run.owed is not None and owed(current.run.owed) == owed(step)


def wrong_messages(course: Course) -> Iterator[i.AnyCommand]:
    """Yield every command that is not due here: early, late, twice, for another place or another number."""
    t = course.d.table.state
    shown = draw(t).buttons
    yield from (press for name, press in PLAIN.items() if name not in shown)
    step = course.shape.steps[course.index]
    due = step.place if isinstance(step, Turn) else None
    yield from (i.TurnCards(place) for place in (*t.game.places, "switch", "moon") if place != due)
    reported = reportable(t)
    yield from (i.Observed(kind, DEALER) for kind in IncidentKind if kind not in reported)
    yield from _wrong_decisions(course, step)
    window = t.round.window if t.round is not None else None
    if not isinstance(step, Betting):
        yield i.BetsTaken({"moon": course.d.settings.boxes_not_told["box1"]})
    for stage in STAGES:
        if window is None or window.window != stage or window.settled:
            yield i.WindowFacts(stage, undecided=False)


def _wrong_decisions(course: Course, step: Owed) -> Iterator[i.AnyCommand]:
    stage, box = (step.stage, step.box) if isinstance(step, DecisionOf) else ("", "box1")
    yield from (i.DecisionTaken(other, box, "BET") for other in STAGES if other != stage)
    yield i.DecisionTaken(stage, "moon", "BET")
    yield i.DecisionTaken(stage, box, "RAISE")
    yield from (i.DecisionTaken(stage, box, "EXCHANGE", wrong) for wrong in WRONG_EXCHANGES)
    if stage == "final_options":
        yield i.DecisionTaken(stage, box, "EXCHANGE", (1,))
    window = course.d.table.state.in_play.window if course.d.table.state.round else None
    for decided in window.decisions if window is not None else ():
        yield i.DecisionTaken(window.window if window else "", decided, "BET")


PLAIN: Mapping[str, i.AnyCommand] = {
    "open_table": i.OpenTable(),
    "close_table": i.CloseTable(),
    "verify_deck": i.VerifyDeck(52),
    "confirm_shuffle": i.ConfirmShuffle(),
    "repeat_shuffle": i.RepeatShuffle(),
    "clear_table": i.ClearTable(),
    "open_betting": i.OpenBetting(),
    "close_betting": i.CloseBetting(),
    "lay_card_aside": i.LayCardAside(),
    "confirm_result": i.ConfirmResult(),
    "answer_question": i.AnswerQuestion(1, True),
    "dispute_reading": i.DisputeReading(),
    "call_surplus": i.CallSurplus(),
    "withdraw_report": i.WithdrawReport(),
    "confirm_cancel": i.ConfirmCancel(),
    "confirm_picture": i.ConfirmPicture("another"),
    "go_on": i.GoOn(),
    "order_rescan": i.OrderRescan(),
    "void_box": i.VoidBox("box1"),
    "order_redeal": i.OrderRedeal(),
}


def sensed(course: Course) -> Iterator[tuple[str, Report]]:
    """Yield what the scanner tells of a single step that goes wrong here."""
    t = course.d.table.state
    step = course.shape.steps[course.index]
    if t.round is not None:
        yield "foreign card", lambda c: c.d.scan(code=RED.code(Card.parse("2c")))
        yield "unknown code", lambda c: c.d.scan(code="what?")
    if isinstance(step, Deal):
        yield "failed read", lambda c: c.d.fail()
    else:
        yield "card not due", Course.scan
    if isinstance(step, Betting):
        yield "card before the guard", lambda c: (c.d.press(i.CloseBetting()), c.scan())
    if isinstance(step, Window):
        yield "card before the guard", lambda c: (c.d.facts(step.stage, undecided=False), c.scan())
    if t.is_round_open:
        yield "scanner gone", lambda c: c.d.unplug()
        yield "other scanner", lambda c: (c.d.plug("a"), c.d.plug("b"))
        yield "card in a hold", lambda c: (c.d.unplug(), c.d.plug(), c.scan())
        if t.in_play.laid:
            yield "same card again", lambda c: c.d.scan(code=c.d.table.state.in_play.laid[-1].code)


def observed(course: Course) -> Iterator[tuple[str, Report]]:
    """Yield what a person may report here."""
    t = course.d.table.state
    shown = draw(t).buttons
    step = course.shape.steps[course.index]
    own = step.place if isinstance(step, Deal | Turn) else t.game.boxes[0]
    for kind in reportable(t):
        places = (own, DEALER) if Axis.DEALERS in SITUATIONS[kind].axes else (own,)
        for place in dict.fromkeys(places):
            yield f"{kind} {place}", partial(_observe, kind=kind, place=place)
    if "dispute_reading" in shown:
        yield "DISPUTED_READ", lambda c: c.d.press(i.DisputeReading())
    if "call_surplus" in shown:
        yield "CALL_SURPLUS", lambda c: c.d.press(i.CallSurplus())


def _observe(course: Course, kind: IncidentKind, place: str) -> None:
    course.d.press(i.Observed(kind, place), ANNA)


def sender(command: i.AnyCommand) -> str:
    """Return who would send this."""
    if isinstance(command, i.BetsTaken | i.WindowFacts | i.DecisionTaken):
        return BETS
    supervisors = i.ConfirmCancel | i.GoOn | i.OrderRescan | i.VoidBox | i.OrderRedeal
    return "boris" if isinstance(command, supervisors) else ANNA
