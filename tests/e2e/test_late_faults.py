"""Faults that hold a round for long, in every poker game: all scanned again, a read in a hold, no scanner.

Each is committed in every round that has its moment; incidents one to one, balances as the oracle says.
"""

from __future__ import annotations

import pytest
from e2e.family import Family, Size
from games.driver import POKER
from oracle import expected_balances

from simulators.faults.courses import LEFT_OUT
from simulators.studio import differences

ROUNDS, PLAYERS = 4, 12
FAULTS = ("misread-late", "read-in-hold", "gone-for-long")
CASES = [(game, fault) for game in POKER for fault in FAULTS if fault not in LEFT_OUT.get(game, {})]


@pytest.mark.parametrize(("game", "fault"), CASES)
def test_the_round_stands_and_pays_what_lay_there(
    game: str, fault: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    played = Family(tmp_path_factory.mktemp(fault), game, Size(ROUNDS, PLAYERS), only=fault)
    played.play()
    assert differences(played.studio) == []
    committed = {case.fault.id for case in played.studio.dealer.committed.values()}
    assert committed == {fault}
    rounds = list(played.rounds())
    assert played.studio.wallet.balances() == expected_balances(played.opening, rounds)
