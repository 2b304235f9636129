"""What the oracle says of a result that was corrected: what each revision pays, bet by bet.

It is told which card really lay where another one was read, and whether the house has refunded the round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oracle import Data, explain

from controller.cards import Card
from simulators.studio import Studio


def as_read(studio: Studio, number: int, shoe: Sequence[Card]) -> list[Card]:
    """Return the shoe of a round as the scanner read it: a misread card is another one."""
    cards, misread = list(shoe), studio.dealer.misreads.get(number)
    if misread is not None:
        cards[misread.out_before] = misread.read_as
    return cards


def as_it_stands(studio: Studio, number: int, shoe: Sequence[Card]) -> list[Card]:
    """Return the shoe by which the round stands in the end: the true one where cards were corrected."""
    corrections = corrections_of(studio, number)
    return list(shoe) if corrections and not corrections[-1] else as_read(studio, number, shoe)


def corrections_of(studio: Studio, number: int) -> list[bool]:
    """Say of each later revision of a round whether it has refunded all."""
    return studio.auditor.rounds[f"{studio.overlay.snapshot.table}-{number}"].corrections


def refunded(studio: Studio, number: int, bets: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bets of a round, marked where its last revision refunds them (RPL-74)."""
    corrections = corrections_of(studio, number)
    is_refunded = bool(corrections) and corrections[-1]
    return {player: {**bet, "refunded": is_refunded} for player, bet in bets.items()}


def paid(cards: Data, bets: Mapping[str, Data]) -> dict[str, int]:
    """Return what comes back for each bet, by the wallet's key for it."""
    return {
        f"{player}/{line.box}/{line.wager}{'/late' if bet.get('late') else ''}": line.returned
        for player, bet in bets.items()
        for line in explain(cards, bet)
    }


def check_paid_by_difference(
    studio: Studio, number: int, first: dict[str, int], then: dict[str, int]
) -> None:
    """Check that the wallet has booked revision 1, in revision 2 the difference, and nothing after it."""
    roundid = f"{studio.overlay.snapshot.table}-{number}"
    booked = [
        {credit.bet: credit.amount for credit in studio.wallet.credits(roundid, rev)} for rev in (1, 2, 3)
    ]
    assert booked[0] == first, roundid
    assert booked[1] == {bet: then[bet] - first[bet] for bet in first}, roundid
    assert booked[2] == {}, roundid
