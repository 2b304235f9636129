"""A one-deck table that is read by tags: a whole station with the simulated reader at the end of its line."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from station.recorded import Session, write_config

from controller.cards import DECK, Card
from controller.journal.recording import Kind, read_lines
from controller.station.replay import verify_recording
from controller.table.charts import IncidentState, Phase
from controller.table.picture import draw
from simulators.devices.feig_obid import Fault, FeigReader

MS = 1_000
LATENCY_US = 4 * MS
TAGS = {f"E0040100{number:08X}": str(card) for number, card in enumerate(DECK)}
FEIG = {
    'family = "delimited"': 'family = "feig_obid"',
    "baud = 9600": 'baud = 38_400\nparity = "E"',
    'terminator = "lf"': "poll_ms = 100",
    "min_length = 3                     # codes of the house have three or four characters\n": "",
    "max_length = 4\n": "reply_ms = 300\n",
    'no_read = "NOREAD"': "",
}


def feig_config(folder: Path) -> Path:
    path = write_config(folder, **FEIG)
    codes = "".join(f'{uid} = "{card}"\n' for uid, card in TAGS.items())
    (folder / "decks" / "blue.toml").write_text(f'scheme = "table"\n\n[codes]\n{codes}')
    return path


class TagSession(Session):
    """A session whose cards are laid on the antenna and taken off again."""

    def __init__(self, config: Path, **begins: int) -> None:
        super().__init__(config, **begins)
        self.reader = FeigReader(self._sent)
        self.coming: list[tuple[int, bytes]] = []
        port = self.station.ports["shoe"]
        port.write = self._write  # type: ignore[method-assign]

    def _write(self, data: bytes) -> bool:
        self.reader.hear(data)
        return True

    def _sent(self, data: bytes) -> None:
        self.coming.append((self.clock.us + LATENCY_US, data))

    def wait(self, ms: int) -> None:
        until_us = self.clock.us + ms * MS
        while True:
            due_us = self.station.next_due_us()
            times = [*(at_us for at_us, _ in self.coming), *([due_us] if due_us is not None else [])]
            if not times or min(times) > until_us:
                break
            self.clock.us = max(self.clock.us, min(times))
            if self.coming and self.coming[0][0] <= self.clock.us:
                self.station.bring(Kind.CHUNK, "shoe", self.coming.pop(0)[1].hex())
            else:
                self.station._fire_due()
            self._consume()
        self.clock.us = until_us

    def scan(self, card: str | None = None) -> None:
        """A card passes over the antenna."""
        tag = self.tag(card if card is not None else str(self.shoe.pop(0)))
        self.reader.place(tag)
        self.wait(250)
        self.reader.lift(tag)
        self.wait(450)

    @staticmethod
    def tag(card: str) -> str:
        return next(uid for uid, text in TAGS.items() if text == str(Card.parse(card)))


@pytest.fixture
def session(tmp_path: Path) -> TagSession:
    session = TagSession(feig_config(tmp_path))
    session.open_table()
    return session


def kinds(session: Session) -> list[str]:
    return [incident.kind for incident in session.station.kernel.table.state.incidents]


def laid(session: Session) -> list[str]:
    return [str(lies.card) for lies in session.station.kernel.table.state.in_play.laid]


def test_whole_rounds_are_dealt_by_tag_and_replay(session: TagSession) -> None:
    session.round()
    session.round()
    state = session.station.kernel.table.state
    assert state.round_no == 2 and state.phase is Phase.SHUFFLING and not state.incidents
    session.stop()
    assert verify_recording(session.recording).difference is None


@pytest.mark.parametrize("seed", range(2))
def test_a_round_under_every_fault_that_loses_no_card(session: TagSession, seed: int) -> None:
    """Lost, damaged, cut, late and foreign replies, and tags that flicker: the same round."""
    session.reader._random.seed(seed)
    faults = [
        Fault.LOST_REPLY, Fault.DAMAGED_REPLY, Fault.CUT_REPLY, Fault.OTHER_ADDRESS, Fault.RF_WARNING,
    ]  # fmt: skip
    session.to_dealing()
    shoe = [str(card) for card in session.shoe]
    for number in range(20):
        tag = session.tag(str(session.shoe.pop(0)))
        session.reader.place(tag)
        session.reader.disturb(faults[(number + seed) % len(faults)], Fault.FLICKER)
        session.wait(900)
        session.reader.lift(tag)
        session.wait(500)
    assert laid(session) == shoe[:20] and not kinds(session)


def test_two_cards_at_once_hold_the_table_before_one_is_shown(session: TagSession) -> None:
    session.to_dealing().deal(4)
    first, second = (str(session.shoe[index]) for index in range(2))
    session.reader.place(session.tag(second), session.tag(first))
    session.wait(300)
    assert kinds(session) == ["TWO_CARDS"] and len(laid(session)) == 4
    assert draw(session.station.kernel.table.state).read_meanwhile == 2
    session.reader.lift(session.tag(second), session.tag(first))
    session.wait(500)
    session.answer(True)
    session.answer(False)
    session.scan(second)  # RPL-71: nobody has seen its face, so the second is burned.
    session.answer(True)
    session.scan(first)
    assert not kinds(session) and laid(session)[-1] == first
    session.stop()
    assert verify_recording(session.recording).difference is None


def test_a_reader_that_falls_silent_holds_the_table_until_it_answers(
    session: TagSession, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    session.to_dealing().deal(4)
    session.reader.address = 7
    hear, session.reader.hear = session.reader.hear, lambda _data: None  # type: ignore[method-assign]
    session.wait(2_000)
    state = session.station.kernel.table.state
    assert kinds(session) == ["SCANNER_LOST"] and state.incident_state is IncidentState.LOST
    assert state.scanners_up == set()
    session.reader.hear = hear  # type: ignore[method-assign]
    session.wait(2_000)
    assert state.scanners_up == {"shoe"} and not state.strange_devices
    session.answer(False)
    session.deal(1)
    assert len(laid(session)) == 5 and not kinds(session)


def test_a_card_that_stays_and_flickers_is_dealt_once(session: TagSession) -> None:
    session.to_dealing().deal(2)
    tag = session.tag(str(session.shoe.pop(0)))
    session.reader.place(tag)
    for _ in range(20):
        session.reader.disturb(Fault.FLICKER)
        session.wait(250)
    assert len(laid(session)) == 3 and not kinds(session)


def test_a_read_that_was_never_taken_is_found_in_the_middle_of_the_conversation(session: TagSession) -> None:
    """The process stops between recording and journal; the next start tells the table what was read."""
    session.to_dealing().deal(3)
    session.reader.place(session.tag(str(session.shoe.pop(0))))
    while session.station._queue.empty():
        due_us = session.station.next_due_us()
        assert due_us is not None
        session.clock.us = max(session.clock.us, due_us)
        session.station._fire_due()
        for at_us, data in session.coming:
            session.clock.us = max(session.clock.us, at_us)
            session.station.bring(Kind.CHUNK, "shoe", data.hex())
        session.coming.clear()
    session.stop()
    assert any(line.kind is Kind.KEY for line in read_lines(session.recording))
    again = TagSession(session.config.path, now_us=session.clock.us + 5_000 * MS, first_key=1_000)
    assert draw(again.station.kernel.table.state).read_meanwhile == 1
    again.stop()
