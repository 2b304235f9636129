"""What anybody can prove of a stream of messages: commitments, and what `round.closed` says of a round.

Commitments are HMACs with keys that are published later; counts and digests are folded from the exact
bytes. Neither needs the table's code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

import msgspec

from controller.bus.envelope import (
    GENESIS,
    Envelope,
    SealedRound,
    decode,
    event_of,
    folded_digest,
    message_hash,
)
from controller.bus.errors import MalformedMessage
from controller.games.procedure import BURN, HELD
from controller.table import events
from controller.table.commitments import commit, commitment_text
from controller.table.events import Audience, Event, OpenedCard


class Breach(StrEnum):
    """What a stream can break of what it has promised."""

    COMMITMENT = "COMMITMENT"
    """An opened card is not the one that was committed to, or was never committed to."""
    UNOPENED = "UNOPENED"
    """A round has ended and a commitment of it was not opened; or a shoe, and one of its rounds'."""
    COUNT = "COUNT"
    DIGEST = "DIGEST"
    TERMINAL = "TERMINAL"
    """A revision has not exactly one confirmed, cancelled or corrected before it is closed."""
    REVISION = "REVISION"
    """A correction does not follow the revision before it, or corrects a cancelled round."""
    MALFORMED = "MALFORMED"


class Broken(msgspec.Struct, frozen=True):
    """One promise that is broken, and the message that shows it."""

    breach: Breach
    message: str
    where: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.breach} {self.message} {self.where}: expected {self.expected}, got {self.got}"


class _Place(NamedTuple):
    """What a commitment is made for: card `n` of a place, in a deal, by a reading."""

    place: str
    n: int
    deal: int
    reading: int

    def __str__(self) -> str:
        return f"{self.place} card {self.n} (deal {self.deal}, reading {self.reading})"


class Proofs:
    """One audience's stream from a round's beginning on; `checked` counts the commitments that held."""

    def __init__(self, audience: Audience) -> None:
        self._audience = audience
        self._committed: dict[_Place, str] = {}
        self._opened: set[_Place] = set()
        self._sealed: dict[tuple[str, _Place], str] = {}
        """Commitments of earlier rounds that are opened when their shoe closes."""
        self._in_shoe = False
        self._is_whole = False
        self._terminals = 0
        self._count = 0
        self._digest = GENESIS
        self._revisions: dict[str, int] = {}
        """The last revision of each round heard of, 0 for a cancelled one."""
        self.checked = 0
        self.rounds = 0

    def take(self, messages: Sequence[bytes]) -> Iterator[Broken]:
        """Take the next messages of the stream and yield what they break."""
        for raw in messages:
            try:
                envelope = decode(raw)
                event = event_of(envelope)
            except MalformedMessage as error:
                yield Broken(Breach.MALFORMED, self._audience, "message", "a message", str(error))
                continue
            if isinstance(event, events.RoundOpened | events.RoundCorrected):
                self._begin()
                self._in_shoe = isinstance(event, events.RoundOpened) and event.shoe is not None
            if isinstance(event, events.ShoeClosed):
                yield from self._shoe_closed(envelope, event)
            if isinstance(event, SealedRound):
                yield from self._closed(envelope, event)
                continue
            self._count += 1
            self._digest = folded_digest(self._digest, message_hash(raw))
            if event is not None and self._is_whole:
                yield from self._in_round(envelope, event)

    def _begin(self) -> None:
        self._committed, self._opened = {}, set()
        self._is_whole = True
        self._terminals, self._count, self._digest = 0, 0, GENESIS

    def _in_round(self, envelope: Envelope, event: Event) -> Iterator[Broken]:
        match event:
            case events.CardDealt(commitment=str() as commitment):
                place = _Place(event.place, event.n, event.deal, event.reading)
                self._committed[place] = commitment
            case events.CardBurned(commitment=str() as commitment):
                self._committed[_Place(BURN, event.n, event.deal, 1)] = commitment
            case events.CardHeld():
                self._committed[_Place(HELD, event.n, event.deal, 1)] = event.commitment
            case events.CardsRevealed():
                yield from self._check(envelope, event.cards)
            case events.RoundCorrected():
                self._terminals += 1
                yield from self._corrected(envelope, event)
            case events.RoundConfirmed() | events.RoundCancelled():
                self._terminals += 1
                cancelled = isinstance(event, events.RoundCancelled)
                self._revisions[envelope.roundid or ""] = 0 if cancelled else event.rev
                if self._audience is not Audience.SETTLEMENT:
                    yield from self._check(envelope, event.opened)

    def _corrected(self, envelope: Envelope, event: events.RoundCorrected) -> Iterator[Broken]:
        """Revisions follow one another; a round from before the stream began is taken as it comes."""
        before = self._revisions.get(event.roundid, event.rev - 1)
        if before == 0 or event.rev != before + 1 or envelope.roundid != event.roundid:
            expected = "no correction of a cancelled round" if before == 0 else f"revision {before + 1}"
            yield Broken(Breach.REVISION, envelope.id, event.roundid, expected, f"revision {event.rev}")
        self._revisions[event.roundid] = event.rev

    def _check(self, envelope: Envelope, cards: tuple[OpenedCard, ...]) -> Iterator[Broken]:
        for card in cards:
            place = _Place(card.place, card.n, card.deal, card.reading)
            self._opened.add(place)
            if card.card is None or card.key is None:
                continue
            promised = self._committed.get(place, "no commitment")
            yield from self._compare(envelope, envelope.roundid or "", card, promised)

    def _compare(self, envelope: Envelope, roundid: str, card: OpenedCard, promised: str) -> Iterator[Broken]:
        got = opened_commitment(envelope.tableid, roundid, card)
        if got == promised:
            self.checked += 1
        else:
            place = _Place(card.place, card.n, card.deal, card.reading)
            yield Broken(Breach.COMMITMENT, envelope.id, str(place), promised, got)

    def _shoe_closed(self, envelope: Envelope, event: events.ShoeClosed) -> Iterator[Broken]:
        """What lay face down in the shoe's rounds is opened; rounds from before this stream can't be told."""
        for card in event.opened:
            place = _Place(card.place, card.n, card.deal, card.reading)
            promised = self._sealed.pop((card.roundid or "", place), None)
            if promised is not None:
                yield from self._compare(envelope, card.roundid or "", card, promised)
        for roundid, place in self._sealed:
            yield Broken(Breach.UNOPENED, envelope.id, f"{roundid} {place}", "an opened commitment", "none")
        self._sealed.clear()

    def _closed(self, envelope: Envelope, sealed: SealedRound) -> Iterator[Broken]:
        """Check a round's end; a stream that was joined in the middle of a round can't say."""
        if self._is_whole:
            self.rounds += sealed.rev == 1
            if sealed.count != self._count:
                yield Broken(Breach.COUNT, envelope.id, "count", str(self._count), str(sealed.count))
            if sealed.digest != self._digest:
                yield Broken(Breach.DIGEST, envelope.id, "digest", self._digest, sealed.digest)
            if self._terminals != 1:
                yield Broken(Breach.TERMINAL, envelope.id, "terminal events", "1", str(self._terminals))
            for place in self._committed.keys() - self._opened:
                if self._in_shoe and place.place in (BURN, HELD):
                    self._sealed[envelope.roundid or "", place] = self._committed[place]
                    continue
                yield Broken(Breach.UNOPENED, envelope.id, str(place), "an opened commitment", "none")
        self._begin()


def opened_commitment(table: str, roundid: str, card: OpenedCard) -> str:
    """Return the commitment that an opening leads to; a text that says why when it leads to none."""
    assert card.card is not None and card.key is not None, card
    text = commitment_text(
        table=table,
        roundid=roundid,
        deal=card.deal,
        place=card.place,
        n=card.n,
        reading=card.reading,
        card=card.card,
    )
    try:
        return commit(card.key, text)
    except ValueError:
        return "a key that is not hex"
