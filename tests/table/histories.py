"""Random histories: a seeded crowd that presses, scans, tells and unplugs, sensibly or not."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from random import Random

from msgspec.structs import replace
from profiles import profile
from table.dealt import ANNA, BETS, BORIS, CLARA, DORA, FAILS, PLAYS, SETTINGS, Dealt, live_rules, stacked

from controller.cards import DECK
from controller.games.procedure import BoxState
from controller.games.registry import GAMES
from controller.table import inputs as i
from controller.table import stub_count
from controller.table.charts import IncidentState
from controller.table.events import CardAt, HaltReason, IncidentKind
from controller.table.inputs import Role
from controller.table.picture import draw
from controller.table.quarantine import name_of
from controller.table.situations import OBSERVABLE

WINDOWS = ("options", "final_options", "buy_time", "betting")
PEOPLE = (ANNA, BORIS, CLARA, DORA)
REDEALING_RULES = Path(__file__).parents[2] / "config" / "games" / "oasis_with_bonus.toml"


def fresh(seed: int) -> Dealt:
    """Return a table for this seed: hands, settings of the game and limits hang on it."""
    rules = live_rules(skip_unused_switch_cards=seed % 2 == 0)
    shipped = profile(
        "russian_poker_live",
        burn_at_dealer_change=seed % 2 == 1,
        breaker_cases=3 if seed % 5 else 1_000,
        count_every_rounds=1 if seed % 4 == 0 else 5,
    )
    settings = replace(SETTINGS, profile=shipped)
    return Dealt(FAILS if seed % 3 else PLAYS, rules=rules, settings=settings)


def fresh_redealing(seed: int) -> Dealt:
    """Return a table of the game that deals anew (OAB-24)."""
    game = GAMES["oasis_with_bonus"].build(tomllib.loads(REDEALING_RULES.read_text()))
    d = Dealt(game=game, settings=replace(SETTINGS, profile=profile(game.name)))
    d.shoe = Random(seed).sample(DECK, len(DECK))
    return d


def play(d: Dealt, seed: int, steps: int, check: Callable[[Dealt], None]) -> None:
    """Feed about `steps` random inputs and call `check` after each; most are what the table asks for."""
    random = Random(seed)
    if not d.inputs:
        d.start()
        d.plug()
    for _ in range(steps):
        before = len(d.steps)
        if random.random() < 0.82:
            what_is_asked(d, random)
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
            i.LoadDeck("blue", random.choice(("R-1", "R-2"))),
            i.ChangeDeck(random.choice(tuple(i.ChangeReason))),
            i.CountStub(random.choice((27, 31, 32, 52))),
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
            i.Observed(random.choice(tuple(IncidentKind)), random.choice((None, "box1", "dealer"))),
            i.WithdrawReport(),
            i.ConfirmCancel(),
            i.AnswerQuestion(random.randrange(9), random.random() < 0.5),
            i.ConfirmPicture(draw(d.table.state).lies or "none"),
            i.GoOn(),
            i.OrderRescan(),
            i.VoidBox(random.choice(("box1", "box2", "dealer"))),
            i.OrderRedeal(),
            i.OrderEntry(),
            i.EnterCard(random.randrange(9), str(random.choice(DECK))),
            i.WithdrawCorrection(),
            i.PauseTable(HaltReason.BREAK),
            i.ResumeTable(),
            i.CloseAfterRound(HaltReason.SHIFT_END),
            i.Unblock(),
        )
    )
    d.press(command, random.choice((*PEOPLE, BETS)))


def correct(d: Dealt, random: Random) -> None:
    """Two people, now and then the same one, correct a round, now and then by cards."""
    roundid = f"rp1-{random.randrange(d.table.state.round_no + 2)}"
    first, second = random.choices((BORIS, CLARA), k=2)
    cards = (CardAt("box1", 1, str(random.choice(DECK))),) if random.random() < 0.2 else ()
    d.press(i.ProposeCorrection(roundid, i.CorrectionReason.WRONG_RESULT, cards), first)
    if random.random() < 0.3:
        what_is_asked(d, random)
    d.press(i.ApproveCorrection(roundid, cards), second)


def _enter(d: Dealt, random: Random) -> None:
    """Somebody enters the card that can't be read, now and then another one."""
    incident = d.table.state.incident
    assert incident is not None
    _drop_known(d)
    card = d.shoe[0] if d.shoe and random.random() < 0.8 else random.choice(DECK)
    d.press(i.EnterCard(incident.number, str(card)), random.choice(PEOPLE))


def _report(d: Dealt, random: Random) -> None:
    place = random.choice(("box1", "dealer", "switch"))
    kinds = draw(d.table.state).reports or sorted(OBSERVABLE)
    d.press(i.Observed(IncidentKind(random.choice(kinds)), place), random.choice((ANNA, BORIS, CLARA)))


def _come_and_go(d: Dealt, random: Random) -> None:
    """Dora relieves Anna, or somebody else comes or goes where it may not be."""
    actor = random.choice(PEOPLE)
    if random.random() < 0.5:
        d.log_in(actor, random.choice((Role.DEALER, Role.SUPERVISOR)), right=random.random() < 0.8)
    else:
        d.press(i.LogOut(random.choice((None, ANNA, DORA, BORIS))), actor)


def _dispute(d: Dealt, random: Random) -> None:
    d.press(random.choice((i.DisputeReading(), i.CallSurplus(), i.WithdrawReport())))


def _away(d: Dealt, random: Random) -> None:
    d.unplug()
    if random.random() < 0.6:
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
                i.CardsTogether(at=d.now + 1, scanner="shoe", count=2),
                i.ScannerOpened(at=d.now + 1, scanner="shoe", device=random.choice((None, "a", "a", "b"))),
            )
        )
    )


def _wait(d: Dealt, random: Random) -> None:
    d.advance(random.choice((10, 600, 1_200, 16_000, 61_000, 200_000)))


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
    _come_and_go,
    _dispute,
    _report,
    _report,
    _away,
    _down,
    _wait,
    _stale,
    _expired,
    lambda d, random: (d.fail(), None)[1],
    correct,
)


def dealer_on_duty(d: Dealt) -> str:
    """Return who presses what the page asks for."""
    on_duty = d.table.state.duty.dealer
    return on_duty.actor if on_duty is not None else ANNA


def what_is_asked(d: Dealt, random: Random) -> None:
    """Do what the prompt says, or let somebody decide the open incident."""
    prompt, dealer = draw(d.table.state).prompt, dealer_on_duty(d)
    match prompt.code:
        case "DEAL_CARD" | "BURN_CARD" | "SCAN_AGAIN" | "SCAN_DRAWN_CARD":
            _scan_next(d)
        case "WAIT_FOR_FACTS":
            _take_bets(d, random)
        case "WAIT_FOR_PLAYERS" if d.game.redeals and random.random() < 0.9:
            _decide(d, random)
        case "WAIT_FOR_PLAYERS":
            _tell(d, random) if random.random() < 0.7 else d.advance(16_000)
        case "SAME_CARD":
            d.answer(random.random() < 0.9, dealer)
        case "FACE_SEEN":
            d.answer(random.random() < 0.3, dealer)
        case "CARD_DRAWN":
            d.answer(random.random() < 0.5, dealer)
        case "CALL_SUPERVISOR" | "SIGN_DEALER_CHANGE" if random.random() < 0.05:
            d.advance(200_000)
        case "CALL_SUPERVISOR" | "SIGN_DEALER_CHANGE":
            often = (i.OrderRedeal(),) * 4 if d.game.redeals else ()
            commands = (
                i.WithdrawReport(),
                i.OrderRescan(),
                i.GoOn(),
                i.ConfirmCancel(),
                i.OrderEntry(),
                *often,
            )
            d.press(random.choice(commands), random.choice((BORIS, CLARA)))
        case "ENTER_CARD" | "ENTER_DRAWN_CARD":
            _enter(d, random)
        case "CONFIRM_RESULT" if random.random() < 0.1:
            d.press(i.Observed(IncidentKind.WRONG_ANNOUNCEMENT), random.choice(PEOPLE))
        case "ORDER_CERTAIN" | "LATER_CARD" | "MOVE_CARD" | "WAS_DEALT":
            d.answer(random.random() < 0.7, dealer)
        case "SCAN_TO_BURN":
            _scan_next(d)
        case "SCAN_FROM_FIRST":
            _scan_laid(d, random)
        case "LOG_IN":
            d.log_in(random.choice((ANNA, DORA)), Role.DEALER, right=random.random() < 0.9)
        case "UNBLOCK":
            d.press(i.Unblock(), random.choice(PEOPLE))
        case "PAUSED":
            d.press(i.ResumeTable(), random.choice(PEOPLE))
        case "START" if random.random() < 0.2:
            d.press(i.LogOut(), dealer)
        case "CLEAR_TABLE" if random.random() < 0.1:
            _scan_next(d)
        case "CARD_READ_MEANWHILE":
            d.answer(random.random() < 0.8, dealer)
        case "SCANNER_GONE" if random.random() < 0.4:
            d.advance(120_000)
        case "GONE_TOO_LONG" if random.random() < 0.7:
            d.press(i.OrderEntry(), random.choice((BORIS, CLARA)))
        case "SCANNER_GONE" | "GONE_TOO_LONG":
            d.plug()
        case "OTHER_SCANNER" | "PRESS_LEFT_OUT" | "INPUT_LEFT_OUT":
            _look(d, random)
        case "SHOW_CARD":
            d.press(i.ConfirmResult(), random.choice((ANNA, BORIS)))
        case "FREE_DISK":
            d.feed(i.Measured(at=d.now + 1, disk_free_mb=10_000))
        case "LOAD_DECK" | "ACCEPT_DECK" | "SCAN_DECK" | "SUPERVISOR_VERIFIES":
            _load(d, random, prompt.code)
        case "COUNT_STUB" | "COUNT_AGAIN":
            wrong = random.random() < 0.3
            count = stub_count.expected(d.table.state) - wrong
            d.press(i.CountStub(count), ANNA if prompt.code == "COUNT_STUB" else BORIS)
        case code:
            if code == "REDEAL" or (code == "SHUFFLE" and d.game.redeals):
                d.shoe = random.sample(DECK, len(DECK))
            elif code == "SHUFFLE":
                d.shoe = list(DECK) if random.random() < 0.1 else stacked(d.hands)
            d.press(_press_for(d, code, prompt.place), dealer)


def _look(d: Dealt, random: Random) -> None:
    """A supervisor looks at what the table will not take by itself."""
    again = i.ConfirmShuffle() if d.phase == "shuffling" else i.OpenBetting()
    d.press(i.GoOn() if d.table.state.incident else again, BORIS)
    if d.table.state.incident_state is IncidentState.SUPERVISOR and random.random() < 0.5:
        d.press(i.ConfirmCancel(), CLARA)


def _decide(d: Dealt, random: Random) -> None:
    """Let a box decide, or somebody call a miscount."""
    window = d.table.state.in_play.window
    assert window is not None and window.decides is not None
    if random.random() < 0.15:
        d.press(i.Observed(IncidentKind.WRONG_NUMBER_OF_CARDS, "box1"), random.choice(PEOPLE))
        return
    action = random.choice(window.decides.actions)
    positions = tuple(random.sample(range(1, 6), random.randint(1, 5))) if action == "EXCHANGE" else ()
    name = window.window if random.random() < 0.9 else window.stage
    d.press(i.DecisionTaken(name, random.choice(window.decides.boxes), action, positions), BETS)


def _load(d: Dealt, random: Random, code: str) -> None:
    """Load a deck: scanned in, now and then with a card that does not belong there, or by its receipt."""
    scanned = d.table.state.shoe.scanning
    if code == "SUPERVISOR_VERIFIES":
        d.press(i.VerifyDeck(52), BORIS)
    elif code == "ACCEPT_DECK" or (code == "LOAD_DECK" and random.random() < 0.7):
        d.press(i.LoadDeck("blue", "R-1"), random.choice((ANNA, BORIS)))
    elif random.random() < 0.02:
        d.scan(code=random.choice((scanned[0] if scanned else "A01", "A01")))
    else:
        d.scan(str(DECK[len(scanned) % len(DECK)]))


def _scan_next(d: Dealt) -> None:
    """Scan the next card that the register does not know; the shoe may have got out of step."""
    if d.table.state.incident and d.table.state.incident.kind is IncidentKind.HELD_READ:
        d.scan(code=d.table.state.in_play.unplaced_reads.codes[0])
        return
    _drop_known(d)
    d.scan() if d.shoe else d.plug()


def _drop_known(d: Dealt) -> None:
    known = d.table.state.register
    while d.shoe and isinstance(known.check(known.deck.code(d.shoe[0])), str):
        d.shoe.pop(0)


def _scan_laid(d: Dealt, random: Random) -> None:
    """Scan the cards of the round again, now and then another one."""
    incident, laid = d.table.state.incident, d.table.state.in_play.laid
    assert incident is not None and incident.again is not None
    if random.random() < 0.05:
        _scan_next(d)
    else:
        d.scan(code=laid[len(incident.again)].code)


def _press_for(d: Dealt, code: str, place: str | None) -> i.AnyCommand:
    presses: dict[str, i.AnyCommand] = {
        "OPEN_TABLE": i.OpenTable(),
        "VERIFY_DECK": i.VerifyDeck(52),
        "SHUFFLE": i.ConfirmShuffle(),
        "REDEAL": i.ConfirmShuffle(),
        "START": i.OpenBetting(),
        "PLACE_BETS": i.CloseBetting(),
        "TURN": i.TurnCards(place or ""),
        "LAY_ASIDE": i.LayCardAside(),
        "CONFIRM_RESULT": i.ConfirmResult(),
        "CLEAR_TABLE": i.ClearTable(),
        "CONFIRM_PICTURE": i.ConfirmPicture(draw(d.table.state).lies or ""),
    }
    return presses[code]
