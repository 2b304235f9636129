"""The journals in `seeds/journals`, written by older versions: today's program reads all of them.

They are never made anew. Later rules may judge their inputs otherwise; reading them must go on.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import msgspec
import pytest

from controller.bus.envelope import decode, event_of
from controller.bus.snapshot import Snapshot, fold
from controller.journal import Days
from controller.journal.reader import Reader
from controller.station.config import load
from controller.station.kernel import Kernel
from controller.station.recall import recall
from controller.table.events import AUDIENCES, AnyEvent
from controller.table.inputs import decode_input

ROOT = Path(__file__).parents[2]
OLD = sorted((ROOT / "seeds" / "journals").glob("*.journal.gz"))
ROUNDS = {"1": (True, False, False), "2": (False, True, False), "3": (True, False, True)}
"""Whether each of them has a result, was cancelled, and was corrected."""


@pytest.fixture(params=OLD, ids=lambda path: path.name)
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "2026-01-01.journal"
    path.write_bytes(gzip.decompress(request.param.read_bytes()))
    return path


def test_there_is_one_to_read() -> None:
    assert OLD


def test_chains_numbers_and_signatures_hold(journal: Path) -> None:
    assert list(Days(journal.parent).verify()) == []


def test_inputs_and_events_decode(journal: Path) -> None:
    event = msgspec.json.Decoder(AnyEvent)
    with Reader.open(journal) as reader:
        steps = list(reader.steps())
    for step in steps:
        assert decode_input(step.input).at == step.at_us
        for raw in step.events:
            event.decode(raw)
    assert len(steps) > 100


@pytest.mark.parametrize("audience", AUDIENCES)
def test_messages_are_known_and_fold(journal: Path, audience: str) -> None:
    messages = [raw for _, raw in Days(journal.parent).messages(audience, 1, 10_000)]
    assert all(event_of(decode(raw)) is not None for raw in messages)
    snapshot = fold(Snapshot(table="rp1", audience=audience), messages)
    assert snapshot.last is not None and snapshot.last.rev == 2


def test_a_table_goes_on_from_its_last_round(journal: Path) -> None:
    with Reader.open(journal) as reader:
        carried = reader.last_carried()
    assert carried is not None
    kernel = Kernel(load(ROOT / "config" / "tables" / "demo.toml"))
    kernel.restore(carried[1])
    assert kernel.table.state.round_no == 3


@pytest.mark.parametrize("round_no", ROUNDS)
def test_a_round_is_recalled(journal: Path, round_no: str) -> None:
    told = recall(journal, round_no)
    found = told.result is not None, told.cancelled is not None, bool(told.corrections)
    assert found == ROUNDS[round_no]
