"""The door: takes a request in, has the service answer it on a thread, and sends the answer out.

    on the event loop   credentials, limits, the body
    on a thread         authenticate, authorise, read the body as its type, do, write the answer
    on the event loop   send, and one line of the log

One hop to a thread and back is all the waiting that a request costs; the loop itself never waits for a disk.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from ...core.errors import TacitError
from ..errors import BadRequest, Overloaded, Unauthenticated
from ..service import Service
from ..store import Login
from . import log
from .call import JSON, Answer, Call
from .errors import answer_of
from .limits import Caps, Limits
from .metrics import Metrics
from .reading import LARGEST, read
from .routes import Route

COOKIE = "tacit_session"
PAGE = "page"  # what the header Tacit-Request says of requests that a page of ours makes
SECURITY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_SECURITY = [(name.lower().encode(), value.encode()) for name, value in SECURITY.items()]
_encoder = msgspec.json.Encoder(enc_hook=str)


class Door:
    """Answers requests for routes."""

    def __init__(self, service: Service, caps: Caps) -> None:
        self.service, self.caps, self.limits, self.metrics = service, caps, Limits(caps), Metrics()
        self.threads = ThreadPoolExecutor(caps.total, thread_name_prefix="tacit")
        self._known: set[str] = set()  # tokens that were recognised; who is not known counts by their address

    async def serve(self, route: Route, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        """Answer one request."""
        started, request_id, person = time.perf_counter(), secrets.token_hex(8), None
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        bearer, session = _credentials(headers)
        credential = bearer or session or ""
        try:
            with self.limits.entered(credential if credential in self._known else _address(scope)):
                body = b"" if route.decoder is None else await self._body(headers, receive)
                work = asyncio.get_running_loop().run_in_executor(
                    self.threads, self._work, route, scope, headers, (bearer, session), body, request_id
                )
                answer, person = await self._waited(work)
        except TacitError as error:
            answer = _encoded(answer_of(error, request_id))
        seconds = time.perf_counter() - started
        self.metrics.count(route.method, route.path, answer.status, seconds)
        log.request(
            request_id=request_id,
            method=route.method,
            route=route.path,
            status=answer.status,
            seconds=seconds,
            person=person,
        )
        await _send(send, answer, request_id, head=scope["method"] == "HEAD")

    async def _waited(self, work: asyncio.Future[tuple[Answer, str | None]]) -> tuple[Answer, str | None]:
        """The answer, if it comes in time; else the work goes on, and what it buys answers the same request later."""
        done, _ = await asyncio.wait((work,), timeout=self.caps.seconds)
        if not done:
            late = "This takes longer than the service waits. If it was charged, the charge is kept: ask again, free."
            raise Overloaded(late, after=5)
        return work.result()

    async def _body(self, headers: Mapping[str, str], receive: Any) -> bytes:
        """The body, if it is JSON, small enough, and arrives in time."""
        if headers.get("content-type", JSON).partition(";")[0].strip().lower() != JSON:
            raise BadRequest(f"A body must be of type {JSON}.", 415)
        if int(length) > LARGEST if (length := headers.get("content-length", "0")).isdecimal() else True:
            raise BadRequest(f"A body may have at most {LARGEST} bytes.", 413)
        parts, size = [], 0
        try:
            async with asyncio.timeout(self.caps.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise BadRequest("The body did not arrive.", 408)
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > LARGEST:
                        raise BadRequest(f"A body may have at most {LARGEST} bytes.", 413)
                    if not message.get("more_body"):
                        return b"".join(parts)
        except TimeoutError:
            raise BadRequest("The body did not arrive in time.", 408) from None

    def _work(
        self,
        route: Route,
        scope: Mapping[str, Any],
        headers: Mapping[str, str],
        credentials: tuple[str | None, str | None],
        body: bytes,
        request_id: str,
    ) -> tuple[Answer, str | None]:
        """The answer, with its body as bytes, and who asked."""
        person, public = None, frozenset[str]()
        try:
            login = self._login(route, scope, headers, credentials)
            person = None if login is None else login.person.name
            access = self.service.authorise(login and login.person, route.action, scope["path_params"].get("dataset"))
            if access.dataset is not None:
                public = self.service.curators.public_words(access.dataset)
            value = None if route.decoder is None else read(body, route.decoder)
            query = dict(parse_qsl(scope["query_string"].decode("latin-1"), max_num_fields=20))
            secure = scope["scheme"] == "https"
            call = Call(self.service, access, login, scope["path_params"], query, headers, value, secure)
            return _encoded(route.handler(call)), person
        except TacitError as error:
            return _encoded(answer_of(error, request_id, public)), person
        except ValueError:
            return _encoded(answer_of(BadRequest("The request cannot be read."), request_id)), person
        except Exception as error:
            log.event("mistake", request_id=request_id, route=route.path, kind=type(error).__name__, at=_place(error))
            return _encoded(answer_of(error, request_id)), person

    def _login(
        self,
        route: Route,
        scope: Mapping[str, Any],
        headers: Mapping[str, str],
        credentials: tuple[str | None, str | None],
    ) -> Login | None:
        """Who asks: by a token, or by the session of a browser, which must be on a page of ours to change anything."""
        bearer, session = credentials
        if bearer is None and session is not None:
            if route.method != "GET" and not _from_our_page(scope, headers):
                raise Unauthenticated
            login = self.service.authenticate(session, "session")
        else:
            login = self.service.authenticate(bearer)
        credential = bearer or session
        if login is not None and credential is not None:
            if len(self._known) > 10_000:
                self._known = set()
            self._known.add(credential)
        return login

    def close(self) -> None:
        """Finish what is under way, and let go of everything."""
        self.threads.shutdown(wait=True, cancel_futures=True)
        self.service.close()


def _credentials(headers: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The token and the session that a request shows."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    session = None
    for part in headers.get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            session = value
    return (token.strip() if scheme.lower() == "bearer" else None), session


def _address(scope: Mapping[str, Any]) -> str:
    client = scope.get("client")
    return f"address {client[0] if client else 'unknown'}"


def _from_our_page(scope: Mapping[str, Any], headers: Mapping[str, str]) -> bool:
    """Whether a request was made by a page of ours: browsers let no other page send this header, or this origin."""
    own = f"{scope['scheme']}://{headers.get('host', '')}"
    return headers.get("origin") == own and headers.get("tacit-request") == PAGE


def _encoded(answer: Answer) -> Answer:
    if isinstance(answer.body, bytes):
        return answer
    return Answer(_encoder.encode(answer.body), answer.status, answer.media, answer.headers)


def _place(error: Exception) -> str:
    """The line of our code that failed: of an error that nobody expected, nothing else is noted."""
    frame, place = error.__traceback__, ""
    while frame is not None:
        code = frame.tb_frame.f_code
        place, frame = f"{code.co_filename.rpartition('/')[2]}:{frame.tb_lineno} in {code.co_name}", frame.tb_next
    return place


async def _send(send: Any, answer: Answer, request_id: str, *, head: bool) -> None:
    fixed = [
        (b"content-type", answer.media.encode()),
        (b"content-length", str(len(answer.body)).encode()),
        (b"tacit-request-id", request_id.encode()),
        *_SECURITY,
    ]
    own = [(name.lower().encode(), value.encode("latin-1")) for name, value in answer.headers.items()]
    names = {name for name, _ in own}
    headers = [*(each for each in fixed if each[0] not in names), *own]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if head else answer.body})
