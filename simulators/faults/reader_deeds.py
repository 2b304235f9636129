"""How the simulated dealer commits the faults of readers that deal nothing."""

from __future__ import annotations

from controller.table.picture import Picture
from simulators.actor import Act, Planned, Scan, Unplug
from simulators.devices.families import Mishap
from simulators.faults.hands import Deed, Hands
from simulators.onlookers import Seen

SEEN_LATE_US = 2_000_000
"""After a card was dealt; by then the next one lies."""


def _spelled(dealer: Hands, picture: Picture, back: int = 0) -> str:
    return dealer.hardware.spell(dealer.card(picture, back))


def _wrong(dealer: Hands, picture: Picture) -> str:
    return dealer.hardware.spell(dealer.last_of_shoe(picture))


def _shoe_misreads(dealer: Hands, picture: Picture) -> list[Act]:
    """The reader that deals takes the card for another one; nobody else does."""
    dealer.onlookers.in_hand(dealer.hold(picture))
    return [dealer.show(_wrong(dealer, picture))]


def _capture_sees_other(dealer: Hands, picture: Picture) -> list[Act]:
    dealer.onlookers.capture_sees(Seen(_wrong(dealer, picture)))
    return [dealer.scan(picture)]


def _capture_misses(dealer: Hands, picture: Picture) -> list[Act]:
    dealer.onlookers.capture_sees()
    return [dealer.scan(picture)]


def _capture_is_garbled(dealer: Hands, picture: Picture) -> list[Act]:
    dealer.onlookers.capture_sees(Seen(_spelled(dealer, picture), Mishap.DAMAGED))
    return [dealer.scan(picture)]


def _capture_sees_twice(dealer: Hands, picture: Picture) -> list[Act]:
    dealer.onlookers.capture_sees(*[Seen(_spelled(dealer, picture))] * 2)
    return [dealer.scan(picture)]


def _capture(dealer: Hands) -> str:
    assert dealer.onlookers.capture is not None
    return dealer.onlookers.capture


def _unplug_capture(dealer: Hands, _: Picture) -> list[Act]:
    return [Unplug(_capture(dealer))]


def _only_capture_sees(dealer: Hands, picture: Picture) -> list[Act]:
    """A card that nobody is owed slips past the reader that deals."""
    return [Scan(_capture(dealer), _spelled(dealer, picture))]


def _pass_unread(dealer: Hands, picture: Picture) -> list[Act]:
    """The due card slips past the reader that deals, and another one is drawn behind it."""
    return [Scan(_capture(dealer), _spelled(dealer, picture, back)) for back in (0, -1)]


def _pad_sees_other(dealer: Hands, picture: Picture) -> list[Act]:
    dealer.onlookers.pads_see((picture.prompt.place or "", _wrong(dealer, picture)))
    return [dealer.scan(picture)]


def _pad_misses(dealer: Hands, picture: Picture) -> list[Act]:
    dealer.onlookers.pads_see()
    return [dealer.scan(picture)]


def _unplug_pad(dealer: Hands, picture: Picture) -> list[Act]:
    return [Unplug(dealer.onlookers.pads[picture.prompt.place or ""])]


def _other_place(dealer: Hands, picture: Picture) -> str:
    places = list(dealer.onlookers.pads)
    return places[places.index(picture.prompt.place or "") - 1]


def _misplace(dealer: Hands, picture: Picture) -> list[Act]:
    """The card is laid at another place, where the reader sees it."""
    dealer.onlookers.pads_see((_other_place(dealer, picture), _spelled(dealer, picture)))
    return [dealer.scan(picture)]


def seen_late(dealer: Hands, picture: Picture, now_us: int) -> Planned:
    """Return the look at a misplaced card for which the reader there has taken its time."""
    pad = dealer.onlookers.pads[_other_place(dealer, picture)]
    return Planned(now_us + SEEN_LATE_US, Scan(pad, _spelled(dealer, picture)))


READER_DEEDS: dict[str, Deed] = {
    "shoe-misread": _shoe_misreads,
    "capture-other": _capture_sees_other,
    "capture-misses": _capture_misses,
    "capture-damaged": _capture_is_garbled,
    "capture-twice": _capture_sees_twice,
    "capture-unplugged": _unplug_capture,
    "capture-gone": _unplug_capture,
    "capture-surplus": _only_capture_sees,
    "passed-unread": _pass_unread,
    "pad-other": _pad_sees_other,
    "pad-misses": _pad_misses,
    "pad-unplugged": _unplug_pad,
    "misplaced": _misplace,
    "misplaced-late": _pad_misses,
}
