"""What a FEIG reader says of itself, for whoever examines it (`drivers.contract.Probe`).

System manual of the readers, command 0x65: two bytes of firmware revision, one of development revision, one
of hardware options, one of reader type, two of the kinds of tags that it takes.
"""

from __future__ import annotations

from drivers.feig_obid.frames import Command, Reply, Status

VERSION_BYTES = 7


class About:
    """Asked for once, when it is wanted; a reader that does not know the question answers that."""

    def __init__(self) -> None:
        self.is_wanted = False
        self._address: int | None = None
        self._version: Reply | None = None

    def note(self, reply: Reply) -> None:
        """Take an answer of the reader."""
        self._address = reply.address
        if reply.command == Command.SOFTWARE_VERSION:
            self._version = reply

    def forget(self) -> None:
        """The line was opened anew: another reader may be there."""
        self._address = self._version = None

    def texts(self) -> tuple[str, ...]:
        """Return the facts known so far, in words."""
        address = () if self._address is None else (f"address {self._address}",)
        return address if self._version is None else (*address, _told(self._version))


def _told(version: Reply) -> str:
    data = version.data
    if version.status != Status.OK:
        return f"it does not tell its software version: status {version.status:02X}"
    if len(data) < VERSION_BYTES:
        return f"software version {data.hex()}"
    return (
        f"firmware {data[:2].hex()}, development {data[2]:02x}, hardware {data[3]:02x}, reader type "
        f"{data[4]:02x}, kinds of tags {data[5:7].hex()}"
    )
