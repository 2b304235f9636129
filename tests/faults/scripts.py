"""Scripted rounds: one for every way in which an incident of any kind is decided, and normal ones.

The table's own tests know the ways into every case of the procedures (`table.cells`); people who do what is
asked (`table.following`) lead each to its end. A script is what came from outside meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from games.driver import game
from table.cells import HOUSES, LIVE, House, cases_of, dealing, ready, report
from table.dealt import ANNA, BETS, BORIS, CLARA, DORA, Dealt, every
from table.following import Follower, Forks, ways
from table.played import Played, foreign_card, loaded

from controller.cards import DECK
from controller.games.procedure import BoxState
from controller.table import inputs as i
from controller.table.events import Event, IncidentDecided, IncidentKind, IncidentOpened, Verdict
from controller.table.events.reasons import HaltReason

WAYS_MAX = 12
"""So many ways out of one case are looked at."""
FACING = House("default", "caribbean_poker"), House("default", "oasis_poker"), House("default", "royal_poker")
"""The games that no case of the procedures is played in."""
OF_A_START = frozenset({IncidentKind.RESTARTED, IncidentKind.QUARANTINED})
"""Kinds that a start brings: one comes with every kill, of the other station/test_quarantine."""
Decided = tuple[IncidentKind, Verdict]


class Answered(Dealt):
    """A table whose players all choose: nobody's silence ends a window, as none may after a restart."""

    def advance(self, ms: int) -> tuple[Event, ...]:
        """Let time pass; before a window would end, everybody has decided."""
        current = self.table.state.round
        window = current.window if current is not None else None
        if window is None or not window.is_open or window.window == "betting":
            return super().advance(ms)
        if window.closes_at > self.now + ms * 1_000:
            return super().advance(ms)
        if window.decides is None:
            self.all_decided(window.window)
        for box in window.decides.boxes if window.decides is not None else ():
            if window.is_open and box not in window.decisions:
                self.press(i.DecisionTaken(window.window, box, "BET"), BETS)
        return super().advance(ms)


class Busy(House):
    """A house in which all players choose."""

    def table(self, dealt: type[Dealt] = Answered) -> Dealt:
        return super().table(dealt)

    def states(self) -> dict[str, BoxState]:
        """Return the bets of every round; one of these games is played on one box."""
        boxes = game(self.game).boxes
        return {box: state for box, state in super().states().items() if box in boxes}


@dataclass(frozen=True)
class Script:
    """What comes from outside, in order, up to the end of a round or of what comes after it."""

    name: str
    house: House
    acts: tuple[i.AnyInput, ...]
    begins: int = 0
    """The acts before this one are those of another script."""
    limits: tuple[tuple[str, int], ...] = ()
    """Limits of the profile and rules of the game that are not the shipped ones."""
    decided: frozenset[Decided] = frozenset()


def acts_of(d: Dealt) -> tuple[i.AnyInput, ...]:
    """Return what came from outside; deadlines and starts are the station's own."""
    return tuple(value for value in d.inputs if not isinstance(value, i.Started | i.TimerExpired))


def common(first: Sequence[i.AnyInput], second: Sequence[i.AnyInput]) -> int:
    """Return how many acts two scripts begin with alike."""
    count = 0
    while count < min(len(first), len(second)) and first[count] == second[count]:
        count += 1
    return count


def decided_in(d: Dealt) -> frozenset[Decided]:
    """Return which kinds of incidents were decided, and how."""
    kinds = {event.incident: event.kind for event in every(d.events, IncidentOpened)}
    return frozenset((kinds[event.incident], event.verdict) for event in every(d.events, IncidentDecided))


def home(d: Dealt, house: House, forks: Forks | None = None) -> Dealt:
    """Lead the round to its end, and on until the deck is to be shuffled or verified."""

    def shuffle() -> None:
        d.shoe = list(FRESH.shoe) if house.game == LIVE else list(DECK)

    Follower(d, forks or Forks(), scan=d.scan, shuffle=shuffle, states=house.states()).home()
    return d


# The cases of the procedures.


def from_cases() -> Iterator[Script]:
    """Yield a script for each way of deciding an incident that no script before it has."""
    known: set[Decided] = set()
    for house in map(Busy._make, HOUSES):
        for one in cases_of(house):
            if one.kind in OF_A_START:
                continue
            for number, forks in enumerate(islice(ways(), WAYS_MAX)):
                d = home(one.way(house), house, forks)
                decided = decided_in(d)
                if not {pair for pair in decided if pair[1] is not Verdict.WITHDRAWN} <= known:
                    known |= decided
                    yield scripted(f"{one}/{number}", house, d)


def one_of_each_kind() -> Iterator[Script]:
    """Yield a script for each kind of incident that a case leads to, of the first house that has it."""
    known: set[IncidentKind] = set(OF_A_START)
    for house in map(Busy._make, HOUSES):
        for one in cases_of(house):
            if one.kind not in known:
                known.add(one.kind)
                yield scripted(str(one), house, home(one.way(house), house))


def scripted(name: str, house: House, d: Dealt, **limits: int) -> Script:
    """Return what was played as a script. Its beginning, up to the first START, is killed elsewhere."""
    acts = acts_of(d)
    begins = common(acts, acts_of(ready(house)))
    if house.game != LIVE:
        limits["order_run"] = 52  # These shoes are stacked in order.
    return Script(f"{house.game}/{name}", house, acts, begins, tuple(limits.items()), decided_in(d))


# What no case leads to.


def normal(house: House) -> Script:
    """A round in which nothing goes wrong, from the first start of the table on."""
    d = home(dealing(0)(house), house)
    return replace(scripted("normal", house, d), begins=0)


def dealers_change(house: House) -> Dealt:
    """Between two rounds, and in the second one."""
    d = home(dealing(3)(house), house)
    d.press(i.LogOut())
    d.log_in(DORA)
    d.press(i.ConfirmShuffle(), DORA)
    d.press(i.OpenBetting(), DORA)
    d.log_in(ANNA)
    d.press(i.GoOn(), BORIS)
    return d


def paused(house: House) -> Dealt:
    """A pause in a round, taken back after it; the next round is the last one, and the table opens again."""
    d = dealing(2)(house)
    d.press(i.PauseTable(HaltReason.SHIFT_END), BORIS)
    home(d, house)
    d.press(i.ResumeTable(), BORIS)
    d.press(i.ConfirmShuffle())
    d.press(i.OpenBetting())
    d.press(i.CloseAfterRound(HaltReason.SHIFT_END), BORIS)
    home(d, house)
    return d.reopen()


def blocked(house: House) -> Dealt:
    """So many disputed readings that two people must unlock the table (row 42)."""
    d = dealing(3)(house)
    for _ in range(4):
        report(IncidentKind.VIDEO_LOST)(d)
        d.press(i.GoOn(), BORIS)
    home(d, house)
    d.press(i.ConfirmShuffle())
    for actor in (BORIS, CLARA):
        d.press(i.Unblock(), actor)
    return d


def other_scanner(house: House) -> Dealt:
    """Another device between two rounds; a supervisor accepts it with START."""
    d = house.table()
    d.start()
    d.plug("a")
    d.press(i.OpenTable())
    d.load()
    d.press(i.VerifyDeck(52))
    d.unplug()
    d.plug("b")
    return d


def clock_set(house: House) -> Dealt:
    """The wall clock is set in a round."""
    d = dealing(5)(house)
    d.feed(i.ClockStepped(at=d.now + 1_000, step_ms=5_000))
    return d


def corrected(house: House) -> Dealt:
    """A result is refunded by two people, between two rounds (RPL-74)."""
    d = home(dealing(1)(house), house)
    reason = i.CorrectionReason.WRONG_RESULT
    d.press(i.ProposeCorrection("rp1-1", reason, ()), BORIS)
    d.press(i.ApproveCorrection("rp1-1", ()), CLARA)
    d.press(i.ConfirmShuffle())
    return d


OTHERS: tuple[Callable[[House], Dealt], ...] = (
    dealers_change,
    paused,
    blocked,
    other_scanner,
    clock_set,
    corrected,
)


def of_people() -> Iterator[Script]:
    """Yield these scripts, of live Russian Poker."""
    house = Busy._make(HOUSES[0])
    for play in OTHERS:
        yield scripted(play.__name__, house, home(play(house), house))


# The life of a deck.


def counted() -> Played:
    """Scanned in and verified; a round; counted, wrongly at first."""
    d = loaded(count_every=1).round()
    d.press(i.CountStub(1))
    return d.count(BORIS).round()


def miscounted() -> Played:
    """A card is gone: the round is cancelled, the next deck is scanned in and verified by a supervisor."""
    d = loaded(count_every=1).round()
    d.cards.pop()
    return d.counted_by_both()


def unshuffled() -> Played:
    """The deck goes into the shoe as it came (row 26)."""
    d = loaded(count_every=0)
    d.shoe = list(DECK)
    d.press(i.ConfirmShuffle())
    return d.round()


def rejected() -> Played:
    """A foreign card in a set that is scanned in; another set comes, is counted and goes."""
    d = Played(count_every=1)
    d.scan_set(foreign_card(d.codes(), d.random))
    d.press(i.ChangeDeck(i.ChangeReason.INTEGRITY), BORIS)
    return d


DECKS: tuple[Callable[[], Played], ...] = (counted, miscounted, unshuffled, rejected)


def of_decks() -> Iterator[Script]:
    """Yield the scripts of decks, all of live Russian Poker."""
    begun = acts_of(loaded())
    for play in DECKS:
        d = play()
        acts = acts_of(d)
        begins = 0 if play is counted else common(acts, begun)
        count_every = 0 if play is unshuffled else 1
        limits = (("count_every_rounds", count_every), ("breaker_cases", 1_000))
        name = f"{LIVE}/{play.__name__}"
        yield Script(name, HOUSES[0], acts, begins, limits, decided_in(d))


def each_kind() -> tuple[Script, ...]:
    """Return one script for each kind of incident."""
    return (*one_of_each_kind(), *of_people(), *of_decks())


def all_scripts() -> tuple[Script, ...]:
    """Return all scripts: first a normal round of each game."""
    houses = map(Busy._make, (*HOUSES, *FACING))
    return (*map(normal, houses), *from_cases(), *of_people(), *of_decks())


FRESH = HOUSES[0].table()
"""Its shoe is the one of every round of live Russian Poker."""
