"""Evidence of a game with hands that the rules never publish: for the public they stay closed, for ever.

GOA-10: hands that are never shown are opened to audit alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from e2e.family import Family, Size

from controller.cli import main

ROUNDS = 12


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Family:
    family = Family(tmp_path_factory.mktemp("oasis"), "golden_oasis", Size(ROUNDS, 6))
    family.play()
    return family


def bundles(played: Family, out: Path, audience: str) -> dict[str, list[dict[str, Any]]]:
    words = ["export", str(played.config.path), "--by", "boris", "--for", audience, "--format", "bundle"]
    assert main([*words, "--out", str(out)]) == 0
    return {
        path.name.partition(".")[0]: [json.loads(line) for line in path.read_text().splitlines()]
        for path in out.iterdir()
    }


def cards_of(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    told = [record["row"] for record in records if record["record"] == "told" and record["sheet"] == "cards"]
    return list(told)


def test_closed_hands_are_in_the_bundle_for_audit_alone(
    played: Family, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    public = bundles(played, tmp_path / "public", "public")
    audit = bundles(played, tmp_path / "audit", "audit")
    assert public.keys() == audit.keys() and len(public) >= ROUNDS
    closed_count = 0
    for roundid, records in public.items():
        text = "".join(record["text"] for record in records if record["record"] == "message")
        for card, known in zip(cards_of(records), cards_of(audit[roundid]), strict=True):
            assert known["card"] is not None
            if card.get("closed_by") is not None:
                closed_count += 1
                assert "card" not in card
                # A card that was taken back as surplus opens as the burned card that it became.
                if card.get("fate") != "withdrawn":
                    assert f'"{known["card"]}"' not in text
        heads = [record["text"] for record in records if record["record"] == "head"]
        assert all("|public|" in head for head in heads), "another stream's hash would be guessed back"
    assert closed_count > 0
    capsys.readouterr()


def test_every_round_of_a_disturbed_table_proves_itself(
    played: Family, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["key", str(played.config.path)]) == 0
    key = tmp_path / "table.pem"
    key.write_text(capsys.readouterr().out)
    for audience in ("public", "audit"):
        bundles(played, tmp_path / audience, audience)
        for path in (tmp_path / audience).iterdir():
            assert main(["verify", str(path), "--public-key", str(key)]) == 0, capsys.readouterr().out
    assert main(["verify", str(played.config.table_dir), "--public-key", str(key)]) == 0
    assert main(["shift", str(played.config.path)]) == 0
    assert f"{len(list((tmp_path / 'audit').iterdir()))} rounds" in capsys.readouterr().out
