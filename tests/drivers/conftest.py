"""A device for a port to read, and the two ways of reading it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from drivers.pty import PtyDevice


@pytest.fixture
def device(tmp_path: Path) -> Iterator[PtyDevice]:
    device = PtyDevice(tmp_path / "scanner-shoe")
    yield device
    device.unplug()


@pytest.fixture(params=["descriptor", "thread"])
def way(request: pytest.FixtureRequest) -> str:
    """How the port reads; a loop that watches no descriptors, as on Windows, gets the thread."""
    return str(request.param)
