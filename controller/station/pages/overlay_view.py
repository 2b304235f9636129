"""What the overlay over the stream shows: made of the public snapshot alone.

Its maker gets no picture and no state of the table, so that nothing can stand in it which a viewer must not
know. A card is named once it lies open; one that lies face down is a back, as the camera sees it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from controller.bus.snapshot import LaidCard, Snapshot
from controller.games.procedure import Face
from controller.games.published import EvaluatedHand
from controller.games.russian_live import RussianLive
from controller.station.config import StationConfig
from controller.station.pages.views import ResultView, laid_aside, result_of
from controller.table.charts import Phase

BACK = "back"
ON_THE_TABLE = frozenset(
    {Phase.BETTING, Phase.DEALING, Phase.DECIDING, Phase.RESULT_PROPOSED, Phase.CONFIRMED, Phase.CANCELLED}
)
"""While the cards of a round lie there, or are about to."""


class OverlayHall(msgspec.Struct, frozen=True, kw_only=True):
    """What every overlay is told first. `delay_ms` is the delay of its video."""

    table: str
    environment: str
    places: tuple[str, ...]
    has_switch: bool
    delay_ms: int


class OverlayWindow(msgspec.Struct, frozen=True):
    """The open window."""

    stage: str
    closes_at_us: int
    duration_ms: int


class OverlayView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The table after the last public message, which was at `happened_us`; the page holds it from then on."""

    happened_us: int
    phase: str
    rules: str
    round_no: int
    deal: int = 1
    dealer_name: str | None = None
    places: Mapping[str, tuple[str, ...]] = {}
    laid_aside: Mapping[str, tuple[int, ...]] = {}
    hands: Mapping[str, EvaluatedHand] = {}
    voided: tuple[str, ...] = ()
    decisions: Mapping[str, str] = {}
    window: OverlayWindow | None = None
    result: ResultView | None = None
    """Once it is confirmed."""
    cancelled: str | None = None
    corrected: bool = False
    """The result of the last round was corrected, whatever lies on the table now."""
    refunded: bool = False
    held: bool = False
    """An incident is open; viewers learn no more of it."""
    paused: bool = False


def overlay_hall(config: StationConfig, delay_ms: int) -> OverlayHall:
    """Return what never changes while the process runs."""
    return OverlayHall(
        table=config.settings.table,
        environment=config.environment.value,
        places=config.game.places,
        has_switch=isinstance(config.game, RussianLive),
        delay_ms=delay_ms,
    )


def overlay_view(told: Snapshot) -> OverlayView:
    """Return what viewers see of the table."""
    lies = told.phase in ON_THE_TABLE
    last = told.last
    is_over = lies and last is not None and last.roundid == told.roundid
    window = told.open_window() if lies else None
    return OverlayView(
        happened_us=_microseconds(told.time),
        phase=told.phase,
        rules=told.rules,
        round_no=told.round_no,
        deal=told.deal,
        dealer_name=told.dealer,
        places=_as_they_lie(told) if lies else {},
        laid_aside=laid_aside(told) if lies else {},
        hands=told.hands if lies else {},
        voided=told.voided if lies else (),
        decisions={box: made.action or "" for box, made in window.decisions.items()} if window else {},
        window=OverlayWindow(window.stage, window.closes_at_us, window.duration_ms) if window else None,
        result=result_of(told) if is_over else None,
        cancelled=last.cancelled if is_over and last is not None else None,
        corrected=last is not None and last.rev > 1 and last.cancelled is None,
        refunded=last is not None and last.refund is not None,
        held=bool(told.incidents) or told.blocked,
        paused=told.paused is not None,
    )


def _as_they_lie(told: Snapshot) -> dict[str, tuple[str, ...]]:
    return {place: tuple(map(_side, cards)) for place, cards in told.places.items() if cards}


def _side(laid: LaidCard) -> str:
    return laid.card if laid.face is Face.UP and laid.card is not None else BACK


def _microseconds(time: str) -> int:
    """Read the time of an envelope; 0 before the first message."""
    if not time:
        return 0
    moment = datetime.fromisoformat(time)
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond
