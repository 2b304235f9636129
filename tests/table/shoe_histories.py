"""Random histories of baccarat: the crowd of `histories`, and what only a shoe brings."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import msgspec
from profiles import profile
from table import histories
from table.dealt import ANNA, BORIS, CLARA, SHOE, Dealt
from table.shoe_dealt import SHOE8, SHOE_SETTINGS, ShoeDealt

from controller.cards import DECK
from controller.games.baccarat import LAYOUT
from controller.games.procedure import BoxState
from controller.table import inputs as i
from controller.table import result, stub_count
from controller.table.events import IncidentKind
from controller.table.picture import draw
from controller.table.procedures import due_spot

SPOTS = ("P1", "B1", "P2", "B2", "P3", "B3", i.OUTSIDE)
WINNERS = ("PLAYER", "TIE", "BANKER", "UNKNOWN")
READS = frozenset(
    {
        "DEAL_CARD",
        "SHOW_FIRST_CARD",
        "BURN_NEXT",
        "BURN_CARD",
        "SCAN_AGAIN",
        "SCAN_DRAWN_CARD",
        "SCAN_TO_BURN",
    }
)


def fresh(seed: int) -> ShoeDealt:
    """Return a table for this seed: the shoe, the rules of the house and the limits hang on it."""
    random = Random(seed)
    limits = profile(
        "baccarat",
        order_run=400,
        burn_at_shoe_start=seed % 3 == 1,
        burn_at_dealer_change=seed % 2 == 1,
        breaker_cases=3 if seed % 5 == 0 else 1_000,
        stand_by_needed=seed % 4 == 3,
    )
    d = ShoeDealt(
        settings=msgspec.structs.replace(SHOE_SETTINGS, table="rp1", profile=limits),
        burn_by_first_card=seed % 3 == 0,
        cutting_card_from_end=random.choice((16, 100, 390)),
        rounds_after_cutting_card=random.choice((0, 1)),
    )
    d.shoe = random.sample([*DECK] * SHOE8.copies, SHOE8.size)
    return d


def play(d: ShoeDealt, seed: int, steps: int, check: Callable[[Dealt], None]) -> None:
    """Feed about `steps` random inputs and call `check` after each; most are what the table asks for."""
    random = Random(seed)
    d.start()
    d.plug()
    for _ in range(steps):
        before, chance = len(d.steps), random.random()
        if chance < 0.84:
            _what_is_asked(d, random)
        elif chance < 0.94:
            random.choice(OF_A_SHOE)(d, random)
        else:
            random.choice(OF_ANY_GAME)(d, random)
        if len(d.steps) > before:
            check(d)


def _what_is_asked(d: ShoeDealt, random: Random) -> None:
    prompt, t = draw(d.table.state).prompt, d.table.state
    dealer = histories.dealer_on_duty(d)
    match prompt.code:
        case "WAIT_FOR_FACTS":
            d.bets(**{LAYOUT: random.choice((BoxState.OPEN, BoxState.DARK))})
        case "LOAD_DECK" | "ACCEPT_DECK":
            d.shoe = random.sample([*DECK] * SHOE8.copies, SHOE8.size)
            for actor in (dealer, CLARA):
                d.press(i.LoadDeck("shoe8", "R-1"), actor)
        case "SCAN_DECK" if random.random() < 0.5:
            d.press(i.ChangeDeck(random.choice(tuple(i.ChangeReason))), BORIS)
        case "VERIFY_DECK":
            d.press(i.VerifyDeck(stub_count.expected(t)), dealer)
        case "SUPERVISOR_VERIFIES":
            d.press(i.VerifyDeck(stub_count.expected(t)), BORIS)
        case "SHUFFLE":
            d.press(i.ConfirmShuffle(), dealer)
        case "DEAL_CARD" if d.shoe and random.random() < 0.3:
            _scan_where_it_is_due(d)
        case code if code in READS:
            d.scan() if d.shoe else d.unplug()
        case "CONFIRM_RESULT" if random.random() < 0.4:
            coup = result.outcome(t.in_play).coup
            assert coup is not None
            d.judged(coup.winner)
        case "WAIT_FOR_SHOE":
            _stands_by(d, random)
        case "COUNT_STUB" | "COUNT_AGAIN":
            d.press(i.CountStub(stub_count.expected(t)), random.choice((dealer, BORIS, CLARA)))
        case "CALL_SUPERVISOR":
            presses = (i.WithdrawReport(), i.OrderRescan(), i.GoOn(), i.ConfirmCancel(), i.OrderEntry())
            d.press(random.choice(presses), random.choice((BORIS, CLARA)))
        case _:
            histories.what_is_asked(d, random)


def _scan_where_it_is_due(d: ShoeDealt) -> None:
    assert d.game.shoe is not None
    places = {spot: place for place, spot in d.game.shoe.spots.items()}
    owed = due_spot(d.table.state)
    d.scan_for("P1" if owed is None else places.get(owed, "P1"))


def _scan_anywhere(d: ShoeDealt, random: Random) -> None:
    if d.shoe:
        d.scan_for(random.choice(SPOTS))


def _scan_any(d: ShoeDealt, random: Random) -> None:
    d.scan(str(random.choice(DECK)))


def _scan_equal(d: ShoeDealt, random: Random) -> None:
    """A card of a value that is out already, now and then as if it were read twice."""
    out = d.table.state.register.drawn()
    if out and random.random() < 0.5:
        d.scan_at_once(str(random.choice(out[-6:])))
    elif out:
        d.scan(str(random.choice(out[-6:])))


def _stands_by(d: ShoeDealt, _: Random) -> None:
    d.feed(i.ShoeStandsBy(at=d.now + 1, scanner=SHOE))


def _restart(d: ShoeDealt, _: Random) -> None:
    d.feed(i.ScannerRestarted(at=d.now + 1, scanner=SHOE))


def _judge(d: ShoeDealt, random: Random) -> None:
    d.judged(random.choice(WINNERS), player_pair=random.random() < 0.2)


def _complain(d: ShoeDealt, random: Random) -> None:
    d.complain(random.choice(tuple(i.Complaint)), cleared=random.random() < 0.3)


def _cut(d: ShoeDealt, random: Random) -> None:
    if random.random() < 0.3:
        d.cutting_card()


def _report(d: ShoeDealt, random: Random) -> None:
    if kinds := draw(d.table.state).reports:
        place = random.choice(("player", "banker", "burn", None))
        d.press(i.Observed(IncidentKind(random.choice(kinds)), place), random.choice((ANNA, BORIS, CLARA)))


def _unplug(d: ShoeDealt, random: Random) -> None:
    d.unplug()
    if d.shoe and random.random() < 0.5:
        d.shoe.pop(0)
    d.plug(random.choice((None, None, "a")))


def _put_right(d: ShoeDealt, _: Random) -> None:
    """Who has gone comes back, and the shoe is plugged in."""
    for actor in (ANNA, BORIS, CLARA):
        d.log_in(actor)
    d.plug()


def _two_at_once(d: ShoeDealt, _: Random) -> None:
    d.feed(i.CardsTogether(at=d.now + 1, scanner=SHOE, count=2))
    for _card in d.shoe[:2]:
        d.scan()


def _kill(d: ShoeDealt, random: Random) -> None:
    d.start(untaken=(i.UntakenRead(SHOE, random.choice((None, SHOE8.code(random.choice(DECK))))),))


def _count(d: ShoeDealt, random: Random) -> None:
    wrong = random.choice((0, 0, 1))
    d.press(i.CountStub(stub_count.expected(d.table.state) - wrong), random.choice((ANNA, BORIS)))


def _correct(d: ShoeDealt, random: Random) -> None:
    roundid = f"rp1-{random.randrange(d.table.state.round_no + 2)}"
    d.press(i.ProposeCorrection(roundid, i.CorrectionReason.WRONG_RESULT, ()), random.choice((BORIS, CLARA)))
    d.press(i.ApproveCorrection(roundid, ()), random.choice((BORIS, CLARA)))


OF_A_SHOE: tuple[Callable[[ShoeDealt, Random], None], ...] = (
    _scan_anywhere,
    _scan_any,
    _scan_equal,
    _stands_by,
    _restart,
    _judge,
    _complain,
    _complain,
    _cut,
    _report,
    _report,
    _unplug,
    _two_at_once,
    _kill,
    _count,
    _correct,
    _put_right,
    _put_right,
)
OF_ANY_GAME = tuple(act for act in histories.ANYTHING if act is not histories.correct)
