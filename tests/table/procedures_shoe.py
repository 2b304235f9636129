"""What the procedures ask for at baccarat, typed from their text; the rest is as in the default profile.

The form is that of `procedures_expected`. A situation without lines can't occur: its row says why.
"""

from __future__ import annotations

from collections.abc import Mapping

BACCARAT = """
SAME_CODE_AGAIN
  certain=unknown: ask certain                    # 4: value-only codes, same card?
  certain=yes: drop                               # 4
  certain=no: take                                # 4: a shoe has more of that value; 5 if it has not
EARLY_DRAW
  revealed=unknown: ask revealed                  # 7a or 7b
  scanned=no revealed=no: next_due                # 7a
  scanned=yes revealed=no: next_due               # 7c not shown: shoe games use it
  revealed=yes: burn                              # 7b; 7c shown, the second way: burned, no bet is touched
BURN_FORGOTTEN
  later=no: burn                                  # 8
  later=yes: cancel deck                          # 8: the shoe is invalid; a supervisor presses (P8)
SURPLUS_CARD
  revealed=unknown: ask revealed                  # the one question, after the result too
  revealed=no: next_due                           # 10a: first card of the next round
  revealed=yes: burn                              # 10b
SHOE_DISAGREES  # Open: the procedures have no such row. By 19 the computed result stands.
  : supervisor go_on order_rescan confirm_cancel  # the issue: it blocks and calls a supervisor
HIDDEN_CARD_SHOWN
BOXED_CARD
  : go_on                                         # 15: card and bets stand
WRONG_EXCHANGE
WRONG_NUMBER_OF_CARDS
"""

SHOE_NO_CASE: Mapping[str, str] = {
    **dict.fromkeys(("14", "23b", "23c", "23d", "23e", "24"), "not applicable"),  # Poker.
    **dict.fromkeys(("20a", "20b", "20c", "27"), "built in"),
    "19b": "",  # Decided here.
}
SHOE_LIMITS: Mapping[str, int] = {"count_every_rounds": 0}
