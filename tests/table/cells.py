"""Ways into every case of the procedures, for each house: a profile and a game that is played by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec
from games.driver import game
from profiles import profile
from table.dealt import ANNA, BETS, BLUE, DORA, FAILS, ROLES, SETTINGS, SHOE, Dealt

from controller.cards import DECK
from controller.games.procedure import BoxState, Deal, DecisionOf, LayAside, Turn, Window
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import IncidentKind as Kind
from controller.table.quarantine import name_of
from controller.table.situations import Axis, Known

LIVE = "russian_poker_live"
OPEN, DARK, EMPTY = BoxState.OPEN, BoxState.DARK, BoxState.EMPTY


class House(NamedTuple):
    """A profile, and a game that is played by it."""

    profile: str
    game: str

    def table(self, dealt: type[Dealt] = Dealt) -> Dealt:
        """Return a table that is off."""
        if self.game == LIVE:
            return dealt(FAILS)
        played = game(self.game)
        told = dict.fromkeys(played.boxes, OPEN)
        settings = msgspec.structs.replace(
            SETTINGS, boxes_not_told=told, profile=profile(self.profile, order_run=52)
        )
        d = dealt(game=played, settings=settings)
        d.shoe = list(DECK)
        return d

    def states(self) -> dict[str, BoxState]:
        """Return the bets of every round; all four places get cards."""
        if self.game == LIVE:
            return {"box1": DARK, "box2": OPEN, "box3": EMPTY}
        return {"box1": OPEN, "box2": OPEN, "box3": DARK}


HOUSES = (
    House("russian_poker_live", LIVE),
    House("default", "grandmaster_russian_poker"),
    House("default", "golden_oasis"),
    House("oasis_with_bonus", "oasis_with_bonus"),
)

Way = Callable[[House], Dealt]


def shuffling(house: House) -> Dealt:
    d = ready(house)
    d.press(i.RepeatShuffle())
    return d


def ready(house: House) -> Dealt:
    return house.table().to_ready()


def betting(house: House) -> Dealt:
    return house.table().to_betting()


def dealing(count: int) -> Way:
    """Bets are known, `count` cards lie."""

    def way(house: House) -> Dealt:
        d = betting(house)
        d.press(i.CloseBetting())
        d.press(i.BetsTaken(house.states()), BETS)
        return d.deal(count)

    return way


def deciding(house: House) -> Dealt:
    """The first cards lie, options time runs."""
    return dealing(20)(house)


def drawing(count: int) -> Way:
    """Somebody draws, `count` of those cards lie."""

    def way(house: House) -> Dealt:
        d = deciding(house)
        if house.game == LIVE:
            d.all_decided("options")
        else:
            d.press(i.DecisionTaken("options", "box1", "EXCHANGE", (1, 2, 3)), BETS)
        return d.deal(count)

    return way


def turning(house: House) -> Dealt:
    """Every choice that frees a card is made, the dealer is to turn cards."""
    d = deciding(house)
    until(d, Turn)
    return d


def proposed(house: House) -> Dealt:
    """The result is proposed."""
    d = deciding(house)
    finish(d, Phase.RESULT_PROPOSED)
    return d


def confirmed(house: House) -> Dealt:
    """The result is confirmed, the cards still lie."""
    d = proposed(house)
    d.press(i.ConfirmResult())
    return d


def until(d: Dealt, step: type) -> None:
    """Play on, everybody silent, until this kind of step is owed."""
    for _ in range(60):
        if isinstance(d.table.state.in_play.run.owed, step):
            return
        play_on(d)
    raise AssertionError(f"{step} is never owed")


def finish(d: Dealt, phase: Phase) -> None:
    """Play on, everybody silent, until the round is in this phase."""
    for _ in range(60):
        if d.phase is phase:
            return
        play_on(d)
    raise AssertionError(f"the round stands in {d.phase}: {d.table.state.in_play.run.owed}")


def play_on(d: Dealt) -> None:
    """Do the next thing that the script owes."""
    match d.table.state.in_play.run.owed:
        case Deal():
            d.advance(20_000)
            if isinstance(d.table.state.in_play.run.owed, Deal):
                d.scan()
        case Turn(place=place):
            d.press(i.TurnCards(place))
        case LayAside():
            d.press(i.LayCardAside())
        case None:
            d.press(i.ConfirmResult())
        case Window() | DecisionOf() | _:
            d.advance(20_000)


# The ways into a case: reports, answers, scans.


def then(way: Way, *acts: Callable[[Dealt], object]) -> Way:
    """Go this way, then do these things."""

    def longer(house: House) -> Dealt:
        d = way(house)
        for act in acts:
            act(d)
        return d

    return longer


def report(kind: Kind, place: str | None = None) -> Callable[[Dealt], object]:
    return lambda d: d.press(i.Observed(kind, place), ANNA)


def reported(way: Way, kind: Kind, *answers: bool) -> Way:
    """The dealer reports it, and answers what he is asked."""
    return then(way, report(kind), *map(answer, answers))


def answer(yes: bool) -> Callable[[Dealt], object]:
    return lambda d: d.answer(yes)


def scan(d: Dealt) -> object:
    return d.scan()


def fail(d: Dealt) -> object:
    return d.fail()


def fail_to_the_end(d: Dealt) -> None:
    """No re-scan is left."""
    for _ in range(d.settings.limits.read_tries):
        d.fail()


def dispute(d: Dealt) -> object:
    return d.press(i.DisputeReading())


def scan_known(d: Dealt) -> object:
    return d.scan(str(d.table.state.in_play.laid[1].card))


def restart(d: Dealt) -> None:
    d.start()
    d.plug()


def with_other_device(d: Dealt) -> None:
    """The scanner, which is device a, comes back as another one."""
    for device in "ab":
        d.unplug()
        d.plug(device)
        if device == "a":
            d.answer(False)


def stay_away(d: Dealt) -> None:
    d.unplug()
    d.advance(d.settings.limits.scanner_gone_s * 1_000)


def read_in_a_hold(count: int) -> Callable[[Dealt], None]:
    """Somebody reports a case, the next cards are read meanwhile, the report is withdrawn."""

    def act(d: Dealt) -> None:
        d.press(i.Observed(Kind.DEVICE_FAILED))
        for card in d.shoe[:count]:
            d.scan(str(card))
        d.press(i.WithdrawReport())

    return act


def scan_second(d: Dealt) -> object:
    """Not the next card, but the one behind it."""
    return d.scan(str(d.shoe[1]))


def leave_out(*names: str) -> Callable[[Dealt], None]:
    """The process comes back with inputs left out that have stopped it twice."""

    def act(d: Dealt) -> None:
        d.start(quarantined=names)
        d.plug()
        d.confirm_picture()
        d.answer(False)

    return act


def left_out_press(d: Dealt) -> object:
    """A dealer's report is left out; he makes it again."""
    observed = i.Observed(Kind.DEVICE_FAILED)
    pressed = i.Commanded(
        at=0, request="", actor=ANNA, role=ROLES[ANNA], round_no=d.table.state.round_no, command=observed
    )
    leave_out(name_of(d.table.state, pressed))(d)
    return d.press(observed)


def left_out_read(d: Dealt) -> object:
    """The reading of the next card is left out; it comes again."""
    read = i.CardRead(at=0, scanner=SHOE, code=BLUE.code(d.shoe[0]), device_seq=None, key="")
    leave_out(name_of(d.table.state, read))(d)
    return d.scan(str(d.shoe[0]))


def confirm_picture(d: Dealt) -> object:
    return d.confirm_picture()


def bets_were_wrong(d: Dealt) -> object:
    """The betting system says that the box without bets has some."""
    states = d.table.state.in_play.run.facts[0]
    assert isinstance(states, Mapping)
    return d.press(i.BetsTaken(dict.fromkeys(states, DARK)), BETS)


def one_box_empty(house: House) -> Dealt:
    d = betting(house)
    d.press(i.CloseBetting())
    d.press(i.BetsTaken({"box1": DARK, "box2": OPEN, "box3": EMPTY}), BETS)
    return d.deal(3)


def after_buy_time(house: House) -> Dealt:
    """Buy time is over, the guard before the replacement runs: no decision is to come."""
    d = deciding(house)
    finish_until_window(d, "buy_time")
    d.advance(10_600)  # The window and the grace time; the guard is longer.
    return d


def finish_until_window(d: Dealt, stage: str) -> None:
    for _ in range(60):
        owed = d.table.state.in_play.run.owed
        if isinstance(owed, Window) and owed.stage == stage:
            return
        play_on(d)
    raise AssertionError(f"{stage} never opens")


class Case(NamedTuple):
    """A case, and the way into it: its message comes with the last step of the way."""

    kind: Kind
    phase: Phase
    values: Mapping[Axis, Known]
    way: Way
    game: str | None = None
    """Only this game comes there."""

    def __str__(self) -> str:
        return "-".join((self.kind, self.phase, *(f"{axis}:{value}" for axis, value in self.values.items())))


def case(kind: Kind, phase: Phase, way: Way, *, game: str | None = None, **values: str) -> Case:
    return Case(kind, phase, {Axis(name): Known(value) for name, value in values.items()}, way, game)


B, D, C, R = Phase.BETTING, Phase.DEALING, Phase.DECIDING, Phase.RESULT_PROPOSED
Y, N, U = "yes", "no", "unknown"
SISTER_DRAWS = ("grandmaster_russian_poker", "golden_oasis", "oasis_with_bonus")
used = then(dealing(4), fail, scan)
"""The one re-scan of the initial deal is used up."""
showdown = then(drawing(5), lambda d: d.all_decided("final_options"))
"""Live: all switch cards lie, nobody decides any more before the showdown."""

READINGS = (
    case(Kind.FAILED_READ, D, then(dealing(4), fail), initial=Y, rescan=Y),
    case(Kind.FAILED_READ, D, then(dealing(4), fail, fail), initial=Y, rescan=N),
    case(Kind.FAILED_READ, D, then(used, fail), initial=Y, rescan=N),
    case(Kind.FAILED_READ, D, then(drawing(1), fail), game=LIVE, initial=N, rescan=Y),
    case(Kind.FAILED_READ, D, then(drawing(1), fail, fail_to_the_end), game=LIVE, initial=N, rescan=N),
    *(case(Kind.FAILED_READ, C, then(drawing(1), fail), game=g, initial=N, rescan=Y) for g in SISTER_DRAWS),
    *(
        case(Kind.FAILED_READ, C, then(drawing(1), fail, fail_to_the_end), game=g, initial=N, rescan=N)
        for g in SISTER_DRAWS
    ),
    case(Kind.MISREAD_LATE, D, reported(dealing(6), Kind.MISREAD_LATE), certain=U, initial=Y, rescan=Y),
    case(Kind.MISREAD_LATE, D, reported(dealing(6), Kind.MISREAD_LATE, True), certain=Y, initial=Y, rescan=Y),
    case(
        Kind.MISREAD_LATE, D, reported(dealing(6), Kind.MISREAD_LATE, False), certain=N, initial=Y, rescan=Y
    ),
    case(
        Kind.MISREAD_LATE,
        D,
        then(reported(dealing(6), Kind.MISREAD_LATE, True), fail),
        certain=Y,
        initial=Y,
        rescan=N,
    ),
    case(Kind.MISREAD_LATE, D, reported(used, Kind.MISREAD_LATE), game=LIVE, certain=U, initial=Y, rescan=N),
    case(
        Kind.MISREAD_LATE,
        D,
        then(reported(drawing(1), Kind.MISREAD_LATE, True), fail_to_the_end),
        game=LIVE,
        certain=Y,
        initial=N,
        rescan=N,
    ),
    case(Kind.DISPUTED_READ, D, then(dealing(4), dispute), later=N, initial=Y, rescan=Y),
    case(Kind.DISPUTED_READ, R, then(proposed, dispute), game="golden_oasis", later=Y, initial=Y, rescan=Y),
    case(Kind.DISPUTED_READ, C, then(deciding, dispute), game="golden_oasis", later=Y, initial=Y, rescan=Y),
    case(
        Kind.DISPUTED_READ,
        C,
        then(deciding, dispute),
        game="grandmaster_russian_poker",
        later=Y,
        initial=Y,
        rescan=Y,
    ),
    case(
        Kind.DISPUTED_READ, C, then(deciding, dispute), game="oasis_with_bonus", later=Y, initial=Y, rescan=Y
    ),
    case(Kind.DISPUTED_READ, D, then(drawing(0), dispute), game=LIVE, later=Y, initial=Y, rescan=Y),
    case(Kind.DISPUTED_READ, D, then(used, dispute), later=N, initial=Y, rescan=N),
    case(
        Kind.DISPUTED_READ,
        R,
        then(proposed, dispute, fail),
        game="golden_oasis",
        later=Y,
        initial=Y,
        rescan=N,
    ),
    case(
        Kind.DISPUTED_READ,
        C,
        then(deciding, dispute, fail),
        game="oasis_with_bonus",
        later=Y,
        initial=Y,
        rescan=N,
    ),
    case(Kind.DISPUTED_READ, D, then(showdown, dispute, fail), game=LIVE, later=Y, initial=N, rescan=N),
    case(
        Kind.DISPUTED_READ,
        D,
        then(drawing(1), dispute, fail_to_the_end),
        game=LIVE,
        later=N,
        initial=N,
        rescan=N,
    ),
    *(
        case(
            Kind.DISPUTED_READ,
            C,
            then(drawing(1), dispute, fail_to_the_end),
            game=g,
            later=N,
            initial=N,
            rescan=N,
        )
        for g in SISTER_DRAWS
    ),
    case(Kind.SAME_CODE_AGAIN, D, then(dealing(6), scan_known), certain=U),
    case(Kind.SAME_CODE_AGAIN, D, then(dealing(6), scan_known, answer(True)), certain=Y),
    case(Kind.SAME_CODE_AGAIN, D, then(dealing(6), scan_known, answer(False)), certain=N),
    case(Kind.FOREIGN_CARD, D, then(dealing(6), lambda d: d.scan(code="A01"))),
    case(Kind.FOREIGN_CARD, B, then(betting, lambda d: d.scan(code="A01"))),
    case(Kind.FOREIGN_CARD, R, then(proposed, lambda d: d.scan(code="nonsense"))),
)

BETS_OPEN_SCANNED = then(betting, scan)
BETS_OPEN_REPORTED = reported(betting, Kind.EARLY_DRAW)
GUARDED = then(betting, lambda d: d.press(i.CloseBetting()), scan)
PLACED_WRONGLY = reported(dealing(6), Kind.WRONG_PLACE)
ON_THE_FLOOR = reported(dealing(6), Kind.CARD_ON_FLOOR)

TWO_IN_ORDER = reported(dealing(4), Kind.TWO_CARDS, True)

CARDS_OUT = (
    case(Kind.EARLY_DRAW, Phase.READY, then(ready, scan), scanned=Y, revealed=U),
    case(Kind.EARLY_DRAW, Phase.READY, reported(ready, Kind.EARLY_DRAW), scanned=N, revealed=U),
    case(Kind.EARLY_DRAW, B, BETS_OPEN_SCANNED, scanned=Y, revealed=U),
    case(Kind.EARLY_DRAW, B, then(BETS_OPEN_SCANNED, answer(False)), scanned=Y, revealed=N),
    case(Kind.EARLY_DRAW, B, then(BETS_OPEN_SCANNED, answer(True)), scanned=Y, revealed=Y),
    case(Kind.EARLY_DRAW, D, GUARDED, scanned=Y, revealed=U),
    case(Kind.EARLY_DRAW, D, then(GUARDED, answer(False)), scanned=Y, revealed=N),
    case(Kind.EARLY_DRAW, D, then(GUARDED, answer(True)), scanned=Y, revealed=Y),
    case(Kind.EARLY_DRAW, B, BETS_OPEN_REPORTED, scanned=N, revealed=U),
    case(Kind.EARLY_DRAW, B, then(BETS_OPEN_REPORTED, answer(False)), scanned=N, revealed=N),
    case(Kind.EARLY_DRAW, B, then(BETS_OPEN_REPORTED, answer(True)), scanned=N, revealed=Y),
    case(Kind.BURN_FORGOTTEN, D, reported(dealing(0), Kind.BURN_FORGOTTEN), later=N),
    case(Kind.BURN_FORGOTTEN, D, reported(dealing(4), Kind.BURN_FORGOTTEN), later=Y),
    case(Kind.TWO_CARDS, D, reported(dealing(4), Kind.TWO_CARDS), certain=U, revealed=U, decision=Y),
    case(Kind.TWO_CARDS, D, TWO_IN_ORDER, certain=Y, revealed=U, decision=Y),
    case(Kind.TWO_CARDS, D, reported(dealing(4), Kind.TWO_CARDS, False), certain=N, revealed=U, decision=Y),
    case(
        Kind.TWO_CARDS,
        D,
        then(TWO_IN_ORDER, answer(False)),
        game=LIVE,
        certain=Y,
        revealed=N,
        decision=Y,
    ),
    case(Kind.TWO_CARDS, D, then(TWO_IN_ORDER, answer(True)), game=LIVE, certain=Y, revealed=Y, decision=Y),
    case(
        Kind.TWO_CARDS,
        D,
        reported(after_buy_time, Kind.TWO_CARDS, True, True),
        game=LIVE,
        certain=Y,
        revealed=Y,
        decision=N,
    ),
    case(Kind.SURPLUS_CARD, D, reported(dealing(4), Kind.SURPLUS_CARD), scanned=N, revealed=U, decision=Y),
    case(
        Kind.SURPLUS_CARD,
        D,
        reported(dealing(4), Kind.SURPLUS_CARD, False),
        scanned=N,
        revealed=N,
        decision=Y,
    ),
    case(
        Kind.SURPLUS_CARD, D, reported(dealing(4), Kind.SURPLUS_CARD, True), scanned=N, revealed=Y, decision=Y
    ),
    case(
        Kind.SURPLUS_CARD,
        D,
        then(dealing(8), lambda d: d.press(i.CallSurplus())),
        scanned=Y,
        revealed=U,
        decision=Y,
    ),
    case(
        Kind.SURPLUS_CARD,
        D,
        then(dealing(8), lambda d: d.press(i.CallSurplus()), answer(False)),
        scanned=Y,
        revealed=N,
        decision=Y,
    ),
    case(Kind.SURPLUS_CARD, R, then(proposed, scan), scanned=Y, revealed=U, decision=N),
    case(Kind.SURPLUS_CARD, R, then(proposed, scan, answer(False)), scanned=Y, revealed=N, decision=N),
    case(Kind.SURPLUS_CARD, R, then(proposed, scan, answer(True)), scanned=Y, revealed=Y, decision=N),
    case(
        Kind.SURPLUS_CARD, D, then(turning, scan, answer(True)), game=LIVE, scanned=Y, revealed=Y, decision=Y
    ),
    case(Kind.SURPLUS_CARD, Phase.CONFIRMED, then(confirmed, scan), scanned=Y, revealed=U, decision=N),
    case(Kind.WRONG_PLACE, D, PLACED_WRONGLY, later=U, certain=U),
    case(Kind.WRONG_PLACE, D, then(PLACED_WRONGLY, answer(False)), later=N, certain=U),
    case(Kind.WRONG_PLACE, D, then(PLACED_WRONGLY, answer(False), answer(True)), later=N, certain=Y),
    case(Kind.WRONG_PLACE, D, then(PLACED_WRONGLY, answer(False), answer(False)), later=N, certain=N),
    case(Kind.WRONG_PLACE, D, then(PLACED_WRONGLY, answer(True)), later=Y, certain=U),
    case(Kind.CARD_ON_FLOOR, Phase.SHUFFLING, reported(shuffling, Kind.CARD_ON_FLOOR), scanned=U, revealed=U),
    case(Kind.CARD_ON_FLOOR, Phase.READY, reported(ready, Kind.CARD_ON_FLOOR), scanned=U, revealed=U),
    case(Kind.CARD_ON_FLOOR, D, ON_THE_FLOOR, scanned=U, revealed=U),
)
FLOOR_ASKED = (
    case(Kind.CARD_ON_FLOOR, D, then(ON_THE_FLOOR, answer(True)), scanned=Y, revealed=U),
    case(Kind.CARD_ON_FLOOR, D, then(ON_THE_FLOOR, answer(False)), scanned=N, revealed=U),
    case(Kind.CARD_ON_FLOOR, D, then(ON_THE_FLOOR, answer(False), answer(False)), scanned=N, revealed=N),
    case(Kind.CARD_ON_FLOOR, D, then(ON_THE_FLOOR, answer(False), answer(True)), scanned=N, revealed=Y),
)
"""Where the floor is asked about: live Russian Poker cancels at once."""

EARLY = then(deciding, scan)
WRONG = Kind.WRONG_NUMBER_OF_CARDS

DEALING = (
    case(Kind.HIDDEN_CARD_SHOWN, D, then(dealing(6), report(Kind.HIDDEN_CARD_SHOWN, "dealer")), dealers=Y),
    case(Kind.HIDDEN_CARD_SHOWN, D, then(dealing(6), report(Kind.HIDDEN_CARD_SHOWN, "box3")), dealers=N),
    case(Kind.BOXED_CARD, D, reported(dealing(5), Kind.BOXED_CARD), hidden=N, dealers=N),
    case(Kind.BOXED_CARD, D, reported(dealing(7), Kind.BOXED_CARD), hidden=Y, dealers=Y),
    *(
        case(Kind.BOXED_CARD, D, reported(dealing(6), Kind.BOXED_CARD), game=g, hidden=Y, dealers=N)
        for g in ("golden_oasis", "oasis_with_bonus", LIVE)
    ),
    case(Kind.TABLE_CLEARED, D, reported(dealing(6), Kind.TABLE_CLEARED)),
    case(Kind.TABLE_CLEARED, R, reported(proposed, Kind.TABLE_CLEARED)),
    case(Kind.PRESS_FORGOTTEN, R, reported(proposed, Kind.PRESS_FORGOTTEN)),
    case(Kind.WRONG_ANNOUNCEMENT, R, reported(proposed, Kind.WRONG_ANNOUNCEMENT)),
    case(Kind.EARLY_EXCHANGE, C, EARLY, revealed=U, decision=Y),
    case(Kind.EARLY_EXCHANGE, C, then(EARLY, answer(False)), revealed=N, decision=Y),
    case(Kind.EARLY_EXCHANGE, C, then(EARLY, answer(True)), revealed=Y, decision=Y),
    case(
        Kind.EARLY_EXCHANGE,
        D,
        then(after_buy_time, lambda d: d.scan("2s")),
        game=LIVE,
        revealed=U,
        decision=N,
    ),
    case(
        Kind.EARLY_EXCHANGE,
        D,
        then(after_buy_time, lambda d: d.scan("2s"), answer(True)),
        game=LIVE,
        revealed=Y,
        decision=N,
    ),
    case(Kind.WRONG_EXCHANGE, D, reported(drawing(2), Kind.WRONG_EXCHANGE), game=LIVE),
    *(case(Kind.WRONG_EXCHANGE, C, reported(drawing(2), Kind.WRONG_EXCHANGE), game=g) for g in SISTER_DRAWS),
    case(WRONG, D, then(dealing(6), report(WRONG, "dealer")), dealers=Y),
    case(WRONG, D, then(dealing(6), report(WRONG, "box1")), dealers=N),
)

away = then(dealing(6), Dealt.unplug, Dealt.plug)
OUTSIDE = (
    case(Kind.DECK_EMPTY, D, reported(dealing(6), Kind.DECK_EMPTY)),
    case(Kind.DEVICE_FAILED, D, reported(dealing(6), Kind.DEVICE_FAILED)),
    case(Kind.DEVICE_FAILED, B, reported(betting, Kind.DEVICE_FAILED)),
    case(Kind.SCANNER_LOST, D, away, gone=N, other=N, initial=Y, later=U),
    case(Kind.SCANNER_LOST, D, then(away, answer(False)), gone=N, other=N, initial=Y, later=N),
    case(Kind.SCANNER_LOST, D, then(away, answer(True)), gone=N, other=N, initial=Y, later=Y),
    case(Kind.SCANNER_LOST, D, then(dealing(6), with_other_device), gone=N, other=Y, initial=Y, later=U),
    case(Kind.SCANNER_LOST, D, then(dealing(6), stay_away), gone=Y, other=N, initial=Y, later=U),
    case(Kind.SCANNER_LOST, D, then(drawing(2), stay_away), game=LIVE, gone=Y, other=N, initial=N, later=U),
    *(
        case(Kind.SCANNER_LOST, C, then(drawing(2), stay_away), game=g, gone=Y, other=N, initial=N, later=U)
        for g in SISTER_DRAWS
    ),
    case(Kind.DEALER_CHANGE, D, then(dealing(6), lambda d: d.log_in(DORA))),
    case(Kind.LINK_LOST, D, reported(dealing(6), Kind.LINK_LOST)),
    case(Kind.VIDEO_LOST, D, reported(dealing(6), Kind.VIDEO_LOST)),
    case(Kind.RESTARTED, D, then(dealing(6), Dealt.start), certain=U),
    case(Kind.RESTARTED, D, then(dealing(6), restart, confirm_picture), certain=Y),
    case(Kind.RESTARTED, C, then(deciding, restart, confirm_picture), certain=N),
    case(Kind.WRONG_FACT, D, then(one_box_empty, bets_were_wrong)),
    case(Kind.HELD_READ, D, then(dealing(6), read_in_a_hold(1)), certain=Y, later=U),
    case(Kind.HELD_READ, D, then(dealing(6), read_in_a_hold(1), answer(True)), certain=Y, later=Y),
    case(Kind.HELD_READ, D, then(dealing(6), read_in_a_hold(1), answer(False)), certain=Y, later=N),
    case(
        Kind.HELD_READ,
        D,
        then(dealing(6), read_in_a_hold(2), answer(True), scan_second),
        certain=N,
        later=Y,
    ),
    case(Kind.QUARANTINED, D, then(dealing(6), left_out_press), certain=Y),
    case(Kind.QUARANTINED, D, then(dealing(6), left_out_read), certain=N),
)

CASES = (*READINGS, *CARDS_OUT, *FLOOR_ASKED, *DEALING, *OUTSIDE)


def cases_of(house: House) -> tuple[Case, ...]:
    """Return the cases that this house can come into."""
    asked = profile(house.profile).rows["16"].cells
    floor = any(cell.asks is not None for cell in asked)
    return tuple(one for one in CASES if one.game in (None, house.game) and (floor or one not in FLOOR_ASKED))
