"""What the procedures ask for in every case: typed from their text, without a look at the profiles.

A line is: phases | values of the axes | answer | where the text says so. Every case of a situation fits
exactly one line of its block. `*` is any phase; an axis that is not named may have any value. The answer is
a verdict, then the axis asked for, or the presses, or `deck out`. A `?` before an answer or after a press
says that the text is silent there. A block in RUSSIAN or OASIS stands in place of the default's.

A press that cancels is offered wherever a supervisor decides, unless the row says "no cancel" (P6).
"""

from __future__ import annotations

DEFAULT = """
FAILED_READ
  * | rescan=yes | rescan | 1: the same card again, three tries; no other card is taken meanwhile
  * | rescan=no | supervisor: order_entry order_rescan confirm_cancel | 1 leads to 2: two blind entries or a re-scan

MISREAD_LATE
  * | certain=unknown | ask certain | 2: the order has to be certain
  * | certain=no | cancel | 2: order not certain
  * | certain=yes | supervisor: order_entry order_rescan confirm_cancel | 2: the supervisor has it entered or re-scanned

HELD_READ
  * | later=unknown | ? ask later | no such row; by 2 the order of drawing counts
  * | later=no | ? go_on | no such row; nothing came out
  * | later=yes certain=yes | ? rescan | no such row; by 2 the card gets its slot
  * | later=yes certain=no | ? cancel | no such row; by 2 an uncertain order cancels

DISPUTED_READ
  * | rescan=yes later=no | rescan | 3: nothing depends on it; it is the last card
  * | rescan=yes later=yes | rescan_all | 3: all cards of the round from the first, in order
  * | rescan=no | supervisor: order_entry order_rescan confirm_cancel | 1 leads to 2 and 3; what was decided upon cancels

SAME_CODE_AGAIN
  * | certain=unknown | ask certain | 4: same card?
  * | certain=yes | drop | 4: dropped as a duplicate
  * | certain=no | cancel, deck out | one-deck games: cancel, the deck goes out

FOREIGN_CARD
  * | | cancel, deck out | 6 as 5: round void, deck closed

EARLY_DRAW
  ready | | ? shuffle | 18 leads to 7, but there is no round; no card is put back (P2), so the deck is shuffled anew
  betting dealing | revealed=unknown | ask revealed | 7a and 7b differ by it
  betting dealing | scanned=no revealed=no | next_due | 7a: held, then the next due card
  betting dealing | scanned=no revealed=yes | burn | 7b: burned by error, go on
  betting dealing | scanned=yes revealed=no | burn | 7c not shown: one-deck games burn it
  betting dealing | scanned=yes revealed=yes | cancel | 7c shown: the first way

BURN_FORGOTTEN
  * | later=no | burn | 8: no card dealt, burn now
  * | later=yes | go_on | 8: other games than baccarat go on

TWO_CARDS
  * | certain=unknown | ask certain | 9
  * | certain=yes | go_on | 9: assigned in order
  * | certain=no | cancel | 9

SURPLUS_CARD
  dealing deciding result_proposed | revealed=unknown | ask revealed | the one question, also after the result is proposed
  dealing deciding result_proposed | revealed=yes decision=yes | cancel | seen while a decision is to come
  dealing deciding result_proposed | revealed=yes decision=no | burn | 10b: else burned
  dealing deciding result_proposed | revealed=no | burn | 10a: one-deck games burn it
  confirmed | | check_deck | one-deck games: incident, deck check before the next round

WRONG_PLACE
  * | later=unknown | ask later | 11
  * | later=no certain=unknown | ask certain | 11: moved to its place?
  * | later=no certain=yes | restore | 11, P2: moved, go on
  * | later=no certain=no | ? supervisor: go_on confirm_cancel | P8: the text has no word on a card that is not moved
  * | later=yes certain=unknown|yes | supervisor: go_on confirm_cancel | 11: re-laid by a supervisor, if scanned in order
  * | later=yes certain=no | cancel | 11: not scanned in order

HIDDEN_CARD_SHOWN
  * | | cancel | 14, poker: any exposed card voids the round

BOXED_CARD
  * | hidden=no | go_on | 15: the first way, card and bets stand
  * | hidden=yes | cancel | 14: an exposed hidden card

CARD_ON_FLOOR
  shuffling ready | | check_deck | 16: full recount
  betting dealing deciding result_proposed | scanned=unknown | ask scanned | 16: dealt already?
  betting dealing deciding result_proposed | scanned=yes | restore | 16: restored, go on
  betting dealing deciding result_proposed | scanned=no revealed=unknown | ask revealed | 16: seen?
  betting dealing deciding result_proposed | scanned=no revealed=no | burn | 16: the first way
  betting dealing deciding | scanned=no revealed=yes | cancel | 16: the other way; 10b: it can inform a decision
  result_proposed | scanned=no revealed=yes | ? burn | 10b: no decision is to come

TABLE_CLEARED
  * | | supervisor: go_on | 17: a supervisor restores the cards; no cancel

PRESS_FORGOTTEN
  * | | supervisor: go_on | 18: the supervisor presses; no cancel

WRONG_ANNOUNCEMENT
  * | | go_on | 19: the computed result stands

EARLY_EXCHANGE
  * | revealed=unknown | ask revealed | 23a: seen by others?
  * | revealed=no | next_due | 23a: to the first due exchange
  * | revealed=yes | supervisor: void_box confirm_cancel | 23a: the boxes concerned are void

WRONG_EXCHANGE
  * | | supervisor: go_on void_box confirm_cancel | 23b: the missing one is dealt or converted, or the box is void

WRONG_NUMBER_OF_CARDS
  * | dealers=yes | cancel | 24: all hands void
  * | dealers=no | supervisor: void_box confirm_cancel | 24: that hand is void; with a wrong stub all

DEVICE_FAILED
  * | | supervisor: go_on confirm_cancel | 29: a spare, or stakes back

SCANNER_LOST
  * | gone=no other=no later=unknown | ask later | 30: frozen; the same device goes on after the re-scan question
  * | gone=no other=no later=yes | rescan | 30: the card drawn meanwhile is scanned
  * | gone=no other=no later=no | go_on | 30: the same device goes on
  * | gone=no other=yes | supervisor: go_on confirm_cancel | 30: another device needs a supervisor
  * | gone=yes | supervisor: go_on? confirm_cancel | 30: manual mode or cancel

DEALER_CHANGE
  * | | supervisor: go_on | 31: two signatures

LINK_LOST
  betting | | supervisor: go_on confirm_cancel | 33: closed by lease; nobody but a person knows whether there are bets
  dealing deciding result_proposed | | go_on | 33: finished, settled later

VIDEO_LOST
  * | | supervisor: go_on confirm_cancel | 34: not dealt; finished only while it is recorded

RESTARTED
  * | certain=unknown | ask certain | 35: the exact picture
  * | certain=yes | go_on | 35: confirmed
  * | certain=no | supervisor: go_on confirm_cancel | 35: it differs

QUARANTINED
  * | certain=yes | ? supervisor: go_on confirm_cancel | no such row
  * | certain=no | ? supervisor: confirm_cancel | no such row; by 35 what can't be confirmed is cancelled

WRONG_FACT
  * | | go_on | 41: refused and on record
"""

RUSSIAN = """
FAILED_READ
  * | rescan=yes | rescan | RPL-75
  * | rescan=no initial=yes | cancel | RPL-70, RPL-75: one in the whole initial deal
  * | rescan=no initial=no | supervisor: order_entry confirm_cancel | RPL-75: entry or cancel

MISREAD_LATE
  * | initial=yes rescan=no | cancel | RPL-75: whatever the order
  * | initial=yes rescan=yes certain=unknown | ask certain | 2
  * | initial=yes rescan=yes certain=no | cancel | 2
  * | initial=yes rescan=yes certain=yes | rescan_all | RPL-75: re-scan
  * | initial=no certain=unknown | ask certain | 2
  * | initial=no certain=no | cancel | 2
  * | initial=no rescan=yes certain=yes | rescan_all | RPL-75: re-scan
  * | initial=no rescan=no certain=yes | supervisor: order_entry confirm_cancel | RPL-75: entry or cancel

DISPUTED_READ
  * | rescan=yes later=no | rescan | RPL-75
  * | rescan=yes later=yes | rescan_all | RPL-75, 3
  * | rescan=no initial=yes | cancel | RPL-70, RPL-75
  * | rescan=no initial=no | supervisor: order_entry confirm_cancel | RPL-75

EARLY_DRAW
  ready | | ? shuffle | 18, 7; RPL-77: the deck of a round is a shuffled one
  betting dealing | scanned=no | burn | RPL-71, D-01: out when none is due, in whatever phase; 7b
  betting dealing | scanned=yes revealed=unknown | ask revealed | 7c
  betting dealing | scanned=yes revealed=no | burn | RPL-71
  betting dealing | scanned=yes revealed=yes | cancel | 7c, seen while decisions are to come

TWO_CARDS
  * | certain=unknown | ask certain | 9: which of them was first?
  * | certain=yes | burn | RPL-71: the second is burned
  * | certain=no | cancel | 9, P4

BOXED_CARD
  * | hidden=no | go_on | 15
  * | hidden=yes | cancel | RPL-70: a hidden card becomes visible

HIDDEN_CARD_SHOWN
  * | | cancel | RPL-70

CARD_ON_FLOOR
  shuffling ready | | check_deck, deck out | RPL-76: changed and verified in view
  betting dealing deciding result_proposed | | cancel, deck out | RPL-70, RPL-76

TABLE_CLEARED
  * | | cancel | RPL-70, D-36

EARLY_EXCHANGE
  * | revealed=unknown | ask revealed | 23a names it: before options close
  * | revealed=no | next_due | 23a
  * | revealed=yes | cancel | RPL-70, D-45: everybody's switch card is seen

WRONG_EXCHANGE
  * | | cancel | RPL-70, RPL-72: extra among the switch cards

WRONG_NUMBER_OF_CARDS
  * | | cancel | RPL-70, RPL-72
"""

OASIS = """
HIDDEN_CARD_SHOWN
  * | dealers=yes | go_on | OAB-25
  * | dealers=no | cancel | 14

BOXED_CARD
  * | hidden=no | go_on | 15
  * | hidden=yes | supervisor: go_on confirm_cancel | 14 for a box, OAB-25 for the dealer; the axes don't tell whose card

WRONG_EXCHANGE
  * | | supervisor: order_redeal confirm_cancel | OAB-24

WRONG_NUMBER_OF_CARDS
  * | | supervisor: order_redeal confirm_cancel | OAB-24
"""

LIMITS = {
    "read_tries": (3, "1"),
    "count_every_rounds": (5, "inventory"),
    "order_run": (7, "inventory"),
    "scanner_gone_s": (120, "30"),
    "escalate_after_s": (60, "40"),
    "give_up_after_s": (180, "40"),
    "breaker_cases": (3, "42"),
    "breaker_minutes": (30, "42"),
    "retire_rescans_per_10_000": (50, "inventory"),
}
"""Numbers that the text gives; none of the two games changes one (RPL's one re-scan is a game's setting)."""

NOT_OF_THESE_GAMES = ("12", "20a", "20b", "20c", "21", "22")
"""Rows of blackjack and baccarat."""
