"""The door: takes a request in, has the service answer it on a thread, and sends the answer out.

    on the event loop   credentials, limits, the body; and answers that are always the same, such as that all is well
    on a thread         authenticate, authorise, read the body as its type, do, write the answer
    on the event loop   send, and one line of the log

One hop to a thread and back is all the waiting that a request costs; the loop itself never waits for a disk.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from ...core.errors import TacitError
from .. import log
from ..access import Action
from ..errors import BadRequest, Overloaded, Unauthenticated
from ..jobs import Jobs
from ..service import Access, Service
from ..service.texts import public_words
from ..store import Login
from ..store.database import number
from .call import JSON, Answer, Call
from .cookies import session_of
from .errors import answer_of
from .limits import Limits
from .metrics import Metrics
from .reading import read
from .routes import Route
from .threads import Threads

_QUESTIONS = frozenset((Action.BUY, Action.OFFER, Action.BOARD))
_PART = 1 << 16  # bytes of a file that are sent at once
_BODY_SECONDS = 10.0  # for a body to arrive
_GRACE = 10.0  # seconds for what is under way when the service ends
_REMEMBERED = 10_000  # tokens
_LATE = "This takes longer than the service waits. If it was charged, the charge is kept: ask again, free."
_ELSEWHERE = "Another site asks to sign you in or out here. Open the login page of this service itself."
_CLOSING = (408, 413)  # after which the rest of a body is not waited for
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


@dataclass
class Incoming:
    """A request as it arrived, with a number of its own."""

    route: Route
    scope: Mapping[str, Any]
    headers: Mapping[str, str]
    bearer: str | None
    session: str | None
    body: bytes = b""
    number: str = field(default_factory=number)

    @property
    def digest(self) -> str:
        """Of the path and the body: two requests that ask for the same have the same."""
        return hashlib.sha256(self.scope["path"].encode() + b" " + self.body).hexdigest()


class Door:
    """Answers requests for routes."""

    def __init__(self, service: Service) -> None:
        self.service, self.caps, self.metrics = service, service.settings.limits, Metrics()
        self.limits, self.jobs = Limits(self.caps), Jobs(service, self.caps.jobs)
        self.threads = Threads(self.caps.running)
        self._known: set[str] = set()  # tokens that were recognised; who is not known counts by their address

    async def serve(self, route: Route, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        """Answer one request."""
        started = time.perf_counter()
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        request = Incoming(route, scope, headers, *_credentials(headers))
        at_once = encoded(route.handler) if isinstance(route.handler, Answer) else None
        answer, person = (at_once, None) if at_once else await self._answered(request, receive)
        seconds = time.perf_counter() - started
        self.metrics.count(route.method, route.path, answer.status, seconds)
        facts: dict[str, Any] = {"method": route.method, "route": route.path, "status": answer.status}
        log.request(request_id=request.number, seconds=seconds, person=person, **facts)
        await _send(send, answer, request.number, head=scope["method"] == "HEAD")

    async def _answered(self, request: Incoming, receive: Any) -> tuple[Answer, str | None]:
        """The answer of a thread, within the limits, and who asked."""
        leave = None
        try:
            leave = self.limits.enter(self._asker(request), question=request.route.action in _QUESTIONS)
            if request.route.decoder is not None:
                request.body = await self._body(request.headers, receive)
            work = self.threads.run(lambda: self._work(request))
            if not (await asyncio.wait((work,), timeout=self.caps.seconds))[0]:
                work.add_done_callback(_after(leave))  # it goes on, and still counts
                leave = None
                raise Overloaded(_LATE, after=5)
            return work.result()
        except TacitError as error:
            return encoded(answer_of(error, request.number)), None
        finally:
            if leave is not None:
                leave()

    def _asker(self, request: Incoming) -> str:
        """Whose limits a request counts against: those of a token that was recognised before, or of an address."""
        credential = request.bearer or request.session or ""
        client = request.scope.get("client")
        return credential if credential in self._known else f"address {client[0] if client else 'unknown'}"

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

    def _work(self, request: Incoming) -> tuple[Answer, str | None]:
        """The answer, with its body as bytes, and who asked."""
        person, access, route, handler = None, None, request.route, request.route.handler
        assert callable(handler), route.path
        path: Mapping[str, str] = request.scope["path_params"]
        try:
            login = self._login(request)
            person = None if login is None else login.person.name
            access = self.service.authorise(login and login.person, route.action, path.get("dataset"))
            body = None if route.decoder is None else read(request.body, route.decoder, self.caps.depth)
            query = _parameters(request.scope["query_string"])
            call = Call(
                self.service,
                self.jobs,
                access,
                login,
                path,
                query,
                request.headers,
                body,
                request.digest,
                self._secure(request),
            )
            return encoded(handler(call)), person
        except TacitError as error:
            return encoded(answer_of(error, request.number, self._public_words(access))), person
        except Exception as error:
            mistake(error, request.number, route.path)
            return encoded(answer_of(error, request.number)), person

    def _public_words(self, access: Access | None) -> frozenset[str]:
        """The words of public names that an error may use to who asks, of whom one is their own."""
        if access is None or access.dataset is None:
            return frozenset()
        return self.service.curators.public_words(access.dataset) | public_words((access.name,))

    def _login(self, request: Incoming) -> Login | None:
        """Who asks: by a token, or by the session of a browser, which must be on a page of ours to change anything."""
        bearer, session = request.bearer, request.session
        if request.route.action is Action.SIGN_IN and self._from_elsewhere(request):
            raise BadRequest(_ELSEWHERE, 403)
        if bearer is None and session is not None:
            if request.route.method != "GET" and not self._from_our_page(request):
                raise Unauthenticated
            login = self.service.authenticate(session, "session")
        else:
            login = self.service.authenticate(bearer)
        if login is not None:
            if len(self._known) > _REMEMBERED:
                self._known = set()
            self._known.add(bearer or session or "")
        return login

    def _origin(self, request: Incoming) -> str:
        """Where browsers find this service: as it is configured, or as they say."""
        own = f"{request.scope['scheme']}://{request.headers.get('host', '')}"
        return self.service.settings.service.origin or own

    def _secure(self, request: Incoming) -> bool:
        return self._origin(request).startswith("https:")

    def _from_our_page(self, request: Incoming) -> bool:
        """Whether a page of ours made a request: browsers let no other page send this header, or this origin."""
        headers = request.headers
        return headers.get("origin") == self._origin(request) and headers.get("tacit-request") == PAGE

    def _from_elsewhere(self, request: Incoming) -> bool:
        """Whether a browser says that another site made a request, so that nobody is signed in as somebody else."""
        origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site", "none")
        return origin not in (None, self._origin(request)) or site not in ("none", "same-origin")

    def close(self) -> None:
        """Finish what is under way, or abandon it, and let go of everything."""
        self.jobs.close()
        if self.threads.close(_GRACE):
            self.service.close()
        else:
            log.event("abandoned")  # as safe as after a crash; the end of the process closes the rest


def _credentials(headers: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The token and the session that a request shows."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    session = session_of(headers["cookie"]) if "cookie" in headers else None
    return (token.strip() if scheme.lower() == "bearer" else None), session


def _after(leave: Callable[[], None]) -> Callable[[object], None]:
    return lambda _: leave()


def _parameters(text: bytes) -> dict[str, str]:
    """What stands after the question mark."""
    try:
        return dict(parse_qsl(text.decode("ascii"), max_num_fields=20)) if text else {}
    except ValueError:
        raise BadRequest("The parameters of the request cannot be read.") from None


def encoded(answer: Answer) -> Answer:
    """The answer with its body as bytes, or as the file that it is."""
    if isinstance(answer.body, bytes) or hasattr(answer.body, "read"):
        return answer
    return Answer(_encoder.encode(answer.body), answer.status, answer.media, answer.headers)


def mistake(error: BaseException, request_id: str, route: str) -> None:
    """Note an error that nobody expected: its kind and the line that failed, and nothing that it says."""
    log.event("mistake", request_id=request_id, route=route, kind=type(error).__name__, at=_place(error))


def _place(error: BaseException) -> str:
    frame, place = error.__traceback__, ""
    while frame is not None:
        code = frame.tb_frame.f_code
        place, frame = f"{code.co_filename.rpartition('/')[2]}:{frame.tb_lineno} in {code.co_name}", frame.tb_next
    return place


async def _send(send: Any, answer: Answer, request_id: str, *, head: bool) -> None:
    own = {name.lower().encode(): value.encode("latin-1") for name, value in answer.headers.items()}
    fixed = [(b"content-type", answer.media.encode()), (b"tacit-request-id", request_id.encode()), *_SECURITY]
    headers = [*(each for each in fixed if each[0] not in own), *own.items()]
    if answer.status in _CLOSING:
        headers.append((b"connection", b"close"))
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
