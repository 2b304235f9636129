"""What people read: one table of texts, by prompt code. The codes travel; the texts are looked up."""

from __future__ import annotations

from controller.games.procedure import Decision

PLACES = {
    "box1": "box 1",
    "box2": "box 2",
    "box3": "box 3",
    "box4": "box 4",
    "dealer": "the dealer",
    "player": "the player",
    "banker": "the banker",
    "layout": "the layout",
    "switch": "the switch cards",
    "burn": "the burned cards",
    "held": "the held cards",
    "deck": "the deck",
}

PROMPTS = {
    "LOG_IN": "A dealer logs in",
    "UNBLOCK": "The table is blocked: two people unlock it, one of them a supervisor",
    "PAUSED": "The table pauses",
    "BURN_CARD": "Burn the first card: scan it and lay it face down on the burned cards",
    "SHOW_FIRST_CARD": "A new shoe: scan its first card and show it",
    "WAIT_FOR_SHOE": "Wait until the shoe stands by for a new coup",
    "WAIT_FOR_CONSUMERS": "Wait: a system that must acknowledge the last rounds has not done so",
    "BURN_NEXT": "Burn card {n}: scan it and lay it face down on the burned cards",
    "SIGN_DEALER_CHANGE": "The dealer changes inside the round: a supervisor signs, or it is withdrawn",
    "OPEN_TABLE": "Open the table",
    "LOAD_DECK": "Scan the new deck in, card by card, or accept it by its receipt",
    "SCAN_DECK": "Scan card {n} of the deck",
    "ACCEPT_DECK": "Another person accepts the deck by its receipt",
    "VERIFY_DECK": "Verify the deck in view of the camera",
    "SUPERVISOR_VERIFIES": "A supervisor verifies the new deck in view of the camera",
    "COUNT_STUB": "Count the cards that are not out",
    "COUNT_AGAIN": "The count is wrong: a supervisor counts again",
    "LOAD_NEW_DECK": "This deck is out; a new one must be loaded before the next round",
    "SHUFFLE": "Shuffle, cut and lay the deck in the shoe",
    "START": "Press START",
    "PLACE_BETS": "Betting time: press NO MORE BETS or let it run out",
    "WAIT_FOR_FACTS": "Wait for the betting system",
    "DEAL_CARD": "Deal card {n} to {place}",
    "WAIT_FOR_PLAYERS": "Wait: players are choosing",
    "TURN": "Turn {place}",
    "LAY_ASIDE": "Lay card {n} of {place} face down beside the hand",
    "CONFIRM_RESULT": "Press RESULT",
    "SHOW_CARD": "Card {n} of {place} has not been seen by its second reader: show it, or a supervisor "
    "presses RESULT",
    "CLEAR_TABLE": "Collect the cards",
    "SAME_CARD": "This code has been read at {place}, card {n}. Is it the same card?",
    "FACE_SEEN": "A card came out that is not due. Has its face been seen?",
    "CARD_DRAWN": "The scanner was away. Was a card drawn meanwhile?",
    "SCAN_AGAIN": "Scan card {n} of {place} again",
    "ENTER_CARD": "Two people enter card {n} of {place}, neither seeing what the other enters",
    "ENTER_DRAWN_CARD": "Two people enter the card that is out, neither seeing what the other enters",
    "WRONG_RESULT": "A result was corrected",
    "SCAN_FROM_FIRST": "Scan all cards again in the order of drawing; now card {n} of {place}",
    "SCAN_TO_BURN": "Scan the card, then burn it",
    "ORDER_CERTAIN": "Is it certain in which order the cards were drawn?",
    "LATER_CARD": "Has a later card been dealt?",
    "MOVE_CARD": "Move the card to its place. Do all cards lie as shown now?",
    "WAS_DEALT": "Had that card been dealt and read before?",
    "SCAN_DRAWN_CARD": "Scan the card that was drawn",
    "CALL_SUPERVISOR": "Wait for the supervisor",
    "SCANNER_GONE": "The scanner is gone: check cable and power",
    "OTHER_SCANNER": "Another scanner than before: a supervisor looks at it and accepts it",
    "GONE_TOO_LONG": "The scanner stays away: wait for the supervisor",
    "CARD_READ_MEANWHILE": "A card was read that the table has not taken. Is it out of the shoe?",
    "PRESS_LEFT_OUT": "The program stops on that press and leaves it out: wait for the supervisor",
    "INPUT_LEFT_OUT": "The program stops on what came in and leaves it out: wait for the supervisor",
    "FREE_DISK": "Too little room for the journal: free disk, then press START",
    "CONFIRM_PICTURE": "Does the table lie exactly as shown?",
    "CHECK_DECK": "The deck must be checked before the next round",
    "SHUFFLE_AGAIN": "Shuffle again",
    "REDEAL": "Collect all cards, shuffle, cut and lay the deck in the shoe: this round is dealt anew",
    "NOTED": "Noted",
}
CALLED_AGAIN = " (the supervisor has been called again)"
"""What is added when nobody has come (row 40)."""

DECISIONS = {
    None: "is silent",
    "BET": "bets",
    "FOLD": "folds",
    "EXCHANGE": "exchanges",
    "SIXTH_CARD": "takes a sixth card",
}


def place_text(place: str) -> str:
    """Return what people call a place."""
    return PLACES.get(place, place)


def prompt_text(code: str, place: str | None = None, n: int | None = None) -> str:
    """Return the text of a prompt. Raises KeyError for a code without a text."""
    where = place_text(place) if place is not None else "the table"
    return PROMPTS[code].format(place=where, n="" if n is None else n)


def decision_text(decision: Decision) -> str:
    """Return what a box does, such as `exchanges 1, 3`; an action without a text as it stands."""
    told = DECISIONS.get(decision.action, str(decision.action))
    positions = ", ".join(map(str, sorted(decision.positions)))
    return f"{told} {positions}".rstrip()
