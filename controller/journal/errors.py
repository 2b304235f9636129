"""What can go wrong with a journal file. All of it stops the station: nothing here is retried.

JournalError
    JournalInUse     another process writes this file
    JournalDamaged   the file is there, but is no journal, or not the one that belongs here
    JournalFailed    a write, sync or checkpoint failed; what is on the disk is known after a restart
"""

from __future__ import annotations


class JournalError(Exception):
    """A journal can't be opened, read or written. The text says which file, why, and what to do."""


class JournalInUse(JournalError):
    """Another process holds the file for writing."""


class JournalDamaged(JournalError):
    """The file holds something else than this journal."""


class JournalFailed(JournalError):
    """A write failed. Final: the page cache may no longer say what the disk holds."""
