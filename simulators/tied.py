"""A daemon that ends with the simulation that started it, also when that is killed.

`python -m simulators.tied PARENT WORD ...` is `tablectl WORD ...` as long as process PARENT lives. Only Linux
tells a child of its parent's end; elsewhere the daemon runs on until it is stopped.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

from controller import cli

PR_SET_PDEATHSIG = 1


def tie(parent: int) -> None:
    """Have this process end, as by SIGTERM, when `parent` does; at once if it has ended already."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    tie(int(sys.argv[1]))
    sys.exit(cli.main(sys.argv[2:]))
