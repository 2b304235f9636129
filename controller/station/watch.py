"""The live picture in a terminal, from what the public feed says and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from controller.bus.snapshot import LaidCard, LastOutcome, Snapshot, WindowState
from controller.games.baccarat import BANKER, LAYOUT, PLAYER
from controller.games.procedure import DEALER, SWITCH
from controller.games.published import (
    BoxOutcome,
    Comparison,
    Coup,
    DealerHand,
    HandOutcome,
    Outcome,
    ShownCombination,
    Winner,
)
from controller.games.rules import MAIN
from controller.table.charts import Phase
from controller.table.texts import PROMPTS, decision_text, place_text, prompt_text

SUITS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
RED = frozenset("dh")
BACK = " ▒▒ "
CARD_STYLE, RED_STYLE, BACK_STYLE = "bold black on white", "bold red on white", "blue"
PHASES = {
    "closed": "closed",
    "deck_check": "the deck is verified",
    "shuffling": "the deck is shuffled",
    "ready": "ready",
    "betting": "place your bets",
    "dealing": "dealing",
    "deciding": "players choose",
    "result_proposed": "result",
    "confirmed": "result confirmed",
    "cancelled": "round cancelled",
    "clearing": "cards are collected",
}
COMPARED = {
    Comparison.WIN: "wins",
    Comparison.LOSE: "loses",
    Comparison.TIE: "tie",
    Comparison.NOT_QUALIFIED: "dealer does not qualify",
}
SECOND_US = 1_000_000
Compared = Callable[[HandOutcome], Comparison | None]


def card_text(card: str) -> Text:
    """Return a card, `Td` as `10♦`, red suits in red; anything that is no card as it stands."""
    if len(card) != 2 or card[1] not in SUITS:
        return Text(card)
    rank = "10" if card[0] == "T" else card[0]
    return Text(f" {rank}{SUITS[card[1]]} ", RED_STYLE if card[1] in RED else CARD_STYLE)


def render(snapshot: Snapshot, now_us: int, *, stale: bool = False) -> RenderableType:
    """Return the table as everybody may see it.

    `now_us` is wall time, which countdowns run against; `stale`: the table has not been heard for 3 s.
    """
    parts: list[RenderableType] = [_board(snapshot), *_lines(snapshot, now_us)]
    deal = f", deal {snapshot.deal}" if snapshot.deal > 1 else ""
    title = f"{snapshot.table}  round {snapshot.roundid or '-'}{deal}  {standing(snapshot)}"
    if snapshot.dealer is not None:
        title += f"  dealer {escape(snapshot.dealer)}"
    style = "red" if stale or snapshot.incident is not None else "green"
    return Panel(Group(*parts), title=title, subtitle=_footing(snapshot, stale), border_style=style)


def standing(snapshot: Snapshot) -> str:
    """Return the phase, or why none goes on from here."""
    if snapshot.roundid is None and snapshot.blocked:
        return "blocked"
    if snapshot.roundid is None and snapshot.paused is not None:
        return "pause"
    return PHASES.get(snapshot.phase, snapshot.phase)


def _footing(snapshot: Snapshot, stale: bool) -> str:
    heard = f"public/{snapshot.seq} epoch {snapshot.epoch}"
    return f"STALE: nothing heard for 3 s  {heard}" if stale else heard


def _board(snapshot: Snapshot) -> RenderableType:
    boxes = snapshot.boxes or (MAIN,)
    if LAYOUT in boxes:
        return Columns([_place(snapshot, side) for side in (PLAYER, BANKER)], padding=(0, 2))
    middle = Columns([_place(snapshot, box) for box in boxes], padding=(0, 2))
    top = _place(snapshot, DEALER)
    return Group(top, middle, _place(snapshot, SWITCH)) if SWITCH in snapshot.places else Group(top, middle)


def _place(snapshot: Snapshot, place: str) -> RenderableType:
    laid = snapshot.places.get(place, ())
    cards = Text(" ").join(_card(card) for card in laid) if laid else Text("no card", "dim")
    grid = Table.grid()
    grid.add_row(Text(place_text(place), "bold"))
    grid.add_row(cards)
    hand = snapshot.hands.get(place)
    if hand is not None:
        worth = _worth(hand.combinations) if hand.total is None else Text(str(hand.total), "italic")
        grid.add_row(worth)
    return grid


def _card(card: LaidCard) -> Text:
    text = Text(BACK, BACK_STYLE) if card.card is None else card_text(card.card)
    if card.laid_aside:
        text.append("(aside)", "dim")
    return text


def _worth(combinations: tuple[ShownCombination, ...]) -> Text:
    return Text(" + ".join(one.kind for one in combinations) or "no game", "italic")


def _lines(snapshot: Snapshot, now_us: int) -> Iterator[RenderableType]:
    """Yield what stands under the board: incident, windows, result."""
    if snapshot.burned:
        yield Text(f"burned: {snapshot.burned}", "dim")
    if snapshot.held:
        yield Text(f"held: {snapshot.held}", "dim")
    incident = snapshot.incident
    if incident is not None:
        text = incident.prompt  # A table of another version may ask what has no text here.
        if text in PROMPTS:
            text = prompt_text(text, incident.place, incident.n)
        yield Text(f"HELD: {text} ({incident.kind}, cell {incident.cell})", "bold red")
    if snapshot.deal > 1 and snapshot.phase == Phase.SHUFFLING:
        yield Text("the round is dealt anew, bets stand", "bold yellow")
    for window in snapshot.windows:
        yield _window(window, now_us)
        for box, decision in window.decisions.items():
            yield Text(f"  {place_text(box)} {decision_text(decision)}", "dim")
    if snapshot.proposed is not None and (snapshot.last is None or snapshot.last.roundid != snapshot.roundid):
        yield Text.assemble("proposed: ", _outcome(snapshot.proposed))
    if snapshot.last is not None:
        yield last_text(snapshot.last)


def _window(window: WindowState, now_us: int) -> Text:
    name = window.stage.replace("_", " ")
    if window.ended_by is not None:
        return Text(f"{name}: closed ({window.ended_by.replace('_', ' ')})", "dim")
    left_us = window.closes_at_us - now_us
    if left_us <= 0:
        return Text(f"{name}: time is over", "bold yellow")
    seconds = -(-left_us // SECOND_US)
    return Text(f"{name}: {seconds} s left", "bold yellow")


def last_text(last: LastOutcome) -> Text:
    name = f"last result ({last.roundid}): "
    if last.cancelled is not None:
        return Text(f"{name}cancelled, {last.cancelled}; everything is refunded", "bold")
    assert last.outcome is not None, last
    if last.refund is not None:
        return Text(f"{name}corrected, revision {last.rev}; everything is refunded", "bold")
    if last.rev > 1:
        name = f"{name}corrected, revision {last.rev}: "
    return Text.assemble(name, _outcome(last.outcome))


def _outcome(outcome: Outcome) -> Text:
    """Return how the hands compare; after a purchase also what counts for those who bought (RPL-35)."""
    if outcome.coup is not None:
        return Text(_coup(outcome.coup))
    assert outcome.dealer is not None, outcome.game
    text = _against(outcome, outcome.dealer, lambda hand: hand.comparison)
    if outcome.dealer_after_purchase is not None:
        bought = _against(outcome, outcome.dealer_after_purchase, lambda hand: hand.bought_comparison)
        text = f"{text}; bought: {bought}"
    return Text(text)


def _coup(coup: Coup) -> str:
    """Return both totals and who has won (BAC-08)."""
    won = "tie" if coup.winner is Winner.TIE else f"{coup.winner.lower()} wins"
    pairs = "".join(f", {pair.lower().replace('_', ' ')}" for pair in coup.pairs)
    return f"player {coup.player.total}, banker {coup.banker.total}: {won}{pairs}"


def _against(outcome: Outcome, dealer: DealerHand, compared: Compared) -> str:
    if not dealer.cards:
        return "nobody has played"
    if dealer.combination is None:
        return "dealer does not qualify"
    parts = [_box(box, compared) for box in outcome.boxes]
    return "; ".join([f"dealer {dealer.combination.kind}", *(part for part in parts if part)])


def _box(box: BoxOutcome, compared: Compared) -> str:
    """Return how the hand compares; where everybody chooses for himself also how many of the draws win."""
    name = place_text(box.box)
    if not box.hands:
        return f"{name} folded"
    dealt = compared(box.hands[0])
    text = "" if dealt is None else f"{name} {COMPARED[dealt]}"
    draws = [compared(hand) for hand in box.hands[1:] if hand.excluded is None and compared(hand) is not None]
    if not draws:
        return text
    return f"{text} as dealt, {draws.count(Comparison.WIN)} of {len(draws)} draws win"


def waiting(table: str) -> RenderableType:
    """Return what is shown before the table has answered."""
    return Panel(Text("waiting for the table"), title=table, border_style="yellow")
