"""`tablectl doctor` on what reads no cards: badge readers and tower lights; and on a reader that is asked."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from station.recorded import write_config

from controller.cli import main
from controller.station.config import load
from controller.station.doctor_badges import BadgeSight
from controller.station.doctor_signs import Heard
from controller.station.people import hashed, read_people, write_people
from drivers.pty import PtyDevice
from drivers.rdm6300 import Checksum, encode
from drivers.rdm6300_signs import signs
from drivers.tower_light import Light, Mode
from simulators.cast import COST, the_cast
from simulators.devices.feig_obid import FeigReader
from simulators.devices.tower_light import TowerLight

pytestmark = pytest.mark.skipif(os.name != "posix", reason="ptys exist on POSIX alone")

CODE = "100086F444"
DEVICES = """
[badge_readers.door]
family = "rdm6300"
port = "../run/door"
line = { settle_ms = 0 }

[lights.pole]
port = "../run/pole"
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The demo table with a badge reader and a light."""
    path = write_config(tmp_path)
    path.write_text(path.read_text() + DEVICES.replace("../run", str(tmp_path / "run")))
    return path


def doctor(config: Path, *words: str) -> int:
    return main(["doctor", str(config), "--seconds", "1", *words])


@contextlib.contextmanager
def at(line: PtyDevice, play: Callable[[], None]) -> Iterator[None]:
    """Have `play` called again and again at the device's end, while it has a host."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(0.01):
            if line.has_host:
                play()

    player = threading.Thread(target=run)
    player.start()
    try:
        yield
    finally:
        ended.set()
        player.join()
        line.unplug()


def sends(line: PtyDevice, *chunks: bytes) -> Callable[[], None]:
    """Return what sends these, once, some ten milliseconds apart."""
    left = list(chunks)

    def play() -> None:
        if left:
            time.sleep(0.05)
            line.write(left.pop(0))

    return play


# Badge readers.


def with_badge(config: Path, actor: str) -> None:
    path = config.parent.parent / "run" / "people.json"
    people = read_people(path)
    person = people.people[actor]
    badge = hashed(CODE, people.badge_salt, COST)
    write_people(path, people.with_person(actor, replace(person, badge=badge)))


def test_whose_badge_it_is_is_told_and_nothing_of_its_code(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    actor = next(iter(the_cast(COST).people))
    with_badge(config, actor)
    line = PtyDevice(config.parent.parent / "run" / "door", watches_host=True)
    with at(line, sends(line, *[encode(CODE)] * 4, encode("1234567890"), encode("1234567890"))):
        assert doctor(config, "--device", "door") == 0
    told = capsys.readouterr().out
    assert f"read the badge of {actor}, who may work as " in told
    assert "read a badge that nobody in" in told
    assert "the device: frames carry the XOR of their bytes" in told
    assert f"02 {'** ' * 12}03  14 bytes" in told
    assert told.count("  02 ** ") == 3 and "the same bytes 1 time more" in told
    assert CODE[2:] not in told and encode(CODE)[3:9].hex(" ") not in told


def test_a_badge_reader_of_another_make(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with_badge(config, next(iter(the_cast(COST).people)))
    line = PtyDevice(config.parent.parent / "run" / "door", watches_host=True)
    with at(line, sends(line, *[encode(CODE, Checksum.SUM)] * 3)):
        assert doctor(config, "--device", "door", "--json") == 1
    (finding,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert finding["device"] == "door"
    assert 'set checksum = "sum"' in finding["text"]
    assert CODE[2:] not in finding["text"]


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"", "no byte came in"),
        (encode(CODE), "no frame came twice"),
        (
            b"\xe7\x93\xf8" * 9,
            "27 bytes without a frame of rdm6300, and no text: garbage as from a wrong baud",
        ),
    ],
    ids=["silent", "alone", "wrong-baud"],
)
def test_what_the_bytes_show(config: Path, sent: bytes, expected: str) -> None:
    loaded = load(config)
    line = [(1, sent)] if sent else []
    (sign,) = BadgeSight(loaded.badge_readers["door"], loaded).signs(Heard(line, (), ()))
    assert expected in sign


def test_people_without_a_badge_and_without_a_file(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people = config.parent.parent / "run" / "people.json"
    doctor(config, "--device", "door")
    assert f"FOUND people: nobody in {people} has a badge" in capsys.readouterr().out
    people.unlink()
    doctor(config, "--device", "door")
    assert f"FOUND {people}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("sent", "options", "wrong"),
    [
        (encode(CODE).lower() * 2, {}, "set lower_case = true"),
        (encode(CODE) * 2, {"checksum": "sum"}, 'set checksum = "xor"'),
        (encode(CODE, Checksum.SUM).lower() * 2, {}, 'set checksum = "sum", lower_case = true'),
        (encode(CODE)[:-3] + b"00\x03", {}, "1 frames with a wrong checksum"),
    ],
)
def test_the_make_of_a_badge_reader(sent: bytes, options: dict[str, object], wrong: str) -> None:
    (sign,) = signs(options, [(1, sent[:5]), (2, sent[5:])]).wrong
    assert wrong in sign


def test_frames_that_are_as_expected_and_bytes_that_are_none() -> None:
    assert signs({}, [(1, encode(CODE) * 2)]).wrong == ()
    assert signs({}, [(1, b"\x02123\x03")]) == signs({}, [])


# Tower lights.


def test_a_light_shows_its_states_one_after_another_and_is_dark_at_the_end(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = PtyDevice(config.parent.parent / "run" / "pole", watches_host=True)
    tower = TowerLight()
    with at(line, lambda: tower.feed(line.read())):
        assert doctor(config, "--device", "pole") == 0
        tower.feed(line.read())
    assert tower.history == [
        Light(green=Mode.ON),
        Light(yellow=Mode.ON),
        Light(red=Mode.ON),
        Light(red=Mode.BLINK),
        Light(),
    ]
    told = capsys.readouterr().out
    assert "21 22 24 14  look: green alone" in told
    assert told.index("look: red alone, as") < told.index("look: red alone and blinking")
    assert told.endswith("nothing to change\n")


def test_a_light_that_speaks_and_one_that_is_not_there(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor(config, "--device", "pole") == 1
    assert "FOUND port: no such device" in capsys.readouterr().out
    line = PtyDevice(config.parent.parent / "run" / "pole", watches_host=True)
    with at(line, sends(line, b"1010\n")):
        assert doctor(config, "--device", "pole") == 1
    assert "FOUND 5 bytes came in, and a tower light sends none" in capsys.readouterr().out


def test_a_light_that_is_pulled_out_is_named_and_the_rest_is_not_shown(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = PtyDevice(config.parent.parent / "run" / "pole", watches_host=True)
    with at(line, line.unplug):
        assert doctor(config, "--device", "pole") == 1
    assert "blinking" not in capsys.readouterr().out


# A reader that answers.


def test_a_reader_of_tags_is_asked_what_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = write_config(
        tmp_path, **{"settle_ms = 300": "settle_ms = 0", 'family = "delimited"': 'family = "feig_obid"'}
    )
    config.write_text(config.read_text().partition("[scanners.shoe.options]")[0])
    (tmp_path / "run" / "rp1" / "devices").mkdir(parents=True)
    line = PtyDevice(tmp_path / "run" / "rp1" / "devices" / "shoe", watches_host=True)
    reader = FeigReader(line.write)
    with at(line, lambda: reader.hear(line.read())):
        assert doctor(config) == 1
    told = capsys.readouterr().out
    assert "the device says: address 0" in told
    assert "the device says: firmware 0300, development 00, hardware 00, reader type 21" in told
    assert "FOUND the device answers, and has read nothing" in told
    assert told.count("06 00 b0 01 5c 63") <= 3, "one answer again and again is shown once"
