"""What every request passes before anything looks at it: host, origin, and the headers of every answer.

A page of another site can reach a server on loopback through the browser of whoever looks at it. So the host
must be ours (a name that was pointed at us is refused), what changes anything must come from our own origin,
and cookies are sent along by no other site.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), usb=(), serial=()",
    "cache-control": "no-store",
}


def is_own_origin(headers: Headers) -> bool:
    """Whether a request says that it comes from a page of the very host that it asks."""
    origin = headers.get("origin", "")
    parts = urlsplit(origin)
    return parts.scheme in ("http", "https") and parts.netloc == headers.get("host")


class Guard:
    """The outermost layer of the pages. `hosts` are those that may be asked for, with their ports."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self._hosts:
            await self._refuse(scope, receive, send, "unknown host")
            return
        needs_origin = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if needs_origin and not is_own_origin(headers):
            await self._refuse(scope, receive, send, "not from here")
            return
        await self._app(scope, receive, _with_headers(send))

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, why: str) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4403})  # Before it is accepted: HTTP 403.
            return
        await PlainTextResponse(why, 403)(scope, receive, _with_headers(send))


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent
