"""Scripted coups of baccarat: one for every way in which a case of a shoe is decided, and a shoe's life.

Ways into the cases are those of `table.shoe_cells`; a script ends when the cards of its coup are collected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from faults.scripts import OF_A_START, WAYS_MAX, Decided, Script, acts_of, common, decided_in
from games.driver import BACCARAT
from table.cells import House
from table.following import Follower, Forks, ways
from table.shoe_cells import CASES
from table.shoe_dealt import ShoeDealt

from controller.games.baccarat import LAYOUT
from controller.games.procedure import BoxState
from controller.table import inputs as i
from controller.table import stub_count
from controller.table.charts import Phase
from controller.table.events import IncidentKind, Verdict

HOUSE = House(BACCARAT, BACCARAT)
LIMITS = {"order_run": 400}
"""These shoes are stacked in order."""


def collected(d: ShoeDealt, forks: Forks | None = None) -> ShoeDealt:
    """Lead the coup to its end, and collect its cards."""

    def never() -> None:
        raise AssertionError("a shoe that has begun is not shuffled")

    states = {LAYOUT: BoxState.DARK}
    Follower(d, forks or Forks(), scan=d.scan, shuffle=never, states=states).to_the_end()
    if d.phase in (Phase.CONFIRMED, Phase.CANCELLED):
        if stub_count.is_due(d.table.state):
            d.press(i.CountStub(stub_count.expected(d.table.state)))
        d.press(i.ClearTable())
    return d


def scripted(name: str, d: ShoeDealt, *, begins: int = 0, **options: int) -> Script:
    limits = LIMITS | options
    return Script(f"{BACCARAT}/{name}", HOUSE, acts_of(d), begins, tuple(limits.items()), decided_in(d))


def from_cases() -> Iterator[Script]:
    """Yield a script for each way of deciding an incident that no script before it has."""
    known: set[Decided] = set()
    for one in CASES:
        if one.kind in OF_A_START:
            continue
        for number, forks in enumerate(islice(ways(), WAYS_MAX)):
            d = collected(one.way(), forks)
            decided = {pair for pair in decided_in(d) if pair[1] is not Verdict.WITHDRAWN}
            if not decided <= known:
                known |= decided
                begins = common(acts_of(d), acts_of(CASES[0].ready()))
                yield scripted(f"{one}/{number}", d, begins=begins, burn_by_first_card=False)


# The life of a shoe.


def shoe_changed() -> ShoeDealt:
    """The first cards are burned; the cutting card comes, one more coup is dealt, another shoe comes."""
    d = ShoeDealt()
    d.to_burned()
    d.scan()
    d.cutting_card()
    d.coup().finish().coup().finish()
    d.new_shoe()
    d.shoe = ShoeDealt().shoe
    return d.coup().finish()


def impossible_card() -> ShoeDealt:
    """A ninth card of one value (row 5)."""
    d = ShoeDealt()
    d.to_ready()
    d.shoe[2:2] = [card for card in d.shoe if str(card) == "5s"][:1] * 9
    while d.table.state.incident is None and d.phase is not Phase.CANCELLED:
        if d.phase is Phase.READY:
            d.open_round()
        elif d.phase is Phase.DEALING:
            d.scan()
        else:
            d.finish()
    return collected(d)


FROM_END = 399
"""So far from the end lies the cutting card: after the first coups it must have come."""


def cutting_card_unseen() -> ShoeDealt:
    """The count shows that the cutting card has passed unseen (row 27)."""
    d = ShoeDealt(cutting_card_from_end=FROM_END)
    d.to_ready()
    while d.phase is not Phase.DECK_CHECK:
        d.coup().finish()
    return d


LIVES: tuple[tuple[Callable[[], ShoeDealt], dict[str, int]], ...] = (
    (shoe_changed, {}),
    (impossible_card, {}),
    (cutting_card_unseen, {"cutting_card_from_end": FROM_END}),
)


def of_shoes() -> Iterator[Script]:
    """Yield the scripts of whole shoes."""
    for play, rules in LIVES:
        yield scripted(play.__name__, play(), **rules)


def of_each_kind_of_shoes() -> tuple[Script, ...]:
    """Return the scripts of whole shoes, and one for the kind that only a shoe with an opinion has."""
    disagrees = (
        one for one in from_cases() if one.decided & {(IncidentKind.SHOE_DISAGREES, Verdict.WENT_ON)}
    )
    return (*of_shoes(), next(disagrees))


def all_of_shoes() -> tuple[Script, ...]:
    """Return all scripts of a shoe."""
    return (*of_shoes(), *from_cases())
