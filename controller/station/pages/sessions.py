"""Who is logged in at which page. Sessions live in memory alone: they end with the process."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from controller.table.inputs import Role

TOKEN_BYTES = 32
SESSIONS_MAX = 64
"""So many people at once; the one that was idle longest goes when another one comes."""


class Ended(StrEnum):
    """Why a session is over."""

    UNKNOWN = "UNKNOWN"
    """Nobody is logged in under this cookie; the process may have started anew."""
    IDLE = "IDLE"
    TOO_OLD = "TOO_OLD"
    LOGGED_OUT = "LOGGED_OUT"
    OFF_DUTY = "OFF_DUTY"
    """The person has gone off duty elsewhere, or was relieved."""


@dataclass(slots=True)
class Session:
    """One person at one page. Times are in seconds of the clock that the sessions are given."""

    token: str
    actor: str
    name: str
    role: Role
    began_s: float
    seen_s: float
    was_on_duty: bool = False
    """A change of dealers inside a round waits for its signature; only who was on duty can go off."""


class Sessions:
    """All sessions of one table's pages."""

    def __init__(self, *, idle_s: float, life_s: float, now_s: Callable[[], float]) -> None:
        self._idle_s = idle_s
        self._life_s = life_s
        self._now_s = now_s
        self._open: dict[str, Session] = {}

    def begin(self, actor: str, name: str, role: Role) -> Session:
        """Begin a session under a fresh token."""
        while len(self._open) >= SESSIONS_MAX:
            self.end(min(self._open.values(), key=lambda one: one.seen_s).token)
        now = self._now_s()
        session = Session(secrets.token_urlsafe(TOKEN_BYTES), actor, name, role, now, now)
        self._open[session.token] = session
        return session

    def end(self, token: str | None) -> None:
        """End a session, if there is one."""
        if token is not None:
            self._open.pop(token, None)

    def find(self, token: str | None, *, busy: bool = False) -> Session | Ended:
        """Return the session of `token`, or why there is none. `busy`: nobody is idle now."""
        session = self._open.get(token) if token is not None else None
        if session is None:
            return Ended.UNKNOWN
        now = self._now_s()
        if now - session.began_s > self._life_s and not busy:
            return self._over(session, Ended.TOO_OLD)
        if now - session.seen_s > self._idle_s and not busy:
            return self._over(session, Ended.IDLE)
        return session

    def seen(self, session: Session) -> None:
        """The person has done something."""
        session.seen_s = self._now_s()

    def _over(self, session: Session, why: Ended) -> Ended:
        self.end(session.token)
        return why
