"""Errors of a service as the errors of tacit that they were: the same class, and the same text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core import errors as core
from . import errors as service

# By the code that a service tells.
KINDS: Mapping[str, type[core.TacitError]] = {
    "unauthenticated": service.Unauthenticated,
    "not_found": service.NotFound,
    "forbidden": service.Forbidden,
    "approval_needed": service.ApprovalNeeded,
    "conflict": service.Conflict,
    "bad_request": service.BadRequest,
    "overloaded": service.Overloaded,
    "unavailable": service.Unreachable,
    "mistake": service.Unreachable,
    "policy": core.Refused,
    "bad_question": core.BadQuestion,
    "budget_exceeded": core.BudgetExceeded,
    "no_allowance": core.NoAllowance,
    "refused": core.Refused,
    "bad_schema": core.BadSchema,
    "bad_parameter": core.BadParameter,
    "newer_version": core.NewerVersion,
    "exhausted": core.Exhausted,
    "draw_failed": core.DrawFailed,
    "engine_failed": core.EngineError,
    "missing": core.Missing,
}


def error_of(told: Mapping[str, Any]) -> core.TacitError:
    """The error that a service told of; its fields beside the text are those that can be known here."""
    wrong = told["error"]
    reason = " ".join(text for text in (wrong["message"], wrong.get("remedy")) if text)
    kind, position = KINDS.get(wrong["code"], core.TacitError), wrong.get("position")
    if kind is core.BadQuestion:
        return core.BadQuestion(reason, None if position is None else (position[0], position[1]))
    error = kind.__new__(kind)  # whose constructor would ask for more than was told
    error.args = (reason,)
    vars(error).update(reason=reason, request_id=told.get("request_id"))
    return error
