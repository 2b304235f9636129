"""The rule sheets in seeds/rules: every rule once, and everything that the code cites is to be found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from games.driver import POKER, game

from controller.games.procedure import BoxState
from controller.station.rules_sheet import sample_cases
from controller.station.sample_round import Sample, usual_states, walk
from controller.station.settings_text import SETTINGS

ROOT = Path(__file__).parents[2]
SHEETS = ROOT / "seeds" / "rules"
POINT = re.compile(r"^- \*\*((?:[A-Z]{3}|D)-\d\db?)\*\* ", re.MULTILINE)
CITED = re.compile(r"\b(?:BAC|RPL|GRP|CAR|OAS|ROY|GOA|OAB|COM|DBL|BON|D)-\d\db?\b")
WALLET = "For the wallet and the web site"


def ids(prefix: str, *ranges: tuple[int, int]) -> list[str]:
    return [f"{prefix}-{n:02d}" for low, high in ranges for n in range(low, high + 1)]


EXPECTED = {
    "000-grandmaster": [
        *ids("GRP", (1, 20)),
        *ids("CAR", (1, 10)),
        *ids("OAS", (1, 7)),
        *ids("BAC", (1, 15)),
    ],
    "001-live-russian-poker": [*ids("RPL", (1, 46), (50, 64), (70, 84)), "RPL-57b"],
    "002-golden-oasis": ids("GOA", (1, 14)),
    "003-royal-poker": ids("ROY", (1, 16)),
    "004-oasis-with-bonus": ids("OAB", (1, 28)),
    "common": [*ids("COM", (1, 13)), *ids("DBL", (1, 7)), *ids("BON", (1, 4))],
}
WALLETS_OWN = {
    "001-live-russian-poker": {"RPL-15", "RPL-78", "RPL-79", "RPL-81"},
    "003-royal-poker": {"ROY-14"},
    "004-oasis-with-bonus": {"OAB-15", "OAB-16", "OAB-17", "OAB-26"},
}


def sheet(name: str) -> str:
    return (SHEETS / f"{name}.md").read_text(encoding="utf-8")


def points(name: str) -> list[str]:
    return POINT.findall(sheet(name))


def all_points() -> set[str]:
    return {point for name in EXPECTED for point in points(name)}


def test_there_is_a_sheet_for_each_document_and_one_of_what_they_share() -> None:
    assert {path.stem for path in SHEETS.glob("*.md")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_every_rule_is_one_numbered_point(name: str) -> None:
    found = Counter(point for point in points(name) if not point.startswith("D-"))
    assert found == Counter(EXPECTED[name])


def test_every_decision_is_one_numbered_point_of_what_the_sheets_share() -> None:
    found = {name: Counter(p for p in points(name) if p.startswith("D-")) for name in EXPECTED}
    assert set(found["common"].values()) == {1}
    assert not any(decisions for name, decisions in found.items() if name != "common")


@pytest.mark.parametrize("name", [name for name in EXPECTED if name != "common"])
def test_the_last_section_is_what_wallet_and_web_site_see_to(name: str) -> None:
    before, _, last = sheet(name).rpartition("\n## ")
    assert last.startswith(WALLET) and WALLET not in before
    assert set(POINT.findall(last)) == WALLETS_OWN.get(name, set())
    assert len(re.findall(r"^- ", last, re.MULTILINE)) >= 3


@pytest.mark.parametrize("name", EXPECTED)
def test_a_sheet_cites_nothing_that_no_sheet_has(name: str) -> None:
    assert set(CITED.findall(sheet(name))) <= all_points()


def cited_in(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    for path in paths:
        for cited in CITED.findall(path.read_text(encoding="utf-8")):
            yield cited, path.name


def test_whatever_the_code_and_its_settings_cite_is_in_a_sheet() -> None:
    paths = [*(ROOT / "controller").rglob("*.py"), *(ROOT / "config").rglob("*.toml")]
    cited = dict(cited_in(paths))
    assert len(cited) > 150
    assert {rule: where for rule, where in cited.items() if rule not in all_points()} == {}


def rules_in(value: Any) -> Iterator[str]:
    """Every rule id anywhere in a published record."""
    match value:
        case dict():
            for inner in value.values():
                yield from rules_in(inner)
        case list() | tuple():
            for inner in value:
                yield from rules_in(inner)
        case str():
            yield from CITED.findall(value)


@pytest.mark.parametrize("name", POKER)
def test_whatever_a_result_cites_is_in_a_sheet(name: str) -> None:
    played = game(name)
    samples = [
        *(case.sample for case in sample_cases(played)),
        Sample(states=usual_states(played), give_up=True),
        Sample(states=dict.fromkeys(played.boxes, BoxState.EMPTY)),
    ]
    outcomes = [msgspec.to_builtins(walk(played, sample).outcome) for sample in samples]
    published = set(rules_in(outcomes))
    assert len(published) >= 6
    assert published <= all_points()


def test_the_ids_beside_the_settings_are_in_a_sheet() -> None:
    beside = {rule for _, rules in SETTINGS.values() for rule in rules}
    assert beside <= all_points()
