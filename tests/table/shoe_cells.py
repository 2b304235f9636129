"""Ways into every case of baccarat's procedures; how each is decided is `test_every_shoe_cell`'s business."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from table.dealt import ANNA, BORIS, DORA, RED, SHOE
from table.shoe_dealt import SHOE8, SIX_CARDS, ShoeDealt

from controller.games.baccarat import LAYOUT
from controller.games.procedure import BoxState
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import IncidentKind
from controller.table.quarantine import name_of
from controller.table.situations import Axis, Known

Kind = IncidentKind
B, D, R, C = Phase.BETTING, Phase.DEALING, Phase.RESULT_PROPOSED, Phase.CONFIRMED
Y, N, U = "yes", "no", "unknown"
Do = Callable[[ShoeDealt], object]


class Case(NamedTuple):
    """A case, and the acts that lead into it: its message comes with the last one."""

    kind: Kind
    phase: Phase
    values: Mapping[Axis, Known]
    acts: tuple[Do, ...]

    def ready(self) -> ShoeDealt:
        """Return the table before the first coup."""
        d = ShoeDealt(SIX_CARDS + " " + "Th 9c 8d 2s 4h 6c " * 6, burn_by_first_card=False)
        d.shoe = d.shoe[2:]  # Nothing is burned at the beginning of these shoes.
        d.to_ready()
        return d

    def way(self) -> ShoeDealt:
        """Return the table with its message."""
        d = self.ready()
        for act in self.acts:
            act(d)
        return d

    def __str__(self) -> str:
        return "-".join((self.kind, self.phase, *(f"{axis}:{value}" for axis, value in self.values.items())))


def case(kind: Kind, phase: Phase, *acts: Do | tuple[Do, ...], **values: str) -> Case:
    flat = tuple(one for act in acts for one in (act if isinstance(act, tuple) else (act,)))
    return Case(kind, phase, {Axis(name): Known(value) for name, value in values.items()}, flat)


def start(d: ShoeDealt) -> object:
    return d.press(i.OpenBetting())


def no_more_bets(d: ShoeDealt) -> object:
    d.press(i.CloseBetting())
    return d.bets()


def dealing(count: int) -> tuple[Do, ...]:
    return (start, no_more_bets, lambda d: d.deal(count))


def report(kind: Kind, place: str | None = None) -> Do:
    return lambda d: d.press(i.Observed(kind, place))


def answer(yes: bool) -> Do:
    return lambda d: d.answer(yes)


def scan(d: ShoeDealt) -> object:
    return d.scan()


def fail(d: ShoeDealt) -> object:
    return d.fail()


def scan_again_at_once(d: ShoeDealt) -> object:
    return d.scan_at_once(str(d.table.state.in_play.laid[-1].card))


def dispute(d: ShoeDealt) -> object:
    return d.press(i.DisputeReading())


def strange(d: ShoeDealt) -> object:
    return d.scan(code=RED.code(d.shoe[0]))


def result(d: ShoeDealt) -> object:
    return d.press(i.ConfirmResult())


def clear(d: ShoeDealt) -> object:
    return d.press(i.ClearTable())


def restart(d: ShoeDealt) -> None:
    d.start()
    d.plug()


def restart_as_another(d: ShoeDealt) -> None:
    d.start(program="2.0")
    d.plug()


def picture(d: ShoeDealt) -> object:
    return d.confirm_picture()


def tell_empty(d: ShoeDealt) -> None:
    d.press(i.CloseBetting())
    d.bets(**{LAYOUT: BoxState.EMPTY})


def bets_were_there(d: ShoeDealt) -> object:
    return d.bets(**{LAYOUT: BoxState.DARK})


def another_scanner(d: ShoeDealt) -> None:
    d.unplug()
    d.plug("mine")
    d.answer(False)
    d.unplug()
    d.plug("other")


def other_dealer(d: ShoeDealt) -> object:
    return d.log_in(DORA)


def hold_and_scan(d: ShoeDealt) -> None:
    d.press(i.Observed(Kind.VIDEO_LOST))
    d.scan()


def go_on(d: ShoeDealt) -> object:
    return d.press(i.GoOn(), BORIS)


def leave_out(d: ShoeDealt, value: i.AnyInput) -> None:
    d.start(quarantined=(name_of(d.table.state, value),))
    d.plug()
    d.confirm_picture()
    d.answer(False)


def leave_out_a_press(d: ShoeDealt) -> None:
    number = d.table.state.round_no
    pressed = i.Commanded(
        at=0, request="", actor=ANNA, role=i.Role.DEALER, round_no=number, command=i.DisputeReading()
    )
    leave_out(d, pressed)
    d.press(i.DisputeReading())


def leave_out_a_card(d: ShoeDealt) -> None:
    code = SHOE8.code(d.shoe[0])
    leave_out(d, i.CardRead(at=0, scanner=SHOE, code=code, device_seq=None, key=""))
    d.scan()


result_proposed = dealing(6)
confirmed = (*result_proposed, result)
ready = (*confirmed, clear)
used = (*dealing(2), fail, scan)
"""The one re-scan of the first four cards is used up."""
third_failed = (*dealing(4), fail, fail, fail, fail)
FLOOR = (*dealing(2), report(Kind.CARD_ON_FLOOR))
PLACED = (*dealing(2), report(Kind.WRONG_PLACE))
MISREAD = (*dealing(3), report(Kind.MISREAD_LATE))
AWAY = (*dealing(2), ShoeDealt.unplug, ShoeDealt.plug)

CASES = (
    case(Kind.FAILED_READ, D, dealing(2), fail, initial=Y, rescan=Y),
    case(Kind.FAILED_READ, D, used, fail, initial=Y, rescan=N),
    case(Kind.FAILED_READ, D, dealing(4), fail, initial=N, rescan=Y),
    case(Kind.FAILED_READ, D, third_failed, initial=N, rescan=N),
    case(Kind.MISREAD_LATE, D, MISREAD, certain=U, initial=Y, rescan=Y),
    case(Kind.MISREAD_LATE, D, MISREAD, answer(True), certain=Y, initial=Y, rescan=Y),
    case(Kind.MISREAD_LATE, D, MISREAD, answer(False), certain=N, initial=Y, rescan=Y),
    case(Kind.MISREAD_LATE, D, MISREAD, answer(True), fail, certain=Y, initial=Y, rescan=N),
    case(Kind.HELD_READ, D, dealing(2), hold_and_scan, go_on, certain=Y, later=U),
    case(Kind.HELD_READ, D, dealing(2), hold_and_scan, go_on, answer(True), certain=Y, later=Y),
    case(Kind.HELD_READ, D, dealing(2), hold_and_scan, go_on, answer(False), certain=Y, later=N),
    case(
        *(Kind.HELD_READ, D, dealing(2), hold_and_scan, go_on, answer(True), lambda d: d.scan("Ks")),
        certain=N,
        later=Y,
    ),
    case(Kind.DISPUTED_READ, D, dealing(2), dispute, later=N, initial=Y, rescan=Y),
    case(Kind.DISPUTED_READ, D, used, dispute, later=N, initial=Y, rescan=N),
    case(Kind.SAME_CODE_AGAIN, D, dealing(2), scan_again_at_once, certain=U),
    case(Kind.SAME_CODE_AGAIN, D, dealing(2), scan_again_at_once, answer(True), certain=Y),
    case(Kind.SAME_CODE_AGAIN, D, dealing(2), scan_again_at_once, answer(False), certain=N),
    case(Kind.FOREIGN_CARD, D, dealing(2), strange),
    case(Kind.FOREIGN_CARD, B, start, strange),
    case(Kind.FOREIGN_CARD, R, result_proposed, strange),
    case(Kind.EARLY_DRAW, Phase.READY, ready, scan, scanned=Y, revealed=U),
    case(Kind.EARLY_DRAW, Phase.READY, ready, scan, answer(False), scanned=Y, revealed=N),
    case(Kind.EARLY_DRAW, Phase.READY, ready, scan, answer(True), scanned=Y, revealed=Y),
    case(Kind.EARLY_DRAW, B, start, scan, scanned=Y, revealed=U),
    case(Kind.EARLY_DRAW, B, start, scan, answer(False), scanned=Y, revealed=N),
    case(Kind.EARLY_DRAW, B, start, scan, answer(True), scanned=Y, revealed=Y),
    case(Kind.EARLY_DRAW, B, start, report(Kind.EARLY_DRAW), answer(False), scanned=N, revealed=N),
    case(Kind.EARLY_DRAW, B, start, report(Kind.EARLY_DRAW), answer(True), scanned=N, revealed=Y),
    case(Kind.BURN_FORGOTTEN, D, start, no_more_bets, report(Kind.BURN_FORGOTTEN), later=N),
    case(Kind.BURN_FORGOTTEN, D, dealing(2), report(Kind.BURN_FORGOTTEN), later=Y),
    case(Kind.TWO_CARDS, D, dealing(2), report(Kind.TWO_CARDS), certain=U, revealed=U, decision=N),
    case(
        Kind.TWO_CARDS, D, dealing(2), report(Kind.TWO_CARDS), answer(True), certain=Y, revealed=U, decision=N
    ),
    case(
        Kind.TWO_CARDS,
        D,
        dealing(2),
        report(Kind.TWO_CARDS),
        answer(False),
        certain=N,
        revealed=U,
        decision=N,
    ),
    case(Kind.SURPLUS_CARD, D, dealing(2), report(Kind.SURPLUS_CARD), scanned=N, revealed=U, decision=N),
    case(
        *(Kind.SURPLUS_CARD, D, dealing(2), report(Kind.SURPLUS_CARD), answer(False)),
        scanned=N,
        revealed=N,
        decision=N,
    ),
    case(
        Kind.SURPLUS_CARD,
        D,
        dealing(2),
        lambda d: d.press(i.CallSurplus()),
        scanned=Y,
        revealed=Y,
        decision=N,
    ),
    case(Kind.SURPLUS_CARD, R, result_proposed, scan, scanned=Y, revealed=U, decision=N),
    case(Kind.SURPLUS_CARD, R, result_proposed, scan, answer(False), scanned=Y, revealed=N, decision=N),
    case(Kind.SURPLUS_CARD, R, result_proposed, scan, answer(True), scanned=Y, revealed=Y, decision=N),
    case(Kind.SURPLUS_CARD, C, confirmed, scan, scanned=Y, revealed=U, decision=N),
    case(Kind.SURPLUS_CARD, C, confirmed, scan, answer(False), scanned=Y, revealed=N, decision=N),
    case(Kind.SURPLUS_CARD, C, confirmed, scan, answer(True), scanned=Y, revealed=Y, decision=N),
    case(Kind.WRONG_PLACE, D, PLACED, later=U, certain=U),
    case(Kind.WRONG_PLACE, D, PLACED, answer(False), later=N, certain=U),
    case(Kind.WRONG_PLACE, D, PLACED, answer(False), answer(True), later=N, certain=Y),
    case(Kind.WRONG_PLACE, D, PLACED, answer(False), answer(False), later=N, certain=N),
    case(Kind.WRONG_PLACE, D, PLACED, answer(True), later=Y, certain=U),
    case(Kind.BOXED_CARD, D, dealing(2), report(Kind.BOXED_CARD), hidden=N, dealers=N),
    case(Kind.CARD_ON_FLOOR, Phase.READY, ready, report(Kind.CARD_ON_FLOOR), scanned=U, revealed=U),
    case(Kind.CARD_ON_FLOOR, D, FLOOR, scanned=U, revealed=U),
    case(Kind.CARD_ON_FLOOR, D, FLOOR, answer(True), scanned=Y, revealed=U),
    case(Kind.CARD_ON_FLOOR, D, FLOOR, answer(False), scanned=N, revealed=U),
    case(Kind.CARD_ON_FLOOR, D, FLOOR, answer(False), answer(False), scanned=N, revealed=N),
    case(Kind.CARD_ON_FLOOR, D, FLOOR, answer(False), answer(True), scanned=N, revealed=Y),
    case(Kind.TABLE_CLEARED, R, result_proposed, report(Kind.TABLE_CLEARED)),
    case(Kind.PRESS_FORGOTTEN, R, result_proposed, report(Kind.PRESS_FORGOTTEN)),
    case(Kind.WRONG_ANNOUNCEMENT, R, result_proposed, report(Kind.WRONG_ANNOUNCEMENT)),
    case(Kind.SHOE_DISAGREES, R, result_proposed, lambda d: d.judged("BANKER")),
    case(Kind.DECK_EMPTY, D, dealing(2), report(Kind.DECK_EMPTY)),
    case(Kind.DEVICE_FAILED, D, dealing(2), report(Kind.DEVICE_FAILED)),
    case(Kind.SCANNER_LOST, D, AWAY, gone=N, other=N, initial=Y, later=U),
    case(Kind.SCANNER_LOST, D, AWAY, answer(False), gone=N, other=N, initial=Y, later=N),
    case(Kind.SCANNER_LOST, D, AWAY, answer(True), gone=N, other=N, initial=Y, later=Y),
    case(Kind.SCANNER_LOST, D, dealing(2), another_scanner, gone=N, other=Y, initial=Y, later=U),
    case(
        *(Kind.SCANNER_LOST, D, dealing(2), ShoeDealt.unplug, lambda d: d.advance(121_000)),
        gone=Y,
        other=N,
        initial=Y,
        later=U,
    ),
    case(Kind.DEALER_CHANGE, D, dealing(2), other_dealer),
    case(Kind.LINK_LOST, D, dealing(2), report(Kind.LINK_LOST)),
    case(Kind.VIDEO_LOST, D, dealing(2), report(Kind.VIDEO_LOST)),
    case(Kind.RESTARTED, D, dealing(2), ShoeDealt.start, certain=U),
    case(Kind.RESTARTED, D, dealing(2), restart, picture, certain=Y),
    case(Kind.RESTARTED, D, dealing(2), restart_as_another, picture, certain=N),
    case(Kind.QUARANTINED, D, dealing(2), leave_out_a_press, certain=Y),
    case(Kind.QUARANTINED, D, dealing(2), leave_out_a_card, certain=N),
    case(Kind.WRONG_FACT, D, start, tell_empty, scan, bets_were_there),
)
