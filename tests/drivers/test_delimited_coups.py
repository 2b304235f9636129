"""Real baccarat coups from a scanner that numbers nothing: 0.3 to 3 s from card to card, some read once more.

The coups are nobody's here and never copied: they are read where `TABLECTL_DATA` says, by default from the
folder of shared data beside the checkout.
"""

from __future__ import annotations

import csv
import os
import random
from itertools import pairwise
from pathlib import Path

import pytest
from games.driver import BACCARAT, game, play

from controller.cards import Scheme, code_map, parse_cards
from controller.games.baccarat import LAYOUT
from controller.games.procedure import BoxState
from drivers.contract import CodeRead
from drivers.delimited import encode
from drivers.families import open_framer
from simulators.devices.cuts import Line, decode

BESIDE = Path(__file__).parents[3] / "shared" / "data"
COUPS = Path(os.environ.get("TABLECTL_DATA") or BESIDE) / "live_baccarat_coups.csv"
PLACES = ("P1", "B1", "P2", "B2", "P3", "B3")
RANKS = ("", *"A23456789TJQK")
REPEAT_MS = 300


@pytest.mark.skipif(not COUPS.exists(), reason=f"no data at {COUPS}; TABLECTL_DATA names another folder")
def test_real_coups_have_their_winners_and_every_repeat_is_marked() -> None:
    with COUPS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    deck, rng = code_map("shoe", Scheme.SUIT_DIGIT_RANK, decks=8), random.Random(200)
    framer = open_framer("delimited", {"repeat_ms": REPEAT_MS})
    line: Line = []
    at_us, expected = 0, []
    for row in rows:
        for text in filter(None, map(row.get, PLACES)):
            suit, _, rank = text.partition(".")
            [card] = parse_cards(f"{RANKS[int(rank)]}{suit.lower()}")
            at_us += rng.randint(REPEAT_MS * 1_000, 3_000_000)
            times_us = [at_us, *(at_us + rng.randint(0, 290_000) for _ in range(rng.random() < 0.2))]
            expected += [CodeRead(deck.code(card), repeat=number > 0) for number in range(len(times_us))]
            line += [(time_us, encode(deck.code(card), framer.options)) for time_us in times_us]
            at_us = times_us[-1]
    reads = decode(framer, line)
    assert reads == expected
    assert sum(read.repeat for read in expected) > 100
    dealt = [read.code for read in expected if not read.repeat]
    assert any(first == second for first, second in pairwise(dealt)), "no false duplicate could show"
    baccarat = game(BACCARAT)
    for row in rows:
        count = sum(bool(row[place]) for place in PLACES)
        cards = tuple(card for code in dealt[:count] if (card := deck.card(code)) is not None)
        del dealt[:count]
        coup = play(baccarat, states={LAYOUT: BoxState.DARK}, cards=cards).result.coup
        assert coup is not None and coup.winner[0] == (row["official_winner"] or row["winner_by_cards"])
