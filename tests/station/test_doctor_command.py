"""`tablectl doctor` on simulated devices: each thing that is set wrong is named, a right one left alone."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from station.recorded import write_config

from controller.cards import Scheme, code_map
from controller.cli import main
from controller.station import doctor_signs
from controller.station.device_config import ScannerConfig
from controller.station.doctor_signs import Decks, Heard, code_signs, codes_of, config_signs, line_signs
from drivers import families
from drivers.contract import CodeRead, Garbage, Report, ReportQueue
from drivers.pty import PtyDevice

pytestmark = pytest.mark.skipif(os.name != "posix", reason="ptys exist on POSIX alone")

BLUE, RED = code_map("blue", Scheme.SUIT_DIGIT_RANK), code_map("red", Scheme.LETTER_NUMBER)
CODES = ("1010", "2020", "3130")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The demo table, whose scanner is read from the first moment on."""
    return write_config(tmp_path, **{"settle_ms = 300": "settle_ms = 0"})


def port_of(config: Path, table: str = "rp1", scanner: str = "shoe") -> Path:
    path = config.parent.parent / "run" / table / "devices" / scanner
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def device(config: Path, sends: bytes) -> contextlib.AbstractContextManager[PtyDevice]:
    """The table's one device, which sends `sends`."""
    return device_at(port_of(config), sends)


@contextlib.contextmanager
def device_at(port: Path, sends: bytes) -> Iterator[PtyDevice]:
    """A device that sends `sends` in the pace of a dealer, from when its host is there."""
    line = PtyDevice(port, watches_host=True)
    ended = threading.Event()

    def play() -> None:
        while not line.has_host:
            if ended.wait(0.01):
                return
        time.sleep(0.1)
        line.write(sends)

    player = threading.Thread(target=play)
    player.start()
    try:
        yield line
    finally:
        ended.set()
        player.join()
        line.unplug()


def doctor(config: Path, *words: str) -> int:
    return main(["doctor", str(config), "--seconds", "1", *words])


def frames(end: bytes, codes: tuple[str, ...] = CODES) -> bytes:
    return b"".join(code.encode() + end for code in codes)


def test_a_scanner_that_is_set_right(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with device(config, frames(b"\n")) as line:
        assert doctor(config) == 0
        node = line.node
    told = capsys.readouterr().out
    assert f"port: leads to {node}, crw" in told
    assert "line: 9600 8N1" in told
    assert "terminator 'lf'" in told
    assert "31 30 31 30 0a 32" in told
    assert "the device: frames end with LF" in told
    assert "the device: codes have 4 characters" in told
    assert "read '3130': Kc of deck blue" in told
    assert "undetected misreads of deck blue: 196 of 1664 (11.8 %) single changed bits" in told
    assert told.endswith("nothing to change\n")


def test_every_scanner_of_a_table_is_examined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One deals and is right, the second capture ends its frames wrongly, no place has its reader yet."""
    demo = write_config(tmp_path, **{"settle_ms = 300": "settle_ms = 0"})
    text = Path("config/tables/many_readers.toml").read_text().replace("settle_ms = 300", "settle_ms = 0")
    config = demo.with_name("many_readers.toml")
    config.write_text(text.replace("../../run", "../run"))
    with contextlib.ExitStack() as lines:
        for name, end in (("shoe", b"\n"), ("capture", b"\r")):
            lines.enter_context(device_at(port_of(config, "rp4", name), frames(end)))
        assert doctor(config, "--json") == 1
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["device"] for one in found] == [
        "capture",
        *(f"pad_{place}" for place in ("box1", "box2", "box3", "dealer")),
    ]
    assert 'give it the suffix LF, or set terminator = "cr"' in found[0]["text"]
    assert all("port: no such device" in one["text"] for one in found[1:])


def mixed(seed: int) -> bytes:
    """What 9600 baud looks like when it is read at another rate: any byte, mostly with its high bit set."""
    rng = random.Random(seed)
    return bytes(rng.choice((rng.randrange(0x80, 0x100), rng.randrange(0x20))) for _ in range(60))


def even(data: bytes) -> bytes:
    return bytes(byte | (byte.bit_count() % 2) << 7 for byte in data)


@pytest.mark.parametrize(
    ("sends", "expected"),
    [
        (
            frames(b"\r"),
            'not one LF, which ends a frame here (terminator = "lf"); the scanner ends its frames with CR: '
            'give it the suffix LF, or set terminator = "cr"',
        ),
        (mixed(1), "60 bytes without a frame of delimited, and no text: garbage as from a wrong baud rate"),
        (b"", "no byte came in"),
    ],
    ids=["wrong-suffix", "wrong-baud", "silent"],
)
def test_what_is_set_wrong_is_named(
    config: Path, sends: bytes, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with device(config, sends):
        assert doctor(config, "--json") == 1
    (finding,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert finding["device"] == "shoe"
    assert expected in finding["text"]


def signs(sends: bytes, scanner: ScannerConfig) -> list[str]:
    """What doctor finds in bytes that came in at once."""
    line = [(1, sends)]
    framer = families.open_framer(scanner.family, scanner.options)
    framer.receive(sends, 1)
    reports = list(iter(framer.next_report, None))
    heard = Heard(line, reports, codes_of(scanner, line))
    return [*line_signs(scanner, heard), *code_signs(scanner, Decks(BLUE, (RED,)), heard.codes)]


@pytest.mark.parametrize(
    ("sends", "expected"),
    [
        (even(frames(b"\r\n")), "text of 7 bits with even parity: set line.bytesize = 7"),
        (frames(b"\r\n", ("1010", "NR")), "'NR': this is no code but a failed read"),
        (frames(b"\n", ("D12", "H01", "C03", "A13")), "'D12', 'H01', 'C03' and 1 more: codes of deck red"),
        (frames(b"\n", ("As", "Kd")), "'As', 'Kd': spelled by scheme plain, which no deck"),
        (b"\xff\xfe\n" + frames(b"\n"), "noise: 3 of 18 bytes belong to no frame"),
        (b"\x021010\n\x022020\n", "every frame begins with the byte 0x02"),
    ],
    ids=["parity", "no-read", "red", "plain", "noise", "prefix"],
)
def test_what_the_bytes_show(sends: bytes, expected: str) -> None:
    (sign,) = signs(sends, scanner(min_length=3, max_length=4))
    assert expected in sign
    assert not signs(frames(b"\n"), scanner(min_length=3, max_length=4))


@pytest.mark.parametrize("family", ["angel_eye", "zebra_ssi"])
def test_text_on_the_line_of_a_device_that_speaks_in_packets(family: str) -> None:
    (sign,) = signs(frames(b"\r"), ScannerConfig(family, "/dev/null"))
    assert f"15 bytes without a frame of {family}: raw text arrives in place of packets" in sign


def test_frames_of_a_shoe_on_the_line_of_a_scanner() -> None:
    (sign,) = signs(bytes.fromhex("05 31 44 81 80 03 37 37 05 36 49 81 b2 03 34 46 0a"), scanner())
    assert 'they are frames of angel_eye: set family = "angel_eye"' in sign


class Packets:
    """A family of packets with a checksum, small enough to be read here: length, code, XOR of both."""

    has_checksum = True
    shortest_timeout_us = 100_000

    def __init__(self) -> None:
        self._held = b""
        self._asked = self._answered = False
        self._out = b""
        self._reports = ReportQueue()

    def opened(self, at_us: int) -> None: ...
    def tick(self, at_us: int) -> None: ...
    def acknowledge(self, report: Report) -> None: ...

    def receive(self, chunk: bytes, at_us: int) -> None:
        self._held += chunk
        while self._held and len(self._held) > 1 + self._held[0]:
            body, check = self._held[: 1 + self._held[0]], self._held[1 + self._held[0]]
            sums = 0
            for byte in body:
                sums ^= byte
            if sums == check:
                self._answered = self._answered or body == b"\x01?"
                self._reports.put(CodeRead(body[1:].decode()))
            else:
                self._reports.put(Garbage(len(body) + 1, "bytes that are no packet"))
            self._held = self._held[len(body) + 1 :]

    def next_deadline_us(self) -> int | None:
        return None

    def next_report(self) -> Report | None:
        return self._reports.take()

    def bytes_to_send(self) -> bytes:
        out, self._out = self._out, b""
        return out

    def ask_about_itself(self) -> None:
        self._out = b"\x01?>"

    def told_about_itself(self) -> tuple[str, ...]:
        return ("a reader of packets",) if self._answered else ()


@pytest.fixture
def packets(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {**families.FAMILIES, "packets": lambda _: Packets()}
    monkeypatch.setattr(families, "FAMILIES", known)
    monkeypatch.setattr(doctor_signs, "FAMILIES", known)


@pytest.fixture
def packet_table(tmp_path: Path, packets: None) -> Path:
    config = write_config(tmp_path, **{"settle_ms = 300": "settle_ms = 0", '"delimited"': '"packets"'})
    config.write_text(config.read_text().partition("[scanners.shoe.options]")[0])
    return config


def packet(code: str) -> bytes:
    body = bytes((len(code),)) + code.encode()
    check = 0
    for byte in body:
        check ^= byte
    return body + bytes((check,))


def test_raw_text_in_place_of_packets(packet_table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with device(packet_table, frames(b"\r")):
        assert doctor(packet_table, "--json") == 1
    texts = [json.loads(text)["text"] for text in capsys.readouterr().out.splitlines()]
    assert len(texts) == 2
    assert texts[0].startswith("the device answers no question")
    assert "15 bytes without a frame of packets: raw text arrives in place of packets" in texts[1]


def test_a_device_that_can_be_asked_is_asked(packet_table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with device(packet_table, packet("?") + packet("1010")) as line:
        doctor(packet_table)
        assert line.read() == b"\x01?>"
    told = capsys.readouterr().out
    assert "the device says: a reader of packets" in told
    assert "undetected misreads: 0 of the single changed bits and characters" in told


# The port.


OPENS = (
    "import os, sys; os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY); print('open', flush=True); "
    "sys.stdin.read()"
)


@contextlib.contextmanager
def process(*words: str, ready: Callable[[], bool] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen([sys.executable, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        if ready is None:
            assert child.stdout is not None
            child.stdout.readline()
        until = time.monotonic() + 20
        while ready is not None and not ready() and time.monotonic() < until:
            time.sleep(0.05)
        yield child
    finally:
        child.kill()
        child.communicate()


def test_a_port_that_is_not_there_and_one_that_another_program_holds(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor(config) == 1
    assert "port: no such device: plug it in" in capsys.readouterr().out
    with device(config, frames(b"\n")) as line, process("-c", OPENS, line.node) as other:
        assert doctor(config) == 1
    told = capsys.readouterr().out
    assert f"(pid {other.pid}), which takes bytes away" in told
    assert "1010" not in told


def test_no_doctor_while_the_table_runs(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with device(config, b"") as line:

        def runs() -> bool:
            return line.has_host

        with process("-m", "controller.cli", "run", str(config), ready=runs) as daemon:
            assert doctor(config) == 3
    assert f"(pid {daemon.pid}): it holds the scanners" in capsys.readouterr().err


def test_refused_words(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor(config, "--device", "door") == 2
    assert "--device door: expected one of shoe" in capsys.readouterr().err
    assert doctor(tmp_path / "no.toml") == 3
    with pytest.raises(SystemExit):
        main(["doctor", str(config), "--seconds", "0"])


# Signs that need no line.


def scanner(**options: object) -> ScannerConfig:
    return ScannerConfig("delimited", "/dev/null", options=options)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"min_length": 5, "max_length": 9},
            "min_length 5 refuses codes of deck blue, which have 4 characters",
        ),
        ({"min_length": 1, "max_length": 3}, "max_length 3 refuses codes of deck blue"),
        ({}, "not both set"),
    ],
)
def test_lengths_that_do_not_fit_the_deck(options: Mapping[str, int], expected: str) -> None:
    (sign,) = config_signs(scanner(**options), BLUE)
    assert expected in sign


@pytest.mark.parametrize(
    ("deck", "code", "expected"),
    [
        (BLUE, "As", "spelled by scheme plain, which no deck"),
        (BLUE, "X1010", "codes of deck blue with prefix 'X'"),
        (BLUE, "X1010#", "prefix 'X' and postfix '#'"),
        (RED, "d12", "codes of deck red but for capital letters"),
        (BLUE, "12345", "of no deck that this table's config names"),
    ],
)
def test_codes_that_are_not_the_deck_s(deck: object, code: str, expected: str) -> None:
    assert isinstance(deck, type(BLUE))
    (sign,) = code_signs(scanner(), Decks(deck, ()), ("1010", code, code) if deck is BLUE else (code,))
    assert sign.startswith(repr(code))
    assert expected in sign
