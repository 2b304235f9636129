"""OAB-24, OAB-25: a wrong number of cards has the round dealt anew, and the bets stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import pytest
from table.dealt import ANNA, BETS, BLUE, BORIS, CLARA, RED, Dealt, cancelled, digest, every, only, refusal
from table.histories import fresh_redealing, play
from table.invariants import Watcher
from table.test_decisions import DARK, EMPTY, OPEN, dealt, decide
from table.test_matrix import attempts, is_accepted
from table.test_secrecy import told

from controller.cards import DECK, Card
from controller.games.published import Result, Wager
from controller.table import inputs as i
from controller.table.charts import IncidentState, Phase
from controller.table.commitments import commit, commitment_text
from controller.table.events import (
    AUDIENCES,
    Audience,
    CardBurned,
    CardDealt,
    CardHeld,
    CardsRevealed,
    DecisionClosed,
    DecisionOpened,
    Event,
    IncidentClosed,
    IncidentDecided,
    IncidentKind,
    IncidentOpened,
    OpenedCard,
    Refusal,
    RoundCancelled,
    RoundClosed,
    RoundConfirmed,
    RoundOpened,
    RoundRedealt,
    Verdict,
    encode_events,
)
from controller.table.inputs import CancelReason
from controller.table.picture import draw
from controller.table.situations import OBSERVABLE
from controller.table.table import Table

GAME = "oasis_with_bonus"
MISCOUNT = i.Observed(IncidentKind.WRONG_NUMBER_OF_CARDS, "box2")
DEAL_CARDS = 15
"""Two boxes and the dealer."""


def at_options() -> Dealt:
    """Box 1 decides, box 3 is dark; options time runs."""
    return dealt(GAME, box1=OPEN, box3=DARK)


def in_the_deal() -> Dealt:
    d = Dealt(game=at_options().game, settings=at_options().settings)
    d.shoe = list(DECK)
    d.to_betting()
    d.press(i.CloseBetting())
    d.press(i.BetsTaken({"box1": OPEN, "box2": EMPTY, "box3": DARK}), BETS)
    return d.deal(4)


def drawing() -> Dealt:
    d = at_options()
    decide(d, "options", "box1", "EXCHANGE", 1, 2)
    return d.deal(1)


def at_final_options() -> Dealt:
    return drawing().deal(1)


def turning() -> Dealt:
    d = at_final_options()
    decide(d, "final_options", "box1", "BET")
    d.press(i.TurnCards("dealer"))
    return d


def at_the_result() -> Dealt:
    d = turning()
    d.press(i.TurnCards("box3"))
    assert d.phase is Phase.RESULT_PROPOSED
    return d


MOMENTS: dict[str, Callable[[], Dealt]] = {
    "deal": in_the_deal,
    "options": at_options,
    "draw": drawing,
    "final options": at_final_options,
    "turns": turning,
    "result": at_the_result,
}


def redealt(d: Dealt) -> Dealt:
    """The dealer reports a miscount, a supervisor has the round dealt anew."""
    assert refusal(d.press(MISCOUNT)) is None
    assert refusal(d.press(i.OrderRedeal(), BORIS)) is None
    return d


def shuffled(d: Dealt) -> Dealt:
    """The deck lies in the shoe again, in another order."""
    d.shoe = [*DECK[20:], *DECK[:20]]
    assert refusal(d.press(i.ConfirmShuffle())) is None
    return d


def played_out(d: Dealt, deal: int) -> Dealt:
    """The new deal is dealt, box 1 bets, everything is turned and confirmed."""
    d.deal(DEAL_CARDS)
    assert decide(d, f"options/{deal}", "box1", "BET") is None
    d.press(i.TurnCards("dealer"))
    d.press(i.TurnCards("box3"))
    d.press(i.ConfirmResult())
    return d


def hidden(events: Iterable[Event]) -> dict[tuple[str, int, int], str]:
    """Return the commitments of cards that were dealt face down, or burned, by place, number and deal."""
    found = {
        (event.place, event.n, event.deal): event.commitment
        for event in events
        if isinstance(event, CardDealt) and event.commitment is not None
    }
    return found | {("burn", event.n, event.deal): event.commitment for event in every(events, CardBurned)}


def proves(roundid: str, card: OpenedCard, commitment: str) -> bool:
    assert card.card is not None and card.key is not None
    text = commitment_text(
        table="rp1",
        roundid=roundid,
        deal=card.deal,
        place=card.place,
        n=card.n,
        reading=card.reading,
        card=card.card,
    )
    return commit(card.key, text) == commitment


@pytest.mark.parametrize("moment", MOMENTS)
def test_oab_24_the_same_round_is_dealt_anew_from_every_moment(moment: str) -> None:
    d = MOMENTS[moment]()
    roundid, watcher = d.table.roundid, Watcher()
    redealt(d)
    event = only(d.last, RoundRedealt)
    assert (event.deal, event.reason, event.place) == (2, "WRONG_NUMBER_OF_CARDS", "box2")
    assert all(event.seen_by(audience) == event for audience in AUDIENCES)
    decided = only(d.last, IncidentDecided)
    assert (decided.cell, decided.verdict, decided.by) == ("OAB-24", Verdict.REDEALT, BORIS)
    assert [closed.ended_by for closed in every(d.last, DecisionClosed)] == (
        ["redeal"] if moment in ("options", "final options") else []
    )
    assert d.phase is Phase.SHUFFLING and d.table.roundid == roundid and d.table.carried() is None
    assert not d.table.deadlines and not d.table.state.incidents
    picture = draw(d.table.state)
    assert (picture.prompt.code, picture.deal, picture.places, picture.burned_count) == ("REDEAL", 2, {}, 0)
    assert picture.buttons == ("confirm_shuffle", "repeat_shuffle", "observed", "pause_table")
    played_out(shuffled(d), 2)
    watcher.check(d)
    assert len(every(d.events, RoundOpened)) == len(every(d.events, RoundClosed)) == 1
    assert only(d.last, RoundConfirmed).outcome.box("box3").hands


@pytest.mark.parametrize("moment", MOMENTS)
def test_oab_24_what_was_hidden_is_opened_once_with_the_end_of_the_round(moment: str) -> None:
    d = redealt(MOMENTS[moment]())
    before = hidden(d.events)
    turned = [card for event in every(d.events, CardsRevealed) for card in event.cards]
    start = len(d.events)
    played_out(shuffled(d), 2)
    end = only(d.last, RoundConfirmed)
    for event in d.events[start:]:
        if isinstance(event, CardsRevealed):
            assert {card.deal for card in event.cards} == {2}
    opened = {(card.place, card.n, card.deal): card for card in end.opened if card.deal == 1}
    assert opened.keys() == before.keys() - {(card.place, card.n, card.deal) for card in turned}
    assert len(opened) == sum(card.deal == 1 for card in end.opened)
    assert all(proves(d.table.roundid or "", card, before[where]) for where, card in opened.items())
    public, wallets = end.seen_by(Audience.PUBLIC), end.seen_by(Audience.SETTLEMENT)
    assert public.opened == end.opened and public.voided == ()
    assert wallets.opened == () and wallets.voided == end.voided


def test_oab_24_fees_and_bets_of_the_abandoned_deal_come_back_with_their_deal() -> None:
    d = shuffled(redealt(at_the_result()))
    redealt(d.deal(3))
    played_out(shuffled(d), 3)
    end = only(d.last, RoundConfirmed)
    assert [voided.deal for voided in end.voided] == [1, 2]
    for voided in end.voided:
        assert list(voided.boxes) == ["box1"], "dark Bets stand, and box 2 is empty"
        row = voided.row("box1")
        assert set(row) == {Wager.EXCHANGE_FEE, Wager.BET} and voided.row("box3") == {}
        assert {(told.outcome, told.rules) for told in row.values()} == {(Result.REFUND, ("OAB-24",))}


def test_oab_24_answers_of_the_abandoned_deal_never_count_in_the_next() -> None:
    d = redealt(at_options())
    assert decide(d, "options", "box1", "FOLD") is Refusal.WRONG_PHASE
    shuffled(d).deal(DEAL_CARDS)
    opened = every(d.events, DecisionOpened)[-1]
    assert (opened.stage, opened.window, opened.duration_ms) == ("options", "options/2", 15_000)
    assert decide(d, "options", "box1", "FOLD") is Refusal.WRONG_WINDOW
    assert refusal(d.facts("options", undecided=False)) is Refusal.WRONG_WINDOW
    assert decide(d, "options/2", "box1", "EXCHANGE", 4) is None
    d.deal(1)
    assert decide(d, "options/2", "box1", "BET") is Refusal.TOO_LATE
    assert decide(d, "final_options/2", "box1", "BET") is None


def test_oab_24_the_new_deal_has_its_own_rescan_and_no_guard() -> None:
    d = in_the_deal()
    d.fail()
    d.scan()
    assert d.table.state.in_play.rescans_used == 1
    shuffled(redealt(d))
    d.fail()
    d.scan()
    assert d.phase is Phase.DEALING and only(d.last, CardDealt).deal == 2


def test_oab_24_held_cards_of_the_abandoned_deal_are_opened_too() -> None:
    d = at_options()
    d.scan()
    d.answer(False)
    assert only(d.events, CardHeld).deal == 1
    played_out(shuffled(redealt(d)), 2)
    held = [card for card in only(d.last, RoundConfirmed).opened if card.place == "held"]
    assert [(card.n, card.deal) for card in held] == [(1, 1)]


def test_oab_24_another_person_than_the_one_who_reported_orders_it() -> None:
    d = at_options()
    d.press(MISCOUNT, BORIS)
    assert refusal(d.press(i.OrderRedeal(), BORIS)) is Refusal.SAME_PERSON
    assert refusal(d.press(i.OrderRedeal(), ANNA)) is Refusal.WRONG_ROLE
    assert refusal(d.press(i.OrderRedeal(), CLARA)) is None


def test_oab_24_a_report_names_the_place_and_may_be_taken_back_or_lead_to_a_cancel() -> None:
    d = at_options()
    report = i.Observed(IncidentKind.WRONG_NUMBER_OF_CARDS)
    assert refusal(d.press(report)) is Refusal.UNKNOWN_PLACE
    d.press(MISCOUNT)
    d.press(i.WithdrawReport())
    assert d.phase is Phase.DECIDING and not d.table.state.incidents
    d.press(MISCOUNT)
    d.press(i.ConfirmCancel(), BORIS)
    assert cancelled(d, CancelReason.WRONG_NUMBER_OF_CARDS).voided == ()


MISCOUNTS = (IncidentKind.WRONG_NUMBER_OF_CARDS, IncidentKind.WRONG_EXCHANGE)


@pytest.mark.parametrize("kind", sorted(OBSERVABLE - set(MISCOUNTS)))
def test_oab_24_no_other_report_leads_to_a_redeal(kind: IncidentKind) -> None:
    d = at_options()
    d.press(i.Observed(kind, "box1"))
    assert "order_redeal" not in draw(d.table.state).buttons
    assert refusal(d.press(i.OrderRedeal(), BORIS)) is not None


@pytest.mark.parametrize("game", ["golden_oasis", "oasis_poker", "grandmaster_russian_poker"])
def test_row_24_other_games_cancel(game: str) -> None:
    d = dealt(game, box1=OPEN)
    d.press(MISCOUNT)
    assert only(d.last, IncidentOpened).cell == "24"
    assert "order_redeal" not in draw(d.table.state).buttons
    assert refusal(d.press(i.OrderRedeal(), BORIS)) is Refusal.NOT_OFFERED


def test_nothing_is_dealt_anew_before_the_bets_are_known_or_without_any() -> None:
    d = Dealt(game=at_options().game, settings=at_options().settings)
    d.to_betting()
    d.press(MISCOUNT)
    assert refusal(d.press(i.OrderRedeal(), BORIS)) is Refusal.WRONG_PHASE
    d.press(i.WithdrawReport())
    d.press(i.CloseBetting())
    d.press(MISCOUNT)
    assert refusal(d.press(i.OrderRedeal(), BORIS)) is Refusal.NO_INCIDENT
    d.press(i.BetsTaken(dict.fromkeys(("box1", "box2", "box3"), EMPTY)), BETS)
    assert d.phase is Phase.RESULT_PROPOSED
    assert refusal(d.press(i.OrderRedeal(), BORIS)) is Refusal.NO_INCIDENT


def test_oab_24_a_miscount_of_the_first_cards_is_one_too() -> None:
    """Two cards came out and neither was scanned."""
    d = Dealt(game=at_options().game, settings=at_options().settings)
    d.to_betting()
    d.press(i.CloseBetting())
    d.press(i.BetsTaken({"box1": OPEN, "box2": EMPTY, "box3": DARK}), BETS)
    played_out(shuffled(redealt(d)), 2)


def test_oab_25_a_dealers_card_that_was_seen_goes_on_record_and_the_table_plays_on() -> None:
    d = at_options()
    d.press(i.Observed(IncidentKind.HIDDEN_CARD_SHOWN, "dealer"))
    decided = only(d.last, IncidentDecided)
    assert (decided.cell, decided.verdict, decided.reason) == (
        "OAB-25",
        Verdict.WENT_ON,
        CancelReason.HIDDEN_CARD_SHOWN,
    )
    only(d.last, IncidentClosed)
    assert not d.table.state.incidents and decide(d, "options", "box1", "BET") is None
    d.press(i.Observed(IncidentKind.HIDDEN_CARD_SHOWN, "box3"))
    assert d.table.state.incident is not None, "the hidden card of a box is another matter"


def test_a_redeal_decides_all_that_is_open() -> None:
    d = in_the_deal()
    d.unplug()
    d.press(MISCOUNT)
    d.press(i.OrderRedeal(), BORIS)
    assert [event.verdict for event in every(d.last, IncidentDecided)] == [Verdict.REDEALT] * 2
    assert "confirm_shuffle" not in draw(d.table.state).buttons
    assert refusal(d.press(i.ConfirmShuffle())) is Refusal.SCANNER_DOWN
    d.plug()
    assert not d.table.state.incidents
    played_out(shuffled(d), 2)


# In the shuffle.


def test_a_scanner_may_come_and_go_in_the_shuffle_and_is_needed_for_the_deal() -> None:
    d = redealt(at_options())
    d.unplug()
    assert not d.table.state.incidents
    assert refusal(d.press(i.ConfirmShuffle())) is Refusal.SCANNER_DOWN
    d.plug()
    played_out(shuffled(d), 2)


def test_row_30_another_scanner_in_the_shuffle_is_accepted_by_a_supervisor_who_has_it_dealt_anew() -> None:
    d = redealt(at_options())
    d.plug("a")
    d.unplug()
    d.plug("b")
    assert only(d.last, IncidentOpened).kind is IncidentKind.OTHER_SCANNER
    assert draw(d.table.state).prompt.code == "OTHER_SCANNER"
    assert refusal(d.press(i.ConfirmShuffle())) is Refusal.OTHER_SCANNER
    assert refusal(d.press(i.ConfirmShuffle(), BORIS)) is None
    d.unplug()
    d.plug("b")
    assert draw(d.table.state).prompt.code == "CARD_DRAWN"


def test_row_2b_a_card_read_in_a_hold_goes_back_into_the_shuffle() -> None:
    d = at_options()
    d.press(MISCOUNT)
    d.scan()
    assert draw(d.table.state).read_meanwhile == 1
    d.press(i.OrderRedeal(), BORIS)
    played_out(shuffled(d), 2)


def test_no_card_counts_in_the_shuffle_and_the_table_does_not_close() -> None:
    d = redealt(at_options())
    assert refusal(d.scan()) is Refusal.WRONG_PHASE
    assert refusal(d.press(i.CloseTable())) is Refusal.WRONG_PHASE
    assert refusal(d.press(i.RepeatShuffle())) is None
    played_out(shuffled(d), 2)


def test_row_35_a_restart_in_the_shuffle_comes_back_held() -> None:
    d = redealt(at_options())
    d.start()
    assert draw(d.table.state).prompt.code == "CONFIRM_PICTURE"
    assert refusal(d.press(i.ConfirmShuffle())) is Refusal.HELD
    d.plug()
    d.confirm_picture()
    assert draw(d.table.state).prompt.code == "REDEAL"
    played_out(shuffled(d), 2)


def test_row_35_another_version_deals_nothing_anew() -> None:
    d = at_options()
    d.start(program="1.1")
    d.press(MISCOUNT)
    assert refusal(d.press(i.OrderRedeal(), BORIS)) is Refusal.NO_INCIDENT
    d = redealt(at_options())
    d.start(program="1.1")
    d.confirm_picture()
    assert refusal(d.press(i.GoOn(), BORIS)) is Refusal.TOO_EARLY
    d.press(i.ConfirmCancel(), BORIS)
    found = cancelled(d, CancelReason.TECHNICAL)
    assert [voided.deal for voided in found.voided] == [1]
    assert {card.deal for card in found.opened} == {1}


def test_a_round_may_be_cancelled_in_the_shuffle() -> None:
    d = redealt(drawing())
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    assert refusal(d.press(i.ConfirmShuffle())) is Refusal.HELD
    d.press(i.ConfirmCancel(), BORIS)
    assert [voided.deal for voided in cancelled(d, CancelReason.TECHNICAL).voided] == [1]
    d.press(i.ClearTable())
    assert d.phase is Phase.SHUFFLING and d.table.carried() is not None


SHUFFLES: dict[IncidentState, Callable[[Dealt], object]] = {
    IncidentState.NONE: lambda d: None,
    IncidentState.SUPERVISOR: lambda d: d.press(i.Observed(IncidentKind.DEVICE_FAILED)),
    IncidentState.PICTURE: lambda d: d.start(),
}


@pytest.mark.parametrize("state", SHUFFLES)
def test_in_the_shuffle_every_input_is_answered_and_every_button_works(state: IncidentState) -> None:
    def there() -> Dealt:
        d = redealt(at_options())
        SHUFFLES[state](d)
        assert d.table.state.incident_state is state
        return d

    shown = draw(there().table.state).buttons
    for name, attempt in attempts():
        d = there()
        before, steps = digest(d.table), len(d.steps)
        attempt(d)
        assert all(d.steps[steps:]), f"{name} got no answer"
        draw(d.table.state)
        refused = refusal(d.last)
        if refused is not None and len(d.steps) == steps + 1:
            assert digest(d.table) == before, f"{name} was refused and moved the table"
        if name in i.PRESS_NAMES:
            assert is_accepted(Phase.SHUFFLING, state, name) or refused is not None
            assert (name in shown) == (refused in (None, Refusal.OTHER_PICTURE)), name


# Secrecy.


def in_two_deals(hidden_card: str) -> Dealt:
    """A round whose first deal has this card as the dealer's first, dealt anew and played to its end."""
    game, settings = at_options().game, at_options().settings
    d = Dealt(game=game, settings=settings)
    others = [card for card in DECK if str(card) not in ("Kc", "9s")]
    d.shoe = [*others[:2], Card.parse(hidden_card), *others[2:]]
    d.to_betting()
    d.press(i.CloseBetting())
    d.press(i.BetsTaken({"box1": OPEN, "box2": EMPTY, "box3": DARK}), BETS)
    d.deal(DEAL_CARDS)
    decide(d, "options", "box1", "EXCHANGE", 3)
    d.deal(1)
    return played_out(shuffled(redealt(d)), 2)


def test_a_hidden_card_of_the_abandoned_deal_changes_nothing_before_the_end_of_the_round() -> None:
    """The differential proof: two runs that differ in it tell everybody the same, but for its commitment."""
    one, other = in_two_deals("Kc"), in_two_deals("9s")
    assert len(one.steps) == len(other.steps)
    for mine, theirs in zip(one.steps[:-1], other.steps[:-1], strict=True):
        for audience in AUDIENCES:
            assert told(one, mine, audience, place="dealer") == told(other, theirs, audience, place="dealer")
    for d, card in ((one, "Kc"), (other, "9s")):
        opened = {(each.place, each.n, each.deal): each.card for each in only(d.last, RoundConfirmed).opened}
        assert opened["dealer", 1, 1] == card


def test_the_same_inputs_deal_anew_in_the_same_bytes() -> None:
    d = played_out(shuffled(redealt(at_the_result())), 2)
    again = Table(d.settings, d.game, BLUE, ())
    bytes_again = [encode_events(again.step(i.decode_input(i.encode_input(value)))) for value in d.inputs]
    assert bytes_again == [encode_events(events) for events in d.steps]


@pytest.mark.parametrize("seed", range(12))
def test_the_invariants_hold_in_a_random_history_with_redeals(seed: int) -> None:
    d = fresh_redealing(seed)
    play(d, seed, 600, Watcher().check)


def test_the_random_histories_deal_anew_in_every_way() -> None:
    """The proof that the histories above are worth something."""
    deals, ends = set(), Counter[str]()
    for seed in range(30):
        d = fresh_redealing(seed)
        play(d, seed, 600, lambda _: None)
        deals |= {event.deal for event in every(d.events, RoundRedealt)}
        for kind in (RoundConfirmed, RoundCancelled):
            ends[kind.__name__] += sum(bool(end.voided) for end in every(d.events, kind))
        again = Table(d.settings, d.game, BLUE, (RED,))
        assert [encode_events(again.step(value)) for value in d.inputs] == [encode_events(s) for s in d.steps]
    assert deals >= {2, 3} and ends["RoundConfirmed"] >= 5 and ends["RoundCancelled"] >= 3
