"""Faults of the bus. Operating conditions (a refused command, a drop, a gap) are never exceptions.

BusError
  EndpointRefused    the address is not one we may serve or reach
  KeyFileUnusable    a key or the allow-list is missing, open to others, or not understood
  MalformedMessage   what arrived is not a message of the bus
  ForeignSource      another table, audience or environment speaks on this feed
  ChainBroken        numbers and hashes do not lead from the cursor to what the table says
  ReplayRefused      the table cannot replay what was asked
  NoAnswer           a command got no answer; its effect is unknown until it is sent again
"""

import msgspec

UNREADABLE = (msgspec.DecodeError, RecursionError)
"""What hostile JSON can raise: RecursionError comes from unknown members nested too deep to skip."""


class BusError(Exception):
    """Base of all faults of the bus."""


class EndpointRefused(BusError):
    """The endpoint leaves the machine, is in use, or cannot be bound safely."""


class KeyFileUnusable(BusError):
    """A key file or the allow-list can't be used. No secret is in the text."""


class MalformedMessage(BusError):
    """Bytes that are not what the contract says."""


class ForeignSource(BusError):
    """A message of another table, audience or environment: a wiring fault, never to be acted on."""


class ChainBroken(BusError):
    """The stored cursor and the table's chain are not of one history. A person must look."""


class ReplayRefused(BusError):
    """The replay server answered with a reason instead of messages."""


class NoAnswer(BusError):
    """No answer to a command within all attempts."""
