"""Approvals: who signed what is kept in a chain, and a live table does not start without."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from station.recorded import NOON, Session, write_config

from controller.station.approvals import (
    Approval,
    Approved,
    Subject,
    add_approval,
    approvals_of,
    approvals_path,
    check_approved,
    procedures_of,
    read_approvals,
    rules_of,
)
from controller.station.approving import approve
from controller.station.config import StationConfig, load
from controller.station.errors import ApprovalsDamaged, StartRefused
from controller.station.start import start

SIMULATED = 'environment = "simulated"'
LIVE = {SIMULATED: 'environment = "live"'}


def approval(who: str = "boris", rules: str = "a" * 64, game: str = "royal_poker") -> Approval:
    return Approval(who, NOON, "ro1", Approved.RULES, game, rules, "0.1.0")


def approve_all(config: StationConfig, who: str = "boris") -> None:
    for subject in (rules_of(config), procedures_of(config)):
        approve(config, subject, who, NOON)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return approvals_path(tmp_path / "run")


@pytest.fixture
def three(path: Path) -> Path:
    for who in ("boris", "clara", "dora"):
        add_approval(path, approval(who))
    return path


def live(folder: Path) -> StationConfig:
    return load(write_config(folder, **LIVE))


def test_approvals_come_back_in_their_order_from_a_file_of_mode_0600(three: Path) -> None:
    assert three.name == "approvals.jsonl"
    assert [one.who for one in read_approvals(three)] == ["boris", "clara", "dora"]
    assert three.stat().st_mode & 0o777 == 0o600
    assert three.parent.stat().st_mode & 0o777 == 0o700


def test_no_file_is_no_approval(path: Path) -> None:
    assert read_approvals(path) == ()


def test_an_approval_is_for_one_game_under_one_hash() -> None:
    given = (approval(), approval(rules="b" * 64), approval(game="oasis_poker"))
    assert approvals_of(given, "royal_poker", "a" * 64) == given[:1]


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize(
    "old", ['"who":"', f'"at_us":{str(NOON)[:-1]}', '"table":"', '"name":"', '"digest":"']
)
def test_an_edited_line_is_found_and_named(three: Path, number: int, old: str) -> None:
    lines = three.read_text().splitlines(keepends=True)
    at = lines[number - 1].index(old) + len(old)
    lines[number - 1] = f"{lines[number - 1][:at]}7{lines[number - 1][at + 1 :]}"
    three.write_text("".join(lines))
    with pytest.raises(ApprovalsDamaged, match=f"line {number} is not what was written there"):
        read_approvals(three)


@pytest.mark.parametrize(("kept", "number"), [((1, 2), 1), ((0, 2), 2), ((1, 0, 2), 1), ((0, 0, 1, 2), 2)])
def test_a_line_taken_out_moved_or_put_in_is_found(three: Path, kept: tuple[int, ...], number: int) -> None:
    lines = three.read_text().splitlines(keepends=True)
    three.write_text("".join(lines[index] for index in kept))
    with pytest.raises(ApprovalsDamaged, match=f"line {number} is not what"):
        read_approvals(three)


def test_every_way_to_cut_the_last_line_off_is_found(three: Path) -> None:
    raw = three.read_bytes()
    begin = raw[:-1].rindex(b"\n") + 1
    for end in range(begin + 1, len(raw)):
        three.write_bytes(raw[:end])
        with pytest.raises(ApprovalsDamaged, match="line 3 is cut off"):
            read_approvals(three)


def test_nothing_is_added_to_a_damaged_file(three: Path) -> None:
    three.write_bytes(three.read_bytes() + b"{}\n")
    before = three.read_bytes()
    with pytest.raises(ApprovalsDamaged, match="line 4 is no approval"):
        add_approval(three, approval("eva"))
    assert three.read_bytes() == before


def test_a_live_table_refuses_rules_that_nobody_has_approved(tmp_path: Path) -> None:
    config = live(tmp_path)
    with pytest.raises(StartRefused, match="nobody has approved the rules") as refused:
        start(config, NOON)
    command = f"tablectl rules russian_poker_live --config {config.path} --approve NAME"
    assert command in str(refused.value) and config.rules[:12] in str(refused.value)
    assert not config.table_dir.exists()


def test_a_live_table_refuses_procedures_that_nobody_has_approved(tmp_path: Path) -> None:
    config = live(tmp_path)
    approve(config, rules_of(config), "boris", NOON)
    with pytest.raises(StartRefused, match="nobody has approved the procedures") as refused:
        start(config, NOON)
    command = f"tablectl profile {config.path} --approve NAME"
    assert command in str(refused.value) and config.settings.profile.digest[:12] in str(refused.value)
    assert not config.table_dir.exists()


def test_rules_do_not_count_as_procedures_of_the_same_name(tmp_path: Path) -> None:
    config = live(tmp_path)
    rules, procedures = rules_of(config), procedures_of(config)
    assert rules.name == procedures.name and rules.digest != procedures.digest
    approve(config, procedures, "boris", NOON)
    with pytest.raises(StartRefused, match="nobody has approved the rules"):
        check_approved(config)


def test_changed_procedures_need_a_new_approval(tmp_path: Path) -> None:
    approve_all(live(tmp_path))
    profile = tmp_path / "profiles" / "russian_poker_live.toml"
    profile.write_text(profile.read_text().replace("read_tries = 1", "read_tries = 2"))
    changed = load(tmp_path / "tables" / "rp1.toml")
    with pytest.raises(StartRefused, match="nobody has approved the procedures"):
        check_approved(changed)
    approve(changed, procedures_of(changed), "clara", NOON + 1)
    check_approved(changed)


def test_a_changed_base_changes_the_procedures_too(tmp_path: Path) -> None:
    before = procedures_of(live(tmp_path))
    base = tmp_path / "profiles" / "default.toml"
    base.write_text(base.read_text().replace("order_run = 7", "order_run = 8"))
    after = procedures_of(load(tmp_path / "tables" / "rp1.toml"))
    assert after == Subject(before.kind, before.name, after.digest) and after.digest != before.digest


def test_a_live_table_starts_when_both_are_approved(tmp_path: Path) -> None:
    config = live(tmp_path)
    approve_all(config)
    Session(config.path).open_table().stop()


@pytest.mark.parametrize("environment", ["simulated", "training"])
def test_other_tables_start_without(tmp_path: Path, environment: str) -> None:
    path = write_config(tmp_path, **{SIMULATED: f'environment = "{environment}"'})
    Session(path).open_table().stop()
    assert not approvals_path(load(path).run_dir).exists()


def test_changed_rules_need_a_new_approval(tmp_path: Path) -> None:
    approve_all(live(tmp_path))
    game = tmp_path / "games" / "russian_poker_live.toml"
    game.write_text(game.read_text().replace("ante_max = 10_000", "ante_max = 10_001"))
    changed = load(tmp_path / "tables" / "rp1.toml")
    with pytest.raises(StartRefused, match="nobody has approved"):
        check_approved(changed)
    approve(changed, rules_of(changed), "clara", NOON + 1)
    check_approved(changed)
    given = read_approvals(approvals_path(changed.run_dir))
    assert len({one.digest for one in given if one.kind is Approved.RULES}) == 2


def test_a_person_approves_the_same_rules_once(tmp_path: Path) -> None:
    config = live(tmp_path)
    for who in ("boris", "boris", "clara", "boris"):
        approve(config, rules_of(config), who, NOON)
    assert [one.who for one in read_approvals(approvals_path(config.run_dir))] == ["boris", "clara"]


def test_a_live_table_refuses_damaged_approvals(tmp_path: Path) -> None:
    config = live(tmp_path)
    approve(config, rules_of(config), "boris", NOON)
    path = approvals_path(config.run_dir)
    path.write_text(re.sub('"boris"', '"doris"', path.read_text()))
    with pytest.raises(StartRefused, match="keep the file aside"):
        start(config, NOON)
