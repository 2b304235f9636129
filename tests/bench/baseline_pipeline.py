"""The bare pipeline: what the same way of a card costs when nothing is checked, kept or proven.

    python baseline_pipeline.py DEVICE JOURNAL ENDPOINT

A pty line is read by the event loop, decoded, appended to a file, synced, and published. This source is
the measure that `make bench` holds the table against: it stays as it is.
"""

from __future__ import annotations

import asyncio
import os
import sys

import zmq


class BarePipeline:
    """One line in, one message out."""

    def __init__(self, device: str, journal: str, endpoint: str) -> None:
        self.line = os.open(device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        self._journal = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._publisher: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.PUB)
        self._publisher.bind(endpoint)
        self._held = b""

    def read_ready(self) -> None:
        """Take what has come, and pass on every line that is complete."""
        self._held += os.read(self.line, 4096)
        while b"\n" in self._held:
            line, _, self._held = self._held.partition(b"\n")
            code = line.decode("ascii")
            os.write(self._journal, line + b"\n")
            os.fdatasync(self._journal)
            self._publisher.send_string(code, zmq.NOBLOCK)


async def run(pipeline: BarePipeline) -> None:
    """Run until the process is ended."""
    asyncio.get_running_loop().add_reader(pipeline.line, pipeline.read_ready)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(run(BarePipeline(*sys.argv[1:])))
