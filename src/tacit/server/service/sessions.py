"""Streams and online sessions: opened at a price, then asked step by step.

A session is known by a text that holds the terms it was opened with: any process can open it again by them, and it goes
on where it was.  Who asks by such a text buys nothing: what was not bought before is not there.
"""

from __future__ import annotations

import binascii
import json
import threading
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from ...core.accounting.loss import Loss
from ...curator import Curator, Stream
from ...curator.online import Online
from ...curator.purchase import Parts
from ...query.python.table_domain import TableDomain
from ...query.select.query import Query
from ...storage import canonical
from ...workloads.methods.weights.pmw import OnlineAnswer
from ...workloads.models.multiplicative_weights import LinearQuery
from ..errors import BadRequest, NotFound
from .admission import Admission
from .questions import stored
from .service import Access, Service

S = TypeVar("S", Stream, Online)
_MAX_OPEN = 64  # sessions that a process keeps at hand


class Sessions:
    """The sessions that this process has at hand, each with a lock: steps are taken one after the other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[tuple[str, str, str], tuple[Any, threading.Lock]] = OrderedDict()

    def at_hand(self, access: Access, number: str, reopen: Callable[[], S]) -> tuple[S, threading.Lock]:
        """A session of who asks, opened again if need be."""
        key = access.about.name, access.name, number
        with self._lock:
            if key in self._open:
                self._open.move_to_end(key)
                return self._open[key]
        session = reopen()
        with self._lock:
            if len(self._open) >= _MAX_OPEN:
                self._open.popitem(last=False)
            return self._open.setdefault(key, (session, threading.Lock()))


def open_stream(service: Service, access: Access, terms: dict[str, Any]) -> tuple[str, Stream, bool]:
    """Open a stream: the text by which it is asked, the stream, and whether it was open before."""
    return _open(service, access, terms, _stream)


def open_online(service: Service, access: Access, terms: dict[str, Any]) -> tuple[str, Online, bool]:
    """Open an online session: the text by which it is asked, the session, and whether it was open before."""
    return _open(service, access, terms, _online)


def ask_stream(service: Service, access: Access, number: str, question: str | Query) -> tuple[Any, int]:
    """The answer to a count, and how many more answers above the threshold there may be."""
    stream, lock = _again(service, access, number, _stream)
    with lock:
        return stream.ask(question), stream.left


def ask_online(
    service: Service, access: Access, number: str, question: LinearQuery | dict[str, Any]
) -> tuple[OnlineAnswer, int]:
    """The answer to a linear query, and how many more times the model may be moved."""
    online, lock = _again(service, access, number, _online)
    with lock:
        return online.ask(question), online.left


def draw_online(service: Service, access: Access, number: str, rows: int) -> Any:
    """Rows drawn from the model of an online session, as an Arrow table."""
    online, lock = _again(service, access, number, _online)
    with lock:
        return online.synthetic(rows)


def _stream(curator: Curator, terms: dict[str, Any]) -> Stream:
    opened = {name: terms[name] for name in ("count", "queries", "name")}
    kind = curator.numeric_sparse if terms["kind"] == "numeric_sparse" else curator.above_threshold
    return kind(terms["threshold"], **opened, **terms["price"])


def _online(curator: Curator, terms: dict[str, Any]) -> Online:
    if terms["domain"] is not None:
        domain = stored("domain", TableDomain, terms["domain"])
    elif terms["attributes"]:
        domain = curator.table.domain(*terms["attributes"])
    else:
        raise BadRequest("Give `attributes`, or a `domain`.")
    opened = {name: terms[name] for name in ("queries", "updates", "grid", "n", "name")}
    return curator.online(domain, **opened, **terms["price"])


def _open(
    service: Service, access: Access, terms: dict[str, Any], make: Callable[[Curator, dict[str, Any]], S]
) -> tuple[str, S, bool]:
    curator = service.buyer(access)
    request = ("stream", make.__name__, json.dumps(terms, sort_keys=True))
    admission = Admission(service, access, curator, "stream", request, fresh=False)
    session = make(curator.seen_by(access.name, admission), terms)
    text = json.dumps(terms, sort_keys=True, separators=(",", ":"))
    return urlsafe_b64encode(text.encode()).decode().rstrip("="), session, not admission.charged


def _again(
    service: Service, access: Access, number: str, make: Callable[[Curator, dict[str, Any]], S]
) -> tuple[S, threading.Lock]:
    def nothing_new(_loss: Loss, _parts: Parts) -> NoReturn:
        raise NotFound("session")

    def reopen() -> S:
        try:
            terms = json.loads(urlsafe_b64decode(number + "=" * (-len(number) % 4)))
            return make(service.curator(access).seen_by(access.name, nothing_new), terms)
        except NotFound:
            raise
        except (binascii.Error, KeyError, TypeError, UnicodeError, ValueError, BadRequest):
            raise NotFound("session") from None

    return service.sessions.at_hand(access, number, reopen)


def linear_query(written: Any) -> LinearQuery:
    """A linear query as tacit stores one."""
    query: LinearQuery = stored("linear query", LinearQuery, written)
    canonical(query)
    return query
