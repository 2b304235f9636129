"""Events of a round: betting, windows, decisions, the result and its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, TypeAlias

import msgspec

from controller.games.offers import HandOffer
from controller.games.published import Outcome, VoidedDeal, for_public
from controller.table.events.base import (
    AUDIT_ONLY,
    BETTING_ONLY,
    EVERYBODY,
    Audience,
    CardAt,
    Event,
    OpenedCard,
)


class RoundOpened(Event, frozen=True, kw_only=True, tag="round.opened"):
    """A round begins. `boxes` carry bets; `rules` and `procedures` are hashes of what is in force.

    Who deals, only the audit hears. `shoe` is the number of the one that serves many rounds: cards that are
    burned or wait in this round are opened when it closes.
    """

    audiences: ClassVar = EVERYBODY
    round_no: int
    game: str
    boxes: tuple[str, ...]
    rules: str
    procedures: str
    dealer: str | None = None
    shoe: int | None = None

    def seen_by(self, audience: Audience) -> Event:
        """Ids of people stay in the house."""
        return self if audience is Audience.AUDIT else msgspec.structs.replace(self, dealer=None)


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


class DecisionOpened(Event, frozen=True, kw_only=True, tag="decision.opened"):
    """A window of the players. It ends at `closes_at_us`, or earlier when nobody is undecided.

    `window` is the name by which answers and facts come in: the stage, in a later deal of the round with the
    number of the deal (`options/2`), so that an answer of an abandoned deal never counts in the next.
    """

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
    """A window ended. `ended_by` is `time`, `all_decided`, `cancel` or `redeal`."""

    window: str
    stage: str
    at_us: int
    ended_by: str


class ManualCard(msgspec.Struct, frozen=True):
    """Where a card lies that no scanner has read."""

    place: str
    n: int


class BoxVoided(Event, frozen=True, kw_only=True, tag="box.voided"):
    """A box is out of the round: all its wagers go back with the result (rows 23 and 24)."""

    box: str
    cell: str


class ResultProposed(Event, frozen=True, kw_only=True, tag="result.proposed"):
    """The engine's result, waiting for the dealer's RESULT. `outcome` has no wager rows here."""

    outcome: Outcome
    manual: tuple[ManualCard, ...] = ()


class RoundRedealt(Event, frozen=True, kw_only=True, tag="round.redealt"):
    """The deal is abandoned and the round dealt anew (OAB-24); `deal` is the number of the new deal.

    Antes, dark Bets and bonus stakes stand. Answers are void; what they cost comes back with the terminal
    event, whose `voided` lists it.
    """

    audiences: ClassVar = EVERYBODY
    deal: int
    reason: str
    incident: int
    place: str | None = None


class RoundConfirmed(Event, frozen=True, kw_only=True, tag="round.confirmed"):
    """The result is final. Wager rows go to everybody but the public.

    `voided` has the wagers of the deals that were abandoned (OAB-24); `manual` names the cards that two
    people have entered.
    """

    audiences: ClassVar = EVERYBODY
    rev: int
    outcome: Outcome
    voided: tuple[VoidedDeal, ...] = ()
    opened: tuple[OpenedCard, ...] = ()
    manual: tuple[ManualCard, ...] = ()

    def seen_by(self, audience: Audience) -> Event:
        """The public sees hands and comparison; the wallets no cards beyond the hands; audit sees all."""
        if audience is Audience.AUDIT:
            return self
        if audience is Audience.SETTLEMENT:
            return msgspec.structs.replace(self, opened=())
        told = msgspec.structs.replace(self, opened=self._without_closed())
        if audience is not Audience.PUBLIC:
            return told
        return msgspec.structs.replace(told, outcome=for_public(self.outcome), voided=())

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
    """Everything is refunded (RPL-73), bonus stakes too; a tombstone on the round id.

    `voided` has the wagers of the deals that were abandoned (OAB-24); they come back like all others.
    """

    audiences: ClassVar = EVERYBODY
    rev: int
    reason: str
    incident: int
    place: str | None = None
    refund: str = "all"
    voided: tuple[VoidedDeal, ...] = ()
    opened: tuple[OpenedCard, ...] = ()

    def seen_by(self, audience: Audience) -> Event:
        """The wallets need no cards, the public no wagers."""
        match audience:
            case Audience.SETTLEMENT:
                return msgspec.structs.replace(self, opened=())
            case Audience.PUBLIC:
                return msgspec.structs.replace(self, voided=())
            case _:
                return self


class CorrectionProposed(Event, frozen=True, kw_only=True, tag="correction.proposed"):
    """One person wants a result corrected; another one has to enter the same until `until_us`."""

    audiences: ClassVar = AUDIT_ONLY
    roundid: str
    rev: int
    reason: str
    by: str
    until_us: int


class CorrectionVoided(Event, frozen=True, kw_only=True, tag="correction.voided"):
    """A proposed correction counts no more: `cause` is `different` (both entries are void) or `withdrawn`."""

    audiences: ClassVar = AUDIT_ONLY
    roundid: str
    rev: int
    by: tuple[str, ...]
    cause: str


class RoundCorrected(Event, frozen=True, kw_only=True, tag="round.corrected"):
    """The result of a confirmed round, anew: revision `rev` replaces the one before (row 36).

    `cards` lay there as others than were read, since the first revision on; `refund` is `all` where every
    wager is refunded (RPL-74). `voided` and `manual` are those of `RoundConfirmed`. `by` are the two people,
    `digest` what both of them have entered.
    """

    audiences: ClassVar = EVERYBODY
    roundid: str
    rev: int
    reason: str
    cell: str
    incident: int
    outcome: Outcome
    voided: tuple[VoidedDeal, ...] = ()
    manual: tuple[ManualCard, ...] = ()
    cards: tuple[CardAt, ...] = ()
    refund: str | None = None
    by: tuple[str, ...] = ()
    digest: str | None = None

    def seen_by(self, audience: Audience) -> Event:
        """As of `RoundConfirmed`; the two people are named to the audit alone."""
        if audience is Audience.AUDIT:
            return self
        closed = {box.box for box in self.outcome.boxes if box.closed is not None}
        cards = tuple(card for card in self.cards if card.place not in closed)
        return msgspec.structs.replace(
            self,
            outcome=for_public(self.outcome) if audience is Audience.PUBLIC else self.outcome,
            voided=() if audience is Audience.PUBLIC else self.voided,
            cards=() if audience is Audience.SETTLEMENT else cards,
            by=(),
            digest=None,
        )


class RoundClosed(Event, frozen=True, kw_only=True, tag="round.closed"):
    """The last message of a revision. `count` and `digest` are over the audience's messages of it."""

    audiences: ClassVar = EVERYBODY
    rev: int


RoundEvent: TypeAlias = (
    RoundOpened
    | BettingOpened
    | BetsClosed
    | FactsSettled
    | DecisionOpened
    | HandsOffered
    | DecisionMade
    | DecisionClosed
    | BoxVoided
    | ResultProposed
    | RoundRedealt
    | RoundConfirmed
    | RoundCancelled
    | CorrectionProposed
    | CorrectionVoided
    | RoundCorrected
    | RoundClosed
)
