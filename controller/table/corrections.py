"""Correction of a confirmed result: the next revision, by two people, and wallets pay the difference.

Row 36 and P6 of the procedures; RPL-74 is the one in which every wager is refunded. Two supervisors enter
the same correction, the second without seeing the first one's cards: both must come to the same digest of
cards and outcome. It is done between two rounds, or while the cards of the ended round still lie: a round
in play is never held up by an old one.

The round comes with the command, as the journal has it. Its script is run again with the changed facts;
where that can't be done honestly (other rules, players who have decided on what was shown, another course),
the refund is what is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

import msgspec

from controller.cards import Card
from controller.games.procedure import Answer, Betting, Deal, Decision, DecisionOf, Game, Window
from controller.games.published import Outcome, refund_all
from controller.table import acknowledgements
from controller.table.events import (
    CardAt,
    CorrectionProposed,
    CorrectionVoided,
    IncidentKind,
    Refusal,
    RoundClosed,
    RoundCorrected,
    Verdict,
)
from controller.table.incidents import decide, open_incident
from controller.table.inputs import ApproveCorrection, Commanded, ProposeCorrection
from controller.table.past_rounds import PastRound
from controller.table.result import void_boxes
from controller.table.script_run import ScriptRun
from controller.table.state import Proposal, Revision, TableState, Where

SECOND = 1_000_000
REFUND_CELL, RESULT_CELL = "RPL-74", "36"


class Corrected(NamedTuple):
    """What a correction comes to."""

    past: PastRound
    revision: Revision
    outcome: Outcome
    digest: str


def propose(t: TableState, command: ProposeCorrection, sender: Commanded) -> Refusal | None:
    """The first of two people."""
    if not may_correct(t):
        return Refusal.WRONG_PHASE
    if pending(t) is not None:
        return Refusal.CORRECTION_WAITS
    found = _work_out(t, sender.past, command.roundid, command.cards)
    if isinstance(found, Refusal):
        return found
    until = t.now + t.settings.limits.approve_within_s * SECOND
    t.proposal = Proposal(
        command.roundid, found.revision.rev, command.reason, sender.actor, found.digest, until
    )
    t.emit(
        CorrectionProposed(
            roundid=command.roundid,
            rev=found.revision.rev,
            reason=command.reason,
            by=sender.actor,
            until_us=until,
        )
    )
    return None


def approve(t: TableState, command: ApproveCorrection, sender: Commanded) -> Refusal | None:
    """The second of two people: the same correction passes, another one voids both."""
    if not may_correct(t):
        return Refusal.WRONG_PHASE
    proposal = t.proposal
    if proposal is None or proposal.roundid != command.roundid:
        return Refusal.NO_CORRECTION
    if pending(t) is None:
        return Refusal.TOO_LATE
    if proposal.by == sender.actor:
        return Refusal.SAME_PERSON
    found = _work_out(t, sender.past, command.roundid, command.cards)
    if isinstance(found, Refusal):
        return found
    t.proposal = None
    if found.digest == proposal.digest:
        _publish(t, proposal, found, sender.actor)
    else:
        both = (proposal.by, sender.actor)
        t.emit(CorrectionVoided(roundid=proposal.roundid, rev=proposal.rev, by=both, cause="different"))
    return None


def withdraw(t: TableState, sender: Commanded) -> Refusal | None:
    """Somebody who might approve it drops it."""
    if not may_correct(t):
        return Refusal.WRONG_PHASE
    proposal = pending(t)
    if proposal is None:
        return Refusal.NO_CORRECTION
    t.proposal = None
    t.emit(
        CorrectionVoided(roundid=proposal.roundid, rev=proposal.rev, by=(sender.actor,), cause="withdrawn")
    )
    return None


def may_correct(t: TableState) -> bool:
    """Whether no round is in play; the chart can't tell the shuffle of a redeal from any other (OAB-24)."""
    return not t.is_round_open


def pending(t: TableState) -> Proposal | None:
    """Return the correction that waits for its second person, None when its time is over."""
    return t.proposal if t.proposal is not None and t.now <= t.proposal.until else None


def _publish(t: TableState, proposal: Proposal, found: Corrected, second: str) -> None:
    revision = found.revision
    cell = REFUND_CELL if revision.refund else RESULT_CELL
    kind = IncidentKind.WRONG_RESULT
    incident = open_incident(t, kind, cell, first="ask_supervisor", prompt="WRONG_RESULT")
    decide(t, incident, Verdict.CORRECTED, second, proposal.reason)
    t.corrections[proposal.roundid] = revision
    t.emit(
        RoundCorrected(
            roundid=proposal.roundid,
            rev=revision.rev,
            reason=proposal.reason,
            cell=cell,
            incident=incident.number,
            outcome=found.outcome,
            voided=found.past.voided,
            manual=found.past.manual,
            cards=revision.cards,
            refund="all" if revision.refund else None,
            by=(proposal.by, second),
            digest=found.digest,
        )
    )
    t.emit(RoundClosed(rev=revision.rev))
    acknowledgements.ended(t, proposal.roundid, revision.rev)


def _work_out(
    t: TableState, past: PastRound | None, roundid: str, cards: tuple[CardAt, ...]
) -> Corrected | Refusal:
    if past is None or past.roundid != roundid:
        return Refusal.UNKNOWN_ROUND
    if past.outcome is None:
        return Refusal.ROUND_CANCELLED
    before = t.corrections.get(roundid, Revision(1, (), False))
    if cards:
        lying = _lying(t, past, before, cards)
        if isinstance(lying, Refusal):
            return lying
        changed = tuple(
            CardAt(card.place, card.n, lying[card.place, card.n])
            for card in past.cards
            if lying[card.place, card.n] != card.card
        )
        outcome = _judge(t.game, past, lying)
    else:
        changed, outcome = before.cards, refund_all(past.outcome)
    if outcome is None:
        return Refusal.OTHER_COURSE
    revision = Revision(before.rev + 1, changed, not cards)
    if (before.cards, before.refund) == (revision.cards, revision.refund):
        return Refusal.NO_CHANGE
    entered = msgspec.json.encode([roundid, revision, outcome], order="deterministic")
    return Corrected(past, revision, outcome, sha256(entered).hexdigest())


def _lying(
    t: TableState, past: PastRound, before: Revision, cards: tuple[CardAt, ...]
) -> dict[Where, str] | Refusal:
    """Return what lay at each place if `cards` are right, or why the result can't be told from them."""
    if not t.game.corrects_results:
        return Refusal.REFUND_ONLY
    recorded = {(card.place, card.n): card.card for card in past.cards}
    decided_on = {(card.place, card.n) for card in past.cards if card.decided_on}
    told = {(card.place, card.n): card.card for card in cards}
    if len(told) != len(cards) or not told.keys() <= recorded.keys():
        return Refusal.UNKNOWN_PLACE
    if past.rules != t.rules or _judge(t.game, past, recorded) != past.outcome:
        return Refusal.OTHER_RULES
    if any(where in decided_on and recorded[where] != card for where, card in told.items()):
        return Refusal.DECIDED_ON
    lying = recorded | {(card.place, card.n): card.card for card in before.cards} | told
    out = Counter([*lying.values(), *past.aside])
    decks = 1 if t.game.shoe is None else t.game.shoe.decks
    return Refusal.IMPOSSIBLE_CARD if max(out.values()) > decks else lying


def _judge(game: Game, past: PastRound, lying: Mapping[Where, str]) -> Outcome | None:
    """Run the round's script with these cards; None where it asks for what has not happened."""
    left = {where: Card.parse(card) for where, card in lying.items()}
    decisions = {(told.stage, told.box): told.decision for told in past.decisions}
    run = ScriptRun(game)
    while (step := run.owed) is not None:
        match step:
            case Betting():
                fact: Answer = past.boxes
            case Deal(place=place, n=n):
                fact = left.pop((place, n), None)
            case Window(stage=stage):
                fact = past.answers.get(stage)
            case DecisionOf(stage=stage, box=box):
                silence = Decision(None) if box in past.voided_boxes else None
                fact = decisions.get((stage, box), silence)
            case _:
                fact = None
        if fact is None and isinstance(step, Betting | Deal | Window | DecisionOf):
            return None
        run.tell(fact)
    return None if left else void_boxes(run.outcome, past.voided_boxes)
