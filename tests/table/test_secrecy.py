"""Nobody learns a face-down card before it is turned: the differential proof, at the table.

Two runs with the same keys, facts and inputs that differ in one hidden card give the same bytes to every
audience, the same pictures and the same deadlines, up to the input that turns it. Commitments are replaced
by a constant first. What the betting system may know earlier (RPL-17, RPL-82) is written down in `ALLOWED`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pytest
from table.dealt import ANNA, BORIS, FAILS, PLACES, Dealt, every, live_rules

from controller.cards import Card, CodeMap
from controller.games.procedure import Game, Turn
from controller.games.russian_live import RussianLive
from controller.table import inputs as i
from controller.table.events import (
    AUDIENCES,
    Audience,
    CardBurned,
    CardDealt,
    CardShown,
    Event,
    HandsOffered,
    IncidentKind,
    InputRefused,
    RoundCancelled,
    RoundConfirmed,
)
from controller.table.picture import draw
from controller.table.settings import TableSettings
from controller.table.table import Table

ALLOWED: dict[Audience, tuple[type[Event], ...]] = {Audience.BETTING: (CardShown, HandsOffered)}
"""Switch cards, one by one, and the hands that hold them: to their buyers' betting system alone."""

MASK = "0" * 64
HIDDEN = [
    *(("box1", n) for n in range(1, 6)),
    *(("box3", n) for n in range(1, 6)),
    *(("dealer", n) for n in range(1, 5)),
    *(("switch", n) for n in range(1, 6)),
]
OTHERS = ("2s", "7d", "Kc")
"""Cards that lie nowhere in `FAILS`: lower, equal and higher ranks, other suits."""


def swapped(place: str, n: int, other: str) -> dict[str, str]:
    """Return the hands with card `n` of `place` replaced."""
    cards = FAILS[place].split()
    cards[n - 1] = other
    return {**FAILS, place: " ".join(cards)}


def plain(d: Dealt) -> Iterator[object]:
    """A round without anything."""
    yield d.to_options()
    yield d.all_decided("options")
    yield d.deal(5)
    yield d.all_decided("final_options", in_play=True)


def troubled(d: Dealt) -> Iterator[object]:
    """A round in which everything happens that leaves it standing."""
    yield d.to_dealing().deal(2)
    yield d.fail()
    yield d.deal(18)
    yield d.scan("3d")
    yield d.answer(False)
    yield d.press(i.Observed(IncidentKind.HIDDEN_CARD_SHOWN, "box1"))
    yield d.scan("Jh")
    yield d.press(i.WithdrawReport(), BORIS)
    yield d.answer(False)
    yield d.press(i.GoOn(), BORIS)
    yield d.advance(20_000)
    yield d.deal(3)
    yield d.unplug()
    yield d.plug()
    yield d.answer(True)
    yield d.scan()
    yield d.start()
    yield d.plug()
    yield d.confirm_picture()
    yield d.answer(False)
    yield d.deal(1)
    yield d.scan("Qs")
    yield d.answer(False)
    yield d.all_decided("final_options")


def abandoned(d: Dealt) -> Iterator[object]:
    """A round that is frozen in the end, up to the press that cancels it."""
    yield d.to_options()
    yield d.all_decided("options")
    yield d.deal(5)
    yield d.start(program="1.1")
    yield d.plug()
    yield d.confirm_picture()


def entered(d: Dealt) -> Iterator[object]:
    """A round in which two people enter a switch card, at the second try."""
    yield d.to_switch()
    yield d.deal(2)
    card = str(d.shoe.pop(0))
    yield d.fail()
    yield d.fail()
    yield d.press(i.OrderEntry(), BORIS)
    for actor, said in ((ANNA, "3d"), (BORIS, card), (BORIS, card), (ANNA, card)):
        yield d.press(i.EnterCard(1, said), actor)
    yield d.deal(2)
    yield d.all_decided("final_options")


def by_hand(d: Dealt) -> Iterator[object]:
    """The scanner stays away, and two people enter the switch cards."""
    yield d.to_switch()
    yield d.unplug()
    yield d.advance(120_000)
    yield d.press(i.OrderEntry(), BORIS)
    for _ in range(5):
        card, incident = str(d.shoe.pop(0)), d.table.state.incident
        assert incident is not None
        for actor in (ANNA, BORIS):
            yield d.press(i.EnterCard(incident.number, card), actor)
    yield d.all_decided("final_options")


COURSES = (plain, troubled, abandoned, entered, by_hand)


def masked(event: Event) -> Event:
    """Replace what binds us to a hidden card."""
    if isinstance(event, CardDealt | CardBurned) and event.commitment is not None:
        return msgspec.structs.replace(event, commitment=MASK)
    return event


def told(d: Dealt, events: tuple[Event, ...], audience: Audience, *, place: str) -> bytes:
    """Return what an audience is told by one step, without what it may know of this place."""
    allowed = ALLOWED.get(audience, ()) if place == "switch" else ()
    seen = [event.seen_by(audience) for event in events if not isinstance(event, allowed)]
    return msgspec.json.encode([masked(event) for event in seen if event is not None])


class OpenSwitchCards(Table):
    """The table of a house that lays the switch cards open (D-45)."""

    def __init__(self, settings: TableSettings, _: Game, deck: CodeMap, others: tuple[CodeMap, ...]) -> None:
        super().__init__(settings, RussianLive(live_rules(switch_cards_face="up")), deck, others)


def play(
    course: Callable[[Dealt], Iterator[object]], hands: dict[str, str], place: str, table: type[Table]
) -> Dealt:
    """Play a course, and go on to the last input before the cards of `place` are turned."""
    d = Dealt(hands, table=table)
    for _ in course(d):
        assert not every(d.last, RoundCancelled)
    if course is not abandoned:
        while (due := owed(d)) != place:
            d.press(i.TurnCards(due))
    return d


def owed(d: Dealt) -> str:
    """Return the place that is turned next."""
    step = d.table.state.in_play.run.owed
    assert isinstance(step, Turn), step
    return step.place


def compare(
    course: Callable[[Dealt], Iterator[object]], place: str, n: int, other: str, table: type[Table] = Table
) -> None:
    """Fail where a run tells more of the hidden card than its place."""
    one = Watched(course, FAILS, place, table)
    two = Watched(course, swapped(place, n, other), place, table)
    reads = [(a, b) for a, b in zip(one.run.inputs, two.run.inputs, strict=True) if a != b]
    assert all(tells_a_card(read) for pair in reads for read in pair), "one card differs"
    by_two = (course is by_hand and place == "switch") or (course is entered and (place, n) == ("switch", 3))
    assert len(reads) == (1 if not by_two else 2 if course is by_hand else 3)
    for audience in AUDIENCES:
        for events, others in zip(one.run.steps, two.run.steps, strict=True):
            a = told(one.run, events, audience, place=place)
            b = told(two.run, others, audience, place=place)
            assert a == b, f"{audience} learns {place} {n}"
    assert one.pictures == two.pictures, f"a picture shows {place} {n}"
    assert one.deadlines == two.deadlines, f"a deadline hangs on {place} {n}"


def tells_a_card(value: i.AnyInput) -> bool:
    """Whether an input is a card that was read, or one that a person has entered."""
    return isinstance(value, i.CardRead) or (
        isinstance(value, i.Commanded) and isinstance(value.command, i.EnterCard)
    )


class Watched:
    """A run, with the picture and the deadlines after every input."""

    def __init__(
        self,
        course: Callable[[Dealt], Iterator[object]],
        hands: dict[str, str],
        place: str,
        table: type[Table],
    ) -> None:
        self.pictures: list[bytes] = []
        self.deadlines: list[str] = []
        watched = self

        class Seen(table):  # type: ignore[misc, valid-type]
            def step(self, value: i.AnyInput) -> tuple[Event, ...]:
                events: tuple[Event, ...] = super().step(value)
                watched.pictures.append(msgspec.json.encode(draw(self.state)))
                watched.deadlines.append(repr(sorted(self.deadlines.items())))
                return events

        self.run = play(course, hands, place, Seen)


@pytest.mark.parametrize("course", COURSES)
@pytest.mark.parametrize(("place", "n"), HIDDEN)
def test_a_hidden_card_changes_nothing_before_it_is_turned(
    course: Callable[[Dealt], Iterator[object]], place: str, n: int
) -> None:
    for other in OTHERS:
        compare(course, place, n, other)


@pytest.mark.parametrize("course", COURSES)
@pytest.mark.parametrize(("place", "n"), [where for where in HIDDEN if where[0] != "switch"])
def test_beside_open_switch_cards_the_others_stay_hidden(
    course: Callable[[Dealt], Iterator[object]], place: str, n: int
) -> None:
    compare(course, place, n, OTHERS[0], OpenSwitchCards)


def test_an_open_switch_card_is_everybodys_at_once() -> None:
    """D-45: it is dealt like any open card; nobody is told it in private, and nothing binds us to it."""
    d = Dealt(FAILS, table=OpenSwitchCards).to_final_options()
    laid = [event for event in every(d.events, CardDealt) if event.place == "switch"]
    assert [event.card for event in laid] == FAILS["switch"].split()
    assert {event.commitment for event in laid} == {None}
    assert all(event.seen_by(Audience.PUBLIC) == event for event in laid)
    assert every(d.events, CardShown) == []
    d.all_decided("final_options")
    assert owed(d) == "box1"


@pytest.mark.parametrize("seen", [True, False])
def test_a_burned_card_changes_nothing_before_the_rounds_end(seen: bool) -> None:
    said = []
    for burned in ("2s", "Kc"):
        d = Dealt(FAILS).to_buy_time()
        d.all_decided("buy_time")
        d.scan(burned)
        d.answer(seen)
        d.press(i.LayCardAside())
        d.deal(1)
        assert draw(d.table.state).burned_count == 1
        before = [told(d, events, audience, place="burn") for events in d.steps for audience in AUDIENCES]
        d.press(i.ConfirmResult())
        assert [card.card for card in every(d.last, RoundConfirmed)[0].opened] == [burned]
        said.append(before)
    assert said[0] == said[1]


def test_a_hidden_card_that_is_withdrawn_stays_hidden() -> None:
    said = []
    for hands in (FAILS, swapped("dealer", 1, "2s")):
        d = Dealt(hands).to_dealing().deal(4)
        d.press(i.DisputeReading())
        d.scan("3d")
        d.press(i.Observed(IncidentKind.DEVICE_FAILED))
        said.append([told(d, e, audience, place="dealer") for e in d.steps for audience in AUDIENCES])
        d.press(i.ConfirmCancel(), BORIS)
        opened = every(d.last, RoundCancelled)[0].opened
        assert {(card.reading, card.card) for card in opened if card.place == "dealer"} == {
            (1, hands["dealer"].split()[0]),
            (2, "3d"),
        }
    assert said[0] == said[1]


def test_the_switch_cards_reach_the_betting_system_and_nobody_else() -> None:
    """The other half of `ALLOWED`: what is allowed is really told, and to no other audience."""
    d = Dealt(FAILS).to_final_options()
    for kind in ALLOWED[Audience.BETTING]:
        told_to = {a for event in every(d.events, kind) for a in AUDIENCES if event.seen_by(a) is not None}
        assert told_to == {Audience.BETTING}
    hidden = {*FAILS["box1"].split(), *FAILS["box3"].split(), *FAILS["dealer"].split()[:4]}
    offered = {
        card
        for offer in every(d.events, HandsOffered)
        for hand in offer.hands
        for combination in hand.combinations
        for card in combination.cards
    }
    assert offered and not offered & hidden


def test_no_event_before_the_turn_names_a_hidden_card() -> None:
    d = Dealt(FAILS).to_turns()
    hidden = {*FAILS["box1"].split(), *FAILS["box3"].split(), *FAILS["dealer"].split()[:4]}
    assert set(PLACES) - {"box2"} == {"box1", "box3", "dealer"}
    for event in d.events:
        text = msgspec.json.encode(masked(event)).decode()
        assert not [card for card in hidden if f'"{card}"' in text], text


# The proof proves itself: tables that tell too much are caught.


class TellsTheSuit(Table):
    """Puts the first digit of every code into a refusal."""

    def step(self, value: i.AnyInput) -> tuple[Event, ...]:
        events = super().step(value)
        if isinstance(value, i.CardRead):
            return (*events, InputRefused(input="x" * int(value.code[0]), reason="HELD"))  # type: ignore[arg-type]
        return events


class TellsByPresence(Table):
    """Says one thing more when the card is high."""

    def step(self, value: i.AnyInput) -> tuple[Event, ...]:
        events = super().step(value)
        high = isinstance(value, i.CardRead) and value.code[1:] > "100"
        return events + events[:1] if high else events


class TellsByTime(Table):
    """Gives people longer to think when the dealer's hand is good."""

    def step(self, value: i.AnyInput) -> tuple[Event, ...]:
        events = super().step(value)
        laid = self.state.round.laid if self.state.round is not None else []
        for name, deadline in self.state.deadlines.items():
            later = sum(card.card.rank for card in laid if card.place == "dealer")
            self.state.deadlines[name] = msgspec.structs.replace(deadline, due=deadline.due + later)
        return events


class TellsTheBettingSystem(Table):
    """Shows every card as if it were a switch card."""

    def step(self, value: i.AnyInput) -> tuple[Event, ...]:
        events = super().step(value)
        for event in events:
            if isinstance(event, CardDealt) and event.card is None:
                card = self.state.in_play.laid[-1].card
                shown = CardShown(place=event.place, n=event.n, reading=1, card=str(card))
                return (*events, shown)
        return events


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TellsTheSuit, "learns"),
        (TellsByPresence, "learns"),
        (TellsByTime, "deadline"),
        (TellsTheBettingSystem, "betting learns"),
    ],
)
def test_a_table_that_tells_too_much_is_caught(table: type[Table], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        compare(plain, "dealer", 2, "2s", table)


def test_a_picture_that_tells_too_much_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_places(laid: list[object]) -> dict[str, tuple[str, ...]]:
        return {"all": tuple(str(card.card) for card in laid)}  # type: ignore[attr-defined]

    monkeypatch.setattr("controller.table.picture._places", open_places)
    with pytest.raises(AssertionError, match="picture"):
        compare(plain, "box1", 1, "2s")


def test_the_cards_swapped_in_are_nowhere_else() -> None:
    lie = {card for hand in FAILS.values() for card in hand.split()} | {"Th", "3d", "Qs"}
    assert not lie & set(OTHERS)
    assert len({Card.parse(card).rank for card in OTHERS}) == len({Card.parse(c).suit for c in OTHERS}) == 3
