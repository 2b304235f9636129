"""Every hand of the UCI Poker Hand data in its class, 0 (nothing) to 9 (royal flush).

The file is nobody's here and never copied: it is read where `TABLECTL_DATA` says, by default from
`shared/data` beside the checkout.
"""

from __future__ import annotations

import csv
import os
from collections import Counter
from pathlib import Path

import pytest

from controller.cards import Card, Rank, Suit
from controller.games.combinations import Kind
from controller.games.poker import evaluate

BESIDE = Path(__file__).parents[2].parent / "shared" / "data"
HANDS = Path(os.environ.get("TABLECTL_DATA") or BESIDE) / "uci_poker_hands.csv"

SUITS = dict(zip("1234", (Suit.HEARTS, Suit.SPADES, Suit.DIAMONDS, Suit.CLUBS), strict=True))
CLASSES = {
    None: "0",
    Kind.AK: "0",  # no combination there (COM-07)
    Kind.PAIR: "1",
    Kind.TWO_PAIR: "2",
    Kind.TRIPS: "3",
    Kind.STRAIGHT: "4",
    Kind.FLUSH: "5",
    Kind.FULL_HOUSE: "6",
    Kind.QUADS: "7",
    Kind.STRAIGHT_FLUSH: "8",
    Kind.ROYAL: "9",
}


def card(suit: str, rank: str) -> Card:
    return Card(Rank.ACE if rank == "1" else Rank(int(rank)), SUITS[suit])


@pytest.mark.skipif(not HANDS.exists(), reason=f"no data at {HANDS}; TABLECTL_DATA names another folder")
def test_every_hand_is_in_its_class() -> None:
    found: Counter[str] = Counter()
    with HANDS.open(newline="") as lines:
        for line, row in enumerate(csv.DictReader(lines), start=2):
            cards = tuple(card(row[f"S{n}"], row[f"C{n}"]) for n in range(1, 6))
            main = evaluate(cards).main
            assert CLASSES[main and main.kind] == row["Result"], f"line {line}: {' '.join(map(str, cards))}"
            found[row["Result"]] += 1
    assert found.total() == 4_999
    assert set(CLASSES.values()) - set(found) == {"7"}  # The file has no Four of a Kind.
