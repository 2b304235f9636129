"""The gap keeper, without sockets: loss, order, epochs, chains and time."""

from __future__ import annotations

import json

import pytest
from bus.streams import TABLE, MemoryOutbox, check_chain, envelopes, filled, normal_round, stamp
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.bus.envelope import Environment, message_hash
from controller.bus.errors import ChainBroken, ForeignSource, MalformedMessage, ReplayRefused
from controller.bus.gap_keeper import HELD_MAX, RETRY_US, STALE_US, Cursor, Delivery, GapKeeper
from controller.bus.snapshot import Snapshot, encode_snapshot, fold
from controller.bus.wire import Alive, Marker, Reason, encode
from controller.table import events as ev
from controller.table.events import Audience

ROWS = filled(2).rows[Audience.PUBLIC]
PAGE = 7
SOURCE = "tablectl/rp1/simulated"


def keeper(cursor: Cursor | None = None) -> GapKeeper:
    stream = (TABLE, Audience.PUBLIC)
    return GapKeeper(stream=stream, environment=Environment.SIMULATED, cursor=cursor, now_us=0)


def alive(
    seq: int, *, epoch: int = 1, rows: list[bytes] = ROWS, source: str = SOURCE, at_us: int = 1
) -> bytes:
    hashed = message_hash(rows[seq - 1]) if seq else "0" * 64
    return encode(
        Alive(alive=TABLE, source=source, epoch=epoch, seq=seq, hash=hashed, phase="dealing", at_us=at_us)
    )


def replay(request: bytes, rows: list[bytes]) -> list[bytes]:
    """Answer as the replay server does, in pages of PAGE."""
    asked = json.loads(request)
    if asked["ask"] == "snapshot":
        snapshot = fold(Snapshot(table=TABLE, audience=Audience.PUBLIC), rows)
        marker = Marker(request=asked["request"], end=True, snapshot=True, last_seq=len(rows))
        return [encode_snapshot(snapshot), encode(marker)]
    first = asked["seq"]
    page = rows[first - 1 : first - 1 + PAGE]
    following = first + len(page)
    marker = Marker(
        request=asked["request"], end=True, count=len(page), last_seq=len(rows),
        next=following if following <= len(rows) else None,
    )  # fmt: skip
    return [*page, encode(marker)]


def catch_up(kept: GapKeeper, rows: list[bytes], now_us: int = 0) -> None:
    while (request := kept.ask(now_us)) is not None:
        kept.replayed(replay(request, rows))


def taken(kept: GapKeeper) -> list[bytes]:
    deliveries: list[Delivery] = []
    while kept.ready:
        deliveries.append(kept.ready.popleft())
    for delivery in deliveries:
        assert delivery.cursor == Cursor(delivery.envelope.seq, message_hash(delivery.raw))
    return [delivery.raw for delivery in deliveries]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(["pass", "lose", "twice", "late"]), min_size=len(ROWS), max_size=len(ROWS)),
       st.integers(1, 9))  # fmt: skip
def test_whatever_the_live_feed_does_every_message_is_delivered_once_in_order(
    fates: list[str], every: int
) -> None:
    kept = keeper(Cursor())
    got: list[bytes] = []
    late: list[bytes] = []
    for count, (raw, fate) in enumerate(zip(ROWS, fates, strict=True), 1):
        for frame in {"pass": [raw], "lose": [], "twice": [raw, raw], "late": []}[fate]:
            kept.live(frame, 0)
        late += [raw] if fate == "late" else []
        if count % every == 0:
            catch_up(kept, ROWS[:count])
            for frame in late:
                kept.live(frame, 0)
            late = []
        got += taken(kept)
    kept.live(alive(len(ROWS)), 0)
    catch_up(kept, ROWS)
    assert got + taken(kept) == ROWS
    assert not kept.behind()


def test_without_a_cursor_it_joins_at_the_snapshot_and_drops_what_that_covers() -> None:
    kept = keeper()
    for raw in ROWS[8:12]:
        kept.live(raw, 0)
    assert kept.behind()
    catch_up(kept, ROWS[:10])
    assert kept.snapshot == fold(Snapshot(table=TABLE, audience=Audience.PUBLIC), ROWS[:10])
    assert taken(kept) == ROWS[10:12]


def test_it_goes_on_after_a_stored_cursor_without_waiting_for_a_live_message() -> None:
    kept = keeper(Cursor(5, message_hash(ROWS[4])))
    catch_up(kept, ROWS)
    assert taken(kept) == ROWS[5:]
    assert (kept.gaps, kept.behind()) == (0, False)


def test_alive_alone_shows_that_the_last_message_was_lost() -> None:
    kept = keeper(Cursor())
    catch_up(kept, ROWS[:3])
    assert not kept.behind()
    kept.live(alive(4), 0)
    assert (kept.behind(), kept.gaps) == (True, 1)
    catch_up(kept, ROWS[:4])
    assert taken(kept) == ROWS[:4]


def test_an_older_epoch_is_refused_live_and_accepted_in_replay() -> None:
    builder, outbox = envelopes(), MemoryOutbox()
    for epoch in (1, 2):
        for events, at in normal_round(epoch, epoch=epoch):
            outbox.add(builder.build(events, at))
    rows = outbox.rows[Audience.PUBLIC]
    kept = keeper(Cursor())
    kept.live(alive(len(rows), epoch=2, rows=rows), 0)
    kept.live(rows[0], 0)
    assert (kept.refused, taken(kept)) == (1, [])
    catch_up(kept, rows)
    assert taken(kept) == rows
    kept.live(alive(len(rows), epoch=1, rows=rows), STALE_US)
    assert (kept.refused, kept.stale(STALE_US)) == (2, True)
    [foreign_run] = envelopes().build([ev.TableClosed()], stamp(1, "closed", epoch=1))[Audience.PUBLIC]
    kept.live(foreign_run, 0)
    assert (kept.refused, taken(kept)) == (3, [])


@pytest.mark.parametrize("frame", ["message", "alive"])
def test_after_an_older_epoch_no_bets_are_opened_until_replay_has_answered(frame: str) -> None:
    builder, outbox = envelopes(), MemoryOutbox()
    for epoch in (1, 2):
        for events, at in normal_round(epoch, epoch=epoch):
            outbox.add(builder.build(events, at))
    rows = outbox.rows[Audience.PUBLIC]
    kept = keeper(Cursor())
    catch_up(kept, rows)
    kept.live(alive(len(rows), epoch=2, rows=rows), 0)
    assert not kept.behind()
    kept.live(rows[0] if frame == "message" else alive(1, epoch=1, rows=rows, at_us=0), 0)
    assert kept.behind()
    catch_up(kept, rows)
    assert (kept.behind(), kept.gaps, taken(kept)) == (False, 0, rows)


@pytest.mark.parametrize("epoch", [1, 2, 3])
def test_a_journal_that_has_lost_epochs_is_noticed_before_its_numbers_catch_up(epoch: int) -> None:
    """Whether it runs under an older epoch, under the same one again, or already under a later one."""
    kept = keeper()
    kept.live(alive(9, epoch=2, at_us=10), 0)
    kept.live(alive(9, epoch=2, at_us=11), 0)
    with pytest.raises(ChainBroken, match="its journal has lost what was sent"):
        kept.live(alive(4, epoch=epoch, at_us=20), 0)


def test_a_journal_that_has_lost_epochs_and_has_the_same_number_again_is_noticed() -> None:
    kept = keeper()
    kept.live(alive(9, epoch=2, at_us=10), 0)
    with pytest.raises(ChainBroken, match="another hash than it said before"):
        kept.live(alive(9, epoch=3, at_us=20).replace(message_hash(ROWS[8]).encode(), b"f" * 64), 0)
    with pytest.raises(ChainBroken, match="lost what was sent"):
        kept.live(alive(9, epoch=1, at_us=20), 0)


def test_an_alive_that_comes_late_is_no_loss() -> None:
    kept = keeper()
    kept.live(alive(9, epoch=2, at_us=10), 0)
    kept.live(alive(4, epoch=1, at_us=5), 0)
    kept.live(alive(8, epoch=2, at_us=9), 0)
    kept.live(alive(9, epoch=3, at_us=11), 0)
    assert kept.refused == 1


def test_a_wrong_prevhash_waits_for_what_replay_says() -> None:
    kept = keeper(Cursor())
    catch_up(kept, ROWS[:3])
    forged = ROWS[3].replace(message_hash(ROWS[2]).encode(), b"f" * 64)
    assert forged != ROWS[3]
    kept.live(forged, 0)
    assert (kept.refused, kept.behind()) == (1, True)
    catch_up(kept, ROWS[:4])
    assert taken(kept) == ROWS[:4]


def test_a_held_message_of_another_chain_is_not_delivered() -> None:
    kept = keeper(Cursor())
    catch_up(kept, ROWS[:3])
    kept.live(ROWS[4].replace(message_hash(ROWS[3]).encode(), b"f" * 64), 0)
    kept.live(ROWS[3], 0)
    assert taken(kept) == ROWS[:4]
    assert (kept.refused, kept.behind()) == (1, True)
    catch_up(kept, ROWS[:5])
    assert taken(kept) == ROWS[4:5]


@pytest.mark.parametrize("cursor", [Cursor(5, "f" * 64), Cursor(len(ROWS) + 1, "f" * 64)])
def test_a_cursor_of_another_history_stops_the_consumer(cursor: Cursor) -> None:
    with pytest.raises(ChainBroken):
        catch_up(keeper(cursor), ROWS)


def test_alive_with_another_hash_or_a_shorter_new_run_stops_the_consumer() -> None:
    kept = keeper(Cursor())
    catch_up(kept, ROWS[:5])
    kept.live(alive(4), 0)
    with pytest.raises(ChainBroken, match="another hash"):
        kept.live(alive(5).replace(message_hash(ROWS[4]).encode(), b"f" * 64), 0)
    with pytest.raises(ChainBroken, match="a new run ends at 4, 5 was received"):
        kept.live(alive(4, epoch=2), 0)


@pytest.mark.parametrize(
    "frame",
    [
        ROWS[0].replace(b"tablectl/rp1/simulated", b"tablectl/rp1/live"),
        ROWS[0].replace(b"rp1/public/1", b"rp2/public/1"),
        filled(0).rows[Audience.BETTING][0],
        alive(0, source="tablectl/rp1/live"),
    ],
)
def test_foreign_messages_are_never_delivered(frame: bytes) -> None:
    kept = keeper(Cursor())
    with pytest.raises(ForeignSource):
        kept.live(frame, 0)
    assert (kept.cursor, taken(kept)) == (Cursor(), [])


def test_a_foreign_snapshot_or_replay_is_refused() -> None:
    for change in ((b"tablectl/rp1/simulated", b"tablectl/rp1/training"),):
        for cursor in (None, Cursor()):
            kept = keeper(cursor)
            request = kept.ask(0)
            assert request is not None
            with pytest.raises(ForeignSource):
                kept.replayed([frame.replace(*change) for frame in replay(request, ROWS)])
            assert taken(kept) == []


def test_it_is_stale_after_three_seconds_without_alive_whatever_else_comes() -> None:
    kept = keeper(Cursor())
    kept.live(alive(0), 1_000_000)
    kept.live(ROWS[0], 3_999_999)
    assert not kept.stale(3_999_999)
    assert kept.stale(4_000_000)
    kept.live(alive(1), 4_000_001)
    assert not kept.stale(4_000_001)


def test_a_request_is_repeated_each_second_under_a_new_id_and_late_replies_are_ignored() -> None:
    kept = keeper(Cursor())
    first = kept.ask(0)
    assert first is not None
    assert kept.ask(RETRY_US - 1) is None
    second = kept.ask(RETRY_US)
    assert second is not None and second != first
    kept.replayed(replay(first, ROWS))
    assert taken(kept) == []
    kept.replayed(replay(second, ROWS[:3]))
    kept.replayed(replay(second, ROWS[:3]))
    assert taken(kept) == ROWS[:3]


def test_a_server_that_brings_nothing_new_is_not_asked_in_a_circle() -> None:
    kept = keeper(Cursor())
    kept.live(alive(3), 0)
    request = kept.ask(0)
    assert request is not None
    kept.replayed(replay(request, []))
    assert kept.behind()
    assert kept.ask(RETRY_US - 1) is None
    assert kept.ask(RETRY_US) is not None


def test_messages_beyond_a_gap_are_held_up_to_a_bound_and_the_rest_fetched() -> None:
    builder = envelopes()
    events = [ev.DeckShuffled()] * (HELD_MAX + 50)
    rows = list(builder.build(events, stamp(1, "shuffling"))[Audience.PUBLIC])
    kept = keeper(Cursor())
    for raw in rows[1:]:
        kept.live(raw, 0)
    kept.live(rows[0], 0)
    assert len(taken(kept)) == HELD_MAX + 1
    assert kept.behind()
    catch_up(kept, rows)
    check_chain([*rows[: HELD_MAX + 1], *taken(kept)])
    assert not kept.behind()


def test_a_refusing_or_broken_server_is_named() -> None:
    kept = keeper(Cursor())
    request = kept.ask(0)
    assert request is not None
    gone = Marker(request=json.loads(request)["request"], end=True, reason=Reason.GONE, text="too old")
    with pytest.raises(ReplayRefused, match="rp1/public: GONE: too old"):
        kept.replayed([encode(gone)])
    for frames in ([], [b"{}"]):
        with pytest.raises(MalformedMessage):
            kept.replayed(frames)
    with pytest.raises(MalformedMessage, match="alive of"):
        kept.live(b'{"alive":1}', 0)
