"""Which processes hold a device or a file, found in /proc (on Linux; elsewhere nothing is found)."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec

PROC = Path("/proc")
COMMAND_LENGTH_MAX = 120


class Holder(msgspec.Struct, frozen=True):
    """A process; `program` is its name as `ps` shows it, of an interpreter the script that it runs."""

    pid: int
    program: str
    command: str
    """Its command line, on one line and cut off."""

    def __str__(self) -> str:
        itself = ", this program itself" if self.pid == os.getpid() else ""
        return f"{self.program} (pid {self.pid}{itself})"


def find_lockers(path: str | Path, proc: Path = PROC) -> tuple[Holder, ...]:
    """Return the processes that have locked `path`. Everybody may see that, and it is found at once."""
    wanted = _stat(Path(path))
    return () if wanted is None else _named(_locking(wanted, proc), proc)


def find_holders(path: str | Path, proc: Path = PROC) -> tuple[Holder, ...]:
    """Return the processes that have locked `path` or have it open; the latter as far as this user may see.

    Whoever plays the device at the other end of a pty is no holder. Looks at every process of the machine,
    which takes some 50 ms.
    """
    wanted = _stat(Path(path))
    return () if wanted is None else _named(_locking(wanted, proc) | _opening(wanted, proc), proc)


def holder_of(path: str | Path) -> Holder | None:
    """Return the first other process that has `path` open, None if none is seen."""
    return next((holder for holder in find_holders(path) if holder.pid != os.getpid()), None)


def _named(pids: set[int], proc: Path) -> tuple[Holder, ...]:
    return tuple(_describe(pid, proc / str(pid)) for pid in sorted(pids))


def _locking(wanted: os.stat_result, proc: Path) -> set[int]:
    """Return the living holders of an flock; a dead one's child may have inherited the open file."""
    inode = f"{os.major(wanted.st_dev):02x}:{os.minor(wanted.st_dev):02x}:{wanted.st_ino}"
    pids = set()
    for line in _text(proc / "locks").splitlines():
        words = line.split()
        if "FLOCK" in words and inode in words:
            pids.add(int(words[words.index(inode) - 1]))
    return {pid for pid in pids if (proc / str(pid)).exists()}


def _opening(wanted: os.stat_result, proc: Path) -> set[int]:
    processes = proc.iterdir() if proc.is_dir() else ()
    return {int(entry.name) for entry in processes if entry.name.isdecimal() and _has_open(entry, wanted)}


def _has_open(process: Path, wanted: os.stat_result) -> bool:
    """Whether a process has the file or device open, and not as the one that plays it; False if unseen."""
    try:
        descriptors = list((process / "fd").iterdir())
    except OSError:
        return False
    opened = [(descriptor, _stat(descriptor)) for descriptor in descriptors]
    if not any(found is not None and _identity(found) == _identity(wanted) for _, found in opened):
        return False
    masters = (descriptor for descriptor, found in opened if found is not None and _is_pty_master(found))
    return not any(_pty_index(process, master.name) == _slave_index(wanted) for master in masters)


def _identity(found: os.stat_result) -> tuple[int, ...]:
    """A device is the same behind all its nodes, a file by its place on the disk."""
    return (found.st_rdev,) if stat.S_ISCHR(found.st_mode) else (found.st_dev, found.st_ino)


def _is_pty_master(found: os.stat_result) -> bool:
    return stat.S_ISCHR(found.st_mode) and (os.major(found.st_rdev), os.minor(found.st_rdev)) == (5, 2)


def _slave_index(wanted: os.stat_result) -> int | None:
    is_slave = stat.S_ISCHR(wanted.st_mode) and os.major(wanted.st_rdev) == 136
    return os.minor(wanted.st_rdev) if is_slave else None


def _pty_index(process: Path, descriptor: str) -> int:
    lines = (line.partition(":") for line in _text(process / "fdinfo" / descriptor).splitlines())
    return next((int(value) for name, _, value in lines if name == "tty-index"), -1)


def _describe(pid: int, process: Path) -> Holder:
    words = [word for word in _text(process / "cmdline").split("\0") if word]
    name = _text(process / "comm").strip() or "a process"
    scripts = [word for word in words[1:] if not word.startswith("-")]
    program = Path(scripts[0]).name if name.startswith("python") and scripts and "-c" not in words else name
    command = "".join(char if char.isprintable() else "?" for char in " ".join(words))
    return Holder(pid, program, command[:COMMAND_LENGTH_MAX] or name)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
