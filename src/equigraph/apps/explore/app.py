"""The small JSON API that the page uses, and the page itself; docs/reference/explore-api.md describes it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from equigraph._utils.text import one_line
from equigraph.apps.classes.messages import LANGUAGES
from equigraph.apps.explore import persistence
from equigraph.apps.explore.errors import BoardError
from equigraph.apps.explore.examples import EXAMPLES
from equigraph.apps.explore.files import WRITERS, static_text
from equigraph.apps.explore.jobs import Jobs
from equigraph.apps.explore.people import BoardPeople
from equigraph.apps.explore.safety import cookie_name, is_token
from equigraph.apps.explore.session import Session
from equigraph.apps.explore.steps import GROUP, Step, first_step
from equigraph.apps.explore.uploads import OfferedSheet, ReadRequest, Uploads
from equigraph.apps.explore.workers import Cancelled, TaskFailed, Worker
from equigraph.exceptions import EquigraphError, InputError, ParameterError

_MOST_JSON = 1 << 20
STATIC = {
    "explore.js": "text/javascript; charset=utf-8",
    "explore.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_KINDS = {
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "zip": "application/zip",
    "csv": "text/csv; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "png": "image/png",
    "svg": "image/svg+xml",
    "json": "application/json",
    "py": "text/x-python; charset=utf-8",
    "sh": "text/x-shellscript; charset=utf-8",
}
# Boards of so many people get a new curve whenever their rules change.
_EAGER = 400


class Explorer:
    """One server: the board that is open, its jobs and its uploads."""

    def __init__(
        self,
        opened: Session | OfferedSheet,
        folder: Path,
        token: str,
        port: int,
        worker: Worker | None = None,
    ) -> None:
        self.token, self.port = token, port
        self.jobs, self.uploads = Jobs(worker), Uploads(folder)
        self._session = opened if isinstance(opened, Session) else None
        # The sheet that the command was given, until the page has confirmed what was understood of it.
        self._offered: dict[str, Any] | None = None
        if isinstance(opened, OfferedSheet):
            upload = self.uploads.borrow(opened.path, opened.options)
            given = {"number": opened.number, "attribute": opened.attribute}
            self._offered = {"key": upload.key, **opened.seen, **given}

    @property
    def session(self) -> Session:
        """The board that is open."""
        if self._session is None:
            raise BoardError("not-open")
        return self._session

    # Pages

    async def enter(self, request: Request) -> Response:
        """Trade the token of the link for a cookie that scripts cannot read."""
        if not is_token(request.query_params.get("token", ""), self.token):
            return PlainTextResponse("This link is not of this start: take the one in the terminal.", 401)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(cookie_name(self.port), self.token, httponly=True, samesite="strict", path="/")
        return answer

    async def page(self, request: Request) -> Response:
        """Return the page."""
        return Response(static_text("index.html"), media_type="text/html; charset=utf-8")

    async def static(self, request: Request) -> Response:
        """Return the script, the style sheet or the icon."""
        name = request.path_params["name"]
        if name not in STATIC:
            return PlainTextResponse("There is no such file.", 404)
        return Response(static_text(name), media_type=STATIC[name])

    # The board

    async def board(self, request: Request) -> Response:
        """Return the board as a whole, or the sheet that is to be confirmed before there is one."""
        if self._session is None:
            return JSONResponse({"offered": self._offered})
        return await _json(self.session.board)

    async def state(self, request: Request) -> Response:
        """Return what changes."""
        return await _json(self.session.state)

    async def act(self, request: Request) -> Response:
        """Do something to the board."""
        payload = await _payload(request)
        session = self.session
        state = await run_in_threadpool(session.act, payload)
        self.jobs.publish("state", {"revision": session.revision})
        self._renew(session)
        return JSONResponse(state)

    def _renew(self, session: Session) -> None:
        """Compute costs and curve again where that is cheap and the rules have changed."""
        small = session.people.n_people <= _EAGER
        if session is self.session and small and session.has_labels and not session.curve_is_current():
            running = [job for job in self.jobs.running() if job["kind"] == "curve"]
            if not running or session.asked != session.curve_question():
                self.start_costs(session)
                self.start_curve(session)

    def start_costs(self, session: Session) -> None:
        """Start a job that finds what rules and columns cost, where they are not known."""
        small = session.people.n_people <= _EAGER
        if session is self.session and small and session.has_labels and session.costs_wanted():
            step = session.step
            payload = {"people": session.people, "step": step}
            take = self._then(session, lambda found: session.costs_found(found, step))
            self.jobs.start("price", payload, take)

    def start_curve(self, session: Session) -> dict[str, Any] | None:
        """Start a job that finds the curve."""
        step = session.step
        if not step.attributes or session is not self.session:
            return None
        session.asked = session.curve_question()
        payload = {"people": session.people, "step": step}
        job = self.jobs.start(
            "curve", payload, self._then(session, lambda found: session.curve_found(found, step))
        )
        return job.facts()

    def _then(self, session: Session, take: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return what takes the answer of a job: for the board that asked, if it is still open."""
        loop = asyncio.get_running_loop()

        def done(found: Any) -> None:
            take(found)
            if session is self.session:
                loop.call_soon_threadsafe(self.jobs.publish, "state", {"revision": session.revision})

        return done

    def begin(self) -> None:
        """Find the first labels of a board that has none, and then its curve."""
        if self._session is None:
            return
        session, step = self.session, self.session.step
        if session.has_labels:
            self.start_costs(session)
            self.start_curve(session)
        else:
            self._make(session, step, step, "first", [])

    def _make(
        self, session: Session, basis: Step, step: Step, what: str, changes: list[dict[str, Any]]
    ) -> None:
        """Find labels for a step that has none yet, then costs and curve; until then the board is as it was."""
        loop = asyncio.get_running_loop()

        def take(found: Any) -> None:
            then = replace(step, rules=found["rules"])
            besides = [*changes, *session.given_up(found["given_up"])]
            session.labels_found(found["labels"], what, basis, then, besides)
            for start in (self.start_costs, self.start_curve):
                loop.call_soon_threadsafe(start, session)

        self.jobs.start("first", {"people": session.people, "step": step}, self._then(session, take))

    async def why(self, request: Request) -> Response:
        """Return why somebody is where she is."""
        who = request.query_params.get("who", "")
        number = int(who) if who.isdecimal() and len(who) < 10 else -1
        return await _json(self.session.why, number)

    async def number(self, request: Request) -> Response:
        """Ask for another number of clusters."""
        payload = await _payload(request)
        session, basis = self.session, self.session.step
        step, changes = await run_in_threadpool(session.number, payload.get("number"), _word(payload))
        self._make(session, basis, step, "number", changes)
        return await _json(session.state)

    # Jobs

    async def start(self, request: Request) -> Response:
        """Start a job."""
        kind = str((await _payload(request)).get("kind"))
        session, step = self.session, self.session.step
        if not session.has_labels:
            if kind != "first" or any(job["kind"] == kind for job in self.jobs.running()):
                raise BoardError("busy")
            self.begin()  # it was cancelled, or failed
            return JSONResponse(self.jobs.running()[-1])
        if kind == "curve":
            if not step.attributes:
                raise ParameterError("There is no attribute to spread evenly, so there is no curve.")
            return JSONResponse(self.start_curve(session))
        takers: dict[str, Callable[[Any], None]] = {
            "repair": lambda found: session.labels_found(found, "repair", step),
            "alternatives": session.others_found,
            "price": lambda found: session.costs_found(found, step),
        }
        if kind not in takers:
            raise ParameterError(f"There is no job {kind[:40]!r}.")
        payload = {"people": session.people, "step": step}
        return JSONResponse(self.jobs.start(kind, payload, self._then(session, takers[kind])).facts())

    async def cancel(self, request: Request) -> Response:
        """Cancel a job."""
        return JSONResponse({"cancelled": self.jobs.cancel(request.path_params["number"])})

    async def events(self, request: Request) -> Response:
        """Follow the jobs and the board."""
        return StreamingResponse(self.jobs.events(), media_type="text/event-stream")

    # Files

    async def graph(self, request: Request) -> Response:
        """Return where to draw everybody."""
        session = self.session
        if session.drawn is None:
            payload = {"people": session.people, "step": session.step}
            session.drawn = await self.jobs.run("layout", payload)
        return JSONResponse(session.drawn)

    async def download(self, request: Request) -> Response:
        """Return a file of the board."""
        kind = request.path_params["kind"]
        session = self.session
        if kind not in WRITERS or not session.has_labels:
            return PlainTextResponse("There is no such file.", 404)
        given = {"people": session.people, "step": session.step, "kind": kind}
        payload = {**given, "language": _language(request)}
        content = await self.jobs.run("download", payload)
        # Whatever is in the file, a browser saves it and runs nothing.
        headers = {"content-disposition": f'attachment; filename="{kind}"'}
        if request.query_params.get("show") == "1" and kind in ("graph.png", "graph.svg"):
            headers = {}
        return Response(content, media_type=_KINDS[kind.rpartition(".")[2]], headers=headers)

    async def upload(self, request: Request) -> Response:
        """Take a file, and return its first rows."""
        upload = await self.uploads.take(request.query_params.get("name", ""), request.stream())
        try:
            asked = {"path": str(upload.path), "name": upload.name, "language": _language(request)}
            seen = await self.jobs.run("inspect", asked)
        except TaskFailed:
            self.uploads.drop(upload.key)
            raise
        return JSONResponse({"key": upload.key, **seen})

    async def open(self, request: Request) -> Response:
        """Open another board: an upload, an example, or one that is stored."""
        payload = await _payload(request)
        if "example" in payload:
            if payload["example"] not in EXAMPLES:
                raise ParameterError("There is no such example.")
            people, step = await run_in_threadpool(EXAMPLES[payload["example"]]), None
        elif "stored" in payload:
            people, step = await run_in_threadpool(persistence.stored_board, str(payload["stored"]))
        else:
            people, step = await self.jobs.run("read", {"request": self._asked(payload, _language(request))})
        number = payload.get("number")
        attribute = payload.get("attribute") if payload.get("kind") == "people" else None
        fresh = payload.get("fresh") is True
        step = None if fresh else step
        self.jobs.cancel_all()
        self._session = await run_in_threadpool(
            open_session,
            people,
            step,
            number if isinstance(number, int) else None,
            attribute if isinstance(attribute, str) else None,
            fresh=fresh,
            word=_word(payload),
        )
        self.uploads.clear()
        self.begin()
        self.jobs.publish("board", {})
        return await _json(self.session.board)

    async def preview(self, request: Request) -> Response:
        """Return what is understood of a file that was sent, before a board is made of it."""
        payload = await _payload(request)
        number = payload.get("number")
        asked = {
            "request": self._asked(payload, _language(request)),
            "number": number if isinstance(number, int) else None,
        }
        return JSONResponse(await self.jobs.run("preview", asked))

    def _asked(self, payload: dict[str, Any], language: str) -> ReadRequest:
        """Return how to read a file that was sent, checked."""
        upload = self.uploads.get(payload.get("upload"))
        people = self.uploads.get(payload["people"]) if payload.get("people") else None
        kind = payload.get("kind", "people")
        if kind not in ("people", "links", "board"):
            raise ParameterError("A file holds people, links or a board.")
        attribute = payload.get("attribute")
        columns, names = payload.get("columns") or {}, payload.get("names") or {}
        if not (isinstance(columns, dict) and isinstance(names, dict)):
            raise ParameterError("Columns and names are given by what they are.")
        options = dict(upload.options)
        known = options.get("columns") or {}
        if columns and self._offered is not None:  # the page names all columns of the sheet by their letters
            here = {one[key] for one in self._offered["columns"] for key in ("header", "letter")}
            known = {name: role for name, role in known.items() if name not in here}
        options["columns"] = {**known, **columns}
        options["names"] = {**(options.get("names") or {}), **names}
        return ReadRequest(
            str(upload.path),
            upload.name,
            kind,
            options,
            None if people is None else (str(people.path), people.name),
            attribute if isinstance(attribute, str) else None,
            language,
        )

    async def stored(self, request: Request) -> Response:
        """List the boards that are stored on this machine."""
        return await _json(persistence.stored_boards)

    async def forget(self, request: Request) -> Response:
        """Remove a stored board."""
        await run_in_threadpool(persistence.forget, request.path_params["mark"])
        return JSONResponse({})

    def routes(self) -> list[Route]:
        """Return all routes."""
        return [
            Route("/", self.page),
            Route("/enter", self.enter),
            Route("/static/{name}", self.static),
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
    *,
    fresh: bool = False,
    word: str = GROUP,
) -> Session:
    """Return a session: with the state that is given, else the one that was stored, else a new one."""
    if step is not None:
        return Session(people, step)
    asked_anew = fresh or number is not None or attribute is not None
    found = None if asked_anew else persistence.stored_step(people)
    if found is not None:
        return Session(people, found, restored=True)
    return Session(people, first_step(people, number, attribute, word))


def make_app(explorer: Explorer) -> Starlette:
    """Return the application, with sentences for everything that goes wrong."""

    def answer(status: int, say: Callable[[Exception], str]) -> Callable[[Request, Exception], Any]:
        async def handler(request: Request, error: Exception) -> Response:
            return JSONResponse({"error": say(error)}, status)

        return handler

    async def refuse(request: Request, error: Exception) -> Response:
        assert isinstance(error, BoardError)
        return JSONResponse({"error": str(error), "code": error.code, "values": error.values}, 400)

    return Starlette(
        routes=explorer.routes(),
        exception_handlers={
            BoardError: refuse,
            EquigraphError: answer(400, one_line),
            TaskFailed: answer(400, str),
            Cancelled: answer(409, lambda error: "Cancelled."),
            Exception: answer(500, lambda error: "Something went wrong inside; the board is as it was."),
        },
    )


async def _json(make: Callable[..., Any], *payload: Any) -> Response:
    return JSONResponse(await run_in_threadpool(make, *payload))


def _language(request: Request) -> str:
    """Return the language of a page, English where it has none of ours."""
    language = request.headers.get("accept-language", "")[:2].lower()
    return language if language in LANGUAGES else "en"


def _word(payload: dict[str, Any]) -> str:
    """Return what the language of a page calls a group."""
    word = payload.get("word")
    return word if isinstance(word, str) and word.isalpha() and len(word) <= 20 else GROUP


async def _payload(request: Request) -> dict[str, Any]:
    """Return the body of a request, or raise InputError."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise InputError("The request has to be JSON.")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_JSON:
            raise InputError("The request is too large.")
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        raise InputError("The request is no JSON.") from None
    if not isinstance(payload, dict):
        raise InputError("The request has to be a JSON object.")
    return payload
