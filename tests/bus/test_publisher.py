"""The live feeds: alive, the picture, and peers that do not read."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import zmq
from bus.streams import TABLE, envelopes, normal_round

from controller.bus.endpoints import Endpoints, connect
from controller.bus.envelope import Environment, Heads, message_hash
from controller.bus.errors import EndpointRefused
from controller.bus.publisher import OpenWindow, Publisher, Pulse
from controller.table import events as ev
from controller.table.events import AUDIENCES, Audience

STEPS = 400
PULSE = Pulse(at_us=7, epoch=2, phase="deciding")


def publisher(endpoints: Endpoints, context: zmq.Context[Any], **options: Any) -> Publisher:
    options = {"heads": Heads(), **options}
    return Publisher(endpoints, source=(TABLE, Environment.SIMULATED), context=context, **options)


def subscribed(context: zmq.Context[Any], endpoint: str, beat: Any) -> zmq.Socket[bytes]:
    """Return a SUB socket that has heard the publisher; `beat` makes it speak."""
    socket: zmq.Socket[bytes] = context.socket(zmq.SUB)
    socket.linger = 0
    socket.rcvtimeo = 5_000
    socket.subscribe(b"")
    connect(socket, endpoint)
    for _ in range(200):
        beat()
        if socket.poll(10):
            drain(socket)
            return socket
    raise AssertionError(f"{endpoint} never spoke")


def drain(socket: zmq.Socket[bytes]) -> None:
    """Take what was sent while others joined."""
    while socket.poll(20):
        socket.recv()


def test_messages_come_as_one_frame_of_their_exact_bytes(directory: Path, context: zmq.Context[Any]) -> None:
    endpoints = Endpoints.ipc(directory, TABLE)
    sender, builder = publisher(endpoints, context), envelopes()
    listeners = {a: subscribed(context, endpoints.live[a], lambda: sender.alive(PULSE)) for a in AUDIENCES}
    for listener in listeners.values():
        drain(listener)
    for events, at in normal_round(1):
        messages = builder.build(events, at)
        sender.publish(messages)
        for audience, built in messages.items():
            assert [listeners[audience].recv_multipart() for _ in built] == [[raw] for raw in built]
    for listener in listeners.values():
        listener.close()
    sender.close()


def test_alive_carries_the_last_message_of_each_audience_and_no_foreign_window(
    directory: Path, context: zmq.Context[Any]
) -> None:
    endpoints = Endpoints.ipc(directory, TABLE)
    builder = envelopes()
    steps = [builder.build(*step) for step in list(normal_round(1))[:10]]
    before = envelopes()
    before.build(*next(iter(normal_round(1))))
    sender = publisher(endpoints, context, heads=before.heads())
    for messages in steps[1:]:
        sender.publish(messages)
    [decision] = [e for events, _ in normal_round(1) for e in events if isinstance(e, ev.DecisionOpened)]
    pulse = Pulse(at_us=7, epoch=2, phase="deciding", window=OpenWindow.of(decision))
    for audience in AUDIENCES:
        listener = subscribed(context, endpoints.live[audience], lambda: sender.alive(pulse))
        sender.alive(pulse)
        said = json.loads(listener.recv())
        head = builder.heads().of(audience)
        assert (said["alive"], said["source"]) == (TABLE, "tablectl/rp1/simulated")
        assert (said["epoch"], said["phase"], said["at_us"]) == (2, "deciding", 7)
        assert (said["seq"], said["hash"]) == (head.seq, head.hash)
        heard = None if audience is Audience.SETTLEMENT else ("o1", 9)
        assert heard == ((said["window"], said["closes_at_us"]) if "window" in said else None)
        listener.close()
    sender.close()


def test_the_picture_conflates_and_is_shown_again_with_alive(
    directory: Path, context: zmq.Context[Any]
) -> None:
    endpoints = Endpoints.ipc(directory, TABLE)
    sender = publisher(endpoints, context)
    page: zmq.Socket[bytes] = context.socket(zmq.SUB)
    page.setsockopt(zmq.RCVHWM, 1)
    page.subscribe(b"")
    sender.picture(b"before the page came")
    connect(page, endpoints.picture)
    for _ in range(200):
        sender.alive(PULSE)
        if page.poll(10):
            break
    page.rcvtimeo = 5_000
    assert page.recv() == b"before the page came"
    for number in range(1_000):
        sender.picture(b"picture %d " % number + bytes(40_000))
    seen = []
    while page.poll(100):
        seen.append(page.recv().split()[1])
    assert seen[-1] == b"999"
    assert len(seen) < 500
    page.close(linger=0)
    sender.close()


def test_a_subscriber_that_never_reads_slows_nobody(directory: Path, context: zmq.Context[Any]) -> None:
    endpoints = Endpoints.ipc(directory, TABLE)
    sender, builder = publisher(endpoints, context), envelopes()
    deaf = subscribed(context, endpoints.live[Audience.PUBLIC], lambda: sender.alive(PULSE))
    listening = subscribed(context, endpoints.live[Audience.PUBLIC], lambda: sender.alive(PULSE))
    shuffled = [ev.DeckShuffled()] * 20
    slowest = 0.0
    for _ in range(STEPS):
        messages = builder.build(shuffled, next(normal_round(1))[1])
        began = time.perf_counter()
        sender.publish(messages)
        slowest = max(slowest, time.perf_counter() - began)
        heard = [listening.recv() for _ in range(20)]
        assert message_hash(heard[-1]) == builder.heads().public.hash
    assert slowest < 0.5
    late = 0
    while deaf.poll(50):
        late += len(deaf.recv_multipart())
    assert late < STEPS * len(shuffled), "the deaf subscriber was never full"
    deaf.close()
    listening.close()
    sender.close()


def test_it_closes_within_two_seconds_over_a_stopped_subscriber(directory: Path) -> None:
    endpoints = Endpoints.ipc(directory, TABLE)
    code = (
        "import sys, zmq; s = zmq.Context().socket(zmq.SUB); s.subscribe(b''); s.connect(sys.argv[1]); "
        "s.recv(); print('heard', flush=True); s.recv()"
    )
    command = [sys.executable, "-c", code, endpoints.live[Audience.PUBLIC]]
    context: zmq.Context[Any] = zmq.Context()
    sender, builder = publisher(endpoints, context), envelopes()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            heard = zmq.Poller()
            heard.register(process.stdout.fileno(), zmq.POLLIN)
            while not heard.poll(20):
                sender.alive(PULSE)
            process.send_signal(signal.SIGSTOP)
            for _ in range(400):
                sender.publish(builder.build([ev.DeckShuffled()] * 20, next(normal_round(1))[1]))
            began = time.perf_counter()
            sender.close()
            context.term()
            assert time.perf_counter() - began < 2
        finally:
            process.kill()


def test_a_refused_bind_leaves_nothing_bound(directory: Path, context: zmq.Context[Any]) -> None:
    endpoints = Endpoints.ipc(directory, TABLE)
    (directory / TABLE).mkdir()
    (directory / TABLE / "picture").write_text("in the way")
    with pytest.raises(EndpointRefused, match="picture"):
        publisher(endpoints, context)
    (directory / TABLE / "picture").unlink()
    publisher(endpoints, context).close()
