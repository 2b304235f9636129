"""Manual entry (row 2, RPL-75): two people, blind to each other, one of them a supervisor."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import msgspec
import pytest
from profiles import profile
from table.dealt import (
    ANNA,
    BETS,
    BLUE,
    BORIS,
    CLARA,
    DORA,
    FAILS,
    NOON,
    SETTINGS,
    Dealt,
    cancelled,
    digest,
    every,
    only,
    refusal,
)
from table.test_decisions import OPEN, bets_closed
from table.test_scanned_again import TRUE as TRUE_CARDS
from table.test_scanned_again import again, lying, noticed

from controller.cards import Anomaly
from controller.table import inputs as i
from controller.table.charts import IncidentState, Phase
from controller.table.commitments import commit, commitment_text
from controller.table.events import (
    Audience,
    CardBurned,
    CardDealt,
    CardEntered,
    CardShown,
    CardsRevealed,
    CardWithdrawn,
    EntriesVoided,
    IncidentAsked,
    IncidentDecided,
    IncidentKind,
    InputAccepted,
    Refusal,
    ResultProposed,
    RoundConfirmed,
    ShoeEnd,
    Verdict,
)
from controller.table.inputs import CancelReason, EnterCard, Role
from controller.table.picture import draw

TRUE, OTHER = "9c", "2s"
"""What lies there, the third switch card of `FAILS`, and a card that is in the shoe too."""
LIES_OPEN, LIES_HIDDEN = "As", "2c"
"""The main box's first card, which all can see, and box 1's."""


def to_entry(d: Dealt) -> Dealt:
    """The third switch card can't be read, twice; a supervisor has it entered."""
    d.to_switch().deal(2)
    assert str(d.shoe.pop(0)) == TRUE
    return unreadable(d)


def unreadable(d: Dealt) -> Dealt:
    """The card at hand can't be read, and no re-scan helps."""
    d.fail()
    if d.table.state.incident_state is IncidentState.RESCAN:
        d.fail()
    d.press(i.OrderEntry(), BORIS)
    assert d.table.state.incident_state is IncidentState.ENTRY
    return d


def enter(d: Dealt, actor: str, card: str = TRUE, **given: object) -> Refusal | None:
    """Enter a card for the newest incident."""
    incident = d.table.state.incident
    command = EnterCard(incident.number if incident else 0, card)
    return refusal(d.press(command, actor, **given))  # type: ignore[arg-type]


def lies(d: Dealt) -> bool:
    """Whether the third switch card lies."""
    return len(d.table.state.in_play.at_place("switch")) == 3


@pytest.mark.parametrize("people", [(ANNA, BORIS), (BORIS, ANNA), (BORIS, CLARA)])
def test_two_people_who_agree_lay_the_card(people: tuple[str, str]) -> None:
    d = to_entry(Dealt(FAILS))
    assert draw(d.table.state).prompt.code == "ENTER_CARD"
    assert enter(d, people[0]) is None and not lies(d)
    assert draw(d.table.state).entered_by == people[0]
    assert enter(d, people[1]) is None and lies(d)
    dealt = only(d.last, CardDealt)
    assert (dealt.place, dealt.n, dealt.card, dealt.manual) == ("switch", 3, None, True)
    assert only(d.last, CardShown).card == TRUE
    assert only(d.last, CardEntered).by == people
    decided = only(d.last, IncidentDecided)
    assert (decided.verdict, decided.cell) == (Verdict.ENTERED, "RPL-75 later")
    assert draw(d.table.state).entered_by is None
    assert refusal(d.scan()) is None


def test_an_entered_card_is_marked_for_ever() -> None:
    d = to_entry(Dealt(FAILS))
    enter(d, ANNA)
    enter(d, CLARA)
    d.deal(2)
    d.all_decided("final_options")
    d.turn()
    d.all_decided("buy_time")
    d.press(i.LayCardAside())
    d.deal(1)
    proposed = only(every(d.events, ResultProposed), ResultProposed)
    d.press(i.ConfirmResult())
    marked = [(card.place, card.n) for card in only(d.last, RoundConfirmed).manual]
    assert marked == [("switch", 3)] == [(card.place, card.n) for card in proposed.manual]
    for audience in Audience:
        told = only(d.last, RoundConfirmed).seen_by(audience)
        assert isinstance(told, RoundConfirmed) and told.manual
    assert [dealt.manual for dealt in every(d.events, CardDealt)].count(True) == 1


def test_an_entered_card_is_bound_by_a_commitment_like_any_other() -> None:
    d = to_entry(Dealt(FAILS))
    enter(d, ANNA)
    enter(d, BORIS)
    commitment = only(d.last, CardDealt).commitment
    d.deal(2)
    d.all_decided("final_options")
    d.turn("switch")
    opened = only(d.last, CardsRevealed).cards[2]
    assert opened.card == TRUE and opened.key is not None
    text = commitment_text(
        table="rp1", roundid="rp1-1", deal=1, place="switch", n=3, reading=1, card=opened.card
    )
    assert commit(opened.key, text) == commitment


# Must show: one wrong, both different, same person twice, expired, replayed: none passes.


class Deed(NamedTuple):
    """Somebody enters a card; `replays`: the first request of the sequence comes once more."""

    actor: str
    card: str = TRUE
    stale: bool = False
    replays: bool = False


DEEDS = (
    *(Deed(actor, card) for actor in (ANNA, DORA, BORIS, CLARA) for card in (TRUE, OTHER)),
    Deed(BORIS, LIES_OPEN),
    Deed(CLARA, stale=True),
    Deed(ANNA, replays=True),
)


def expected(deeds: tuple[Deed, ...]) -> list[str]:
    """Say of each deed whether it is taken, refused, voids or passes: the rule, typed once more."""
    said: list[str] = []
    waits: Deed | None = None
    for index, deed in enumerate(deeds):
        if said and said[-1] == "passes":
            break
        if deed.stale or deed.actor == DORA or deed.card == LIES_OPEN or (deed.replays and index == 0):
            said.append("refused")
        elif deed.replays:
            said.append("nothing")
        elif waits is None:
            said.append("taken")
            waits = deed
        elif waits.actor == deed.actor:
            said.append("refused")
        else:
            said.append("passes" if waits.card == deed.card else "voids")
            waits = None
    return said


def happened(d: Dealt, deed: Deed) -> str:
    before = digest(d.table)
    if deed.replays:
        first = next(v for v in d.inputs if isinstance(v, i.Commanded) and v.request.startswith("deed"))
        d.feed(msgspec.structs.replace(first, at=d.now + 1))
        assert digest(d.table) == before
        return "nothing"
    request = f"deed{d.requests}"
    if deed.stale:
        events = d.press(EnterCard(99, deed.card), deed.actor, request=request)
        assert refusal(events) is Refusal.WRONG_INCIDENT
    else:
        enter(d, deed.actor, deed.card, request=request)
    if refusal(d.last) is not None:
        assert digest(d.table) == before and not lies(d)
        return "refused"
    if every(d.last, EntriesVoided):
        return "voids"
    return "passes" if lies(d) else "taken"


@pytest.mark.parametrize("first", DEEDS)
def test_nothing_passes_but_two_who_agree_in_every_order(first: Deed) -> None:
    """All orders of three entries: by a dealer, two supervisors, and one who is off duty; right, wrong,
    stale and replayed."""
    if first.replays:
        return
    for rest in product(DEEDS, repeat=2):
        d = to_entry(Dealt(FAILS))
        deeds = (first, *rest)
        wanted = expected(deeds)
        got = [happened(d, deed) for deed in deeds[: len(wanted)]]
        assert got == wanted, deeds
        laid = d.table.state.in_play.at_place("switch")[2:]
        passed = wanted[-1] == "passes"
        assert [str(one.card) for one in laid] == ([deeds[len(wanted) - 1].card] if passed else [])


def test_different_entries_void_both_and_both_enter_again() -> None:
    d = to_entry(Dealt(FAILS))
    enter(d, ANNA, OTHER)
    assert enter(d, BORIS) is None
    assert only(d.last, EntriesVoided).by == (ANNA, BORIS)
    assert not lies(d) and draw(d.table.state).entered_by is None
    assert enter(d, BORIS) is None and not lies(d), "the entry that was right is void too"
    assert enter(d, ANNA) is None and lies(d)


def test_two_dealers_are_not_enough() -> None:
    d = to_entry(Dealt(FAILS))
    assert enter(d, ANNA) is None
    d.log_in(DORA)
    d.press(i.GoOn(), BORIS)
    assert draw(d.table.state).dealer == DORA
    assert enter(d, DORA) is Refusal.WRONG_ROLE and not lies(d)
    assert enter(d, CLARA) is None and lies(d)


def test_row_40_an_entry_that_no_supervisor_makes_is_given_up() -> None:
    d = to_entry(Dealt(FAILS))
    assert enter(d, ANNA) is None
    d.advance(60_000)
    assert draw(d.table.state).escalated
    d.advance(120_000)
    cancelled(d, CancelReason.WRONG_READING)


def test_a_request_of_another_round_is_expired() -> None:
    d = to_entry(Dealt(FAILS))
    enter(d, ANNA)
    assert enter(d, BORIS, round_no=0) is Refusal.EXPIRED_REQUEST
    assert enter(d, CLARA, round_no=2) is Refusal.EXPIRED_REQUEST
    assert not lies(d)


def test_the_same_request_with_another_card_is_refused() -> None:
    d = to_entry(Dealt(FAILS))
    enter(d, ANNA, OTHER, request="mine")
    assert enter(d, ANNA, TRUE, request="mine") is Refusal.OTHER_REQUEST
    assert enter(d, BORIS, OTHER) is None and lies(d)


def test_no_betting_system_enters_a_card_and_no_dealer_orders_it() -> None:
    d = Dealt(FAILS).to_switch()
    d.fail()
    d.fail()
    assert refusal(d.press(i.OrderEntry(), ANNA)) is Refusal.WRONG_ROLE
    d.press(i.OrderEntry(), BORIS)
    assert enter(d, BETS) is Refusal.WRONG_ROLE


# What may be entered, and what it does.


def test_a_card_that_all_can_see_is_refused_at_once() -> None:
    d = to_entry(Dealt(FAILS))
    assert enter(d, ANNA, LIES_OPEN) is Refusal.IMPOSSIBLE_CARD


def test_a_hidden_card_is_refused_by_nobody_and_cancels_when_both_name_it() -> None:
    """Row 5: a refusal would tell one person what lies face down; two people may cancel anyway."""
    d = to_entry(Dealt(FAILS))
    assert enter(d, ANNA, LIES_HIDDEN) is None
    assert enter(d, BORIS, LIES_HIDDEN) is None
    cancelled(d, CancelReason.DECK_INTEGRITY)
    assert only(d.last, IncidentDecided).cell == "5"
    suspect = d.table.state.shoe.suspect
    assert suspect is not None and suspect.end is ShoeEnd.INTEGRITY


def test_a_hidden_card_named_by_one_of_two_tells_nobody() -> None:
    d = to_entry(Dealt(FAILS))
    enter(d, ANNA, LIES_HIDDEN)
    enter(d, BORIS)
    assert only(d.last, EntriesVoided) and not lies(d)


def test_an_entry_is_offered_for_a_card_at_hand_alone() -> None:
    d = Dealt(FAILS).to_switch()
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    assert "order_entry" not in draw(d.table.state).buttons
    assert refusal(d.press(i.OrderEntry(), BORIS)) is Refusal.NOT_OFFERED


def no_rescan_left() -> Dealt:
    """A game that has cards entered in the initial deal too; the third one took its one re-scan."""
    d = bets_closed("caribbean_poker", box1=OPEN).deal(2)
    d.fail()
    d.scan()
    return d


def test_row_3_a_disputed_card_is_entered_when_no_re_scan_is_left() -> None:
    d = no_rescan_left()
    code = BLUE.code(d.table.state.in_play.laid[-1].card)
    d.press(i.DisputeReading())
    assert not every(d.last, CardWithdrawn) and "order_entry" in draw(d.table.state).buttons
    d.press(i.OrderEntry(), BORIS)
    assert only(d.last, CardWithdrawn).reason is IncidentKind.DISPUTED_READ
    assert not isinstance(d.table.state.register.check(code), Anomaly)
    enter(d, ANNA, "9h")
    enter(d, BORIS, "9h")
    dealt = only(d.last, CardDealt)
    assert (dealt.reading, dealt.manual) == (2, True)
    assert only(d.last, IncidentDecided).cell == "3 used"


def test_row_3_a_card_before_the_last_one_is_scanned_with_all_before_any_is_entered() -> None:
    d = no_rescan_left()
    d.deal(7)
    assert d.phase is Phase.DECIDING
    d.press(i.DisputeReading())
    assert draw(d.table.state).prompt.code == "CALL_SUPERVISOR"
    assert "order_entry" not in draw(d.table.state).buttons
    assert refusal(d.press(i.OrderEntry(), BORIS)) is Refusal.NOT_OFFERED


# Row 2: one of all cards can't be scanned again.


def scanned_again_up_to(index: int) -> Dealt:
    """All are scanned again after the first switch card, and the card of this index can't be read."""
    d = noticed(Dealt(FAILS).to_switch().deal(1))
    return unreadable(again(d, TRUE_CARDS[:index]))


@pytest.mark.parametrize("index", [0, 5, 7, 20])
@pytest.mark.parametrize("is_other", [False, True])
def test_row_2_a_card_that_can_not_be_scanned_again_is_entered_and_the_others_follow(
    index: int, is_other: bool
) -> None:
    d = scanned_again_up_to(index)
    before = lying(d)
    card = OTHER if is_other else before[index]
    prompt, old = draw(d.table.state).prompt, d.table.state.in_play.laid[index]
    assert (prompt.code, prompt.place, prompt.n) == ("ENTER_CARD", old.place, old.n)
    assert enter(d, ANNA, card) is None and enter(d, BORIS, card) is None
    entered = only(d.last, CardEntered)
    assert (entered.place, entered.n, entered.by) == (old.place, old.n, (ANNA, BORIS))
    again(d, TRUE_CARDS[index + 1 : 21])
    decided_on = is_other and (old.open or old.shown_to_betting) and index < 20
    if decided_on:
        cancelled(d, CancelReason.WRONG_READING)  # P5: options time was played with it.
        return
    assert every(d.last, IncidentDecided)[0].verdict is Verdict.ENTERED
    assert lying(d) == [*before[:index], card, *before[index + 1 :]]
    assert [laid.manual for laid in d.table.state.in_play.laid] == [at == index for at in range(21)]
    dealt = only(d.last, CardDealt)
    assert (dealt.place, dealt.n, dealt.reading, dealt.manual) == (old.place, old.n, 2, True)
    d.deal(1)


def test_row_2_two_cards_that_were_read_as_one_another_are_entered_as_they_are() -> None:
    """What the table took for another card is no reason against it."""
    d = scanned_again_up_to(0)
    first, fifth = TRUE_CARDS[0], TRUE_CARDS[4]
    assert enter(d, ANNA, fifth) is None and enter(d, BORIS, fifth) is None
    again(d, [*TRUE_CARDS[1:4], first, *TRUE_CARDS[5:21]])
    assert every(d.last, IncidentDecided)[0].verdict is Verdict.ENTERED
    assert (lying(d)[0], lying(d)[4]) == (fifth, first)


def test_row_2_a_card_that_was_scanned_again_and_lies_open_is_refused() -> None:
    d = scanned_again_up_to(7)
    assert enter(d, ANNA, LIES_OPEN) is Refusal.IMPOSSIBLE_CARD
    assert draw(d.table.state).entered_by is None
    d = scanned_again_up_to(0)
    assert enter(d, ANNA, LIES_OPEN) is None  # Its reading is in question like any other.


def test_row_5_a_hidden_card_that_was_scanned_again_cancels_when_both_name_it() -> None:
    d = scanned_again_up_to(7)
    assert enter(d, ANNA, LIES_HIDDEN) is None and enter(d, BORIS, LIES_HIDDEN) is None
    cancelled(d, CancelReason.DECK_INTEGRITY)
    assert only(d.last, IncidentDecided).cell == "5"


def test_row_2_what_was_entered_is_void_when_that_very_card_comes_later() -> None:
    d = scanned_again_up_to(0)
    wrong = TRUE_CARDS[3]
    assert enter(d, ANNA, wrong) is None and enter(d, BORIS, wrong) is None
    again(d, TRUE_CARDS[1:4])
    prompt = draw(d.table.state).prompt
    assert (prompt.code, prompt.place, prompt.n) == ("SCAN_FROM_FIRST", "box1", 1)
    again(d, TRUE_CARDS[:21])
    assert only(d.last, IncidentDecided).verdict is Verdict.RESCANNED
    assert not any(laid.manual for laid in d.table.state.in_play.laid)


def test_rpl_75_in_the_initial_deal_nothing_is_entered() -> None:
    d = Dealt(FAILS).to_dealing().deal(6)
    d.fail()
    d.fail()
    cancelled(d, CancelReason.WRONG_READING)


def test_a_supervisor_may_still_cancel() -> None:
    d = to_entry(Dealt(FAILS))
    enter(d, ANNA)
    assert refusal(d.press(i.ConfirmCancel(), ANNA)) is Refusal.WRONG_ROLE
    d.press(i.ConfirmCancel(), BORIS)
    cancelled(d, CancelReason.WRONG_READING)


def test_a_supervisor_may_go_back_to_a_re_scan_and_what_was_entered_is_void() -> None:
    d = to_entry(Dealt(FAILS))
    enter(d, ANNA, OTHER)
    d.press(i.OrderRescan(), BORIS)
    assert only(d.last, IncidentAsked).prompt == "SCAN_AGAIN"
    d.fail()
    d.press(i.OrderEntry(), BORIS)
    assert enter(d, CLARA, OTHER) is None and not lies(d)
    assert enter(d, BORIS, OTHER) is None and lies(d)


def test_a_card_that_is_scanned_while_people_enter_it_is_held() -> None:
    d = to_entry(Dealt(FAILS))
    assert refusal(d.scan(TRUE)) is Refusal.HELD


def test_an_entry_corrects_a_disputed_reading() -> None:
    d = Dealt(FAILS).to_final_options()
    d.press(i.DisputeReading())
    unreadable(d)
    enter(d, ANNA, "Js")
    enter(d, BORIS, "Js")
    dealt = only(d.last, CardDealt)
    assert (dealt.place, dealt.n, dealt.reading, dealt.manual) == ("switch", 5, 2, True)
    assert only(d.last, IncidentDecided).verdict is Verdict.ENTERED


def test_row_3_a_card_is_entered_also_when_a_window_has_ended_since_the_report() -> None:
    """It may be entered as it was read, and nothing is decided anew (P5)."""
    at_once = msgspec.structs.replace(SETTINGS, profile=profile("russian_poker_live", read_tries=0))
    d = Dealt(FAILS, settings=at_once).to_final_options()
    d.press(i.DisputeReading())
    d.advance(10_001)
    assert "order_entry" in draw(d.table.state).buttons
    unreadable(d)
    enter(d, ANNA, "5c")
    enter(d, BORIS, "5c")
    dealt = only(d.last, CardDealt)
    assert (dealt.place, dealt.n, dealt.manual) == ("switch", 5, True)


def test_a_report_that_is_taken_back_leaves_the_mark() -> None:
    d = to_entry(Dealt(FAILS))
    enter(d, ANNA)
    enter(d, BORIS)
    d.press(i.DisputeReading())
    d.fail()
    assert refusal(d.press(i.WithdrawReport())) is None
    dealt = only(d.last, CardDealt)
    assert (dealt.place, dealt.n, dealt.reading, dealt.manual) == ("switch", 3, 2, True)


@pytest.mark.parametrize(("card", "stands"), [("Th", True), ("Qs", True), ("As", False)])
def test_an_entry_corrects_the_proposed_result(card: str, stands: bool) -> None:
    d = Dealt(FAILS).to_result()
    d.press(i.DisputeReading())
    unreadable(d)
    assert (enter(d, ANNA, card) is None) == stands
    if stands:
        enter(d, BORIS, card)
        proposed = only(d.last, ResultProposed)
        assert card in str(proposed.outcome.dealer_after_purchase)
        assert [(one.place, one.n) for one in proposed.manual] == [("dealer", 6)]


def test_p5_what_players_decided_on_is_not_corrected_by_hand() -> None:
    d = Dealt(FAILS).to_final_options()
    d.press(i.DisputeReading())
    unreadable(d)
    d.advance(10_001)
    enter(d, ANNA, "Js")
    enter(d, BORIS, "Js")
    cancelled(d, CancelReason.WRONG_READING)


def test_an_entered_card_that_was_surplus_is_burned_with_its_mark() -> None:
    d = to_entry(Dealt(FAILS))
    enter(d, ANNA)
    enter(d, BORIS)
    d.press(i.CallSurplus())
    d.answer(False)
    assert only(d.last, CardBurned).manual


def test_what_was_entered_outlives_a_restart_and_a_lost_scanner() -> None:
    d = to_entry(Dealt(FAILS))
    enter(d, ANNA)
    d.start()
    assert enter(d, BORIS) is Refusal.WRONG_PHASE
    d.plug()
    d.confirm_picture()
    d.answer(False)
    assert draw(d.table.state).entered_by == ANNA
    assert enter(d, BORIS) is None and lies(d)
    assert d.phase is Phase.DEALING


def test_the_key_of_an_entry_is_the_stations_and_a_command_has_none() -> None:
    raw = msgspec.json.encode(EnterCard(1, TRUE))
    assert b"key" not in raw
    told = i.Commanded(at=NOON, request="r", actor=ANNA, role=Role.DEALER, round_no=1, command=i.GoOn())
    assert b"key" not in i.encode_input(told) and b"past" not in i.encode_input(told)


@pytest.mark.parametrize("text", ["1c", "Ax", "as", "10c", "", "Asd"])
def test_what_is_no_card_is_no_command(text: str) -> None:
    raw = msgspec.json.encode({"command": "enter_card", "incident": 1, "card": text})
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(raw, type=i.AnyCommand)


def test_no_event_of_an_entry_names_a_value() -> None:
    d = to_entry(Dealt(FAILS))
    before = len(d.events)
    for card in (TRUE, OTHER):
        enter(d, ANNA, card)
        enter(d, BORIS, TRUE if card == OTHER else OTHER)
    for event in d.events[before:]:
        text = msgspec.json.encode(event).decode()
        assert f'"{TRUE}"' not in text and f'"{OTHER}"' not in text, text
    assert [event.command for event in every(d.events[before:], InputAccepted)] == ["enter_card"] * 4
    picture = msgspec.json.encode(draw(d.table.state)).decode()
    assert TRUE not in picture and OTHER not in picture
