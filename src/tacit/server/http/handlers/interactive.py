"""Streams and online sessions."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ....storage import canonical
from ...errors import BadRequest
from ...service import questions, sessions
from ..bodies import OnlineOf, OnlineQuestion, StreamOf, StreamQuestion, SyntheticRows
from ..call import Answer, Call
from ..linear_answers import OnlineOpened, OnlineStep, StreamAnswer, StreamStep
from .linear import rows_of
from .questions import finite, terms_of


def open_stream(call: Call) -> Answer:
    """Open a stream."""
    body: StreamOf = call.body
    facts = {name: getattr(body, name) for name in ("threshold", "kind", "count", "queries", "name")}
    terms = sessions.StreamTerms(price=terms_of(body.terms), **facts)
    number, stream, free = sessions.open_stream(call.service, call.access, terms)
    stored = Raw(canonical(stream.mechanism.epsilon).encode())
    return Answer(StreamAnswer(number, str(stream.mechanism), free, stream.left, stream.error(), stored))


def ask_stream(call: Call) -> Answer:
    """Ask a stream for a count."""
    body: StreamQuestion = call.body
    question = questions.question_of(call.service, body.sql, body.query)
    return Answer(StreamStep(*sessions.ask_stream(call.service, call.access, call.path["session"], question)))


def open_online(call: Call) -> Answer:
    """Open an online session."""
    body: OnlineOf = call.body
    facts = {name: getattr(body, name) for name in ("domain", "queries", "updates", "grid", "n", "name")}
    terms = sessions.OnlineTerms(attributes=tuple(body.attributes or ()), price=terms_of(body.terms), **facts)
    number, online, free = sessions.open_online(call.service, call.access, terms)
    m = online.mechanism
    stored = Raw(canonical((m.price.epsilon, m.price.rho, m.n)).encode())
    names = list(online.domain.names)
    return Answer(OnlineOpened(number, repr(online), names, free, online.left, finite(m.error()), stored))


def ask_online(call: Call) -> Answer:
    """Ask an online session a linear query."""
    body: OnlineQuestion = call.body
    if (body.where is None) == (body.query is None):
        raise BadRequest("Give the question as `where` or as `query`, and not as both.")
    question: Any = body.where if body.where is not None else sessions.linear_query(body.query)
    answer, left = sessions.ask_online(call.service, call.access, call.path["session"], question)
    return Answer(OnlineStep(answer.value, answer.by, answer.error, left))


def draw_online(call: Call) -> Answer:
    """Rows drawn from the model of an online session."""
    body: SyntheticRows = call.body
    return rows_of(call, sessions.draw_online(call.service, call.access, call.path["session"], body.rows))
