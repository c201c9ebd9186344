"""Errors as answers of HTTP: a status for each code of `service/faults.py`."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from ..errors import ApprovalNeeded, BadRequest, Overloaded
from ..service.faults import MISTAKE, fault_of
from .answers import Approval, ApprovalAnswer
from .call import Answer

STATUSES = {
    "unauthenticated": 401,
    "not_found": 404,
    "forbidden": 403,
    "approval_needed": 202,
    "conflict": 409,
    "bad_request": 400,
    "overloaded": 503,
    "unavailable": 503,
    "policy": 403,
    "bad_question": 422,
    "budget_exceeded": 403,
    "no_allowance": 403,
    "refused": 403,
    "bad_schema": 422,
    "bad_parameter": 422,
    "newer_version": 422,
    "exhausted": 409,
    "draw_failed": 409,
    "engine_failed": 503,
    "missing": 501,
    MISTAKE: 500,
}
_RETRY = "5"  # seconds after which what cannot be reached is tried again


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


def answer_of(error: BaseException, request_id: str, public: Collection[str] = frozenset()) -> Answer:
    """The answer to a request that failed, or that waits for an owner."""
    fault = fault_of(error, public)
    if isinstance(error, ApprovalNeeded):
        return Answer(ApprovalAnswer(Approval.of(error.approval), f"{fault.message} {fault.remedy}"), 202)
    status, headers = STATUSES[fault.code], dict[str, str]()
    if isinstance(error, BadRequest | Overloaded):
        status = error.status
    if status == 503:
        headers["Retry-After"] = _RETRY
    if isinstance(error, Overloaded):
        headers["Retry-After"] = str(error.after)
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    wrong = Wrong(fault.code, fault.message, fault.position, fault.remedy)
    return Answer(ErrorBody(wrong, request_id), status, headers=headers)
