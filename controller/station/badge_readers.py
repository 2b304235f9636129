"""Badge readers: a badge that is held to one logs its holder in.

What they send are secrets. It goes from the port through the driver to the people file, and no further: no
byte of it reaches the recording, the journal or the log. On record is the log-in that a badge becomes, with
the person and that a badge was the proof.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from controller.bus.commands import Submit
from controller.bus.wire import Answer, CommandRequest
from controller.station.config import StationConfig
from controller.station.device_config import BadgeReaderConfig
from controller.station.device_talk import DeviceTalk, Saying
from controller.station.errors import PeopleError
from controller.station.people import Person, read_people
from controller.table.inputs import LogIn, Role
from drivers.contract import Clock, CodeRead, DeviceReported, Garbage, ReadFailed
from drivers.families import open_framer
from drivers.port import Port

DEAF_US = 2_000_000
"""After an unknown badge nothing is read for so long: guessing is slow, and costs the table little."""

log = logging.getLogger("station")


class BadgeReader:
    """One reader, its driver and its port."""

    def __init__(
        self,
        name: str,
        config: BadgeReaderConfig,
        clock: Clock,
        *,
        on_badge: Callable[[str], None],
        on_moved: Callable[[], None],
        talk: DeviceTalk,
    ) -> None:
        """`on_badge` gets each code; `on_moved` is called when a time-out may have changed."""
        self.framer = open_framer(config.family, config.options)
        self._name = name
        self._clock = clock
        self._on_badge = on_badge
        self._on_moved = on_moved
        self._talk = talk
        self.port = Port(name, config.port, settings=config.line, listener=self, clock=clock)

    def opened(self, device: str, identity: str | None) -> None:
        """The reader is there (again)."""
        self._log("badge reader open", device=device, identity=identity)
        self.framer.opened(self._clock.now_us())
        self._take()

    def chunk(self, data: bytes) -> None:
        """Take what came in; it is kept nowhere."""
        self.framer.receive(data, self._clock.now_us())
        self._take()

    def stale(self, data: bytes) -> None:
        """Drop what came in while the line settled."""

    def lost(self, reason: str) -> None:
        """The reader is gone; people log in with their PINs meanwhile."""
        log.warning("badge reader lost", extra={"facts": {"badge_reader": self._name, "reason": reason}})

    def tick(self) -> None:
        """Let time-outs pass."""
        self.framer.tick(self._clock.now_us())
        self._take()

    def _log(self, what: str, **facts: object) -> None:
        log.info(what, extra={"facts": {"badge_reader": self._name, **facts}})

    def _say(self, saying: Saying, count: int = 0) -> None:
        self._talk.say(("badge_reader", self._name), saying, count)

    def _take(self) -> None:
        while (report := self.framer.next_report()) is not None:
            match report:
                case CodeRead(code=code):
                    self._on_badge(code)
                    self.framer.acknowledge(report)
                case ReadFailed(cause=cause):
                    self.framer.acknowledge(report)
                    self._say(Saying("a badge could not be read", logging.INFO, ("cause", cause)))
                case Garbage(count=count, hint=hint):
                    self._say(Saying("bytes without a badge", logging.INFO, ("hint", hint)), count)
                case DeviceReported(state=state):
                    self._log("badge reader reports", state=state)
                case _:
                    pass  # Several badges at once: each logs its holder in.
        self.port.write(self.framer.bytes_to_send())
        self._on_moved()


class BadgeReaders:
    """All readers of a table."""

    def __init__(
        self,
        config: StationConfig,
        clock: Clock,
        *,
        submit: Submit,
        round_no: Callable[[], int],
        on_moved: Callable[[], None],
        talk: DeviceTalk,
    ) -> None:
        self._people: Path = config.people
        self._clock = clock
        self._submit = submit
        self._round_no = round_no
        self._deaf_until_us: dict[str, int] = {}
        self.unknown_counts: dict[str, int] = {}
        """Badges that nobody has, by reader."""
        self.readers: Mapping[str, BadgeReader] = {
            name: BadgeReader(
                name,
                reader,
                clock,
                on_badge=self._log_in_at(name, reader),
                on_moved=on_moved,
                talk=talk,
            )
            for name, reader in config.badge_readers.items()
        }

    def next_due_us(self) -> list[int]:
        """Return when the drivers want to be ticked."""
        due = (reader.framer.next_deadline_us() for reader in self.readers.values())
        return [at_us for at_us in due if at_us is not None]

    def fire_due(self, now_us: int) -> None:
        """Tick the drivers whose time-outs are over."""
        for reader in self.readers.values():
            due_us = reader.framer.next_deadline_us()
            if due_us is not None and due_us <= now_us:
                reader.tick()

    def _log_in_at(self, name: str, reader: BadgeReaderConfig) -> Callable[[str], None]:
        return lambda code: self._log_in(name, Role(reader.role), code)

    def _log_in(self, name: str, role: Role, code: str) -> None:
        """Send the log-in of the badge's holder, as if they had sent it with this badge."""
        now_us = self._clock.now_us()
        if now_us < self._deaf_until_us.get(name, 0):
            return
        holder = self._holder(code)
        if holder is None:
            self._deaf_until_us[name] = now_us + DEAF_US
            self.unknown_counts[name] = self.unknown_counts.get(name, 0) + 1
            facts = {"badge_reader": name, "count": self.unknown_counts[name]}
            log.warning("a badge that nobody has was refused", extra={"facts": facts})
            return
        actor, person = holder
        command = LogIn(role if role in person.roles else person.roles[0])
        request = CommandRequest(f"{name}/{now_us}", actor, self._round_no(), command, badge=code)
        if not self._submit("operator", request, lambda answer: _tell(name, actor, answer)):
            _tell(name, actor, Answer(request.request, False, "BUSY"))

    def _holder(self, code: str) -> tuple[str, Person] | None:
        try:
            people = read_people(self._people)
        except PeopleError as error:
            log.error(str(error))
            return None
        actor = people.holder_of_code(code)
        return (actor, people.people[actor]) if actor is not None else None


def _tell(name: str, actor: str, answer: Answer) -> None:
    facts = {"badge_reader": name, "actor": actor, "accepted": answer.accepted, "reason": answer.reason}
    log.info("log-in by badge", extra={"facts": facts})
