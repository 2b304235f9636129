"""The shipped settings of live Russian Poker, and full rounds built from a few given cards."""

from __future__ import annotations

import tomllib
from typing import Any

from games import driver

from controller.cards import DECK, Card
from controller.games.outcome import Facts, purchase_offered
from controller.games.rules import BOXES, MAIN, Rules, load_rules

CONFIG = driver.CONFIG / "russian_poker_live.toml"


def settings() -> dict[str, Any]:
    return tomllib.loads(CONFIG.read_text(encoding="utf-8"))


def live_rules(**changes: Any) -> Rules:
    return load_rules(settings() | changes)


def rules_with_table_max(table_max: int) -> Rules:
    return live_rules(limits={"ante_min": 1, "ante_max": 10_000, "table_max": table_max})


def facts_of_deal(cards: tuple[Card, ...], **answers: Any) -> Facts:
    """Lay 26 cards: box 1, 2, 3, dealer, switch cards; the last replaces the dealer's card if it is due."""
    facts = Facts(
        boxes={box: cards[5 * index : 5 * index + 5] for index, box in enumerate(BOXES)},
        dealer=cards[15:20],
        switch=cards[20:25],
        **answers,
    )
    if facts.anyone_bought is not False and purchase_offered(facts):
        return Facts(
            boxes=facts.boxes, dealer=facts.dealer, switch=facts.switch, replacement=cards[25], **answers
        )
    return facts


def facts_around(
    dealt: tuple[Card, ...],
    dealer: tuple[Card, ...],
    *,
    box: str = MAIN,
    switch: tuple[Card, ...] = (),
    replacement: Card | None = None,
) -> Facts:
    """Lay a round with one box in play; spare cards of the deck fill the other places."""
    used = {*dealt, *dealer, *switch, replacement}
    spare = iter([card for card in DECK if card not in used])
    boxes = {name: dealt if name == box else tuple(next(spare) for _ in range(5)) for name in BOXES}
    return Facts(
        boxes=boxes,
        dealer=dealer,
        switch=switch or tuple(next(spare) for _ in range(5)),
        replacement=replacement,
        empty=frozenset(BOXES) - {box},
        anyone_bought=None if replacement else False,
    )
