"""Who may talk to the server: the page it served, with the token of this start, under the name it was started with."""

from __future__ import annotations

import secrets
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "font-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_REFUSALS = {
    401: "This page needs the link that the terminal shows: it holds the token of this start.",
    403: "This request came from another page and was refused.",
    421: "This server does not answer under that name.",
}


def cookie_name(port: int) -> str:
    """Return the name of the cookie: two servers on one machine share a host, and not a token."""
    return f"equigraph-{port}"


def is_token(text: str, token: str) -> bool:
    """Return whether a text is the token, in a time that does not tell how much of it is right."""
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
        if scope["type"] != "http":
            return
        status = self._refusal(Request(scope))
        answer = self.app if status is None else PlainTextResponse(_REFUSALS[status], status)

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await answer(scope, receive, send_safely)

    def _refusal(self, request: Request) -> int | None:
        """Return the status of a refusal, None for a request that may pass."""
        headers = request.headers
        hosts = [host.lower() for host in headers.getlist("host")]
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return 421
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in {f"http://{host}" for host in self.hosts}:
            return 403
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403
        if is_token(headers.get("authorization", "").removeprefix("Bearer "), self.token):
            return None
        if request.scope["path"] == "/enter":
            return None  # checks the token itself
        if not is_token(request.cookies.get(cookie_name(self.port), ""), self.token):
            return 401
        return 403 if origin is None and request.method in ("POST", "PUT", "DELETE", "PATCH") else None
