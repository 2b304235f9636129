"""tablectl: one command a job. Subcommands are found by the entry-point group `tablectl.commands`."""

from __future__ import annotations

import argparse
import os
import select
import sys
from importlib.metadata import EntryPoint, entry_points, version
from typing import Any

GROUP = "tablectl.commands"
FINE = 0
EPILOG = "COMMAND --help says more. Exit codes: 0 fine, 1 a finding, 2 usage, 3 refused to start."


class Capitals(argparse.HelpFormatter):
    """Writes what takes the place of a word in capitals, as options do."""

    def _get_default_metavar_for_positional(self, action: argparse.Action) -> str:
        return action.dest.upper()


class Parser(argparse.ArgumentParser):
    """A parser whose subcommands say first what they do: the words by which the list above has them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": Capitals} | options)
        self.register("action", "parsers", Described)


class Described(argparse._SubParsersAction):  # type: ignore[type-arg]
    """The subcommands of a `Parser`."""

    def add_parser(self, name: str, **options: Any) -> Any:
        """Add a subcommand, described by its `help`."""
        return super().add_parser(name, **{"description": _sentence(options["help"])} | options)


def main(words: list[str] | None = None) -> int:
    """Run one subcommand. Exit codes: 0 fine, 1 negative finding, 2 usage, 3 refused to start."""
    parser = Parser(prog="tablectl", description="Controller for live-dealer card tables.", epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"tablectl {version('tablectl')}")
    subcommands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in _commands(sys.argv[1:] if words is None else words):
        command.load()(subcommands)
    arguments = parser.parse_args(words)
    try:
        result: int = arguments.run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        if _is_heard():
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    return result


def _is_heard() -> bool:
    """Whether anybody still reads the output; nobody does behind `| head`."""
    output = select.poll()
    output.register(sys.stdout.fileno(), 0)
    return not any(event & select.POLLERR for _, event in output.poll(0))


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _commands(words: list[str]) -> list[EntryPoint]:
    """Return the command that is named, all of them when none is: loading the others takes 0.1 s."""
    known = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    return [entry for entry in known if entry.name == words[0]] or known if words else known


if __name__ == "__main__":
    sys.exit(main())
