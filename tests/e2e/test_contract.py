"""Everything that a simulated session says is what the published schemas say, and the samples are true.

TABLECTL_SOAK=1 plays three hundred rounds of each game, with a fault in each.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import pytest
from contract import DOCS, check, check_message, published, rebuild

from controller.bus.snapshot import Snapshot, apply, encode_snapshot
from controller.bus.wire import Answer, CommandRequest, encode
from controller.cards import CARD_PATTERN
from controller.table.events import AUDIENCES, Audience
from simulators.actor import Press
from simulators.faults.catalogue import Plan

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
ROUNDS = 300 if SOAK else 3
SAMPLES = DOCS / "samples"
CARD = re.compile(CARD_PATTERN)
CELLS = frozenset({"cell", "cells"})
SNAPSHOT_EVERY = 20
TERMINAL = {f"tablectl.round.{end}.v1": end for end in ("confirmed", "cancelled", "corrected")}

pytestmark = pytest.mark.timeout(3600 if SOAK else 120)


class CheckedLink(rebuild.SampleLink):  # type: ignore[misc, name-defined]
    """Holds every command and every answer against its schema."""

    pressed: ClassVar[Counter[str]] = Counter()

    async def press(self, press: Press) -> Answer:
        """Check, press, check."""
        request = CommandRequest(press.request or "x", press.actor, press.round_no, press.command, press.pin)
        check(f"commands.{press.endpoint}", encode(request))
        answer: Answer = await super().press(press)
        reason = check("Answer", encode(answer)).get("reason")
        assert reason is None or reason in published()["$defs"]["Refusal"]["enum"]
        self.pressed[press.endpoint] += 1
        return answer


def texts(value: Any) -> list[str]:
    """Return every text in a piece of JSON but its keys, and names of cells: one is `7c`."""
    match value:
        case str():
            return [value]
        case dict():
            return [text for key, part in value.items() if key not in CELLS for text in texts(part)]
        case list():
            return [text for part in value for text in texts(part)]
        case _:
            return []


def check_stream(audience: Audience, messages: list[bytes]) -> Counter[str]:
    """Check every message of a stream, who may hear it, and whether it may hold its cards."""
    seen: Counter[str] = Counter()
    for raw in messages:
        message = check_message(raw)
        definition = published()["$defs"][message["type"]]
        assert audience in definition["x-audiences"], message["id"]
        cards = [text for text in texts(message["data"]) if CARD.match(text)]
        assert not cards or definition["x-may-hold-a-card"], message["id"]
        seen[message["type"]] += 1
    return seen


def check_fold(audience: Audience, messages: list[bytes]) -> None:
    """Check the snapshot after every few messages."""
    snapshot = Snapshot(table=json.loads(messages[0])["tableid"], audience=audience)
    for number, raw in enumerate(messages):
        snapshot = apply(snapshot, raw)
        if number % SNAPSHOT_EVERY == 0:
            check("Snapshot", encode_snapshot(snapshot))


@pytest.mark.parametrize("table", ["demo", "oasis_poker", "baccarat"])
def test_a_session_full_of_faults_says_what_the_schemas_say(tmp_path: Path, table: str) -> None:
    CheckedLink.pressed.clear()
    days = rebuild.play(table, tmp_path, rounds=ROUNDS, plan_of=Plan, link_of=CheckedLink)
    types: set[str] = set()
    for audience in AUDIENCES:
        messages = [raw for _, raw in days.messages(audience, 1, 10_000_000)]
        types |= set(check_stream(audience, messages))
        check_fold(audience, messages)
    assert len(types) > 20
    assert min(CheckedLink.pressed["betting"], CheckedLink.pressed["operator"]) >= ROUNDS


# The samples.


def test_the_samples_are_what_one_switch_builds(tmp_path: Path) -> None:
    rebuild.rebuild(tmp_path)
    built = {path.name: path.read_bytes() for path in (tmp_path / "samples").iterdir()}
    kept = {path.name: path.read_bytes() for path in SAMPLES.iterdir()}
    assert built == kept, "run docs/bus/rebuild.py"


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.stem)
def test_a_sample_is_a_chained_stream_of_a_normal_a_cancelled_and_a_corrected_round(path: Path) -> None:
    before, ends = "0" * 64, []
    for seq, raw in enumerate(path.read_bytes().splitlines(), 1):
        message = check_message(raw)
        assert (message["seq"], message["prevhash"]) == (seq, before)
        before = sha256(raw).hexdigest()
        if message["type"] in TERMINAL:
            ends.append((message["roundid"], message["rev"], TERMINAL[message["type"]]))
    assert [end[1:] for end in ends] == [
        (1, "confirmed"),
        (1, "cancelled"),
        (1, "confirmed"),
        (2, "corrected"),
    ]
    assert len({roundid for roundid, *_ in ends}) == 3
