"""Snapshots: what one audience knows of the table, as a pure fold of its messages and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from controller.bus.envelope import GENESIS, Envelope, decode, event_of, message_hash
from controller.bus.errors import UNREADABLE, ChainBroken, MalformedMessage
from controller.cards import PrintedCard
from controller.games.offers import HandOffer
from controller.games.procedure import Decision, Face
from controller.games.published import Outcome, for_public
from controller.games.russian_live import EvaluatedHand
from controller.table import events
from controller.table.events import Audience, Event, OpenedCard


class LaidCard(msgspec.Struct, frozen=True, omit_defaults=True):
    """Card `n` of a place. `card` is None while this audience does not know it."""

    n: int
    face: Face
    card: PrintedCard | None = None
    commitment: str | None = None
    laid_aside: bool = False
    manual: bool = False
    reading: int = 1


class WindowState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A window of this round. It is open while `ended_by` is None."""

    window: str
    stage: str
    duration_ms: int
    closes_at_us: int
    guard_ms: int
    grace_ms: int
    boxes: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    prices_in_antes: Mapping[str, str] = {}
    hands: tuple[HandOffer, ...] = ()
    decisions: Mapping[str, Decision] = {}
    """What each box has decided, where its cards depend on it."""
    ended_at_us: int | None = None
    ended_by: str | None = None


class IncidentState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The open incident and the text to show."""

    incident: int
    kind: str
    cell: str
    prompt: str
    place: str | None = None
    n: int | None = None


class LastOutcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the last round ended. `outcome` is the result as the public sees it, None if cancelled.

    `rev` above 1: it was corrected, and `refund` is `all` if every wager is refunded by that.
    `message` is the id of the terminal message, which has what this audience may know beyond it.
    """

    message: str
    roundid: str | None
    rev: int
    cancelled: str | None = None
    outcome: Outcome | None = None
    refund: str | None = None


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The table after message `seq`, whose hash is `hash`. The board is that of the round last opened."""

    table: str
    audience: Audience
    source: str = ""
    epoch: int = 0
    seq: int = 0
    hash: str = GENESIS
    time: str = ""
    phase: str = ""
    rules: str = ""
    roundid: str | None = None
    rev: int | None = None
    round_no: int = 0
    deal: int = 1
    """Which deal of the round lies on the board; more than 1 after a redeal."""
    game: str = ""
    boxes: tuple[str, ...] = ()
    windows: tuple[WindowState, ...] = ()
    prompt: str | None = None
    places: Mapping[str, tuple[LaidCard, ...]] = {}
    hands: Mapping[str, EvaluatedHand] = {}
    burned: int = 0
    held: int = 0
    """Cards that came out too early and wait, face down."""
    voided: tuple[str, ...] = ()
    """Boxes that were taken out of the round."""
    incidents: tuple[IncidentState, ...] = ()
    """Open ones, the newest last; it is the one that people are asked about."""
    proposed: Outcome | None = None
    last: LastOutcome | None = None
    dealer: str | None = None
    """The name of the dealer that players see."""
    paused: str | None = None
    """Why the table pauses."""
    blocked: bool = False

    @property
    def incident(self) -> IncidentState | None:
        """The newest open incident."""
        return self.incidents[-1] if self.incidents else None

    def open_window(self) -> WindowState | None:
        """Return the window in which players may still act by what this audience has heard."""
        running = [window for window in self.windows if window.ended_by is None]
        return running[-1] if running else None


Places: TypeAlias = Mapping[str, tuple[LaidCard, ...]]


def apply(snapshot: Snapshot, message: bytes) -> Snapshot:
    """Return the snapshot after the audience's next message. An unknown type moves the header alone.

    Raises ChainBroken when it is not the next message, and MalformedMessage.
    """
    envelope = decode(message)
    if envelope.seq != snapshot.seq + 1 or envelope.prevhash != snapshot.hash:
        raise ChainBroken(
            f"{envelope.id}: number {envelope.seq} on {envelope.prevhash[:12]}, "
            f"expected {snapshot.seq + 1} on {snapshot.hash[:12]}"
        )
    headed = replace(
        snapshot,
        source=envelope.source,
        epoch=envelope.epoch,
        seq=envelope.seq,
        hash=message_hash(message),
        time=envelope.time,
        phase=envelope.phase,
        rules=envelope.rules,
        roundid=envelope.roundid,
        rev=envelope.rev,
    )
    event = event_of(envelope)
    return headed if event is None else _told(headed, envelope, event)


def fold(snapshot: Snapshot, messages: Iterable[bytes]) -> Snapshot:
    """Return the snapshot after all `messages`, in order. Raises as `apply` does."""
    for message in messages:
        snapshot = apply(snapshot, message)
    return snapshot


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """Return the JSON that the replay server serves; equal snapshots give equal bytes."""
    return _ENCODER.encode(snapshot)


def decode_snapshot(raw: bytes) -> Snapshot:
    """Read a served snapshot, ignoring unknown fields. Raises MalformedMessage."""
    try:
        return _DECODER.decode(raw)
    except UNREADABLE as error:
        raise MalformedMessage(f"snapshot of {len(raw)} bytes: {error}") from error


def _told(now: Snapshot, envelope: Envelope, event: Event) -> Snapshot:
    match event:
        case events.RoundOpened():
            return _fresh_round(now, event)
        case events.BettingOpened() | events.DecisionOpened():
            return _window_opened(now, event)
        case events.HandsOffered():
            return _window_changed(now, event.window, hands=event.hands)
        case events.DecisionMade():
            return _decided(now, event)
        case events.BetsClosed():
            ended = _window_changed(now, event.window, ended_at_us=event.at_us, ended_by=event.ended_by)
            return replace(ended, prompt=event.prompt)
        case events.DecisionClosed():
            return _window_changed(now, event.window, ended_at_us=event.at_us, ended_by=event.ended_by)
        case events.IncidentOpened():
            return replace(now, incidents=(*now.incidents, _incident(event)))
        case events.IncidentAsked():
            asked = (
                replace(state, cell=event.cell, prompt=event.prompt, place=event.place, n=event.n)
                if state.incident == event.incident
                else state
                for state in now.incidents
            )
            return replace(now, incidents=tuple(asked))
        case events.IncidentClosed():
            left = tuple(state for state in now.incidents if state.incident != event.incident)
            return replace(now, incidents=left)
        case events.RoundRedealt():
            return _dealt_anew(now, event)
        case events.ResultProposed():
            return replace(now, proposed=event.outcome)
        case events.RoundConfirmed() | events.RoundCancelled():
            opened = replace(now, places=_opened(now, event.opened))
            return replace(opened, last=_last_outcome(envelope, event))
        case events.RoundCorrected():
            return _corrected(now, envelope, event)
        case events.BoxVoided():
            return replace(now, voided=(*now.voided, event.box))
        case events.HandEvaluated():
            return replace(now, hands={**now.hands, event.place: event.hand})
        case _:
            return _card_moved(now, event)


def _card_moved(now: Snapshot, event: Event) -> Snapshot:
    """Fold what happens to single cards; everything else leaves the board as it is."""
    match event:
        case events.CardDealt():
            laid = LaidCard(
                event.n,
                event.face,
                event.card,
                event.commitment,
                manual=event.manual,
                reading=event.reading,
            )
            cards = sorted((*now.places.get(event.place, ()), laid), key=lambda card: card.n)
            held = now.held if event.held is None else now.held - 1
            return replace(now, places={**now.places, event.place: tuple(cards)}, held=held)
        case events.CardShown():
            return replace(now, places=_card_changed(now.places, event.place, event.n, card=event.card))
        case events.CardLaidAside():
            return replace(now, places=_card_changed(now.places, event.place, event.n, laid_aside=True))
        case events.CardWithdrawn():
            left = tuple(laid for laid in now.places.get(event.place, ()) if laid.n != event.n)
            return replace(now, places={**now.places, event.place: left})
        case events.CardBurned():
            return replace(now, burned=event.n)
        case events.CardHeld():
            return replace(now, held=now.held + 1)
        case events.CardsRevealed():
            places = _opened(now, event.cards)
            for card in event.cards:
                places = _card_changed(places, card.place, card.n, face=Face.UP)
            return replace(now, places=places)
        case _:
            return _halted(now, event)


def _halted(now: Snapshot, event: Event) -> Snapshot:
    """Fold who deals, and what keeps the next round from opening."""
    match event:
        case events.DealerChanged():
            return replace(now, dealer=event.name)
        case events.TableBlocked():
            return replace(now, blocked=True)
        case events.TableUnblocked():
            return replace(now, blocked=False)
        case events.TablePaused():
            return replace(now, paused=event.reason)
        case events.TableResumed() | events.TableClosed():
            return replace(now, paused=None)
        case _:
            return now


def _fresh_round(now: Snapshot, event: events.RoundOpened) -> Snapshot:
    """Clear the board. No round opens over an open incident, so an unclosed one was not ours to hear."""
    return replace(
        now,
        round_no=event.round_no,
        deal=1,
        game=event.game,
        boxes=event.boxes,
        windows=(),
        prompt=None,
        places={},
        hands={},
        burned=0,
        held=0,
        voided=(),
        incidents=(),
        proposed=None,
    )


def _dealt_anew(now: Snapshot, event: events.RoundRedealt) -> Snapshot:
    """Clear the board of the abandoned deal; of the windows betting time stands, with the bets (OAB-24)."""
    betting = tuple(window for window in now.windows if window.stage == "betting")
    return replace(
        now,
        deal=event.deal,
        windows=betting,
        places={},
        hands={},
        burned=0,
        held=0,
        voided=(),
        proposed=None,
    )


def _window_opened(now: Snapshot, event: events.BettingOpened | events.DecisionOpened) -> Snapshot:
    decision = event if isinstance(event, events.DecisionOpened) else None
    opened = WindowState(
        window=event.window,
        stage=decision.stage if decision else "betting",
        duration_ms=event.duration_ms,
        closes_at_us=event.closes_at_us,
        guard_ms=event.guard_ms,
        grace_ms=event.grace_ms,
        boxes=decision.boxes if decision else now.boxes,
        actions=decision.actions if decision else (),
        prices_in_antes=decision.prices_in_antes if decision else {},
    )
    prompt = event.prompt if isinstance(event, events.BettingOpened) else now.prompt
    return replace(now, windows=(*now.windows, opened), prompt=prompt)


def _decided(now: Snapshot, event: events.DecisionMade) -> Snapshot:
    known = next((state.decisions for state in now.windows if state.window == event.window), {})
    decided = {**known, event.box: Decision(event.action, event.positions)}
    return _window_changed(now, event.window, decisions=decided)


def _window_changed(now: Snapshot, window: str, **changes: Any) -> Snapshot:
    windows = tuple(replace(state, **changes) if state.window == window else state for state in now.windows)
    return replace(now, windows=windows)


def _incident(event: events.IncidentOpened) -> IncidentState:
    return IncidentState(
        incident=event.incident,
        kind=event.kind,
        cell=event.cell,
        prompt=event.prompt,
        place=event.place,
        n=event.n,
    )


def _last_outcome(envelope: Envelope, event: events.RoundConfirmed | events.RoundCancelled) -> LastOutcome:
    if isinstance(event, events.RoundCancelled):
        return LastOutcome(
            message=envelope.id, roundid=envelope.roundid, rev=event.rev, cancelled=event.reason
        )
    return LastOutcome(
        message=envelope.id, roundid=envelope.roundid, rev=event.rev, outcome=for_public(event.outcome)
    )


def _corrected(now: Snapshot, envelope: Envelope, event: events.RoundCorrected) -> Snapshot:
    """An older round than the last one changes nothing of what lies here."""
    if now.last is None or now.last.roundid != event.roundid:
        return now
    last = LastOutcome(
        message=envelope.id,
        roundid=event.roundid,
        rev=event.rev,
        outcome=for_public(event.outcome),
        refund=event.refund,
    )
    places = now.places
    for card in event.cards:
        places = _card_changed(places, card.place, card.n, card=card.card)
    return replace(now, last=last, places=places)


def _opened(now: Snapshot, cards: tuple[OpenedCard, ...]) -> Places:
    """Name the cards on the board whose commitments were opened.

    A card the rules never publish stays unnamed; one of an abandoned deal, or of a withdrawn reading, does
    not lie there any more.
    """
    places = now.places
    for opened in cards:
        laid = (card for card in places.get(opened.place, ()) if card.n == opened.n)
        lies = opened.deal == now.deal and any(card.reading == opened.reading for card in laid)
        if lies and opened.card is not None:
            places = _card_changed(places, opened.place, opened.n, card=opened.card)
    return places


def _card_changed(places: Places, place: str, n: int, **changes: Any) -> Places:
    cards = places.get(place)
    if cards is None:
        return places
    changed = tuple(replace(laid, **changes) if laid.n == n else laid for laid in cards)
    return {**places, place: changed}


_ENCODER = msgspec.json.Encoder(order="deterministic")
_DECODER = msgspec.json.Decoder(Snapshot)
