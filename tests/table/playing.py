"""A shape played at a real table: the dealer's hands, the betting system's answers, and what lies there.

The dealer follows the shape, not the table: after a slip that nobody has noticed he goes on as he thinks
right, until the table asks or refuses. What lies on the table is kept beside what the table believes.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec
from table.dealt import BETS, BLUE, Dealt, every
from table.shapes import Clear, Owed, Result, Shape, Start, game_of, settings_of

from controller.cards import Card
from controller.games.procedure import (
    DEALER,
    Betting,
    Deal,
    Decide,
    Decision,
    DecisionOf,
    Face,
    LayAside,
    Turn,
    Window,
    WindowAnswer,
)
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import Event, HandEvaluated, IncidentOpened, InputRefused
from controller.table.picture import BACK, draw


class Manner(StrEnum):
    """How the betting system answers; each is legal."""

    ASKED = "asked"
    """Each box when it is its turn; every end of a window is acknowledged."""
    AHEAD = "ahead"
    """All boxes at once, as soon as they may."""
    TIME = "time"
    """Windows run out; bets are not told, facts come in the grace time, nothing is acknowledged."""


class Course:
    """A table at which a shape is played, up to step `index`."""

    def __init__(self, shape: Shape, manner: Manner = Manner.ASKED) -> None:
        settings = settings_of(shape.game)
        if manner is Manner.TIME:
            states = shape.answers[1]
            settings = msgspec.structs.replace(settings, boxes_not_told=states)
        self.shape, self.manner, self.index = shape, manner, 0
        self.d = Dealt(game=game_of(shape.game), settings=settings).to_ready()
        self.d.shoe = list(shape.shoe)
        self.drawn: list[Card] = []
        self.lies: dict[str, list[str]] = {}
        self.cards: dict[str, list[str]] = {}
        self.aside: set[str] = set()
        self.mark, self.waits = len(self.d.steps), False
        self._over: set[str] = set()
        self._told: set[tuple[str, str]] = set()

    # What the table has said.

    @property
    def flags(self) -> list[Event]:
        """What the table has refused or asked about since the last step."""
        found: list[Event] = []
        for events in self.d.steps[self.mark :]:
            found += [event for event in events if isinstance(event, InputRefused | IncidentOpened)]
        return found

    @property
    def asks(self) -> bool:
        """Whether the table has asked or refused in this step, or has not opened a window that is due."""
        return self.waits or bool(self.flags)

    @property
    def looks_as_shown(self) -> bool:
        """Whether a person finds what picture and announcement say, faces and backs, until the round ends."""
        if not self.d.table.state.is_round_open:
            return True
        if {place: tuple(cards) for place, cards in self.lies.items()} != draw(self.d.table.state).places:
            return False
        announced = every(self.d.events, HandEvaluated)[-1:]
        hand = set(self.cards.get(DEALER, ())) - self.aside
        return all(
            hand == set(said.hand.cards) for said in announced if said.place == DEALER and len(hand) == 5
        )

    # Steps.

    def to(self, index: int) -> Course:
        """Do all steps before `index`."""
        while self.index < index:
            self.do()
        return self

    def do(self) -> list[Event]:
        """Do the next step as the rules want it; return what the table has against it."""
        step = self.shape.steps[self.index]
        self.mark = len(self.d.steps)
        self.waits = isinstance(step, Window | Decide) and self.d.phase is not Phase.DECIDING
        if isinstance(step, Deal):
            self.lay(step, self.scan())
        else:
            self._do(step)
        self.index += 1
        return self.flags

    def draw(self, *, last: bool = False) -> Card:
        """Draw the next card, or the last one, past the scanner."""
        self.drawn.append(self.d.shoe.pop(-1 if last else 0))
        return self.drawn[-1]

    def scan(self) -> Card:
        """Draw the next card through the scanner."""
        card = self.draw()
        self.d.scan(str(card))
        return card

    def scan_first_waiting(self) -> None:
        """Scan the card that was drawn first and that the table does not know yet, else a new one."""
        self.d.scan(str(next(iter(self.unplaced), None) or self.draw()))

    @property
    def unplaced(self) -> list[Card]:
        """The cards that were drawn and that the table does not know."""
        known = self.d.table.state.register
        return [card for card in self.drawn if isinstance(known.check(BLUE.code(card)), Card)]

    def lay(self, step: Deal, card: Card, *, place: str | None = None, face: Face | None = None) -> None:
        """Lay a card, by default where and how it is owed."""
        where = place or step.place
        up = (face or step.face) is Face.UP
        self.lies.setdefault(where, []).append(str(card) if up else BACK)
        self.cards.setdefault(where, []).append(str(card))

    def open(self, place: str) -> None:
        """Turn the cards of a place."""
        self.lies[place] = list(self.cards.get(place, ()))

    def _do(self, step: Owed) -> None:
        d = self.d
        answer = self.shape.answers[self.index]
        match step:
            case Start():
                d.press(i.OpenBetting())
            case Betting() if self.manner is Manner.TIME:
                d.advance(d.settings.betting_ms + d.settings.guard_ms)
            case Betting():
                d.press(i.CloseBetting())
                d.press(i.BetsTaken(answer), BETS)
            case Window(stage=stage):
                assert isinstance(answer, WindowAnswer)
                self._window(stage, answer)
            case Decide(stage=stage):
                if self.manner is Manner.AHEAD:
                    self._tell_all(stage)
            case DecisionOf(stage=stage, box=box):
                assert isinstance(answer, Decision)
                self._decision(stage, box, answer)
            case Turn(place=place):
                self.open(place)
                d.press(i.TurnCards(place))
            case LayAside(place=place, n=n):
                self.aside.add(self.cards[place][n - 1])
                d.press(i.LayCardAside())
            case Result():
                d.press(i.ConfirmResult())
            case Clear():
                d.press(i.ClearTable())

    def _window(self, stage: str, answer: WindowAnswer) -> None:
        told = {name: value for name, value in msgspec.structs.asdict(answer).items() if value is not None}
        if self.manner is not Manner.TIME:
            self.d.all_decided(stage, **told)
            return
        self.d.advance(self.d.settings.windows_ms[stage])
        if told:
            self.d.facts(stage, **told)
        self.d.advance(self.d.settings.guard_ms)

    def _decision(self, stage: str, box: str, answer: Decision) -> None:
        if answer.action is not None:
            self._tell(stage, box, answer)
        elif stage not in self._over:
            self._tell_all(stage)
            self._over.add(stage)
            self.d.advance(self.d.settings.windows_ms[stage] + self.d.settings.guard_ms)

    def _tell_all(self, stage: str) -> None:
        """Tell what every box decides that has not been told yet; silent ones are silent."""
        for step, answer in zip(self.shape.steps, self.shape.answers, strict=True):
            if isinstance(step, DecisionOf) and step.stage == stage and isinstance(answer, Decision):
                self._tell(stage, step.box, answer)

    def _tell(self, stage: str, box: str, answer: Decision) -> None:
        if answer.action is not None and (stage, box) not in self._told:
            self._told.add((stage, box))
            self.d.press(i.DecisionTaken(stage, box, answer.action, answer.positions), BETS)
