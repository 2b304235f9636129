"""The overlay: what a viewer of the stream sees, as plain text lines, from the public feed alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from controller.bus.envelope import decode
from controller.bus.snapshot import LaidCard, LastOutcome, Snapshot, apply
from controller.games.baccarat import BANKER, LAYOUT, PLAYER
from controller.games.procedure import DEALER, SWITCH
from controller.games.published import BoxOutcome, Comparison, Exclusion, Outcome, ShownCombination
from controller.games.russian_live import EvaluatedHand
from controller.table.charts import Phase
from controller.table.events import Audience
from controller.table.texts import decision_text, place_text, prompt_text
from simulators.actor import Feed, Listener, Planned

BACK = "##"
SECOND = 1_000_000
WINDOWS = {
    "betting": "betting time",
    "options": "options time",
    "final_options": "final options time",
    "buy_time": "buy time",
}
RESULTS = {
    Comparison.WIN: "beats the dealer",
    Comparison.LOSE: "loses to the dealer",
    Comparison.TIE: "ties with the dealer",
    Comparison.NOT_QUALIFIED: "dealer does not qualify",
}


class Overlay(Listener):
    """The picture over the stream of one table, an actor on the public feed."""

    feed = Feed.PUBLIC

    def __init__(self, *, table: str = "rp1", name: str = "overlay") -> None:
        self.name = name
        self.snapshot = Snapshot(table=table, audience=Audience.PUBLIC)
        self._now_us = 0

    def start_from(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot that the table has served, as after a gap in the live feed."""
        self.snapshot = snapshot

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Fold one message into the picture; one that it covers already changes nothing.

        Raises ChainBroken for a gap, after which it asks for a snapshot, and MalformedMessage.
        """
        self._now_us = now_us
        if decode(message).seq > self.snapshot.seq:
            self.snapshot = apply(self.snapshot, message)
        return []

    def lines(self, now_us: int | None = None) -> tuple[str, ...]:
        """Draw the picture as it is at `now_us`; None is the time of the last message."""
        return draw(self.snapshot, self._now_us if now_us is None else now_us)


def draw(snapshot: Snapshot, now_us: int) -> tuple[str, ...]:
    """Draw what a public snapshot shows: head line, places, window or incident, result."""
    return (_head(snapshot), *_places(snapshot), *_notices(snapshot, now_us), *_result(snapshot))


def _head(snapshot: Snapshot) -> str:
    number = f"round {snapshot.round_no}" if snapshot.round_no else "no round yet"
    if snapshot.deal > 1:
        number += f", deal {snapshot.deal}"
    return f"{snapshot.table}  {number}  {snapshot.phase or 'unknown'}"


def _places(snapshot: Snapshot) -> Iterator[str]:
    boxes = (PLAYER, BANKER) if LAYOUT in snapshot.boxes else snapshot.boxes
    for place in (*boxes, DEALER, SWITCH):
        laid = snapshot.places.get(place, ())
        if laid or place in boxes:
            hand = snapshot.hands.get(place)
            told = "" if hand is None else _hand_text(msgspec.convert(hand, EvaluatedHand))
            yield f"{place_text(place):18}{' '.join(map(_card, laid)):26}{told}".rstrip()
    if snapshot.burned:
        yield f"{place_text('burn'):18}{snapshot.burned}"


def _card(laid: LaidCard) -> str:
    shown = laid.card or BACK
    return f"({shown})" if laid.laid_aside else shown


def _hand_text(hand: EvaluatedHand) -> str:
    if hand.total is not None:
        return str(hand.total)
    bonus = "" if hand.bonus is None else f"; bonus {_words(hand.bonus)}"
    unqualified = ", does not qualify" if hand.qualified is False else ""
    return _combinations(hand.combinations) + unqualified + bonus


def _combinations(combinations: tuple[ShownCombination, ...]) -> str:
    return " and ".join(_words(shown.kind) for shown in combinations) or "no game"


def _words(name: str) -> str:
    return name.replace("_", " ").lower()


def _notices(snapshot: Snapshot, now_us: int) -> Iterator[str]:
    window = snapshot.open_window()
    if window is not None:
        left_s = max(0, -((now_us - window.closes_at_us) // SECOND))
        yield f"{WINDOWS.get(window.stage, window.stage)}: {left_s} s left"
        for box, decision in window.decisions.items():
            yield f"{place_text(box)} {decision_text(decision)}"
    if snapshot.deal > 1 and snapshot.phase == Phase.SHUFFLING:
        yield "the round is dealt anew, bets stand"
    incident = snapshot.incident
    if incident is not None:
        yield f"please wait: {prompt_text(incident.prompt, incident.place, incident.n)}"


def _result(snapshot: Snapshot) -> Iterator[str]:
    last: LastOutcome | None = snapshot.last
    if last is None or last.roundid != snapshot.roundid:
        return
    if last.cancelled is not None:
        yield f"round cancelled ({_words(last.cancelled)}): all bets are returned"
        return
    if last.refund is not None:
        yield "result corrected: all bets are returned"
        return
    yield from _outcome(last.outcome)


def _outcome(told: Any) -> Iterator[str]:
    outcome = msgspec.convert(told, Outcome)
    if outcome.coup is not None:
        coup = outcome.coup
        yield f"result: player {coup.player.total}, banker {coup.banker.total}, {coup.winner.lower()}"
        return
    dealer = outcome.dealer_after_purchase or outcome.dealer
    assert dealer is not None, outcome.game
    shown = "no game" if dealer.combination is None else _words(dealer.combination.kind)
    yield f"result: dealer {shown}"
    for box in outcome.boxes:
        yield f"result: {place_text(box.box)} {_box(box)}"


def _box(box: BoxOutcome) -> str:
    """Return how a box fared; of one that several players chose on, the hand as dealt."""
    if not box.hands:
        return "folded"
    hand = box.hands[0]
    if not hand.cards:
        return "empty" if hand.excluded is Exclusion.BOX_EMPTY else "not opened"
    comparison = "" if hand.comparison is None else RESULTS[hand.comparison]
    return f"{_combinations(hand.combinations)}, {comparison}"
