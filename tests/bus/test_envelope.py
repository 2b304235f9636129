"""Envelopes: exact bytes, numbers, chains, digests, and what an audience may not see."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime

import msgspec
import pytest
from bus.streams import (
    OUTCOME,
    TABLE,
    MemoryOutbox,
    check_chain,
    envelopes,
    filled,
    normal_round,
    stamp,
)
from hypothesis import given
from hypothesis import strategies as st

from controller.bus.envelope import (
    Envelopes,
    Environment,
    Heads,
    SealedRound,
    check_origin,
    decode,
    event_of,
    rfc3339,
)
from controller.bus.errors import EndpointRefused, ForeignSource, MalformedMessage
from controller.table import events as ev
from controller.table.events import AUDIENCES, Audience

GOLDEN = (
    b'{"specversion":"1.0","id":"rp1/public/1","source":"tablectl/rp1/simulated",'
    b'"type":"tablectl.deck.verified.v1","subject":"rp1","time":"2026-11-30T12:00:00.000001Z",'
    b'"dataschema":"urn:tablectl:schema:deck.verified:v1","tableid":"rp1","epoch":3,"seq":1,'
    b'"phase":"deck_check",'
    b'"prevhash":"0000000000000000000000000000000000000000000000000000000000000000",'
    b'"rules":"c0ffee","data":{"event":"deck.verified","count":52}}'
)
AT_US = 1_796_040_000_000_001


def test_the_exact_bytes_of_one_message() -> None:
    messages = envelopes().build([ev.DeckVerified(count=52)], stamp(AT_US, "deck_check", epoch=3))
    assert messages[Audience.PUBLIC] == (GOLDEN,)
    assert messages[Audience.SETTLEMENT] == ()


def test_a_message_of_a_round_names_round_and_revision() -> None:
    [raw] = envelopes().build(
        [ev.CardLaidAside(place="dealer", n=2)], stamp(AT_US, "dealing", 7, rev=2)
    )[Audience.PUBLIC]  # fmt: skip
    message = json.loads(raw)
    assert (message["subject"], message["roundid"], message["rev"]) == ("rp1-7", "rp1-7", 2)


@pytest.mark.parametrize("audience", AUDIENCES)
def test_numbers_are_gapless_and_chained_for_each_audience(audience: Audience) -> None:
    messages = filled(3).rows[audience]
    assert len(messages) > 15
    check_chain(messages)


def test_same_heads_and_same_events_give_the_same_bytes() -> None:
    assert filled(2).rows == filled(2).rows


def test_envelopes_go_on_from_stored_heads_in_the_middle_of_a_round() -> None:
    whole = filled(1).rows
    steps = list(normal_round(1))
    for cut in range(len(steps)):
        first, outbox = envelopes(), MemoryOutbox()
        for events, at in steps[:cut]:
            outbox.add(first.build(events, at))
        stored = msgspec.json.encode(first.heads())
        second = Envelopes(
            table=TABLE, environment=Environment.SIMULATED, heads=msgspec.json.decode(stored, type=Heads)
        )
        for events, at in steps[cut:]:
            outbox.add(second.build(events, at))
        for audience in AUDIENCES:
            assert outbox.rows[audience] == whole[audience][: len(outbox.rows[audience])]


def test_what_an_audience_may_not_see_leaves_no_trace_in_its_bytes() -> None:
    bare, full = envelopes(), envelopes()
    hidden = [
        ev.InputRefused(input="card_read", reason=ev.Refusal.TOO_EARLY),
        ev.CardShown(place="switch", n=1, reading=1, card="7d"),
    ]
    seen = MemoryOutbox(), MemoryOutbox()
    for events, at in normal_round(1):
        seen[0].add(bare.build(events, at))
        seen[1].add(full.build([*hidden, *events, *hidden], at))
    for audience in (Audience.PUBLIC, Audience.SETTLEMENT):
        assert seen[0].rows[audience] == seen[1].rows[audience]
    assert seen[0].rows[Audience.AUDIT] != seen[1].rows[Audience.AUDIT]
    assert seen[0].rows[Audience.BETTING] != seen[1].rows[Audience.BETTING]


def test_the_shown_switch_card_and_the_wager_rows_go_where_they_may() -> None:
    steps = list(normal_round(1))
    before_the_end, outbox = MemoryOutbox(), MemoryOutbox()
    builder = envelopes()
    for index, (events, at) in enumerate(steps):
        messages = builder.build(events, at)
        outbox.add(messages)
        if index < len(steps) - 2:
            before_the_end.add(messages)
    holders = {a for a in AUDIENCES if b'"7d"' in b"".join(before_the_end.rows[a])}
    payers = {a for a in AUDIENCES if b'"RPL-50"' in b"".join(outbox.rows[a])}
    assert holders == {Audience.BETTING}
    assert payers == {Audience.BETTING, Audience.SETTLEMENT, Audience.AUDIT}
    kinds = {json.loads(raw)["type"] for raw in outbox.rows[Audience.SETTLEMENT]}
    assert kinds == {
        f"tablectl.{tag}.v1"
        for tag in ("round.opened", "betting.opened", "bets.closed", "round.confirmed", "round.closed")
    }


@pytest.mark.parametrize("audience", AUDIENCES)
def test_round_closed_counts_and_digests_the_messages_before_it(audience: Audience) -> None:
    builder = envelopes()
    outbox = filled(2, source=builder)
    correction = [ev.RoundConfirmed(rev=2, outcome=OUTCOME), ev.RoundClosed(rev=2)]
    outbox.add(builder.build(correction, stamp(9 * 10**9, "ready", 2, rev=2)))
    sealed = 0
    counted: list[bytes] = []
    for raw in outbox.rows[audience]:
        message = json.loads(raw)
        if message["type"] == "tablectl.round.opened.v1":
            counted = []
        if message["type"] == "tablectl.round.closed.v1":
            digest = bytes(32)
            for earlier in counted:
                digest = hashlib.sha256(digest + hashlib.sha256(earlier).digest()).digest()
            assert message["data"]["count"] == len(counted) > 0
            assert message["data"]["digest"] == digest.hex()
            sealed, counted = sealed + 1, []
        else:
            counted.append(raw)
    assert sealed == 4


def test_messages_are_cloudevents() -> None:
    """CloudEvents 1.0: attribute names, required attributes, Integer, URI of dataschema, Timestamp."""
    for rows in filled(1).rows.values():
        for raw in rows:
            message = json.loads(raw)
            data = message.pop("data")
            assert isinstance(data, dict)
            assert all(re.fullmatch(r"[a-z0-9]{1,20}", name) for name in message)
            assert {"specversion", "id", "source", "type"} <= message.keys()
            assert all(isinstance(value, str | int) and value != "" for value in message.values())
            assert all(value < 2**31 for value in message.values() if isinstance(value, int))
            assert re.fullmatch(r"[a-z]+:\S+", message["dataschema"])
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", message["time"])


def test_a_number_beyond_the_integer_type_is_a_bug() -> None:
    with pytest.raises(AssertionError, match="CloudEvents Integer"):
        envelopes().build([ev.TableClosed()], stamp(1, "closed", epoch=2**31))


@given(st.integers(0, 253_402_300_799_999_998))
def test_time_keeps_every_microsecond(at_us: int) -> None:
    text = rfc3339(at_us)
    assert int(text[-7:-1]) == at_us % 1_000_000
    assert msgspec.json.decode(f'"{text}"', type=datetime).microsecond == at_us % 1_000_000
    assert rfc3339(at_us + 1) > text


def test_consumers_read_back_every_event_and_ignore_unknown_fields() -> None:
    encoder = msgspec.json.Encoder(order="deterministic")
    for raw in filled(1).rows[Audience.AUDIT]:
        envelope = decode(raw)
        event = event_of(envelope)
        assert event is not None
        assert encoder.encode(event) == bytes(envelope.data)
        wider = raw[:-2] + b',"later":1},"more":[]}'
        assert event_of(decode(wider)) == event


def test_round_closed_reads_back_with_count_and_digest() -> None:
    closed = [event_of(decode(raw)) for raw in filled(1).rows[Audience.SETTLEMENT]]
    [confirmed, cancelled] = [event for event in closed if isinstance(event, SealedRound)]
    assert (confirmed.count, cancelled.count) == (4, 5)


@pytest.mark.parametrize("kind", ["tablectl.round.paid.v1", "tablectl.deck.verified.v2", "other.thing"])
def test_an_unknown_type_or_major_version_is_no_event(kind: str) -> None:
    raw = GOLDEN.replace(b"tablectl.deck.verified.v1", kind.encode())
    assert event_of(decode(raw)) is None


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", GOLDEN.replace(b'"seq":1', b'"seq":"1"')])
def test_malformed_messages_say_so(raw: bytes) -> None:
    with pytest.raises(MalformedMessage, match="message of"):
        decode(raw)


def test_malformed_data_names_the_message() -> None:
    with pytest.raises(MalformedMessage, match=r"rp1/public/1 .*count"):
        event_of(decode(GOLDEN.replace(b'"count":52', b'"count":"all"')))


@pytest.mark.parametrize(
    ("source", "stream"),
    [("tablectl/rp1/live", "rp1/public"), ("tablectl/rp1/simulated", "rp1/betting")],
)
def test_a_message_of_another_place_is_foreign(source: str, stream: str) -> None:
    check_origin(decode(GOLDEN), source="tablectl/rp1/simulated", stream="rp1/public")
    with pytest.raises(ForeignSource, match="rp1/public/1"):
        check_origin(decode(GOLDEN), source=source, stream=stream)


def test_a_table_name_must_fit_ids_and_paths() -> None:
    with pytest.raises(EndpointRefused, match="a/b"):
        Envelopes(table="a/b", environment=Environment.LIVE)
