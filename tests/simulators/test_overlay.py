"""The overlay draws what the public may see, and nothing that lies face down."""

from __future__ import annotations

import pytest
from mini_table import MiniTable

from controller.bus.errors import ChainBroken
from controller.bus.snapshot import Snapshot, decode_snapshot, encode_snapshot
from controller.table import inputs as i
from controller.table.events import Audience, IncidentKind
from simulators.overlay import BACK, Overlay, draw


def studio(seed: int = 1) -> tuple[MiniTable, Overlay]:
    overlay = Overlay()
    return MiniTable([overlay], seed=seed), overlay


def line_of(overlay: Overlay, start: str) -> str:
    return next(line for line in overlay.lines() if line.startswith(start))


def test_before_the_first_round() -> None:
    assert Overlay().lines() == ("rp1  no round yet  unknown",)


def test_a_window_counts_down_in_whole_seconds_and_never_below_zero() -> None:
    table, overlay = studio()
    table.until("betting")
    opened = table.now
    assert overlay.lines(opened)[0] == "rp1  round 1  betting"
    assert overlay.lines(opened)[-1] == "betting time: 15 s left"
    assert overlay.lines(opened + 500_000)[-1] == "betting time: 15 s left"
    assert overlay.lines(opened + 14_100_000)[-1] == "betting time: 1 s left"
    assert overlay.lines(opened + 99_000_000)[-1] == "betting time: 0 s left"
    table.until("dealing")
    assert not any("left" in line for line in overlay.lines())


def test_hidden_cards_are_backs_until_they_are_turned() -> None:
    table, overlay = studio()
    table.until("deciding")
    cards = table.cards["rp1-1"]
    assert line_of(overlay, "box 1").split()[2:] == [BACK] * 5
    assert line_of(overlay, "box 2").split()[2:7] == cards["box2"]
    assert line_of(overlay, "the dealer").split()[2:] == [BACK] * 4 + cards["dealer"][4:]
    shown = "\n".join(overlay.lines())
    hidden = [*cards["box1"], *cards["box3"], *cards["dealer"][:4]]
    assert not [card for card in hidden if card in shown]
    table.until("result_proposed")
    assert line_of(overlay, "box 1").split()[2:7] == cards["box1"]


@pytest.mark.parametrize("seed", range(4))
def test_the_result_names_the_dealer_and_every_box(seed: int) -> None:
    table, overlay = studio(seed)
    table.until("confirmed")
    results = [line for line in overlay.lines() if line.startswith("result: ")]
    assert [line.split(" ")[1:3] for line in results[1:]] == [["box", "1"], ["box", "2"], ["box", "3"]]
    assert results[0].startswith("result: dealer ")
    if table.cards["rp1-1"]["replacement"]:
        assert "(" in line_of(overlay, "the dealer"), "the card laid aside is in brackets"
    table.until("betting")
    assert not [line for line in overlay.lines() if line.startswith("result: ")]


def test_an_incident_and_a_cancel_are_shown() -> None:
    table, overlay = studio()
    table.until("deciding")
    table.command(i.Observed(IncidentKind.DEVICE_FAILED))
    assert "please wait: Wait for the supervisor" in overlay.lines()
    table.command(i.ConfirmCancel(), "boris")
    assert overlay.lines()[0] == "rp1  round 1  cancelled"
    assert overlay.lines()[-1] == "round cancelled (technical): all bets are returned"


def test_messages_again_change_nothing_and_after_a_gap_a_snapshot_helps() -> None:
    table, overlay = studio()
    table.until("confirmed")
    messages = table.messages[Audience.PUBLIC]
    drawn = overlay.lines()
    for message in messages:
        overlay.heard(message, table.now)
    assert overlay.lines() == drawn
    late = Overlay()
    with pytest.raises(ChainBroken):
        late.heard(messages[-1], table.now)
    late.start_from(decode_snapshot(encode_snapshot(overlay.snapshot)))
    assert late.lines(table.now) == drawn


def test_burned_cards_are_counted() -> None:
    snapshot = Snapshot(table="rp1", audience=Audience.PUBLIC, round_no=3, phase="dealing", burned=2)
    assert draw(snapshot, 0) == ("rp1  round 3  dealing", "the burned cards  2")
