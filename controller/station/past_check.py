"""Was a correction worked out from the round as the journal has it? The station has handed it in (row 36)."""

from __future__ import annotations

from pathlib import Path

import msgspec

from controller.journal import Days, Step
from controller.station.past_rounds import round_in_files
from controller.station.replay import Difference
from controller.table.inputs import Commanded, decode_input
from controller.table.past_rounds import PastRound, past_round

PAST = b'"past":{'


def check_past(path: Path, step: Step) -> Difference | None:
    """Compare the old round in a step's input with the journals, up to the step's own file at `path`.

    None where they agree, and where the file that has the round is not at hand.
    """
    value = decode_input(step.input) if PAST in step.input else None
    if not isinstance(value, Commanded) or value.past is None:
        return None
    number = value.past.roundid.rpartition("-")[2]
    earlier = [day for day in Days(path.parent).paths() if day.name < path.name]
    events = round_in_files([*earlier, path], int(number)) if number.isdecimal() else None
    kept = past_round(value.past.roundid, events) if events else None
    if kept is None or kept == value.past:
        return None
    return Difference(step.n, "past round", step.input.decode(), _text(kept), _text(value.past))


def _text(past: PastRound) -> str:
    return msgspec.json.encode(past, order="deterministic").decode()
