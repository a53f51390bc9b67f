"""The local server: HTTP in, plain data out, on this machine only.

A page of another site must learn nothing and change nothing (`Host`, `Origin` and `Sec-Fetch-Site` are
checked before anything else), a request can ask for only so much (its size, its time, how many at once), and
no path of a request ever becomes the path of a file: the few assets are read at the start and served from
memory.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import socket
import threading
from collections.abc import Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import byteloom

from . import assets
from .session import Session, ViewError

if TYPE_CHECKING:
    from fastapi import FastAPI, Request, Response
    from typing_extensions import Self

__all__ = ["Server", "answer", "create_app"]

log = logging.getLogger("byteloom.explorer")

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    # No text becomes markup, whatever our code does.
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_MISSING = "the explorer needs FastAPI and uvicorn: pip install 'byteloom[explorer]'"
# Views that run at once; one more waits, and what waits longer than the limit of time is told so.
_WORKERS = 4
# Seconds for a request to arrive in.
_PATIENCE = 5


# The answer to a question.


def answer(session: Session, tab: str, request: dict[str, Any]) -> dict[str, Any]:
    """What `POST /api/<tab>` answers: `records` and `strip`, or an `error` with its kind and its words.

    The file that `page` writes holds the same.
    """
    view: Callable[[Session, dict[str, Any]], dict[str, Any]]
    view = importlib.import_module(f"byteloom.explorer.views.{tab}").view
    try:
        strip = session.strip(session.tokenizer(request), session.text(request))
        return {"records": view(session, request), "strip": strip}
    except (ViewError, byteloom.ByteloomError, ValueError, MemoryError) as error:
        words = str(error) or "there is not enough memory for this"
        return {"error": {"kind": type(error).__name__, "message": words}}


def _warm(session: Session) -> None:
    """Begin what the first look at a tab needs and a large vocabulary makes slow."""
    try:
        for tab in assets.available_tabs():
            module = importlib.import_module(f"byteloom.explorer.views.{tab}")
            if hasattr(module, "warm"):
                module.warm(session)
    except Exception:
        log.exception("a view could not be prepared")


def _encoded(data: dict[str, Any]) -> bytes:
    """JSON in UTF-8; half a surrogate pair, which UTF-8 cannot hold, stays an escape."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def _no_constant(name: str) -> float:
    raise ViewError(f"{name} is no JSON")


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ViewError(f"the request is no JSON in UTF-8: {error}") from None
    if not isinstance(data, dict):
        raise ViewError("the request must be a JSON object")
    return data


# The application.


class _RefusalError(Exception):
    """A request that is not answered; `status` says how."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def _body(request: Request, most: int) -> bytes:
    """The body of a request, no longer than the limit."""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise _RefusalError(413, f"the request is longer than {most:,} bytes")
        parts.append(part)
    return b"".join(parts)


class _Guard:
    """Refuses what does not come from our own page, and puts the headers on every response."""

    def __init__(self, app: Callable[..., Any], port: int) -> None:
        names = ("127.0.0.1", "localhost")
        self._app = app
        self._hosts = {f"{name}:{port}".encode() for name in names}
        if port == 80:  # noqa: PLR2004 - which browsers leave out
            self._hosts.update(name.encode() for name in names)
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return

        gone = False

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            nonlocal gone
            if message["type"] == "http.response.start":
                own = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", ()), *own]}
            if gone:
                return
            try:
                await send(message)
            except Exception:  # noqa: BLE001 - whatever it is, there is nobody left to tell
                gone = True  # who broke off in the middle of a request

        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send_guarded)
        else:
            await _error(403, refusal)(scope, receive, send_guarded)

    def _refusal(self, scope: MutableMapping[str, Any]) -> str | None:
        values: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            values.setdefault(name, []).append(value)
        hosts = values.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return "this host name is not the explorer's: open the address that it printed"
        if any(origin.lower() not in self._origins for origin in values.get(b"origin", ())):
            return "the explorer answers only its own page"
        opens_the_page = scope["method"] in ("GET", "HEAD") and scope["path"] == "/"
        sites = values.get(b"sec-fetch-site", [])
        if not opens_the_page and any(site not in (b"same-origin", b"none") for site in sites):
            return "the explorer answers only its own page"
        return None


def _error(status: int, message: str, kind: str = "Refused") -> Response:
    from fastapi import Response

    content = _encoded({"error": {"kind": kind, "message": message}})
    return Response(content, status, media_type="application/json")


class _Work:
    """Views in threads: so many at once, each for so long."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._threads = ThreadPoolExecutor(_WORKERS, "byteloom-explorer")
        self._free = asyncio.Semaphore(_WORKERS)

    async def answer(self, tab: str, request: dict[str, Any]) -> bytes:
        """The body of the answer.

        A view that is too slow is not waited for. It keeps its thread until it ends, which the limits of
        the text and of the options make soon.
        """
        seconds = self._session.limits.seconds
        try:
            await asyncio.wait_for(self._free.acquire(), seconds)
        except asyncio.TimeoutError:
            raise _RefusalError(503, "the explorer is busy with other questions; try again") from None
        future = asyncio.get_running_loop().run_in_executor(self._threads, self._run, tab, request)
        future.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.shield(future), seconds)
        except asyncio.TimeoutError:
            raise _RefusalError(
                503, f"this took longer than {seconds:g} seconds; try a shorter text"
            ) from None

    def _done(self, future: asyncio.Future[bytes]) -> None:
        self._free.release()
        # Nobody may be waiting for it any more; then its error is not news.
        if not future.cancelled():
            future.exception()

    def _run(self, tab: str, request: dict[str, Any]) -> bytes:
        return _encoded(answer(self._session, tab, request))

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def create_app(session: Session, port: int) -> Callable[..., Any]:
    """The ASGI application.

    Args:
        session: What it shows.
        port: The port under which the browser reaches it, for the check of `Host`.

    Raises:
        ImportError: without FastAPI, naming the extra that brings it.
    """
    try:
        from fastapi import FastAPI, Response
    except ImportError:
        raise ImportError(_MISSING) from None

    # Half of the time is for what belongs to the tokenizers, half for the text.
    session.patience = session.limits.seconds / 2
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    work = _Work(session)
    described = _encoded({**session.describe(), "tabs": assets.available_tabs()})

    def asset(name: str) -> Callable[[Request], Any]:
        content = assets.asset_text(name).encode()
        kind = _TYPES["." + name.rpartition(".")[2]]

        async def get(_request: Request) -> Response:
            return Response(content, media_type=kind)

        return get

    async def get_session(_request: Request) -> Response:
        return Response(described, media_type="application/json")

    def question(tab: str) -> Callable[[Request], Any]:
        async def post(request: Request) -> Response:
            # Only our own page can send this type: another site's would have to ask for leave first.
            if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
                raise _RefusalError(415, "the request must be application/json")
            try:
                body = await asyncio.wait_for(_body(request, session.limits.body_bytes), _PATIENCE)
            except asyncio.TimeoutError:
                raise _RefusalError(408, "the request did not end in time") from None
            # Also an error in words is an answer: another status is a fault of the page to browsers.
            return Response(await work.answer(tab, _parsed(body)), media_type="application/json")

        return post

    app.add_route("/", asset("index.html"), methods=["GET"])
    for name in assets.asset_names()[1:]:
        app.add_route(f"/{name}", asset(name), methods=["GET"])
    app.add_route("/api/session", get_session, methods=["GET"])
    for tab in assets.available_tabs():
        app.add_route(f"/api/{tab}", question(tab), methods=["POST"])

    _add_errors(app)
    return _Guard(app, port)


def _add_errors(app: FastAPI) -> None:
    """Every error is JSON with a sentence; none tells what is inside."""
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect

    async def refused(_request: Request, error: Exception) -> Response:
        return _error(getattr(error, "status", 400), str(error))

    async def view_error(_request: Request, error: Exception) -> Response:
        return _error(400, str(error), "ViewError")

    async def http(_request: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 400)
        words = {404: "there is nothing here", 405: "this address takes another method"}
        return _error(status, words.get(status, "the request cannot be answered"))

    async def gone(_request: Request, _disconnect: Exception) -> Response:
        return _error(400, "the request broke off")

    async def failed(_request: Request, error: Exception) -> Response:
        log.error("a view failed", exc_info=error)
        return _error(500, "the explorer failed on this request; the terminal says how", "Failure")

    app.add_exception_handler(_RefusalError, refused)
    app.add_exception_handler(ViewError, view_error)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(ClientDisconnect, gone)
    app.add_exception_handler(Exception, failed)


def _timely_protocol() -> type[asyncio.Protocol]:
    from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

    class Timely(H11Protocol):
        """Hangs up where no request comes, or half of one; uvicorn itself waits for ever."""

        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._expect()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._waits() and self.conn.trailing_data[0]:
                self._expect()
            elif self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _waits(self) -> bool:
            cycle: RequestResponseCycle | None = self.cycle  # uvicorn's types leave `None` out
            return cycle is None or cycle.response_complete

        def _expect(self) -> None:
            if self._timer is None:
                self._timer = self.loop.call_later(_PATIENCE, self._hang_up)

        def _hang_up(self) -> None:
            self._timer = None
            if self._waits():
                self.transport.close()

    return Timely


class Server:
    """The explorer on a port of 127.0.0.1.

    Args:
        session: What it shows.
        port: The port; 0 takes a free one.

    Raises:
        ImportError: without FastAPI or uvicorn, naming the extra that brings them.
        OSError: if the port is taken.
    """

    def __init__(self, session: Session, port: int = 0) -> None:
        try:
            import uvicorn
        except ImportError:
            raise ImportError(_MISSING) from None

        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._socket.bind(("127.0.0.1", port))
            self.port: int = self._socket.getsockname()[1]
            app = create_app(session, self.port)
            # From here on a browser that comes early waits instead of failing.
            self._socket.listen(64)
        except BaseException:
            self._socket.close()
            raise
        config = uvicorn.Config(
            app,
            http=_timely_protocol(),
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",  # malformed requests are no news; faults of ours are logged
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=64,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=1 << 14,
        )
        self._server = uvicorn.Server(config)
        self._session = session
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.port}/"

    def run(self) -> None:
        """Serve until Ctrl-C."""
        threading.Thread(target=_warm, args=(self._session,), name="byteloom-warm", daemon=True).start()
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def start(self) -> None:
        """Serve in a thread, until `stop`."""
        self._thread = threading.Thread(target=self.run, name="byteloom-explorer-server", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End what `start` began."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(10)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
