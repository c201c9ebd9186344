"""Errors as answers: one table from kinds of errors to a status and a code, and one place where their text is made.

An answer says what is wrong and what to do, in tacit's own words and public names (`service/texts.py`); it repeats
nothing of the request.  Whatever is not in the table is a mistake of ours: status 500, and only the number of the
request, by which the operator finds it in the log.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from ...core import errors as core
from .. import errors as service
from ..policy import PolicyRefused
from ..service.texts import shown
from ..store.database import StoreConflict, StoreUnavailable
from .call import Answer

# The first that fits; those whose text is `False` name places of this machine, and are not shown.
KINDS: tuple[tuple[type[Exception], int, str, bool], ...] = (
    (service.Unauthenticated, 401, "unauthenticated", True),
    (service.NotFound, 404, "not_found", True),
    (service.Forbidden, 403, "forbidden", True),
    (service.ApprovalNeeded, 202, "approval_needed", True),
    (service.Conflict, 409, "conflict", True),
    (service.BadRequest, 400, "bad_request", True),
    (service.Overloaded, 503, "overloaded", True),
    (StoreConflict, 409, "conflict", True),
    (StoreUnavailable, 503, "unavailable", False),
    (PolicyRefused, 403, "policy", True),
    (core.BadQuestion, 422, "bad_question", True),
    (core.BudgetExceeded, 403, "budget_exceeded", True),
    (core.NoAllowance, 403, "no_allowance", True),
    (core.Refused, 403, "refused", True),
    (core.BadSchema, 422, "bad_schema", True),
    (core.BadParameter, 422, "bad_parameter", True),
    (core.Malformed, 422, "bad_parameter", True),
    (core.NewerVersion, 422, "newer_version", True),
    (core.Exhausted, 409, "exhausted", True),
    (core.DrawFailed, 409, "draw_failed", True),
    (core.EngineUnavailable, 503, "data_unavailable", False),
    (core.EngineError, 503, "engine_failed", True),
    (core.LedgerConflict, 409, "ledger_conflict", True),
    (core.LedgerError, 503, "ledger_unavailable", False),
    (core.Missing, 501, "missing", True),
    (core.TacitError, 422, "refused", True),
)
_HIDDEN = "The service cannot reach what it needs to answer. Its operator finds the reason in its log."
_MISTAKE = "The service made a mistake. Its operator finds it in the log by the number of this request."


class Wrong(Struct, frozen=True):
    """What is wrong; `position` is the line and the column of a question, from 1."""

    code: str
    message: str
    position: tuple[int, int] | None = None
    remedy: str | None = None


class ErrorBody(Struct, frozen=True):
    """The body of every error."""

    error: Wrong
    request_id: str


def answer_of(error: Exception, request_id: str, public: Collection[str] = frozenset()) -> Answer:
    """The answer to a request that failed."""
    status, code, speaks = next(
        ((s, c, t) for kind, s, c, t in KINDS if isinstance(error, kind)), (500, "mistake", False)
    )
    message = _MISTAKE if code == "mistake" else _HIDDEN
    position, headers = None, dict[str, str]()
    if speaks:
        message = error.reason if isinstance(error, core.BadQuestion) else str(error)
        message = shown(_without_given(error, message), public)
    if isinstance(error, core.BadQuestion):
        position = error.position
    if isinstance(error, service.BadRequest | service.Overloaded):
        status = error.status
    if isinstance(error, service.Overloaded):
        headers["Retry-After"] = str(error.after)
        code = "too_many_requests" if status == 429 else code
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    said, remedy = _parted(message)
    return Answer(ErrorBody(Wrong(code, said, position, remedy), request_id), status, headers=headers)


def _without_given(error: Exception, message: str) -> str:
    """The message without what was given, where it ends in that."""
    given = f"; got {getattr(error, 'given', None)}"
    return f"{message.removesuffix(given)}." if message.endswith(given) else message


def _parted(message: str) -> tuple[str, str | None]:
    """A message as what is wrong, and, if it has a second sentence, what to do about it."""
    wrong, stop, remedy = message.partition(". ")
    return (f"{wrong}.", remedy) if stop and remedy else (message, None)
