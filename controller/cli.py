"""tablectl: one command a job. Subcommands are found by the entry-point group `tablectl.commands`."""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import entry_points, version

GROUP = "tablectl.commands"
USAGE = 2


def main(words: list[str] | None = None) -> int:
    """Run one subcommand. Exit codes: 0 fine, 1 negative finding, 2 usage, 3 refused to start."""
    parser = argparse.ArgumentParser(prog="tablectl", description="Controller for live-dealer card tables.")
    parser.add_argument("--version", action="version", version=f"tablectl {version('tablectl')}")
    subcommands = parser.add_subparsers(metavar="COMMAND", required=True)
    for found in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        found.load()(subcommands)
    arguments = parser.parse_args(words)
    try:
        result: int = arguments.run(arguments)
    except KeyboardInterrupt:
        return 130
    return result


if __name__ == "__main__":
    sys.exit(main())
