"""Snapshots: what each audience knows at chosen moments, and that nothing but its messages counts."""

from __future__ import annotations

import json

import pytest
from bus.streams import EVALUATED, OFFER, OUTCOME, TABLE, envelopes, filled, normal_round, stamp

from controller.bus.envelope import Envelopes, Environment, Stamp
from controller.bus.errors import ChainBroken, MalformedMessage
from controller.bus.snapshot import Snapshot, apply, decode_snapshot, encode_snapshot, fold
from controller.games.procedure import Decision, Face
from controller.games.published import for_public
from controller.table import events as ev
from controller.table.events import AUDIENCES, Audience


def after(steps: int, audience: Audience) -> Snapshot:
    """Return the snapshot after so many steps of a normal round."""
    builder, snapshot = envelopes(), Snapshot(table=TABLE, audience=audience)
    for events, at in list(normal_round(1))[:steps]:
        snapshot = fold(snapshot, builder.build(events, at)[audience])
    return snapshot


def test_while_bets_are_open() -> None:
    now = after(1, Audience.PUBLIC)
    window = now.open_window()
    assert window is not None
    assert (window.window, window.stage, window.closes_at_us) == ("w1", "betting", 10**9)
    assert (now.phase, now.roundid, now.round_no, now.boxes) == ("betting", "rp1-1", 1, ("box1", "main"))
    assert (now.prompt, now.source, now.rules) == ("Place your bets", "tablectl/rp1/simulated", "c0ffee")


def test_face_down_cards_have_commitments_and_only_the_buyers_see_the_switch_card() -> None:
    public, buyers = after(5, Audience.PUBLIC), after(5, Audience.BETTING)
    assert public.open_window() is None
    assert public.places["main"][0].card == "As"
    assert (public.places["dealer"][0].card, public.places["dealer"][0].commitment) == (None, "c1")
    assert public.places["switch"][0].card is None
    assert (buyers.places["switch"][0].card, buyers.places["switch"][0].face) == ("7d", Face.DOWN)


def test_an_open_incident_shows_its_text_until_it_is_closed() -> None:
    held, over = after(7, Audience.PUBLIC), after(9, Audience.PUBLIC)
    assert held.incident is not None
    assert (held.incident.incident, held.incident.prompt, held.incident.cell) == (4, "Scan again", "9")
    assert [laid.card for laid in held.places["main"]] == ["As"]
    assert over.incident is None
    assert [laid.card for laid in over.places["main"]] == ["As", "3c"]
    assert (over.burned, over.hands) == (1, {"main": EVALUATED})


def test_an_options_window_and_its_hands() -> None:
    public, buyers = after(10, Audience.PUBLIC), after(10, Audience.BETTING)
    window, offered = public.open_window(), buyers.open_window()
    assert window is not None and offered is not None
    assert (window.stage, window.actions) == ("options", ("draw", "stand"))
    assert window.prices_in_antes == {"draw": "1"}
    assert (window.hands, offered.hands) == ((), (OFFER,))
    assert after(11, Audience.PUBLIC).open_window() is None


def test_turned_and_opened_cards() -> None:
    turned, ended = after(12, Audience.PUBLIC), after(14, Audience.PUBLIC)
    [dealer] = turned.places["dealer"]
    assert (dealer.face, dealer.card, dealer.laid_aside) == (Face.UP, "Kd", True)
    [switch] = ended.places["switch"]
    assert (switch.face, switch.card) == (Face.DOWN, "7d")


@pytest.mark.parametrize("audience", AUDIENCES)
def test_the_last_outcome_is_the_one_the_public_sees(audience: Audience) -> None:
    now = after(14, audience)
    assert now.last is not None
    assert now.last.outcome == for_public(OUTCOME) != OUTCOME
    assert (now.last.rev, now.last.roundid, now.last.cancelled) == (1, "rp1-1", None)


def test_wallets_find_the_terminal_message_by_its_id() -> None:
    messages = filled(0).rows[Audience.SETTLEMENT]
    now = fold(Snapshot(table=TABLE, audience=Audience.SETTLEMENT), messages)
    assert now.last is not None
    [cancelled] = [raw for raw in messages if json.loads(raw)["id"] == now.last.message]
    assert json.loads(cancelled)["type"] == "tablectl.round.cancelled.v1"
    assert (now.last.cancelled, now.last.outcome) == ("TECHNICAL", None)


def test_a_new_round_clears_the_board_and_keeps_the_last_outcome() -> None:
    messages = filled(1).rows[Audience.PUBLIC]
    opened = max(i for i, raw in enumerate(messages) if b'"tablectl.round.opened.v1"' in raw)
    now = fold(Snapshot(table=TABLE, audience=Audience.PUBLIC), messages[: opened + 1])
    assert (now.places, now.windows, now.burned, now.proposed, now.hands) == ({}, (), 0, None, {})
    assert now.round_no == 2
    assert now.last is not None and now.last.roundid == "rp1-1"


@pytest.mark.parametrize("audience", AUDIENCES)
def test_a_served_snapshot_can_be_folded_on_at_every_number(audience: Audience) -> None:
    snapshot = Snapshot(table=TABLE, audience=audience)
    for raw in filled(2).rows[audience]:
        snapshot = apply(decode_snapshot(encode_snapshot(snapshot)), raw)
        assert decode_snapshot(encode_snapshot(snapshot)) == snapshot
        assert snapshot.seq == json.loads(raw)["seq"]


def test_an_unknown_type_moves_the_header_alone() -> None:
    [raw] = envelopes().build([ev.TableClosed()], stamp(1, "closed"))[Audience.PUBLIC]
    known = apply(Snapshot(table=TABLE, audience=Audience.PUBLIC), raw)
    later = apply(
        Snapshot(table=TABLE, audience=Audience.PUBLIC), raw.replace(b".table.closed.", b".table.moved.")
    )
    assert (later.seq, later.phase) == (known.seq, known.phase) == (1, "closed")


def test_only_the_next_message_folds() -> None:
    first, second, third = filled(0).rows[Audience.PUBLIC][:3]
    one = apply(Snapshot(table=TABLE, audience=Audience.PUBLIC), first)
    for wrong in (first, third, second.replace(one.hash.encode(), b"f" * 64)):
        with pytest.raises(ChainBroken, match="expected 2"):
            apply(one, wrong)


def test_a_malformed_snapshot_says_so() -> None:
    with pytest.raises(MalformedMessage, match="snapshot of 2 bytes"):
        decode_snapshot(b"{}")


def test_what_does_not_lie_there_any_more_names_no_card_of_the_board() -> None:
    """The terminal event opens withdrawn readings and abandoned deals too (OAB-24)."""

    def dealt(deal: int, reading: int) -> ev.CardDealt:
        return ev.CardDealt(
            place="dealer", n=1, face=Face.DOWN, deal=deal, reading=reading, commitment=f"{deal}{reading}"
        )

    def opened(deal: int, reading: int, card: str) -> ev.OpenedCard:
        return ev.OpenedCard(place="dealer", n=1, deal=deal, reading=reading, card=card, key="k")

    told = [
        ev.RoundOpened(round_no=1, game="g", boxes=("box1",), rules="r", procedures="p"),
        dealt(1, 1),
        ev.CardBurned(n=1, deal=1, reason=ev.IncidentKind.SURPLUS_CARD, commitment="b"),
        ev.CardHeld(n=1, deal=1, reason=ev.IncidentKind.EARLY_EXCHANGE, commitment="h"),
        ev.BoxVoided(box="box1", cell="23a seen"),
        ev.RoundRedealt(deal=2, reason="WRONG_NUMBER_OF_CARDS", incident=1, place="box1"),
        dealt(2, 1),
        ev.CardWithdrawn(place="dealer", n=1, reading=1, reason=ev.IncidentKind.DISPUTED_READ),
        dealt(2, 2),
        ev.CardsRevealed(place="dealer", cards=(opened(2, 2, "As"),)),
        ev.RoundCancelled(
            rev=1, reason="TECHNICAL", incident=2, opened=(opened(2, 1, "2c"), opened(1, 1, "3c"))
        ),
    ]
    made = Envelopes(table="rp1", environment=Environment.SIMULATED)
    messages = made.build(told, stamp(1, "dealing"))[Audience.PUBLIC]
    board = fold(Snapshot(table="rp1", audience=Audience.PUBLIC), messages)
    assert [(laid.card, laid.reading) for laid in board.places["dealer"]] == [("As", 2)]
    assert (board.deal, board.burned, board.held, board.voided) == (2, 0, 0, ())


def test_what_each_box_has_decided_stands_in_its_window() -> None:
    made = Envelopes(table="rp1", environment=Environment.SIMULATED)
    opened = ev.DecisionOpened(
        window="options",
        stage="options",
        boxes=("box1", "box2"),
        actions=("BET", "EXCHANGE"),
        prices_in_antes={},
        opened_at_us=1,
        closes_at_us=2,
        duration_ms=1,
        guard_ms=1,
        grace_ms=1,
    )
    told = [
        opened,
        ev.DecisionMade(window="options", box="box2", action="EXCHANGE", positions=(1, 3)),
        ev.DecisionMade(window="options", box="box1", action=None),
    ]
    stamp = Stamp(at_us=1, epoch=1, phase="deciding", rules="r", roundid="rp1-1")
    messages = made.build(told, stamp)[Audience.PUBLIC]
    now = fold(Snapshot(table="rp1", audience=Audience.PUBLIC), messages)
    assert now.windows[0].decisions == {"box2": Decision("EXCHANGE", (1, 3)), "box1": Decision(None)}
