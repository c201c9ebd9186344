"""Streams and online sessions behind a service: each step is a request, and the noise stays with the service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from .. import storage
from ..core.errors import reading
from ..curator.online import Online, online_mechanism
from ..curator.stream import QUERIES, Kind, Stream, StreamAnswer, stream_mechanism
from ..mechanisms import Sparse
from ..workloads import Price
from ..workloads.methods.weights.pmw import OnlineAnswer
from ..workloads.models.multiplicative_weights import LinearQuery, Weights
from . import wire

if TYPE_CHECKING:
    from ..curator.questions import QuestionLike
    from ..query.python.table_domain import TableDomain
    from .curator import RemoteCurator

_PRICES = ("epsilon", "delta", "rho", "share")


class Send(Protocol):
    """Sends a body to a place of a data set, or asks what is there, and returns the answer."""

    def __call__(self, place: str, body: Mapping[str, Any] | None = None) -> Any: ...


class RemoteStream(Stream):
    """A stream behind a service."""

    def __init__(self, curator: RemoteCurator, send: Send, kind: Kind, **terms: Any) -> None:
        curator.who(terms.pop("analyst", None))
        mechanism = stream_mechanism(curator.table, kind, **terms)
        if terms.get("epsilon") is not None:
            mechanism(terms["epsilon"])  # which refuses what has no meaning
        price = {name: terms.pop(name, None) for name in _PRICES}
        said = {"count": 1, "queries": QUERIES, "name": "stream", **terms, "threshold": int(terms["threshold"])}
        said["kind"] = "above_threshold" if kind is Sparse else "numeric_sparse"
        told = send("streams", {**said, "terms": wire.terms(price)})
        self._reader, self._send = curator, send
        self._place = f"streams/{quote(told['id'], safe='')}"
        with reading("this stream"):
            self.mechanism = mechanism(storage.read(told["stored"]))

    def ask(self, question: QuestionLike) -> StreamAnswer:
        self._plan(question)  # which refuses what is no count
        said = wire.question(self._reader._asked(question, {}))
        answer: StreamAnswer = self._send(f"{self._place}/asks", said)["answer"]
        return answer

    @property
    def left(self) -> int:
        return int(self._send(self._place)["left"])


class RemoteOnline(Online):
    """A session of online linear queries behind a service."""

    def __init__(self, curator: RemoteCurator, send: Send, domain: TableDomain, terms: dict[str, Any]) -> None:
        curator.who(terms.pop("analyst"))
        price = {name: terms.pop(name, None) for name in _PRICES}
        shape = {name: terms[name] for name in ("n", "queries", "updates", "grid")}
        mechanism = online_mechanism(domain, **shape)
        said = {**terms, "grid": wire.terms({"grid": terms["grid"]})["grid"], "domain": storage.write(domain)}
        told = send("online", {**{k: v for k, v in said.items() if v is not None}, "terms": wire.terms(price)})
        self.domain, self._send = domain, send
        self._place = f"online/{quote(told['id'], safe='')}"
        with reading("this session"):
            epsilon, rho, _ = storage.read(told["stored"])
        self.mechanism = mechanism(Price.of(epsilon=epsilon, rho=rho, unit=domain.distance))

    def ask(self, question: LinearQuery | Mapping[str, Any]) -> OnlineAnswer:
        told = self._send(f"{self._place}/asks", {"query": storage.write(self._asked(question))})
        return OnlineAnswer(told["value"], told["by"], told["error"])

    @property
    def model(self) -> Weights:
        with reading("this model"):
            model: Weights = storage.read(self._send(self._place)["stored"])
        return model

    @property
    def left(self) -> int:
        return int(self._send(self._place)["left"])
