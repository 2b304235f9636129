"""One life of a station whose table has a bug: it stops on the dealer's first card.

    python poisoned.py CONFIG LIFE raise|killed

LIFE counts from 1: the first deals, the later ones come back and scan again the card that was drawn. With
`killed` the process does not even get to raise. Prints what the dealer is asked in the end.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from station.recorded import NOON, Session
from table.dealt import PLAYS, stacked

from controller.table import laying
from controller.table.picture import draw
from controller.table.shoe_state import UnplacedRead
from controller.table.state import TableState

HOUR_US = 3_600_000_000
lay_card = laying.deal_card


def poison(way: str) -> None:
    """Put the bug in."""

    def deal_card(t: TableState, read: UnplacedRead) -> None:
        if len(t.in_play.laid) < 3:
            lay_card(t, read)
        elif way == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            raise AssertionError("a bug")

    laying.deal_card = deal_card


def main(config: Path, life: int, way: str) -> None:
    poison(way)
    session = Session(config, NOON + life * HOUR_US, first_key=1_000 * life)
    if life == 1:
        session.open_table().to_dealing().deal(4)
    session.shoe = stacked(PLAYS)[3:]
    session.bring_up(drawn=True)
    session.scan()
    print(draw(session.station.kernel.table.state).prompt.code)
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
