"""Rounds, cards, windows, incidents and presses as rows, folded from the messages of one audience.

The rows say what that audience was told and nothing else: whoever has the messages makes the same rows. The
result of a round is that of its last revision among them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from controller.bus.envelope import Envelope, SealedRound, decode, event_of
from controller.station.recall import (
    Press,
    Recalled,
    RecalledCard,
    RecalledIncident,
    RecalledWindow,
    Teller,
    tell_incident,
)
from controller.station.result_groups import in_groups
from controller.station.selection import parse_time
from controller.table import events
from controller.table.events import Event

Row = dict[str, Any]


class Sheet(StrEnum):
    """The tables of rows."""

    ROUNDS = "rounds"
    CARDS = "cards"
    WINDOWS = "windows"
    INCIDENTS = "incidents"
    PRESSES = "presses"


ROUND_COLUMNS = (
    "roundid",
    "round_no",
    "game",
    "rules",
    "opened_at_us",
    "ended_at_us",
    "ending",
    "reason",
    "place",
    "incident",
    "revisions",
    "bets",
    "cards",
    "commitments",
    "commitments_opened",
    "restarts",
    "result",
)


def _columns(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    return ("roundid", *kind.__struct_fields__)


COLUMNS: dict[Sheet, tuple[str, ...]] = {
    Sheet.ROUNDS: ROUND_COLUMNS,
    Sheet.CARDS: _columns(RecalledCard),
    Sheet.WINDOWS: _columns(RecalledWindow),
    Sheet.INCIDENTS: _columns(RecalledIncident),
    Sheet.PRESSES: _columns(Press),
}
"""The columns of each sheet in their order; an event that an audience does not hear leaves cells empty."""


class ToldRows:
    """Takes the messages of one audience in order."""

    def __init__(self) -> None:
        self._tellers: dict[str, tuple[Recalled, Teller]] = {}
        self._revisions: dict[str, int] = {}
        self._incidents: list[RecalledIncident] = []
        self._incident_rounds: list[str | None] = []
        self._presses: list[tuple[str | None, Press]] = []

    def take(self, raw: bytes) -> None:
        """Take the next message. Raises MalformedMessage."""
        envelope = decode(raw)
        event = event_of(envelope)
        if event is not None:
            self._tell(envelope, parse_time(envelope.time), event)

    def _tell(self, envelope: Envelope, at_us: int, event: Event) -> None:
        roundid = envelope.roundid
        match event:
            case events.RoundOpened():
                self._open(envelope, at_us, event)
            case SealedRound() if roundid is not None:
                self._revisions[roundid] = event.rev
            case events.InputAccepted():
                self._presses.append((roundid, Press(at_us, event.command, event.actor, event.role)))
            case events.InputRefused():
                self._presses.append((roundid, Press(at_us, event.input, event.actor, refused=event.reason)))
            case events.IncidentOpened() | events.IncidentDecided() | events.IncidentClosed():
                tell_incident(self._incidents, at_us, event)
                new = len(self._incidents) - len(self._incident_rounds)
                self._incident_rounds += [roundid] * new
            case events.RoundCorrected():
                # The round may have been opened before the first of these messages.
                if event.roundid in self._tellers:
                    self._tellers[event.roundid][0].result = in_groups(event.outcome)
            case _ if roundid in self._tellers:
                self._tellers[roundid][1].tell(at_us, event)  # type: ignore[arg-type] # SealedRound is above

    def _open(self, envelope: Envelope, at_us: int, event: events.RoundOpened) -> None:
        roundid = envelope.roundid or ""
        told = Recalled(
            table=envelope.tableid,
            roundid=roundid,
            round_no=event.round_no,
            game=event.game,
            rules=event.rules,
            journal="",
            steps=(0, 0),
            opened_at_us=at_us,
        )
        self._tellers[roundid] = told, Teller(told)

    def rows(self, sheet: Sheet) -> list[Row]:
        """Return the rows of a sheet, in order of time."""
        match sheet:
            case Sheet.ROUNDS:
                return [self._round(told) for told, _ in self._tellers.values()]
            case Sheet.CARDS:
                return [_row(told.roundid, card) for told, _ in self._tellers.values() for card in told.cards]
            case Sheet.WINDOWS:
                return [_row(told.roundid, one) for told, _ in self._tellers.values() for one in told.windows]
            case Sheet.INCIDENTS:
                pairs = zip(self._incident_rounds, self._incidents, strict=True)
                return [_row(roundid, incident) for roundid, incident in pairs]
            case Sheet.PRESSES:
                return [_row(roundid, press) for roundid, press in self._presses]

    def _round(self, told: Recalled) -> Row:
        commitments, opened = told.commitments
        cancelled = told.cancelled
        ending = "confirmed" if told.result is not None else "cancelled" if cancelled is not None else "open"
        row: Row = {
            "roundid": told.roundid,
            "round_no": told.round_no,
            "game": told.game,
            "rules": told.rules,
            "opened_at_us": told.opened_at_us,
            "ended_at_us": told.ended_at_us,
            "ending": ending,
            "revisions": self._revisions.get(told.roundid, 0),
            "bets": told.bets,
            "cards": len(told.cards),
            "commitments": commitments,
            "commitments_opened": opened,
            "restarts": len(told.restarts),
        }
        if cancelled is not None:
            row |= {
                "reason": cancelled.reason,
                "place": cancelled.place,
                "incident": cancelled.incident,
            }
        if told.result is not None:
            row["result"] = msgspec.to_builtins(told.result)
        return row


def told_rows(messages: Iterable[bytes]) -> ToldRows:
    """Fold messages of one audience. Raises MalformedMessage."""
    told = ToldRows()
    for raw in messages:
        told.take(raw)
    return told


def as_jsonl(rows: Iterable[Row]) -> bytes:
    """Return rows as JSON Lines."""
    return b"".join(msgspec.json.encode(row, order="deterministic") + b"\n" for row in rows)


def as_csv(columns: Sequence[str], rows: Iterable[Row]) -> bytes:
    """Return rows as CSV (RFC 4180) with a line of columns; what is no plain value is JSON in its cell."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row.get(column)) for column in columns])
    return text.getvalue().encode()


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case int():
            return str(value)
        case _:
            return msgspec.json.encode(value, order="deterministic").decode()


def _row(roundid: str | None, value: msgspec.Struct) -> Row:
    return {"roundid": roundid, **msgspec.to_builtins(value)}
