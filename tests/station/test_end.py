"""The end of a daemon whose peers have stopped reading: within two seconds, whatever is left unsent."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from station.recorded import write_config
from station.test_station import run_daemon

from controller.station.config import load

END_S = 2.0
DEAF_S = 0.5
"""A subscriber joins, a client asks for pages, another one sends commands, and none of them reads."""
PEER = """
import sys, zmq
from pathlib import Path
from controller.station.config import load
from controller.table.events import AUDIENCES

config = load(Path(sys.argv[1]))
ends, context = config.endpoints, zmq.Context()
heard = [context.socket(zmq.SUB) for _ in AUDIENCES]
for socket, audience in zip(heard, AUDIENCES, strict=True):
    socket.rcvhwm = 1
    socket.subscribe(b"")
    socket.connect(ends.live[audience])
for socket in heard:
    socket.recv()
asking, pressing = context.socket(zmq.DEALER), context.socket(zmq.DEALER)
for socket, end in ((asking, ends.replay[AUDIENCES[-1]]), (pressing, ends.operator)):
    socket.rcvhwm = 1
    socket.sndhwm = 0
    socket.connect(end)
for number in range(int(sys.argv[2])):
    command = b'{"command":"go_on"}'
    pressing.send(b'{"request":"%d","actor":"boris","roundno":0,"command":%s}' % (number, command))
    asking.send(b'{"ask":"from","request":"%d","seq":1,"limit":1000}' % number)
print("sent", flush=True)
sys.stdin.read()
"""
COMMANDS = 3_000
"""Three times what a feed holds for a subscriber, and thirty times what a client's answers may come to."""


def test_a_daemon_ends_while_every_queue_to_its_peers_is_full(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    config = load(path)
    daemon = run_daemon(path)
    words = [sys.executable, "-c", PEER, str(path), str(COMMANDS)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as peer:
        try:
            assert peer.stdout is not None and peer.stdout.readline() == b"sent\n"
            peer.send_signal(signal.SIGSTOP)
            journal = next(config.table_dir.glob("*.journal-wal"))
            size = -1
            while size != (size := journal.stat().st_size):
                time.sleep(DEAF_S)
            began = time.monotonic()
            daemon.send_signal(signal.SIGTERM)
            assert daemon.wait(timeout=10) == 0
            assert time.monotonic() - began < END_S
        finally:
            peer.kill()
            daemon.kill()
            daemon.wait()
