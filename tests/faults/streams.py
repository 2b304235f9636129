"""What of a table's streams must be the same in a run that was killed and in one that was not.

Left out is what belongs to the recovery: the start of a process, what it says of reads that the one before
had not taken, its scanners coming up, the incidents RESTARTED and SCANNER_LOST with everything said of them,
the blocks that so many of them bring (row 42), the presses that settle all this (taken, or refused when the
process went down again under them), and presses that were refused because the table was held, asked about
the restart, or its scanner not up yet (people press again).

Made equal is what counts messages or incidents, or hangs on fresh keys: epoch, seq, id, prevhash, the
numbers of incidents, commitments and their keys, count and digest of `round.closed`, the count of
`read.held` (a read that was never taken is one of those that wait), and the request ids of
people, which the world numbers; and the phase on `press.accepted` and on a box's decision: what ends a
window that was open at a kill is taken at its time as ever, but settles it with the supervisor's "go on" of
the same instant, not in its own step.

Times are compared to the millisecond. All plans of the simulation are whole milliseconds; the inputs of
one instant are stamped a microsecond apart, so that each recovery, which takes no simulated time but some
inputs, moves what hangs on that instant by as many microseconds. `DRIFT_US_MAX` bounds the sum.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from controller.journal import Days
from controller.table.events import AUDIENCES

Message = dict[str, Any]

DRIFT_US_MAX = 900
"""Beyond this, the last millisecond digit could change by drift alone."""
RECOVERY_EVENTS = frozenset({"controller.started", "scanner.changed", "reads.untaken"})
RECOVERY_INCIDENTS = frozenset({"RESTARTED", "SCANNER_LOST"})
RECOVERY_PRESSES = frozenset({"confirm_picture", "answer_question", "go_on", "unblock"})
RECOVERY_CELLS = frozenset({"30", "30 none", "30 drawn", "35", "35 exact", "35 differs"})
"""The cases of RECOVERY_INCIDENTS: so many starts in half an hour block the table (row 42)."""
DECISIONS = frozenset({"order_redeal"})
"""What a supervisor presses in an incident: refused while the restart is asked about, and pressed again."""
HELD_BACK = frozenset({"HELD", "SCANNER_DOWN"})
INCIDENT_EVENTS = frozenset({"incident.opened", "incident.asked", "incident.decided", "incident.closed"})
NUMBERED = frozenset({"epoch", "seq", "id", "prevhash", "incident", "commitment", "key", "digest"})

MASKED = frozenset(
    {
        ("count", "round.closed"),
        ("count", "read.held"),
        *(("phase", event) for event in ("press.accepted", "decision.made", "decision.closed")),
    }
)


def outbox(days: Days) -> dict[str, list[bytes]]:
    """Return every message of the journal, by audience, in order."""
    return {
        audience.value: [raw for _, raw in days.messages(audience.value, 1, 1_000_000)]
        for audience in AUDIENCES
    }


def comparable(stream: list[bytes]) -> list[Message]:
    """Return the messages of one audience without what a recovery adds, and with equal numbers."""
    messages = [_read(raw) for raw in stream]
    theirs = recovery_incidents([message for message, _ in messages])
    return [equal for message, equal in messages if not is_recovery(message["data"], theirs)]


@lru_cache(maxsize=10_000)
def _read(raw: bytes) -> tuple[Message, Message]:
    """Return a message as it is, and made equal; runs share what they told before a kill."""
    message = json.loads(raw)
    return message, normalised(_unlocked(message))


def _unlocked(message: Message) -> Message:
    """Return the message; of an unlocking only the blocks that recoveries have no part in."""
    data = message["data"]
    if data["event"] != "table.unblocked":
        return message
    cells = [cell for cell in data["cells"] if cell not in RECOVERY_CELLS]
    return message | {"data": data | {"cells": cells}}


def recovery_incidents(messages: list[Message]) -> frozenset[int]:
    """Return the numbers of the incidents that recoveries opened."""
    opened = (message["data"] for message in messages if message["data"]["event"] == "incident.opened")
    return frozenset(data["incident"] for data in opened if data["kind"] in RECOVERY_INCIDENTS)


def is_recovery(data: Message, incidents: frozenset[int]) -> bool:
    """Whether an event is there only because a process went down."""
    match data["event"]:
        case "press.accepted":
            return data["command"] in RECOVERY_PRESSES
        case "input.refused":
            return data["reason"] in HELD_BACK or data["input"] in RECOVERY_PRESSES | DECISIONS
        case "table.blocked":
            return data["cell"] in RECOVERY_CELLS
        case "table.unblocked":
            return RECOVERY_CELLS.issuperset(data["cells"])
        case event if event in INCIDENT_EVENTS:
            return data["incident"] in incidents
        case event:
            return event in RECOVERY_EVENTS


def normalised(message: Message) -> Message:
    """Return a message with its numbers made equal and its times in milliseconds."""
    return dict(_normalised(message, message["data"]["event"]))


def _normalised(value: Message, event: str) -> Iterator[tuple[str, Any]]:
    for name, member in value.items():
        of_a_person = name == "request" and value.get("role") != "betting"
        if name in NUMBERED or (name, event) in MASKED or of_a_person:
            yield name, "-"
        elif name == "time":
            moment = datetime.fromisoformat(member)
            assert moment.microsecond % 1_000 <= DRIFT_US_MAX, message_text(value)
            yield name, moment.isoformat(timespec="milliseconds")
        elif name.endswith("_us"):
            assert member % 1_000 <= DRIFT_US_MAX, message_text(value)
            yield name, member // 1_000
        else:
            yield name, _inner(member, event)


def _inner(member: Any, event: str) -> Any:
    if isinstance(member, dict):
        return dict(_normalised(member, event))
    if isinstance(member, list):
        return [_inner(one, event) for one in member]
    return member


def timeless(message: Message) -> Message:
    """Return a message without its times and without the phase in which it came."""
    return {
        name: timeless(member) if isinstance(member, dict) else member
        for name, member in message.items()
        if name not in ("time", "phase") and not name.endswith("_us")
    }


def by_kind(messages: list[Message]) -> dict[str, list[Message]]:
    """Return the messages of each kind of event, in their order, without times."""
    kinds: dict[str, list[Message]] = {}
    for message in messages:
        kinds.setdefault(message["data"]["event"], []).append(timeless(message))
    return kinds


def of_round(messages: list[Message], roundid: str) -> list[Message]:
    """Return the messages of a round, with times that count from the first of them."""
    mine = [message for message in messages if message.get("roundid") == roundid]
    begin_ms = _milliseconds(mine[0]["time"]) if mine else 0
    return [_since(message, begin_ms) for message in mine]


def _since(message: Message, begin_ms: int) -> Message:
    def member_since(name: str, member: Any) -> Any:
        if isinstance(member, dict):
            return _since(member, begin_ms)
        if name == "time":
            return _milliseconds(member) - begin_ms
        return member - begin_ms if name.endswith("_us") else member

    return {name: member_since(name, member) for name, member in message.items()}


def _milliseconds(time: str) -> int:
    return (datetime.fromisoformat(time) - datetime.fromtimestamp(0, UTC)) // timedelta(milliseconds=1)


def message_text(message: Message) -> str:
    """Return a message in one short line, for a failed comparison."""
    return json.dumps(message, sort_keys=True)[:600]


def first_difference(expected: list[Message], found: list[Message]) -> str | None:
    """Say where two comparable streams part, None when they are equal."""
    for index, (wanted, got) in enumerate(zip(expected, found, strict=False)):
        if wanted != got:
            return f"message {index}:\n  expected {message_text(wanted)}\n  got      {message_text(got)}"
    if len(expected) != len(found):
        longer, index = (expected, len(found)) if len(expected) > len(found) else (found, len(expected))
        return f"{len(found)} messages, expected {len(expected)}; first: {message_text(longer[index])}"
    return None
