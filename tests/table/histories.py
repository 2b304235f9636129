"""Random histories: a seeded crowd that presses, scans, tells and unplugs, sensibly or not."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from table.dealt import ANNA, BETS, BORIS, CLARA, FAILS, PLAYS, Dealt, live_rules, stacked

from controller.cards import DECK
from controller.games.procedure import BoxState
from controller.table import inputs as i
from controller.table.charts import IncidentState
from controller.table.events import IncidentKind
from controller.table.inputs import CancelReason
from controller.table.picture import draw
from controller.table.quarantine import name_of

WINDOWS = ("options", "final_options", "buy_time", "betting")
PEOPLE = (ANNA, BORIS, CLARA)


def fresh(seed: int) -> Dealt:
    """Return a table for this seed: hands, and whether unused switch cards are skipped, hang on it."""
    rules = live_rules(skip_unused_switch_cards=seed % 2 == 0)
    return Dealt(FAILS if seed % 3 else PLAYS, rules=rules)


def play(d: Dealt, seed: int, steps: int, check: Callable[[Dealt], None]) -> None:
    """Feed about `steps` random inputs and call `check` after each; most are what the table asks for."""
    random = Random(seed)
    if not d.inputs:
        d.start()
        d.plug()
    for _ in range(steps):
        before = len(d.steps)
        if random.random() < 0.82:
            _what_is_asked(d, random)
        else:
            random.choice(ANYTHING)(d, random)
        if len(d.steps) > before:
            check(d)


def _maybe(random: Random) -> bool | None:
    return random.choice((True, False, None))


def _tell(d: Dealt, random: Random) -> None:
    d.press(
        i.WindowFacts(
            d.table.state.in_play.window.window
            if d.table.state.round and d.table.state.in_play.window and random.random() < 0.8
            else random.choice(WINDOWS),
            in_play=_maybe(random),
            anyone_drew=_maybe(random),
            anyone_bought=_maybe(random),
            undecided=random.choice((False, False, True, None)),
            acknowledges=random.random() < 0.5,
        ),
        BETS,
    )


def _take_bets(d: Dealt, random: Random) -> None:
    boxes = {box: random.choice(tuple(BoxState)) for box in ("box1", "box2", "box3") if random.random() < 0.8}
    d.press(i.BetsTaken(boxes), BETS)


def _any_card(d: Dealt, random: Random) -> None:
    if d.shoe and random.random() < 0.5:
        d.scan()
    else:
        d.scan(str(random.choice(DECK)))


def _foreign(d: Dealt, random: Random) -> None:
    if random.random() < 0.1:
        d.scan(code="A01")


def _any_press(d: Dealt, random: Random) -> None:
    command = random.choice(
        (
            i.OpenTable(),
            i.CloseTable(),
            i.VerifyDeck(random.choice((51, 52))),
            i.ConfirmShuffle(),
            i.RepeatShuffle(),
            i.OpenBetting(),
            i.CloseBetting(),
            i.TurnCards(random.choice(("switch", "box1", "box3", "dealer", "moon"))),
            i.LayCardAside(),
            i.ConfirmResult(),
            i.ClearTable(),
            i.DisputeReading(),
            i.CallSurplus(),
            i.ReportCancel(random.choice(tuple(CancelReason)), random.choice((None, "box1"))),
            i.WithdrawReport(),
            i.ConfirmCancel(),
            i.AnswerQuestion(random.randrange(9), random.random() < 0.5),
            i.ConfirmPicture(draw(d.table.state).lies or "none"),
            i.GoOn(),
            i.OrderRescan(),
        )
    )
    d.press(command, random.choice((*PEOPLE, BETS)))


def _dispute(d: Dealt, random: Random) -> None:
    d.press(random.choice((i.DisputeReading(), i.CallSurplus(), i.WithdrawReport())))


def _away(d: Dealt, random: Random) -> None:
    d.unplug()
    if random.random() < 0.8:
        d.plug()


def _down(d: Dealt, random: Random) -> None:
    if random.random() < 0.4:
        code = random.choice((None, "A01", d.table.state.register.deck.code(random.choice(DECK))))
        untaken = (i.UntakenRead("shoe", code),) if random.random() < 0.3 else ()
        poison = (name_of(d.table.state, _poison(d, random)),) if random.random() < 0.3 else ()
        program = random.choice(("1.0", "1.0", "1.0", "1.1"))
        d.start(program=program, untaken=untaken, quarantined=poison)


def _poison(d: Dealt, random: Random) -> i.AnyInput:
    """Return what may have stopped the process: the next card, a deadline, a press."""
    armed = [i.TimerExpired(at=0, name=name, number=due.number) for name, due in d.table.deadlines.items()]
    code = d.table.state.register.deck.code(d.shoe[0] if d.shoe else DECK[0])
    read = i.CardRead(at=0, scanner="shoe", code=code, device_seq=None, key="")
    press = i.Commanded(
        at=0,
        request="",
        actor="",
        role=i.Role.DEALER,
        round_no=d.table.state.round_no,
        command=random.choice((i.ConfirmResult(), i.CloseBetting(), i.TurnCards("box1"))),
    )
    return random.choice((*armed, read, press))


def _machine(d: Dealt, random: Random) -> None:
    """What the machine under the table tells."""
    d.feed(
        random.choice(
            (
                i.Measured(at=d.now + 1, disk_free_mb=random.choice((20, 20_000))),
                i.ClockStepped(at=d.now + 1, step_ms=random.choice((-3_600_000, 700))),
                i.ScannerRestarted(at=d.now + 1, scanner="shoe"),
                i.ScannerOpened(at=d.now + 1, scanner="shoe", device=random.choice((None, "a", "a", "b"))),
            )
        )
    )


def _wait(d: Dealt, random: Random) -> None:
    d.advance(random.choice((10, 600, 1_200, 16_000)))


def _stale(d: Dealt, random: Random) -> None:
    name = random.choice(("window", "grace", "lunch"))
    d.feed(i.TimerExpired(at=d.now + 1, name=name, number=random.randrange(20)))


def _expired(d: Dealt, random: Random) -> None:
    d.press(i.OpenBetting(), round_no=random.randrange(4))


ANYTHING: tuple[Callable[[Dealt, Random], None], ...] = (
    _tell,
    _take_bets,
    _any_card,
    _any_card,
    _foreign,
    _machine,
    _any_press,
    _any_press,
    _dispute,
    _away,
    _down,
    _wait,
    _stale,
    _expired,
    lambda d, random: (d.fail(), None)[1],
)


def _what_is_asked(d: Dealt, random: Random) -> None:
    """Do what the prompt says, or let somebody decide the open incident."""
    prompt = draw(d.table.state).prompt
    match prompt.code:
        case "DEAL_CARD" | "SCAN_AGAIN" | "SCAN_DRAWN_CARD":
            _scan_next(d)
        case "WAIT_FOR_FACTS":
            _take_bets(d, random)
        case "WAIT_FOR_PLAYERS":
            _tell(d, random) if random.random() < 0.7 else d.advance(16_000)
        case "SAME_CARD":
            d.answer(random.random() < 0.9)
        case "FACE_SEEN":
            d.answer(random.random() < 0.3)
        case "CARD_DRAWN":
            d.answer(random.random() < 0.5)
        case "CALL_SUPERVISOR":
            command = random.choice((i.WithdrawReport(), i.OrderRescan(), i.GoOn(), i.ConfirmCancel()))
            d.press(command, random.choice((BORIS, CLARA)))
        case "CARD_READ_MEANWHILE":
            d.answer(random.random() < 0.8)
        case "SCANNER_GONE" | "GONE_TOO_LONG":
            d.plug()
        case "OTHER_SCANNER" | "PRESS_LEFT_OUT" | "INPUT_LEFT_OUT":
            d.press(i.GoOn() if d.table.state.incident else i.OpenBetting(), BORIS)
            if d.table.state.incident_state is IncidentState.SUPERVISOR and random.random() < 0.5:
                d.press(i.ConfirmCancel(), CLARA)
        case "FREE_DISK":
            d.feed(i.Measured(at=d.now + 1, disk_free_mb=10_000))
        case code:
            if code == "SHUFFLE":
                d.shoe = stacked(d.hands)
            d.press(_press_for(d, code, prompt.place))


def _scan_next(d: Dealt) -> None:
    """Scan the next card that the register does not know; the shoe may have got out of step."""
    if d.table.state.incident and d.table.state.incident.kind is IncidentKind.HELD_READ:
        d.scan(code=d.table.state.in_play.held.codes[0])
        return
    known = d.table.state.register
    while d.shoe and isinstance(known.check(known.deck.code(d.shoe[0])), str):
        d.shoe.pop(0)
    d.scan() if d.shoe else d.plug()


def _press_for(d: Dealt, code: str, place: str | None) -> i.AnyCommand:
    presses: dict[str, i.AnyCommand] = {
        "OPEN_TABLE": i.OpenTable(),
        "VERIFY_DECK": i.VerifyDeck(52),
        "SHUFFLE": i.ConfirmShuffle(),
        "START": i.OpenBetting(),
        "PLACE_BETS": i.CloseBetting(),
        "TURN": i.TurnCards(place or ""),
        "LAY_ASIDE": i.LayCardAside(),
        "CONFIRM_RESULT": i.ConfirmResult(),
        "CLEAR_TABLE": i.ClearTable(),
        "CONFIRM_PICTURE": i.ConfirmPicture(draw(d.table.state).lies or ""),
    }
    return presses[code]
