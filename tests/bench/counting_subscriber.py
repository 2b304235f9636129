"""A subscriber in a process of its own that only counts.

    python counting_subscriber.py ENDPOINT...

It says `joined` when it has heard as many different probes as it has endpoints. Then a line tells it how
many messages to expect; it answers how many came, and when the last one did by the monotonic clock, in
nanoseconds, which all processes share. A probe is a frame shorter than any message.
"""

from __future__ import annotations

import sys
import time

import zmq

PROBE_BYTES_MAX = 20
LOST_MS = 10_000
"""When nothing comes for so long, the rest was dropped."""


def join(endpoints: list[str]) -> zmq.Socket[bytes]:
    """Subscribe everywhere, and wait until every publisher has noticed."""
    feed: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.SUB)
    feed.setsockopt(zmq.RECONNECT_IVL, 1)
    feed.setsockopt(zmq.RCVTIMEO, LOST_MS)
    feed.subscribe(b"")
    for endpoint in endpoints:
        feed.connect(endpoint)
    probes: set[bytes] = set()
    while len(probes) < len(endpoints):
        probes.add(feed.recv())
    return feed


def count(feed: zmq.Socket[bytes], expected: int) -> tuple[int, int]:
    """Return how many messages came, and when the last one did."""
    heard = last_ns = 0
    while heard < expected:
        try:
            frame = feed.recv()
        except zmq.Again:
            break
        if len(frame) > PROBE_BYTES_MAX:
            heard, last_ns = heard + 1, time.monotonic_ns()
    return heard, last_ns


if __name__ == "__main__":
    joined = join(sys.argv[1:])
    print("joined", flush=True)
    print(*count(joined, int(sys.stdin.readline())), flush=True)
