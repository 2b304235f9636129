"""Real baccarat coups through a table with a plain scanner, which numbers nothing.

From 0.3 to 3 s pass between two cards.

Every fifth card is read twice within 0.3 s. Each second reading is asked about and none is dealt.
"""

from __future__ import annotations

import random
from pathlib import Path

from station.coup_table import REAL_COUPS, CoupTable, real_coups, replace, write_config

from controller.cards import parse_cards
from controller.table.charts import Phase
from controller.table.events import IncidentKind
from drivers.delimited import encode, open_delimited

RANKS = ("", *"A23456789TJQK")
REPEAT_MS = 300
READ_TWICE = 0.2


@REAL_COUPS
def test_real_coups_have_their_winners_and_every_repeat_is_asked_about(tmp_path: Path) -> None:
    config, rng = write_config(tmp_path, "baccarat"), random.Random(200)
    # So many questions of one kind would block the table (row 42).
    replace(config.parents[1] / "profiles" / "default.toml", "breaker_cases = 3", "breaker_cases = 500")
    table = CoupTable(config, "shoe8")
    options = open_delimited(table.config.scanners["shoe"].options).options
    assert options.repeat_ms == REPEAT_MS
    expected, dealt, repeats = [], [], 0
    for cards, winner in real_coups():
        table.make_room(cards)
        table.open_bets()
        table.wait(3_000)
        for text in cards:
            [card] = parse_cards(f"{RANKS[int(text[2:])]}{text[0].lower()}")
            frame = encode(table.config.deck.code(card), options)
            table.wait(rng.randint(REPEAT_MS, 3_000))
            table.chunk(frame)
            assert table.asked is None, text
            dealt.append(str(card))
            if rng.random() < READ_TWICE:
                table.wait(rng.randint(0, REPEAT_MS - 10))
                table.chunk(frame)
                assert table.asked is IncidentKind.SAME_CODE_AGAIN, text
                table.answer(True)
                repeats += 1
        assert table.phase is Phase.RESULT_PROPOSED
        table.end_coup()
        expected.append(winner)
    assert table.winners() == expected
    assert [card for _, _, card in table.dealt()] == dealt
    asked = [data["kind"] for data in table.told("incident.opened")]
    assert asked == ["SAME_CODE_AGAIN"] * repeats and repeats > len(expected) // 2
    table.stop()
