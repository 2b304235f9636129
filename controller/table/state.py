"""What a table remembers: the round, its cards and windows, open incidents, deadlines, requests.

Only the modules of this package change it, and only inside `Table.step`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from controller.cards import Card, CodeMap, Register
from controller.games.procedure import BoxState, Decide, Decision, Game, WindowAnswer
from controller.games.published import VoidedDeal
from controller.table.charts import PHASE_TARGETS, IncidentState, Phase
from controller.table.commitments import commit, commitment_text
from controller.table.consumers import Acknowledgements
from controller.table.events import CardAt, Event, IncidentKind, OpenedCard, Refusal
from controller.table.inputs import CancelReason, CorrectionReason, Role
from controller.table.script_run import ScriptRun
from controller.table.settings import TableSettings
from controller.table.shoe_state import Reads, Shoe, UnplacedRead
from controller.table.situations import Axis, Known
from controller.table.staff import Duty, Halts, OnDuty

Where = tuple[str, int]
"""A place and the number of the card there, from 1."""


@dataclass(slots=True)
class LaidCard:
    """A card that left the shoe in this round, where it lies, and what binds us to it."""

    place: str
    n: int
    deal: int
    reading: int
    card: Card
    code: str
    key: str
    commitment: str | None
    open: bool
    """Everybody has seen it; nothing is left to open."""
    fact: int | None
    """Index of its fact in the script; None for burned cards."""
    shown_to_betting: bool = False
    manual: bool = False
    """Two people have said which card it is; no scanner could."""
    kind: IncidentKind | None = None
    """Why it waits, for a card that does."""

    def opening(self, roundid: str | None = None) -> OpenedCard:
        """Return card and key of its commitment; `roundid` where it is opened after its round."""
        card, key = str(self.card), self.key
        return OpenedCard(self.place, self.n, self.deal, self.reading, card, key, roundid=roundid)


@dataclass(slots=True)
class OpenWindow:
    """A window of the players (betting time is one): open, closed, and settled when its facts are final."""

    window: str
    """Its name on the wire: the stage, in a later deal of the round with the number of the deal."""
    stage: str
    frees_card: bool
    closes_at: int
    boxes: dict[str, BoxState] = field(default_factory=dict)
    answer: WindowAnswer = field(default_factory=WindowAnswer)
    decides: Decide | None = None
    """The step, where each box decides and cards depend on it."""
    decisions: dict[str, Decision] = field(default_factory=dict)
    undecided: bool | None = None
    is_open: bool = True
    settled: bool = False
    acknowledged: bool = False
    interrupted: bool = False
    """The process went down while it was open; silence in it is never judged."""

    @property
    def all_decided(self) -> bool:
        """Whether every box has said what it does, where each has to."""
        return self.decides is not None and len(self.decisions) == len(self.decides.boxes)


class HeldCode(msgspec.Struct, frozen=True):
    """A code that was read in a hold, and how many of its cards were out before; more, and it lies there."""

    code: str
    out_before: int


@dataclass(slots=True)
class UnplacedReads:
    """Reads while a round took none (`held_reads`): those of this deck, in order, or read `together`."""

    count: int = 0
    cards: list[HeldCode] = field(default_factory=list)
    foreign: bool = False
    together: bool = False

    @property
    def codes(self) -> list[str]:
        """Return what was read, in order."""
        return [card.code for card in self.cards]


@dataclass(slots=True)
class Look:
    """A code that a reader which deals nothing has seen in this deal (`second_look`)."""

    code: str
    deal: int
    met: bool = False
    """A card with this code lay where this reader looks."""
    asked: IncidentKind | None = None
    """It has led to this case."""


@dataclass(slots=True)
class Round:
    """A round in play, from its opening until the cards are collected."""

    number: int
    id: str
    run: ScriptRun
    program: str
    rules: str
    by_hand: bool = False
    """A scanner stays away, and two people enter every card that becomes due (row 30)."""
    burn_due: bool = False
    """The first card out of the shoe is burned before the deal (row 31)."""
    deal: int = 1
    laid: list[LaidCard] = field(default_factory=list)
    burned: list[LaidCard] = field(default_factory=list)
    abandoned: list[LaidCard] = field(default_factory=list)
    """The cards of the deals before this one, burned ones too (OAB-24)."""
    voided: list[VoidedDeal] = field(default_factory=list)
    """What comes back of those deals."""
    withdrawn: list[OpenedCard] = field(default_factory=list)
    window: OpenWindow | None = None
    stages_closed: set[str] = field(default_factory=set)
    """Stages of this deal that are over, and the names of their windows."""
    answers: dict[str, WindowAnswer] = field(default_factory=dict)
    """The final facts of the windows that are settled, betting time aside."""
    laid_at_window: int = 0
    """How many cards lay when the last window closed: they may not be corrected any more."""
    readings: dict[Where, int] = field(default_factory=dict)
    """How often the card of a place has been read, withdrawn readings included."""
    rescans_used: int = 0
    held: list[LaidCard] = field(default_factory=list)
    """Cards that came out too early and wait, face down, for the place that they will be due at."""
    held_count: int = 0
    voided_boxes: dict[str, str] = field(default_factory=dict)
    """The boxes that were taken out of the round, and the cell by which."""
    rescanned: list[Where] = field(default_factory=list)
    """The cards that had to be scanned again, for the statistics of worn cards."""
    scanner_reads: dict[str, Reads] = field(default_factory=dict)
    free_at: int = 0
    """No card is accepted as play before this time."""
    unplaced_reads: UnplacedReads = field(default_factory=UnplacedReads)
    looks: dict[str, list[Look]] = field(default_factory=dict)
    """What each reader that deals nothing has seen, in order."""
    scanned_again: set[str] = field(default_factory=set)
    """The codes of cards that were scanned again: such readers may have seen one card each time."""
    opinion: tuple[str, bool, bool] | None = None
    """How the coup has ended in the shoe's own opinion: the winner, and the two pairs."""
    compared: tuple[str, bool, bool] | None = None
    """The result that it was compared with last."""
    shoe_astray: bool = False
    """The shoe counts its places from Player's first card again, with cards of this coup on the table."""

    def at_place(self, place: str) -> list[LaidCard]:
        """Return the cards of `place` in the order in which they were dealt."""
        return [laid for laid in self.laid if laid.place == place]


@dataclass(slots=True)
class Incident:
    """An anomaly that is being dealt with. The newest is the one that people are asked about."""

    number: int
    kind: IncidentKind
    cell: str
    prompt: str
    state: IncidentState
    """What it waits for."""
    place: str | None = None
    n: int | None = None
    read: UnplacedRead | None = None
    fact: int | None = None
    """The fact that a re-scan corrects; None when the card has none yet."""
    values: dict[Axis, Known] = field(default_factory=dict)
    """What the case is judged by, as far as it is known."""
    asks: Axis | None = None
    """The axis that the open question is about."""
    presses: tuple[str, ...] = ()
    """What the cell lets a supervisor press."""
    deck_out: bool = False
    """The cell takes the deck out."""
    tries: int = 0
    """How often its card has been scanned again."""
    burns: bool = False
    """The card that is scanned next is burned."""
    again: list[UnplacedRead] | None = None
    """The cards of the round as they are scanned once more, from the first."""
    reason: CancelReason | None = None
    """Why the round would be cancelled, as far as somebody or something has said so."""
    reported_by: str | None = None
    stops_betting: bool = False
    entry: Entry | None = None
    """What the first of two people has entered; nobody is told before the second has."""
    escalated: bool = False
    """The supervisor has been called once more (row 40)."""
    incoming: OnDuty | None = None
    """Who would deal from here on, in a change of the dealer inside a round (row 31)."""


class Entry(msgspec.Struct, frozen=True):
    """The card that one person has entered by hand."""

    by: str
    role: Role
    card: Card


class Revision(msgspec.Struct, frozen=True):
    """The last correction of a round: all its cards that lay as others than were read, and whether all is
    refunded."""

    rev: int
    cards: tuple[CardAt, ...]
    refund: bool


class Proposal(msgspec.Struct, frozen=True):
    """A correction that waits for its second person until `until`, in microseconds.

    `digest` is the SHA-256 of what it comes to: cards and outcome.
    """

    roundid: str
    rev: int
    reason: CorrectionReason
    by: str
    digest: str
    until: int


class Deadline(msgspec.Struct, frozen=True):
    """A time at which the station feeds `TimerExpired(name, number)`; `due` in microseconds."""

    number: int
    due: int


class RequestAnswer(msgspec.Struct, frozen=True):
    """The stored answer to a command. `refusal` is None when it was accepted.

    `command` is the beginning of its SHA-256: a request id that comes with another command is refused.
    """

    command: str
    round_no: int
    refusal: Refusal | None


@dataclass(slots=True)
class TableState:
    """The whole state of a table."""

    settings: TableSettings
    game: Game
    register: Register[Where]
    decks: tuple[CodeMap, ...]
    """The decks that may be loaded here, the usual one first."""
    other_decks: tuple[CodeMap, ...]
    phase: Phase = Phase.CLOSED
    epoch: int = 0
    program: str = ""
    rules: str = ""
    now: int = 0
    round_no: int = 0
    incidents_count: int = 0
    timers_count: int = 0
    deck_suspect: bool = False
    """The cards must be counted before the next round, and the deck may stay."""
    shoe: Shoe = field(default_factory=Shoe)
    round: Round | None = None
    incidents: list[Incident] = field(default_factory=list)
    deadlines: dict[str, Deadline] = field(default_factory=dict)
    requests: dict[str, RequestAnswer] = field(default_factory=dict)
    scanners_up: set[str] = field(default_factory=set)
    corrections: dict[str, Revision] = field(default_factory=dict)
    """The last correction of each round that was corrected, by round id."""
    proposal: Proposal | None = None
    duty: Duty = field(default_factory=Duty)
    halts: Halts = field(default_factory=Halts)
    acknowledgements: Acknowledgements = field(default_factory=Acknowledgements)
    devices: dict[str, str] = field(default_factory=dict)
    """The device behind each scanner, as last accepted."""
    strange_devices: dict[str, str] = field(default_factory=dict)
    """Other devices than those, which no supervisor has accepted yet."""
    read_meanwhile: bool = False
    """A card was read between two rounds while people were asked about another one."""
    quarantined: frozenset[str] = frozenset()
    disk_free_mb: int | None = None  # None: enough.
    events: list[Event] = field(default_factory=list)

    @property
    def incident(self) -> Incident | None:
        """The newest open incident."""
        return self.incidents[-1] if self.incidents else None

    @property
    def incident_state(self) -> IncidentState:
        """What the newest incident waits for."""
        return self.incidents[-1].state if self.incidents else IncidentState.NONE

    @property
    def is_round_open(self) -> bool:
        """Whether a round is open and has not ended; its cards may be in the shuffle (OAB-24)."""
        return self.round is not None and self.phase not in (Phase.CONFIRMED, Phase.CANCELLED)

    @property
    def in_play(self) -> Round:
        """The open round; the phase chart has made sure that there is one."""
        assert self.round is not None
        return self.round

    def emit(self, event: Event) -> None:
        """Add an event to this step."""
        self.events.append(event)

    def move(self, event: str) -> None:
        """Go where the phase chart leads from here with `event`."""
        self.phase = PHASE_TARGETS[self.phase, event]

    def arm(self, name: str, due: int) -> None:
        """Set the deadline `name`, replacing an earlier one of that name."""
        self.timers_count += 1
        self.deadlines[name] = Deadline(self.timers_count, due)

    def disarm(self, name: str) -> None:
        """Drop the deadline `name` if there is one."""
        self.deadlines.pop(name, None)

    def commitment(self, read: UnplacedRead, *, place: str, n: int, reading: int) -> str:
        """Return the commitment to a card at the place where it now lies."""
        text = commitment_text(
            table=self.settings.table,
            roundid=self.in_play.id,
            deal=self.in_play.deal,
            place=place,
            n=n,
            reading=reading,
            card=str(read.card),
        )
        return commit(read.key, text)


def new_state(
    settings: TableSettings, game: Game, decks: tuple[CodeMap, ...], other_decks: Iterable[CodeMap]
) -> TableState:
    """Return a table that is off and has never run. Each deck in use makes foreigners of all the others."""
    others = tuple(other_decks)
    return TableState(settings, game, register_of(decks[0], decks, others), decks, others)


def register_of(
    deck: CodeMap, decks: tuple[CodeMap, ...], other_decks: tuple[CodeMap, ...]
) -> Register[Where]:
    """Return the register of one of `decks`, with all its cards in the shoe."""
    return Register(deck, (*(other for other in decks if other is not deck), *other_decks))
