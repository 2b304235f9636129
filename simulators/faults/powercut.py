"""A disk whose power fails: what was not synced is lost, in whole or in any part.

An SQLite VFS over the real one. Writes stay in memory until their file is synced. At the cut each
unsynced write of each file survives, is lost, or is torn at a sector, independently, as disks reorder
what nobody asked them to order; then the process ends at once.

Not modelled: names of files (creation and removal are durable at once), the unsynced writes of a file that
was closed (durable at once), and bits that rot later.
SQLite's shared memory has no hook in apsw, so a connection runs with an exclusive locking mode, which
keeps the log's index on the heap; log, syncs and checkpoints are the same.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import apsw

SECTOR_BYTES = 512
EXIT_STATUS = 137
"""What the process ends with at the cut, as if it had been killed."""


def end_process() -> NoReturn:
    """End at once: nothing is flushed, no destructor runs."""
    os._exit(EXIT_STATUS)


class PowerCutDisk(apsw.VFS):
    """One disk. Use it for one connection at a time; `unregister` it at the end."""

    def __init__(
        self, name: str, *, seed: int, cut_at: int | None = None, at_cut: Callable[[], NoReturn] = end_process
    ) -> None:
        """Register as the VFS `name`.

        The power fails at operation `cut_at`, counted from 0 over writes, syncs and truncations of all
        files; None leaves it to `cut`. `seed` decides what survives.
        """
        super().__init__(name, "")
        self.name = name
        self.operation_count = 0
        self._random = random.Random(seed)
        self._cut_at = cut_at
        self._at_cut = at_cut
        self._files: dict[str, PowerCutFile] = {}

    def connect(self, path: Path) -> apsw.Connection:
        """Open `path` on this disk, alone."""
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=self.name)
        connection.pragma("locking_mode", "exclusive")
        return connection

    def cut(self) -> NoReturn:
        """Lose what was not synced and end the process."""
        for file in self._files.values():
            file.lose(self._random)
        self._at_cut()

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> PowerCutFile:
        assert name is not None, "a temporary file of SQLite's: set temp_store to memory"
        filename = name.filename() if isinstance(name, apsw.URIFilename) else name
        assert filename not in self._files, f"{filename} is open on this disk"
        return PowerCutFile(self, filename, name, flags)

    def xAccess(self, pathname: str, flags: int) -> bool:
        """SQLite takes an empty file for none; what counts is what was written, synced or not."""
        if pathname in self._files and flags == apsw.SQLITE_ACCESS_EXISTS:
            return bool(self._files[pathname].image)
        return super().xAccess(pathname, flags)

    def count_operation(self) -> None:
        """Count a write, sync or truncation, and let the power fail if its time has come."""
        if self.operation_count == self._cut_at:
            self.cut()
        self.operation_count += 1

    def opened(self, filename: str, file: PowerCutFile) -> None:
        """Note an open file: its unsynced writes are at stake."""
        self._files[filename] = file

    def closed(self, filename: str) -> None:
        """Forget a file that its process closed."""
        del self._files[filename]


class PowerCutFile(apsw.VFSFile):
    """A file as its process sees it (`image`); below it lies what the disk holds."""

    def __init__(
        self, disk: PowerCutDisk, filename: str, name: str | apsw.URIFilename, flags: list[int]
    ) -> None:
        super().__init__("", name, flags)
        self._disk = disk
        self._filename = filename
        size = super().xFileSize()
        self.image = bytearray(super().xRead(size, 0)) if size else bytearray()
        self._unsynced: list[tuple[int, bytes | None]] = []
        disk.opened(filename, self)

    def xRead(self, amount: int, offset: int) -> bytes:
        return bytes(self.image[offset : offset + amount])

    def xFileSize(self) -> int:
        return len(self.image)

    def xWrite(self, data: bytes, offset: int) -> None:
        if len(self.image) < offset:
            self.image.extend(bytes(offset - len(self.image)))
        self.image[offset : offset + len(data)] = data
        self._unsynced.append((offset, bytes(data)))
        self._disk.count_operation()

    def xTruncate(self, newsize: int) -> None:
        del self.image[newsize:]
        self._unsynced.append((newsize, None))
        self._disk.count_operation()

    def xSync(self, flags: int) -> None:
        self._disk.count_operation()
        self._settle()
        super().xSync(flags)

    def xClose(self) -> None:
        self._settle()
        self._disk.closed(self._filename)
        super().xClose()

    def lose(self, chance: random.Random) -> None:
        """Keep a random part of the unsynced writes."""
        kept: list[tuple[int, bytes | None]] = []
        for offset, data in self._unsynced:
            match chance.choice(("kept", "torn", "lost")):
                case "torn" if data is not None:
                    sectors = chance.randint(0, len(data) // SECTOR_BYTES)
                    kept.append((offset, data[: sectors * SECTOR_BYTES]))
                case "kept":
                    kept.append((offset, data))
        self._unsynced = kept
        self._settle()

    def _settle(self) -> None:
        """Let the disk hold what was written."""
        for offset, data in self._unsynced:
            if data is None:
                super().xTruncate(offset)
            elif data:
                super().xWrite(data, offset)
        self._unsynced.clear()
