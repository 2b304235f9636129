"""Rounds with every fault: one terminal event each, faults and incidents one to one, money right.

The oracle is told what physically happened: the order of the shoe, which cards were burned, and the bets.
It knows nothing of the table, its events or its ranks. TABLECTL_SOAK=1 plays three thousand.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from pathlib import Path
from typing import Any

import oracle_cards
import pytest
from e2e.revisions import as_it_stands, as_read, check_paid_by_difference, paid, refunded
from oracle import expected_balances

from controller.cards import Card
from controller.journal import Days
from controller.station.config import load
from simulators.faults.catalogue import FAULTS, Amount, Plan
from simulators.links import FastLinks
from simulators.simulate_command import START_US
from simulators.studio import OPENING_BALANCE, RoundRecord, Studio, differences
from simulators.world import World

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
ROUNDS = 3000 if SOAK else 64
AT_LEAST = 50 if SOAK else 1
SEED = 7


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Studio:
    """The rounds, played over real ptys and ZeroMQ by a daemon in a process of its own."""
    folder = tmp_path_factory.mktemp("simulation")
    config = load(demo_in(folder))
    studio = Studio(config, seed=SEED, rounds=ROUNDS, plan=Plan(SEED, Amount.MANY))
    asyncio.run(World(FastLinks(config, START_US), studio.actors, is_done=studio.dealer.is_done).run())
    return studio


def demo_in(folder: Path) -> Path:
    """Copy the demo's config so that everything it makes lies in `folder`."""
    source = Path("config")
    for kind in ("games", "decks", "profiles", "tables"):
        (folder / kind).mkdir()
        for file in (source / kind).glob("*.toml"):
            text = file.read_text().replace("../../run", "../run").replace("port = 8600", "port = 0")
            (folder / kind / file.name).write_text(text)
    return folder / "tables" / "demo.toml"


def rounds_of(studio: Studio) -> dict[str, RoundRecord]:
    return {name: record for name, record in studio.auditor.rounds.items() if name != "between"}


def cards_of(studio: Studio, number: int, shoe: list[Card]) -> dict[str, Any]:
    """Lay the shoe's cards by hand, burned ones left out."""
    out_count, burned = studio.dealer.out[number]
    laid = [str(card) for index, card in enumerate(shoe[:out_count]) if index not in burned]
    return oracle_cards.live(laid)


def test_each_round_ends_once(studio: Studio) -> None:
    records = rounds_of(studio)
    assert [f"rp1-{number}" for number in range(1, ROUNDS + 1)] == list(records)
    assert all(len(record.terminals) == 1 for record in records.values())


def test_faults_and_incidents_match_one_to_one(studio: Studio) -> None:
    assert differences(studio) == []


def test_every_rule_of_exception_was_exercised(studio: Studio) -> None:
    committed = [case.fault for case in studio.dealer.committed.values()]
    reasons = Counter(fault.cancels for fault in committed if fault.cancels)
    assert set(reasons) == {fault.cancels for fault in FAULTS if fault.cancels}
    assert min(reasons.values()) >= AT_LEAST, reasons
    rules = Counter(rule for fault in committed for rule in fault.rules)
    print(dict(sorted(rules.items())), dict(reasons))
    for rule in ("RPL-70", "RPL-71", "RPL-72", "RPL-73", "RPL-75"):
        assert rules[rule] >= AT_LEAST, rules


def test_every_balance_is_what_the_oracle_says(studio: Studio) -> None:
    assert studio.wallet.waiting() == ()
    assert studio.wallet.total() == 0 and studio.wallet.trial_balance() == ()
    assert studio.wallet.balances() == balances_of(studio)


def balances_of(studio: Studio, opening: int = OPENING_BALANCE) -> dict[str, int]:
    """Return every balance by the oracle, from the cards that lay there and the bets alone."""
    rounds = []
    for roundid in rounds_of(studio):
        bets = studio.betting.bets_of(roundid)
        if bets:
            number = int(roundid.split("-")[1])
            cards = cards_of(studio, number, as_it_stands(studio, number, shoe_of(studio, number)))
            rounds.append({"cards": cards, "bets": refunded(studio, number, bets)})
    return expected_balances(dict.fromkeys(studio.betting.crowd.players, opening), rounds)


def shoe_of(studio: Studio, number: int) -> tuple[Card, ...]:
    return studio.dealer.shoe_of(number, studio.dealer.deals[number])


def test_rpl_74_each_correction_is_paid_by_difference_once(studio: Studio) -> None:
    corrected = 0
    for number in studio.dealer.misreads:
        bets = studio.betting.bets_of(f"rp1-{number}")
        if bets:
            cards = cards_of(studio, number, as_read(studio, number, shoe_of(studio, number)))
            first, then = paid(cards, bets), paid(cards, refunded(studio, number, bets))
            check_paid_by_difference(studio, number, first, then)
            corrected += any(first[bet] != then[bet] for bet in first)
    assert corrected >= AT_LEAST


def test_each_cancelled_round_is_refunded_once(studio: Studio) -> None:
    cancelled = [name for name, record in rounds_of(studio).items() if record.terminals == ["cancelled"]]
    staked = {name: paid({}, bets) for name in cancelled if (bets := studio.betting.bets_of(name))}
    assert len(staked) >= 10 * AT_LEAST
    for roundid, stakes in staked.items():
        booked = [
            {credit.bet: credit.amount for credit in studio.wallet.credits(roundid, rev)} for rev in (1, 2)
        ]
        assert booked == [stakes, {}], roundid


def test_the_journal_verifies(studio: Studio) -> None:
    assert list(Days(studio.journal_folder).verify()) == []
