"""Steps for journal tests: what step n holds follows from n alone, chained as the bus chains messages."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from controller.journal import Heads, Journal

AUDIENCES = ("public", "betting", "settlement", "audit")
ROUND_STEPS = 10
DOCUMENT = '[table]\nname = "rp1"\n'


class Feed:
    """The finished messages of one table, numbered and chained from `heads` on."""

    def __init__(self, heads: Heads | None = None, epoch: int = 1, padding: int = 40) -> None:
        heads = heads or Heads.of_nothing(AUDIENCES)
        self.ends = {audience: (head.seq, head.hash) for audience, head in heads.audiences.items()}
        self.at_us = heads.at_us
        self.epoch = epoch
        self.padding = padding

    def message(self, audience: str, content: str) -> bytes:
        seq, prevhash = self.ends[audience]
        message = msgspec.json.encode(
            {
                "specversion": "1.0",
                "id": f"rp1/{audience}/{seq + 1}",
                "epoch": self.epoch,
                "seq": seq + 1,
                "prevhash": prevhash,
                "data": content + "x" * self.padding,
            }
        )
        self.ends[audience] = (seq + 1, sha256(message).hexdigest())
        return message

    def step(self, n: int) -> dict[str, Any]:
        """The arguments of the n-th `append`. Settlement hears of a round's last step only."""
        self.at_us += 1_000 + n
        messages = {
            "public": [self.message("public", f"card {n}")] if n % 3 else [],
            "betting": [self.message("betting", f"card {n}.{part}") for part in range(n % 3)],
            "audit": [self.message("audit", f"input {n}"), self.message("audit", f"event {n}")],
        }
        boundary = n % ROUND_STEPS == 0
        if boundary:
            messages["settlement"] = [self.message("settlement", f"confirmed {n}")]
        return {
            "at_us": self.at_us,
            "input": b'{"type": "card_read",  "code":"1%03d"}' % (n % 1000),
            "events": b'[{"type":"accepted","n":%d}, {"type":"placed"}]' % n,
            "messages": messages,
            "carried": b"carried %d" % n if boundary else None,
        }


def write(journal: Journal, feed: Feed, count: int) -> Iterator[int]:
    """Append steps one by one, each durable when it is yielded; checkpoint at each round's end."""
    for n in range(journal.last_n + 1, journal.last_n + 1 + count):
        if n == 1:
            journal.add_document(DOCUMENT)
        assert journal.append(**feed.step(n)) == n
        yield n
        if n % ROUND_STEPS == 0:
            journal.checkpoint()


def written(path: Path, count: int) -> Heads:
    """Begin a journal at `path`, write `count` steps, close it; return where it ends."""
    with Journal.open(path, audiences=AUDIENCES) as journal:
        assert list(write(journal, Feed(), count)) == list(range(1, count + 1))
        return journal.heads()
