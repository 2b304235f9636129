"""Presses that are scanned: codes which are no cards, but what the dealer on duty would press on a page."""

from __future__ import annotations

from collections.abc import Mapping

from controller.table import inputs as i
from controller.table import presses
from controller.table.events import Refusal
from controller.table.gate import refuse
from controller.table.state import TableState

SCANNABLE: Mapping[str, i.AnyCommand] = {
    i.command_name(press): press
    for press in (
        i.OpenTable(),
        i.CloseTable(),
        i.ConfirmShuffle(),
        i.RepeatShuffle(),
        i.OpenBetting(),
        i.CloseBetting(),
        i.LayCardAside(),
        i.ConfirmResult(),
        i.ClearTable(),
        i.DisputeReading(),
        i.CallSurplus(),
        i.WithdrawReport(),
        i.ResumeTable(),
    )
}
"""The presses of a dealer that say all by themselves, by their names on the wire."""


def scanned(t: TableState, value: i.CommandScanned) -> None:
    """Take it as a press of who deals now; it is refused for the same reasons as one on a page."""
    if value.scanner in t.settings.second_readers:
        refuse(t, "command_scanned", Refusal.DEALS_NOTHING)
        return
    if t.duty.dealer is None:
        refuse(t, "command_scanned", Refusal.NO_DEALER)
        return
    pressed = i.Commanded(
        at=value.at,
        request=f"scanned/{value.at}",
        actor=t.duty.dealer.actor,
        role=i.Role.DEALER,
        round_no=t.round_no,
        command=value.command,
    )
    presses.obey(t, pressed)
