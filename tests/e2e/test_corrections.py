"""Every round ends with a wrong result, and two supervisors put it right: wallets pay the difference once.

One game refunds (RPL-74), one corrects by the card that lay there, and in one that depends on whether players
had decided on it (P5). With TABLECTL_SOAK=1 three hundred rounds of each.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from e2e.family import LIVE, Family, Size
from oracle import expected_balances

from controller.journal import Days
from controller.station.verify_command import make_report
from simulators.studio import differences

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
ROUNDS = 300 if SOAK else 9
REFUNDS = {LIVE: {True}, "caribbean_poker": {False}, "grandmaster_russian_poker": {True, False}}
"""Whether all is refunded, or only the difference paid."""

pytestmark = pytest.mark.timeout(1800 if SOAK else 120)


@pytest.mark.parametrize("game", REFUNDS)
def test_every_round_is_corrected_and_paid_by_difference_once(tmp_path: Path, game: str) -> None:
    family = Family(tmp_path, game, Size(ROUNDS, players=12, seed=5), only="wrong-result")
    family.play()
    studio = family.studio
    assert differences(studio) == []
    found = family.check_corrections()
    assert found.total() >= ROUNDS - 2 and set(found) == REFUNDS[game]
    assert studio.wallet.balances() == expected_balances(family.opening, list(family.rounds()))
    assert studio.wallet.total() == 0 and studio.wallet.trial_balance() == ()
    report = make_report(Days(studio.journal_folder).paths())
    assert report.findings == [] and report.rounds == ROUNDS
    assert sum(len(record.corrections) for record in studio.auditor.rounds.values()) == len(
        studio.dealer.misreads
    )
