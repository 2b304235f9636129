"""How long the simulated dealer takes for what a prompt asks: it depends on seed, round and prompt alone."""

from __future__ import annotations

import random

from controller.table.picture import Picture

DELAYS_MS = {
    "OPEN_TABLE": (500, 1_000),
    "LOAD_DECK": (1_000, 2_000),
    "SCAN_DECK": (60, 120),
    "VERIFY_DECK": (2_000, 4_000),
    "COUNT_STUB": (4_000, 6_000),
    "SHUFFLE": (3_000, 5_000),
    "REDEAL": (3_000, 5_000),
    "START": (800, 1_500),
    "DEAL_CARD": (900, 1_500),
    "TURN": (1_500, 2_500),
    "LAY_ASIDE": (1_500, 2_500),
    "CONFIRM_RESULT": (2_000, 3_000),
    "CLEAR_TABLE": (3_000, 4_000),
}
"""How long a dealer takes, from and to; prompts that are not here take a short second."""
OTHERS_MS = (700, 1_200)
AT_ONCE = frozenset({"LOG_IN", "CONFIRM_PICTURE", "CARD_DRAWN", "SCAN_DRAWN_CARD"})
"""What follows a restart is done in the instant, so that a recovered round keeps the times of its plan."""


def delay_us(seed: int, picture: Picture) -> int:
    """Return how long after the prompt the dealer acts."""
    prompt = picture.prompt
    if prompt.code in AT_ONCE:
        return 0
    low, high = DELAYS_MS.get(prompt.code, OTHERS_MS)
    spelled = f"{seed}/{picture.round_no}/{prompt.code}/{prompt.place}/{prompt.n}"
    return random.Random(spelled).randrange(low, high) * 1_000
