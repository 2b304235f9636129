"""Events: what the table says has happened, and who may hear it.

An event names its audiences in its class; where one audience may know less, `seen_by` says so in the
class too, so that one file answers the question "who learns this card?". Face-down cards appear in no
event before they are turned, with one exception: `CardShown`, to bettors who paid to see it (RPL-17).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, TypeAlias

import msgspec

from controller.games.offers import HandOffer
from controller.games.procedure import Face
from controller.games.published import Outcome, for_public
from controller.games.russian_live import EvaluatedHand


class Audience(StrEnum):
    """The numbered streams of the bus. Each has its own counter and chain."""

    PUBLIC = "public"
    BETTING = "betting"
    SETTLEMENT = "settlement"
    AUDIT = "audit"


AUDIENCES: tuple[Audience, ...] = tuple(Audience)
EVERYBODY = frozenset(Audience)
SHOW = frozenset({Audience.PUBLIC, Audience.BETTING, Audience.AUDIT})
BETTING_ONLY = frozenset({Audience.BETTING})
AUDIT_ONLY = frozenset({Audience.AUDIT})


class Refusal(StrEnum):
    """Why an input was not accepted. The prompt on the page says what to do instead."""

    WRONG_PHASE = "WRONG_PHASE"
    """Nothing in this phase takes that input."""
    HELD = "HELD"
    """An incident is open; cards and confirmations wait until it is closed."""
    NOT_OWED = "NOT_OWED"
    """Another place, card or press is due."""
    TOO_LATE = "TOO_LATE"
    """The window, or the time for a correction, is over."""
    TOO_EARLY = "TOO_EARLY"
    STALE_TIMER = "STALE_TIMER"
    WRONG_ROLE = "WRONG_ROLE"
    SAME_PERSON = "SAME_PERSON"
    """Another person than the one who reported must press this."""
    NO_INCIDENT = "NO_INCIDENT"
    WRONG_INCIDENT = "WRONG_INCIDENT"
    WRONG_WINDOW = "WRONG_WINDOW"
    WRONG_DECISION = "WRONG_DECISION"
    """Not an action of this window, or positions that no exchange has."""
    ALREADY_DECIDED = "ALREADY_DECIDED"
    NOT_ITS_TURN = "NOT_ITS_TURN"
    """An earlier box decides first (OAB-14)."""
    WRONG_COUNT = "WRONG_COUNT"
    UNKNOWN_PLACE = "UNKNOWN_PLACE"
    UNKNOWN_SCANNER = "UNKNOWN_SCANNER"
    SCANNER_DOWN = "SCANNER_DOWN"
    EXPIRED_REQUEST = "EXPIRED_REQUEST"
    OTHER_REQUEST = "OTHER_REQUEST"
    """The request id was used for another command."""


class IncidentKind(StrEnum):
    """What went wrong. The row of the procedures' table is in `cell`."""

    FAILED_READ = "FAILED_READ"
    DISPUTED_READ = "DISPUTED_READ"
    SAME_CODE_AGAIN = "SAME_CODE_AGAIN"
    FOREIGN_CARD = "FOREIGN_CARD"
    EARLY_DRAW = "EARLY_DRAW"
    SURPLUS_CARD = "SURPLUS_CARD"
    LATE_CARD = "LATE_CARD"
    CANCEL_REPORTED = "CANCEL_REPORTED"
    SCANNER_LOST = "SCANNER_LOST"
    WRONG_FACT = "WRONG_FACT"
    RESTARTED = "RESTARTED"


class Verdict(StrEnum):
    """How an incident was decided."""

    RESCANNED = "RESCANNED"
    DUPLICATE_READ = "DUPLICATE_READ"
    BURNED = "BURNED"
    CANCELLED = "CANCELLED"
    WITHDRAWN = "WITHDRAWN"
    WENT_ON = "WENT_ON"
    DECK_CHECK = "DECK_CHECK"
    SHUFFLE_AGAIN = "SHUFFLE_AGAIN"
    REFUND = "REFUND"


class OpenedCard(msgspec.Struct, frozen=True, omit_defaults=True):
    """The opening of one commitment: card `n` of `place`, and the key of its HMAC.

    `card` is None, and `closed_by` the rule, where the rules never publish it.
    """

    place: str
    n: int
    deal: int
    reading: int
    card: str | None
    key: str | None
    closed_by: str | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", omit_defaults=True):
    """Base of all events."""

    audiences: ClassVar[frozenset[Audience]] = SHOW

    def seen_by(self, audience: Audience) -> Event | None:
        """Return what `audience` is told of this event; None when it is not concerned."""
        return self if audience in self.audiences else None


class ControllerStarted(Event, frozen=True, kw_only=True, tag="controller.started"):
    """A process runs the table from here on, under a new epoch."""

    audiences: ClassVar = AUDIT_ONLY
    epoch: int
    program: str
    rules: str
    documents: tuple[str, ...]


class TableOpened(Event, frozen=True, kw_only=True, tag="table.opened"):
    """The table is live; a deck check comes first."""

    audiences: ClassVar = EVERYBODY - {Audience.SETTLEMENT}


class TableClosed(Event, frozen=True, kw_only=True, tag="table.closed"):
    """The table is off."""


class DeckVerified(Event, frozen=True, kw_only=True, tag="deck.verified"):
    """The deck was verified in view of the camera (RPL-76)."""

    count: int


class DeckShuffled(Event, frozen=True, kw_only=True, tag="deck.shuffled"):
    """The deck is shuffled, cut and in the shoe (RPL-77)."""

    repeat: bool = False


class RoundOpened(Event, frozen=True, kw_only=True, tag="round.opened"):
    """A round begins. `boxes` carry bets; `rules` is the hash of the settings in force."""

    audiences: ClassVar = EVERYBODY
    round_no: int
    game: str
    boxes: tuple[str, ...]
    rules: str


class BettingOpened(Event, frozen=True, kw_only=True, tag="betting.opened"):
    """The betting lease: bets end at `closes_at_us`, or `duration_ms` after receipt if that is earlier."""

    audiences: ClassVar = EVERYBODY
    window: str
    prompt: str
    duration_ms: int
    closes_at_us: int
    guard_ms: int
    grace_ms: int


class BetsClosed(Event, frozen=True, kw_only=True, tag="bets.closed"):
    """No more bets. `ended_by` is `time`, `dealer` or `cancel`."""

    audiences: ClassVar = EVERYBODY
    window: str
    prompt: str
    at_us: int
    ended_by: str


class FactsSettled(Event, frozen=True, kw_only=True, tag="facts.settled"):
    """The facts of a window are final. What was not told is None."""

    audiences: ClassVar = AUDIT_ONLY
    window: str
    acknowledged: bool
    boxes: Mapping[str, str] | None = None
    in_play: bool | None = None
    anyone_drew: bool | None = None
    anyone_bought: bool | None = None


class CardDealt(Event, frozen=True, kw_only=True, tag="card.dealt"):
    """Card `n` of `place` lies. Face up it has a `card`, face down a `commitment`."""

    place: str
    n: int
    face: Face
    deal: int
    reading: int
    card: str | None = None
    commitment: str | None = None


class CardShown(Event, frozen=True, kw_only=True, tag="card.shown"):
    """The card that its buyers may see while it lies face down. It never leaves the betting audience."""

    audiences: ClassVar = BETTING_ONLY
    place: str
    n: int
    reading: int
    card: str


class CardWithdrawn(Event, frozen=True, kw_only=True, tag="card.withdrawn"):
    """The last card of `place` does not lie there (any more): its reading was wrong, or it was surplus."""

    place: str
    n: int
    reading: int
    reason: IncidentKind


class CardBurned(Event, frozen=True, kw_only=True, tag="card.burned"):
    """A card went out of the deck, face down. `n` counts the burned cards of the round."""

    n: int
    deal: int
    reason: IncidentKind
    commitment: str


class CardsRevealed(Event, frozen=True, kw_only=True, tag="card.revealed"):
    """The cards of `place` were turned; their commitments are opened."""

    place: str
    cards: tuple[OpenedCard, ...]


class CardLaidAside(Event, frozen=True, kw_only=True, tag="card.laid_aside"):
    """Card `n` of `place` lies face down beside the hand (RPL-34)."""

    place: str
    n: int


class HandEvaluated(Event, frozen=True, kw_only=True, tag="hand.evaluated"):
    """What the face-up cards of `place` are worth."""

    place: str
    hand: EvaluatedHand


class DecisionOpened(Event, frozen=True, kw_only=True, tag="decision.opened"):
    """A window of the players. It ends at `closes_at_us`, or earlier when nobody is undecided."""

    window: str
    stage: str
    boxes: tuple[str, ...]
    actions: tuple[str, ...]
    prices_in_antes: Mapping[str, str]
    opened_at_us: int
    closes_at_us: int
    duration_ms: int
    guard_ms: int
    grace_ms: int


class HandsOffered(Event, frozen=True, kw_only=True, tag="hands.offered"):
    """What each choice of the window is worth (RPL-82), for the betting system alone."""

    audiences: ClassVar = BETTING_ONLY
    window: str
    hands: tuple[HandOffer, ...]


class DecisionMade(Event, frozen=True, kw_only=True, tag="decision.made"):
    """A box has decided; `action` None is its silence, judged by the rules of the game."""

    window: str
    box: str
    action: str | None
    positions: tuple[int, ...] = ()


class DecisionClosed(Event, frozen=True, kw_only=True, tag="decision.closed"):
    """A window ended. `ended_by` is `time`, `all_decided` or `cancel`."""

    window: str
    stage: str
    at_us: int
    ended_by: str


class ResultProposed(Event, frozen=True, kw_only=True, tag="result.proposed"):
    """The engine's result, waiting for the dealer's RESULT. `outcome` has no wager rows here."""

    outcome: Outcome


class RoundConfirmed(Event, frozen=True, kw_only=True, tag="round.confirmed"):
    """The result is final. Wager rows go to everybody but the public."""

    audiences: ClassVar = EVERYBODY
    rev: int
    outcome: Outcome
    opened: tuple[OpenedCard, ...] = ()

    def seen_by(self, audience: Audience) -> Event:
        """The public sees hands and comparison; the wallets no cards beyond the hands; audit sees all."""
        if audience is Audience.AUDIT:
            return self
        outcome = for_public(self.outcome) if audience is Audience.PUBLIC else self.outcome
        opened = () if audience is Audience.SETTLEMENT else self._without_closed()
        return msgspec.structs.replace(self, outcome=outcome, opened=opened)

    def _without_closed(self) -> tuple[OpenedCard, ...]:
        """Name hands that the rules never publish, and leave them closed (OAB-05, GOA-10)."""
        closed = {box.box: box.closed for box in self.outcome.boxes if box.closed is not None}
        return tuple(
            msgspec.structs.replace(card, card=None, key=None, closed_by=closed[card.place])
            if card.place in closed
            else card
            for card in self.opened
        )


class RoundCancelled(Event, frozen=True, kw_only=True, tag="round.cancelled"):
    """Everything is refunded (RPL-73), bonus stakes too; a tombstone on the round id."""

    audiences: ClassVar = EVERYBODY
    rev: int
    reason: str
    incident: int
    place: str | None = None
    refund: str = "all"
    opened: tuple[OpenedCard, ...] = ()

    def seen_by(self, audience: Audience) -> Event:
        """The wallets need no cards."""
        return msgspec.structs.replace(self, opened=()) if audience is Audience.SETTLEMENT else self


class RoundClosed(Event, frozen=True, kw_only=True, tag="round.closed"):
    """The last message of a revision. `count` and `digest` are over the audience's messages of it."""

    audiences: ClassVar = EVERYBODY
    rev: int


class IncidentOpened(Event, frozen=True, kw_only=True, tag="incident.opened"):
    """The table holds. `cell` names the row of the procedure profile; `prompt` the text to show.

    `reason` is the one that a person has reported.
    """

    incident: int
    kind: IncidentKind
    cell: str
    place: str | None = None
    n: int | None = None
    reason: str | None = None
    prompt: str
    stops_betting: bool = False

    def seen_by(self, audience: Audience) -> Event | None:
        """The wallets hear of incidents that stop betting."""
        return self if self.stops_betting or audience is not Audience.SETTLEMENT else None


class IncidentAsked(Event, frozen=True, kw_only=True, tag="incident.asked"):
    """The open incident waits for something else now; `prompt` replaces its text."""

    incident: int
    prompt: str


class IncidentDecided(Event, frozen=True, kw_only=True, tag="incident.decided"):
    """Who decided what, on which cell. `by` is None where the cell needs no press."""

    audiences: ClassVar = AUDIT_ONLY
    incident: int
    cell: str
    verdict: Verdict
    by: str | None = None
    reason: str | None = None


class IncidentClosed(Event, frozen=True, kw_only=True, tag="incident.closed"):
    """The incident is over."""

    audiences: ClassVar = EVERYBODY
    incident: int
    kind: IncidentKind
    stops_betting: bool = False

    def seen_by(self, audience: Audience) -> Event | None:
        """The wallets hear of the end of what they heard the beginning of."""
        return self if self.stops_betting or audience is not Audience.SETTLEMENT else None


class InputAccepted(Event, frozen=True, kw_only=True, tag="press.accepted"):
    """A press or a fact was taken."""

    audiences: ClassVar = AUDIT_ONLY
    request: str
    actor: str
    role: str
    command: str


class InputRefused(Event, frozen=True, kw_only=True, tag="input.refused"):
    """An input was not taken. No card and no code is ever named here."""

    audiences: ClassVar = AUDIT_ONLY
    input: str
    reason: Refusal
    actor: str | None = None
    request: str | None = None


class ScannerChanged(Event, frozen=True, kw_only=True, tag="scanner.changed"):
    """A scanner came up or went down."""

    audiences: ClassVar = AUDIT_ONLY
    scanner: str
    up: bool
    reason: str | None = None


AnyEvent: TypeAlias = (
    ControllerStarted
    | TableOpened
    | TableClosed
    | DeckVerified
    | DeckShuffled
    | RoundOpened
    | BettingOpened
    | BetsClosed
    | FactsSettled
    | CardDealt
    | CardShown
    | CardWithdrawn
    | CardBurned
    | CardsRevealed
    | CardLaidAside
    | HandEvaluated
    | DecisionOpened
    | HandsOffered
    | DecisionMade
    | DecisionClosed
    | ResultProposed
    | RoundConfirmed
    | RoundCancelled
    | RoundClosed
    | IncidentOpened
    | IncidentAsked
    | IncidentDecided
    | IncidentClosed
    | InputAccepted
    | InputRefused
    | ScannerChanged
)


def encode_events(events: tuple[Event, ...]) -> bytes:
    """Return the events as a JSON array, the form in which the journal keeps them."""
    return _ENCODER.encode(events)


_ENCODER = msgspec.json.Encoder(order="deterministic")
