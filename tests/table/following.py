"""Somebody who does what the table asks for, and nothing else, until the table lies between two rounds.

Where the prompt leaves a choice (a question, a supervisor's presses) `Forks` says which way is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from table.dealt import ANNA, BETS, BORIS, CLARA, Dealt, every

from controller.cards import DECK, Card
from controller.games.procedure import BoxState, Decision, WindowAnswer
from controller.table import inputs as i
from controller.table import stub_count
from controller.table.cells import PRESSES
from controller.table.charts import IncidentState, Phase
from controller.table.events import IncidentKind, InputRefused
from controller.table.picture import draw
from controller.table.state import Incident

ACTIONS_MAX = 400
"""More than the longest round with all its cards scanned again takes."""
BY_ANOTHER = ("confirm_cancel", "order_redeal", "void_box")
"""Nobody who has reported any open incident may press these."""
OFF_ROUND = (Phase.SHUFFLING, Phase.DECK_CHECK, Phase.CLOSED)
T = TypeVar("T")


class Chooser(Protocol):
    """Takes one of several ways."""

    def choose(self, options: Sequence[T]) -> T: ...


class Forks:
    """One way through a tree of choices; `ways` yields them all, one after the other."""

    def __init__(self, turns: Sequence[int] = ()) -> None:
        self._turns, self._widths = list(turns), list[int]()

    def choose(self, options: Sequence[T]) -> T:
        """Return the option that this way takes; beyond what it knows, the first."""
        at = len(self._widths)
        self._widths.append(len(options))
        if at == len(self._turns):
            self._turns.append(0)
        return options[self._turns[at]]

    def next(self) -> Forks | None:
        """Return the way after this one, None after the last."""
        turns = self._turns[: len(self._widths)]
        while turns and turns[-1] + 1 == self._widths[len(turns) - 1]:
            turns.pop()
        return Forks([*turns[:-1], turns[-1] + 1]) if turns else None


def ways() -> Iterator[Forks]:
    """Yield all ways; each must have been walked before the next is asked for."""
    forks: Forks | None = Forks()
    while forks is not None:
        yield forks
        forks = forks.next()


class Follower:
    """Does what is asked. `scan` brings the next card the table does not know; `shuffle` fills the shoe."""

    def __init__(
        self,
        d: Dealt,
        forks: Chooser,
        *,
        scan: Callable[[], object],
        shuffle: Callable[[], object],
        states: Mapping[str, BoxState] | None = None,
        decisions: Mapping[tuple[str, str], Decision] = {},
        answers: Mapping[str, WindowAnswer] = {},
    ) -> None:
        self.d, self.forks = d, forks
        self.scan, self.shuffle = scan, shuffle
        self.states = states
        self.decisions, self.answers = decisions, answers

    def to_the_end(self) -> Phase:
        """Follow the prompts until the round has ended, its cards still lying; return the phase."""
        return self._follow({Phase.CONFIRMED, Phase.CANCELLED, *OFF_ROUND})

    def home(self) -> Phase:
        """Follow the prompts until no round is open and the deck is to be shuffled or verified."""
        return self._follow(OFF_ROUND)

    def _follow(self, until: Collection[Phase]) -> Phase:
        for _ in range(ACTIONS_MAX):
            t = self.d.table.state
            if t.phase in until and not t.is_round_open and t.incident is None:
                return t.phase
            before, prompt = len(self.d.steps), draw(t).prompt
            self.act()
            for events in self.d.steps[before:]:
                refused = [one for one in every(events, InputRefused) if one.reason != "QUARANTINED"]
                assert not refused, ("what is asked for is refused", prompt, events)
        raise AssertionError(("no way home", draw(self.d.table.state)))

    def act(self) -> None:
        """Do the single next thing that the table asks for."""
        t = self.d.table.state
        incident = t.incident
        if incident is None and draw(t).scanners_down:
            self.d.plug()
        elif incident is None:
            self._go_on()
        else:
            self._mend(incident)

    def _mend(self, incident: Incident) -> None:
        match incident.state:
            case IncidentState.QUESTION:
                self._by_dealer(i.AnswerQuestion(incident.number, self.forks.choose((False, True))))
            case IncidentState.RESCAN:
                self._scan_again(incident)
            case IncidentState.SUPERVISOR if incident.kind is IncidentKind.WRONG_COUNT:
                person = CLARA if incident.reported_by == BORIS else BORIS
                self._press_by(person, i.CountStub(stub_count.expected(self.d.table.state)))
            case IncidentState.SUPERVISOR:
                self._supervise()
            case IncidentState.ENTRY:
                self._enter(incident)
            case IncidentState.LOST:
                self.d.plug()
            case IncidentState.PICTURE:
                self._by_dealer(i.ConfirmPicture(draw(self.d.table.state).lies or ""))

    def _scan_again(self, incident: Incident) -> None:
        laid = self.d.table.state.in_play.laid
        if incident.again is not None:
            self.d.scan(code=laid[len(incident.again)].code)
        elif incident.kind is IncidentKind.DISPUTED_READ:
            self.d.scan(code=laid[-1].code)
        elif incident.kind is IncidentKind.HELD_READ:
            self.d.scan(code=self.d.table.state.in_play.unplaced_reads.codes[0])
        else:
            self.scan()

    def _supervise(self) -> None:
        t = self.d.table.state
        reporters = {incident.reported_by for incident in t.incidents}
        free = [person for person in (BORIS, CLARA) if person != self._dealer()]
        others = [person for person in free if person not in reporters]
        offered = [
            name
            for name in draw(t).buttons
            if name == "withdraw_report" or (name in PRESSES and (others or name not in BY_ANOTHER))
        ]
        assert offered, ("nobody can press anything", t.incidents)
        self._press_by((others or free)[0], self._press(self.forks.choose(offered)))

    def _press_by(self, person: str, command: i.AnyCommand) -> None:
        """Let a person press, who logs in first where he is not on duty."""
        if self.d.table.state.duty.role_of(person) is None:
            self.d.log_in(person)
        self.d.press(command, person)

    def _by_dealer(self, command: i.AnyCommand) -> None:
        """Let the person who deals press, whoever that is by now."""
        self.d.press(command, self._dealer(), role=i.Role.DEALER)

    def _dealer(self) -> str:
        dealer = self.d.table.state.duty.dealer
        return ANNA if dealer is None else dealer.actor

    def _enter(self, incident: Incident) -> None:
        """Two people say which card it is: the one that lies there, or any that is still in the shoe."""
        t = self.d.table.state
        shoe = (card for card in DECK if isinstance(t.register.check(t.register.deck.code(card)), Card))
        if incident.again is not None:
            card = t.in_play.laid[len(incident.again)].card
        else:
            card = t.in_play.laid[-1].card if incident.kind is IncidentKind.DISPUTED_READ else next(shoe)
        for person in (BORIS, CLARA):
            self._press_by(person, i.EnterCard(incident.number, str(card)))

    def _see_to_deck(self, code: str) -> None:
        """Load, verify or count the deck."""
        t = self.d.table.state
        match code:
            case "COUNT_STUB":
                self._by_dealer(i.CountStub(stub_count.expected(t)))
            case "SUPERVISOR_VERIFIES":
                self._press_by(BORIS, i.VerifyDeck(52))
            case "SCAN_DECK":
                self.d.scan(str(DECK[len(t.shoe.scanning)]))
            case _:
                for person in (CLARA, BORIS):
                    if t.shoe.deck is None:
                        self._press_by(person, i.LoadDeck("blue", "R-1"))

    def _press(self, name: str) -> i.AnyCommand:
        t = self.d.table.state
        if name == "void_box":
            incident = t.incident
            boxes = [box for box in t.game.boxes if box not in t.in_play.voided_boxes]
            named = incident.place if incident is not None else None
            return i.VoidBox(named if named in boxes else boxes[0])
        commands: dict[str, i.AnyCommand] = {
            "confirm_cancel": i.ConfirmCancel(),
            "go_on": i.GoOn(),
            "order_rescan": i.OrderRescan(),
            "order_entry": i.OrderEntry(),
            "order_redeal": i.OrderRedeal(),
            "withdraw_report": i.WithdrawReport(),
        }
        return commands[name]

    def _go_on(self) -> None:
        prompt = draw(self.d.table.state).prompt
        match prompt.code:
            case "DEAL_CARD":
                if prompt.not_before_us is not None and prompt.not_before_us > self.d.now:
                    self.d.advance((prompt.not_before_us - self.d.now) // 1_000)
                self.scan()
            case "WAIT_FOR_FACTS":
                self._tell_facts()
            case "WAIT_FOR_PLAYERS":
                self._let_players_choose()
            case "TURN":
                self._by_dealer(i.TurnCards(prompt.place or ""))
            case "BURN_CARD":
                self.scan()
            case "OTHER_SCANNER" if self.d.phase is Phase.SHUFFLING:
                self.shuffle()
                self._press_by(BORIS, i.ConfirmShuffle())
            case "OTHER_SCANNER":
                self._press_by(BORIS, i.OpenBetting())
            case "FREE_DISK":
                self.d.feed(i.Measured(at=self.d.now + 1, disk_free_mb=10_000))
            case "LOG_IN":
                self.d.log_in(ANNA)
            case "PAUSED":
                self._press_by(BORIS, i.ResumeTable())
            case "UNBLOCK":
                self._press_by(BORIS, i.Unblock())
                self._press_by(CLARA, i.Unblock())
            case "LOAD_DECK" | "ACCEPT_DECK" | "SCAN_DECK" | "SUPERVISOR_VERIFIES" | "COUNT_STUB" as code:
                self._see_to_deck(code)
            case "SHUFFLE" | "REDEAL":
                self.shuffle()
                self._by_dealer(i.ConfirmShuffle())
            case code:
                self._by_dealer(PRESSED[code])

    def _tell_facts(self) -> None:
        window = self.d.table.state.in_play.window
        assert window is not None
        if window.window != "betting":
            self._tell(window.window, window.stage)
        elif self.states is not None:
            self.d.press(i.BetsTaken(self.states), BETS)
        else:
            self.d.advance(self.d.settings.guard_ms)

    def _tell(self, window: str, stage: str) -> None:
        answer = self.answers.get(stage, WindowAnswer())
        command = i.WindowFacts(
            window,
            in_play=answer.in_play,
            anyone_drew=answer.anyone_drew,
            anyone_bought=answer.anyone_bought,
            acknowledges=True,
        )
        self.d.press(command, BETS)

    def _let_players_choose(self) -> None:
        window = self.d.table.state.in_play.window
        assert window is not None
        if window.decides is None and window.is_open:
            self.d.facts(window.window, undecided=False)
            return
        if window.decides is None:
            self._tell(window.window, window.stage)
            return
        for box in window.decides.boxes:
            decision = self.decisions.get((window.stage, box), Decision(None))
            if box in window.decisions:
                continue
            if window.decides.in_order and decision.action is None:
                break  # OAB-14: nobody may answer before an earlier box that is silent.
            if window.is_open and decision.action is not None:
                command = i.DecisionTaken(window.window, box, decision.action, decision.positions)
                self.d.press(command, BETS)
                return
        self.d.advance(self.d.settings.windows_ms[window.stage] + self.d.settings.guard_ms)


PRESSED: Mapping[str, i.AnyCommand] = {
    "OPEN_TABLE": i.OpenTable(),
    "VERIFY_DECK": i.VerifyDeck(52),
    "START": i.OpenBetting(),
    "PLACE_BETS": i.CloseBetting(),
    "LAY_ASIDE": i.LayCardAside(),
    "CONFIRM_RESULT": i.ConfirmResult(),
    "CLEAR_TABLE": i.ClearTable(),
}
"""What the dealer presses at a prompt that leaves nothing to say."""
