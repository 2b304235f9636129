"""The normal course of a round: betting, cards, windows, turns, the result.

Everything here follows the game's script. What does not fit it goes to `incidents`.
"""

from __future__ import annotations

from collections.abc import Mapping

from controller.games.procedure import (
    Betting,
    BoxState,
    Decide,
    Decision,
    DecisionOf,
    Window,
    WindowAnswer,
)
from controller.table import aside, result, shoe_life
from controller.table.events import (
    BetsClosed,
    BettingOpened,
    DecisionClosed,
    DecisionMade,
    DecisionOpened,
    FactsSettled,
    HandEvaluated,
    HandsOffered,
    RoundOpened,
)
from controller.table.inputs import BetsTaken, DecisionTaken, WindowFacts
from controller.table.script_run import ScriptRun
from controller.table.state import OpenWindow, Round, TableState

BETTING = "betting"
"""The window of betting time; the other windows are named by their stage."""
WINDOW_TIMER = "window"
GRACE_TIMER = "grace"
MILLISECOND = 1_000


def open_round(t: TableState) -> None:
    """Open the next round; its script begins with betting time (RPL-04)."""
    t.round_no += 1
    t.move("open_betting")
    roundid = f"{t.settings.table}-{t.round_no}"
    t.round = Round(t.round_no, roundid, ScriptRun(t.game), t.program, t.rules)
    t.emit(
        RoundOpened(
            round_no=t.round_no,
            game=t.game.name,
            boxes=t.game.boxes,
            rules=t.rules,
            procedures=t.settings.profile.digest,
            dealer=aside.note_relief(t),
            shoe=t.shoe.decks_count if t.game.shoe is not None else None,
        )
    )
    shoe_life.place_kept(t)
    follow(t)


def follow(t: TableState) -> None:
    """Do what the script now asks for without anybody's hand: announce, open a window, propose."""
    announce(t)
    match t.in_play.run.owed:
        case Betting():
            _open_betting(t)
        case Window() as step:
            _open_window(t, step)
        case Decide() as step:
            _open_window(t, step)
            t.in_play.run.tell(None)
            _follow_decisions(t)
        case DecisionOf() as step:
            _serve(t, step)
        case None:
            t.move("result_ready")
            result.propose(t)
        case _:
            pass  # A card or a press is owed: the prompt says so.


def _serve(t: TableState, step: DecisionOf) -> None:
    """Go on with a box that has decided, or that has let its time pass; else the script waits for it."""
    window = t.in_play.window
    assert window is not None and window.stage == step.stage
    decision = window.decisions.get(step.box)
    if decision is None and not window.settled:
        return
    if decision is None:
        decision = Decision(None)
        t.emit(DecisionMade(window=window.window, box=step.box, action=None))
    t.in_play.run.tell(decision)
    follow(t)


def _follow_decisions(t: TableState) -> None:
    """End the window when nobody is left to decide, else serve the boxes that have decided.

    The last decision of an interrupted window waits for the supervisor: behind it the next window may open.
    """
    window = t.in_play.window
    assert window is not None
    if window.all_decided:
        window.undecided = False
        if window.is_open:
            close_window(t, "all_decided")
        if not window.interrupted:
            settle_window(t)
    elif isinstance(t.in_play.run.owed, DecisionOf):
        follow(t)


def void_decisions(t: TableState, box: str) -> None:
    """A box that was taken out of the round decides nothing any more."""
    window = t.in_play.window
    if window is None or window.decides is None or window.settled or box not in window.decides.boxes:
        return
    window.decisions.setdefault(box, Decision(None))
    _follow_decisions(t)


def note_decision(t: TableState, taken: DecisionTaken) -> None:
    """Take a box's decision; it ends the window when it was the last one, and frees the box's cards."""
    window = t.in_play.window
    assert window is not None and window.decides is not None
    window.decisions[taken.box] = Decision(taken.action, taken.positions)
    t.emit(DecisionMade(window=window.window, box=taken.box, action=taken.action, positions=taken.positions))
    _follow_decisions(t)


def announce(t: TableState) -> None:
    """Publish the hands that everybody may know by now."""
    for announcement in t.in_play.run.take_announcements():
        t.emit(HandEvaluated(place=announcement.place, hand=announcement.hand))


def _open_betting(t: TableState) -> None:
    closes_at = t.now + t.settings.betting_ms * MILLISECOND
    t.in_play.window = OpenWindow(BETTING, BETTING, True, closes_at)
    t.arm(WINDOW_TIMER, closes_at)
    t.emit(
        BettingOpened(
            window=BETTING,
            prompt="PLACE_BETS",
            duration_ms=t.settings.betting_ms,
            closes_at_us=closes_at,
            guard_ms=t.settings.guard_ms,
            grace_ms=t.settings.grace_ms,
        )
    )


def _open_window(t: TableState, step: Window | Decide) -> None:
    duration_ms = t.settings.windows_ms[step.stage]
    closes_at = t.now + duration_ms * MILLISECOND
    name = window_name(t, step)
    t.in_play.window = OpenWindow(name, step.stage, step.frees_card, closes_at)
    if isinstance(step, Decide):
        t.in_play.window.decides = step
        voided = [box for box in step.boxes if box in t.in_play.voided_boxes]
        t.in_play.window.decisions.update(dict.fromkeys(voided, Decision(None)))
    t.arm(WINDOW_TIMER, closes_at)
    t.move("window_opened")
    t.emit(
        DecisionOpened(
            window=name,
            stage=step.stage,
            boxes=step.boxes,
            actions=step.actions,
            prices_in_antes=step.prices_in_antes,
            opened_at_us=t.now,
            closes_at_us=closes_at,
            duration_ms=duration_ms,
            guard_ms=t.settings.guard_ms,
            grace_ms=t.settings.grace_ms,
        )
    )
    offer_hands(t, step)


def offer_hands(t: TableState, step: Window | Decide) -> None:
    """Tell the betting system what the choices are worth (RPL-82)."""
    if step.hands is not None:
        t.emit(HandsOffered(window=window_name(t, step), hands=step.hands))


def window_name(t: TableState, step: Window | Decide) -> str:
    """Return the name of a window: an answer to an abandoned deal must not count in the next (OAB-24)."""
    deal = t.in_play.deal
    return step.stage if deal == 1 else f"{step.stage}/{deal}"


def close_window(t: TableState, ended_by: str) -> None:
    """End the open window; its facts may come in until the grace time is over."""
    current = t.in_play
    window = current.window
    assert window is not None and window.is_open
    window.is_open = False
    t.disarm(WINDOW_TIMER)
    _announce_end(t, window, ended_by)
    current.laid_at_window = len(current.laid)
    current.stages_closed.update((window.stage, window.window))
    current.free_at = window.closes_at + t.settings.guard_ms * MILLISECOND if window.frees_card else t.now
    if window.window == BETTING:
        t.move("bets_closed")
    if not window.interrupted:
        _arm_grace(t)


def _arm_grace(t: TableState) -> None:
    t.arm(GRACE_TIMER, t.now + t.settings.grace_ms * MILLISECOND)


def resume_window(t: TableState, window: OpenWindow) -> None:
    """A supervisor lets an interrupted window count; its facts may come in as after any other."""
    window.interrupted = False
    if window.acknowledged or window.all_decided:
        settle_window(t)
    elif not window.is_open:
        _arm_grace(t)


def _announce_end(t: TableState, window: OpenWindow, ended_by: str) -> None:
    if window.window == BETTING:
        t.emit(BetsClosed(window=BETTING, prompt="NO_MORE_BETS", at_us=t.now, ended_by=ended_by))
    else:
        t.emit(DecisionClosed(window=window.window, stage=window.stage, at_us=t.now, ended_by=ended_by))


def abandon_window(t: TableState, ended_by: str) -> None:
    """The round is cancelled, or dealt anew: an open window ends now, and nothing is asked any more."""
    window = t.in_play.window
    if window is not None and window.is_open:
        window.is_open = False
        _announce_end(t, window, ended_by)
    t.deadlines.clear()


def note_bets(t: TableState, facts: BetsTaken) -> None:
    """Take the betting system's answer to `bets.closed`; it acknowledges the end of betting time."""
    window = t.in_play.window
    assert window is not None
    window.boxes.update(facts.boxes)
    window.acknowledged = True
    settle_window(t)


def note_facts(t: TableState, facts: WindowFacts) -> None:
    """Take facts of the window; end it when nobody is undecided, settle it when they are final."""
    window = t.in_play.window
    assert window is not None
    known = window.answer
    window.answer = WindowAnswer(
        in_play=known.in_play if facts.in_play is None else facts.in_play,
        anyone_drew=known.anyone_drew if facts.anyone_drew is None else facts.anyone_drew,
        anyone_bought=known.anyone_bought if facts.anyone_bought is None else facts.anyone_bought,
    )
    window.undecided = window.undecided if facts.undecided is None else facts.undecided
    if window.is_open and window.undecided is False:
        close_window(t, "all_decided")
    elif not window.is_open and facts.acknowledges:
        window.acknowledged = True
        if not window.interrupted:  # Row 35: first a supervisor decides.
            settle_window(t)


def acknowledge_late(t: TableState, window: str) -> bool:
    """Take an acknowledgement that came after the grace time: its facts are final, but it frees the card.

    Returns whether it was still of use.
    """
    current = t.in_play
    last = current.window
    if last is None or last.window != window or last.acknowledged or not last.settled:
        return False
    last.acknowledged = True
    current.free_at = min(current.free_at, t.now)
    return True


def contradicts(final: WindowAnswer, facts: WindowFacts) -> bool:
    """Return whether late facts say yes where a final no has already shaped the round."""
    pairs = (
        (final.in_play, facts.in_play),
        (final.anyone_drew, facts.anyone_drew),
        (final.anyone_bought, facts.anyone_bought),
    )
    return any(was is False and now is True for was, now in pairs)


def contradicts_bets(t: TableState, late: BetsTaken) -> bool:
    """Return whether a box that was said to be empty is in play after all."""
    final = t.in_play.run.facts[0]
    assert isinstance(final, Mapping)
    return any(
        final[box] is BoxState.EMPTY and state is not BoxState.EMPTY for box, state in late.boxes.items()
    )


def settle_window(t: TableState) -> None:
    """The facts of the window are final; the script goes on with them."""
    current = t.in_play
    window = current.window
    assert window is not None and not window.is_open and not window.settled
    window.settled = True
    t.disarm(GRACE_TIMER)
    if window.acknowledged or window.all_decided:
        current.free_at = t.now
    if window.window == BETTING:
        boxes = {box: window.boxes.get(box, t.settings.boxes_not_told[box]) for box in t.game.boxes}
        t.emit(FactsSettled(window=BETTING, acknowledged=window.acknowledged, boxes=boxes))
        current.run.tell(boxes)
    elif window.decides is not None:
        t.emit(FactsSettled(window=window.window, acknowledged=window.all_decided))
        t.move("window_settled")
    else:
        _emit_answer(t, window)
        t.move("window_settled")
        current.answers[window.window] = window.answer
        current.run.tell(window.answer)
    follow(t)


def _emit_answer(t: TableState, window: OpenWindow) -> None:
    answer = window.answer
    t.emit(
        FactsSettled(
            window=window.window,
            acknowledged=window.acknowledged,
            in_play=answer.in_play,
            anyone_drew=answer.anyone_drew,
            anyone_bought=answer.anyone_bought,
        )
    )
