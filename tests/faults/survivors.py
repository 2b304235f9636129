"""The people and the devices after a kill: they settle the restart, and go on with the script."""

from __future__ import annotations

import itertools
from typing import NamedTuple

from faults.lives import Life
from msgspec.structs import replace
from table.dealt import ANNA, BORIS, CLARA, SHOE

from controller.cards import Anomaly
from controller.table import inputs as i
from controller.table.charts import IncidentState, Phase
from controller.table.events import IncidentKind
from controller.table.picture import draw
from controller.table.state import Incident, TableState

SETTLED_MAX = 40
"""More presses than any restart takes."""
ANSWERED_BY_START = frozenset({Phase.READY, Phase.CONFIRMED})
"""A read that was lost there is no card of a round: the start says what comes of it (rows 7, 10)."""


class Standing(NamedTuple):
    """Where the table stood when the last step before a kill was durable."""

    phase: Phase = Phase.CLOSED
    incidents_count: int = 0
    held_count: int = 0
    """Reads that waited for the end of a hold."""


def standing_of(t: TableState) -> Standing:
    """Return where a table stands."""
    held_count = t.round.unplaced_reads.count if t.round is not None else 0
    return Standing(t.phase, t.incidents_count, held_count)


class Left(NamedTuple):
    """What a kill leaves to the people: what is to come, a read that was lost, where the table stood."""

    acts: tuple[i.AnyInput, ...]
    lost: i.AnyInput | None
    standing: Standing
    where: str


class Unanswered(Exception):
    """A window was open at the kill, and what would have come before its end can't come before it now.

    The round would have ended with players undecided: their silence is never judged, so a supervisor cancels
    (`test_kills_in_decisions`). Or a card would have come out too early: after its end none is.
    """


class Survivors:
    """They know what is to come (`acts`), and which read nobody has heard an answer to (`lost`).

    That card is in the dealer's hand.
    """

    def __init__(self, life: Life, left: Left, *, early: tuple[i.AnyInput, ...]) -> None:
        """`early` are the cards that come out before the end of a window that frees them."""
        self.life, self.acts, self.lost, self.standing = life, list(left.acts), left.lost, left.standing
        self.early = early
        self.has_postponed = False
        """Whether cards had to wait until every player has chosen."""
        self._is_over = False
        self._presses = itertools.count()

    def to_the_end(self) -> None:
        """Settle the restart, and do everything that is to come."""
        self.settle()
        self.go_on()

    def go_on(self) -> None:
        """Do everything that is to come, once the restart is settled or waits for the players."""
        is_answered = self.standing.phase in ANSWERED_BY_START
        self.has_postponed |= self.lost is not None and not self._is_over
        while self.acts or self.lost is not None:
            if self.lost is not None and self._is_over:
                # The page asks for it as before.
                self.acts[:0] = [] if is_answered else [self.lost]
                self.lost = None
                continue
            self.life.play(self.acts.pop(self._next()))
            self.settle()
            self._answer_what_is_put_again()

    def settle(self) -> None:
        """Do what the restart asks for, as far as that goes without the players."""
        for _ in range(SETTLED_MAX):
            if self._is_over or not self._settled_one():
                return
        raise AssertionError(("no end of the restart", draw(self.life.state)))

    def _next(self) -> int:
        """Return which act comes next: a window that was open at a kill must first have all its answers."""
        incident = self.life.state.incident
        if incident is None or incident.kind is not IncidentKind.RESTARTED:
            return 0
        told = (
            number
            for number, act in enumerate(self.acts)
            if isinstance(act, i.Commanded) and act.role is i.Role.BETTING
        )
        number = next(told, None)
        if number is None or any(act in self.early for act in self.acts[:number]):
            raise Unanswered
        self.has_postponed |= number > 0
        return number

    def _is_drawn(self) -> bool:
        """Whether a card has left the shoe that lies nowhere yet and that the table does not ask for."""
        known = [one for one in self.life.state.incidents if one.number <= self.standing.incidents_count]
        if self.lost is None or (known and known[-1].state is IncidentState.RESCAN):
            return False
        code = self.lost.code if isinstance(self.lost, i.CardRead) else ""
        return self.life.state.register.check(code) is not Anomaly.ALREADY_OUT

    def _is_asked_anyway(self) -> bool:
        """Whether the script has an answer to this very question: the scanner came back with the restart."""
        following = self.acts[0] if self.acts else None
        if not isinstance(following, i.Commanded) or not isinstance(following.command, i.AnswerQuestion):
            return False
        of_restart = {IncidentKind.RESTARTED, IncidentKind.SCANNER_LOST}
        is_known = any(
            one.number <= self.standing.incidents_count or one.kind not in of_restart
            for one in self.life.state.incidents
        )
        return not is_known and self.lost is None and not self._is_pressed(following)

    def _is_pressed(self, act: i.Commanded) -> bool:
        return f"person/{act.actor}/{act.request}" in self.life.state.requests

    def _settled_one(self) -> bool:
        t, life = self.life.state, self.life
        if life.opened is not None and SHOE not in t.scanners_up:
            life.play(replace(life.opened, at=life.clock.us))
            return True
        incident = t.incident
        if incident is None or incident.number <= self.standing.incidents_count:
            self._is_over = True
            return incident is not None and self._answers_again(incident)
        match incident.kind, incident.state:
            case IncidentKind.RESTARTED, IncidentState.PICTURE:
                self._press(i.ConfirmPicture(draw(t).lies or ""), i.Role.DEALER)
            case IncidentKind.RESTARTED, IncidentState.SUPERVISOR if "go_on" in draw(t).buttons:
                self._press(i.GoOn(), i.Role.SUPERVISOR)
            case IncidentKind.SCANNER_LOST, IncidentState.QUESTION if self._is_asked_anyway():
                life.play(self.acts.pop(0))
            case IncidentKind.SCANNER_LOST, IncidentState.QUESTION:
                self._press(i.AnswerQuestion(incident.number, self._is_drawn()), i.Role.DEALER)
            case IncidentKind.SCANNER_LOST, IncidentState.RESCAN if self.lost is not None:
                lost, self.lost = self.lost, None
                life.play(replace(lost, at=life.clock.us))
            case IncidentKind.SCANNER_LOST, IncidentState.LOST:
                self._is_over = True  # It is unplugged: what comes of that is in the script.
                return False
            case _:
                return False
        return True

    def _answers_again(self, incident: Incident) -> bool:
        """Whether the scanner was lost before the kill, too: asked once more, the answer is the same."""
        is_question = incident.state is IncidentState.QUESTION
        is_asked = is_question and incident.kind is IncidentKind.SCANNER_LOST
        following = self.acts[0] if self.acts else None
        if isinstance(following, i.Commanded) and isinstance(following.command, i.AnswerQuestion):
            is_asked &= self._is_pressed(following)
        if is_asked:
            self._press(i.AnswerQuestion(incident.number, True), i.Role.DEALER)
        return is_asked

    def _answer_what_is_put_again(self) -> None:
        """A scanner's question that lay under another case: what it asked for has been scanned by now."""
        incident = self.life.state.incident
        if incident is None or incident.kind is not IncidentKind.SCANNER_LOST or not self._is_over:
            return
        answers = [
            act.command.incident
            for act in self.acts
            if isinstance(act, i.Commanded) and isinstance(act.command, i.AnswerQuestion)
        ]
        is_known = incident.number <= self.standing.incidents_count
        if is_known and incident.state is IncidentState.QUESTION and incident.number not in answers:
            self._press(i.AnswerQuestion(incident.number, False), i.Role.DEALER)

    def _press(self, command: i.AnyCommand, role: i.Role) -> None:
        life = self.life
        dealer = life.state.duty.dealer
        deals = ANNA if dealer is None else dealer.actor
        actor = deals if role is i.Role.DEALER else next(one for one in (BORIS, CLARA) if one != deals)
        request = f"settled-{life.state.epoch}-{next(self._presses)}"
        life.play(
            i.Commanded(
                at=life.clock.us,
                request=request,
                actor=actor,
                role=role,
                round_no=life.state.round_no,
                command=command,
            )
        )
        assert life.answers[request].accepted, (command, life.answers[request])
