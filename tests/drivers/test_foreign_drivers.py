"""Drivers of other packages: found by their entry point, and what is said of one that does not work."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest

from drivers.contract import CodeRead
from drivers.families import open_framer
from drivers.template import TemplateFramer


class Install(Protocol):
    def __call__(self, package: str, **entries: str) -> None: ...


BROKEN = """
def fails(options):
    raise KeyError("no licence")

def refuses(options):
    raise ValueError("driver refuses: option 'x' is unknown")

def gives_nothing(options):
    return object()
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts packages on the path as an installer would; nothing is installed."""
    (tmp_path / "their_broken_drivers.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(package: str, **entries: str) -> None:
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"{name} = {value}" for name, value in entries.items()]
        (info / "entry_points.txt").write_text("\n".join(["[tablectl.drivers]", *lines]))

    return install


def test_a_driver_of_another_package_is_a_family_like_any_other(install: Install) -> None:
    install("house", template="drivers.template:open_template")
    framer = open_framer("template", {"silence_ms": 50})
    assert isinstance(framer, TemplateFramer)
    framer.receive(bytes.fromhex("02 31 313031 03 02"), 0)
    assert framer.next_report() == CodeRead("101", 1)
    with pytest.raises(ValueError, match="driver template: option 'silence' is not one of silence_ms"):
        open_framer("template", {"silence": 50})
    with pytest.raises(ValueError, match=r"'templat' is not one of .*; nearest is 'template'"):
        open_framer("templat", {})


def test_no_package_takes_over_a_family_of_ours(install: Install) -> None:
    install("house", delimited="their_broken_drivers:fails")
    open_framer("delimited", {})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no_such_module:x", r"driver theirs: house \(no_such_module:x\) can't open it: got ModuleNotFound"),
        ("their_broken_drivers:missing", "driver theirs: house .* can't open it: got AttributeError"),
        ("their_broken_drivers:fails", "driver theirs: house .* got KeyError.*; mend or remove that package"),
        ("their_broken_drivers:refuses", "^driver refuses: option 'x' is unknown$"),
        (
            "their_broken_drivers:gives_nothing",
            "house .* gave no framer: it lacks shortest_timeout_us, op",
        ),
    ],
)
def test_a_driver_that_does_not_work(install: Install, value: str, message: str) -> None:
    install("house", theirs=value)
    with pytest.raises(ValueError, match=message):
        open_framer("theirs", {})


def test_two_packages_with_one_family(install: Install) -> None:
    install("house", theirs="drivers.template:open_template")
    install("other", theirs="their_broken_drivers:fails")
    with pytest.raises(ValueError, match=r"driver theirs: brought by .*; remove all but one of them"):
        open_framer("theirs", {})
