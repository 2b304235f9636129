"""What a table remembers: the round, its cards and windows, open incidents, deadlines, requests.

Only the modules of this package change it, and only inside `Table.step`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from controller.cards import Card, CodeMap, Register
from controller.games.procedure import BoxState, Decide, Decision, Game, WindowAnswer
from controller.table.charts import PHASE_TARGETS, IncidentState, Phase
from controller.table.commitments import commit, commitment_text
from controller.table.events import Event, IncidentKind, OpenedCard, Refusal
from controller.table.inputs import CancelReason
from controller.table.script_run import ScriptRun
from controller.table.settings import TableSettings

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

    def opening(self) -> OpenedCard:
        """Return card and key of its commitment."""
        card = str(self.card)
        return OpenedCard(
            place=self.place, n=self.n, deal=self.deal, reading=self.reading, card=card, key=self.key
        )


@dataclass(slots=True)
class OpenWindow:
    """A window of the players (betting time is one): open, closed, and settled when its facts are final."""

    window: str
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


@dataclass(slots=True)
class HeldReads:
    """What a round remembers of cards that were read while it took none (`held_reads`)."""

    count: int = 0
    """Reads so far, whatever they said."""
    codes: list[str] = field(default_factory=list)
    """Cards of this deck that have left the shoe by this, in the order in which they were read."""
    foreign: bool = False
    """A code was among them that is not of this deck."""


@dataclass(slots=True)
class Round:
    """A round in play, from its opening until the cards are collected."""

    number: int
    id: str
    run: ScriptRun
    program: str
    rules: str
    deal: int = 1
    laid: list[LaidCard] = field(default_factory=list)
    burned: list[LaidCard] = field(default_factory=list)
    withdrawn: list[OpenedCard] = field(default_factory=list)
    window: OpenWindow | None = None
    stages_closed: set[str] = field(default_factory=set)
    answers: dict[str, WindowAnswer] = field(default_factory=dict)
    """The final facts of the windows that are settled, betting time aside."""
    laid_at_window: int = 0
    """How many cards lay when the last window closed: they may not be corrected any more."""
    readings: dict[Where, int] = field(default_factory=dict)
    """How often the card of a place has been read, withdrawn readings included."""
    rescans_used: int = 0
    free_at: int = 0
    """No card is accepted as play before this time."""
    held: HeldReads = field(default_factory=HeldReads)

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
    counted: bool = False
    """Its re-scan is the one that RPL-75 allows in the initial deal."""
    reason: CancelReason | None = None
    """Why the round would be cancelled, as far as somebody or something has said so."""
    reported_by: str | None = None
    stops_betting: bool = False


class UnplacedRead(msgspec.Struct, frozen=True):
    """A card that was read and lies on no place: early, surplus, or the same code again."""

    card: Card
    code: str
    key: str


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
    phase: Phase = Phase.CLOSED
    epoch: int = 0
    program: str = ""
    rules: str = ""
    now: int = 0
    round_no: int = 0
    incidents_count: int = 0
    timers_count: int = 0
    deck_suspect: bool = False
    round: Round | None = None
    incidents: list[Incident] = field(default_factory=list)
    deadlines: dict[str, Deadline] = field(default_factory=dict)
    requests: dict[str, RequestAnswer] = field(default_factory=dict)
    scanners_up: set[str] = field(default_factory=set)
    devices: dict[str, str] = field(default_factory=dict)
    """The device behind each scanner, as last accepted."""
    strange_devices: dict[str, str] = field(default_factory=dict)
    """Other devices than those, which no supervisor has accepted yet."""
    quarantined: frozenset[str] = frozenset()
    disk_free_mb: int | None = None
    """Room for the journal as last told; None: enough."""
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
    settings: TableSettings, game: Game, deck: CodeMap, other_decks: Iterable[CodeMap]
) -> TableState:
    """Return a table that is off and has never run."""
    return TableState(settings, game, Register(deck, other_decks))
