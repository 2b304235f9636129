"""Random histories: the invariants hold, the same inputs give the same bytes, a record restores a table."""

from __future__ import annotations

import hashlib

import pytest
from table.dealt import BLUE, RED, Dealt, every
from table.histories import fresh, play
from table.invariants import Watcher

from controller.games.russian_live import RussianLive
from controller.table import inputs as i
from controller.table.carried import Carried
from controller.table.events import (
    BlockReason,
    BurnReason,
    CardBurned,
    IncidentKind,
    IncidentOpened,
    RoundCancelled,
    RoundConfirmed,
    TableBlocked,
    encode_events,
)
from controller.table.picture import draw
from controller.table.script_run import ScriptRun
from controller.table.table import Table

STEPS = 600
OF_A_SHOE = frozenset({IncidentKind.IMPOSSIBLE_CARD, IncidentKind.CUTTING_CARD, IncidentKind.SHOE_DISAGREES})
"""Only where many rounds are dealt out of one shoe: `test_shoe`."""


@pytest.mark.parametrize("seed", range(24))
def test_the_invariants_hold_in_a_random_history(seed: int) -> None:
    d = fresh(seed)
    play(d, seed, STEPS, Watcher().check)


def test_the_random_histories_reach_what_can_go_wrong() -> None:
    """The proof that the histories above are worth something."""
    kinds: set[IncidentKind] = set()
    burned: set[BurnReason] = set()
    blocked: set[BlockReason] = set()
    confirmed = cancelled = 0
    for seed in range(32):
        d = fresh(seed)
        play(d, seed, STEPS, lambda _: None)
        kinds |= {opened.kind for opened in every(d.events, IncidentOpened)}
        confirmed += len(every(d.events, RoundConfirmed))
        cancelled += len(every(d.events, RoundCancelled))
        burned |= {event.reason for event in every(d.events, CardBurned)}
        blocked |= {event.reason for event in every(d.events, TableBlocked)}
    assert kinds == set(IncidentKind) - OF_A_SHOE - {IncidentKind.NOT_SEEN_AGAIN}, "of test_second_look"
    assert burned >= {BurnReason.EARLY_DRAW, BurnReason.SURPLUS_CARD, BurnReason.RELIEF} and blocked == set(
        BlockReason
    ) - {BlockReason.SHOE_DISAGREES}
    assert confirmed >= 20 and cancelled >= 50


def replayed(d: Dealt, inputs: list[i.AnyInput], record: bytes | None = None) -> list[bytes]:
    """Step a new table through `inputs`, read back from their journal form; return the event bytes."""
    table = Table(d.settings, RussianLive(d.game.rules), BLUE, (RED,))
    if record is not None:
        table.restore(record)
    return [encode_events(table.step(i.decode_input(i.encode_input(value)))) for value in inputs]


@pytest.mark.parametrize("seed", range(6))
def test_the_same_inputs_give_the_same_bytes(seed: int) -> None:
    d = fresh(seed)
    play(d, seed, STEPS, lambda _: None)
    assert replayed(d, d.inputs) == [encode_events(events) for events in d.steps]


@pytest.mark.parametrize("seed", range(6))
def test_a_carried_record_at_every_boundary_restores_an_equal_table(seed: int) -> None:
    d = fresh(seed)
    boundaries: list[tuple[int, bytes]] = []

    def note(d: Dealt) -> None:
        record = d.table.carried()
        if record is not None:
            boundaries.append((len(d.inputs), record))

    play(d, seed, STEPS, note)
    expected = [encode_events(events) for events in d.steps]
    for at, record in boundaries[:: max(1, len(boundaries) // 25)]:
        again = Table(d.settings, RussianLive(d.game.rules), BLUE, (RED,))
        again.restore(record)
        assert again.carried() == record
        assert replayed(d, d.inputs[at : at + 80], record) == expected[at : at + 80]


def test_a_record_of_another_version_is_refused() -> None:
    import msgspec

    d = Dealt().to_ready()
    record = d.table.carried()
    assert record is not None
    foreign = msgspec.structs.replace(msgspec.json.decode(record, type=Carried), version=99)
    with pytest.raises(msgspec.ValidationError, match="version 99"):
        Table(d.settings, d.game, BLUE).restore(msgspec.json.encode(foreign))
    with pytest.raises(msgspec.ValidationError):
        Table(d.settings, d.game, BLUE).restore(b'{"version": 1}')


@pytest.mark.parametrize("seed", range(6))
def test_the_script_is_a_fold_over_its_facts(seed: int) -> None:
    d = fresh(seed)

    def fold(d: Dealt) -> None:
        current = d.table.state.round
        if current is None or len(d.inputs) % 7:
            return
        again = ScriptRun(d.game)
        for asked, fact in zip(current.run.asked, current.run.facts, strict=True):
            assert again.owed == asked
            again.tell(fact)
        assert (again.owed, again.outcome) == (current.run.owed, current.run.outcome)

    play(d, seed, STEPS // 2, fold)


def test_a_picture_is_a_pure_function_of_the_table() -> None:
    d = fresh(1)

    def twice(d: Dealt) -> None:
        assert draw(d.table.state) == draw(d.table.state)

    play(d, 1, 200, twice)
    whole = hashlib.sha256(b"".join(encode_events(events) for events in d.steps)).hexdigest()
    silent = fresh(1)
    play(silent, 1, 200, lambda _: None)
    assert whole == hashlib.sha256(b"".join(encode_events(e) for e in silent.steps)).hexdigest()
