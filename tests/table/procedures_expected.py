"""What the procedures ask for, typed from their text, case by case: the second table beside the profiles.

It is kept apart from `config/profiles` on purpose and made otherwise: no line stands above another one,
and every case of a row must meet exactly one. A line is `conditions: verdict`; `in` names the phase.

Two rules hold for all rows. A person's report never cancels by itself, a supervisor presses (P8): that is
`report`. Where a supervisor decides he may always cancel (P6), unless the row says that it never cancels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from controller.table.charts import Phase
from controller.table.events import IncidentKind as Kind
from controller.table.profile import CellVerdict, Deck
from controller.table.situations import Axis, Known


class Says(NamedTuple):
    """What a case asks for: the verdict, the axis that is asked, the presses, the deck."""

    verdict: CellVerdict
    asks: Axis | None = None
    presses: frozenset[str] = frozenset()
    deck: Deck = Deck.KEEP


CORRECT = "supervisor order_rescan order_entry confirm_cancel"
REPORT = "supervisor confirm_cancel"
IN_ROUND = "in=betting|dealing|deciding|result_proposed"
BEFORE_THE_RESULT = "in=dealing|deciding|result_proposed"
WHILE_BETTING = "in=betting|dealing"
"""Until the guard after betting time has passed a card is early; the phase is `dealing` by then."""

DEFAULT: Mapping[Kind, tuple[str, ...]] = {
    # 1: scanned again up to three times, then rows 2 and 3: a supervisor, a re-scan or two people's entry.
    Kind.FAILED_READ: ("rescan=yes: rescan", f"rescan=no: {CORRECT}"),
    # 2: the order of drawing counts. All from the first, where it is certain; else cancel. It is a re-scan
    # like any other, so it may be used up.
    Kind.MISREAD_LATE: (
        "certain=unknown: ask certain",
        "certain=yes rescan=yes: rescan_all",
        "certain=yes rescan=no: supervisor order_rescan confirm_cancel",
        f"certain=no: {REPORT}",
    ),
    # 3: all cards from the first; of the last one that alone. When the re-scans are used up as row 1.
    Kind.DISPUTED_READ: (
        "rescan=yes later=no: rescan",
        "rescan=yes later=yes: rescan_all",
        f"rescan=no later=no: {CORRECT}",
        "rescan=no later=yes: supervisor order_rescan confirm_cancel",  # One card is entered, not all.
    ),
    # 4, 5: in one deck the same code is asked about. No is a doubled card: void, deck out.
    Kind.SAME_CODE_AGAIN: (
        "certain=unknown: ask certain",
        "certain=yes: drop",
        "certain=no: cancel deck",
    ),
    # 6: as 5.
    Kind.FOREIGN_CARD: (": cancel deck",),
    # 7: before START no round could burn or hold a card: it is a wrong shuffle, which is repeated.
    Kind.EARLY_DRAW: (
        "in=ready: shuffle",
        f"{WHILE_BETTING} revealed=unknown: ask revealed",
        f"{WHILE_BETTING} scanned=no revealed=no: next_due",
        f"{WHILE_BETTING} scanned=no revealed=yes: burn",
        f"{WHILE_BETTING} scanned=yes revealed=no: burn",
        f"{WHILE_BETTING} scanned=yes revealed=yes: cancel",
    ),
    # 8: burn now if no card is dealt; poker goes on.
    Kind.BURN_FORGOTTEN: ("later=no: burn", "later=yes: go_on"),
    # 9
    Kind.TWO_CARDS: ("certain=unknown: ask certain", "certain=yes: go_on", f"certain=no: {REPORT}"),
    # 10: one question; seen while a decision is to come: cancel. One deck: burned. Confirmed: deck check.
    Kind.SURPLUS_CARD: (
        f"{BEFORE_THE_RESULT} revealed=unknown: ask revealed",
        f"{BEFORE_THE_RESULT} revealed=no: burn",
        f"{BEFORE_THE_RESULT} revealed=yes decision=yes: cancel",
        f"{BEFORE_THE_RESULT} revealed=yes decision=no: burn",
        "in=confirmed: check_deck",
    ),
    # 11: moved if no later card lies; else re-laid by a supervisor.
    Kind.WRONG_PLACE: (
        "later=unknown: ask later",
        "later=no certain=unknown: ask certain",
        "later=no certain=yes: restore",
        f"later=no certain=no: {REPORT}",
        "later=yes: supervisor go_on confirm_cancel",
    ),
    # 14: void.
    Kind.HIDDEN_CARD_SHOWN: (f": {REPORT}",),
    # 15: card and bets stand; one that was due face down is an exposed card, row 14.
    Kind.BOXED_CARD: ("hidden=no: go_on", f"hidden=yes: {REPORT}"),
    # 16: a full recount between rounds; recorded: restore; never scanned: burn if nobody saw it.
    Kind.CARD_ON_FLOOR: (
        "in=shuffling|ready: check_deck",
        f"{IN_ROUND} scanned=unknown: ask scanned",
        f"{IN_ROUND} scanned=yes: supervisor go_on confirm_cancel",
        f"{IN_ROUND} scanned=no revealed=unknown: ask revealed",
        f"{IN_ROUND} scanned=no revealed=no: burn",
        f"{IN_ROUND} scanned=no revealed=yes: {REPORT}",
    ),
    # 17: a supervisor restores; no cancel.
    Kind.TABLE_CLEARED: (": supervisor go_on",),
    # 18: a supervisor presses; no cancel.
    Kind.PRESS_FORGOTTEN: (": supervisor go_on",),
    # 19: the computed result stands.
    Kind.WRONG_ANNOUNCEMENT: (": go_on",),
    # 23a: the order of drawing is kept; seen by others: void the affected boxes.
    Kind.EARLY_EXCHANGE: (
        "revealed=unknown: ask revealed",
        "revealed=no: next_due",
        "revealed=yes: supervisor void_box confirm_cancel",
    ),
    # 23b: too few, or not revealed: go on with what is due; else void that box.
    Kind.WRONG_EXCHANGE: (": supervisor go_on void_box confirm_cancel",),
    # 24: the dealer's hand: all void; a player's: that one.
    Kind.WRONG_NUMBER_OF_CARDS: (
        f"dealers=yes: {REPORT}",
        "dealers=no: supervisor void_box confirm_cancel",
    ),
    # 29: a spare and go on; somebody disadvantaged: stakes back.
    Kind.DEVICE_FAILED: (": supervisor go_on confirm_cancel",),
    # 30: goes on after the question whether a card was drawn meanwhile, which is scanned then.
    # Another device is accepted by a supervisor; one that stays away too long leaves the cancel.
    Kind.SCANNER_LOST: (
        f"gone=yes: {REPORT}",
        "gone=no other=yes: supervisor go_on confirm_cancel",
        "gone=no other=no later=unknown: ask later",
        "gone=no other=no later=no: go_on",
        "gone=no other=no later=yes: rescan",
    ),
    # 31: in a round a change of the dealer takes two signatures.
    Kind.DEALER_CHANGE: (": supervisor go_on confirm_cancel",),
    # 2: a card read while the table took none comes next, in the order of drawing; else a supervisor.
    Kind.HELD_READ: (
        "certain=yes later=unknown: ask later",
        "certain=yes later=yes: rescan",
        "certain=yes later=no: supervisor go_on order_rescan confirm_cancel",
        "certain=no: supervisor order_rescan confirm_cancel",
    ),
    # 35: what is left out after two stops; only a press can be missed without harm.
    Kind.QUARANTINED: ("certain=yes: supervisor go_on confirm_cancel", f"certain=no: {REPORT}"),
    # 33: windows end by their lease, the round is finished.
    Kind.LINK_LOST: (": go_on",),
    # 34: only if surveillance records.
    Kind.VIDEO_LOST: (": supervisor go_on confirm_cancel",),
    # 35
    Kind.RESTARTED: (
        "certain=unknown: ask certain",
        "certain=yes: go_on",
        "certain=no: supervisor go_on confirm_cancel",
    ),
    # 41: refused, logged, what was decided stands.
    Kind.WRONG_FACT: (": go_on",),
}

LIVE_POKER: Mapping[Kind, tuple[str, ...]] = {
    # RPL-75: one re-scan in the initial deal, then cancel; later a re-scan, then entry or cancel.
    Kind.FAILED_READ: (
        "rescan=yes: rescan",
        "initial=yes rescan=no: cancel",
        f"initial=no rescan=no: {CORRECT}",
    ),
    Kind.MISREAD_LATE: (
        "certain=unknown: ask certain",
        "certain=yes rescan=yes: rescan_all",
        "certain=yes initial=yes rescan=no: cancel",
        "certain=yes initial=no rescan=no: supervisor order_rescan confirm_cancel",
        f"certain=no: {REPORT}",
    ),
    Kind.DISPUTED_READ: (
        "rescan=yes later=no: rescan",
        "rescan=yes later=yes: rescan_all",
        "initial=yes rescan=no: cancel",
        f"initial=no rescan=no later=no: {CORRECT}",
        "initial=no rescan=no later=yes: supervisor order_rescan confirm_cancel",
    ),
    # RPL-71: a card out when none is due is burned; RPL-70: a seen one cancels while somebody may decide.
    Kind.EARLY_DRAW: (
        "in=ready: shuffle",
        f"{WHILE_BETTING} revealed=unknown: ask revealed",
        f"{WHILE_BETTING} revealed=no: burn",
        f"{WHILE_BETTING} scanned=no revealed=yes: burn",
        f"{WHILE_BETTING} scanned=yes revealed=yes: cancel",
    ),
    # RPL-71: of two cards out of the shoe the second is burned.
    Kind.TWO_CARDS: ("certain=unknown: ask certain", "certain=yes: burn", f"certain=no: {REPORT}"),
    # RPL-70.
    Kind.HIDDEN_CARD_SHOWN: (f": {REPORT}",),
    Kind.TABLE_CLEARED: (f": {REPORT}",),
    # RPL-76: in the shuffle the deck is changed; in the round cancelled as well.
    Kind.CARD_ON_FLOOR: ("in=shuffling|ready: check_deck deck", f"{IN_ROUND}: {REPORT} deck"),
    # RPL-71 and RPL-70 stand above row 23a.
    Kind.EARLY_EXCHANGE: (
        "revealed=unknown: ask revealed",
        "revealed=no: burn",
        "revealed=yes decision=yes: cancel",
        "revealed=yes decision=no: burn",
    ),
    # RPL-72.
    Kind.WRONG_EXCHANGE: (f": {REPORT}",),
    Kind.WRONG_NUMBER_OF_CARDS: (f": {REPORT}",),
}

OASIS_WITH_BONUS: Mapping[Kind, tuple[str, ...]] = {
    # OAB-25: a dealer card turned up by accident: play on.
    Kind.HIDDEN_CARD_SHOWN: ("dealers=yes: go_on", f"dealers=no: {REPORT}"),
    # It may be the dealer's, too, whom a boxed card was due to: then play on.
    Kind.BOXED_CARD: ("hidden=no: go_on", "hidden=yes: supervisor go_on confirm_cancel"),
    # OAB-24.
    Kind.WRONG_EXCHANGE: (": supervisor order_redeal confirm_cancel",),
    Kind.WRONG_NUMBER_OF_CARDS: (": supervisor order_redeal confirm_cancel",),
}

EXPECTED: Mapping[str, Mapping[Kind, tuple[str, ...]]] = {
    "default": DEFAULT,
    "russian_poker_live": {**DEFAULT, **LIVE_POKER},
    "oasis_with_bonus": {**DEFAULT, **OASIS_WITH_BONUS},
}

NO_CASE: Mapping[str, Mapping[str, str]] = {
    "default": {
        **dict.fromkeys(("12", "20a", "20b", "20c", "21", "22"), "not applicable"),  # Other games.
        "13": "not applicable",  # An empty box is dealt no card.
        "27": "not applicable",  # One deck, shuffled before every round.
        "39": "not applicable",  # The betting system's matter.
        **dict.fromkeys(("5", "23c", "23d", "23e", "25", "26", "28"), "built in"),
        **dict.fromkeys(("32", "36", "37", "38", "40", "42"), "built in"),
    },
    "russian_poker_live": {"13": "built in"},  # RPL-08: boxes without bets are dealt, their hands ignored.
    "oasis_with_bonus": {},
}
"""The rows that no cell decides; what a profile does not name here is as in the default one."""

LIMITS: Mapping[str, Mapping[str, int]] = {
    "default": {
        "read_tries": 3,
        "count_every_rounds": 5,
        "order_run": 7,
        "scanner_gone_s": 120,
        "escalate_after_s": 60,
        "give_up_after_s": 180,
        "breaker_cases": 3,
        "breaker_minutes": 30,
        "retire_rescans_per_10_000": 50,
    },
    "russian_poker_live": {"read_tries": 1},
    "oasis_with_bonus": {},
}


def expected(profile: str, kind: Kind, phase: Phase, values: Mapping[Axis, Known]) -> Says:
    """Return what the one line says that this case meets. Fails for none, and for two."""
    case = {"in": phase.value, **{axis.value: value.value for axis, value in values.items()}}
    found = [line for line in EXPECTED[profile][kind] if _meets(line, case)]
    assert len(found) == 1, f"{kind} {case}: {found}"
    return _says(found[0].partition(":")[2].split())


def _meets(line: str, case: Mapping[str, str]) -> bool:
    conditions = [condition.split("=") for condition in line.partition(":")[0].split()]
    return all(case[name] in several.split("|") for name, several in conditions)


def _says(words: list[str]) -> Says:
    verdict, *rest = words
    deck = Deck.OUT if "deck" in rest else Deck.KEEP
    names = [word for word in rest if word != "deck"]
    if verdict == "ask":
        return Says(CellVerdict.ASK, asks=Axis(names[0]))
    return Says(CellVerdict(verdict), presses=frozenset(names), deck=deck)
