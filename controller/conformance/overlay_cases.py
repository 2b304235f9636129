"""Cases of an overlay: it shows what the table's public snapshot says, whatever the line did."""

from __future__ import annotations

import asyncio

from controller.conformance import rounds
from controller.conformance.case import STALE_S, Differs, Trial
from controller.conformance.feed import forged
from controller.games.procedure import Face
from controller.table import events


class OverlayTrial(Trial):
    """A case of an overlay; coups are dealt before its eyes."""

    async def open_round(self) -> None:
        """Open the next round, and close its betting time."""
        self.round_no += 1
        self.table.roundid, self.table.rev = f"{self.table.feed.table}-{self.round_no}", 1
        self.table.phase = "dealing"
        opening = rounds.opening(self.round_no)
        await self.table.say(*opening, rounds.betting(self.round_no), rounds.no_more_bets(self.round_no))

    async def deal(self, card: str | None, n: int, *, place: str = "player") -> list[bytes]:
        """Deal a card, face down without a name; return its message."""
        return await self.table.say(_dealt(card, n, place))

    async def shows_the_table(self) -> None:
        """Hold what is shown against the snapshot. Raises Differs."""
        await self.caught_up()
        expected, shown = self.expected(), await self.subject.ask("shown")
        got = {name: shown.get(name) for name in expected}
        if got != expected:
            odd = sorted(name for name in expected if got[name] != expected[name])
            told = "; ".join(f"{name} {got[name]!r}, expected {expected[name]!r}" for name in odd)
            raise Differs(f"shown: {told}")

    def expected(self) -> dict[str, object]:
        """Return what everybody may see, as an overlay tells it."""
        snapshot = self.table.snapshot
        last = snapshot.last if snapshot.last and snapshot.last.roundid == snapshot.roundid else None
        cards = {place: [laid.card for laid in cards] for place, cards in snapshot.places.items() if cards}
        return {
            "roundno": snapshot.round_no,
            "phase": snapshot.phase,
            "places": cards,
            "burned": snapshot.burned,
            "incident": snapshot.incident.prompt if snapshot.incident else None,
            "cancelled": last.cancelled if last else None,
            "rev": last.rev if last else 0,
        }


def _dealt(card: str | None, n: int, place: str) -> events.CardDealt:
    face = Face.DOWN if card is None else Face.UP
    sealed = None if card else f"commitment-{place}-{n}"
    return events.CardDealt(place=place, n=n, face=face, deal=1, reading=1, card=card, commitment=sealed)


async def a_coup_is_shown_card_by_card(trial: OverlayTrial) -> None:
    """Each card as it is dealt, at its place."""
    await trial.open_round()
    for n, (player, banker) in enumerate((("9s", "2c"), ("Kd", "5h")), 1):
        await trial.deal(player, n)
        await trial.deal(banker, n, place="banker")
        await trial.shows_the_table()


async def a_card_face_down_is_a_back(trial: OverlayTrial) -> None:
    """A card face down has no face until it is turned."""
    await trial.open_round()
    await trial.deal(None, 1)
    await trial.shows_the_table()
    turned = events.OpenedCard("player", 1, 1, 1, "9s", "00" * 32)
    await trial.table.say(events.CardsRevealed(place="player", cards=(turned,)))
    await trial.shows_the_table()


async def a_burned_card_is_counted(trial: OverlayTrial) -> None:
    """Burned cards are a number."""
    await trial.open_round()
    burned = events.CardBurned(n=1, deal=1, reason=events.BurnReason.SURPLUS_CARD, commitment="c")
    await trial.table.say(burned)
    await trial.shows_the_table()


async def a_withdrawn_card_is_taken_away(trial: OverlayTrial) -> None:
    """A reading that was wrong goes, and the right one comes."""
    await trial.open_round()
    await trial.deal("9s", 1)
    wrong = events.IncidentKind.DISPUTED_READ
    await trial.table.say(events.CardWithdrawn(place="player", n=1, reading=1, reason=wrong))
    await trial.shows_the_table()
    await trial.deal("9c", 1)
    await trial.shows_the_table()


async def an_incident_is_shown_and_goes(trial: OverlayTrial) -> None:
    """The text of an open incident, and none after it."""
    await trial.open_round()
    await trial.table.say(rounds.halt(7))
    await trial.shows_the_table()
    await trial.table.say(rounds.halt(7, over=True))
    await trial.shows_the_table()


async def a_result_is_shown(trial: OverlayTrial) -> None:
    """A confirmed round."""
    await trial.open_round()
    await trial.table.say(*rounds.confirmed(rounds.PLAYER_WINS))
    await trial.shows_the_table()


async def a_cancelled_round_is_shown_as_cancelled(trial: OverlayTrial) -> None:
    """A cancelled round, and why."""
    await trial.open_round()
    await trial.deal("9s", 1)
    await trial.table.say(*rounds.cancelled())
    await trial.shows_the_table()


async def a_correction_is_shown(trial: OverlayTrial) -> None:
    """A corrected result of the round on the table."""
    await trial.open_round()
    await trial.table.say(*rounds.confirmed(rounds.PLAYER_WINS))
    trial.table.rev = 2
    roundid = trial.table.roundid or ""
    await trial.table.say(*rounds.corrected(roundid, rounds.BANKER_WINS))
    await trial.shows_the_table()


async def a_new_round_clears_the_table(trial: OverlayTrial) -> None:
    """Nothing of the last round lies there in the next."""
    await trial.open_round()
    await trial.deal("9s", 1)
    await trial.table.say(*rounds.confirmed(rounds.PLAYER_WINS))
    await trial.open_round()
    await trial.shows_the_table()


async def joined_in_mid_round(trial: OverlayTrial) -> None:
    """An overlay that starts in the middle of a round shows all that lies there."""
    await trial.open_round()
    for n in (1, 2):
        await trial.deal("9s", n)
    await trial.restart_subject()
    await trial.shows_the_table()
    await trial.deal("4c", 3)
    await trial.shows_the_table()


async def a_lost_card_is_shown(trial: OverlayTrial) -> None:
    """A card's message is lost; the next one shows the gap."""
    await trial.open_round()
    trial.table.lose(_dealt("9s", 1, "player"))
    await trial.deal("2c", 1, place="banker")
    await trial.shows_the_table()


async def a_lost_card_is_missed_without_another(trial: OverlayTrial) -> None:
    """A card's message is lost and nothing follows: `alive` has the last number."""
    await trial.open_round()
    await trial.caught_up()
    trial.table.lose(_dealt("9s", 1, "player"))
    await trial.shows_the_table()


async def a_card_twice_lies_once(trial: OverlayTrial) -> None:
    """A card's message arrives twice."""
    await trial.open_round()
    await trial.table.send(*await trial.deal("9s", 1))
    await trial.deal("2c", 1, place="banker")
    await trial.shows_the_table()


async def two_cards_change_places_on_the_way(trial: OverlayTrial) -> None:
    """Two messages arrive in the wrong order."""
    await trial.open_round()
    first = trial.table.lose(_dealt("9s", 1, "player"))
    second = trial.table.lose(events.CardWithdrawn(
        place="player", n=1, reading=1, reason=events.IncidentKind.DISPUTED_READ
    ))  # fmt: skip
    await trial.table.send(*second, *first)
    await trial.shows_the_table()


async def a_foreign_card_is_not_shown(trial: OverlayTrial) -> None:
    """A message of another environment is not shown; after a restart all is true again."""
    await trial.open_round()
    await trial.caught_up()
    [card] = trial.table.lose(_dealt("9s", 1, "player"))
    false = forged(card, source=f"tablectl/{trial.table.feed.table}/live")
    await trial.table.send(false.replace(b'"9s"', b'"As"'))
    await asyncio.sleep(0.3)
    await trial.restart_subject()
    await trial.shows_the_table()


async def an_older_epoch_is_not_shown(trial: OverlayTrial) -> None:
    """A live message of an older epoch is not shown."""
    trial.table.epoch = 3
    await trial.open_round()
    await trial.caught_up()
    [card] = trial.table.lose(_dealt("9s", 1, "player"))
    await trial.table.send(forged(card, epoch=2).replace(b'"9s"', b'"As"'))
    await trial.shows_the_table()


async def an_unknown_type_is_passed_over(trial: OverlayTrial) -> None:
    """An overlay goes on over a type it does not know."""
    await trial.open_round()
    await trial.table.send(*trial.table.store(_dealt("9s", 1, "player"), type="tablectl.card.sung.v1"))
    await trial.deal("2c", 1, place="banker")
    await trial.shows_the_table()


async def the_table_restarts(trial: OverlayTrial) -> None:
    """The table's next process goes on in the same round."""
    await trial.open_round()
    await trial.deal("9s", 1)
    await trial.caught_up()
    await trial.table.restart()
    await trial.deal("2c", 1, place="banker")
    await trial.shows_the_table()


async def silence_is_told(trial: OverlayTrial) -> None:
    """No `alive` for 3 s: the overlay says that it may be behind, and no more when it is alive again."""
    await trial.open_round()
    await trial.caught_up()
    trial.table.is_alive = False
    await asyncio.sleep(STALE_S)
    if not (await trial.subject.ask("shown"))["stale"]:
        raise Differs("no `alive` for 3.5 s, and the overlay is not marked as stale")
    trial.table.is_alive = True

    async def is_fresh() -> bool:
        return not (await trial.subject.ask("shown"))["stale"]

    await trial.comes(is_fresh, "the overlay is fresh again")


CASES = (
    a_coup_is_shown_card_by_card,
    a_card_face_down_is_a_back,
    a_burned_card_is_counted,
    a_withdrawn_card_is_taken_away,
    an_incident_is_shown_and_goes,
    a_result_is_shown,
    a_cancelled_round_is_shown_as_cancelled,
    a_correction_is_shown,
    a_new_round_clears_the_table,
    joined_in_mid_round,
    a_lost_card_is_shown,
    a_lost_card_is_missed_without_another,
    a_card_twice_lies_once,
    two_cards_change_places_on_the_way,
    a_foreign_card_is_not_shown,
    an_older_epoch_is_not_shown,
    an_unknown_type_is_passed_over,
    the_table_restarts,
    silence_is_told,
)
