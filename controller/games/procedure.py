"""The procedure vocabulary: what a dealing script may ask for, and what it gets back.

A script is a generator. It yields the next thing that is owed, in the order of its rule sheet, and is
sent what happened. It knows nothing of scanners, buses or clocks, and nothing of what can go wrong.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

import msgspec

from controller.cards import Card, Rank

DEALER = "dealer"
SWITCH = "switch"
BURN = "burn"
HELD = "held"
"""Where a card lies that came out too early and waits."""


class Face(StrEnum):
    """How a card is laid."""

    UP = "up"
    DOWN = "down"


class BoxState(StrEnum):
    """What the betting system says of a box when bets are closed."""

    EMPTY = "empty"
    DARK = "dark"
    """In play, and its owner takes no decisions."""
    OPEN = "open"
    """In play, and takes decisions."""


class Betting(msgspec.Struct, frozen=True):
    """Betting time. Answered by `BoxStates`."""


class Deal(msgspec.Struct, frozen=True):
    """The next card of the shoe goes to `place`, as its card number `n` (from 1). Answered by a `Card`.

    `shown_to_betting`: the bettors who paid for it must see it although it lies face down (RPL-17).
    """

    place: str
    n: int
    face: Face
    shown_to_betting: bool = False


class Window(msgspec.Struct, frozen=True):
    """A time in which players choose. Answered by `WindowAnswer` when its facts are final.

    `boxes` may choose among `actions`, at `prices_in_antes`. `hands` is what the betting system needs
    to judge the choices (RPL-82); nobody else sees it. `frees_card`: a card may hang on its answer, so
    the next card waits for the guard after it.
    """

    stage: str
    boxes: tuple[str, ...]
    actions: tuple[str, ...]
    prices_in_antes: Mapping[str, str]
    frees_card: bool
    hands: Any = None


class Decide(msgspec.Struct, frozen=True):
    """A time in which each of `boxes` decides, and cards depend on what. Answered by None once it is open.

    Each box's decision is then asked for by `DecisionOf`, in the order in which the dealer serves them;
    answers may come in any order, unless `in_order` (OAB-14). `hands` as in `Window`. `frees_card`: one of
    the actions may free a card, so one that comes out before is early, not surplus.
    """

    stage: str
    boxes: tuple[str, ...]
    actions: tuple[str, ...]
    prices_in_antes: Mapping[str, str]
    in_order: bool = False
    hands: Any = None
    frees_card: bool = True


class DecisionOf(msgspec.Struct, frozen=True):
    """What `box` has decided in the open `Decide` of `stage`. Answered by a `Decision`."""

    stage: str
    box: str


class Decision(msgspec.Struct, frozen=True):
    """One box's decision. `action` is None for silence; `positions`, from 1, go with an exchange."""

    action: str | None
    positions: tuple[int, ...] = ()


class Turn(msgspec.Struct, frozen=True):
    """The dealer turns the cards of `place` and presses once. Answered by None."""

    place: str


class LayAside(msgspec.Struct, frozen=True):
    """The dealer lays card `n` of `place` face down on the marked place. Answered by None."""

    place: str
    n: int


class Announce(msgspec.Struct, frozen=True):
    """Everybody may know this evaluation now. Nothing is owed; answered by None at once."""

    place: str
    hand: Any


class WindowAnswer(msgspec.Struct, frozen=True):
    """The facts of a window, once final. None means not told, which counts as yes."""

    in_play: bool | None = None
    anyone_drew: bool | None = None
    anyone_bought: bool | None = None


BoxStates: TypeAlias = Mapping[str, BoxState]
Step: TypeAlias = Betting | Deal | Window | Decide | DecisionOf | Turn | LayAside | Announce
Answer: TypeAlias = BoxStates | Card | WindowAnswer | Decision | None
Procedure: TypeAlias = Generator[Step, Answer, Any]
"""Returns the outcome of the round, in the game's own type."""


class ShoePlan(msgspec.Struct, frozen=True):
    """A game that is dealt round after round out of one shoe of `decks`, shuffled once.

    `burn_counts`: the first card of a new shoe is shown, and so many are burned after it, by its rank; empty
    where none is. The cutting card lies before the last `cutting_card_from_end` cards;
    `rounds_after_cutting_card`: how many rounds follow the one in which it came.
    """

    decks: int
    cutting_card_from_end: int
    rounds_after_cutting_card: int
    burn_counts: Mapping[Rank, int] = {}
    spots: Mapping[str, tuple[str, int]] = {}
    """What a shoe that knows the order of drawing calls the place and number of each card: `P1` to `B3`."""

    @property
    def burned_at_most(self) -> int:
        """How many cards the beginning of a shoe takes from it."""
        return 1 + max(self.burn_counts.values()) if self.burn_counts else 0


class Game(Protocol):
    """One game as the table sees it."""

    @property
    def name(self) -> str: ...

    @property
    def places(self) -> tuple[str, ...]:
        """The places that get cards in the initial deal, in dealing order."""
        ...

    @property
    def boxes(self) -> tuple[str, ...]:
        """The places that carry bets."""
        ...

    @property
    def cards_at_most(self) -> int:
        """How many cards the longest round takes from the shoe."""
        ...

    @property
    def rescans_at_most(self) -> int:
        """How many re-scans the whole initial deal allows (RPL-75)."""
        ...

    @property
    def corrects_results(self) -> bool:
        """Whether a wrong result is corrected to the right one; else the round is refunded (RPL-74)."""
        ...

    @property
    def redeals(self) -> bool:
        """Whether a wrong number of cards at a place has the round dealt anew (OAB-24), not cancelled."""
        ...

    @property
    def shoe(self) -> ShoePlan | None:
        """How a shoe is dealt that serves many rounds; None where one deck is shuffled before each."""
        ...

    def initial_deal(self, step: Deal) -> bool:
        """Whether this card belongs to the initial deal (RPL-70, RPL-75 ask)."""
        ...

    def decision_to_come(self, stages_closed: frozenset[str]) -> bool:
        """Whether a player may still have to decide something in this round."""
        ...

    def is_decision(self, step: Decide, decision: Decision) -> bool:
        """Whether a box may decide so in this window."""
        ...

    def script(self) -> Procedure:
        """Return the procedure of one round, at its beginning."""
        ...


def bets(step: Betting) -> Generator[Step, Answer, BoxStates]:
    """Yield `step` and return the states of the boxes."""
    answer = yield step
    assert isinstance(answer, Mapping)
    return answer


def card(step: Deal) -> Generator[Step, Answer, Card]:
    """Yield `step` and return the card that came."""
    answer = yield step
    assert isinstance(answer, Card)
    return answer


def window(step: Window) -> Generator[Step, Answer, WindowAnswer]:
    """Yield `step` and return its final facts."""
    answer = yield step
    assert isinstance(answer, WindowAnswer)
    return answer


def decision(step: DecisionOf) -> Generator[Step, Answer, Decision]:
    """Yield `step` and return what the box has decided."""
    answer = yield step
    assert isinstance(answer, Decision)
    return answer
