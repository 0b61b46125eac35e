"""Start of the server: port, token, temporary folder for uploads."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equigraph._utils.files import private_folder
from equigraph.exceptions import InputError, require

if TYPE_CHECKING:
    from equigraph.apps.explore.session import Session
    from equigraph.apps.explore.uploads import OfferedSheet

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Running:
    """A running server: the link to its page, and a way to stop it."""

    link: str
    token: str
    port: int
    stop: Callable[[], None]


def serve(
    opened: Session | OfferedSheet,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    browser: bool = True,
    ready: Callable[[Running], Any] = lambda running: None,
) -> None:
    """Serve a board, or a sheet to confirm on the page, until the process is stopped.

    Port 0 means any free one; with a host other than loopback, others on the network can connect. `ready` is called
    once the server listens.
    """
    uvicorn = require("uvicorn", extra="explore", purpose="The explorer")
    require("starlette", extra="explore", purpose="The explorer")
    from equigraph.apps.explore.app import Explorer, guarded, make_app

    token, prefix = secrets.token_urlsafe(32), "equigraph-explore-"
    with _listen(host, port) as listener, private_folder(Path(tempfile.gettempdir()), prefix) as folder:
        port = listener.getsockname()[1]
        names = ("127.0.0.1", "localhost", "[::1]", *(() if is_local(host) else (shown_host(host),)))
        explorer = Explorer(opened, folder, token, port)
        app = guarded(make_app(explorer), token, tuple(f"{name}:{port}" for name in names), port)
        config = {"log_level": "critical", "lifespan": "off", "server_header": False}
        server = uvicorn.Server(uvicorn.Config(app, timeout_graceful_shutdown=1, **config))

        link = f"http://{shown_host(host)}:{port}/enter?token={token}"

        async def begin_and_serve() -> None:
            loop = asyncio.get_running_loop()

            def stop(*signalled: Any) -> None:
                loop.call_soon_threadsafe(
                    explorer.jobs.close
                )  # open streams and running tasks would delay the end
                if signalled:
                    uvicorn.Server.handle_exit(server, *signalled)  # which ends at once when asked again
                server.should_exit = True

            server.handle_exit = stop
            explorer.renew()
            ready(Running(link, token, port, stop))
            if browser:
                webbrowser.open(link)
            try:
                await server.serve(sockets=[listener])
            finally:
                explorer.jobs.close()

        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: workers are ended
        asyncio.run(begin_and_serve())


def is_local(host: str) -> bool:
    """Return whether a host is reachable from this machine only."""
    return host in (LOOPBACK, "localhost", "::1")


def shown_host(host: str) -> str:
    """Return the host as written in a link; the name of the machine if the server listens on all interfaces."""
    if host in ("0.0.0.0", "::"):
        return socket.gethostname().lower()
    return f"[{host}]" if ":" in host else host.lower()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"Nothing can listen on {host}, port {port}: {reason}. Give another --port or --host."
        ) from error
