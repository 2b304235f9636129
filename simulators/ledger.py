"""The books of the wallet: entries whose postings add up to nothing, in SQLite.

An account's balance is what its owner may claim of us: purses are positive, `cash` is what players have
paid in and therefore negative, `house` what the house has won, `claims/...` negative while a player owes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import Any

import apsw
import msgspec

HOUSE = "house"
CASH = "cash"
WITHDRAWAL = "/withdrawn"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS entry (
    id INTEGER PRIMARY KEY, tableid TEXT NOT NULL, roundid TEXT NOT NULL, rev INTEGER NOT NULL,
    bet TEXT NOT NULL, kind TEXT NOT NULL, amount INTEGER NOT NULL, note TEXT NOT NULL,
    UNIQUE (tableid, roundid, rev, bet)
);
CREATE TABLE IF NOT EXISTS posting (
    entry INTEGER NOT NULL REFERENCES entry (id), account TEXT NOT NULL, amount INTEGER NOT NULL,
    PRIMARY KEY (entry, account)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS account (name TEXT PRIMARY KEY, balance INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS round (
    tableid TEXT NOT NULL, roundid TEXT NOT NULL, state TEXT NOT NULL, rev INTEGER NOT NULL,
    slips BLOB, outcome BLOB, deal INTEGER NOT NULL, PRIMARY KEY (tableid, roundid)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cursor (tableid TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS ended (tableid TEXT PRIMARY KEY, roundid TEXT NOT NULL, rev INTEGER NOT NULL);
"""


class Kind(StrEnum):
    """What an entry books."""

    DEPOSIT = "deposit"
    DEBIT = "debit"
    REFUSED = "refused"
    """A debit that was not taken; kept, because its answer must not change."""
    WITHDRAWN = "withdrawn"
    CREDIT = "credit"


class RoundState(StrEnum):
    """What the table has said of a round."""

    OPEN = "open"
    CONFIRMED = "confirmed"
    CANCELLED = "cancelled"


class Entry(msgspec.Struct, frozen=True):
    """One booking, named by (round, rev, bet). Debits are of revision 0, deposits of no round."""

    roundid: str
    rev: int
    bet: str
    kind: Kind
    amount: int
    note: str = ""


class RoundRecord(msgspec.Struct, frozen=True):
    """A round as the wallet knows it. `slips` and `outcome` are JSON, None until they are here.

    `deal` is the one whose slips were handed over last.
    """

    state: RoundState = RoundState.OPEN
    rev: int = 0
    slips: bytes | None = None
    outcome: bytes | None = None
    deal: int = 1


def purse(player: str) -> str:
    """Name the account of a player's money."""
    return f"player/{player}"


def claims(player: str) -> str:
    """Name the account of what a player owes."""
    return f"claims/{player}"


class Ledger:
    """The books of one table in one database file, or in memory. Every change is inside a `transaction`."""

    def __init__(self, path: Path | None, table: str) -> None:
        self._table = table
        self._db = apsw.Connection(":memory:" if path is None else str(path))
        self._db.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;")
        self._db.execute(_SCHEMA)

    def transaction(self) -> AbstractContextManager[Any]:
        """Keep all or nothing of what is done inside; may be nested."""
        return self._db

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def post(self, entry: Entry, postings: Mapping[str, int]) -> None:
        """Book an entry. Its postings add up to 0; an entry of that name must not exist."""
        assert sum(postings.values()) == 0, f"{entry.bet}: postings add up to {sum(postings.values())}"
        self._db.execute(
            "INSERT INTO entry (tableid, roundid, rev, bet, kind, amount, note) VALUES (?,?,?,?,?,?,?)",
            (self._table, entry.roundid, entry.rev, entry.bet, entry.kind, entry.amount, entry.note),
        )
        number = self._db.last_insert_rowid()
        moved = [(account, amount) for account, amount in postings.items() if amount]
        self._db.executemany("INSERT INTO posting VALUES (?,?,?)", [(number, *move) for move in moved])
        self._db.executemany(
            "INSERT INTO account VALUES (?,?) ON CONFLICT DO UPDATE SET balance = balance + excluded.balance",
            moved,
        )

    def withdraw(self, roundid: str, bet: str, postings: Mapping[str, int]) -> None:
        """Book the cancelling of a debit."""
        self.post(Entry(roundid, 0, bet + WITHDRAWAL, Kind.WITHDRAWN, max(postings.values())), postings)

    def is_withdrawn(self, roundid: str, bet: str) -> bool:
        """Whether a debit was cancelled."""
        return self.entry(roundid, 0, bet + WITHDRAWAL) is not None

    def entry(self, roundid: str, rev: int, bet: str) -> Entry | None:
        """Return the entry of that name."""
        return next((entry for entry in self._entries(roundid, rev, "AND bet = ?", bet)), None)

    def entries(self, roundid: str, rev: int) -> list[Entry]:
        """Return the entries of a revision, in the order in which they were booked."""
        return list(self._entries(roundid, rev, ""))

    def _entries(self, roundid: str, rev: int, where: str, *values: str) -> Iterator[Entry]:
        sql = f"SELECT bet, kind, amount, note FROM entry WHERE tableid=? AND roundid=? AND rev=? {where}"
        for bet, kind, amount, note in self._db.execute(
            sql + " ORDER BY id", (self._table, roundid, rev, *values)
        ):
            yield Entry(roundid, rev, str(bet), Kind(str(kind)), _int(amount), str(note))

    def open_debits(self, roundid: str) -> dict[str, int]:
        """Return the debits of a round that were taken and not cancelled, by bet."""
        entries = self.entries(roundid, 0)
        gone = {entry.bet.removesuffix(WITHDRAWAL) for entry in entries if entry.kind is Kind.WITHDRAWN}
        return {
            entry.bet: entry.amount for entry in entries if entry.kind is Kind.DEBIT and entry.bet not in gone
        }

    def credited(self, roundid: str, bet: str) -> int:
        """Return what a bet was credited so far, over all revisions."""
        sql = "SELECT SUM(amount) FROM entry WHERE tableid=? AND roundid=? AND bet=? AND kind=?"
        return _int(self._db.execute(sql, (self._table, roundid, bet, Kind.CREDIT)).get or 0)

    def round(self, roundid: str) -> RoundRecord:
        """Return what is known of a round; it is open as long as the table has not said otherwise."""
        sql = "SELECT state, rev, slips, outcome, deal FROM round WHERE tableid=? AND roundid=?"
        for state, rev, slips, outcome, deal in self._db.execute(sql, (self._table, roundid)):
            return RoundRecord(RoundState(str(state)), _int(rev), _blob(slips), _blob(outcome), _int(deal))
        return RoundRecord()

    def save_round(self, roundid: str, record: RoundRecord) -> None:
        """Store what is known of a round."""
        kept = (record.state, record.rev, record.slips, record.outcome, record.deal)
        self._db.execute("INSERT OR REPLACE INTO round VALUES (?,?,?,?,?,?,?)", (self._table, roundid, *kept))

    def rounds_without_slips(self) -> tuple[str, ...]:
        """Return the confirmed rounds that could not be booked yet."""
        sql = "SELECT roundid FROM round WHERE tableid=? AND state=? AND slips IS NULL ORDER BY roundid"
        return tuple(str(row[0]) for row in self._db.execute(sql, (self._table, RoundState.CONFIRMED)))

    def cursor(self) -> tuple[int, str] | None:
        """Return number and hash of the last message booked."""
        sql = "SELECT seq, hash FROM cursor WHERE tableid=?"
        for seq, last_hash in self._db.execute(sql, (self._table,)):
            return _int(seq), str(last_hash)
        return None

    def save_cursor(self, seq: int, last_hash: str) -> None:
        """Store number and hash of the message whose effect this transaction books."""
        self._db.execute("INSERT OR REPLACE INTO cursor VALUES (?,?,?)", (self._table, seq, last_hash))

    def ended(self) -> tuple[str, int] | None:
        """Return round and revision of the last end that was booked."""
        sql = "SELECT roundid, rev FROM ended WHERE tableid=?"
        for roundid, rev in self._db.execute(sql, (self._table,)):
            return str(roundid), _int(rev)
        return None

    def save_ended(self, roundid: str, rev: int) -> None:
        """Store the end whose effect this transaction books."""
        self._db.execute("INSERT OR REPLACE INTO ended VALUES (?,?,?)", (self._table, roundid, rev))

    def balance(self, account: str) -> int:
        """Return the balance of one account, 0 for a new one."""
        return _int(self._db.execute("SELECT balance FROM account WHERE name=?", (account,)).get or 0)

    def balances(self) -> dict[str, int]:
        """Return all accounts."""
        rows = self._db.execute("SELECT name, balance FROM account ORDER BY name")
        return {str(name): _int(balance) for name, balance in rows}

    def faults(self) -> Iterator[str]:
        """Add everything up again, from the postings alone, and tell what does not fit."""
        for number, amount in self._db.execute(
            "SELECT entry, SUM(amount) FROM posting GROUP BY entry HAVING SUM(amount) <> 0"
        ):
            yield f"entry {number}: its postings add up to {amount}"
        posted = dict(self._db.execute("SELECT account, SUM(amount) FROM posting GROUP BY account"))
        for name, balance in self.balances().items():
            if posted.get(name, 0) != balance:
                yield f"{name}: balance {balance}, postings {posted.get(name, 0)}"
            if balance < 0 and name.startswith(purse("")):
                yield f"{name}: balance {balance}; a purse is never below 0"
        if sum(posted.values()):
            yield f"all accounts together hold {sum(posted.values())}"


def _int(value: object) -> int:
    assert isinstance(value, int), value
    return value


def _blob(value: object) -> bytes | None:
    assert value is None or isinstance(value, bytes), value
    return value
