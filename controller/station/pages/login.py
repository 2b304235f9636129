"""Log-in and log-out at a page: the same people file, the same command to the table, and then a session.

Whoever is on duty already, and comes back to a page, is known by PIN or badge alone: the table would refuse a
second log-in. Looking at a PIN takes a while, so that is done beside the loop.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from typing import Annotated

import msgspec

from controller.bus.wire import Answer, CommandRequest, Reason
from controller.station.errors import PeopleError
from controller.station.pages.house import House
from controller.station.pages.sessions import Session, Sessions
from controller.station.pages.throttle import Throttle
from controller.station.people import Person, read_people
from controller.table import inputs as i
from controller.table.events import Refusal
from controller.table.inputs import Role

TRIES, EACH_S = 5, 12.0
"""Five log-ins that failed at once, from one address or for one person, and five more a minute."""
ANSWER_S = 10.0
TOO_MANY_TRIES = "TOO_MANY_TRIES"

Secret = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]

log = logging.getLogger("pages")


class LogInForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the log-in sends: `actor` with a PIN, or a badge that says by itself whose it is."""

    actor: Secret | None = None
    pin: Secret | None = None
    badge: Secret | None = None

    def __repr__(self) -> str:
        return f"LogInForm({self.actor!r})"


class NotIn(msgspec.Struct, frozen=True):
    """Why nobody is logged in; for how many seconds no try is taken."""

    reason: str
    wait_s: int = 0


class Known(msgspec.Struct, frozen=True):
    """Who asks, and whether PIN or badge was right."""

    actor: str
    person: Person
    is_right: bool


class FrontDoor:
    """Takes log-ins for the pages of one table."""

    def __init__(self, house: House, sessions: Sessions, *, now_s: Callable[[], float]) -> None:
        self._house = house
        self._sessions = sessions
        self._throttle = Throttle(tries=TRIES, each_s=EACH_S, now_s=now_s)

    async def log_in(self, form: LogInForm, role: Role, address: str) -> Session | NotIn:
        """Let somebody in, or say why not. Only what failed counts as a try."""
        keys = (f"from {address}", f"as {form.actor or 'a badge'}")
        wait_s = max(map(self._throttle.wait_s, keys))
        if wait_s > 0:
            return NotIn(TOO_MANY_TRIES, int(wait_s) + 1)
        for key in keys:
            self._throttle.count(key)  # Before the look, so that many tries at once are counted.
        try:
            known = await asyncio.to_thread(_known, self._house, form)
        except PeopleError as error:
            log.error(str(error))
            return NotIn(Reason.NO_PEOPLE_FILE)
        if known is None:
            return NotIn(Refusal.WRONG_SECRET)
        refused = await self._come_on_duty(known, form, role)
        if refused is not None:
            return refused
        for key in keys:
            self._throttle.forgive(key)
        session = self._sessions.begin(known.actor, known.person.name, role)
        log.info("logged in at a page", extra={"facts": {"actor": known.actor, "role": role.value}})
        return session

    async def _come_on_duty(self, known: Known, form: LogInForm, role: Role) -> NotIn | None:
        """Bring the log-in to the table, wrong ones too: the table counts them, and locks out."""
        on_duty_as = self._house.table_state.duty.role_of(known.actor)
        if on_duty_as is not None:
            if not known.is_right:
                return NotIn(Refusal.WRONG_SECRET)
            return None if on_duty_as is role else NotIn(Refusal.WRONG_ROLE)
        answer = await self._submit(
            CommandRequest(
                secrets.token_hex(8),
                known.actor,
                self._house.table_state.round_no,
                i.LogIn(role),
                pin=form.pin,
                badge=form.badge,
            )
        )
        return None if answer.accepted else NotIn(str(answer.reason))

    async def _submit(self, request: CommandRequest) -> Answer:
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def reply(answer: Answer) -> None:
            if not answered.done():
                answered.set_result(answer)

        if not self._house.submit("operator", request, reply):
            return Answer(request.request, False, Reason.BUSY)
        async with asyncio.timeout(ANSWER_S):
            return await answered


def _known(house: House, form: LogInForm) -> Known | None:
    """Find the person who asks. Raises PeopleError."""
    people = read_people(house.config.people)
    actor = form.actor
    if form.badge is not None:
        actor = people.holder_of_code(form.badge)
    person = people.people.get(actor) if actor is not None else None
    if actor is None or person is None or (form.pin is None) == (form.badge is None):
        return None
    return Known(actor, person, person.proof(pin=form.pin, badge=form.badge) is not None)
