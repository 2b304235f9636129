"""Names of ports: which are taken, what they stand for, and which one is proposed."""

from __future__ import annotations

import errno

import pytest

from drivers.port_names import FoundPort, check_name, find_node, stable_name

SHOE = FoundPort(node="/dev/ttyACM0", usb=(0x0C2E, 0x0B61), serial_number="A:1", location="1-1.4:1.0")
SPARE = FoundPort(node="/dev/ttyACM1", usb=(0x0C2E, 0x0B61), serial_number="B", location="1-1.3:1.0")
LEFT = FoundPort(node="/dev/ttyUSB0", usb=(0x1A86, 0x7523), location="1-2.1", links=("/dev/serial/by-id/ch",))
RIGHT = FoundPort(node="/dev/ttyUSB1", usb=(0x1A86, 0x7523), location="1-2.2")
BOARD = FoundPort(node="/dev/ttyS0")
ALL = (SHOE, SPARE, LEFT, RIGHT, BOARD)


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("usb:0c2e:0b61:A:1", "/dev/ttyACM0"),
        ("usb:0C2E:0B61:B", "/dev/ttyACM1"),
        ("usb:0c2e:0b61@1-1.3:1.0", "/dev/ttyACM1"),
        ("usb:1a86:7523@1-2.2", "/dev/ttyUSB1"),
    ],
)
def test_a_name_stands_for_one_node(name: str, node: str) -> None:
    check_name(name)
    assert find_node(name, ALL) == node


def test_a_name_of_two_is_refused_and_of_one_is_not() -> None:
    with pytest.raises(OSError, match="2 devices have this name: /dev/ttyACM0, /dev/ttyACM1") as refused:
        find_node("usb:0c2e:0b61", ALL)
    assert refused.value.errno == errno.ENOTUNIQ
    assert find_node("usb:0c2e:0b61", (SPARE, *ALL[2:])) == "/dev/ttyACM1"


@pytest.mark.parametrize(
    "name", ["usb:0c2e:0b61:A", "usb:0c2e:0b61@1-1", "usb:0403:6001", "usb:1a86:7523:None"]
)
def test_a_name_of_nothing(name: str) -> None:
    with pytest.raises(FileNotFoundError, match="no such device is plugged in"):
        find_node(name, ALL)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "usb:",
        "usb:c2e:0b61",
        "usb:0c2e",
        "usb:0c2e:0b61:",
        "usb:0c2e:0b61@",
        "socket://",
        "socket:x:1",
        "socket://host",
        "socket://host:port",
        "socket://host:99999",
        "socket://host:1/path",
        "socket://host:1?logging=debug",
        "socket://me@host:1",
        "/dev/tty\0USB0",
    ],
)
def test_names_that_no_port_can_have(name: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        check_name(name)


@pytest.mark.parametrize("name", ["/dev/serial/by-id/usb-x", "./run/shoe", "COM5", "socket://10.0.0.7:4001"])
def test_names_that_a_port_may_have(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    ("port", "name"),
    [
        (SHOE, "usb:0c2e:0b61:A:1"),
        (LEFT, "usb:1a86:7523@1-2.1"),
        (BOARD, "/dev/ttyS0"),
    ],
)
def test_the_name_to_write_down(port: FoundPort, name: str) -> None:
    assert stable_name(port, ALL) == name
    assert name == port.node or find_node(name, ALL) == port.node


def test_twins_with_one_serial_number_are_told_apart_by_their_sockets() -> None:
    first = FoundPort(node="/dev/ttyUSB0", usb=(1, 2), serial_number="0", location="1-1")
    second = FoundPort(node="/dev/ttyUSB1", usb=(1, 2), serial_number="0", location="1-2")
    assert stable_name(first, (first, second)) == "usb:0001:0002@1-1"


def test_without_anything_to_tell_it_by_the_link_is_taken() -> None:
    port = FoundPort(node="/dev/ttyUSB0", usb=(1, 2), links=("/dev/serial/by-id/x",))
    assert stable_name(port, (port,)) == "/dev/serial/by-id/x"
