"""Faults of the floor. A server that is away is none: it is waited for.

FloorError
    FloorRefused   a server or a stream that can't be used as it is set up
    BridgeStopped  stream and table do not go together, or a message can't be carried; a person must look
"""

from __future__ import annotations


class FloorError(Exception):
    """Base of all faults of the floor. The text says what, where, got, expected, and what to do."""


class FloorRefused(FloorError):
    """Nothing was carried: the set-up is wrong."""


class BridgeStopped(FloorError):
    """Carrying on would break a promise of the stream. The text names the message."""
