"""Which process holds a device, found in /proc without any tool (Linux; elsewhere nothing is found)."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

PROC = Path("/proc")


class Holder(msgspec.Struct, frozen=True):
    """A process. `program` is its name as `ps` shows it; of an interpreter, the script or module it runs."""

    pid: int
    program: str

    def __str__(self) -> str:
        itself = ", this program itself" if self.pid == os.getpid() else ""
        return f"{self.program} (pid {self.pid}{itself})"


def find_lockers(node: str, proc: Path = PROC) -> tuple[Holder, ...]:
    """Return the processes that have locked `node`. Everybody may see that, and it is found at once."""
    device = _stat(node)
    return () if device is None else _named(_locking(device, proc), proc)


def find_holders(node: str, proc: Path = PROC) -> tuple[Holder, ...]:
    """Return the processes that have locked `node` or have it open; the latter as far as this user may see.

    Looks at every process of the machine, which takes some 50 ms.
    """
    device = _stat(node)
    return () if device is None else _named(_locking(device, proc) | _opening(device, proc), proc)


def _stat(node: str) -> os.stat_result | None:
    try:
        return Path(node).stat()
    except OSError:
        return None


def _named(pids: set[int], proc: Path) -> tuple[Holder, ...]:
    return tuple(Holder(pid, _program(pid, proc)) for pid in sorted(pids))


def _locking(device: os.stat_result, proc: Path) -> set[int]:
    """Return the living holders of an flock; a dead one's child may have inherited the open file."""
    inode = f"{os.major(device.st_dev):02x}:{os.minor(device.st_dev):02x}:{device.st_ino}"
    pids = set()
    for line in _text(proc / "locks").splitlines():
        words = line.split()
        if "FLOCK" in words and inode in words:
            pids.add(int(words[words.index(inode) - 1]))
    return {pid for pid in pids if (proc / str(pid)).exists()}


def _opening(device: os.stat_result, proc: Path) -> set[int]:
    return {
        int(entry.name)
        for entry in (proc.iterdir() if proc.is_dir() else ())
        if entry.name.isdecimal() and _has_open(entry / "fd", device)
    }


def _has_open(descriptors: Path, device: os.stat_result) -> bool:
    """Whether one of a process's descriptors is the device; False where we may not look."""
    try:
        opened = list(descriptors.iterdir())
    except OSError:
        return False
    for descriptor in opened:
        try:
            if descriptor.stat().st_rdev == device.st_rdev:
                return True
        except OSError:
            continue
    return False


def _program(pid: int, proc: Path) -> str:
    words = [word for word in _text(proc / str(pid) / "cmdline").split("\0") if word]
    name = _text(proc / str(pid) / "comm").strip() or "a process"
    scripts = [word for word in words[1:] if not word.startswith("-")]
    return Path(scripts[0]).name if name.startswith("python") and scripts and "-c" not in words else name


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
