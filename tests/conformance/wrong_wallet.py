"""The shipped wallet, made wrong about the one thing that the command line names."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping

from controller.bus.gap_keeper import Cursor, GapKeeper
from controller.bus.snapshot import Snapshot
from simulators import subject
from simulators.ledger import Ledger


def any_epoch() -> None:
    """Live messages of a process that was replaced are as good as any."""
    live = GapKeeper.live

    def without_epoch(keeper: GapKeeper, raw: bytes, now_us: int) -> None:
        keeper.epoch = 0
        live(keeper, raw, now_us)

    GapKeeper.live = without_epoch  # type: ignore[method-assign]


def paid_in_full() -> None:
    """A correction is paid as if nothing had been paid before."""
    Ledger.credited = lambda _ledger, _roundid, _bet: 0  # type: ignore[method-assign]


def no_cursor() -> None:
    """After a start it joins at the present, whatever it has missed."""

    class Forgetful(subject.WalletSubject):
        @property
        def cursor(self) -> Cursor | None:
            return None if self._wallet.cursor else Cursor()

        def joined(self, snapshot: Snapshot) -> None:
            with self._wallet._ledger.transaction():
                self._wallet._ledger.save_cursor(snapshot.seq, snapshot.hash)

    subject.KINDS = {"wallet": Forgetful}  # type: ignore[misc]


WRONGS: Mapping[str, Callable[[], None]] = {
    wrong.__name__: wrong for wrong in (any_epoch, paid_in_full, no_cursor)
}

if __name__ == "__main__":
    WRONGS[sys.argv[1]]()
    asyncio.run(subject.main("wallet"))
