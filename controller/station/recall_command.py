"""`tablectl recall JOURNAL ROUND`: one ended round as a person wants to read it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from controller.games.published import Comparison, Coup, DealerHand, Exclusion, RowName, VoidedDeal, Wager
from controller.journal import JournalError
from controller.station.errors import StationError
from controller.station.recall import Recalled, RecalledCard, recall
from controller.station.recalled_corrections import RecalledCorrection
from controller.station.result_groups import HandGroup, RecalledBox, Result
from controller.station.terminal import FINDING, FINE, USAGE, clock_time, complain, date_and_time, say_json
from controller.station.watch import card_text
from controller.table.texts import PROMPTS, place_text

PLAIN_WIDTH = 132
"""Columns when the output is no terminal."""
PATTERNS_SHOWN = 6

COMPARISONS = {
    Comparison.WIN: "beats the dealer",
    Comparison.LOSE: "loses to the dealer",
    Comparison.TIE: "ties with the dealer",
    Comparison.NOT_QUALIFIED: "dealer does not qualify",
}
EXCLUSIONS = {
    Exclusion.BOX_EMPTY: "nobody had bet here",
    Exclusion.NOBODY_DREW: "nobody had drawn",
    Exclusion.ALL_FOLDED: "everybody had folded",
}


def add_recall(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("recall", help="tell one ended round from the journal")
    parser.add_argument("journal", type=Path, help="a journal file, or a table's folder of them")
    parser.add_argument("round", help="number of the round, or its id such as rp1-17")
    parser.add_argument("--json", action="store_true", help="the round as one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Tell the round. Returns 1 when it is open, not there or damaged, 2 when there is no such journal."""
    where: Path = arguments.journal
    if not where.exists():
        complain(f"{where}: no such journal; give a .journal file or the folder of a table")
        return USAGE
    try:
        told = recall(where, arguments.round)
    except (StationError, JournalError) as error:
        complain(error)
        return FINDING
    except (msgspec.MsgspecError, StopIteration, KeyError, IndexError) as error:
        complain(f"{where}: round {arguments.round} can't be read: {error!r}; verify the journal")
        return FINDING
    if arguments.json:
        say_json(told)
    else:
        console = Console()
        if not console.is_terminal:
            console = Console(width=PLAIN_WIDTH)
        console.print(render_round(told), highlight=False)
    return FINE


def render_round(told: Recalled) -> RenderableType:
    """Return the whole round for a terminal or a printer."""
    parts: list[RenderableType] = [_heading(told), _windows(told), _cards(told)]
    if told.incidents:
        parts.append(_incidents(told))
    if told.result is not None:
        parts.extend(_result(told.result))
    parts.extend(_voided(voided) for voided in told.voided)
    for correction in told.corrections:
        parts.extend(_correction(correction))
    parts.append(_commitments(told))
    parts.append(_presses(told))
    return Group(*parts)


def _heading(told: Recalled) -> RenderableType:
    first, last = told.steps
    heading = Text()
    heading.append(f"Round {told.roundid}", "bold")
    heading.append(f"  {told.game}, table {told.table}\n")
    heading.append(f"{date_and_time(told.opened_at_us)} to {clock_time(told.ended_at_us)} UTC")
    if told.dealers:
        heading.append(f", dealt by {', then '.join(told.dealers)}")
    heading.append(f", {told.journal} steps {first} to {last}, rules {told.rules[:12]}\n")
    if told.cancelled is not None:
        where = f" at {place_text(told.cancelled.place)}" if told.cancelled.place else ""
        heading.append(
            f"CANCELLED: {told.cancelled.reason}{where}, incident {told.cancelled.incident}. "
            f"Refunded: {told.cancelled.refund}, bonus stakes too (RPL-73)\n",
            "bold",
        )
    else:
        heading.append("CONFIRMED\n", "bold")
    for redeal in told.redeals:
        where = f" at {place_text(redeal.place)}" if redeal.place else ""
        heading.append(
            f"DEALT ANEW at {clock_time(redeal.at_us)}: {redeal.reason}{where}, incident {redeal.incident}; "
            f"deal {redeal.deal} follows, bets stand (OAB-24)\n"
        )
    for correction in told.corrections:
        heading.append(f"{_corrected(correction)}\n", "bold")
    for at_us in told.restarts:
        heading.append(f"The controller started again at {clock_time(at_us)}\n")
    return heading


def _corrected(correction: RecalledCorrection) -> str:
    what = f"the cards were {', '.join(correction.cards)}" if correction.cards else "as first confirmed"
    what = "every wager refunded" if correction.refund else what
    by = " and ".join(correction.by)
    return f"CORRECTED, revision {correction.rev}: {what}; {correction.reason}, by {by} ({correction.cell})"


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _windows(told: Recalled) -> RenderableType:
    table = _table("Windows", "window", "opened", "to close", "ended", "by", "told by the betting system")
    for window in told.windows:
        facts = ", ".join(f"{name} {fact}" for name, fact in window.facts.items()) or "nothing"
        ended = "" if window.ended_at_us is None else clock_time(window.ended_at_us)
        table.add_row(
            window.window,
            clock_time(window.opened_at_us),
            clock_time(window.closes_at_us),
            ended,
            window.ended_by,
            f"{facts}{'; acknowledged' if window.acknowledged else '; time ran out'}",
        )
    return table


def _cards(told: Recalled) -> RenderableType:
    title = "Cards, in the order in which they left the shoe"
    table = _table(title, "", "at", "place", "card", "laid", "turned", "")
    turned = {place: at_us for at_us, place in told.turned}
    for index, card in enumerate(told.cards, 1):
        opened = turned.get(card.place) if card.face == "down" and card.fate == "played" else None
        table.add_row(
            str(index),
            clock_time(card.at_us),
            f"{place_text(card.place)} {card.n}",
            Text("not opened") if card.card is None else card_text(card.card),
            f"face {card.face}",
            "" if opened is None else clock_time(opened),
            _fate(card),
        )
    for at_us, place, n in told.laid_aside:
        table.add_row("", clock_time(at_us), f"{place_text(place)} {n}", "", "laid aside", "", "purchase")
    return table


def _fate(card: RecalledCard) -> str:
    notes = []
    if card.entered_by:
        notes.append(f"MANUAL, by {' and '.join(card.entered_by)}")
    if card.deal > 1 or card.fate == "abandoned":
        notes.append(f"deal {card.deal}")
    if card.reading > 1:
        notes.append(f"reading {card.reading}")
    if card.fate != "played":
        notes.append(f"{card.fate}: {card.reason}")
    if card.closed_by is not None:
        notes.append(f"closed by {card.closed_by}")
    if card.checked is False:
        notes.append("COMMITMENT DOES NOT MATCH")
    elif card.commitment is not None and card.checked is None and card.closed_by is None:
        notes.append("COMMITMENT NOT OPENED")
    return ", ".join(notes)


def _incidents(told: Recalled) -> RenderableType:
    table = _table("Incidents", "", "opened", "what", "cell", "place", "asked", "verdict", "by", "closed")
    for incident in told.incidents:
        where = "" if incident.place is None else f"{place_text(incident.place)} {incident.n or ''}".strip()
        reason = "" if incident.reason is None else f" ({incident.reason})"
        table.add_row(
            str(incident.incident),
            clock_time(incident.at_us),
            incident.kind,
            incident.cell,
            where,
            PROMPTS.get(incident.prompt, incident.prompt).format(place=where or "the table", n=incident.n),
            f"{incident.verdict or 'open'}{reason}",
            incident.decided_by or "the cell itself",
            "" if incident.closed_at_us is None else clock_time(incident.closed_at_us),
        )
    return table


# The result.


def _result(result: Result) -> Iterator[RenderableType]:
    if result.coup is not None:
        yield from _coup(result.coup, result.boxes)
        return
    assert result.dealer is not None, "a round has a dealer or is a coup"
    yield Text.assemble("Dealer  ", _hand(result.dealer))
    if result.dealer_after_purchase is not None:
        yield Text.assemble("Dealer after the purchase  ", _hand(result.dealer_after_purchase))
    for one in result.boxes:
        yield _box(one)
    prices = ", ".join(f"{wager} {result.prices[wager]}" for wager in Wager if wager in result.prices)
    yield Text(f"Prices in Antes: {prices}. What each player chose, only the betting system knows.\n")


def _coup(coup: Coup, boxes: tuple[RecalledBox, ...]) -> Iterator[RenderableType]:
    for name, side in (("Player", coup.player), ("Banker", coup.banker)):
        yield Text.assemble(f"{name}  ", _card_row(side.cards), f"  {side.total}")
    yield Text(f"Winner  {coup.winner.lower()}")
    for one in boxes:
        for group in one.groups:
            yield Text(f"{_compared(group)} {_wagers(group)}\n".lstrip())


def _correction(correction: RecalledCorrection) -> Iterator[RenderableType]:
    when = f"{date_and_time(correction.at_us)} UTC, {correction.journal} step {correction.step}"
    sealed = ", ".join(f"{audience} {count}" for audience, count in sorted(correction.sealed.items()))
    yield Text(
        f"Revision {correction.rev}, {when}, incident {correction.incident}; messages: {sealed}", "bold"
    )
    yield from _result(correction.result)


def _voided(voided: VoidedDeal) -> RenderableType:
    """Return what comes back of an abandoned deal."""
    boxes = ", ".join(place_text(name) for name in sorted(voided.boxes))
    return Text(
        f"Deal {voided.deal} is void: of {boxes or 'no box'} come back exchange fees and Bets (OAB-24)\n"
    )


def _hand(dealer: DealerHand) -> Text:
    name = "no game, does not qualify" if dealer.combination is None else str(dealer.combination.kind)
    return Text.assemble(_card_row(dealer.cards), f"  {name}")


def _card_row(cards: Iterable[str]) -> Text:
    return Text(" ").join(card_text(card) for card in cards)


def _box(one: RecalledBox) -> RenderableType:
    dealt = one.groups[0].patterns[0].cards if one.groups else ()  # A folded box has no hand left.
    title = f"{place_text(one.box)}, dealt {' '.join(dealt)}" if dealt else place_text(one.box)
    table = _table(title, "played", "hand", "against the dealer", "wagers")
    for group in one.groups:
        table.add_row(_patterns(group), _worth(group), _compared(group), _wagers(group))
    if one.fold is not None:
        table.add_row("folded", "", "", _row_text(one.fold))
    if one.bonus is not None:
        table.add_row("bonus bets", "", "", _row_text(one.bonus))
    return table


def _patterns(group: HandGroup) -> str:
    names = [_pattern_text(one.pattern) for one in group.patterns]
    shown = "; ".join(names[:PATTERNS_SHOWN])
    more = len(names) - PATTERNS_SHOWN
    return shown if more <= 0 else f"{shown}; and {more} more"


def _pattern_text(pattern: str) -> str:
    """Return what people call a way of playing."""
    kind, _, positions = pattern.partition(":")
    named = {"stay": "as dealt", "sixth": "sixth card", "exchange": "exchange"}
    return f"{named.get(kind, kind)} {positions}".rstrip()


def _worth(group: HandGroup) -> str:
    if group.excluded is not None:
        return ""
    return f"{' + '.join(group.combinations)}, {group.odds} to 1" if group.combinations else "no game"


def _compared(group: HandGroup) -> str:
    if group.excluded is not None:
        return f"not played: {EXCLUSIONS[group.excluded]}"
    text = "" if group.comparison is None else COMPARISONS[group.comparison]
    if group.bought_comparison is None:
        return text
    return f"{text}; after the purchase: {COMPARISONS[group.bought_comparison]}"


def _wagers(group: HandGroup) -> str:
    rows = group.rows.items()
    return "\n".join(
        _row_text(row) if name is RowName.PLAIN else f"{name.replace('_', ' and ')}: {_row_text(row)}"
        for name, row in rows
    )


def _row_text(row: dict[Wager, str]) -> str:
    return ", ".join(f"{wager} {outcome}" for wager, outcome in row.items())


# What can be checked, and who pressed what.


def _commitments(told: Recalled) -> RenderableType:
    bound, held = told.commitments
    verdict = "all opened, and each card is the one it was bound to" if bound == held else "NOT ALL HOLD"
    text = Text(f"Commitments: {bound}, {held} checked: {verdict}\n", "" if bound == held else "bold")
    sealed = ", ".join(f"{audience} {one.count}" for audience, one in sorted(told.sealed.items()))
    text.append(f"Messages of the round: {sealed}\n")
    return text


def _presses(told: Recalled) -> RenderableType:
    table = _table("Presses and facts", "at", "what", "by", "role", "")
    for press in told.presses:
        refused = "" if press.refused is None else f"refused: {press.refused}"
        table.add_row(clock_time(press.at_us), press.what, press.actor, press.role, refused)
    return table
