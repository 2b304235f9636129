"""What players are offered while the round runs: insurance, purchase, and the hands behind both (RPL-82)."""

from __future__ import annotations

import msgspec

from controller.cards import Card
from controller.games.patterns import PATTERNS, STAY, Pattern, final_cards
from controller.games.paytables import total_odds
from controller.games.poker import Hand, evaluate
from controller.games.published import ShownCombination, fraction_text, shown_combinations
from controller.games.rules import MAIN, Rules


class InsuranceRange(msgspec.Struct, frozen=True):
    """Least and greatest insurance in Antes, before the table maximum (RPL-25, D-16)."""

    min: str
    max: str


class HandOffer(msgspec.Struct, frozen=True, omit_defaults=True):
    """One hand as the betting system needs it with a window.

    `odds` is what both combinations pay together; `insurance` is None where it is not open (RPL-24);
    `purchase` tells whether the purchase would be offered if the dealer fails to qualify (RPL-33).
    `box` is left out on the wire for the main box.
    """

    pattern: str
    odds: str
    purchase: bool
    combinations: tuple[ShownCombination, ...] = ()
    insurance: InsuranceRange | None = None
    box: str = MAIN


def hands_by_pattern(
    dealt: tuple[Card, ...], switch: tuple[Card, ...], rules: Rules, *, box: str = MAIN
) -> tuple[HandOffer, ...]:
    """Return the hands that exist by now: one as dealt, all 33 once the switch cards lie (RPL-82).

    A blind box, once opened, is asked for without switch cards.
    """
    patterns = PATTERNS if switch else (STAY,)
    return tuple(_offer(box, pattern, final_cards(pattern, dealt, switch), rules) for pattern in patterns)


def _offer(box: str, pattern: Pattern, cards: tuple[Card, ...], rules: Rules) -> HandOffer:
    hand = evaluate(cards, paired_straight=rules.paired_straight)
    return HandOffer(
        pattern=pattern.text,
        odds=fraction_text(total_odds(hand, rules.odds)),
        purchase=hand.qualifies,
        box=box,
        combinations=shown_combinations(hand),
        insurance=_insurance(hand, rules) if insurable(pattern, hand, rules) else None,
    )


def insurable(pattern: Pattern, hand: Hand, rules: Rules) -> bool:
    """Whether insurance is open, from Three of a Kind: after a draw, by setting always (RPL-16, RPL-24)."""
    if not pattern.draws and not rules.insurance_in_options:
        return False
    return hand.main is not None and rules.insurance.covers(hand.main.kind)


def _insurance(hand: Hand, rules: Rules) -> InsuranceRange:
    highest = total_odds(hand, rules.odds) * rules.prices.bet * rules.insurance.maximum_share
    return InsuranceRange(fraction_text(rules.insurance.minimum), fraction_text(highest))


def highest_card_position(dealer: tuple[Card, ...]) -> int:
    """Return the position, from 1, of the card that a dealer without a combination replaces (RPL-34).

    Such a hand holds no rank twice; of equal ranks the first is meant.
    """
    return 1 + max(range(len(dealer)), key=lambda index: (dealer[index].rank, -index))


def replaced(dealer: tuple[Card, ...], drawn: Card) -> tuple[Card, ...]:
    """Return the dealer's hand with `drawn` on the vacant place (RPL-34)."""
    index = highest_card_position(dealer) - 1
    return (*dealer[:index], drawn, *dealer[index + 1 :])
