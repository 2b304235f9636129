"""The pty device by itself: what a host sees of it, and what it says of the host."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import serial

from drivers.pty import PtyDevice

pytestmark = pytest.mark.skipif(os.name != "posix", reason="ptys exist on POSIX alone")


@pytest.fixture
def device(tmp_path: Path) -> Iterator[PtyDevice]:
    device = PtyDevice(tmp_path / "scanner")
    yield device
    device.unplug()


def test_bytes_pass_unchanged_both_ways(device: PtyDevice) -> None:
    with serial.Serial(str(device.link), timeout=2) as host:
        device.write(bytes(range(256)))
        assert host.read(256) == bytes(range(256))
        host.write(bytes(range(256)))
        assert device.read() == bytes(range(256))
    assert device.written_count == 256


def test_raw_before_anyone_opens_it(device: PtyDevice) -> None:
    """A host that sets nothing gets CR as CR and ETX as a byte, and no echo comes back."""
    host = os.open(device.node, os.O_RDWR | os.O_NOCTTY)
    try:
        device.write(b"a\rb\x03c\n")
        assert os.read(host, 64) == b"a\rb\x03c\n"
        assert device.read() == b""
    finally:
        os.close(host)


def test_host_may_come_and_go(device: PtyDevice) -> None:
    for _ in range(3):
        assert device.read() == b""
        with serial.Serial(str(device.link), timeout=2) as host:
            device.write(b"1010\n")
            assert host.read(5) == b"1010\n"


def test_replug_changes_the_node_and_keeps_the_name(device: PtyDevice) -> None:
    nodes = [device.node]
    for _ in range(4):
        device.unplug()
        assert not device.plugged
        assert not device.link.is_symlink()
        with pytest.raises(FileNotFoundError, match="unplugged"):
            _ = device.node
        device.replug()
        assert str(device.link.readlink()) == device.node
        nodes.append(device.node)
    assert all(before != after for before, after in pairwise(nodes))


def test_unplugged_device_sends_and_hears_nothing(device: PtyDevice) -> None:
    device.unplug()
    device.unplug()
    assert device.write(b"1010\n") == 0
    assert device.read() == b""
    assert device.written_count == 0


def test_line_that_nobody_reads_fills_up_and_counts_what_it_took(device: PtyDevice) -> None:
    with serial.Serial(str(device.link), timeout=0.2) as host:
        taken_count = sum(device.write(b"x" * 1000) for _ in range(200))
        assert 0 < taken_count < 200_000
        assert device.written_count == taken_count
        assert len(host.read(200_000)) == taken_count


def test_link_left_by_a_dead_process_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "scanner").symlink_to("/dev/pts/no-such")
    device = PtyDevice(tmp_path / "scanner")
    assert str((tmp_path / "scanner").readlink()) == device.node
    device.unplug()


def test_the_name_that_another_device_has_taken_stays_its_own(tmp_path: Path) -> None:
    first, second = PtyDevice(tmp_path / "scanner"), PtyDevice(tmp_path / "scanner")
    first.unplug()
    assert str((tmp_path / "scanner").readlink()) == second.node
    second.unplug()
    assert not (tmp_path / "scanner").is_symlink()


def test_no_file_of_somebody_else_goes_for_a_name(tmp_path: Path) -> None:
    (tmp_path / "scanner.new").write_text("mine")
    PtyDevice(tmp_path / "scanner").unplug()
    assert (tmp_path / "scanner.new").read_text() == "mine"
