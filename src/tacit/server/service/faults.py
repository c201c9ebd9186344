"""Errors as any door tells them: a code, a message, a remedy and a position, and nothing of the request.

One table says which code an error has, and whether its text may be told.  What is not in the table is a mistake of
ours, of which nothing is told.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ...core import errors as core
from .. import errors as service
from ..policy import PolicyRefused
from ..store.database import StoreConflict, StoreUnavailable
from .curators import DataSetUnavailable
from .texts import shown

# By kind, the first that fits: the code, and whether the text is told; some name places of this machine.
KINDS: tuple[tuple[type[Exception], str, bool], ...] = (
    (service.Unauthenticated, "unauthenticated", True),
    (service.NotFound, "not_found", True),
    (service.Forbidden, "forbidden", True),
    (service.ApprovalNeeded, "approval_needed", True),
    (service.Conflict, "conflict", True),
    (service.BadRequest, "bad_request", True),
    (service.Overloaded, "overloaded", True),
    (StoreConflict, "conflict", True),
    (StoreUnavailable, "unavailable", False),
    (DataSetUnavailable, "unavailable", False),
    (PolicyRefused, "policy", True),
    (core.BadQuestion, "bad_question", True),
    (core.BudgetExceeded, "budget_exceeded", True),
    (core.NoAllowance, "no_allowance", True),
    (core.Refused, "refused", True),
    (core.BadSchema, "bad_schema", True),
    (core.Malformed, "bad_parameter", True),
    (core.NewerVersion, "newer_version", True),
    (core.Exhausted, "exhausted", True),
    (core.DrawFailed, "draw_failed", True),
    (core.EngineUnavailable, "unavailable", False),
    (core.EngineError, "engine_failed", True),
    (core.LedgerConflict, "conflict", True),
    (core.LedgerError, "unavailable", False),
    (core.Missing, "missing", True),
    (core.TacitError, "refused", True),
)
MISTAKE = "mistake"
_UNTOLD = "The service cannot reach what it needs for this. Tell its operator, who finds the reason in the log."
_MISTAKEN = "The service made a mistake. Tell its operator the number of this request, by which the log has it."


@dataclass(frozen=True)
class Fault:
    """What is told of an error; `position` is the line and the column of a question, from 1."""

    code: str
    message: str
    remedy: str | None = None
    position: tuple[int, int] | None = None


def fault_of(error: BaseException, public: Collection[str] = frozenset()) -> Fault:
    """What is told of an error to who asked; `public` are the words of the public names of the data set."""
    found = next(((code, told) for kind, code, told in KINDS if isinstance(error, kind)), None)
    if found is None:
        return Fault(MISTAKE, _MISTAKEN)
    code, told = found
    if not told:
        return Fault(code, _UNTOLD)
    asked = error if isinstance(error, core.BadQuestion) else None
    message = shown(_without_given(error, str(error) if asked is None else asked.reason), public)
    wrong, stop, remedy = message.partition(". ")
    return Fault(code, f"{wrong}." if stop else message, remedy or None, None if asked is None else asked.position)


def _without_given(error: BaseException, message: str) -> str:
    """The message without what was given, where it ends in that."""
    given = f"; got {getattr(error, 'given', None)}"
    return f"{message.removesuffix(given)}." if message.endswith(given) else message
