"""What a consumer acknowledges: the messages that end a round, or a revision of it, and no others."""

from __future__ import annotations

from controller.bus.envelope import VERSION, Envelope, tag_of
from controller.table.events import RoundCancelled, RoundConfirmed, RoundCorrected
from controller.table.inputs import Acknowledge

ENDS = frozenset(
    f"tablectl.{tag_of(event)}.v{VERSION}" for event in (RoundConfirmed, RoundCancelled, RoundCorrected)
)


def ending_of(envelope: Envelope) -> Acknowledge | None:
    """Return the acknowledgement that a message is due once it is acted on; None for all that end nothing."""
    if envelope.type not in ENDS or envelope.roundid is None or envelope.rev is None:
        return None
    return Acknowledge(envelope.roundid, envelope.rev)


def request_of(acknowledge: Acknowledge) -> str:
    """Return the request id of an acknowledgement: the same one whenever it is sent again."""
    return f"{acknowledge.roundid}/{acknowledge.rev}"
