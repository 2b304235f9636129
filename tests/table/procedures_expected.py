"""What the procedures ask for in every case: typed from their text, not from the profiles.

Every case of a situation meets exactly one line of its block: `conditions: answer  # source`. A condition
names the phase or an axis and its values; what is not named may be anything. An answer is a verdict; after
`ask` the axis that is asked for, after `supervisor` his presses; `deck` sends the deck out. The source is a
row of the procedures or a rule of the game. `report` is what a person's word can lead to and no more: a
supervisor presses the cancel (P8). Where a supervisor decides he may cancel (P6), unless the row says never.

The table was typed without a look at the profiles, and compared with them afterwards: where they differed
the text decided. Where it is silent, or can be read in two ways, `open` says why the profiles' answer stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from table.procedures_shoe import BACCARAT, SHOE_LIMITS, SHOE_NO_CASE

from controller.table.cells import CellVerdict, Deck
from controller.table.charts import Phase
from controller.table.events import IncidentKind as Kind
from controller.table.situations import Axis, Known

DEFAULT = """
FAILED_READ
  rescan=yes: rescan                              # 1: the same card, three tries
  rescan=no: supervisor order_rescan order_entry confirm_cancel  # 1 leads to 2: re-scan or two blind entries
MISREAD_LATE
  certain=unknown: ask certain                    # 2: the order of drawing counts
  certain=no: report                              # 2
  certain=yes rescan=yes: rescan_all              # 3; open: 2 has a supervisor order a re-scan
  certain=yes rescan=no: supervisor order_rescan order_entry confirm_cancel  # 2
HELD_READ  # Open: the procedures have no such row. By 2 the order of drawing counts, not of reading.
  certain=yes later=unknown: ask later            # open: only the dealer knows whether one came out
  certain=yes later=yes: rescan                   # 2: it is the next one, and gets its place
  certain=yes later=no: supervisor go_on order_rescan confirm_cancel  # open: a record says otherwise (P8)
  certain=no: supervisor order_rescan confirm_cancel  # 2: uncertain, unless it is found and scanned
DISPUTED_READ
  rescan=yes later=no: rescan                     # 3: nothing depends on the last card
  rescan=yes later=yes: rescan_all                # 3; a card that was decided on cancels (P5)
  rescan=no: supervisor order_rescan order_entry confirm_cancel  # 1 leads to 2 and 3
SAME_CODE_AGAIN
  certain=unknown: ask certain                    # 4: the same card?
  certain=yes: drop                               # 4
  certain=no: cancel deck                         # 4, 5: one deck
FOREIGN_CARD
  : cancel deck                                   # 6 as 5
EARLY_DRAW
  phase=ready: shuffle                            # 18 leads to 7; open: no round, nothing to hold for
  phase=betting|dealing revealed=unknown: ask revealed  # 7a or 7b
  phase=betting|dealing scanned=no revealed=no: next_due  # 7a
  phase=betting|dealing scanned=no revealed=yes: burn  # 7b
  phase=betting|dealing scanned=yes revealed=no: burn  # 7c not shown: one deck
  phase=betting|dealing scanned=yes revealed=yes: cancel  # 7c shown: the first way
BURN_FORGOTTEN
  later=no: burn                                  # 8
  later=yes: go_on                                # 8: other games than baccarat
TWO_CARDS
  certain=unknown: ask certain                    # 9
  certain=yes: go_on                              # 9; open: a face that was seen is reported by row 14
  certain=no: report                              # 9
SURPLUS_CARD
  phase=dealing|deciding|result_proposed revealed=unknown: ask revealed  # the one question
  phase=dealing|deciding|result_proposed revealed=no: burn  # 10a: one deck
  phase=dealing|deciding|result_proposed revealed=yes decision=yes: cancel  # 10b
  phase=dealing|deciding|result_proposed revealed=yes decision=no: burn  # 10b
  phase=confirmed: check_deck                     # refused, an incident, a check before the next round
WRONG_PLACE
  later=unknown: ask later                        # 11
  later=no certain=unknown: ask certain           # 11: moved?
  later=no certain=yes: restore                   # 11, P2
  later=no certain=no: report                     # open: 11 moves it; if it can't be, P4
  later=yes: supervisor go_on confirm_cancel      # 11; open: nobody is asked, he sees what was scanned
HIDDEN_CARD_SHOWN
  : report                                        # 14: poker
BOXED_CARD
  hidden=no: go_on                                # 15: the first way
  hidden=yes: report                              # 14
CARD_ON_FLOOR
  phase=shuffling|ready: check_deck               # 16: a full recount
  phase=betting|dealing|deciding|result_proposed scanned=unknown: ask scanned  # 16
  phase=betting|dealing|deciding|result_proposed scanned=yes: supervisor go_on confirm_cancel  # 16: in view
  phase=betting|dealing|deciding|result_proposed scanned=no revealed=unknown: ask revealed  # 16
  phase=betting|dealing|deciding|result_proposed scanned=no revealed=no: burn  # 16
  phase=betting|dealing|deciding|result_proposed scanned=no revealed=yes: report  # open: 16 burns unseen ones
TABLE_CLEARED
  : supervisor go_on                              # 17: never cancelled
PRESS_FORGOTTEN
  : supervisor go_on                              # 18: never cancelled
WRONG_ANNOUNCEMENT
  : go_on                                         # 19
EARLY_EXCHANGE
  revealed=unknown: ask revealed                  # 23a
  revealed=no: next_due                           # 23a
  revealed=yes: supervisor void_box confirm_cancel  # 23a
WRONG_EXCHANGE
  : supervisor go_on void_box confirm_cancel      # 23b
WRONG_NUMBER_OF_CARDS
  dealers=yes: report                             # 24: all hands
  dealers=no: supervisor void_box confirm_cancel  # 24: that hand; with a wrong stub all
DECK_EMPTY
  : cancel deck                                   # 28; open: the deck goes as by 25, since cards are missing
DEVICE_FAILED
  : supervisor go_on confirm_cancel               # 29
SCANNER_LOST
  gone=no other=no later=unknown: ask later       # 30
  gone=no other=no later=yes: rescan              # 30
  gone=no other=no later=no: go_on                # 30
  gone=no other=yes: supervisor go_on confirm_cancel  # 30
  gone=yes: supervisor order_entry confirm_cancel  # 30: the first way; he may still cancel (P6)
DEALER_CHANGE
  : supervisor go_on confirm_cancel               # 31: two signatures
LINK_LOST
  : go_on                                         # 33; open: with no bets at all it is dealt, not cancelled
VIDEO_LOST
  : supervisor go_on confirm_cancel               # 34
RESTARTED
  certain=unknown: ask certain                    # 35
  certain=yes: go_on                              # 35
  certain=no: supervisor go_on confirm_cancel     # 35
QUARANTINED  # Open: the procedures have no such row.
  certain=yes: supervisor go_on confirm_cancel    # open: a press that is left out has changed nothing
  certain=no: report                              # 35: what can't be confirmed is cancelled
WRONG_FACT
  : go_on                                         # 41
"""

LIVE_POKER = """
FAILED_READ
  rescan=yes: rescan                              # RPL-75
  initial=yes rescan=no: cancel                   # RPL-70, RPL-75
  initial=no rescan=no: supervisor order_rescan order_entry confirm_cancel  # RPL-75; open: how often
MISREAD_LATE
  initial=yes rescan=no: cancel                   # RPL-70, RPL-75: whatever the order
  initial=yes rescan=yes certain=unknown: ask certain  # 2
  initial=yes rescan=yes certain=no: report       # 2
  initial=yes rescan=yes certain=yes: rescan_all  # RPL-75
  initial=no certain=unknown: ask certain         # 2
  initial=no certain=no: report                   # 2
  initial=no certain=yes rescan=yes: rescan_all   # RPL-75
  initial=no certain=yes rescan=no: supervisor order_rescan order_entry confirm_cancel  # RPL-75
DISPUTED_READ
  rescan=yes later=no: rescan                     # RPL-75
  rescan=yes later=yes: rescan_all                # RPL-75, 3
  initial=yes rescan=no: cancel                   # RPL-70, RPL-75
  initial=no rescan=no: supervisor order_rescan order_entry confirm_cancel  # RPL-75
EARLY_DRAW
  phase=ready: shuffle                            # 18, 7, RPL-77
  phase=betting|dealing revealed=unknown: ask revealed  # the one question
  phase=betting|dealing revealed=no: burn         # RPL-71, D-01
  phase=betting|dealing scanned=no revealed=yes: burn  # 7b, RPL-71
  phase=betting|dealing scanned=yes revealed=yes: cancel  # 7c
TWO_CARDS
  certain=unknown: ask certain                    # 9
  certain=yes revealed=unknown: ask revealed      # the one question
  certain=yes revealed=no: burn                   # RPL-71
  certain=yes revealed=yes decision=yes: cancel   # RPL-70, 10b
  certain=yes revealed=yes decision=no: burn      # RPL-71, 10b
  certain=no: report                              # 9, P4
HIDDEN_CARD_SHOWN
  : report                                        # RPL-70
BOXED_CARD
  hidden=no: go_on                                # 15
  hidden=yes: report                              # RPL-70
CARD_ON_FLOOR
  phase=shuffling|ready: check_deck deck          # RPL-76
  phase=betting|dealing|deciding|result_proposed: report deck  # RPL-70, RPL-76
TABLE_CLEARED
  : report                                        # RPL-70, D-36
EARLY_EXCHANGE
  revealed=unknown: ask revealed                  # 23a
  revealed=no: burn                               # RPL-71; open: 23a would keep it for the exchange
  revealed=yes decision=yes: cancel               # RPL-70, 10b
  revealed=yes decision=no: burn                  # RPL-71, 10b
WRONG_EXCHANGE
  : report                                        # RPL-70, RPL-72
SCANNER_LOST
  gone=no other=no later=unknown: ask later       # 30
  gone=no other=no later=yes: rescan              # 30, RPL-75
  gone=no other=no later=no: go_on                # 30
  gone=no other=yes: supervisor go_on confirm_cancel  # 30
  gone=yes initial=yes: report                    # RPL-70, RPL-75: entry in later phases only
  gone=yes initial=no: supervisor order_entry confirm_cancel  # 30, RPL-75
WRONG_NUMBER_OF_CARDS
  : report                                        # RPL-70, RPL-72
"""

OASIS_WITH_BONUS = """
HIDDEN_CARD_SHOWN
  dealers=yes: go_on                              # OAB-25
  dealers=no: report                              # 14
BOXED_CARD
  hidden=no: go_on                                # 15
  hidden=yes dealers=yes: go_on                   # OAB-25
  hidden=yes dealers=no: report                   # 14
WRONG_EXCHANGE
  : supervisor order_redeal confirm_cancel        # OAB-24
WRONG_NUMBER_OF_CARDS
  : supervisor order_redeal confirm_cancel        # OAB-24
"""

NO_CASE: Mapping[str, Mapping[str, str]] = {
    "default": {
        **dict.fromkeys(("12", "20a", "20b", "20c", "21", "22"), "not applicable"),  # Other games.
        "13": "not applicable",  # An empty box is dealt no card.
        "27": "not applicable",  # One deck, shuffled before every round.
        "19b": "not applicable",  # A shoe that judges by itself is at baccarat alone.
        "39": "not applicable",  # The betting system's matter.
        **dict.fromkeys(("5", "23c", "23d", "23e", "25", "26"), "built in"),
        **dict.fromkeys(("32", "36", "37", "38", "40", "42"), "built in"),
    },
    "russian_poker_live": {"13": "built in"},  # RPL-08: boxes without bets are dealt, their hands ignored.
    "oasis_with_bonus": {},
    "baccarat": SHOE_NO_CASE,
}
"""The rows that no cell decides; what a profile does not name here is as in the default one."""

LIMITS: Mapping[str, Mapping[str, int]] = {
    "default": {
        "read_tries": 3,  # Row 1.
        "count_every_rounds": 5,
        "order_run": 7,
        "scanner_gone_s": 120,  # Row 30.
        "escalate_after_s": 60,  # Row 40.
        "give_up_after_s": 180,
        "breaker_cases": 3,  # Row 42.
        "breaker_minutes": 30,
        "retire_rescans_per_10_000": 50,  # Worn cards: 0.5 %.
    },
    "russian_poker_live": {"read_tries": 1},  # RPL-75: a re-scan, then a supervisor.
    "oasis_with_bonus": {},
    "baccarat": SHOE_LIMITS,
}


class Says(NamedTuple):
    """What a case asks for: the verdict, the axis that is asked, the presses, the deck."""

    verdict: CellVerdict
    asks: Axis | None = None
    presses: frozenset[str] = frozenset()
    deck: Deck = Deck.KEEP


class Line(NamedTuple):
    """One line: the values that it asks for, by the name of the axis or `phase`, and what it says."""

    conditions: Mapping[str, tuple[str, ...]]
    says: Says

    def meets(self, phase: Phase, values: Mapping[Axis, Known]) -> bool:
        """Whether this line decides the case."""
        case: dict[str, str] = {"phase": phase, **values}
        return all(case[name] in several for name, several in self.conditions.items())


def _lines(text: str) -> dict[Kind, list[Line]]:
    blocks: dict[Kind, list[Line]] = {}
    for raw in text.strip().splitlines():
        written = raw.partition("#")[0].rstrip()
        if not raw.startswith(" "):
            block = blocks.setdefault(Kind(written), [])
            continue
        asked, _, answer = written.partition(":")
        conditions = (condition.split("=") for condition in asked.split())
        meant = {name: tuple(values.split("|")) for name, values in conditions}
        block.append(Line(meant, _says(answer.split())))
    return blocks


def _says(words: list[str]) -> Says:
    deck = Deck.OUT if "deck" in words else Deck.KEEP
    match [word for word in words if word != "deck"]:
        case ["ask", axis]:
            return Says(CellVerdict.ASK, asks=Axis(axis))
        case ["report"]:
            return Says(CellVerdict.SUPERVISOR, presses=frozenset({"confirm_cancel"}), deck=deck)
        case [verdict, *presses]:
            return Says(CellVerdict(verdict), presses=frozenset(presses), deck=deck)
    raise ValueError(words)


EXPECTED: Mapping[str, Mapping[Kind, list[Line]]] = {
    "default": _lines(DEFAULT),
    "russian_poker_live": {**_lines(DEFAULT), **_lines(LIVE_POKER)},
    "oasis_with_bonus": {**_lines(DEFAULT), **_lines(OASIS_WITH_BONUS)},
    "baccarat": {kind: lines for kind, lines in (_lines(DEFAULT) | _lines(BACCARAT)).items() if lines},
}


def line_of(profile: str, kind: Kind, phase: Phase, values: Mapping[Axis, Known]) -> Line:
    """Return the one line that this case meets. Fails for none, and for two."""
    found = [line for line in EXPECTED[profile][kind] if line.meets(phase, values)]
    assert len(found) == 1, f"{profile}: {kind} in {phase}, {values}: {found}"
    return found[0]


def expected(profile: str, kind: Kind, phase: Phase, values: Mapping[Axis, Known]) -> Says:
    """Return what the procedures say of this case."""
    return line_of(profile, kind, phase, values).says
