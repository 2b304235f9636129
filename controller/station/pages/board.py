"""What all views are drawn from: the newest picture, and the round as the public feed tells it.

Neither holds a face-down card. Pictures replace one another; messages are folded when somebody looks.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from controller.bus.envelope import decode, tag_of, type_of
from controller.bus.snapshot import Snapshot, apply
from controller.station.outbox import JournalOutbox
from controller.table.events import Audience, RoundOpened
from controller.table.picture import Picture

CHUNK = 200
LOOK_BACK_MAX = 4_000
"""So many messages are looked through for the opening of the last round; the longest has a few hundred."""
WAITING_MAX = 1_000
OPENING = f'"type":"{type_of(tag_of(RoundOpened))}"'.encode()


class Board:
    """The table now. `version` counts pictures; `moment` counts what a press can mean."""

    def __init__(self, snapshot: Snapshot, picture: Picture) -> None:
        """`snapshot` is the public one after the last durable message, `picture` the newest."""
        self.picture = picture
        self.version = 1
        self.moment = 1
        self._snapshot = snapshot
        self._waiting: list[bytes] = []

    def take(self, picture: Picture, messages: Sequence[bytes]) -> None:
        """Take the newest picture, and the public messages of the same step."""
        self._waiting.extend(messages)
        if len(self._waiting) > WAITING_MAX:
            self._fold()
        if _meaning(picture) != _meaning(self.picture):
            self.moment += 1
        self.picture = picture
        self.version += 1

    @property
    def snapshot(self) -> Snapshot:
        """The table as the public has heard it by now."""
        self._fold()
        return self._snapshot

    def _fold(self) -> None:
        waiting, self._waiting = self._waiting, []
        for message in waiting:
            self._snapshot = apply(self._snapshot, message)


def _meaning(picture: Picture) -> tuple[object, ...]:
    """Return what a press is an answer to: the same button means another thing once this has changed."""
    prompt = picture.prompt
    return (
        picture.epoch,
        picture.round_no,
        picture.deal,
        picture.phase,
        (prompt.code, prompt.place, prompt.n, prompt.incident),
        picture.lies,
        picture.window,
        picture.correction,
    )


def last_round(outbox: JournalOutbox, table: str) -> Snapshot:
    """Return the public snapshot after the last durable message, folded from the last round's opening."""
    audience = Audience.PUBLIC
    last, oldest = outbox.last_seq(audience), outbox.first_seq(audience)
    first = last + 1
    found: list[bytes] = []
    while first > oldest and len(found) < LOOK_BACK_MAX:
        start = max(oldest, first - CHUNK)
        chunk = [raw for _, raw in outbox.messages(audience, start, first - start)]
        found, first = [*chunk, *found], start
        opened = [index for index, raw in enumerate(chunk) if OPENING in raw]
        if opened:
            found, first = found[opened[-1] :], start + opened[-1]
            break
    snapshot = Snapshot(table=table, audience=audience)
    if found:
        snapshot = msgspec.structs.replace(snapshot, seq=first - 1, hash=decode(found[0]).prevhash)
    else:
        head = outbox.starts(table)[audience]
        snapshot = msgspec.structs.replace(snapshot, seq=head.seq, hash=head.hash)
    for raw in found:
        snapshot = apply(snapshot, raw)
    return snapshot
