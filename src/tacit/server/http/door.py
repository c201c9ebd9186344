"""The door: takes a request in, has the service answer it on a thread, and sends the answer out.

    on the event loop   credentials, limits, the body
    on a thread         authenticate, authorise, read the body as its type, do, write the answer
    on the event loop   send, and one line of the log

One hop to a thread and back is all the waiting that a request costs; the loop itself never waits for a disk.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from ...core.errors import TacitError
from ..access import Action
from ..errors import BadRequest, Overloaded, Unauthenticated
from ..jobs import Jobs
from ..service import Service
from ..store import Login
from . import log
from .call import JSON, Answer, Call
from .errors import answer_of
from .limits import Limits
from .metrics import Metrics
from .reading import read
from .routes import Route

COOKIE = "tacit_session"
_QUESTIONS = frozenset((Action.BUY, Action.OFFER))
_PART = 1 << 16  # bytes of a file that are sent at once
_BODY_SECONDS = 10.0  # for a body to arrive
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
_encoder = msgspec.json.Encoder()


class Door:
    """Answers requests for routes."""

    def __init__(self, service: Service) -> None:
        self.service, self.caps, self.metrics = service, service.settings.limits, Metrics()
        self.limits, self.jobs = Limits(self.caps), Jobs(service, self.caps.jobs)
        self.threads = ThreadPoolExecutor(self.caps.running, thread_name_prefix="tacit")
        self._known: set[str] = set()  # tokens that were recognised; who is not known counts by their address

    async def serve(self, route: Route, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        """Answer one request."""
        started, request_id, person = time.perf_counter(), secrets.token_hex(8), None
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        bearer, session = _credentials(headers)
        credential = bearer or session or ""
        try:
            asker = credential if credential in self._known else _address(scope)
            with self.limits.entered(asker, question=route.action in _QUESTIONS):
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
        largest, length = self.caps.body, headers.get("content-length", "0")
        too_large = BadRequest(f"A body may have at most {largest} bytes.", 413)
        if not length.isdecimal() or len(length) > 15 or int(length) > largest:
            raise too_large
        parts, size = [], 0
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise BadRequest("The body did not arrive.", 408)
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > largest:
                        raise too_large
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
                public = self.service.curators.public_words(access.dataset) | {access.name.lower()}
            value = None if route.decoder is None else read(body, route.decoder, self.caps.depth)
            query = _parameters(scope["query_string"])
            digest = hashlib.sha256(scope["path"].encode() + b" " + body).hexdigest()
            secure = self._origin(scope, headers).startswith("https:")
            call = Call(
                self.service, self.jobs, access, login, scope["path_params"], query, headers, value, digest, secure
            )
            return _encoded(route.handler(call)), person
        except TacitError as error:
            return _encoded(answer_of(error, request_id, public)), person
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
            if route.method != "GET" and not self._from_our_page(scope, headers):
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

    def _origin(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> str:
        """Where browsers find this service: as it is configured, or as they say."""
        return self.service.settings.service.origin or f"{scope['scheme']}://{headers.get('host', '')}"

    def _from_our_page(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> bool:
        """Whether a page of ours made a request: browsers let no other page send this header, or this origin."""
        return headers.get("origin") == self._origin(scope, headers) and headers.get("tacit-request") == PAGE

    def close(self) -> None:
        """Finish what is under way, and let go of everything."""
        self.jobs.close()
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


def _parameters(text: bytes) -> dict[str, str]:
    """What stands after the question mark."""
    try:
        return dict(parse_qsl(text.decode("ascii"), max_num_fields=20)) if text else {}
    except ValueError:
        raise BadRequest("The parameters of the request cannot be read.") from None


def _address(scope: Mapping[str, Any]) -> str:
    client = scope.get("client")
    return f"address {client[0] if client else 'unknown'}"


def _encoded(answer: Answer) -> Answer:
    if isinstance(answer.body, bytes) or hasattr(answer.body, "read"):
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
    own = {name.lower().encode(): value.encode("latin-1") for name, value in answer.headers.items()}
    fixed = [(b"content-type", answer.media.encode()), (b"tacit-request-id", request_id.encode()), *_SECURITY]
    headers = [*(each for each in fixed if each[0] not in own), *own.items()]
    if isinstance(answer.body, bytes):
        headers.append((b"content-length", str(len(answer.body)).encode()))
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if head else answer.body})
        return
    with answer.body as file:
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        while not head and (part := await asyncio.to_thread(file.read, _PART)):
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
