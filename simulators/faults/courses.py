"""Which faults a game can have, and at which of its cards."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from controller.games.baccarat import BANKER, PLAYER, Baccarat
from controller.games.deal_pattern import initial_spots
from controller.games.patterns import HAND_SIZE
from controller.games.procedure import DEALER, BoxState, Game
from controller.games.russian_live import RussianLive
from controller.games.sister_game import EXCHANGE, SisterGame
from controller.games.sister_russian import RussianGame
from controller.table.events import IncidentKind, Verdict
from simulators.faults.catalogue import (
    AFTER_PURCHASE,
    BY_ID,
    FAULTS,
    LIVE_COURSES,
    MISDEALS,
    Course,
    Moment,
    Spot,
    course,
)

LEFT_OUT: Mapping[str, Mapping[str, str]] = {
    "oasis_with_bonus": {
        "extra-placed": "OAB-24: the round is dealt anew, as after a miscount",
        "extra-switch": "OAB-24: the round is dealt anew, as after a miscount",
        "hidden-shown": "OAB-25: a dealer's card that was turned up is no reason to stop",
    },
    "caribbean_poker": {
        "extra-switch": "CAR-04: no card is drawn after the deal",
        "no-read-switch": "CAR-04: no card is drawn after the deal",
        "unreadable": "CAR-04: no card is drawn after the deal",
        "gone-for-long": "CAR-04: no card is drawn after the deal",
        "early-exchange": "CAR-04: no card hangs on a decision",
        "cleared-early": "CAR-04: there are no final options",
        "surplus-final-options": "CAR-04: there are no final options",
    },
}
"""Faults that a game has no moment for, with the rule. After a purchase: only games that sell one."""


UNDER_DEFAULT = {
    id: replace(BY_ID[id], incidents=((kind, verdict),), cancels=None)
    for id, kind, verdict in (
        ("no-read-twice", IncidentKind.FAILED_READ, Verdict.ENTERED),
        ("cleared-early", IncidentKind.TABLE_CLEARED, Verdict.RESTORED),
        ("early-exchange", IncidentKind.EARLY_EXCHANGE, Verdict.HELD),
        ("floor-in-shuffle", IncidentKind.CARD_ON_FLOOR, Verdict.DECK_CHECK),
        ("card-on-floor", IncidentKind.CARD_ON_FLOOR, Verdict.BURNED),
        ("replacement-on-floor", IncidentKind.CARD_ON_FLOOR, Verdict.BURNED),
    )
}
"""Faults that the default profile decides otherwise than live Russian Poker's."""
NO_NEW_SET = frozenset({"set-short", "set-doubled", "set-foreign"})
"""By the default profile a deck that fell is counted again (row 16): no new set is loaded."""


KEPT = (IncidentKind.SURPLUS_CARD, Verdict.HELD)
OUT_OF_A_SHOE = {
    id: replace(BY_ID[id], incidents=(incident,), cancels=None)
    for id, incident in (
        ("surplus-called", (IncidentKind.SURPLUS_CARD, Verdict.BURNED)),
        ("surplus-result", KEPT),
        ("late-card", KEPT),
        ("early-draw", (IncidentKind.EARLY_DRAW, Verdict.HELD)),
        ("early-draw-seen", (IncidentKind.EARLY_DRAW, Verdict.BURNED)),
        ("card-before-start", (IncidentKind.EARLY_DRAW, Verdict.HELD)),
    )
}
"""Faults that a game out of a shoe decides otherwise: a card that nobody is owed waits, or is burned."""
AT_BACCARAT = (
    *("card-on-floor", "no-read", "damaged-frame", "no-read-switch", "no-read-twice", "unreadable"),
    *("misread", "read-twice", "foreign-card", "unknown-code", "surplus-called", "surplus-result"),
    *("early-draw", "early-draw-seen", "late-card", "card-before-start", "wrong-result", "miscounted"),
    *("card-lost", "floor-in-shuffle", "report-withdrawn", "unplugged", "unplugged-card-drawn"),
    *("split-frame", "noise", "press-repeated", "betting-silent"),
)
"""The faults of a game in which all cards lie open, nobody decides and values come again."""
COUP = [(side, n) for n in (1, 2) for side in (PLAYER, BANKER)]
THIRDS = [(PLAYER, 3), (BANKER, 3)]
BACCARAT = course(
    tuple(OUT_OF_A_SHOE.get(id) or UNDER_DEFAULT.get(id) or BY_ID[id] for id in AT_BACCARAT),
    (*COUP, *THIRDS),
    {
        Moment.ANY_CARD: COUP[:-1],
        Moment.FACE_UP_CARD: COUP[:-1],
        Moment.FACE_DOWN_CARD: COUP[:-1],
        Moment.DRAWN_CARD: THIRDS,
    },
)
"""The last of the first four cards is left out: after it a side may have its due cards."""


def course_of(game: Game, states: Mapping[str, BoxState]) -> Course:
    """Return what can go wrong in a game whose boxes, where in play, have these states."""
    if isinstance(game, Baccarat):
        return BACCARAT
    if isinstance(game, RussianLive):
        return LIVE_COURSES[game.rules.deal_pattern]
    assert isinstance(game, SisterGame), game
    left_out = LEFT_OUT.get(game.name, {})
    purchase = AFTER_PURCHASE if isinstance(game, RussianGame) else ()
    misdeals = MISDEALS if game.name == "oasis_with_bonus" else ()
    faults = tuple(
        UNDER_DEFAULT.get(fault.id, fault)
        for fault in (*FAULTS, *purchase, *misdeals)
        if fault.id not in NO_NEW_SET | left_out.keys()
    )
    dark = {box for box in game.boxes if game.has_dark_boxes and states[box] is BoxState.DARK}
    deal = list(initial_spots(game.places, game.rules.deal_pattern)[:-1])
    deciding = [box for box in game.boxes if box not in dark]
    drawn = [(box, HAND_SIZE + n) for box in deciding for n in range(1, HAND_SIZE + 1)]
    hidden = [spot for spot in deal if spot[0] in dark or _is_hidden_dealers(spot, game.rules.up_card)]
    spots: dict[Moment, list[Spot]] = {
        Moment.ANY_CARD: deal,
        Moment.FACE_UP_CARD: [spot for spot in deal if spot[0] in deciding],
        Moment.FACE_DOWN_CARD: hidden,
        Moment.DRAWN_CARD: drawn if EXCHANGE in game.actions else [],
        Moment.REPLACEMENT: [(DEALER, HAND_SIZE + 1)] if purchase else [],
    }
    order = (*deal, *drawn, (DEALER, HAND_SIZE + 1))
    return course(faults, order, spots)


def _is_hidden_dealers(spot: Spot, up_card: int) -> bool:
    place, n = spot
    return place == DEALER and n != up_card
