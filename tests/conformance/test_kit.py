"""The conformance kit: the shipped consumers pass, naive ones fail exactly what they are wrong about."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from controller.conformance.kit import Case, Role, cases_of, verdicts_of

HERE = Path(__file__).parent
SHIPPED = ("-m", "simulators.subject")
NAIVE_WALLET_PASSES = {
    "a-win-is-paid",
    "a-loss-pays-nothing",
    "a-push-gives-the-stake-back",
    "a-part-of-a-unit-is-rounded-down",
    "each-wager-is-paid-by-itself",
    "each-player-is-paid-his-own",
    "a-round-without-bets-pays-nobody",
    "three-rounds-are-paid-one-by-one",
    "a-proposal-or-a-close-moves-no-money",
    "a-cancelled-round-is-refunded",
    "a-round-cancelled-in-betting-time-is-refunded",
    "a-bet-beyond-the-purse-is-refused",
    "a-withdrawn-bet-comes-back-once",
    "a-withdrawn-bet-is-not-refunded-again",
    "nothing-is-withdrawn-after-a-cancel",  # It has forgotten the bet.
    "a-correction-pays-the-difference",  # Lost first, so that there is none to pay anew.
    "an-old-round-is-corrected",
    "a-cancel-twice-refunds-once",  # It has forgotten the bet.
    "a-result-after-the-cancel-pays-nothing",  # So here.
    "a-redeal-moves-no-money",
    "two-messages-change-places",  # The end of a round means nothing to it.
    "a-round-arrives-backwards",
    "unknown-fields-are-ignored",
    "bets-are-taken-in-betting-time",
    "none-before-the-first-round",
    "the-dealer-ends-betting-time",
    "silence-is-no-end-of-a-round",
    "a-restarted-consumer-keeps-the-published-end",  # It has forgotten the round.
}
NAIVE_OVERLAY_FAILS = {
    "joined-in-mid-round",
    "a-lost-card-is-shown",
    "a-lost-card-is-missed-without-another",
    "a-card-twice-lies-once",
    "two-cards-change-places-on-the-way",
    "a-foreign-card-is-not-shown",
    "an-older-epoch-is-not-shown",
    "the-table-restarts",
    "silence-is-told",
}


WRONG = {
    "any_epoch": {"an-older-epoch-is-refused-live"},
    "paid_in_full": {
        "a-correction-takes-the-difference",
        "a-correction-to-the-same-pays-nothing",
    },
    "no_cursor": {"killed-between-debit-and-result", "both-are-killed"},
}
"""Cases that wallets fail which are wrong about one thing; no others of `NEAR`."""
NEAR = {
    "a-correction-pays-the-difference",
    "killed-after-the-result",
    "a-new-epoch-goes-on",
}
"""Cases about the same things that each of them passes."""


def failed(role: Role, *command: str, cases: Sequence[Case] | None = None, jobs: int = 8) -> dict[str, str]:
    """Return what a subject does instead, by the name of the case."""

    async def play() -> dict[str, str]:
        verdicts = verdicts_of(role, (sys.executable, *command), cases=cases, jobs=jobs)
        return {verdict.case.name: verdict.differs async for verdict in verdicts if verdict.differs}

    return asyncio.run(play())


def names(role: Role) -> set[str]:
    return {case.name for case in cases_of(role)}


@pytest.mark.parametrize("role", list(Role))
def test_the_shipped_consumer_passes(role: Role) -> None:
    assert failed(role, *SHIPPED, role) == {}


def test_there_are_cases_enough_and_each_says_its_clause() -> None:
    cases = [case for role in Role for case in cases_of(role)]
    assert len(cases_of(Role.WALLET)) >= 60
    assert len({case.name for case in cases}) == len(cases)
    assert all(case.clause.endswith(".") for case in cases)


def test_a_naive_wallet_fails_exactly_what_it_is_wrong_about() -> None:
    verdicts = failed(Role.WALLET, str(HERE / "naive_wallet.py"))
    assert set(verdicts) == names(Role.WALLET) - NAIVE_WALLET_PASSES, verdicts


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wallet_that_is_wrong_about_one_thing_fails_just_that(wrong: str) -> None:
    about = [case for case in cases_of(Role.WALLET) if case.name in WRONG[wrong] | NEAR]
    verdicts = failed(Role.WALLET, str(HERE / "wrong_wallet.py"), wrong, cases=about, jobs=1)
    assert set(verdicts) == WRONG[wrong], verdicts
    if wrong == "no_cursor":
        assert all("after its restart" in told for told in verdicts.values())


def test_a_naive_overlay_fails_exactly_what_it_is_wrong_about() -> None:
    verdicts = failed(Role.OVERLAY, str(HERE / "naive_overlay.py"))
    assert set(verdicts) == NAIVE_OVERLAY_FAILS, verdicts


@pytest.mark.parametrize(
    ("subject", "says"),
    [
        (("-c", "pass"), "the process has ended, exit code 0"),
        (("-c", "input(); print('hello')"), "expected one line with a JSON object, got 6 bytes"),
        (("-c", 'input(); print(\'{"error": "no"}\')'), "start: the subject says: no"),
        (("-c", "input(); print('{}'); input()"), "has not subscribed to the live feed in 5 s"),
    ],
)
def test_a_subject_that_can_not_be_spoken_to_is_told_so(subject: Sequence[str], says: str) -> None:
    command = shlex.join((sys.executable, *subject))
    run = tablectl("wallet", "--case", "a-win-is-paid", "--subject", command)
    assert run.returncode == 1 and says in run.stdout, run.stdout + run.stderr
    assert "0 of 1 cases passed" in run.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("wallet", "--case", "a-bet", "--subject", "true"), "no case of wallet: a-bet; --list shows them"),
        (("overlay",), "--subject is missing: the command that starts it"),
        (("overlay", "--jobs", "0", "--subject", "true"), "--jobs 0: expected 1 or more"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(words: Sequence[str], says: str) -> None:
    run = tablectl(*words)
    assert run.returncode == 2 and says in run.stderr


def test_the_command_reports_each_case() -> None:
    case = ("--case", "a-loss-pays-nothing", "--case", "a-repeated-debit-counts-once")
    good = tablectl("wallet", *case, "--subject", shlex.join((sys.executable, *SHIPPED, "wallet")))
    assert good.returncode == 0 and "2 of 2 cases passed" in good.stdout
    naive = shlex.join((sys.executable, str(HERE / "naive_wallet.py")))
    bad = tablectl("wallet", *case, "--subject", naive)
    assert bad.returncode == 1
    assert "passed  a-loss-pays-nothing" in bad.stdout and "FAILED  a-repeated-debit" in bad.stdout
    assert "expected 900, 1000, 0" in bad.stdout and "1 of 2 cases passed" in bad.stdout


def test_the_list_names_every_case() -> None:
    listed = tablectl("overlay", "--list").stdout
    assert all(f"{name}  " in listed for name in names(Role.OVERLAY))


def tablectl(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "controller.cli", "conformance", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
