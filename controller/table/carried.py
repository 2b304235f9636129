"""The `carried` record: all that a table takes from one round to the next.

Written at every round boundary, in the transaction of the step that reaches it. Recovery is this record
and the inputs after it, through the same code.
"""

from __future__ import annotations

import msgspec

from controller.table.charts import Phase
from controller.table.consumers import Acknowledgements
from controller.table.events import BurnReason, OpenedCard
from controller.table.shoe_state import DeckInUse, KeptCard, Reads, Receipt, Shoe
from controller.table.staff import Duty, Halts
from controller.table.state import Proposal, RequestAnswer, Revision, TableState, Where, register_of

VERSION = 1


class CarriedShoe(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The deck in use, or what has been seen of the one that is being loaded; see `Shoe`.

    It names cards, and is in the journal alone.
    """

    deck: DeckInUse | None = None
    decks_count: int = 0
    scanning: tuple[str, ...] = ()
    receipt: Receipt | None = None
    supervised: bool = False
    last_collected: tuple[str, ...] = ()
    wear: dict[str, Reads] = {}
    worn: tuple[str, ...] = ()
    out: tuple[tuple[str, Where], ...] = ()
    """The cards that are out of a shoe that goes on, in the order in which they left it."""
    burns_due: tuple[BurnReason, ...] = ()
    last_round: int | None = None
    kept: tuple[KeptCard, ...] = ()
    sealed: tuple[OpenedCard, ...] = ()
    stands_by: bool = False


class Carried(msgspec.Struct, frozen=True, kw_only=True):
    """The table between two rounds; `now` is the time of the input that reached the boundary."""

    version: int
    phase: Phase
    epoch: int
    program: str
    rules: str
    now: int
    round_no: int
    incidents_count: int
    timers_count: int
    requests: dict[str, RequestAnswer]
    scanners_up: tuple[str, ...]
    corrections: dict[str, Revision] = {}
    proposal: Proposal | None = None
    devices: dict[str, str] = {}
    strange_devices: dict[str, str] = {}
    quarantined: tuple[str, ...] = ()
    disk_free_mb: int | None = None
    duty: Duty = Duty()
    halts: Halts = Halts()
    acknowledgements: Acknowledgements = Acknowledgements()
    shoe: CarriedShoe = CarriedShoe()


def encode(t: TableState) -> bytes | None:
    """Return the record, or None while a round or an incident is open."""
    if t.round is not None or t.incidents:
        return None
    assert not t.deadlines and not t.deck_suspect and t.shoe.suspect is None
    record = Carried(
        version=VERSION,
        phase=t.phase,
        epoch=t.epoch,
        program=t.program,
        rules=t.rules,
        now=t.now,
        round_no=t.round_no,
        incidents_count=t.incidents_count,
        timers_count=t.timers_count,
        requests=t.requests,
        scanners_up=tuple(sorted(t.scanners_up)),
        corrections=t.corrections,
        proposal=t.proposal,
        devices=t.devices,
        strange_devices=t.strange_devices,
        quarantined=tuple(sorted(t.quarantined)),
        disk_free_mb=t.disk_free_mb,
        duty=t.duty,
        halts=t.halts,
        acknowledgements=t.acknowledgements,
        shoe=_carry(t),
    )
    return msgspec.json.encode(record, order="deterministic")


def _carry(t: TableState) -> CarriedShoe:
    shoe = t.shoe
    goes_on = t.game.shoe is not None and shoe.deck is not None
    return CarriedShoe(
        deck=shoe.deck,
        decks_count=shoe.decks_count,
        scanning=tuple(shoe.scanning),
        receipt=shoe.receipt,
        supervised=shoe.supervised,
        last_collected=shoe.last_collected,
        wear=shoe.wear,
        worn=shoe.worn,
        out=t.register.out() if goes_on else (),
        burns_due=tuple(shoe.burns_due),
        last_round=shoe.last_round,
        kept=tuple(shoe.kept),
        sealed=tuple(shoe.sealed),
        stands_by=shoe.stands_by,
    )


def _restore_shoe(t: TableState, record: CarriedShoe) -> None:
    t.shoe = Shoe(
        deck=record.deck,
        decks_count=record.decks_count,
        scanning=list(record.scanning),
        receipt=record.receipt,
        supervised=record.supervised,
        last_collected=record.last_collected,
        wear=dict(record.wear),
        worn=record.worn,
        burns_due=list(record.burns_due),
        last_round=record.last_round,
        kept=list(record.kept),
        sealed=list(record.sealed),
        stands_by=record.stands_by,
    )
    for deck in t.decks:
        if record.deck is not None and deck.name == record.deck.name:
            t.register = register_of(deck, t.decks, t.other_decks)
            for code, where in record.out:
                t.register.take(code, where)


def restore(t: TableState, raw: bytes) -> None:
    """Set a fresh table to what `raw` says. Raises msgspec.ValidationError for anything else."""
    record = msgspec.json.decode(raw, type=Carried)
    if record.version != VERSION:
        raise msgspec.ValidationError(f"carried record of version {record.version}, expected {VERSION}")
    t.phase = record.phase
    t.epoch, t.program, t.rules, t.now = record.epoch, record.program, record.rules, record.now
    t.round_no = record.round_no
    t.incidents_count = record.incidents_count
    t.timers_count = record.timers_count
    t.requests = dict(record.requests)
    t.scanners_up = set(record.scanners_up)
    t.corrections, t.proposal = dict(record.corrections), record.proposal
    t.devices, t.strange_devices = dict(record.devices), dict(record.strange_devices)
    t.quarantined, t.disk_free_mb = frozenset(record.quarantined), record.disk_free_mb
    t.duty, t.halts = record.duty, record.halts
    t.acknowledgements = record.acknowledgements
    _restore_shoe(t, record.shoe)
