"""A few of the mutants of `mutate.py`; the script itself runs all of them."""

from __future__ import annotations

import random

import pytest
from rules.mutate import CONFIG, mutants, one_more, survives

FILES = sorted(CONFIG.glob("*.toml"))


@pytest.mark.parametrize("seed", range(3))
def test_a_changed_number_is_noticed(seed: int) -> None:
    every = [mutant for file in FILES for mutant in mutants(file)]
    assert len(every) > 180
    assert not survives(random.Random(seed).choice(every))


def test_numbers_are_changed_by_one() -> None:
    assert [one_more(text) for text in ("1", "10_000", '"3/2"')] == ["2", "10001", '"5/2"']


def test_unchanged_settings_are_not_noticed() -> None:
    mutant = next(mutants(FILES[0]))
    assert survives(mutant._replace(new=mutant.old))
