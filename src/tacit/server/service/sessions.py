"""Streams and online sessions: opened at a price, then asked step by step.

A session is known by a text that holds the terms it was opened with: any process can open it again by them, and it goes
on where it was.  Who asks by such a text buys nothing: what was not bought before is not there.
"""

from __future__ import annotations

import binascii
import threading
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import msgspec

from ...core.accounting.loss import Loss
from ...core.errors import BadParameter, Malformed, Refused
from ...core.safe_text import visible
from ...curator import Curator, Stream
from ...curator.purchase import Parts
from ...query.select.query import Query
from ..errors import BadRequest, NotFound
from .admission import Admission, Request
from .questions import stored
from .service import Access, Service

if TYPE_CHECKING:
    from ...curator.online import Online
    from ...workloads.methods.weights.pmw import OnlineAnswer
    from ...workloads.models.multiplicative_weights import LinearQuery, Weights


_MAX_NAME = 200  # characters


def _check_name(name: str) -> None:
    """Refuse a name that nobody could read in a ledger or on a page."""
    if not 0 < len(name) <= _MAX_NAME or not name.strip() or visible(name) != name:
        raise BadParameter("name", name, f"a name of 1 to {_MAX_NAME} visible characters")


@dataclass(frozen=True, kw_only=True)
class StreamTerms:
    """What a stream is opened with."""

    threshold: int
    kind: Literal["above_threshold", "numeric_sparse"] = "above_threshold"
    count: int = 1
    queries: int = 1000
    name: str = "stream"
    price: Mapping[str, str | int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_name(self.name)

    def opened(self, curator: Curator) -> Stream:
        """The stream, which goes on if it was opened before."""
        kind = curator.numeric_sparse if self.kind == "numeric_sparse" else curator.above_threshold
        terms: dict[str, Any] = {"count": self.count, "queries": self.queries, "name": self.name, **self.price}
        return kind(self.threshold, **terms)

    @property
    def described(self) -> str:
        """The stream in words, for an owner."""
        says = "about how much a count is that reaches" if self.kind == "numeric_sparse" else "that a count reaches"
        times = "once" if self.count == 1 else f"{self.count} times"
        return f"a stream called {self.name}, which may say {times} {says} {self.threshold}"


@dataclass(frozen=True, kw_only=True)
class OnlineTerms:
    """What an online session is opened with."""

    attributes: tuple[str, ...] = ()
    domain: dict[str, Any] | None = None
    queries: int = 10_000
    updates: int | None = None
    grid: str | int = 1
    n: int | None = None
    name: str = "online"
    price: Mapping[str, str | int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_name(self.name)

    def opened(self, curator: Curator) -> Online:
        """The session, which goes on if it was opened before."""
        if (self.domain is None) == (not self.attributes):
            raise BadRequest("Give `attributes` or a `domain`, and not both.")
        if self.domain is None:
            domain = curator.table.domain(*self.attributes)
        else:
            from ...query.python.table_domain import TableDomain

            domain = stored("domain", TableDomain, self.domain)
        terms: dict[str, Any] = {"queries": self.queries, "updates": self.updates, "grid": self.grid, "n": self.n}
        return curator.online(domain, name=self.name, **(terms | dict(self.price)))

    @property
    def described(self) -> str:
        """The session in words, for an owner."""
        most = "" if self.updates is None else f", with at most {self.updates} updates"
        on = "" if self.domain is not None else f" on {' x '.join(self.attributes)}"
        return f"online queries called {self.name}{on}, {self.queries} of them{most}"


def open_stream(service: Service, access: Access, terms: StreamTerms) -> tuple[str, Stream, bool]:
    """Open a stream: the text by which it is asked, the stream, and whether it was open before."""
    curator, admission = _opening(service, access, terms)
    return _number(terms), terms.opened(curator), not admission.charged


def open_online(service: Service, access: Access, terms: OnlineTerms) -> tuple[str, Online, bool]:
    """Open an online session: the text by which it is asked, the session, and whether it was open before."""
    curator, admission = _opening(service, access, terms)
    return _number(terms), terms.opened(curator), not admission.charged


def ask_stream(service: Service, access: Access, number: str, question: str | Query) -> tuple[Any, int]:
    """The answer to a count, and how many more answers above the threshold there may be."""
    stream, lock = _again(service, access, number, StreamTerms)
    with lock:
        return stream.ask(question), stream.left


def ask_online(
    service: Service, access: Access, number: str, question: LinearQuery | Mapping[str, Any]
) -> tuple[OnlineAnswer, int]:
    """The answer to a linear query, and how many more times the model may be moved."""
    online, lock = _again(service, access, number, OnlineTerms)
    with lock:
        return online.ask(question), online.left


def stream_left(service: Service, access: Access, number: str) -> int:
    """How many more answers above the threshold a stream may give."""
    stream, lock = _again(service, access, number, StreamTerms)
    with lock:
        left: int = stream.left
        return left


def online_model(service: Service, access: Access, number: str) -> tuple[int, Weights]:
    """How many more times the model of a session may be moved, and the model, which is public."""
    online, lock = _again(service, access, number, OnlineTerms)
    with lock:
        return online.left, online.model


def draw_online(service: Service, access: Access, number: str, rows: int) -> Any:
    """Rows drawn from the model of an online session, as an Arrow table."""
    online, lock = _again(service, access, number, OnlineTerms)
    with lock:
        return online.synthetic(rows)


def _opening(service: Service, access: Access, terms: StreamTerms | OnlineTerms) -> tuple[Curator, Admission]:
    """The curator of a session that may be bought, and what says whether it was."""
    curator = service.buyer(access)
    admission = Admission(service, access, curator, Request("stream", terms.described, terms.price))
    return curator.seen_by(access.name, admission), admission


def _number(terms: StreamTerms | OnlineTerms) -> str:
    return urlsafe_b64encode(msgspec.json.encode(terms, order="sorted")).decode().rstrip("=")


def _again(service: Service, access: Access, number: str, kind: type[Any]) -> tuple[Any, threading.Lock]:
    def nothing_new(_key: str, _loss: Loss, _parts: Parts) -> NoReturn:
        raise NotFound("session")

    def reopen() -> Any:
        try:
            terms = msgspec.json.decode(urlsafe_b64decode(number + "=" * (-len(number) % 4)), type=kind)
        except (binascii.Error, msgspec.MsgspecError, RecursionError, ValueError):
            raise NotFound("session") from None
        try:
            return terms.opened(service.curator(access).seen_by(access.name, nothing_new))
        except (BadRequest, Malformed, Refused):  # terms at which nobody can have opened one
            raise NotFound("session") from None

    return service.sessions.at_hand((access.about.name, access.name, number), reopen)


def linear_query(written: Any) -> LinearQuery:
    """A linear query as tacit stores one."""
    from ...workloads.models.multiplicative_weights import LinearQuery

    query: LinearQuery = stored("linear query", LinearQuery, written)
    return query
