"""A subscriber that stops reading is counted when it begins to lose messages, and costs nobody else one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import zmq
from bus.conftest import context, directory
from bus.streams import TABLE, envelopes, normal_round
from bus.test_publisher import PULSE, publisher, subscribed

from controller.bus.endpoints import Endpoints
from controller.table import events as ev
from controller.table.events import Audience

__all__ = ["context", "directory"]
STEPS, BURST = 200, 20


def test_it_is_counted_when_a_subscriber_begins_to_lose(directory: Path, context: zmq.Context[Any]) -> None:
    endpoints = Endpoints.ipc(directory, TABLE)
    sender, builder = publisher(endpoints, context), envelopes()
    deaf = context.socket(zmq.SUB)
    deaf.rcvhwm = 10
    deaf.subscribe(b"")
    deaf.connect(endpoints.live[Audience.PUBLIC])
    while not deaf.poll(20):
        sender.alive(PULSE)
    listening = subscribed(context, endpoints.live[Audience.PUBLIC], lambda: sender.alive(PULSE))
    assert set(sender.full_counts.values()) == {0}
    heard = 0
    for _ in range(STEPS):
        sender.publish(builder.build([ev.DeckShuffled()] * BURST, next(normal_round(1))[1]))
        heard += sum(bool(listening.recv()) for _ in range(BURST))
    assert heard == STEPS * BURST
    assert sender.full_counts == {"public": 1, "betting": 0, "settlement": 0, "audit": 0}
    deaf.close()
    listening.close()
    sender.close()
