"""Environment faults of the station; all of them refuse a start or end the process.

StationError
    ConfigError      a config file that can't be used: what, where, got, expected
    StartRefused     the journal, the clock or another process speaks against starting, or nobody has
                     approved the rules
        ApprovalsDamaged   the file of approvals is not what was written
        EvidenceDamaged    the log of evidence is not what was written
    PeopleError      the people file is missing, open to others, broken, or a change of it makes no sense
    PagesRefused     the address of the pages can't be served
"""

from __future__ import annotations


class StationError(Exception):
    """The station can't start or go on. The text says what, where, got, expected, and what to do."""


class ConfigError(StationError):
    """A config file is missing, broken, or holds something that is not understood."""


class StartRefused(StationError):
    """Starting now would break a promise that the journal makes."""


class PeopleError(StationError):
    """The people file can't be used, or not be changed like that. No secret is in the text."""


class ApprovalsDamaged(StartRefused):
    """The file of approvals has been edited or is cut off."""


class PagesRefused(StationError):
    """The address of the pages is taken, or is no address of this machine."""
