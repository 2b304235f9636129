"""One hidden card is another one: the tape with it, and the comparison of what two stations then say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from e2e.taped import FRAME_END, Deed, Tape, Taped, frame, is_shuffle
from e2e.witness import Moment, Output, Witness

from controller.cards import Card
from controller.table.inputs import EnterCard

Where = tuple[str, int]

ALLOWED: Mapping[tuple[str, str], tuple[str, str]] = {
    ("live.betting", "tablectl.card.shown.v1"): ("data", "card"),
    ("live.betting", "tablectl.hands.offered.v1"): ("data", "hands"),
}
"""What may differ in messages when a switch card is another one: its buyers must see it (RPL-17), and the
betting system must know what the patterns are worth that hold it (RPL-82). Nothing else of them may."""
SNAPSHOTS_ALLOWED = frozenset({"snapshot.betting", "state.betting"})
"""Where the fold of these two shows: the cards of the place `switch`, the hands of `final_options`."""
SWITCH, FINAL_OPTIONS = "switch", "final_options"


class Hidden(NamedTuple):
    """A card that was bound by a commitment: where it has lain, and the moment that opened it."""

    card: Card
    places: frozenset[Where]
    opened_at: int


def hidden_cards(witness: Witness) -> list[Hidden]:
    """Return every card of the session whose commitment was opened, in the order of opening."""
    places: dict[str, set[Where]] = {}
    opened_at: dict[str, int] = {}
    for moment, message in witness.messages("audit"):
        data = message["data"]
        for opened in (*data.get("cards", ()), *data.get("opened", ())):
            places.setdefault(opened["card"], set()).add((opened["place"], opened["n"]))
            opened_at.setdefault(opened["card"], moment)
    return [Hidden(Card.parse(card), frozenset(places[card]), at) for card, at in opened_at.items()]


def frames(tape: Tape) -> Iterator[tuple[list[int], bytes]]:
    """Yield the frames since the deck lay in the shoe: the numbers of the deeds that brought it, its bytes.

    Before that the whole deck was scanned in, which tells nothing of where a card lies.
    """
    pieces: list[int] = []
    in_the_shoe = False
    for index, taped in enumerate(tape):
        in_the_shoe = in_the_shoe or is_shuffle(taped.press)
        if taped.deed is not Deed.SEND or not in_the_shoe:
            continue
        if pieces and tape[pieces[-1]].at_us != taped.at_us:
            pieces = []  # What has been sent before ran into its time-out.
        pieces.append(index)
        if taped.data.endswith(FRAME_END):
            yield pieces, b"".join(tape[piece].data for piece in pieces)
            pieces = []


def damaged(data: bytes) -> bytes:
    """Return a frame as the fault `damaged-frame` sends it."""
    return data[:1] + bytes((data[1] | 0x80,)) + data[2:]


def with_frame(tape: Tape, pieces: list[int], data: bytes) -> Tape:
    """Return the tape with a frame replaced; a split one stays split at the same byte."""
    changed = list(tape)
    for piece in pieces[:-1]:
        length = len(tape[piece].data)
        changed[piece] = tape[piece]._replace(data=data[:length])
        data = data[length:]
    changed[pieces[-1]] = tape[pieces[-1]]._replace(data=data)
    return changed


def exchanged(tape: Tape, card: Card, other: Card) -> Tape:
    """Return the tape with `other` wherever `card` is scanned, fails to be, or is entered by hand."""
    scanned = frame(card)
    swaps = {scanned: frame(other), damaged(scanned): damaged(frame(other))}
    changed = tape
    for pieces, data in frames(tape):
        if data in swaps:
            changed = with_frame(changed, pieces, swaps[data])
    changed = [_entered(taped, card, other) for taped in changed]
    assert changed != tape, f"{card} was never scanned"
    return changed


def entered_in(taped: Taped) -> str | None:
    """Return the card that a person enters by hand, if this is what is done."""
    command = taped.press.command if taped.press is not None else None
    return command.card if isinstance(command, EnterCard) else None


def _entered(taped: Taped, card: Card, other: Card) -> Taped:
    if entered_in(taped) != str(card) or taped.press is None:
        return taped
    command = msgspec.structs.replace(taped.press.command, card=str(other))
    return taped._replace(press=msgspec.structs.replace(taped.press, command=command))


def first_difference(
    one: list[Moment], two: list[Moment], until: int | None = None, places: Iterable[Where] = ()
) -> str | None:
    """Say where two stations first differ before moment `until`; None when they say the same.

    `places` are those of the exchanged card, to know what the betting system may be told of it.
    """
    told = {n for place, n in places if place == SWITCH}
    mine, other = one[:until], two[:until]
    for index, (a, b) in enumerate(zip(mine, other, strict=False)):
        left, right = [_judged(output, told) for output in a], [_judged(output, told) for output in b]
        if [output.channel for output in left] != [output.channel for output in right]:
            return f"moment {index}: {_channels(left)}, or {_channels(right)}"
        for x, y in zip(left, right, strict=True):
            if x != y:
                return f"moment {index}: {x.channel}: {x.raw.decode()}\n{y.raw.decode()}"
    return None if len(mine) == len(other) else f"{len(mine)} moments, or {len(other)}"


def _channels(outputs: list[Output]) -> str:
    return " ".join(output.channel for output in outputs)


def _judged(output: Output, told: set[int]) -> Output:
    """Take out what the betting system may know of the switch cards numbered in `told`."""
    if not told or not output.channel.endswith(".betting") or output.raw.startswith(b'{"alive"'):
        return output
    value = json.loads(output.raw)
    if output.channel in SNAPSHOTS_ALLOWED:
        _allow_in_snapshot(value, told)
    else:
        _allow_in_message(output.channel, value, told)
    return Output(output.channel, json.dumps(value).encode())


def _allow_in_message(channel: str, value: dict[str, Any], told: set[int]) -> None:
    path = ALLOWED.get((channel, value["type"]))
    if path is None:
        return
    data = value["data"]
    if (data.get("place") == SWITCH and data["n"] in told) or data.get("window") == FINAL_OPTIONS:
        value[path[0]][path[1]] = "allowed"


def _allow_in_snapshot(value: dict[str, Any], told: set[int]) -> None:
    for laid in value.get("places", {}).get(SWITCH, ()):
        if laid["n"] in told and "card" in laid:
            laid["card"] = "allowed"
    for window in value.get("windows", ()):
        if window["window"] == FINAL_OPTIONS and "hands" in window:
            window["hands"] = "allowed"
