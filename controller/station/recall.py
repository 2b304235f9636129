"""Recall: one round out of a journal, told so that a pit boss or an arbiter can judge a dispute.

Only events are read, never inputs, and a round only when it has ended: nothing is told here that the
round has not opened itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from controller.bus.envelope import decode
from controller.games.procedure import BURN, HELD
from controller.games.published import VoidedDeal
from controller.journal import Days, Reader, Step
from controller.station.errors import StationError
from controller.station.proofs import opened_commitment
from controller.station.recalled_corrections import RecalledCorrection, corrections_of, is_correction
from controller.station.replay import ROUND_ENDED, ROUND_OPENED
from controller.station.result_groups import Result, in_groups
from controller.table import events
from controller.table.events import AnyEvent, OpenedCard

NOT_TOLD = "not told"


class RoundStillOpen(StationError):
    """The round has not ended; its face-down cards stay where they are."""


class Press(msgspec.Struct, frozen=True, omit_defaults=True):
    """A press or a fact, or an input that was refused (`refused` says why)."""

    at_us: int
    what: str
    actor: str | None = None
    role: str | None = None
    refused: str | None = None


class RecalledWindow(msgspec.Struct, omit_defaults=True):
    """A window: opened, to close at, ended at and by what, and the facts told for it (None: not told)."""

    window: str
    opened_at_us: int
    closes_at_us: int
    ended_at_us: int | None = None
    ended_by: str | None = None
    acknowledged: bool = False
    facts: dict[str, str] = {}


class RecalledCard(msgspec.Struct, omit_defaults=True):
    """A card that left the shoe. `commitment` and `opened_at_us` are there if it lay face down.

    `card` is None where it was never opened, `closed_by` names the rule then. `fate` is `played`,
    `withdrawn` (a wrong reading, or taken back as surplus), `burned`, `held`, or `abandoned` with its deal;
    with the reason.
    `checked` tells whether card and key lead to the commitment; None while it has none. `entered_by` are
    the two people who said which card it is, where no scanner could read it.
    """

    at_us: int
    place: str
    n: int
    deal: int
    reading: int
    face: str
    card: str | None = None
    commitment: str | None = None
    opened_at_us: int | None = None
    closed_by: str | None = None
    checked: bool | None = None
    fate: str = "played"
    reason: str | None = None
    entered_by: tuple[str, ...] = ()


class RecalledIncident(msgspec.Struct, omit_defaults=True):
    """An incident from its opening to its close. `decided_by` None: the cell needs no press."""

    incident: int
    at_us: int
    kind: str
    cell: str
    prompt: str
    place: str | None = None
    n: int | None = None
    verdict: str | None = None
    decided_by: str | None = None
    reason: str | None = None
    closed_at_us: int | None = None


class Redealt(msgspec.Struct, frozen=True, omit_defaults=True):
    """The round was dealt anew; `deal` is the number of the deal that began (OAB-24)."""

    at_us: int
    deal: int
    reason: str
    incident: int
    place: str | None = None


class Cancelled(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why the round was cancelled, and what is refunded."""

    reason: str
    refund: str
    incident: int
    place: str | None = None


class Sealed(msgspec.Struct, frozen=True):
    """How many messages of an audience the round has, and their digest, as `round.closed` says."""

    count: int
    digest: str


class Recalled(msgspec.Struct, omit_defaults=True):
    """One round. Times are microseconds since 1970; `steps` are the journal's, first and last."""

    table: str
    roundid: str
    round_no: int
    game: str
    rules: str
    journal: str
    steps: tuple[int, int]
    opened_at_us: int
    ended_at_us: int = 0
    dealers: list[str] = []
    """Who dealt it; more than one after a change inside the round."""
    bets: dict[str, str] = {}
    windows: list[RecalledWindow] = []
    cards: list[RecalledCard] = []
    turned: list[tuple[int, str]] = []
    laid_aside: list[tuple[int, str, int]] = []
    incidents: list[RecalledIncident] = []
    redeals: list[Redealt] = []
    presses: list[Press] = []
    is_in_shoe: bool = False
    """Dealt out of a shoe that serves many rounds."""
    restarts: list[int] = []
    result: Result | None = None
    cancelled: Cancelled | None = None
    voided: tuple[VoidedDeal, ...] = ()
    """What comes back of the deals that were abandoned."""
    sealed: dict[str, Sealed] = {}
    corrections: list[RecalledCorrection] = []
    """The revisions after the first one, of later days too."""

    @property
    def commitments(self) -> tuple[int, int]:
        """How many commitments there were, and how many of them were opened and hold.

        Out of a shoe that goes on the burned cards stay closed; when it closes they are no part of a round.
        """
        closed = (BURN, HELD) if self.is_in_shoe else ()
        bound = [card for card in self.cards if card.commitment is not None]
        bound = [card for card in bound if card.opened_at_us is not None or card.place not in closed]
        return len(bound), sum(card.checked is True for card in bound)


def recall(where: Path, wanted: str) -> Recalled:
    """Return one round, by number or id, from a journal file or a table's folder.

    Raises RoundStillOpen while it is open, StationError when it is not there, JournalError.
    """
    seen: list[str] = []
    for path in reversed(Days(where).paths()) if where.is_dir() else (where,):
        with Reader.open(path) as reader:
            steps = _steps_of(reader, wanted, seen)
            if steps:
                return _tell(path, steps)
    known = f"it holds {seen[0]} to {seen[-1]}" if seen else "it holds no round"
    raise StationError(f"{where}: no round {wanted}; {known}")


def _steps_of(reader: Reader, wanted: str, seen: list[str]) -> list[Step]:
    """Return the steps of a round, up to its end; what follows it until the next round goes with it."""
    found: list[Step] = []
    for step in reader.steps():
        content = b",".join(step.events)
        if ROUND_OPENED in content:
            if found:
                break
            names = _round_names(step)
            seen.append(names[1])
            if wanted in names:
                found.append(step)
        elif found:
            found.append(step)
        if found and step.carried is not None:
            break
    if found and not any(ended in event for step in found for event in step.events for ended in ROUND_ENDED):
        raise RoundStillOpen(
            f"{reader.path}: round {wanted} has not ended: its cards come out with its result, or when it is "
            "cancelled; ask again then"
        )
    return found


def _round_names(step: Step) -> tuple[str, str]:
    """Return number and id of the round that a step opens."""
    opened = next(event for event in map(_EVENT.decode, step.events) if isinstance(event, events.RoundOpened))
    return str(opened.round_no), decode(step.messages["audit"][0]).roundid or ""


def _tell(path: Path, steps: Sequence[Step]) -> Recalled:
    first = steps[0]
    opened = next(
        event for event in map(_EVENT.decode, first.events) if isinstance(event, events.RoundOpened)
    )
    envelope = decode(first.messages["audit"][0])
    told = Recalled(
        table=envelope.tableid,
        roundid=envelope.roundid or "",
        round_no=opened.round_no,
        game=opened.game,
        rules=opened.rules,
        journal=path.name,
        steps=(first.n, steps[-1].n),
        opened_at_us=first.at_us,
        is_in_shoe=opened.shoe is not None,
    )
    told.dealers += [opened.dealer] if opened.dealer is not None else []
    teller = Teller(told)
    for step in steps:
        if is_correction(step):
            continue
        for event in map(_EVENT.decode, step.events):
            teller.tell(step.at_us, event)
        teller.note_sealed(step)
    told.corrections = list(corrections_of(path, told.roundid, after=first.n))
    return told


class Teller:
    """Folds the events of a round into its record; `told` is filled."""

    def __init__(self, told: Recalled) -> None:
        self._told = told
        self._entered_by: tuple[str, ...] = ()
        self._deal = 1

    def tell(self, at_us: int, event: AnyEvent) -> None:
        told = self._told
        match event:
            case events.InputAccepted():
                told.presses.append(Press(at_us, event.command, event.actor, event.role))
            case events.InputRefused():
                told.presses.append(Press(at_us, event.input, event.actor, refused=event.reason))
            case events.IncidentOpened() | events.IncidentDecided() | events.IncidentClosed():
                tell_incident(told.incidents, at_us, event)
            case events.RoundRedealt():
                self._redealt(at_us, event)
            case events.RoundConfirmed():
                told.ended_at_us, told.result = at_us, in_groups(event.outcome)
                told.voided = event.voided
                self._open(at_us, event.opened)
            case events.RoundCancelled():
                told.ended_at_us = at_us
                told.cancelled = Cancelled(event.reason, event.refund, event.incident, event.place)
                told.voided = event.voided
                self._open(at_us, event.opened)
            case events.ControllerStarted():
                told.restarts.append(at_us)
            case events.DealerChanged(dealer=str(dealer), signed_by=(_, _)):
                told.dealers.append(dealer)
            case events.FactsSettled() | events.BetsClosed() | events.DecisionClosed():
                self._window_ended(event)
            case events.BettingOpened() | events.DecisionOpened():
                told.windows.append(RecalledWindow(event.window, at_us, event.closes_at_us))
            case _:
                self._card(at_us, event)

    def _redealt(self, at_us: int, event: events.RoundRedealt) -> None:
        told = self._told
        for card in told.cards:
            if card.deal == self._deal and card.fate == "played":
                card.fate, card.reason = "abandoned", event.reason
        self._deal = event.deal
        told.redeals.append(Redealt(at_us, event.deal, event.reason, event.incident, event.place))

    def _window_ended(self, event: events.FactsSettled | events.BetsClosed | events.DecisionClosed) -> None:
        for window in self._told.windows:
            if window.window != event.window:
                continue
            if isinstance(event, events.FactsSettled):
                window.acknowledged = event.acknowledged
                window.facts = _facts(event)
                self._told.bets = dict(event.boxes or self._told.bets)
            else:
                window.ended_at_us, window.ended_by = event.at_us, event.ended_by

    def _card(self, at_us: int, event: AnyEvent) -> None:
        told = self._told
        match event:
            case events.CardEntered():
                self._entered_by = event.by
            case events.CardDealt():
                told.cards.append(
                    RecalledCard(
                        at_us=at_us,
                        place=event.place,
                        n=event.n,
                        deal=event.deal,
                        reading=event.reading,
                        face=event.face,
                        card=event.card,
                        commitment=event.commitment,
                        entered_by=self._entered_by if event.manual else (),
                    )
                )
            case events.CardBurned() | events.CardHeld():
                is_burned = isinstance(event, events.CardBurned)
                aside = RecalledCard(at_us, BURN if is_burned else HELD, event.n, event.deal, 1, "down")
                aside.fate = "burned" if is_burned else "held"
                aside.commitment, aside.reason = event.commitment, event.reason
                if isinstance(event, events.CardBurned) and event.card is not None:
                    aside.face, aside.card = "up", event.card
                told.cards.append(aside)
            case events.CardWithdrawn():
                withdrawn = (event.place, event.n, self._deal, event.reading)
                for card in told.cards:
                    if (card.place, card.n, card.deal, card.reading) == withdrawn:
                        card.fate, card.reason = "withdrawn", event.reason
            case events.CardsRevealed():
                told.turned.append((at_us, event.place))
                self._open(at_us, event.cards)
            case events.CardLaidAside():
                told.laid_aside.append((at_us, event.place, event.n))

    def _open(self, at_us: int, cards: Sequence[OpenedCard]) -> None:
        """Put opened cards in their places and check what bound the table to them."""
        told = self._told
        for opened in cards:
            for card in told.cards:
                where = (card.place, card.n, card.deal, card.reading)
                if where != (opened.place, opened.n, opened.deal, opened.reading):
                    continue
                card.opened_at_us, card.closed_by = at_us, opened.closed_by
                if opened.card is None or opened.key is None:
                    continue
                card.card = opened.card
                if card.commitment is not None:
                    card.checked = opened_commitment(told.table, told.roundid, opened) == card.commitment

    def note_sealed(self, step: Step) -> None:
        for audience, messages in step.messages.items():
            for raw in messages:
                envelope = decode(raw)
                if envelope.type.startswith("tablectl.round.closed."):
                    self._told.sealed[audience] = msgspec.json.decode(envelope.data, type=Sealed)


def tell_incident(
    incidents: list[RecalledIncident],
    at_us: int,
    event: events.IncidentOpened | events.IncidentDecided | events.IncidentClosed,
) -> None:
    """Note what an event says of an incident; one whose opening was not told is passed over."""
    if isinstance(event, events.IncidentOpened):
        opened = RecalledIncident(event.incident, at_us, event.kind, event.cell, event.prompt)
        opened.place, opened.n = event.place, event.n
        incidents.append(opened)
        return
    for incident in incidents:
        if incident.incident != event.incident:
            continue
        if isinstance(event, events.IncidentDecided):
            incident.verdict, incident.decided_by, incident.reason = event.verdict, event.by, event.reason
        else:
            incident.closed_at_us = at_us


def _facts(event: events.FactsSettled) -> dict[str, str]:
    if event.boxes is not None:
        return dict(event.boxes)
    told = {"in play": event.in_play, "drew": event.anyone_drew, "bought": event.anyone_bought}
    return {name: NOT_TOLD if fact is None else "yes" if fact else "no" for name, fact in told.items()}


_EVENT: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
