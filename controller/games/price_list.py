"""What a game sells beside the Ante, in Antes: the Bet, draws, the purchase of the dealer's qualification."""

from __future__ import annotations

from fractions import Fraction

import msgspec

from controller.games.patterns import HAND_SIZE, SIXTH, Pattern
from controller.games.published import Wager, fraction_text


class PriceList(msgspec.Struct, frozen=True):
    """The prices of one game. `exchange` has those of one to five cards; what is not sold has no price."""

    bet: Fraction
    exchange: tuple[Fraction, ...] = ()
    sixth_card: Fraction | None = None
    purchase: Fraction | None = None
    bet_wager: Wager = Wager.BET
    """Royal Poker calls it the raise (ROY-04)."""

    def __post_init__(self) -> None:
        if len(self.exchange) not in (0, HAND_SIZE):
            raise ValueError(f"exchange prices: {len(self.exchange)}; one to five cards have a price each")
        for price in self.all():
            if price <= 0:
                raise ValueError(f"prices: {price} Antes; a price is above 0")

    def all(self) -> tuple[Fraction, ...]:
        """Return every price; an Ante must be divisible by all of them (D-54)."""
        single = (self.bet, self.sixth_card, self.purchase)
        return (*self.exchange, *(price for price in single if price is not None))

    def draw(self, pattern: Pattern) -> Fraction | None:
        """Return the fee of a draw, None where the game does not sell it."""
        if pattern == SIXTH:
            return self.sixth_card
        return self.exchange[pattern.switch_count - 1] if self.exchange else None

    def shown(self) -> dict[Wager, str]:
        """Spell the prices that do not depend on a number of cards, as they are published."""
        prices = {
            Wager.SIXTH_FEE: self.sixth_card,
            Wager.EXCHANGE_FEE: self.exchange[0] if len(set(self.exchange)) == 1 else None,
            self.bet_wager: self.bet,
            Wager.BUY_FEE: self.purchase,
        }
        return {wager: fraction_text(price) for wager, price in prices.items() if price is not None}

    def exchange_shown(self) -> tuple[str, ...]:
        """Spell what exchanging one to five cards costs, empty where the number does not matter."""
        if len(set(self.exchange)) <= 1:
            return ()
        return tuple(map(fraction_text, self.exchange))

    def at_options(self) -> dict[str, str]:
        """Spell the prices of the options (RPL-13), exchange prices as `EXCHANGE_FEE:3` where they differ."""
        prices: dict[str, str] = {}
        prices.update((wager, text) for wager, text in self.shown().items() if wager is not Wager.BUY_FEE)
        for count, text in enumerate(self.exchange_shown(), start=1):
            prices[f"{Wager.EXCHANGE_FEE}:{count}"] = text
        return prices

    def at_final_options(self) -> dict[str, str]:
        """Spell the price of going on."""
        return {self.bet_wager: fraction_text(self.bet)}

    def at_buy_time(self) -> dict[str, str]:
        """Spell the price of the purchase."""
        assert self.purchase is not None, "nothing is sold here"
        return {Wager.BUY_FEE: fraction_text(self.purchase)}
