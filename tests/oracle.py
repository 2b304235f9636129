"""Second opinion on the poker family: what one player gets back, from bets and cards alone.

Written from the rules document (COM, RPL, GRP, ROY, GOA, OAB, CAR, OAS, DBL, BON, D) and sharing no line with
the product, so that a whole run can hold the product's balances against it. `game` and `settings` of the bets
name another game than live Russian Poker and what a table decided otherwise (`oracle_family`). Amounts are
integer minor units. Bets are the wagers a player asked for; one that the rules refuse (RPL-06, 25, 33, OAB-19
and D-54) counts as never placed: a refused insurance leaves him silent (RPL-22). RPL-81 is not judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import oracle_family as family
from oracle_family import FEES, LIVE_BONUS, Data, Line, Terms

Card = tuple[int, str]
RANKS = "23456789TJQKA"
ACE, KING, SEVEN = 14, 13, 7
PAYS = {"NO_GAME": 0, "AK": 1, "PAIR": 1, "TWO_PAIR": 2, "TRIPS": 3, "STRAIGHT": 4, "FLUSH": 5,
        "FULL_HOUSE": 7, "QUADS": 20, "STRAIGHT_FLUSH": 50, "ROYAL": 100}  # RPL-50, OAB-12
KINDS = list(PAYS)  # low to high (COM-04, COM-08)
SHAPES = {(2,): "PAIR", (3,): "TRIPS", (4,): "QUADS", (2, 2): "TWO_PAIR", (3, 2): "FULL_HOUSE"}


class Hand(NamedTuple):
    """Strength compares by COM-09 and COM-10; kinds are the main combination and, of a double, the second."""

    strength: tuple[int, ...]
    kinds: tuple[str, ...]
    odds: int

    def reaches(self, kind: str) -> bool:
        return self.strength[0] >= KINDS.index(kind)


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


def judge(cards: Sequence[Card], paired_straight: str = "straight") -> Hand:
    """Best hand of five or six cards and the dearest combination different from it (DBL-03, 06, D-08)."""
    if len(cards) not in (5, 6):
        raise ValueError(f"no hand: {len(cards)} cards")
    parts = (part for size in (2, 3, 4, 5) for part in combinations(cards, size))
    found = [(form, set(part)) for part in parts if (form := formed(part))]
    best = max((form for form, _ in found), default=(0,))
    mains = [part for form, part in found if form == best] or [set()]
    kickers = sorted((rank for rank, suit in cards if (rank, suit) not in mains[0]), reverse=True)
    # By setting the main's own ranks make no second straight: the pair beside it counts instead (D-08).
    again = (KINDS.index("STRAIGHT"), *best[1:]) if paired_straight == "pair" else ()
    others = [KINDS[form[0]] for form, part in found
              if form != again and any(part - main and main - part for main in mains)]
    second = sorted(others, key=lambda kind: (PAYS[kind], KINDS.index(kind)))[-1:]  # higher name: DBL-07
    kinds = (KINDS[best[0]], *second)
    return Hand((*best, *kickers[: 5 - len(mains[0])]), kinds, sum(PAYS[kind] for kind in kinds))


def bonus_odds(hand: Hand, kinds: Sequence[str], pays: Mapping[str, int] = LIVE_BONUS) -> int:
    """Dearest row (RPL-55, OAB-22): a box asks for both halves of a double, D for the hand alone."""
    sevens = {"TRIPS": "SEVENS_777", "TWO_PAIR": "SEVENS_77_PAIR"}.get(kinds[0], "")  # BON-02, BON-03
    of_sevens = SEVEN in hand.strength[1 : 2 if kinds[0] == "TRIPS" else 3]
    return max(pays.get(row, 0) for row in (*kinds, sevens if of_sevens else ""))


def insurance_range(hand: Hand, ante: int, maximum: int | None, settings: Data | None = None) -> range:
    """Insurance stakes that are accepted (RPL-24, RPL-25, D-16, D-54); empty if none is offered."""
    terms = family.terms_of({"limits": {"max_payout": maximum}, "settings": settings or {}})
    most = terms.most_insured(hand.odds * 2 * ante, 2 * ante)
    return range(ante, most + 1) if hand.reaches("TRIPS") else range(0)


def final_hand(name: str, box: Data, cards: dict[str, list[Card]], option: str, terms: Terms) -> Hand:
    """The box after its draw, live from the common switch cards, else what it drew (RPL-18, 19, GRP-19)."""
    places = family.exchanged(box, option)
    drawn = cards.get("switch" if terms.live else f"{name}_drawn", [])
    due = len(places) or int(option == "sixth")
    if len(drawn) < due or (len(drawn) > due and not terms.live):
        raise ValueError(f"no such exchange: {due} due, {len(drawn)} cards drawn")
    new = dict(zip(places, drawn, strict=False))
    held = [new.get(place, card) for place, card in enumerate(cards[name], 1)]
    return judge([*held, *drawn[: option == "sixth"]], terms.settings.get("paired_straight", "straight"))


def dealer_hand(cards: dict[str, list[Card]], terms: Terms) -> Hand:
    """The dealer after a purchase; without a game he has no pair: his highest card is one (RPL-34, D-17)."""
    *kept, highest = sorted(cards["dealer"])
    drawn = cards["replacement"]
    due = 2 if drawn and terms.settings["redraw_same_rank"] and drawn[0][0] == highest[0] else 1
    if drawn and len(drawn) != due:
        raise ValueError(f"the dealer draws {due} and drew {len(drawn)}")
    return judge([*kept, *drawn[-1:]])


def standing(hand: Hand, dealer: Hand, game: family.Game) -> tuple[str, str]:
    """Ante and Bet against the dealer's last hand (RPL-40, 42 to 44, D-03); no game: both come back."""
    if not dealer.reaches("AK") or hand.strength == dealer.strength:
        return "PUSH", "PUSH"
    return (game.ante_beaten, "WIN") if hand.strength > dealer.strength else ("LOSE", "LOSE")


def insured(hand: Hand, first: Hand, settings: Data) -> str:
    """The showdown decides the insurance, a later purchase changes nothing (RPL-26 to 28, D-14, D-15)."""
    if not first.reaches("AK"):
        return "WIN"
    if hand.strength == first.strength and settings.get("insurance_returned_on_tie"):
        return "PUSH"
    return "RETURN_BONUS" if first.strength > hand.strength else "LOSE"


def box_lines(name: str, box: Data, cards: dict[str, list[Card]], terms: Terms) -> list[Line]:
    """Every wager of one box of a round that was played to its end."""
    game, settings, ante, most = terms.game, terms.settings, box["ante"], terms.most_won(2 * box["ante"])
    own, first, option = judge(cards[name]), judge(cards["dealer"]), family.choice(name, box, terms)
    hand, insurance = final_hand(name, box, cards, option, terms), family.insurance_asked(box, option, terms)
    if insurance and insurance not in insurance_range(hand, ante, terms.maximum, settings):
        insurance = 0  # refused: silence (RPL-22)
    in_play = bool(insurance) or family.stays(box, option, terms, combination=hand.reaches("AK"))
    odds = hand.odds if game.doubles else PAYS[hand.kinds[0]]
    no_game, bought = not first.reaches("AK"), box.get("bought") and game.purchase and in_play
    bought = bought and no_game and (hand.reaches("AK") or not settings["purchase_needs_combination"])  # D-35
    dealer = dealer_hand(cards, terms) if bought else first  # not bought: the first five cards (RPL-37)
    ante_outcome, bet_outcome = standing(hand, dealer, game)
    if no_game and not bought and not (insurance and not settings["ante_paid_when_insured"]):
        ante_outcome = "WIN"  # RPL-41; insured it comes back alone (RPL-46, D-12)
    if bet_outcome == "WIN" and most is not None and odds * 2 * ante > most:
        bet_outcome = "WIN_CAPPED"  # this win alone, the stake on top (RPL-60 to RPL-63)
    wagers = [
        ("ANTE", ante, ante_outcome if in_play else "LOSE", settings["ante_odds"]),
        (FEES.get(option, ""), family.fee(box, option, terms), "FEE", 0),
        (game.bet, 2 * ante if in_play else 0, bet_outcome, odds),
        ("INSURANCE", insurance, insured(hand, first, settings), 1),
        ("BUY_FEE", ante if bought else 0, "FEE", 0)]
    b_stake, d_stake = family.bonus_asked(box, terms)
    b_odds = bonus_odds(own, own.kinds, game.bonus)
    d_odds = bonus_odds(first, first.kinds[:1], game.bonus)  # RPL-52 to RPL-58
    kept = b_odds and not family.bonus_forfeited(option, terms, in_play=in_play)
    wagers += [("BONUS_B", b_stake, "WIN" if kept else "LOSE", b_odds),
               ("BONUS_D", d_stake, "WIN" if d_odds else "LOSE", d_odds)]
    return [Line(name, wager, stake, outcome, family.credit(stake, outcome, gain, most, terms))
            for wager, stake, outcome, gain in wagers if stake]


def explain(cards: Data, bets: Data) -> list[Line]:
    """One line a wager of one player's round. A box without an ante has none, bonus or not (RPL-06)."""
    if bets.get("refunded"):  # RPL-74: a result that was wrong; whatever was placed comes back
        return [Line(*line[:3], "REFUND", line.stake) for line in explain(cards, {**bets, "refunded": 0})]
    terms = family.terms_of(bets)
    staked = [(name, bets[name]) for name in family.staked_boxes(bets, terms)]
    if bets.get("cancelled") or bets.get("late"):
        return [line for name, box in staked for line in family.void_lines(name, box, terms)]
    drawn = cards.get("replacement") or ()
    texts = {**cards, "replacement": [drawn] if isinstance(drawn, str) else drawn}
    places = {place: [parse(text) for text in lying or ()] for place, lying in texts.items()}
    dealt = [card for place in places.values() for card in place]
    if len(set(dealt)) != len(dealt):
        raise ValueError("a card lies twice in the round (P-8)")
    if any(len(places[name]) != 5 for name in ("dealer", *(name for name, _ in staked))):
        raise ValueError("every hand is dealt five cards")
    if bool(drawn) != bets.get("anyone_bought", bool(drawn)):
        raise ValueError("the dealer draws a card if, and only if, somebody bought (RPL-35, RPL-38)")
    return [line for name, box in staked for line in box_lines(name, box, places, terms)]


def settle(cards: Data, bets: Data) -> dict[str, int]:
    """Credited per box of the game (`box1` and so on) and in all (`returned`), and what was `staked`."""
    lines, boxes = explain(cards, bets), family.terms_of(bets).boxes
    back = {name: sum(line.returned for line in lines if line.box == name) for name in boxes}
    return {**back, "returned": sum(back.values()), "staked": sum(line.stake for line in lines)}


def expected_balances(opening: Mapping[str, int], rounds: Sequence[Data]) -> dict[str, int]:
    """Balances after rounds `{"cards": ..., "bets": {player: his bets}}`, or `game`, `settings` too (P-5)."""
    balances = dict(opening)
    for played in rounds:
        table = {key: played[key] for key in ("game", "settings") if key in played}
        for player, bets in played["bets"].items():
            result = settle(played["cards"], table | bets)
            balances[player] += result["returned"] - result["staked"]
    return balances
