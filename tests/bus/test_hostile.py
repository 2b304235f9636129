"""Hostile bytes on every socket that takes requests: answered or dropped, never the end of the daemon."""

from __future__ import annotations

import pytest

from controller.bus.commands import read_command
from controller.bus.envelope import decode
from controller.bus.errors import MalformedMessage
from controller.bus.snapshot import decode_snapshot
from controller.bus.wire import Answer, Reason, decode_marker, request_named_in

DEEP = b'{"x":' + b"[" * 20_000


def test_a_command_nested_too_deep_is_malformed() -> None:
    answer = read_command("betting", DEEP)
    assert isinstance(answer, Answer) and answer.reason == Reason.MALFORMED
    assert request_named_in(DEEP) == ""


@pytest.mark.parametrize("read", [decode, decode_snapshot, decode_marker])
def test_consumers_name_it_malformed(read: object) -> None:
    assert callable(read)
    with pytest.raises(MalformedMessage):
        read(DEEP)
