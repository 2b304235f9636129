"""The views: one for each page, each a struct made of the board. To add one, write it and list it here.

A view is what is pushed to its page as `view`, so that nothing may stand in it which its readers must not
know; all of it comes from the picture and the public feed, in which no face-down card is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import msgspec

from controller.bus.snapshot import Snapshot
from controller.games.published import BoxOutcome, Coup, DealerHand, EvaluatedHand, ShownCombination
from controller.games.russian_live import RussianLive
from controller.station.config import StationConfig
from controller.station.pages.board import Board
from controller.table.inputs import Role
from controller.table.picture import Picture
from controller.table.presses import ROLES
from controller.table.situations import SITUATIONS


class Hall(msgspec.Struct, frozen=True, kw_only=True):
    """What never changes while the process runs; every page gets it once, before anything else."""

    table: str
    environment: str
    game: str
    boxes: tuple[str, ...]
    places: tuple[str, ...]
    """Where cards lie, in the order of the first deal."""
    has_switch: bool
    scanners: tuple[str, ...]
    decks: tuple[str, ...]
    deck_size: int
    cancels: Mapping[str, str]
    """What a report that leads to a cancel is told as, by the kind of the report."""
    draws: bool
    """Whether the page draws the cards: a simulated shoe deals when it is asked to."""


class BoxResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a box stands against the dealer as it was dealt; which hands players made of it they know alone."""

    box: str
    combinations: tuple[ShownCombination, ...] = ()
    comparison: str | None = None
    odds: str | None = None
    is_empty: bool = False
    hands_count: int = 1


class ResultView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A result that is proposed or confirmed."""

    boxes: tuple[BoxResult, ...]
    dealer: DealerHand | None = None
    coup: Coup | None = None


class TableView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The table as its people see it: dealer and supervisor."""

    picture: Picture
    buttons: tuple[str, ...]
    """The presses of the picture that are taken from this page's role."""
    hands: Mapping[str, EvaluatedHand] = {}
    laid_aside: Mapping[str, tuple[int, ...]] = {}
    voided: tuple[str, ...] = ()
    decisions: Mapping[str, str] = {}
    duration_ms: int | None = None
    """Of the window that was opened last."""
    result: ResultView | None = None
    cancelled: str | None = None
    """Why the round was cancelled; only then the players are told so."""
    dealer_name: str | None = None


Build: TypeAlias = Callable[[Board, Role], msgspec.Struct]
FORBIDDEN = {
    role: frozenset(str(kind.__struct_config__.tag) for kind, roles in ROLES.items() if role not in roles)
    for role in (Role.DEALER, Role.SUPERVISOR)
}
"""The presses that are not taken from a role."""


class View(NamedTuple):
    """A page `/{name}`, for people in `role`; `build` makes what is pushed to it."""

    name: str
    role: Role
    build: Build


def hall(config: StationConfig, *, draws: bool) -> Hall:
    """Return what every page of this table is told first."""
    game = config.game
    return Hall(
        table=config.settings.table,
        environment=config.environment.value,
        game=game.name,
        boxes=game.boxes,
        places=game.places,
        has_switch=isinstance(game, RussianLive),
        scanners=tuple(config.scanners),
        decks=tuple(deck.name for deck in (config.deck, *config.spare_decks)),
        deck_size=config.deck.size,
        cancels={
            kind.value: situation.reason.value
            for kind, situation in SITUATIONS.items()
            if situation.observable and situation.reason is not None
        },
        draws=draws,
    )


def table_view(board: Board, role: Role) -> TableView:
    """Return what the people at the table see."""
    told, picture = board.snapshot, board.picture
    is_ours = told.roundid == picture.roundid and picture.roundid is not None
    window = told.windows[-1] if told.windows else None
    return TableView(
        picture=picture,
        buttons=tuple(name for name in picture.buttons if name not in FORBIDDEN[role]),
        hands=told.hands if is_ours else {},
        laid_aside=laid_aside(told) if is_ours else {},
        voided=told.voided if is_ours else (),
        decisions={box: made.action or "" for box, made in window.decisions.items()} if window else {},
        duration_ms=window.duration_ms if window else None,
        result=result_of(told) if is_ours else None,
        cancelled=told.last.cancelled if is_ours and told.last is not None and _is_last(told) else None,
        dealer_name=told.dealer,
    )


def laid_aside(told: Snapshot) -> dict[str, tuple[int, ...]]:
    """Return the numbers of the cards beside each hand."""
    aside = {
        place: tuple(card.n for card in cards if card.laid_aside) for place, cards in told.places.items()
    }
    return {place: numbers for place, numbers in aside.items() if numbers}


def _is_last(told: Snapshot) -> bool:
    """Whether the round on the board is the one that has ended last."""
    return told.last is not None and told.last.roundid == told.roundid


def result_of(told: Snapshot) -> ResultView | None:
    """Return the result of the round that was opened last, as far as there is one."""
    outcome = told.proposed
    if told.last is not None and _is_last(told):
        outcome = told.last.outcome
    if outcome is None:
        return None
    return ResultView(tuple(map(_box_result, outcome.boxes)), outcome.dealer, outcome.coup)


def _box_result(box: BoxOutcome) -> BoxResult:
    if not box.hands:
        return BoxResult(box.box)
    dealt = box.hands[0]
    return BoxResult(
        box.box,
        dealt.combinations,
        dealt.comparison,
        dealt.odds,
        is_empty=dealt.excluded == "BOX_EMPTY",
        hands_count=len(box.hands),
    )


VIEWS: Mapping[str, View] = {view.name: view for view in (View("dealer", Role.DEALER, table_view),)}
