"""The golden sessions: small port captures, each with the reports that its driver makes of them.

`python seeds/sessions/rebuild.py` writes `<name>.capture` and `<name>.reports` of every entry of `SESSIONS`
anew; what then differs is what a change of a driver or of a simulated device has changed, and the commit says
why. A new session is one more entry.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from controller.cards import DECK, Scheme, code_map
from controller.journal.recording import Kind, Line, Recorder, read_lines
from controller.station.replay import framers_of
from drivers.angel_eye import Frame
from drivers.contract import Report
from drivers.delimited import DelimitedOptions
from simulators.devices import cuts
from simulators.devices.angel_eye import COPIES, AngelEyeShoe, LineFault
from simulators.devices.delimited import DelimitedScanner, Fault

FOLDER = Path(__file__).parent
BEGUN_US = 1_800_000_000_000_000
SCANNER = "shoe"
LAST_SILENCE_US = 1_000_000
"""How long is listened after the last chunk, for a frame that only silence ends."""


class Tape:
    """What a session is recorded on: `send` is a device's sink, `wait` the time between."""

    def __init__(self) -> None:
        self.line: list[tuple[int, bytes]] = []
        self._now_us = BEGUN_US

    def send(self, data: bytes) -> None:
        self.line.append((self._now_us, data))

    def wait(self, ms: int) -> None:
        self._now_us += ms * 1_000


class Session(NamedTuple):
    """One golden session: where it is from, the driver's family and options, and what is sent."""

    source: str
    family: str
    options: Mapping[str, Any]
    record: Callable[[Tape], None]


def typed(*frames: str, apart_ms: int = 1_000) -> Callable[[Tape], None]:
    """Return a session of frames typed from a document, in hex."""

    def record(tape: Tape) -> None:
        for frame in frames:
            tape.send(bytes.fromhex(frame))
            tape.wait(apart_ms)

    return record


HOUSE = {"min_length": 3, "max_length": 4}


def delimited_deck(tape: Tape) -> None:
    """A deck in order of suit, at a dealer's pace, with every fault of the line among its cards."""
    rng = random.Random(1)
    scanner = DelimitedScanner(tape.send, DelimitedOptions(**HOUSE), seed=1)
    blue = code_map("blue", Scheme.SUIT_DIGIT_RANK)
    faults = [*Fault, *Fault]
    for number, card in enumerate(DECK):
        scanner.scan(blue.code(card), faults[number // 4] if number % 4 == 3 and number < 48 else None)
        if number % 10 == 9:
            tape.wait(400)
            scanner.no_read()
        tape.wait(rng.randint(300, 3_000))
    scanner.flush()
    scanner.noise(5)


def angel_eye_coups(tape: Tape) -> None:
    """Coups of a shoe that nobody acknowledges: three copies of a frame, some lost; a card that is not read,
    a card too many, a start in the middle."""
    rng = random.Random(2)

    def fault(_frame: Frame, copy: int) -> LineFault | None:
        return rng.choice((None, None, None, LineFault.LOST, LineFault.MERGED)) if copy < COPIES else None

    shoe = AngelEyeShoe(tape.send, line_fault=fault, seed=2)
    for number in range(5):
        tape.wait(4_000)
        shoe.stand_by()
        while shoe.due is not None:
            card = rng.randrange(9, 13) << 4 | rng.randrange(1, 14)
            shoe.draw(card, is_read=number != 1)
            if number == 1:
                shoe.run()
                tape.wait(2_000)
                shoe.read_again(card)
            shoe.run()
            tape.wait(rng.randint(500, 3_000))
        if number == 2:
            shoe.draw(0xB2)
        if number == 3:
            shoe.power_up()
        shoe.run()


NO_TAG = "06 00 B0 01 5C 63"
ONE_TAG = "11 00 B0 00 01 03 00 E0 04 01 00 12 34 AB CD 8E 1B"

SESSIONS: Mapping[str, Session] = {
    "angel_eye_frames": Session(
        "frames of a public capture: start-up, draw, two twos of spades, a jump, not read, overdraw, noise",
        "angel_eye",
        {},
        typed(
            "05 30 53 03 36 30",
            "05 31 44 81 80 03 37 37",
            "05 36 49 81 b2 03 34 46",
            "05 37 49 91 b2 03 35 45",
            "05 39 45 82 03 46 44",
            "05 31 45 c1 03 42 36",
            "ff ff ff ff c5 fc",
            "05 31 5a 03 36 38",
        ),
    ),
    "angel_eye_coups": Session("a simulated shoe with faults, seed 2", "angel_eye", {}, angel_eye_coups),
    "zebra_ssi_packets": Session(
        "packets of the programmer's guide: 1010 and its repetition, D12 with CR, 4130, a start, a wrong sum",
        "zebra_ssi",
        {},
        typed(
            "09 F3 00 00 03 31 30 31 30 FE 3F",
            "09 F3 00 01 03 31 30 31 30 FE 3E",
            "09 F3 00 00 01 44 31 32 0D FE 4F",
            "09 F3 00 00 1B 34 31 33 30 FE 21",
            "05 F6 00 00 03 FF 02",
            "09 F3 00 00 03 31 30 31 31 FE 3F",
        ),
    ),
    "feig_obid_tags": Session(
        "replies of the manuals, a poll apart: a tag that goes and comes back, a wrong sum, two tags",
        "feig_obid",
        {},
        typed(
            "06 00 52 00 FC A8",
            NO_TAG,
            ONE_TAG,
            ONE_TAG,
            NO_TAG,
            NO_TAG,
            NO_TAG,
            ONE_TAG,
            ONE_TAG[:-1] + "C",
            ONE_TAG,
            ONE_TAG,
            ONE_TAG,
            "1B 00 B0 00 02 03 00 E0 04 01 00 12 34 AB CD 03 00 E0 04 01 00 56 78 9A BC 45 43",
            apart_ms=100,
        ),
    ),
    "feig_obid_overheard": Session(
        "inventories that somebody else asked for, from the middle: a tag that goes and comes back",
        "feig_obid",
        {},
        typed(ONE_TAG, ONE_TAG, NO_TAG, NO_TAG, ONE_TAG, NO_TAG, NO_TAG, NO_TAG, ONE_TAG, apart_ms=400),
    ),
    "rdm6300_badge": Session(
        "the badge of a forum post in two frames, once with a wrong sum, and alone",
        "rdm6300",
        {},
        typed(
            "02 31 30 30 30 38 36 46 34 34 34 32 36 03 02 31 30 30 30 38 36 46 34 34 34 32 36 03",
            "02 31 30 30 30 38 36 46 34 34 34 38 36 03",
            "02 31 30 30 30 38 36 46 34 34 34 32 36 03",
        ),
    ),
    "delimited_lf": Session(
        "the worked examples of scanner manuals: 1010, D12, NOREAD",
        "delimited",
        {},
        typed("31 30 31 30 0D 0A", "44 31 32 0A", "4E 4F 52 45 41 44 0D 0A"),
    ),
    "delimited_cr": Session(
        "a scanner that puts the AIM id in front, and sends NR for what it can not read",
        "delimited",
        {"terminator": "cr", "no_read": ["NR"]},
        typed("5D 43 30 34 31 33 30 0D", "4E 52 0D", "34 31", "31 30 31 30 0D 0A", "0D", "FF 80 31 30 0D"),
    ),
    "delimited_deck": Session("a simulated scanner with faults, seed 1", "delimited", HOUSE, delimited_deck),
}


def rebuild(folder: Path) -> None:
    """Write every session into `folder`, in place of what is there."""
    for name, session in SESSIONS.items():
        path = folder / f"{name}.capture"
        path.unlink(missing_ok=True)
        tape = Tape()
        session.record(tape)
        driver = f"{SCANNER} {session.family} {msgspec.json.encode(session.options).decode()}"
        recorder = Recorder(path, [("source", session.source), ("scanner", driver)])
        for at_us, data in tape.line:
            recorder.write(Line(at_us, Kind.CHUNK, SCANNER, data.hex()))
        recorder.close()
        texts = [f"{text}\n" for text in map(report_text, decoded(path, read_line(path)))]
        (folder / f"{name}.reports").write_text("".join(texts))


def read_line(path: Path) -> cuts.Line:
    """Return the chunks of a session."""
    return [(line.at_us, bytes.fromhex(line.payload)) for line in read_lines(path)]


def decoded(path: Path, line: cuts.Line) -> list[Report]:
    """Return what the session's driver reports of `line`: its chunks, or the same cut otherwise."""
    framer = framers_of(path)[SCANNER]
    framer.opened(BEGUN_US)
    return cuts.decode(framer, line, line[-1][0] + LAST_SILENCE_US)


def report_text(report: Report) -> str:
    """Return a report as one line of JSON, of what it says alone."""
    facts = msgspec.to_builtins(report)
    return msgspec.json.encode(
        {name: fact for name, fact in facts.items() if fact not in (None, False)}
    ).decode()


if __name__ == "__main__":
    rebuild(FOLDER)
    sys.stdout.write(f"{len(SESSIONS)} sessions in {FOLDER}\n")
