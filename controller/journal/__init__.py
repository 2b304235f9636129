"""The journal: every step durable before anybody hears of it, chained, and readable to the byte."""

from controller.journal.days import Days
from controller.journal.errors import JournalDamaged, JournalError, JournalFailed, JournalInUse
from controller.journal.files import WriterLock
from controller.journal.reader import Reader
from controller.journal.records import ZERO_HASH, AudienceHead, Heads, Step
from controller.journal.store import Journal
from controller.journal.verify import Finding, Flaw, verify

__all__ = [
    "ZERO_HASH",
    "AudienceHead",
    "Days",
    "Finding",
    "Flaw",
    "Heads",
    "Journal",
    "JournalDamaged",
    "JournalError",
    "JournalFailed",
    "JournalInUse",
    "Reader",
    "Step",
    "WriterLock",
    "verify",
]
