"""From a session recording: byte-identical events and messages. From its chunks alone: the same card inputs.

The session is a simulated studio's, with every fault of the catalogue; a second one is killed twice and
recovered, with real ptys, real sockets and SIGKILL.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from e2e.taped import START_US, write_config

from controller.journal import Days, Reader
from controller.journal.recording import Kind, Line, read_header, read_lines
from controller.journal.records import Step
from controller.station.config import StationConfig
from controller.station.kernel import Stepped
from controller.station.replay import (
    card_inputs,
    framers_of,
    journal_steps,
    replay_all,
    replay_recording,
    verify_recording,
)
from controller.table.events import AUDIENCES, Audience
from controller.table.inputs import CardRead, ReadFailed, Started, decode_input
from controller.table.picture import Picture
from drivers import contract
from drivers.contract import Framer
from simulators.actor import Act, Actor, Feed, Planned, Press
from simulators.dealer import Dealer
from simulators.devices import cuts
from simulators.devices.families import Mishap
from simulators.faults.catalogue import FAULTS, Amount, Plan
from simulators.faults.misdeeds import DEEDS
from simulators.faults.points import Point
from simulators.link import DirectLink, Link
from simulators.links import FastLinks
from simulators.studio import Studio
from simulators.world import World

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
ROUNDS = 1_000 if SOAK else len(FAULTS)
SEED = 3
RECUTS = 20 if SOAK else 5
SHOE = "shoe"


class Listener:
    """Keeps what is published to one audience."""

    def __init__(self, audience: Audience) -> None:
        self.name = f"listener to {audience}"
        self.feed = Feed(audience.value)
        self.heard_all: list[bytes] = []

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Keep a message."""
        self.heard_all.append(message)
        return []

    def woken(self, note: str, now_us: int) -> list[Planned]:
        """Never asked for."""
        return []

    def answered(self, press: Press, accepted: bool, reason: str | None, now_us: int) -> list[Planned]:
        """Never asked for."""
        return []


class Session(NamedTuple):
    """A session that is over: its config, and what each audience has heard live."""

    config: StationConfig
    published: dict[Audience, list[bytes]]

    @property
    def recordings(self) -> list[Path]:
        """The recordings, one an epoch, in order."""
        return sorted((self.config.table_dir / "sessions").glob("*.capture"))

    def steps(self) -> Iterator[Step]:
        """The steps of the journal, day after day."""
        for path in Days(self.config.table_dir).paths():
            with Reader.open(path) as reader:
                yield from reader.steps()


def play(config: StationConfig, link: Link, rounds: int, plan: Plan) -> Session:
    """Let a studio play over a link."""
    studio = Studio(config, seed=SEED, rounds=rounds, plan=plan)
    listeners = {audience: Listener(audience) for audience in AUDIENCES}
    actors: tuple[Actor, ...] = (*studio.actors, *listeners.values())
    asyncio.run(World(link, actors, is_done=studio.dealer.is_done).run())
    assert all(
        len(record.terminals) == 1 for name, record in studio.auditor.rounds.items() if name != "between"
    )
    return Session(config, {audience: listener.heard_all for audience, listener in listeners.items()})


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A session in one piece."""
    config = write_config(tmp_path_factory.mktemp("session") / "table")
    return play(config, DirectLink(config, START_US), ROUNDS, Plan(SEED, Amount.MANY))


def cut_short(dealer: Dealer, picture: Picture) -> list[Act]:
    """Let the scanner send the beginning of a frame, and then nothing until the time-out has passed."""
    return [dealer.scan(picture, Mishap.CUT)]


@pytest.fixture(scope="module")
def timed_out(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A session in which every round has a read that failed by time-out alone."""
    config = write_config(tmp_path_factory.mktemp("timed-out") / "table")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(DEEDS, "damaged-frame", cut_short)
        return play(config, DirectLink(config, START_US), 4, Plan(SEED, Amount.MANY, "damaged-frame"))


KILLS = ((Point.BEFORE_COMMIT, 85), (Point.AFTER_COMMIT, 75))
"""Where the process is killed, each in the middle of a round."""


class KilledLinks(FastLinks):
    """Real links to a daemon that is killed at each point of KILLS, one after the other."""

    def __init__(self, config: StationConfig) -> None:
        super().__init__(config, START_US)
        self._points = iter(KILLS)

    async def start_daemon(self) -> None:
        """Start it with the next point."""
        self.kill_next_at = next(self._points, None)
        await super().start_daemon()


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A session of several epochs."""
    config = write_config(tmp_path_factory.mktemp("killed") / "t")
    link = KilledLinks(config)
    session = play(config, link, 3, Plan(SEED, Amount.NONE))
    assert link.kills_count == len(KILLS)
    return session


def assert_same(step: Step, again: Stepped) -> None:
    """Fail unless a step on record and a replayed one are the same bytes."""
    assert step.input == again.input
    assert b"[" + b",".join(step.events) + b"]" == again.events_raw, step.n
    assert dict(step.messages) == {
        audience.value: sent for audience, sent in again.messages.items() if sent
    }, step.n


# The whole recording.


def test_a_recording_gives_the_same_events_and_messages_to_the_byte(session: Session) -> None:
    [recording] = session.recordings
    replayed = list(replay_recording(recording))
    for step, again in zip(session.steps(), replayed, strict=True):
        assert_same(step, again)
    for audience in AUDIENCES:
        sent = [raw for again in replayed for raw in again.messages[audience]]
        assert sent == session.published[audience]


def test_the_session_had_every_fault_and_every_kind_of_line(session: Session) -> None:
    """What the tests of this file go through is really there. An input taken over has its own session."""
    [recording] = session.recordings
    assert len(FAULTS) <= ROUNDS
    kinds = {line.kind for line in read_lines(recording)}
    assert kinds == set(Kind) - {Kind.STALE, Kind.INPUT}


@pytest.mark.parametrize("epoch", range(1, len(KILLS) + 2))
def test_each_recording_of_a_killed_session_gives_the_same_bytes(killed: Session, epoch: int) -> None:
    recording = killed.recordings[epoch - 1]
    header = read_header(recording)
    assert header.one("epoch") == str(epoch)
    replayed = list(replay_all(recording))
    recorded = list(itertools.islice(journal_steps(recording, header), len(replayed)))
    # What was read from the line and never became durable is in the recording alone.
    lost_count = int(epoch <= len(KILLS) and KILLS[epoch - 1][0] is Point.BEFORE_COMMIT)
    assert all(
        lost.input not in {step.input for step in recorded} for lost in replayed[-lost_count:][:lost_count]
    )
    kept = replayed[: len(replayed) - lost_count]
    for step, again in zip(recorded, kept, strict=False):
        assert_same(step, again)
    assert len(recorded) >= len(kept)
    verdict = verify_recording(recording)
    assert (verdict.difference, verdict.steps > 0) == (None, True)


def test_a_recording_after_a_kill_begins_with_the_inputs_taken_over(killed: Session) -> None:
    for before, recording in itertools.pairwise(killed.recordings):
        lines = list(read_lines(recording))
        taken_over = list(itertools.takewhile(lambda line: line.kind is Kind.INPUT, lines))
        assert lines[len(taken_over)].kind is Kind.START
        recorded = itertools.islice(journal_steps(recording, read_header(recording)), len(taken_over))
        assert [line.payload.encode() for line in taken_over] == [step.input for step in recorded]
        cards = [line for line in taken_over if isinstance(decode_input(line.payload.encode()), CardRead)]
        assert cards, "the process was killed in the middle of a round"
        assert str(cards[-1].at_us) in before.read_text()


def test_what_was_published_over_all_epochs_is_what_the_recordings_give(killed: Session) -> None:
    for audience in AUDIENCES:
        kept = [raw for step in killed.steps() for raw in step.messages.get(audience, ())]
        assert killed.published[audience] == kept
        again: dict[bytes, bytes] = {}
        for recording in killed.recordings:
            for stepped in replay_all(recording):
                for raw in stepped.messages[audience]:
                    again[raw] = stepped.input
        assert set(kept) <= set(again)


# The chunks alone.

Cut = Callable[[cuts.Line, Framer], cuts.Line]
CUTS: dict[str, Cut] = {
    "as recorded": lambda line, _: line,
    "byte by byte": lambda line, _: cuts.byte_by_byte(line),
    "merged": lambda line, framer: cuts.merged(line, framer.shortest_timeout_us),
    "merged, then byte by byte": lambda line, framer: cuts.byte_by_byte(
        cuts.merged(line, framer.shortest_timeout_us)
    ),
    **{f"recut {seed}": lambda line, _, seed=seed: cuts.recut(line, seed) for seed in range(RECUTS)},  # type: ignore[misc]
}


@cache
def live_reports(recording: Path) -> list[contract.CodeRead | contract.ReadFailed]:
    """Return what the live station took from its scanner in this epoch, in order."""
    found: list[contract.CodeRead | contract.ReadFailed] = []
    for stepped in replay_all(recording):
        match decode_input(stepped.input):
            case Started():
                found.clear()  # What stands before it was taken over from the journal.
            case CardRead(code=code, device_seq=device_seq):
                found.append(contract.CodeRead(code, device_seq))
            case ReadFailed(cause=cause):
                found.append(contract.ReadFailed(contract.FailedReadCause(cause)))
            case _:
                pass
    return found


def chunks_of(recording: Path) -> cuts.Line:
    """Return the bytes that the scanner sent."""
    return [
        (line.at_us, bytes.fromhex(line.payload)) for line in read_lines(recording) if line.kind is Kind.CHUNK
    ]


def reports_of(recording: Path, line: cuts.Line) -> list[contract.CodeRead | contract.ReadFailed]:
    """Return what these chunks say, run through fresh framers of the recording's table."""
    lines = [Line(at_us, Kind.CHUNK, SHOE, chunk.hex()) for at_us, chunk in line]
    return [found.report for found in card_inputs(framers_of(recording), lines)]


@pytest.mark.parametrize("cut", CUTS)
def test_chunks_however_cut_give_the_same_card_inputs(
    session: Session, killed: Session, timed_out: Session, cut: str
) -> None:
    for recording in (*session.recordings, *killed.recordings, *timed_out.recordings):
        line = CUTS[cut](chunks_of(recording), framers_of(recording)[SHOE])
        assert reports_of(recording, line) == live_reports(recording)


def test_a_time_out_is_a_failed_read_in_the_session_that_has_some(timed_out: Session) -> None:
    [recording] = timed_out.recordings
    cause = contract.FailedReadCause.CUT_SHORT
    assert live_reports(recording).count(contract.ReadFailed(cause)) == 4
    assert sum(line.kind is Kind.TICK for line in read_lines(recording)) == 4
    for step, again in zip(timed_out.steps(), replay_recording(recording), strict=True):
        assert_same(step, again)


def test_the_cuts_are_different_cuts(session: Session) -> None:
    """Else the test above would say the same thing several times."""
    [recording] = session.recordings
    framer = framers_of(recording)[SHOE]
    line = chunks_of(recording)
    counts = {name: len(cut(line, framer)) for name, cut in CUTS.items()}
    assert counts["byte by byte"] > counts["recut 0"] > counts["as recorded"] > counts["merged"]


def test_other_bytes_give_other_card_inputs(session: Session) -> None:
    """The comparison sees one byte, one chunk less, and one chunk too late."""
    [recording] = session.recordings
    line = list(chunks_of(recording))
    live = live_reports(recording)
    index = next(number for number, (_, chunk) in enumerate(line) if len(chunk) == 2)  # A split frame.
    at_us, chunk = line[index]
    flipped = [*line[:index], (at_us, bytes((chunk[0] ^ 1,)) + chunk[1:]), *line[index + 1 :]]
    shortest_us = framers_of(recording)[SHOE].shortest_timeout_us
    late = [*line[: index + 1], *((at + shortest_us, more) for at, more in line[index + 1 :])]
    for changed in (flipped, line[:index] + line[index + 1 :], late):
        assert reports_of(recording, changed) != live
