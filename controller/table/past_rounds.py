"""A round that has ended, as its own events tell it: what a correction of its result starts from.

The journal keeps the events; nothing else of an old round is needed. The station finds them and hands
them in, folded to a `PastRound`, so that no table carries old rounds with it.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from controller.games.procedure import BURN, HELD, BoxState, Decision, Face, WindowAnswer
from controller.games.published import Outcome, VoidedDeal
from controller.table import events
from controller.table.events import Event, ManualCard, OpenedCard

Where = tuple[str, int]


class PastCard(msgspec.Struct, frozen=True):
    """A card as it lay at the end. `decided_on`: players have decided while they could know it (P5)."""

    place: str
    n: int
    card: str
    decided_on: bool


class PastDecision(msgspec.Struct, frozen=True):
    """What a box has decided at a stage."""

    stage: str
    box: str
    decision: Decision


class PastRound(msgspec.Struct, frozen=True):
    """A round as it ended: the facts of its last deal, by stage and place.

    `outcome` is that of revision 1, None if the round was cancelled; `rules` the hash of the settings under
    which it was dealt.
    """

    roundid: str
    rules: str
    outcome: Outcome | None
    boxes: dict[str, BoxState]
    answers: dict[str, WindowAnswer]
    decisions: tuple[PastDecision, ...]
    cards: tuple[PastCard, ...]
    aside: tuple[str, ...]
    """Cards that were burned, or that still waited for a place at the end."""
    voided: tuple[VoidedDeal, ...] = ()
    voided_boxes: dict[str, str] = {}
    """The boxes that were out of the round, and the cell by which."""
    manual: tuple[ManualCard, ...] = ()


class _Lying:
    """A card on the table while the round is told; `card` is known when it is opened at the latest."""

    def __init__(self, dealt: events.CardDealt) -> None:
        self.reading = dealt.reading
        self.deal = dealt.deal
        self.card = dealt.card
        self.seen = dealt.face is Face.UP


class _Fold:
    """Folds the events of one round. A new deal leaves nothing standing but the boxes (OAB-24)."""

    def __init__(self) -> None:
        self.rules = ""
        self.outcome: Outcome | None = None
        self.ended = False
        self.boxes: dict[str, BoxState] = {}
        self.answers: dict[str, WindowAnswer] = {}
        self.decisions: dict[tuple[str, str], PastDecision] = {}
        self.lying: dict[Where, _Lying] = {}
        self.decided_on: set[Where] = set()
        self.aside: list[str] = []
        self.voided: tuple[VoidedDeal, ...] = ()
        self.voided_boxes: dict[str, str] = {}
        self.manual: tuple[ManualCard, ...] = ()
        self._deal = 1
        self._stages: dict[str, str] = {}
        self._held_laid: set[int] = set()

    def tell(self, event: Event) -> None:
        match event:
            case events.RoundOpened():
                self.rules = event.rules
            case events.FactsSettled():
                self._settled(event)
            case events.DecisionMade():
                self._decided(event)
            case events.DecisionClosed():
                self._decided_on_what_is_seen()
            case events.DecisionOpened():
                self._stages[event.window] = event.stage
            case events.RoundRedealt():
                self._begin_deal(event.deal)
            case events.BoxVoided():
                self.voided_boxes[event.box] = event.cell
            case events.RoundConfirmed():
                self.outcome, self.ended = event.outcome, True
                self.voided, self.manual = event.voided, event.manual
                self._opened(event.opened)
            case events.RoundCancelled():
                self.ended = True
            case _:
                self._card(event)

    def _card(self, event: Event) -> None:
        match event:
            case events.CardDealt():
                self.lying[event.place, event.n] = _Lying(event)
                self._held_laid.update(() if event.held is None else (event.held,))
            case events.CardShown():
                self.lying[event.place, event.n].seen = True
            case events.CardWithdrawn():
                self.lying.pop((event.place, event.n))
            case events.CardsRevealed():
                self._opened(event.cards)

    def _begin_deal(self, deal: int) -> None:
        self._deal = deal
        for of_the_deal in (
            self.answers,
            self.decisions,
            self.lying,
            self.decided_on,
            self.voided_boxes,
            self._held_laid,
        ):
            of_the_deal.clear()

    def _settled(self, event: events.FactsSettled) -> None:
        if event.boxes is not None:
            self.boxes = {box: BoxState(state) for box, state in event.boxes.items()}
        else:
            stage = self._stages[event.window]
            self.answers[stage] = WindowAnswer(event.in_play, event.anyone_drew, event.anyone_bought)

    def _decided(self, event: events.DecisionMade) -> None:
        decision = Decision(event.action, event.positions)
        stage = self._stages[event.window]
        self.decisions[stage, event.box] = PastDecision(stage, event.box, decision)
        self._decided_on_what_is_seen()

    def _decided_on_what_is_seen(self) -> None:
        self.decided_on.update(where for where, lying in self.lying.items() if lying.seen)

    def _opened(self, opened: Iterable[OpenedCard]) -> None:
        for card in opened:
            lying = self.lying.get((card.place, card.n))
            if lying is not None and (lying.deal, lying.reading) == (card.deal, card.reading):
                lying.card, lying.seen = card.card, True
            elif card.card is not None and self._is_aside(card):
                self.aside.append(card.card)

    def _is_aside(self, card: OpenedCard) -> bool:
        """Whether a card was out of the deck at the end, on no place; those of an abandoned deal were not."""
        waited = card.place == HELD and card.n not in self._held_laid
        return card.deal == self._deal and (card.place == BURN or waited)


def past_round(roundid: str, told: Iterable[Event]) -> PastRound | None:
    """Fold the events of a round, from its opening to its end; None while it has not ended."""
    fold = _Fold()
    for event in told:
        fold.tell(event)
    if not fold.ended:
        return None
    return PastRound(
        roundid=roundid,
        rules=fold.rules,
        outcome=fold.outcome,
        boxes=fold.boxes,
        answers=fold.answers,
        decisions=tuple(fold.decisions.values()),
        cards=tuple(
            PastCard(place, n, lying.card, (place, n) in fold.decided_on)
            for (place, n), lying in fold.lying.items()
            if lying.card is not None
        ),
        aside=tuple(fold.aside),
        voided=fold.voided,
        voided_boxes=fold.voided_boxes,
        manual=fold.manual,
    )
