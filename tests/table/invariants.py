"""What must hold after every input (bus.md, "Life of a round"), kept as a watcher of one table."""

from __future__ import annotations

import msgspec
from table.dealt import MILLISECOND, Dealt

from controller.games.procedure import HELD, Deal
from controller.table.charts import Phase
from controller.table.events import (
    AnyEvent,
    BetsClosed,
    BettingOpened,
    CardBurned,
    CardDealt,
    DealerChanged,
    DecisionClosed,
    DecisionMade,
    DecisionOpened,
    Event,
    FactsSettled,
    IncidentClosed,
    IncidentDecided,
    IncidentOpened,
    InputAccepted,
    RoundCancelled,
    RoundClosed,
    RoundConfirmed,
    RoundCorrected,
    RoundOpened,
    RoundRedealt,
    TableBlocked,
    TableClosed,
    TablePaused,
    TableResumed,
    TableUnblocked,
    encode_events,
)
from controller.table.picture import draw

DECODER = msgspec.json.Decoder(tuple[AnyEvent, ...])


class Watcher:
    """Checks the events and the state after every input; `check` is called with the table."""

    def __init__(self) -> None:
        self.seen = 0
        self.rounds_closed = 0
        self.incidents: dict[int, str] = {}
        self.settled: set[str] = set()
        self.terminal: str | None = None
        self.roundid = ""
        self.revisions: dict[str, int] = {}
        """The last revision of each round, 0 for a cancelled one."""
        self.lease: DecisionOpened | BettingOpened | None = None
        self.free_at = 0
        self.opened_windows: set[str] = set()
        self.open_window: str | None = None
        self.box_decided = False
        self.in_round = False
        """The cards of a round lie, or are still to come."""
        self.dealer: str | None = None
        self.is_paused = self.is_blocked = False

    def check(self, d: Dealt) -> None:
        """Check everything since the last call."""
        for events in d.steps[self.seen :]:
            # A shoe's result of this coup is answered when the rules have theirs.
            assert events or d.table.state.in_play.opinion is not None, "an input without an answer"
            raw = encode_events(events)
            assert encode_events(DECODER.decode(raw)) == raw
            self._boundary(events)
            for event in events:
                self._round(event)
                self._window(event, d)
                self._incident(event)
                self._people(event)
        self.seen = len(d.steps)
        self._state(d)
        draw(d.table.state)

    def _round(self, event: Event) -> None:
        match event:
            case RoundOpened():
                assert self.terminal in (None, "closed")
                self.terminal, self.roundid = "open", f"rp1-{event.round_no}"
                self.opened_windows.clear()
                self.settled.clear()
            case RoundConfirmed() | RoundCancelled():
                assert self.terminal == "open", "two terminal events"
                assert not self.open_window, "a window outlives its round"
                self.terminal = "ended"
                self.revisions[self.roundid] = 1 if isinstance(event, RoundConfirmed) else 0
            case RoundCorrected():
                assert self.terminal in (None, "closed"), "corrected while a round is in play"
                assert self.revisions[event.roundid] == event.rev - 1 > 0, (
                    "a revision twice, or after a cancel"
                )
                assert len(set(event.by)) == 2
                self.revisions[event.roundid] = event.rev
                self.terminal = "corrected"
            case RoundClosed():
                assert self.terminal == ("ended" if event.rev == 1 else "corrected")
                self.rounds_closed += self.terminal == "ended"
                self.terminal = "closed"

    def _window(self, event: Event, d: Dealt) -> None:
        match event:
            case BettingOpened() | DecisionOpened():
                assert self.open_window is None and event.window not in self.opened_windows, "reopened"
                self.opened_windows.add(event.window)
                self.open_window, self.lease, self.box_decided = event.window, event, False
            case BetsClosed() | DecisionClosed():
                assert self.open_window == event.window and self.lease is not None
                early = event.ended_by in (
                    "cancel",
                    "redeal",
                    "dealer" if event.window == "betting" else "all_decided",
                )
                due = self.lease.closes_at_us
                # Row 35b: a deadline that is left out ends no window; a supervisor's cancel does.
                left_out = event.ended_by == "cancel" and bool(d.table.state.quarantined)
                in_time = event.at_us <= due if early else event.at_us == due
                assert in_time or left_out, "extended, or ended too soon"
                self.open_window = None
                self.free_at = 0 if self.box_decided else due + self.lease.guard_ms * MILLISECOND
            case DecisionMade():
                self.free_at, self.box_decided = 0, True
            case RoundRedealt():
                self.free_at = 0
            case InputAccepted(command="bets_taken" | "window_facts") if self.open_window is None:
                self.free_at = 0  # An acknowledgement frees the card, a late one too.
            case FactsSettled():
                self.settled.add(event.window)
                if event.acknowledged or event.window == "final_options":
                    self.free_at = 0
            case InputAccepted(command="bets_taken" | "window_facts"):
                if self.lease is not None and self.lease.window in self.settled:
                    self.free_at = 0  # What is taken after the facts are final is a late acknowledgement.
            case CardDealt():
                window_is_open = self.open_window is not None and not self.box_decided
                assert not window_is_open or event.reading > 1, "a card while a window is open"
                assert "betting" in self.settled and self.terminal == "open"
                corrected = event.reading > 1
                assert corrected or d.table.state.now >= self.free_at, "a card before the guard"

    def _incident(self, event: Event) -> None:
        match event:
            case IncidentOpened():
                assert event.incident not in self.incidents
                self.incidents[event.incident] = "opened"
            case IncidentDecided():
                assert self.incidents[event.incident] == "opened"
                self.incidents[event.incident] = "decided"
            case IncidentClosed():
                assert self.incidents[event.incident] == "decided"
                self.incidents[event.incident] = "closed"
            case CardBurned():
                assert self.terminal == "open"

    def _boundary(self, events: tuple[Event, ...]) -> None:
        """A round begins with its opening and is over when its cards have been collected."""
        if any(isinstance(event, RoundOpened) for event in events):
            self.in_round = True
        if any(isinstance(event, InputAccepted) and event.command == "clear_table" for event in events):
            self.in_round = False

    def _people(self, event: Event) -> None:
        """Rows 31, 32, 40 and 42: who deals, and when no round opens."""
        match event:
            case RoundOpened():
                assert event.dealer is not None and event.dealer == self.dealer
                assert not self.is_paused and not self.is_blocked
            case DealerChanged():
                assert not self.in_round or len(set(event.signed_by)) == 2, (
                    "a change inside a round, unsigned"
                )
                assert event.dealer is None or event.signed_by or self.dealer is None, "two dealers"
                self.dealer = event.dealer
            case TablePaused():
                self.is_paused = True
            case TableResumed() | TableClosed():
                self.is_paused = False
            case TableBlocked():
                assert not self.in_round, "a round that is open is finished first"
                self.is_blocked = True
            case TableUnblocked():
                assert self.is_blocked and len(set(event.by)) == 2
                self.is_blocked = False

    def _state(self, d: Dealt) -> None:
        t = d.table.state
        still_open = {number for number, state in self.incidents.items() if state != "closed"}
        assert still_open == {incident.number for incident in t.incidents}
        current = t.round
        if current is None:
            assert (d.table.carried() is None) == bool(t.incidents)
            return
        assert d.table.carried() is None
        assert len(current.laid) <= d.game.cards_at_most
        assert len(current.laid) == sum(isinstance(step, Deal) for step in current.run.asked)
        # In the shuffle of a redeal the cards of the abandoned deal are still registered.
        if t.phase in (Phase.CONFIRMED, Phase.CANCELLED, Phase.SHUFFLING) or t.incidents:
            return
        lie = [(laid.code, (laid.place, laid.n)) for laid in (*current.laid, *current.burned, *current.held)]
        lie += [(kept.read.code, (HELD, n)) for n, kept in enumerate(t.shoe.kept, 1)]
        # Of a shoe the cards of earlier rounds are out, too; their places carry the name of their round.
        here = [out for out in t.register.out() if "/" not in out[1][0]]
        assert sorted(lie) == sorted(here), "a card lies twice, or is not registered"
