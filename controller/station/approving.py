"""Approving at the terminal, for rules and for procedures: who may, what is recorded, and who has."""

from __future__ import annotations

import argparse

from rich.text import Text

from controller.bus.envelope import Environment
from controller.station.approvals import (
    Approval,
    Subject,
    add_approval,
    approvals_of,
    approvals_path,
    approve_command,
    read_approvals,
)
from controller.station.config import StationConfig
from controller.station.errors import PeopleError
from controller.station.people import read_people
from controller.station.prose import listed
from controller.station.start import PROGRAM
from controller.station.terminal import date_and_time
from controller.table.inputs import Role


def add_approve(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument("--approve", metavar="NAME", help="record that this supervisor of the table approves")


def why_not_approver(config: StationConfig, who: str) -> str | None:
    """Return why this person may not approve at the table, None for one who may."""
    try:
        supervisors = read_people(config.people).of_role(Role.SUPERVISOR)
    except PeopleError as error:
        return str(error)
    if who in supervisors:
        return None
    there = listed(supervisors or ("nobody",), "or")
    return f"{who} is no supervisor of table {config.settings.table}: {there}"


def approve(config: StationConfig, subject: Subject, who: str, now_us: int) -> None:
    """Record an approval, once a person and subject. Raises ApprovalsDamaged."""
    if who in [one.who for one in approvals_given(config, subject)]:
        return
    approval = Approval(
        who, now_us, config.settings.table, subject.kind, subject.name, subject.digest, PROGRAM
    )
    add_approval(approvals_path(config.run_dir), approval)


def approvals_given(config: StationConfig, subject: Subject) -> tuple[Approval, ...]:
    """Return who has approved this, oldest first. Raises ApprovalsDamaged."""
    return approvals_of(read_approvals(approvals_path(config.run_dir)), subject.name, subject.digest)


def approvals_text(
    subject: Subject, config: StationConfig | None, given: tuple[Approval, ...] | None
) -> Text:
    """Say who has approved, or how that is done."""
    text = Text("Approval\n", "bold")
    if given is None or config is None:
        text.append(
            f"These are no table's {subject.kind}: approvals are given for a table's config.\n", "not bold"
        )
        return text
    for one in given:
        text.append(
            f"Approved by {one.who}, {date_and_time(one.at_us)} UTC, at table {one.table}\n", "not bold"
        )
    if given:
        return text
    live = config.environment is Environment.LIVE
    text.append("NOT APPROVED. ", "bold")
    text.append("The table refuses to start. " if live else f"A {config.environment} table starts without. ")
    text.append(f"A supervisor signs with\n  {approve_command(config, subject)}\n", "not bold")
    return text
