"""`tablectl conformance wallet|overlay --subject COMMAND`: does a consumer keep the contract of the bus?"""

from __future__ import annotations

import argparse
import asyncio
import shlex
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from controller.conformance.kit import Case, Role, Verdict, cases_of, verdicts_of

FINE, FINDING, USAGE = 0, 1, 2


def add_conformance(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "conformance", help="drive a wallet or an overlay through the contract of the bus"
    )
    parser.add_argument(
        "role", type=Role, choices=list(Role), metavar="wallet|overlay", help="what the consumer is"
    )
    parser.add_argument(
        "--case", action="append", default=[], metavar="NAME", help="this case alone; may be given again"
    )
    parser.add_argument("--list", action="store_true", help="list the cases and what each demands")
    parser.add_argument(
        "--jobs", type=int, default=4, metavar="N", help="processes of the subject at once; 4 unless given"
    )
    parser.add_argument(
        "--subject",
        type=shlex.split,
        metavar="COMMAND",
        help="starts the consumer, which answers lines of JSON as docs/conformance.md says",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Play the cases and report each; 1 when one is failed."""
    console = Console(highlight=False, soft_wrap=True)
    known = {case.name: case for case in cases_of(arguments.role)}
    if arguments.list:
        for case in known.values():
            console.print(f"[bold]{case.name}[/]  {escape(case.clause)}")
        return FINE
    unknown = [name for name in arguments.case if name not in known]
    if unknown or not arguments.subject or arguments.jobs < 1:
        _complain(arguments, unknown)
        return USAGE
    chosen = [known[name] for name in arguments.case] or list(known.values())
    return asyncio.run(_report(console, arguments.role, arguments.subject, cases=chosen, jobs=arguments.jobs))


async def _report(
    console: Console, role: Role, command: Sequence[str], *, cases: Sequence[Case], jobs: int
) -> int:
    failed: list[Verdict] = []
    async for verdict in verdicts_of(role, command, cases=cases, jobs=jobs):
        sign = "[green]passed[/]" if verdict.differs is None else "[red]FAILED[/]"
        console.print(f"{sign}  {verdict.case.name}")
        if verdict.differs is not None:
            failed.append(verdict)
            console.print(f"        the contract: {escape(verdict.case.clause)}")
            console.print(f"        the {role}: {escape(verdict.differs)}")
    console.print(f"{len(cases) - len(failed)} of {len(cases)} cases passed")
    return FINDING if failed else FINE


def _complain(arguments: argparse.Namespace, unknown: Sequence[str]) -> None:
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if unknown:
        console.print(f"no case of {arguments.role}: {', '.join(unknown)}; --list shows them")
    elif not arguments.subject:
        console.print("--subject is missing: the command that starts it, such as 'python my_wallet.py'")
    else:
        console.print(f"--jobs {arguments.jobs}: expected 1 or more")
