"""Who has a device or a file open: the processes of this machine, as far as this user may see them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
PTY_MASTERS = frozenset({"/dev/ptmx", "/dev/pts/ptmx"})
COMMAND_LENGTH_MAX = 120


class Holder(NamedTuple):
    """A process, and its command line on one line."""

    pid: int
    command: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.command})"


def holder_of(path: str | Path) -> Holder | None:
    """Return the first other process that has `path` open; None if none is seen.

    Whoever plays the device at the other end of a pty is no holder. Processes of other users are seen by
    root alone, and none at all on a system without /proc.
    """
    wanted = os.path.realpath(path)
    for pid in sorted(int(entry.name) for entry in PROC.glob("[0-9]*") if entry.name.isdecimal()):
        if pid == os.getpid():
            continue
        opened = dict(_descriptors(pid))
        if wanted in opened.values() and not _plays(pid, opened, wanted):
            return Holder(pid, _command(pid))
    return None


def _descriptors(pid: int) -> Iterator[tuple[str, str]]:
    """Yield the descriptors of a process with what they lead to; nothing once it has ended."""
    try:
        entries = list((PROC / str(pid) / "fd").iterdir())
    except OSError:
        return
    for entry in entries:
        try:
            yield entry.name, str(entry.readlink())
        except OSError:
            continue  # It was closed meanwhile.


def _plays(pid: int, opened: dict[str, str], wanted: str) -> bool:
    """Tell whether a process has the other end of the pty `wanted`."""
    return any(
        target in PTY_MASTERS and f"/dev/pts/{_pty_index(pid, name)}" == wanted
        for name, target in opened.items()
    )


def _pty_index(pid: int, descriptor: str) -> str:
    try:
        text = (PROC / str(pid) / "fdinfo" / descriptor).read_text()
    except OSError:
        return ""
    lines = (line.partition(":") for line in text.splitlines())
    return next((value.strip() for name, _, value in lines if name == "tty-index"), "")


def _command(pid: int) -> str:
    try:
        words = (PROC / str(pid) / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    except OSError:
        words = []
    text = b" ".join(words).decode(errors="replace")
    return "".join(char if char.isprintable() else "?" for char in text)[:COMMAND_LENGTH_MAX] or "no name"
