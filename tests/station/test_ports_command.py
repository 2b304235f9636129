"""`tablectl ports`: one line a port, which is what goes into a table's file."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest
import serial
from serial.tools.list_ports_common import ListPortInfo

from controller.cli import main
from drivers import port as port_module
from drivers.pty import PtyDevice


def found(node: str, serial_number: str | None = None, location: str | None = None) -> ListPortInfo:
    one = ListPortInfo(node)
    if location is not None:
        one.vid, one.pid, one.manufacturer, one.product = 0x0C2E, 0x0B61, "Honeywell\n", "Xenon 1900"
        one.serial_number, one.location = serial_number, location
    return one


@pytest.fixture
def device(tmp_path: Path) -> PtyDevice:
    return PtyDevice(tmp_path / "shoe")


def test_each_port_is_a_line_of_toml(
    device: PtyDevice, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ports = [
        found(device.node, 'A"1', "1-1.4:1.0"),
        found("/dev/ttyS99"),
        found("/dev/ttyUSB98", None, "1-2"),
    ]
    by_id = tmp_path / "by-id"
    by_id.mkdir()
    (by_id / "usb-Honeywell").symlink_to(device.node)
    monkeypatch.setattr(port_module, "BY_ID", by_id)
    monkeypatch.setattr(port_module, "comports", lambda: ports)
    with serial.Serial(device.node, exclusive=True):
        assert main(["ports"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [tomllib.loads(line)["port"] for line in lines]
    assert sorted(names) == ["/dev/ttyS99", 'usb:0c2e:0b61:A"1', "usb:0c2e:0b61@1-2"]
    (shoe,) = [line for line in lines if device.node in line]
    for fact in (
        'serial number A"1',
        "at 1-1.4:1.0",
        "0c2e:0b61, Honeywell Xenon 1900",
        str(by_id / "usb-Honeywell"),
        f"(pid {os.getpid()}, this program itself)",
    ):
        assert fact in shoe
    (board,) = [line for line in lines if "ttyS99" in line]
    assert "nobody seen on it, this user may not open it" in board


def test_for_machines(
    device: PtyDevice, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(port_module, "comports", lambda: [found(device.node, "A1", "1-1")])
    assert main(["ports", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["port"], told["node"], told["permitted"]) == ("usb:0c2e:0b61:A1", device.node, True)
    assert told["held_by"] == []


def test_no_port_is_a_finding(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(port_module, "comports", list)
    assert main(["ports"]) == 1
    assert "no serial port found: plug the device in" in capsys.readouterr().err
