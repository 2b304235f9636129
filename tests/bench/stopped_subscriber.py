"""A subscriber to be stopped: once it goes on, it says what it has missed.

    python stopped_subscriber.py ENDPOINT

It says `heard` with its first frame. It ends as soon as a number is missing, and says the last one before.
Its own queue is short, so that nearly everything waits with the publisher.
"""

from __future__ import annotations

import sys

import msgspec
import zmq


class Frame(msgspec.Struct):
    """A message, or an `alive`, which names the last message."""

    seq: int
    alive: str | None = None


def last_before_gap(feed: zmq.Socket[bytes]) -> int:
    """Listen until something is missing."""
    last: int | None = None
    while True:
        frame = msgspec.json.decode(feed.recv(), type=Frame)
        if last is None:
            print("heard", flush=True)
        elif frame.seq > last + (frame.alive is None):
            return last
        last = frame.seq


if __name__ == "__main__":
    subscribed: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.SUB)
    subscribed.setsockopt(zmq.RCVHWM, 1)
    subscribed.subscribe(b"")
    subscribed.connect(sys.argv[1])
    print(last_before_gap(subscribed), flush=True)
