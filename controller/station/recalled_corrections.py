"""The corrections of a round, as `recall` tells them: they may lie in the files of later days (row 36)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from controller.bus.envelope import SealedRound, decode, event_of
from controller.journal import Days, Reader, Step
from controller.station.result_groups import Result, in_groups
from controller.table.events import AnyEvent, RoundCorrected

CORRECTED = b'"event":"round.corrected"'


class RecalledCorrection(msgspec.Struct, frozen=True, omit_defaults=True):
    """One revision after the first. `cards` lay there as others than were read, as `dealer 1 Jh`;
    `refund` is `all` where every wager is refunded; `sealed` counts the messages of each audience."""

    rev: int
    at_us: int
    journal: str
    step: int
    reason: str
    cell: str
    incident: int
    by: tuple[str, ...]
    result: Result
    sealed: dict[str, int]
    cards: tuple[str, ...] = ()
    refund: str | None = None


def is_correction(step: Step) -> bool:
    """Whether a step corrects a round; it says nothing of the round that lies on the table meanwhile."""
    return any(CORRECTED in event for event in step.events)


def corrections_of(path: Path, roundid: str, *, after: int) -> Iterator[RecalledCorrection]:
    """Yield what has been corrected in a round since step `after` of the file at `path`.

    The files of later days in its folder are looked through too. Raises JournalError.
    """
    later = [other for other in Days(path.parent).paths() if other.name > path.name]
    for day in (path, *later):
        with Reader.open(day) as reader:
            for step in reader.steps(after if day == path else 0):
                if is_correction(step):
                    yield from _told(day, step, roundid)


def _told(path: Path, step: Step, roundid: str) -> Iterator[RecalledCorrection]:
    for event in map(_EVENT.decode, step.events):
        if not isinstance(event, RoundCorrected) or event.roundid != roundid:
            continue
        yield RecalledCorrection(
            rev=event.rev,
            at_us=step.at_us,
            journal=path.name,
            step=step.n,
            reason=event.reason,
            cell=event.cell,
            incident=event.incident,
            by=event.by,
            result=in_groups(event.outcome),
            sealed=_sealed(step),
            cards=tuple(f"{card.place} {card.n} {card.card}" for card in event.cards),
            refund=event.refund,
        )


def _sealed(step: Step) -> dict[str, int]:
    return {
        audience: event.count
        for audience, messages in step.messages.items()
        for event in map(event_of, map(decode, messages))
        if isinstance(event, SealedRound)
    }


_EVENT: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
