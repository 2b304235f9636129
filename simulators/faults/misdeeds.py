"""How the simulated dealer commits each fault of the catalogue."""

from __future__ import annotations

from controller.games.procedure import DEALER
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import IncidentKind
from controller.table.picture import Picture
from simulators.actor import Act, Disturb, Planned, Replug, Unplug, Wake
from simulators.devices.families import Mishap
from simulators.faults.catalogue import Case, Moment, Spot
from simulators.faults.garbled import DOUBLED, UNNOTICED, Garbler
from simulators.faults.hands import Deed, Hands
from simulators.faults.line_faults import GARBLED
from simulators.faults.reader_deeds import READER_DEEDS, seen_late
from simulators.faults.reader_faults import SHOE_MISREAD

SECOND = 1_000_000
WINDOW_MOMENTS = {
    "betting": Moment.BETTING,
    "options": Moment.OPTIONS,
    "final_options": Moment.FINAL_OPTIONS,
}
PROMPT_MOMENTS = {
    "SHUFFLE": Moment.SHUFFLE,
    "START": Moment.READY,
    "CONFIRM_RESULT": Moment.RESULT,
    "CLEAR_TABLE": Moment.CONFIRMED,
}
NOT_THE_DEALERS = frozenset({"betting-silent"})


def fault_round(picture: Picture) -> int:
    """Return the round whose fault is due: before START it is the next one's."""
    return picture.round_no + (picture.roundid is None)


class Misdeeds:
    """The faults of one dealer."""

    def __init__(self, dealer: Hands) -> None:
        self._dealer = dealer
        self._windows_seen: set[tuple[int, str]] = set()
        self._plugged_in: set[int] = set()
        """The rounds in which a scanner that was gone for long is there again."""

    def plan_in_window(self, picture: Picture, now_us: int) -> list[Planned]:
        """Plan a fault for the window that has just opened, if the round has one there."""
        window, case = picture.window, self._dealer.due_fault(picture)
        if window is None or not window.is_open or case is None or case.fault.id in NOT_THE_DEALERS:
            return []
        key = (picture.round_no, window.window)
        if WINDOW_MOMENTS.get(window.window) is not case.fault.moment or key in self._windows_seen:
            return []
        self._windows_seen.add(key)
        return [Planned(now_us + SECOND, Wake(window.window))]

    def in_window(self, picture: Picture, window: str, now_us: int) -> list[Planned]:
        """Commit the fault of a window, if that is still open and no box has freed a card meanwhile."""
        case, current = self._dealer.due_fault(picture), picture.window
        if case is None or current is None or current.window != window or not current.is_open:
            return []
        if picture.prompt.code == "DEAL_CARD":
            return []
        return self._commit(picture, case, now_us)

    def at_prompt(self, picture: Picture, case: Case, now_us: int) -> list[Planned] | None:
        """Commit a fault in place of what the prompt asks; None when it is not its time."""
        code = picture.prompt.code
        spot = self._dealer.plan.course.spot(case.card)
        if code == "DEAL_CARD" and spot is not None:
            return self._at_card(picture, case, spot, now_us)
        if PROMPT_MOMENTS.get(code) is not case.fault.moment or picture.phase == "cancelled":
            return None
        return self._commit(picture, case, now_us)

    def _at_card(self, picture: Picture, case: Case, spot: Spot, now_us: int) -> list[Planned] | None:
        """Commit the fault of a card before it is laid, or when the next one is due."""
        place, n = spot
        is_next = (picture.prompt.place, picture.prompt.n) == spot
        if case.fault.id not in AFTER_THE_CARD:
            return self._commit(picture, case, now_us) if is_next else None
        if not is_next and len(picture.places.get(place, ())) == n:
            return self._commit(picture, case, now_us)
        return self._misread(picture) if is_next and case.fault.id in MISREADS else None

    def plan_return(self, picture: Picture, now_us: int) -> list[Planned]:
        """Plan the return of a reader that was gone for long, once nobody has waited for it any more."""
        case = self._dealer.committed.get(picture.round_no)
        device = self._absent(picture, case) if case is not None else None
        if device is None or picture.round_no in self._plugged_in:
            return []
        self._plugged_in.add(picture.round_no)
        return [Planned(now_us, Replug(device))]

    def _absent(self, picture: Picture, case: Case) -> str | None:
        """Return what comes back now: the card lies that was due without it, or the round is confirmed."""
        spot = self._dealer.plan.course.spot(case.card)
        is_laid = spot is not None and len(picture.places.get(spot[0], ())) >= spot[1]
        match case.fault.id:
            case "gone-for-long" if is_laid:
                return self._dealer.scanner
            case "capture-gone" if picture.phase is Phase.CONFIRMED:
                return self._dealer.onlookers.capture
            case _:
                return None

    def has_returned(self, picture: Picture) -> bool:
        """Whether a scanner that was gone for long is plugged in again; the table may not know yet."""
        return picture.round_no in self._plugged_in

    def _misread(self, picture: Picture) -> list[Planned]:
        """A misread card is the wrong card from its scan on; the dealer finds it one card later."""
        self._dealer.hold(picture)
        wrong = self._dealer.hardware.spell(self._dealer.last_of_shoe(picture))
        return [Planned(picture.at_us, self._dealer.show(wrong))]

    def _commit(self, picture: Picture, case: Case, now_us: int) -> list[Planned]:
        self._dealer.committed[fault_round(picture)] = case
        planned = [Planned(now_us, act) for act in DEEDS[case.fault.id](self._dealer, picture)]
        if case.fault.id in COMES_BACK:
            planned += [
                Planned(now_us + 5 * SECOND, Replug(one.act.device))
                for one in planned
                if isinstance(one.act, Unplug)
            ]
        if case.fault.id == "misplaced-late":
            planned.append(seen_late(self._dealer, picture, now_us))
        if case.fault.id == "read-twice":
            planned.append(Planned(now_us + SECOND // 10, planned[0].act))
        if case.fault.id in ("noise", "read-in-hold"):
            planned.append(Planned(now_us + SECOND // 2, Wake("scan")))
        return planned


def _report(kind: IncidentKind) -> Deed:
    def report(dealer: Hands, picture: Picture) -> list[Act]:
        return [dealer.press(picture, i.Observed(kind, picture.prompt.place))]

    return report


def _miscount(dealer: Hands, picture: Picture) -> list[Act]:
    """The miscounted place is the one that the next card is for, or else the dealer's."""
    place = picture.prompt.place or DEALER
    return [dealer.press(picture, i.Observed(IncidentKind.WRONG_NUMBER_OF_CARDS, place))]


def _press(command: i.AnyCommand) -> Deed:
    def press(dealer: Hands, picture: Picture) -> list[Act]:
        return [dealer.press(picture, command)]

    return press


def _press_twice(dealer: Hands, picture: Picture) -> list[Act]:
    press = dealer.press(picture, i.ConfirmResult(), f"{picture.roundid}-twice")
    return [press, press]


def _count_wrong(dealer: Hands, picture: Picture) -> list[Act]:
    return [dealer.press(picture, i.CountStub(dealer.stub_count(picture) - 1))]


def _count_short(dealer: Hands, picture: Picture) -> list[Act]:
    return [dealer.press(picture, i.CountStub(dealer.stub_count(picture)))]


def _no_read(dealer: Hands, picture: Picture) -> list[Act]:
    dealer.onlookers.in_hand(dealer.hold(picture))
    return [dealer.show(None)]


def _scan_with(mishap: Mishap) -> Deed:
    def scan(dealer: Hands, picture: Picture) -> list[Act]:
        return [dealer.scan(picture, mishap)]

    return scan


def _garble(dealer: Hands, picture: Picture) -> list[Act]:
    """What has come of it is the fault that was committed. Another reader sees what the card is."""
    round_no, card = fault_round(picture), dealer.card(picture)
    garbler = Garbler(dealer.plan.seed, dealer.hardware.card)
    out = dealer.drawn(picture) if dealer.plan.course.find(DOUBLED) is not None else ()
    garbled = garbler.garble(round_no, dealer.hardware.spell(card), out)
    dealer.garbled[round_no] = garbled
    is_noticed = garbled.fault == UNNOTICED and bool(dealer.onlookers)
    fault = SHOE_MISREAD if is_noticed else garbled.fault
    dealer.committed[round_no] = dealer.plan.course.case(fault, dealer.committed[round_no].card)
    read = dealer.hardware.card(garbled.code or "")
    if fault == UNNOTICED and read is not None:
        return [dealer.misread(picture, read)]
    code = dealer.hold(picture)
    dealer.onlookers.in_hand(code)
    return [dealer.show(garbled.code) if garbled.code else dealer.show(code, Mishap.DAMAGED)]


def _disturb(mishap: Mishap) -> Deed:
    def disturb(dealer: Hands, _: Picture) -> list[Act]:
        return [Disturb(dealer.scanner, mishap)]

    return disturb


def _foreign(dealer: Hands, picture: Picture) -> list[Act]:
    return [dealer.show(dealer.hardware.spell_foreign(dealer.card(picture)))]


def _unknown(dealer: Hands, _: Picture) -> list[Act]:
    return [dealer.show(dealer.hardware.unknown_code)]


def _last_card_again(dealer: Hands, picture: Picture) -> list[Act]:
    return [dealer.show(dealer.hardware.spell(dealer.card(picture, back=1)))]


def _scan(dealer: Hands, picture: Picture) -> list[Act]:
    return [dealer.scan(picture)]


def _misread_unnoticed(dealer: Hands, picture: Picture) -> list[Act]:
    return [dealer.misread(picture, dealer.last_of_shoe(picture))]


def _unplug(dealer: Hands, _: Picture) -> list[Act]:
    return [Unplug(dealer.scanner)]


MISREADS = frozenset({"misread", "misread-late"})
COMES_BACK = frozenset({"unplugged", "unplugged-card-drawn", "capture-unplugged", "pad-unplugged"})
AFTER_THE_CARD = MISREADS | frozenset(
    {"duplicate-read", "doubled-card", "surplus-called", "surplus-called-seen"}
)
"""Faults that show when the next card is due already."""
DEEDS: dict[str, Deed] = {
    "hidden-shown": _report(IncidentKind.HIDDEN_CARD_SHOWN),
    "extra-placed": _report(IncidentKind.WRONG_NUMBER_OF_CARDS),
    "extra-switch": _report(IncidentKind.WRONG_NUMBER_OF_CARDS),
    "cleared-early": _report(IncidentKind.TABLE_CLEARED),
    "card-on-floor": _report(IncidentKind.CARD_ON_FLOOR),
    "technical": _report(IncidentKind.DEVICE_FAILED),
    "report-withdrawn": _report(IncidentKind.DEVICE_FAILED),
    "replacement-on-floor": _report(IncidentKind.CARD_ON_FLOOR),
    "miscount-deal": _miscount,
    "miscount-options": _miscount,
    "miscount-draw": _miscount,
    "miscount-final-options": _miscount,
    "miscount-result": _miscount,
    "no-read": _no_read,
    "no-read-switch": _no_read,
    "no-read-twice": _no_read,
    "unreadable": _no_read,
    "wrong-result": _misread_unnoticed,
    "damaged-frame": _scan_with(Mishap.DAMAGED),
    "misread": _press(i.DisputeReading()),
    "misread-late": _press(i.Observed(IncidentKind.MISREAD_LATE)),
    "read-in-hold": _press(i.Observed(IncidentKind.DEVICE_FAILED)),
    "gone-for-long": _unplug,
    "duplicate-read": _last_card_again,
    "doubled-card": _last_card_again,
    "foreign-card": _foreign,
    "unknown-code": _unknown,
    "surplus-called": _press(i.CallSurplus()),
    "surplus-called-seen": _press(i.CallSurplus()),
    "surplus-final-options": _scan,
    "surplus-result": _scan,
    "early-draw": _scan,
    "early-draw-seen": _scan,
    "early-exchange": _scan,
    "late-card": _scan,
    "card-before-start": _scan,
    "miscounted": _count_wrong,
    "card-lost": _count_short,
    "unshuffled": _press(i.ConfirmShuffle()),
    "floor-in-shuffle": _press(i.Observed(IncidentKind.CARD_ON_FLOOR)),
    "set-short": _press(i.Observed(IncidentKind.CARD_ON_FLOOR)),
    "set-doubled": _press(i.Observed(IncidentKind.CARD_ON_FLOOR)),
    "set-foreign": _press(i.Observed(IncidentKind.CARD_ON_FLOOR)),
    "unplugged": _unplug,
    "unplugged-card-drawn": _unplug,
    "split-frame": _scan_with(Mishap.SPLIT),
    "read-twice": _scan,
    "noise": _disturb(Mishap.NOISE),
    "press-repeated": _press_twice,
    **{f"line-{mishap}": _scan_with(mishap) for mishap in Mishap},
    "line-power-cycle": _disturb(Mishap.POWER_CYCLE),
    GARBLED: _garble,
    **READER_DEEDS,
}
