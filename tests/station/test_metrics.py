"""Metrics: what is counted and read, on loopback only, and only where the table's file names a port."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from prometheus_client.parser import text_string_to_metric_families
from station.recorded import Session, write_config

from controller.station.config import load
from controller.station.errors import StartRefused
from controller.station.metrics import CLIENTS_MAX, REQUEST_BYTES_MAX, REQUEST_S, MetricsServer
from controller.table import inputs as i

T = TypeVar("T")
GET = b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n"


def samples(text: bytes) -> dict[str, float]:
    """Return every sample by its name and the values of its labels."""
    return {
        " ".join((sample.name, *sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def test_steps_latency_links_and_consumers(tmp_path: Path) -> None:
    session = Session(write_config(tmp_path)).open_table()
    session.to_dealing().deal(3)
    found = samples(session.station.metrics.text())
    assert found["tablectl_steps_total card_read"] == 3
    assert found["tablectl_steps_total started"] == 1
    assert found["tablectl_scan_to_publish_seconds_count"] == 3
    assert found["tablectl_scan_to_publish_seconds_bucket 0.0005"] == 3, "this clock stands still"
    assert found["tablectl_phase dealing"] == 1
    assert (found["tablectl_round"], found["tablectl_epoch"]) == (1, 1)
    assert (found["tablectl_device_up shoe"], found["tablectl_queue_depth"]) == (1, 0)
    assert found["tablectl_unacknowledged wallet"] == 0
    session.deal(17)
    session.all_decided("options")
    session.deal(5)
    session.all_decided("final_options")
    session.finish()
    session.station.beat()
    found = samples(session.station.metrics.text())
    assert found["tablectl_unacknowledged wallet"] == found["tablectl_unacknowledged bets"] == 1
    assert found["tablectl_alive_time_seconds"] == session.clock.us / 1_000_000
    session.send(i.Acknowledge("rp1-1", 1), "wallet")
    found = samples(session.station.metrics.text())
    assert (found["tablectl_unacknowledged wallet"], found["tablectl_unacknowledged bets"]) == (0, 1)
    session.stop()


def test_a_repeated_command_is_no_step(tmp_path: Path) -> None:
    session = Session(write_config(tmp_path)).open_table()
    session.send(i.ConfirmShuffle(), request="once")
    before = samples(session.station.metrics.text())["tablectl_steps_total commanded"]
    session.send(i.ConfirmShuffle(), request="once")
    assert samples(session.station.metrics.text())["tablectl_steps_total commanded"] == before
    session.stop()


def served(talk: Callable[[int], T], text: bytes = b"all is well\n") -> T:
    """Return what `talk` has heard of a server, on a thread of its own."""

    async def main() -> T:
        server = MetricsServer(0, lambda: text)
        running = asyncio.create_task(server.run())
        try:
            return await asyncio.to_thread(talk, server.port)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            server.close()

    return asyncio.run(main())


def ask(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as line:
        line.sendall(request)
        try:
            return b"".join(iter(lambda: line.recv(65_536), b""))
        except ConnectionResetError:
            return b""  # It has let us go with our request half read.


def test_a_scrape_gets_the_text_and_anything_else_is_not_found() -> None:
    def talk(port: int) -> tuple[bytes, ...]:
        return ask(port, GET), ask(port, b"GET / HTTP/1.0\r\n\r\n"), ask(port, GET.replace(b"GET", b"PUT"))

    good, other, put = served(talk)
    assert good.startswith(b"HTTP/1.1 200 OK\r\n") and good.endswith(b"\r\n\r\nall is well\n")
    assert b"Content-Type: text/plain; version=" in good and b"Content-Length: 12\r\n" in good
    assert other.startswith(b"HTTP/1.1 404 ") and put.startswith(b"HTTP/1.1 404 ")


def test_who_talks_nonsense_or_leaves_harms_nobody() -> None:
    def talk(port: int) -> bytes:
        assert ask(port, b"x" * (REQUEST_BYTES_MAX + 1)) == b""
        with socket.create_connection(("127.0.0.1", port), timeout=5) as line:
            line.sendall(b"GET /met")
        return ask(port, GET)

    assert served(talk).startswith(b"HTTP/1.1 200")


def test_those_who_only_connect_are_let_go_and_take_no_files_from_the_table() -> None:
    def talk(port: int) -> tuple[int, bytes]:
        lines = [socket.create_connection(("127.0.0.1", port), timeout=5) for _ in range(3 * CLIENTS_MAX)]
        gone = 0
        for line in lines[CLIENTS_MAX:]:
            line.settimeout(REQUEST_S / 2)
            gone += line.recv(1) == b""
        for line in lines:
            line.close()
        time.sleep(0.2)
        return gone, ask(port, GET)

    gone, answer = served(talk)
    assert gone == 2 * CLIENTS_MAX and answer.startswith(b"HTTP/1.1 200")


def test_it_listens_on_this_machine_alone() -> None:
    server = MetricsServer(0, lambda: b"")
    assert server._socket.getsockname()[0] == "127.0.0.1"
    server.close()


def test_a_port_that_is_taken_refuses_the_start(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        path = write_config(tmp_path, **{"[times]": f"[metrics]\nport = {port}\n\n[times]"})
        assert load(path).metrics_port == port
        with pytest.raises(StartRefused, match=rf"metrics.port: 127.0.0.1:{port} can't be bound"):
            Session(path)


def test_without_a_port_in_the_config_nothing_listens(tmp_path: Path) -> None:
    session = Session(write_config(tmp_path))
    assert session.config.metrics_port is None and session.station._metrics_server is None
    session.stop()
