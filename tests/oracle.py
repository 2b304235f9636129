"""Second opinion on live Russian Poker: what one player gets back, from bets and cards alone.

Written from the rules document (COM, RPL, DBL, BON, D) and sharing no line with the product, so that a whole
run can hold the product's balances against it. Amounts are integer minor units. Bets are the wagers a player
asked for; one that the rules refuse (RPL-06, 25, 33) counts as never placed: a refused insurance leaves him
silent (RPL-22). RPL-81 (no money for the automatic Bet) needs balances and is not judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

Card = tuple[int, str]
Data = Mapping[str, Any]
RANKS = "23456789TJQKA"
ACE, KING, SEVEN = 14, 13, 7
BOXES, MAIN_BOX = ("box1", "box2", "box3"), "box2"
PAYS = {
    "NO_GAME": 0,
    "AK": 1,
    "PAIR": 1,
    "TWO_PAIR": 2,
    "TRIPS": 3,
    "STRAIGHT": 4,
    "FLUSH": 5,
    "FULL_HOUSE": 7,
    "QUADS": 20,
    "STRAIGHT_FLUSH": 50,
    "ROYAL": 100,
}  # RPL-50
KINDS = list(PAYS)  # low to high (COM-04, COM-08)
SHAPES = {(2,): "PAIR", (3,): "TRIPS", (4,): "QUADS", (2, 2): "TWO_PAIR", (3, 2): "FULL_HOUSE"}
BONUS_PAYS = {
    "ROYAL": 1000,
    "STRAIGHT_FLUSH": 500,
    "QUADS": 100,
    "FULL_HOUSE": 75,
    "FLUSH": 50,
    "STRAIGHT": 40,
    "SEVENS_777": 20,
    "SEVENS_77_PAIR": 5,
    "AK": 1,
}  # RPL-51
FEES = {"sixth": "SIXTH_FEE", "exchange": "EXCHANGE_FEE"}
STANDING = {"won": ("PUSH", "WIN"), "lost": ("LOSE", "LOSE")}  # Ante, Bet; else both come back (RPL-40 to 44)


class Hand(NamedTuple):
    """Strength compares by COM-09 and COM-10; kinds are the main combination and, of a double, the second."""

    strength: tuple[int, ...]
    kinds: tuple[str, ...]
    odds: int

    def reaches(self, kind: str) -> bool:
        return self.strength[0] >= KINDS.index(kind)


class Line(NamedTuple):
    """One wager: what was staked and what came back, stake included."""

    box: str
    wager: str
    stake: int
    outcome: str
    returned: int


def parse(text: str) -> Card:
    if len(text) != 2 or text[0] not in RANKS or text[1] not in "cdhs":
        raise ValueError(f"no such card: {text}")
    return RANKS.index(text[0]) + 2, text[1]


def formed(cards: Sequence[Card]) -> tuple[int, ...]:
    """Kind and ranks (COM-05, 06, 09) of the combination that takes all these cards, or () (DBL-01)."""
    ranks = [rank for rank, _ in cards]
    if len(cards) < 5 and len(set(ranks)) > 2:
        return ()
    heavy = sorted(set(ranks), key=lambda rank: (ranks.count(rank), rank), reverse=True)
    kind = SHAPES.get(tuple(ranks.count(rank) for rank in heavy), "AK" if heavy == [ACE, KING] else "")
    if len(heavy) == 5:
        flush = len({suit for _, suit in cards}) == 1
        kind = "FLUSH" if flush else ""
        if heavy == [ACE, 5, 4, 3, 2] or heavy[0] - heavy[4] == 4:
            heavy = [5 if heavy[4:] == [2] and heavy[0] == ACE else heavy[0]]
            kind = "STRAIGHT" if not flush else "ROYAL" if heavy == [ACE] else "STRAIGHT_FLUSH"
    return (KINDS.index(kind), *heavy) if kind else ()


def judge(cards: Sequence[Card]) -> Hand:
    """Best hand of five or six cards and the dearest combination different from it (DBL-03, 06, D-08)."""
    if len(cards) not in (5, 6):
        raise ValueError(f"no hand: {len(cards)} cards")
    parts = (part for size in (2, 3, 4, 5) for part in combinations(cards, size))
    found = [(form, set(part)) for part in parts if (form := formed(part))]
    best = max((form for form, _ in found), default=(0,))
    mains = [part for form, part in found if form == best] or [set()]
    kickers = sorted((rank for rank, suit in cards if (rank, suit) not in mains[0]), reverse=True)
    others = [KINDS[form[0]] for form, part in found if any(part - main and main - part for main in mains)]
    second = sorted(others, key=lambda kind: (PAYS[kind], KINDS.index(kind)))[-1:]  # higher name: DBL-07
    kinds = (KINDS[best[0]], *second)
    return Hand((*best, *kickers[: 5 - len(mains[0])]), kinds, sum(PAYS[kind] for kind in kinds))


def bonus_odds(hand: Hand, kinds: Sequence[str]) -> int:
    """Dearest bonus row (RPL-55): B asks for both halves of a double, D for the hand alone (BON-02 to 04)."""
    sevens = {"TRIPS": "SEVENS_777", "TWO_PAIR": "SEVENS_77_PAIR"}.get(kinds[0], "")
    of_sevens = SEVEN in hand.strength[1 : 2 if kinds[0] == "TRIPS" else 3]
    return max(BONUS_PAYS.get(row, 0) for row in (*kinds, sevens if of_sevens else ""))


def insurance_range(hand: Hand, ante: int, maximum: int | None) -> range:
    """Insurance stakes that are accepted (RPL-24, RPL-25, D-16, D-54); empty if none is offered."""
    wins = [hand.odds * 2 * ante, *([] if maximum is None else [maximum])]
    return range(ante, min(wins) // 2 + 1) if hand.reaches("TRIPS") else range(0)


def final_cards(dealt: list[Card], box: Data, switch: list[Card]) -> list[Card]:
    """The main box after the player's draw (RPL-18, RPL-19)."""
    if box.get("option") == "sixth":
        return [*dealt, switch[0]]
    places = sorted(box["positions"]) if box.get("option") == "exchange" else []
    if len(set(places)) != len(places) or not set(places) <= {1, 2, 3, 4, 5} or len(places) > len(switch):
        raise ValueError(f"no such exchange: {places}")
    new = dict(zip(places, switch, strict=False))
    return [new.get(place, card) for place, card in enumerate(dealt, 1)]


def decide(box: Data, hand: Hand, maximum: int | None) -> tuple[bool, int]:
    """Whether the main box has a Bet, and its insurance (RPL-13, 14, 16, 21, 22, 29)."""
    option, final, amount = box.get("option"), box.get("final"), box.get("insurance") or 0
    if option in ("bet", "fold"):
        return option == "bet", 0
    if final == "insurance" and option in FEES and amount in insurance_range(hand, box["ante"], maximum):
        return True, amount
    return final == "bet" or (final != "fold" and hand.reaches("AK")), 0


def box_lines(name: str, box: Data, cards: dict[str, list[Card]], maximum: int | None) -> list[Line]:
    """Every wager of one box of a round that was played to its end."""
    ante, own, first = box["ante"], judge(cards[name]), judge(cards["dealer"])
    hand, stays, insurance, option = own, True, 0, ""
    if name == MAIN_BOX:
        hand, option = judge(final_cards(cards[name], box, cards["switch"])), box.get("option") or ""
        stays, insurance = decide(box, hand, maximum)
    no_game = not first.reaches("AK")
    bought = box.get("bought") and stays and no_game and hand.reaches("AK")  # RPL-33
    # A dealer without a game has no pair: his highest card is one (RPL-34). Not bought: first five (RPL-37).
    dealer = judge([*sorted(cards["dealer"])[:4], *cards["replacement"]]) if bought else first
    met = "tie" if hand.strength == dealer.strength else "won" if hand.strength > dealer.strength else "lost"
    ante_outcome, bet_outcome = STANDING.get(met if dealer.reaches("AK") else "no game", ("PUSH", "PUSH"))
    if no_game and not insurance and not bought:
        ante_outcome = "WIN"  # RPL-41; insured it comes back alone (RPL-46)
    if bet_outcome == "WIN" and maximum is not None and hand.odds * 2 * ante > maximum:
        bet_outcome = "WIN_CAPPED"  # this win alone, the stake on top (RPL-60 to RPL-63)
    # The showdown decides the insurance, a later purchase changes nothing (RPL-26 to 28, D-14, D-15).
    insured = "WIN" if no_game else "RETURN_BONUS" if first.strength > hand.strength else "LOSE"
    b_odds, d_odds = bonus_odds(own, own.kinds), bonus_odds(first, first.kinds[:1])  # RPL-52 to RPL-58
    wagers = [
        ("ANTE", ante, ante_outcome if stays else "LOSE", 1),
        (FEES.get(option, ""), ante if option in FEES else 0, "FEE", 0),
        ("BET", 2 * ante if stays else 0, bet_outcome, hand.odds),
        ("INSURANCE", insurance, insured, 1),
        ("BUY_FEE", ante if bought else 0, "FEE", 0),
        ("BONUS_B", box.get("bonus_b") or 0, "WIN" if b_odds else "LOSE", b_odds),
        ("BONUS_D", box.get("bonus_d") or 0, "WIN" if d_odds else "LOSE", d_odds),
    ]
    return [
        Line(name, wager, stake, outcome, credit(stake, outcome, odds, maximum))
        for wager, stake, outcome, odds in wagers
        if stake
    ]


def credit(stake: int, outcome: str, odds: int, maximum: int | None) -> int:
    """What comes back for one wager (COM-12)."""
    gain = {"WIN": odds * stake, "WIN_CAPPED": maximum or 0, "LOSE": -stake, "FEE": -stake}
    return stake + gain.get(outcome, 0)


def void_lines(name: str, box: Data) -> list[Line]:
    """A void bet or round (RPL-04, RPL-73, RPL-74): whatever was asked for comes back."""
    option, final = (box.get("option") or "", box.get("final")) if name == MAIN_BOX else ("bet", None)
    stays = option == "bet" or (option != "fold" and final in ("bet", "insurance"))
    antes = {"ANTE": 1, FEES.get(option, ""): 1, "BET": 2 * stays, "BUY_FEE": bool(box.get("bought"))}
    stakes = {wager: box["ante"] * times for wager, times in antes.items() if wager}
    stakes |= {wager: box.get(wager.lower()) or 0 for wager in ("BONUS_B", "BONUS_D")}
    stakes["INSURANCE"] = (box.get("insurance") or 0) if final == "insurance" else 0
    return [Line(name, wager, stake, "REFUND", stake) for wager, stake in stakes.items() if stake]


def explain(cards: Data, bets: Data) -> list[Line]:
    """One line a wager of one player's round. A box without an ante has none, bonus or not (RPL-06)."""
    staked = [(name, bets[name]) for name in BOXES if (bets.get(name) or {}).get("ante")]
    if bets.get("cancelled") or bets.get("late"):
        return [line for name, box in staked for line in void_lines(name, box)]
    texts = {**cards, "replacement": [cards["replacement"]] if cards.get("replacement") else []}
    places = {place: [parse(text) for text in lying or ()] for place, lying in texts.items()}
    dealt = [card for place in places.values() for card in place]
    if len(set(dealt)) != len(dealt):
        raise ValueError("a card lies twice in the round (P-8)")
    if bool(places["replacement"]) != bets.get("anyone_bought", bool(places["replacement"])):
        raise ValueError("the dealer draws a card if, and only if, somebody bought (RPL-35, RPL-38)")
    maximum = bets.get("limits", {}).get("max_payout")
    return [line for name, box in staked for line in box_lines(name, box, places, maximum)]


def settle(cards: Data, bets: Data) -> dict[str, int]:
    """Credited per box (`box1` to `box3`) and in all (`returned`), and what was `staked`."""
    lines = explain(cards, bets)
    back = {name: sum(line.returned for line in lines if line.box == name) for name in BOXES}
    return {**back, "returned": sum(back.values()), "staked": sum(line.stake for line in lines)}


def expected_balances(opening: Mapping[str, int], rounds: Sequence[Data]) -> dict[str, int]:
    """Balances after the rounds, each `{"cards": {...}, "bets": {player: his bets}}` (P-5)."""
    balances = dict(opening)
    for played in rounds:
        for player, bets in played["bets"].items():
            result = settle(played["cards"], bets)
            balances[player] += result["returned"] - result["staked"]
    return balances
