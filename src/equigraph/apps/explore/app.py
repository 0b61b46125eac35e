"""The page, its JSON API (docs/reference/explore-api.md), and access control."""

from __future__ import annotations

import mimetypes
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from equigraph.apps.classes.messages import LANGUAGES
from equigraph.apps.explore import persistence
from equigraph.apps.explore.errors import BoardError, refusal_facts
from equigraph.apps.explore.files import WRITERS, static_text
from equigraph.apps.explore.jobs import Job, Jobs
from equigraph.apps.explore.people import EXAMPLES, BoardPeople
from equigraph.apps.explore.session import Session
from equigraph.apps.explore.steps import Step, first_step, with_number
from equigraph.apps.explore.uploads import OfferedSheet, Upload, Uploads
from equigraph.exceptions import EquigraphError, InputError, ParameterError

_MOST_JSON = 1 << 20
_STATIC = ("explore.js", "explore.css", "icon.svg")
# Without those of the system, which may be wrong.
_TYPES = mimetypes.MimeTypes()
_TYPES.add_type("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx")
_TYPES.add_type("text/javascript", ".js")
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
# Boards of at most so many people get new costs and a new curve after every change of their rules.
_EAGER = 400


class Explorer:
    """State of a server: the open board, its jobs and its uploads."""

    def __init__(self, opened: Session | OfferedSheet, folder: Path, token: str, port: int) -> None:
        self.token, self.port = token, port
        self.jobs, self.uploads = Jobs(), Uploads(folder)
        self._session = opened if isinstance(opened, Session) else None
        # The sheet given to the command, until the page has confirmed how it was read.
        self._offered: dict[str, Any] | None = None
        if isinstance(opened, OfferedSheet):
            given = {"number": opened.number, "attribute": opened.upload.attribute}
            self._offered = {"key": self.uploads.keep(opened.upload), **opened.seen, **given}

    @property
    def session(self) -> Session:
        """The open board."""
        if self._session is None:
            raise BoardError("not-open")
        return self._session

    # Pages. Functions that are not async run in a thread.

    def enter(self, request: Request) -> Response:
        """Exchange the token of the link for a cookie that scripts cannot read."""
        if not is_token(request.query_params.get("token", ""), self.token):
            return PlainTextResponse("This link is not of this start: take the one in the terminal.", 401)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(cookie_name(self.port), self.token, httponly=True, samesite="strict", path="/")
        return answer

    def page(self, request: Request) -> Response:
        """Return the page, its script, its style sheet or its icon."""
        name = request.path_params.get("name", "index.html")
        if name not in (*_STATIC, "index.html"):
            return PlainTextResponse("There is no such file.", 404)
        return Response(static_text(name), media_type=_TYPES.guess_type(name)[0])

    # The board

    def board(self, request: Request) -> Response:
        """Return the whole board, or the sheet to confirm before there is one."""
        return JSONResponse({"offered": self._offered} if self._session is None else self._session.board())

    def state(self, request: Request) -> Response:
        """Return the part of the board that changes."""
        return JSONResponse(self.session.state())

    async def act(self, request: Request) -> Response:
        """Apply an action to the board."""
        payload = await _payload(request)
        state = self.session.act(payload)
        self.jobs.publish("state", {"revision": self.session.revision})
        if self.session.people.n_people <= _EAGER:
            self.renew()
        return JSONResponse(state)

    def renew(self) -> None:
        """Start the searches that were not yet made for the current rules: for labels, then for costs and curve."""
        session = self._session
        if session is None:
            return
        kinds = ["first"]
        if session.step.has_labels:
            kinds = ["price"] if session.people.n_people <= _EAGER else []
            kinds += ["curve"] if session.step.attributes else []
        for kind in kinds:
            if session.requested.get(kind) != session.step.search_key:
                self._start(kind)

    def _start(self, kind: str, step: Step | None = None) -> Job:
        """Start a job about a step, by default the current one; the board of the request takes its result."""
        session, basis = self.session, self.session.step
        step = step or basis
        session.requested[kind] = step.search_key

        def done(found: Any) -> None:
            session.take(kind, basis, step, found)
            if session is self._session:
                self.jobs.publish("state", {"revision": session.revision})
                if kind == "first":
                    self.renew()

        return self.jobs.start(kind, done, step=step)

    def why(self, request: Request) -> Response:
        """Return the reasons for the cluster of a person."""
        who = request.query_params.get("who", "")
        return JSONResponse(self.session.why(int(who) if who.isdecimal() and len(who) < 10 else who))

    async def number(self, request: Request) -> Response:
        """Start a search with another number of clusters."""
        payload = await _payload(request)
        self._start("first", with_number(self.session.labelled(), payload.get("number")))
        return JSONResponse(self.session.state())

    # Jobs

    async def start(self, request: Request) -> Response:
        """Start a job."""
        kind, step = str((await _payload(request)).get("kind")), self.session.step
        if not step.has_labels:
            if kind != "first" or self.jobs.running(kind):
                raise BoardError("busy")
        elif kind not in ("repair", "alternatives", "price", "curve"):
            raise ParameterError(f"There is no job {kind[:40]!r}.")
        elif kind == "curve" and not step.attributes:
            raise ParameterError("There is no attribute to spread evenly, so there is no curve.")
        return JSONResponse(self._start(kind).facts())

    async def cancel(self, request: Request) -> Response:
        """Cancel a job."""
        jobs = self.jobs.running(request.path_params["number"])
        return JSONResponse({"cancelled": self.jobs.cancel(jobs)})

    async def events(self, request: Request) -> Response:
        """Stream events about the jobs and the board."""
        return StreamingResponse(self.jobs.events(), media_type="text/event-stream")

    # Files

    async def graph(self, request: Request) -> Response:
        """Return positions and links to draw."""
        session, step = self.session, self.session.step
        drawn = session.found("layout")
        if drawn is None:
            drawn = await self.jobs.run("layout", step=step)
            session.take("layout", step, step, drawn)
        return JSONResponse(drawn)

    async def download(self, request: Request) -> Response:
        """Return a file of the board."""
        kind, step = request.path_params["kind"], self.session.step
        if kind not in WRITERS or not step.has_labels:
            return PlainTextResponse("There is no such file.", 404)
        content = await self.jobs.run("download", step=step, kind=kind, language=_language(request))
        # The browser must save the file and never run its content.
        shown = kind == "graph.png" and request.query_params.get("show") == "1"
        headers = {} if shown else {"content-disposition": f'attachment; filename="{kind}"'}
        return Response(content, media_type=_TYPES.guess_type(kind)[0], headers=headers)

    async def upload(self, request: Request) -> Response:
        """Receive a file, and return its first rows."""
        key = await self.uploads.take(request.query_params.get("name", ""), request.stream())
        upload = replace(self.uploads.get(key), language=_language(request))
        try:
            return JSONResponse({"key": key, **await self.jobs.run("inspect", upload=upload)})
        except EquigraphError:
            self.uploads.drop(key)
            raise

    async def open(self, request: Request) -> Response:
        """Open another board: an upload, an example, or a stored one."""
        payload = await _payload(request)
        step: Step | None = None
        if "example" in payload:
            if payload["example"] not in EXAMPLES:
                raise ParameterError("There is no such example.")
            people = await run_in_threadpool(EXAMPLES[payload["example"]])
        elif "stored" in payload:
            step = persistence.stored_board(str(payload["stored"]))
            people = step.people
        else:
            people, step = await self.jobs.run("read", upload=self._upload(payload, request))
        attribute = _given(payload, "attribute", str) if payload.get("kind") == "people" else None
        number, fresh = _given(payload, "number", int), payload.get("fresh") is True
        session = open_session(people, None if fresh else step, number, attribute, fresh)
        self.jobs.cancel(self.jobs.running())
        self._session = session
        self.uploads.clear()
        self.renew()
        self.jobs.publish("board", {})
        return JSONResponse(session.board())

    async def preview(self, request: Request) -> Response:
        """Return how an uploaded file is read, before a board is made of it."""
        payload = await _payload(request)
        upload, number = self._upload(payload, request), _given(payload, "number", int)
        return JSONResponse(await self.jobs.run("preview", upload=upload, number=number))

    def _upload(self, payload: dict[str, Any], request: Request) -> Upload:
        """Return an uploaded file and its checked reading options."""
        upload = self.uploads.get(payload.get("upload"))
        kind = payload.get("kind", "people")
        if kind not in ("people", "links", "board"):
            raise ParameterError("A file holds people, links or a board.")
        columns, names = payload.get("columns") or {}, payload.get("names") or {}
        if not (isinstance(columns, dict) and isinstance(names, dict)):
            raise ParameterError("Columns and names are given by what they are.")
        options = dict(upload.options)
        known = options.get("columns") or {}
        if columns and self._offered is not None:  # the page names all columns of the sheet by their letters
            here = {one[key] for one in self._offered["columns"] for key in ("header", "letter")}
            known = {name: role for name, role in known.items() if name not in here}
        options |= {"columns": {**known, **columns}, "names": {**(options.get("names") or {}), **names}}
        people = self.uploads.get(payload["people"]) if payload.get("people") else None
        attribute, language = _given(payload, "attribute", str), _language(request)
        return replace(
            upload, options=options, kind=kind, people=people, attribute=attribute, language=language
        )

    def stored(self, request: Request) -> Response:
        """List the boards stored on this machine."""
        return JSONResponse(persistence.stored_boards())

    def forget(self, request: Request) -> Response:
        """Remove a stored board."""
        persistence.forget(request.path_params["mark"])
        return JSONResponse({})

    def routes(self) -> list[Route]:
        """Return all routes."""
        return [
            Route("/", self.page),
            Route("/enter", self.enter),
            Route("/static/{name}", self.page),
            Route("/api/board", self.board),
            Route("/api/state", self.state),
            Route("/api/act", self.act, methods=["POST"]),
            Route("/api/why", self.why),
            Route("/api/number", self.number, methods=["POST"]),
            Route("/api/jobs", self.start, methods=["POST"]),
            Route("/api/jobs/{number:int}", self.cancel, methods=["DELETE"]),
            Route("/api/events", self.events),
            Route("/api/graph", self.graph),
            Route("/api/download/{kind}", self.download),
            Route("/api/upload", self.upload, methods=["PUT"]),
            Route("/api/preview", self.preview, methods=["POST"]),
            Route("/api/open", self.open, methods=["POST"]),
            Route("/api/stored", self.stored),
            Route("/api/stored/{mark}", self.forget, methods=["DELETE"]),
        ]


def open_session(
    people: BoardPeople,
    step: Step | None = None,
    number: int | None = None,
    attribute: str | None = None,
    fresh: bool = False,
) -> Session:
    """Return a session with the given state, else the stored one, else a new one."""
    if step is not None:
        return Session(step)
    if not fresh and number is None and attribute is None:
        step = persistence.stored_step(people)
    restored = step is not None
    return Session(step or first_step(people, number, attribute), restored=restored)


def make_app(explorer: Explorer) -> Starlette:
    """Return the application, with error handlers."""

    async def refuse(request: Request, error: Exception) -> Response:
        status = 400 if isinstance(error, EquigraphError) else 500
        return JSONResponse(refusal_facts(error), status)

    return Starlette(routes=explorer.routes(), exception_handlers={EquigraphError: refuse, Exception: refuse})


def _language(request: Request) -> str:
    """Return the language of a page, English if it is not supported."""
    language = request.headers.get("accept-language", "")[:2].lower()
    return language if language in LANGUAGES else "en"


def _given(payload: dict[str, Any], name: str, kind: type) -> Any:
    """Return an entry of a request if it has a type, else None."""
    value = payload.get(name)
    return value if type(value) is kind else None


async def _payload(request: Request) -> dict[str, Any]:
    """Return the body of a request, or raise InputError."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise InputError("The request has to be JSON.")
    if int(request.headers.get("content-length", _MOST_JSON + 1)) > _MOST_JSON:
        raise InputError("The request is too large, or does not say how large it is.")
    try:
        payload = await request.json()
    except (ValueError, RecursionError):
        raise InputError("The request is no JSON.") from None
    if not isinstance(payload, dict):
        raise InputError("The request has to be a JSON object.")
    return payload


def cookie_name(port: int) -> str:
    """Return the name of the cookie: servers on one machine share a host but not a token."""
    return f"equigraph-{port}"


def is_token(text: str, token: str) -> bool:
    """Return whether a text is the token, compared in constant time."""
    return secrets.compare_digest(text.encode("utf-8", "replace"), token.encode())


def guarded(app: ASGIApp, token: str, hosts: tuple[str, ...], port: int) -> ASGIApp:
    """Return the application, rejecting requests that do not come from the page of this server.

    Every request needs the Host of the server (against DNS rebinding), the token as a cookie or bearer, and, if it has
    an Origin, that of the server. Requests that change something and come from a browser need an Origin, or the bearer,
    which no other page knows.
    """

    async def answer(request: Request, call_next: RequestResponseEndpoint) -> Response:
        status = _refusal(request, token, hosts, port)
        refused = status and PlainTextResponse(_REFUSALS[status], status)
        response = refused or await call_next(request)
        response.headers.update(_HEADERS)
        return response

    return BaseHTTPMiddleware(app, answer)


def _refusal(request: Request, token: str, names: tuple[str, ...], port: int) -> int | None:
    """Return the status of a rejected request, None for an accepted one."""
    headers = request.headers
    hosts = [host.lower() for host in headers.getlist("host")]
    if len(hosts) != 1 or hosts[0] not in names:
        return 421
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in {f"http://{name}" for name in names}:
        return 403
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return 403
    if is_token(headers.get("authorization", "").removeprefix("Bearer "), token):
        return None
    if request.scope["path"] == "/enter":
        return None  # checks the token itself
    if not is_token(request.cookies.get(cookie_name(port), ""), token):
        return 401
    return 403 if origin is None and request.method in ("POST", "PUT", "DELETE", "PATCH") else None
