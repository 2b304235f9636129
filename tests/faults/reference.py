"""A run that nobody disturbed, and what a disturbed one must have in common with it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from faults.disturbed import Run
from faults.streams import Message, comparable, first_difference, outbox

from controller.bus.envelope import decode, event_of
from controller.journal import Reader
from controller.journal.records import Step
from controller.station.verify_command import make_report
from controller.table.events import InputAccepted
from simulators.faults.points import Point

Streams = Mapping[str, list[Message]]


class Reference:
    """The undisturbed run."""

    def __init__(self, run: Run) -> None:
        self.config, self.table = run.links.config.path.stem, run.links.config.settings.table
        self.acts_count = run.acts_count
        self.balances = run.studio.wallet.balances()
        self.balances_after = run.balances
        [path] = run.days.paths()
        with Reader.open(path) as reader:
            self.steps: tuple[Step, ...] = tuple(reader.steps())
        whole = outbox(run.days)
        self.streams: Streams = {audience: comparable(stream) for audience, stream in whole.items()}

    @property
    def windows(self) -> dict[tuple[str, str], int]:
        """Return, by stage and cause of the end, the step that opened the first window of that kind."""
        windows: dict[tuple[str, str], int] = {}
        opened = 0
        for step in self.steps:
            for event in map(msgspec.json.decode, step.events):
                if event["event"] == "decision.opened":
                    opened = step.n
                elif event["event"] == "decision.closed":
                    windows.setdefault((event["stage"], event["ended_by"]), opened)
        return windows

    def told(self, audience: str, last: int) -> int:
        """Return how many messages of the comparable stream the steps up to the `last` one have made."""
        raws = [raw for step in self.steps[:last] for raw in step.messages.get(audience, ())]
        return len(comparable(raws))

    def passes(self, point: Point) -> int:
        """Return how often the whole run passes a point."""
        if point is Point.BETWEEN_AUDIENCES:
            return sum(max(0, len(step.messages) - 1) for step in self.steps)
        return len(self.steps)


def assert_sound(run: Run) -> None:
    """Fail unless the journal is whole and holds all that anybody was sent."""
    whole = outbox(run.days)
    for audience, messages in run.links.delivered.items():
        assert messages == whole[audience], audience
    assert run.links.live
    assert run.links.live <= {raw for stream in whole.values() for raw in stream}
    assert run.links.accepted <= accepted_in(whole["audit"])
    assert list(run.days.verify()) == []
    assert make_report(run.days.paths()).findings == []


def accepted_in(audit: list[bytes]) -> set[str]:
    """Return the request ids that the audit stream has as accepted."""
    events = (event_of(decode(raw)) for raw in audit)
    return {event.request for event in events if isinstance(event, InputAccepted)}


def assert_same(reference: Reference, run: Run) -> None:
    """Fail unless the run tells every audience what the undisturbed one did, and pays the same."""
    assert_sound(run)
    for audience, stream in outbox(run.days).items():
        difference = first_difference(reference.streams[audience], comparable(stream))
        assert difference is None, f"{audience}: {difference}"
    assert run.studio.wallet.balances() == reference.balances
