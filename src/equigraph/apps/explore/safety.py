"""Who may talk to the server: the page it served, with the token of this start, under the name it was started with."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_WRITES = ("POST", "PUT", "DELETE", "PATCH")


def cookie_name(port: int) -> str:
    """Return the name of the cookie: two servers on one machine share a host, and not a token."""
    return f"equigraph-{port}"


def is_token(text: str, token: str) -> bool:
    """Return whether a text is the token, in a time that does not notify how much of it is right."""
    return secrets.compare_digest(text.encode("utf-8", "replace"), token.encode())


class Guard:
    """Refuse whatever does not come from the page of this start.

    Every request needs the Host that the server was started with (a page of another name that points here is refused),
    the token as a cookie or a bearer, and, if it says an Origin, the server's own. Requests that change something and
    come from a browser need an Origin, or the bearer, which no other page knows.
    """

    def __init__(self, app: Any, token: str, hosts: tuple[str, ...], port: int) -> None:
        self.app, self.token, self.hosts, self.port = app, token, hosts, port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        status = self._refusal(scope, headers)
        if status is not None:
            await _refuse(send, status)
            return

        async def send_safely(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        await self.app(scope, receive, send_safely)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> int | None:
        """Return the status of a refusal, None for a request that may pass."""
        hosts = [value for key, value in scope["headers"] if key.lower() == b"host"]
        if len(hosts) != 1 or headers["host"].lower() not in self.hosts:
            return 421
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in {f"http://{host}" for host in self.hosts}:
            return 403
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if is_token(bearer, self.token):
            return None
        if scope["path"] == "/enter":
            return None  # checks the token itself
        if not is_token(self._cookie(headers.get("cookie", "")), self.token):
            return 401
        return 403 if scope["method"] in _WRITES and origin is None else None

    def _cookie(self, header: str) -> str:
        try:
            found = SimpleCookie(header).get(cookie_name(self.port))
        except CookieError:
            return ""
        return "" if found is None else found.value


_REFUSALS = {
    401: b"This page needs the link that the terminal shows: it holds the token of this start.",
    403: b"This request came from another page and was refused.",
    421: b"This server does not answer under that name.",
}


async def _refuse(send: Send, status: int) -> None:
    body = _REFUSALS[status]
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        *_HEADERS,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
