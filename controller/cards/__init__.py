"""Cards, the codes on them, and the register of the deck that is in use."""

from controller.cards.card import CARD_PATTERN, DECK, Card, PrintedCard, Rank, Suit, parse_cards
from controller.cards.codes import CodeMap, Scheme, code_map
from controller.cards.order import Order, order_alarm
from controller.cards.register import Anomaly, Register

__all__ = [
    "CARD_PATTERN",
    "DECK",
    "Anomaly",
    "Card",
    "CodeMap",
    "Order",
    "PrintedCard",
    "Rank",
    "Register",
    "Scheme",
    "Suit",
    "code_map",
    "order_alarm",
    "parse_cards",
]
