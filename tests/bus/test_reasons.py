"""The catalogue of reasons: every one has a text, the page says the same, and a test meets each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from controller.bus import reasons
from controller.bus.wire import Reason
from controller.table.events import Refusal

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "reasons.md"
MET = re.compile(r"(?:Refusal|Reason)\.([A-Z_]+)|\"([A-Z_]+)\"")


def test_every_reason_has_a_text() -> None:
    assert set(reasons.OF_THE_TABLE) == set(Refusal)
    assert set(reasons.OF_THE_BUS) == set(Reason)


def test_the_page_says_what_the_answers_say() -> None:
    """`controller.bus.reasons.page()` makes it."""
    assert PAGE.read_text() == reasons.page()


@pytest.fixture(scope="module")
def met() -> set[str]:
    texts = (path.read_text() for path in TESTS.rglob("test_*.py") if path != Path(__file__))
    return {a or b for text in texts for a, b in MET.findall(text)}


@pytest.mark.parametrize("reason", [*Refusal, *Reason])
def test_a_test_meets_every_reason(reason: Refusal | Reason, met: set[str]) -> None:
    assert reason.value in met
