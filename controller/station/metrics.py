"""Metrics in the Prometheus format, on a port of this machine alone.

What is counted is counted in the steps; the rest is read from the table when somebody asks.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Iterator, Mapping

import msgspec
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from controller.station.errors import StartRefused
from controller.table.inputs import AnyInput, CardRead, ReadFailed
from controller.table.picture import Picture

LOOPBACK = "127.0.0.1"
REQUEST_BYTES_MAX = 8_192
REQUEST_S = 2.0
"""So long a client may take to say what it wants."""
SECOND_US = 1_000_000
CLIENTS_MAX = 20
"""So many are heard at once. Others are let go: anybody on the machine can connect, and each takes one of the
files that the process may have open."""
LATENCY_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
"""Prometheus counts time in seconds; nothing of the table is computed with these."""

log = logging.getLogger("station")


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a scrape finds. `links`: whether each device is there; `full_counts`: by feed."""

    picture: Picture
    queue_depth: int
    links: Mapping[str, bool]
    full_counts: Mapping[str, int]
    alive_at_us: int


class Metrics:
    """The counters of one station, and what is read of it."""

    def __init__(self, read: Callable[[], Reading]) -> None:
        self._registry = CollectorRegistry()
        self._steps = Counter(
            "tablectl_steps", "Inputs that are durable, by kind", ("input",), registry=self._registry
        )
        self._latency = Histogram(
            "tablectl_scan_to_publish_seconds",
            "From the bytes of a read to its messages on the live feeds",
            buckets=LATENCY_S,
            registry=self._registry,
        )
        self._registry.register(_OnRequest(read))

    def published(self, value: AnyInput, now_us: int) -> None:
        """Count a step whose messages have been sent at `now_us`."""
        self._steps.labels(str(value.__struct_config__.tag)).inc()
        if isinstance(value, CardRead | ReadFailed):
            self._latency.observe((now_us - value.at) / SECOND_US)

    def text(self) -> bytes:
        """Return everything in the text format."""
        return generate_latest(self._registry)


class _OnRequest(Collector):
    def __init__(self, read: Callable[[], Reading]) -> None:
        self._read = read

    def describe(self) -> list[Metric]:
        """Nothing is read before the station stands."""
        return []

    def collect(self) -> Iterator[Metric]:
        found = self._read()
        picture = found.picture
        yield _gauge("tablectl_queue_depth", "Inputs that wait", found.queue_depth)
        yield _gauge("tablectl_alive_time_seconds", "When alive was sent last", found.alive_at_us / SECOND_US)
        yield _gauge("tablectl_epoch", "Starts of the daemon at this table", picture.epoch)
        yield _gauge("tablectl_round", "The round that was opened last", picture.round_no)
        yield _gauge(
            "tablectl_incident_open", "Whether an incident is open", picture.incident_kind is not None
        )
        yield _by("tablectl_phase", "The phase of the table", "phase", {picture.phase.value: 1})
        yield _by("tablectl_device_up", "Whether a device is there", "device", found.links)
        behind = {one.name: one.behind for one in picture.consumers}
        yield _by("tablectl_unacknowledged", "Ends of rounds not acknowledged", "consumer", behind)
        drops = CounterMetricFamily(
            "tablectl_feed_full", "How often a subscriber began to lose messages", labels=("feed",)
        )
        for feed, count in found.full_counts.items():
            drops.add_metric((feed,), count)
        yield drops


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=value)


def _by(name: str, text: str, label: str, values: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=(label,))
    for key, value in values.items():
        family.add_metric((key,), value)
    return family


class MetricsServer:
    """Serves `text` on a loopback port. `run` is a task to supervise; it never returns."""

    def __init__(self, port: int, text: Callable[[], bytes]) -> None:
        """Bind. Raises StartRefused when the port is taken."""
        self._text = text
        self._clients = 0
        try:
            self._socket = socket.create_server((LOOPBACK, port))
        except OSError as error:
            raise StartRefused(
                f"metrics.port: {LOOPBACK}:{port} can't be bound: {error.strerror}; name another one in the "
                "table's file, or leave it out"
            ) from error
        self.port: int = self._socket.getsockname()[1]

    async def run(self) -> None:
        """Answer until cancelled."""
        server = await asyncio.start_server(self._answer, sock=self._socket, limit=REQUEST_BYTES_MAX)
        try:
            await server.serve_forever()
        finally:
            server.close()

    def close(self) -> None:
        """Let the port go."""
        self._socket.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request; whoever is slow, leaves, talks nonsense or is one too many is let go."""
        if self._clients >= CLIENTS_MAX:
            writer.close()
            return
        self._clients += 1
        try:
            async with asyncio.timeout(REQUEST_S):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._reply(head))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            log.info("a request for metrics was not finished")
        finally:
            self._clients -= 1
            writer.close()

    def _reply(self, head: bytes) -> bytes:
        words = head.split(b"\r\n", 1)[0].split(b" ")
        found = words[0] == b"GET" and len(words) > 1 and words[1].split(b"?")[0] == b"/metrics"
        body = self._text() if found else b"GET /metrics\n"
        status, kind = ("200 OK", CONTENT_TYPE_LATEST) if found else ("404 Not Found", "text/plain")
        headers = (
            f"HTTP/1.1 {status}",
            f"Content-Type: {kind}",
            f"Content-Length: {len(body)}",
            "Connection: close",
            "",
            "",
        )
        return "\r\n".join(headers).encode() + body


def open_server(port: int | None, metrics: Metrics) -> MetricsServer | None:
    """Return the server of a station, None where the config names no port. Raises StartRefused."""
    return None if port is None else MetricsServer(port, metrics.text)
