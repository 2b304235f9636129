"""Who is on duty: log-ins, the dealer's change, and who leaves (rows 31 and 32 of the procedures).

A dealer comes and goes between rounds. Inside a round another one takes over only with two signatures:
the newcomer's own log-in, and a supervisor's. Duty outlives a restart: the process went down, not the
people; whoever has left meanwhile is logged out by a supervisor.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.table.charts import IN_ROUND
from controller.table.events import DealerChanged, IncidentKind, LoggedIn, LoggedOut, Refusal, Verdict
from controller.table.incidents import decide
from controller.table.inputs import Commanded, LogIn, LogOut, Role
from controller.table.procedures import meet
from controller.table.staff import Duty, Failures, OnDuty
from controller.table.state import Incident, TableState

SECOND = 1_000_000


def log_in(t: TableState, value: Commanded, command: LogIn) -> Refusal | None:
    """Take a person on duty; the station has checked PIN or badge, and says so in `proof`."""
    duty, actor = t.duty, value.actor
    if duty.is_locked(actor, t.now):
        return Refusal.LOCKED_OUT
    if duty.role_of(actor) is not None or any(_is_coming(known, actor) for known in t.incidents):
        return Refusal.DUAL_LOGIN  # Nobody can lock out who is on duty by guessing.
    if command.proof is None:
        return _failed(t, actor)
    if value.role is not command.role:
        return Refusal.WRONG_ROLE
    person = OnDuty(actor, command.name, command.proof)
    if command.role is Role.SUPERVISOR:
        t.duty = replace(_cleared(duty, actor), supervisors=(*duty.supervisors, person))
        t.emit(LoggedIn(actor=actor, role=Role.SUPERVISOR, proof=person.proof))
        return None
    if duty.dealer is None:
        _begin_dealing(t, person)
        return None
    return _ask_change(t, person)


def _cleared(duty: Duty, actor: str) -> Duty:
    failures = {known: failed for known, failed in duty.failures.items() if known != actor}
    return replace(duty, failures=failures)


def _failed(t: TableState, actor: str) -> Refusal:
    """Count a log-in that failed; this alone moves nothing else. The one that is too many locks out."""
    limits, known = t.settings.limits, t.duty.failures.get(actor, Failures(0))
    count = 1 if known.locked_until else known.count + 1
    is_locked = count >= limits.login_tries
    until = t.now + limits.login_locked_s * SECOND if is_locked else 0
    t.duty = replace(t.duty, failures={**t.duty.failures, actor: Failures(count, until)})
    return Refusal.LOCKED_OUT if is_locked else Refusal.WRONG_SECRET


def _begin_dealing(t: TableState, person: OnDuty, signed_by: tuple[str, ...] = ()) -> None:
    t.duty = replace(_cleared(t.duty, person.actor), dealer=person)
    t.emit(LoggedIn(actor=person.actor, role=Role.DEALER, proof=person.proof))
    t.emit(DealerChanged(name=person.name, dealer=person.actor, signed_by=signed_by))


def _is_coming(incident: Incident, actor: str) -> bool:
    return incident.incoming is not None and incident.incoming.actor == actor


def _ask_change(t: TableState, person: OnDuty) -> Refusal | None:
    """Row 31: between rounds the dealer before logs out first; in a round a supervisor signs as well."""
    if t.phase not in IN_ROUND or any(known.incoming is not None for known in t.incidents):
        return Refusal.DUAL_LOGIN
    t.duty = _cleared(t.duty, person.actor)
    incident = meet(t, IncidentKind.DEALER_CHANGE, {}, reported_by=person.actor)
    incident.incoming = person
    return None


def may_sign(t: TableState) -> bool:
    """Whether the newest incident is a change of the dealer, which waits for its second signature."""
    return t.incident is not None and t.incident.incoming is not None


def sign_change(t: TableState, incident: Incident, actor: str) -> Refusal | None:
    """Row 31: a supervisor signs the change inside a round; the dealer before is off duty."""
    person, before = incident.incoming, t.duty.dealer
    assert person is not None
    decide(t, incident, Verdict.DEALER_CHANGED, actor)
    if before is not None:
        t.emit(LoggedOut(actor=before.actor, role=Role.DEALER, by=actor))
    _begin_dealing(t, person, (person.actor, actor))
    return None


def log_out(t: TableState, value: Commanded, command: LogOut) -> Refusal | None:
    """A person leaves, or a supervisor logs out one who has left; a dealer not inside a round."""
    actor = command.actor or value.actor
    other = actor != value.actor
    if other and value.role is not Role.SUPERVISOR:
        return Refusal.WRONG_ROLE
    role = t.duty.role_of(actor)
    if role is None:
        return Refusal.NOT_ON_DUTY
    if role is Role.DEALER and t.round is not None:
        return Refusal.IN_A_ROUND
    _leave(t, actor, role, by=value.actor if other else None)
    return None


def _leave(t: TableState, actor: str, role: Role, *, by: str | None) -> None:
    t.emit(LoggedOut(actor=actor, role=role, by=by))
    if role is Role.DEALER:
        t.duty = replace(t.duty, dealer=None)
        t.emit(DealerChanged())
    else:
        left = tuple(one for one in t.duty.supervisors if one.actor != actor)
        t.duty = replace(t.duty, supervisors=left)


def end_of_day(t: TableState) -> None:
    """The table is closed: everybody's duty ends, and the next dealer relieves nobody."""
    for one in t.duty.supervisors:
        _leave(t, one.actor, Role.SUPERVISOR, by=None)
    if t.duty.dealer is not None:
        _leave(t, t.duty.dealer.actor, Role.DEALER, by=None)
    t.duty = replace(t.duty, last_dealer=None)
