"""The subject: the wallet or overlay under test, a process that is spoken to in lines of JSON.

It reads one request a line from its standard input and writes one answer a line to its standard output; the
table it finds on the bus, like any consumer. What it writes to standard error is for people.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from controller.bus.client import Feed

ANSWER_S = 10.0
FIRST_ANSWER_S = 60.0
"""A program may take its time to start."""
LINE_BYTES_MAX = 1 << 20


class SubjectFault(Exception):
    """The subject does not speak as the kit needs it: no answer, no JSON, or it has ended."""


class Subject:
    """One process at a time; `kill` and `start` are its restart. `folder` is where it keeps its books."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._command = tuple(command)
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, feed: Feed, *, books: str) -> None:
        """Let it consume `feed`, with the books called `books`; those it has written before are its own.

        A running process leaves the table it was at. Raises SubjectFault.
        """
        await self.ask(
            "start",
            table=feed.table,
            environment=feed.environment,
            audience=feed.audience,
            live=feed.live,
            replay=feed.replay,
            folder=str(self._folder / books),
        )

    async def ask(self, request: str, **fields: Any) -> Mapping[str, Any]:
        """Send one request and return its answer. Raises SubjectFault."""
        wait_s = ANSWER_S if self._process else FIRST_ANSWER_S
        process = self._process or await self._spawn()
        assert process.stdin is not None and process.stdout is not None, "both are pipes"
        try:
            process.stdin.write(msgspec.json.encode({"do": request, **fields}) + b"\n")
            async with asyncio.timeout(wait_s):
                line = await process.stdout.readline()
        except TimeoutError:
            raise SubjectFault(f"{request}: no answer in {wait_s:.0f} s") from None
        except (ConnectionError, ValueError) as error:
            raise SubjectFault(f"{request}: {error}") from error
        if not line:
            raise SubjectFault(f"{request}: the process has ended, exit code {await process.wait()}")
        return _answer(request, line)

    async def kill(self) -> None:
        """End the process at once, as a power cut would; the next request starts a new one."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            process.kill()
        await process.communicate()

    async def _spawn(self) -> asyncio.subprocess.Process:
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=LINE_BYTES_MAX,
            )
        except OSError as error:
            raise SubjectFault(f"cannot start {self._command[0]}: {error}") from error
        return self._process


def _answer(request: str, line: bytes) -> Mapping[str, Any]:
    try:
        answer = msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise SubjectFault(
            f"{request}: expected one line with a JSON object, got {len(line)} bytes: {error}"
        ) from error
    if "error" in answer:
        raise SubjectFault(f"{request}: the subject says: {answer['error']}")
    return answer
