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
from equigraph.apps.explore import persistence
from equigraph.apps.explore.examples import EXAMPLES
from equigraph.apps.explore.files import WRITERS, static_text
from equigraph.apps.explore.jobs import Jobs
from equigraph.apps.explore.matter import Matter
from equigraph.apps.explore.safety import cookie_name, is_token
from equigraph.apps.explore.session import Session
from equigraph.apps.explore.steps import Step, first_step
from equigraph.apps.explore.uploads import Uploads
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
        self, session: Session, folder: Path, token: str, port: int, worker: Worker | None = None
    ) -> None:
        self.session, self.token, self.port = session, token, port
        self.jobs, self.uploads = Jobs(worker), Uploads(folder)

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
        """Return the board as a whole."""
        return await _json(self.session.board)

    async def state(self, request: Request) -> Response:
        """Return what changes."""
        return await _json(self.session.state)

    async def act(self, request: Request) -> Response:
        """Do something to the board."""
        told = await _told(request)
        session = self.session
        state = await run_in_threadpool(session.act, told)
        self.jobs.tell("state", {"revision": session.revision})
        self._renew_curve(session)
        return JSONResponse(state)

    def _renew_curve(self, session: Session) -> None:
        """Compute the curve again where it is cheap and the rules have changed."""
        small = session.matter.n_people <= _EAGER
        if session is self.session and small and session.has_labels and not session.curve_is_current():
            running = [job for job in self.jobs.running() if job["kind"] == "curve"]
            if not running or session.asked != session.step.question():
                self.start_curve(session)

    def start_curve(self, session: Session) -> dict[str, Any] | None:
        """Start a job that finds the curve."""
        step = session.step
        if not step.attributes or session is not self.session:
            return None
        session.asked = step.question()
        told = {"matter": session.matter, "step": step}
        job = self.jobs.start(
            "curve", told, self._then(session, lambda found: session.curve_found(found, step))
        )
        return job.facts()

    def _then(self, session: Session, take: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return what takes the answer of a job: for the board that asked, if it is still open."""
        loop = asyncio.get_running_loop()

        def done(found: Any) -> None:
            take(found)
            if session is self.session:
                loop.call_soon_threadsafe(self.jobs.tell, "state", {"revision": session.revision})

        return done

    def begin(self) -> None:
        """Find the first labels of a board that has none, and then its curve."""
        session, step = self.session, self.session.step
        if session.has_labels:
            self.start_curve(session)
            return

        self._make(session, step, step, "first")

    def _make(self, session: Session, basis: Step, step: Step, what: str) -> None:
        """Find labels for a step that has none yet, and then the curve; until then the board is as it was."""
        loop = asyncio.get_running_loop()

        def take(found: Any) -> None:
            then = replace(step, rules=found["rules"])
            session.labels_found(found["labels"], what, basis, then)
            loop.call_soon_threadsafe(self.start_curve, session)

        self.jobs.start("first", {"matter": session.matter, "step": step}, self._then(session, take))

    async def why(self, request: Request) -> Response:
        """Return why somebody is where she is."""
        who = request.query_params.get("who", "")
        number = int(who) if who.isdecimal() and len(who) < 10 else -1
        return await _json(self.session.why, number)

    async def number(self, request: Request) -> Response:
        """Ask for another number of clusters."""
        told = await _told(request)
        session, basis = self.session, self.session.step
        step = await run_in_threadpool(session.number, told.get("number"))
        self._make(session, basis, step, "number")
        return await _json(session.state)

    # Jobs

    async def start(self, request: Request) -> Response:
        """Start a job."""
        kind = str((await _told(request)).get("kind"))
        session, step = self.session, self.session.step
        if not session.has_labels:
            raise ParameterError("The groups are still being made: wait a moment.")
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
        told = {"matter": session.matter, "step": step}
        return JSONResponse(self.jobs.start(kind, told, self._then(session, takers[kind])).facts())

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
            told = {"matter": session.matter, "step": session.step}
            session.drawn = await self.jobs.run("layout", told)
        return JSONResponse(session.drawn)

    async def download(self, request: Request) -> Response:
        """Return a file of the board."""
        kind = request.path_params["kind"]
        session = self.session
        if kind not in WRITERS or not session.has_labels:
            return PlainTextResponse("There is no such file.", 404)
        told = {"matter": session.matter, "step": session.step, "kind": kind}
        content = await self.jobs.run("download", told)
        # Whatever is in the file, a browser saves it and runs nothing.
        headers = {"content-disposition": f'attachment; filename="{kind}"'}
        if request.query_params.get("show") == "1" and kind in ("graph.png", "graph.svg"):
            headers = {}
        return Response(content, media_type=_KINDS[kind.rpartition(".")[2]], headers=headers)

    async def upload(self, request: Request) -> Response:
        """Take a file, and return its first rows."""
        upload = await self.uploads.take(request.query_params.get("name", ""), request.stream())
        try:
            seen = await self.jobs.run("inspect", {"path": str(upload.path), "name": upload.name})
        except TaskFailed:
            self.uploads.drop(upload.key)
            raise
        return JSONResponse({"key": upload.key, **seen})

    async def open(self, request: Request) -> Response:
        """Open another board: an upload, an example, or one that is kept."""
        told = await _told(request)
        if "example" in told:
            if told["example"] not in EXAMPLES:
                raise ParameterError("There is no such example.")
            matter, step = await run_in_threadpool(EXAMPLES[told["example"]]), None
        elif "kept" in told:
            matter, step = await run_in_threadpool(persistence.kept_board, str(told["kept"]))
        else:
            matter, step = await self._read(told)
        number = told.get("number")
        fresh = told.get("fresh") is True
        step = None if fresh else step
        await run_in_threadpool(self._open, matter, step, number if isinstance(number, int) else None, fresh)
        self.uploads.clear()
        self.begin()
        self.jobs.tell("board", {})
        return await _json(self.session.board)

    async def preview(self, request: Request) -> Response:
        """Return what is understood of a file that was sent, before a board is made of it."""
        told = await _told(request)
        number = told.get("number")
        asked = {**self._asked(told), "number": number if isinstance(number, int) else None}
        return JSONResponse(await self.jobs.run("preview", asked))

    async def _read(self, told: dict[str, Any]) -> tuple[Matter, Step | None]:
        return await self.jobs.run("read", self._asked(told))

    def _asked(self, told: dict[str, Any]) -> dict[str, Any]:
        """Return how to read a file that was sent, checked."""
        upload = self.uploads.get(told.get("upload"))
        people = self.uploads.get(told["people"]) if told.get("people") else None
        kind = told.get("kind", "people")
        if kind not in ("people", "links", "board"):
            raise ParameterError("A file holds people, links or a board.")
        columns, attribute, names = told.get("columns"), told.get("attribute"), told.get("names")
        if not all(given is None or isinstance(given, dict) for given in (columns, names)):
            raise ParameterError("Columns and names are given by what they are.")
        return {
            "path": str(upload.path),
            "name": upload.name,
            "kind": kind,
            "columns": columns,
            "people": None if people is None else (str(people.path), people.name),
            "attribute": attribute if isinstance(attribute, str) else None,
            "accept_near": told.get("accept_near") is True,
            "names": names,
        }

    def _open(self, matter: Matter, step: Step | None, number: int | None, fresh: bool) -> None:
        self.jobs.cancel_all()
        self.session = open_session(matter, step, number, fresh=fresh)

    async def kept(self, request: Request) -> Response:
        """List the boards that are kept on this machine."""
        return await _json(persistence.kept_boards)

    async def forget(self, request: Request) -> Response:
        """Remove a kept board."""
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
            Route("/api/kept", self.kept),
            Route("/api/kept/{mark}", self.forget, methods=["DELETE"]),
        ]


def open_session(
    matter: Matter,
    step: Step | None = None,
    number: int | None = None,
    attribute: str | None = None,
    *,
    fresh: bool = False,
) -> Session:
    """Return a session: with the state that is given, else the one that was kept, else a new one."""
    if step is not None:
        return Session(matter, step)
    asked_anew = fresh or number is not None or attribute is not None
    kept = None if asked_anew else persistence.kept_step(matter)
    if kept is not None:
        return Session(matter, kept, restored=True)
    return Session(matter, first_step(matter, number, attribute))


def make_app(explorer: Explorer) -> Starlette:
    """Return the application, with sentences for everything that goes wrong."""

    def answer(status: int, say: Callable[[Exception], str]) -> Callable[[Request, Exception], Any]:
        async def handler(request: Request, error: Exception) -> Response:
            return JSONResponse({"error": say(error)}, status)

        return handler

    return Starlette(
        routes=explorer.routes(),
        exception_handlers={
            EquigraphError: answer(400, one_line),
            TaskFailed: answer(400, str),
            Cancelled: answer(409, lambda error: "Cancelled."),
            Exception: answer(500, lambda error: "Something went wrong inside; the board is as it was."),
        },
    )


async def _json(make: Callable[..., Any], *told: Any) -> Response:
    return JSONResponse(await run_in_threadpool(make, *told))


async def _told(request: Request) -> dict[str, Any]:
    """Return the body of a request, or raise InputError."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise InputError("The request has to be JSON.")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_JSON:
            raise InputError("The request is too large.")
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        raise InputError("The request is no JSON.") from None
    if not isinstance(told, dict):
        raise InputError("The request has to be a JSON object.")
    return told
