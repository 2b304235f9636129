"""The connection to a NATS server.

nats-py's own reconnecting is off: what a server still holds after it was away must be read anew, so each
connection is one session, and whoever uses it begins the next one.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.errors import APIError, NoStreamResponseError

from controller.floor.errors import FloorRefused

DEFAULT_URL = "nats://127.0.0.1:4222"
CONNECT_S = 3
REQUEST_S = 5.0
PING_S = 10
"""A server that is silent for two of these is away."""
HEADERS_BYTES_MAX = 512
"""Room for headers. The server counts them and cuts off whoever sends too much; nats-py does not count."""
AWAY = (nats.errors.Error, OSError, asyncio.TimeoutError)
"""What a server that is away, or going away, may raise. A fault of a request (APIError) is one of them."""
NO_SERVICE = 503


class Address(msgspec.Struct, frozen=True):
    """Where a server is. `url` may hold a password, `text` never does."""

    url: str
    text: str
    secured: bool


class Server(msgspec.Struct, frozen=True):
    """One connection."""

    jetstream: JetStreamContext
    closed: asyncio.Event
    payload_max: int
    """The largest message, in bytes: what the server takes, without room for its headers."""


def address_of(url: str) -> Address:
    """Check `nats://host:port` or `tls://host:port`, with a user and password if need be.

    Raises FloorRefused for anything else, and for an address that leaves the machine in the clear.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or 4222
    except ValueError:
        host, port = None, 0
    if host is None or parts.scheme not in ("nats", "tls"):
        raise FloorRefused("address of the NATS server: expected nats://<host>:<port> or tls://<host>:<port>")
    named = f"[{host}]" if ":" in host else host
    text = f"{parts.scheme}://{named}:{port}"
    if parts.scheme == "nats" and not _is_loopback(host):
        raise FloorRefused(f"{text}: leaves this machine in the clear; expected tls://{named}:{port}")
    return Address(url, text, secured=parts.scheme == "tls")


@asynccontextmanager
async def connected(address: Address) -> AsyncIterator[Server]:
    """Give one connection. Raises FloorRefused when the server refuses us, else one of AWAY."""
    client, closed = Client(), asyncio.Event()
    reasons: list[Exception] = []

    async def note(error: Exception) -> None:
        reasons.append(error)

    async def close() -> None:
        closed.set()

    try:
        try:
            await client.connect(
                address.url,
                allow_reconnect=False,
                max_reconnect_attempts=1,
                reconnect_time_wait=0,
                connect_timeout=CONNECT_S,
                ping_interval=PING_S,
                error_cb=note,
                closed_cb=close,
            )
        except AWAY as error:
            raise _told(address, reasons[-1] if reasons else error) from error
        # nats-py goes on in the clear where the server asks for no TLS.
        if address.secured and not client._server_info.get("tls_required"):
            raise FloorRefused(f"{address.text}: the server offers no TLS; set it up there")
        yield Server(client.jetstream(timeout=REQUEST_S), closed, client.max_payload - HEADERS_BYTES_MAX)
    finally:
        with suppress(*AWAY):
            await client.close()


async def while_connected(server: Server, work: Coroutine[Any, Any, None]) -> None:
    """Do the work until it ends, or raise ConnectionClosedError at once when the server goes away."""
    working, closing = asyncio.ensure_future(work), asyncio.ensure_future(server.closed.wait())
    try:
        await asyncio.wait((working, closing), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise nats.errors.ConnectionClosedError
        working.result()
    finally:
        for task in (working, closing):
            task.cancel()
        await asyncio.gather(working, closing, return_exceptions=True)


def has_no_jetstream(error: BaseException) -> bool:
    """Whether nobody answered a request to JetStream: it is switched off, or not up yet."""
    return isinstance(error, APIError) and error.code in (None, NO_SERVICE) and error.err_code is None


def text_of(error: BaseException) -> str:
    """Return what went wrong, in the server's own words where it said something."""
    if isinstance(error, APIError) and error.description:
        return f"{error.description} (JetStream error {error.err_code})"
    if isinstance(error, nats.errors.ConnectionClosedError | nats.errors.UnexpectedEOF):
        return "the connection is closed"
    if isinstance(error, NoStreamResponseError):
        return "no stream takes the message"
    if isinstance(error, asyncio.TimeoutError):
        return "no answer"
    return str(error).removeprefix("nats: ") or type(error).__name__


def _told(address: Address, reason: Exception) -> Exception:
    text = text_of(reason)
    if "authorization" in text.lower() or "authentication" in text.lower():
        return FloorRefused(f"{address.text}: {text}; put user and password into the address")
    if isinstance(reason, nats.errors.Error) and "INFO" in text:
        return FloorRefused(f"{address.text}: whatever answers there is no NATS server")
    return nats.errors.Error(text)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
