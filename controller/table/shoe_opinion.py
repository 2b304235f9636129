"""A shoe that judges by itself: its own result of a coup, and its complaints (rows 10, 11, 19b and 29).

The rules decide. Where the shoe says otherwise a card was read or placed wrongly somewhere, so that the
result is not confirmed before a supervisor has looked.
"""

from __future__ import annotations

from controller.games.published import Coup, Outcome, Wager
from controller.table import halts, laying, procedures, readings, result, surplus
from controller.table.aside import burn_due
from controller.table.charts import IN_ROUND, Phase
from controller.table.events import (
    BlockReason,
    DeviceComplained,
    IncidentKind,
    Refusal,
    ScannerChanged,
    ShoeJudged,
    Verdict,
)
from controller.table.gate import refuse
from controller.table.incidents import note_incident
from controller.table.inputs import OUTSIDE, Complaint, ShoeComplained, ShoeResulted, ShoeStandsBy
from controller.table.state import TableState

CELL = "19b late"
"""A difference that is told after RESULT: the table blocks itself."""
CARD_OUT = frozenset({Complaint.OVERDRAW})
ASK_ABOUT_A_CARD = frozenset({IncidentKind.EARLY_DRAW, IncidentKind.SURPLUS_CARD})
CASES_OF_A_CARD_OUT = frozenset({*IN_ROUND, Phase.READY, Phase.CONFIRMED})
BROKEN = frozenset({Complaint.PULLED_BACK})


def resulted(t: TableState, value: ShoeResulted) -> None:
    """Take the shoe's result of this coup; it is compared as soon as the rules have theirs.

    One that comes before a card of this coup lies is the last coup's, and too late; one of a shoe that has
    lost count of the coup is of some of the cards.
    """
    if t.round is None or not t.round.laid or t.round.shoe_astray:
        refuse(t, "shoe_resulted", Refusal.NOT_OWED)
        return
    t.round.opinion = (value.winner, value.player_pair, value.banker_pair)
    t.round.compared = None


def follow(t: TableState) -> None:
    """End a step: compare what the shoe says with the result, anew when a reading was corrected."""
    current = t.round
    if current is None or current.opinion is None or current.shoe_astray:
        return
    if t.phase not in (Phase.RESULT_PROPOSED, Phase.CONFIRMED):
        return
    ours = _as_the_shoe_says(result.outcome(current))
    if ours is None or current.compared == ours:
        return
    current.compared = ours
    winner, player_pair, banker_pair = current.opinion
    t.emit(
        ShoeJudged(
            winner=winner, player_pair=player_pair, banker_pair=banker_pair, agrees=ours == current.opinion
        )
    )
    if ours == current.opinion:
        return
    if t.phase is Phase.RESULT_PROPOSED:
        procedures.meet(t, IncidentKind.SHOE_DISAGREES, {})
    else:
        note_incident(t, IncidentKind.SHOE_DISAGREES, CELL, Verdict.NO_NEW_ROUND, "CALL_SUPERVISOR")
        halts.block(t, BlockReason.SHOE_DISAGREES, CELL)


def _as_the_shoe_says(outcome: Outcome) -> tuple[str, bool, bool] | None:
    coup: Coup | None = outcome.coup
    if coup is None:
        return None
    return coup.winner, Wager.PLAYER_PAIR in coup.pairs, Wager.BANKER_PAIR in coup.pairs


def complained(t: TableState, value: ShoeComplained) -> None:
    """Put the complaint on record; a card that came out against the order, or a broken shoe, is a case.

    What people are being asked about already is not asked twice; a card that comes out in another hold is
    asked about after it.
    """
    t.emit(DeviceComplained(scanner=value.scanner, complaint=value.complaint, cleared=value.cleared))
    if value.cleared:
        return
    if value.complaint in CARD_OUT and t.phase in CASES_OF_A_CARD_OUT:
        if t.incident is None and t.round is not None and t.round.shoe_astray and laying.is_card_due(t):
            readings.read_failed(t)  # By its own count the coup was over; here the card is due.
        elif t.incident is None:
            surplus.card_not_due(t, None)
        elif not any(known.kind in ASK_ABOUT_A_CARD for known in t.incidents):
            t.read_meanwhile = True
    elif value.complaint in BROKEN and t.phase in IN_ROUND and t.incident is None:
        procedures.meet(t, IncidentKind.DEVICE_FAILED, {})


def stands_by(t: TableState, value: ShoeStandsBy) -> None:
    """The shoe is ready for the next coup, until a card of it is dealt."""
    t.shoe.stands_by = True
    begins_anew(t)
    is_up = value.scanner in t.scanners_up
    t.emit(ScannerChanged(scanner=value.scanner, up=is_up, reason="stands by"))


def begins_anew(t: TableState) -> None:
    """The shoe has lost count of the coup, or begins it: the next card is Player's first to it.

    Where cards of the coup lie, the order of drawing alone says where the rest goes, and the shoe's result
    would be one of some of the cards. All cards once more, from the first, are a coup that it knows.
    """
    if t.round is not None and t.phase is Phase.DEALING:
        is_scanned_anew = t.incident is not None and t.incident.again is not None
        t.round.shoe_astray = bool(t.round.laid) and not is_scanned_anew
        t.round.opinion = None


def is_outside(t: TableState, place: str | None) -> bool:
    """Whether the shoe says of a card that no coup was due it, and it is none that is to be burned.

    Rows 7 and 10. It is not taken as read: it is the next coup's first card, and the shoe reads it then.
    """
    if place != OUTSIDE or t.phase not in CASES_OF_A_CARD_OUT:
        return False
    is_scanned_to_burn = t.incident is not None and t.incident.burns
    return not is_scanned_to_burn and (t.phase is not Phase.DEALING or burn_due(t) is None)


def lies_wrongly(t: TableState, place: str | None) -> bool:
    """Whether the shoe says of the card that is due that it goes somewhere else (row 11)."""
    plan = t.game.shoe
    if plan is None or place is None or place not in plan.spots or t.in_play.shoe_astray:
        return False
    owed = procedures.due_spot(t)
    return owed is not None and plan.spots[place] != owed
