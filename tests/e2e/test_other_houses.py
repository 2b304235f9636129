"""Houses that deal and round otherwise: D-10, D-45 and D-54 with every fault, balances as the oracle says."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from e2e.family import LIVE, Family, Size
from e2e.test_family import Viewer
from oracle import expected_balances

from controller.journal import Days
from simulators.studio import differences

SIZE = Size(rounds=40, players=12)
ROUNDED = {"rounding": '"up"', "ante_odds": '"19/20"'}
"""At odds of 1 to 1 nothing is ever rounded."""
PACKETS = {"deal_pattern": '"packets"'}
HOUSES: Mapping[str, Mapping[str, str]] = {
    LIVE: {"switch_cards_face": '"up"', **PACKETS, **ROUNDED},
    "oasis_with_bonus": {**PACKETS, **ROUNDED},
    "grandmaster_russian_poker": PACKETS,
}

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module", params=HOUSES)
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Family:
    """One house, played."""
    folder = tmp_path_factory.mktemp(request.param)
    family = Family(folder, request.param, SIZE, changes=HOUSES[request.param])
    family.viewer = Viewer(family.config.settings.table)
    family.play(family.viewer)
    return family


def test_faults_and_incidents_match_one_to_one(family: Family) -> None:
    assert differences(family.studio) == []
    assert len(family.studio.dealer.committed) > SIZE.rounds // 2
    assert list(Days(family.studio.journal_folder).verify()) == []


def test_every_balance_is_what_the_oracle_says(family: Family) -> None:
    wallet, rounds = family.studio.wallet, list(family.rounds())
    assert wallet.waiting() == () and wallet.trial_balance() == ()
    assert wallet.balances() == expected_balances(family.opening, rounds)


def test_rounding_has_made_a_difference(family: Family) -> None:
    """Told to round the other way, the oracle comes to other balances; where odds are whole it does not."""
    rounds = [played | {"settings": played["settings"] | {"rounding": "down"}} for played in family.rounds()]
    same = family.studio.wallet.balances() == expected_balances(family.opening, rounds)
    assert same == ("rounding" not in HOUSES[family.game])


def test_viewers_see_open_switch_cards_as_they_are_laid(family: Family) -> None:
    switch = [line for line in family.viewer.seen if line.startswith("the switch cards")]
    assert bool(switch) == (family.game == LIVE)
    assert not any("##" in line for line in switch)
