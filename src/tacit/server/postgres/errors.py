"""Errors as PostgreSQL's clients read them: SQLSTATE, message, hint and position."""

from __future__ import annotations

from collections.abc import Callable, Collection

from ...core.errors import TacitError
from ..service.faults import MISTAKE, fault_of
from . import codec

# SQLSTATEs by the codes of `service/faults.py`.
STATES = {
    "unauthenticated": "28P01",  # invalid_password
    "not_found": "42P01",  # undefined_table
    "forbidden": "42501",  # insufficient_privilege
    "approval_needed": "55000",  # object_not_in_prerequisite_state
    "conflict": "40001",  # serialization_failure, which clients try again
    "bad_request": "22023",  # invalid_parameter_value
    "overloaded": "53000",  # insufficient_resources
    "unavailable": "58000",  # system_error
    "policy": "42501",
    "bad_question": "0A000",  # feature_not_supported
    "budget_exceeded": "53400",  # configuration_limit_exceeded
    "no_allowance": "42501",
    "refused": "0A000",
    "bad_schema": "22023",
    "bad_parameter": "22023",
    "newer_version": "0A000",
    "exhausted": "53400",
    "draw_failed": "55000",
    "engine_failed": "58000",
    "missing": "0A000",
    MISTAKE: "XX000",  # internal_error
}
SYNTAX, UNKNOWN_TABLE, CANCELLED, FAILED_TRANSACTION = "42601", "42P01", "57014", "25P02"
_UNREADABLE = ("This SQL cannot be parsed", "A quote or a comment")


class SqlError(TacitError):
    """An error with its SQLSTATE; `position` counts the characters of the statement from 1."""

    def __init__(self, state: str, message: str, hint: str = "", position: int | None = None) -> None:
        super().__init__(message)
        self.state, self.message, self.hint, self.position = state, message, hint, position


def told(
    error: BaseException, public: Collection[str], place: Callable[[tuple[int, int]], int] | None = None
) -> SqlError:
    """What is told of an error; `place` finds the character of the statement at a line and a column."""
    if isinstance(error, SqlError):
        return error
    fault = fault_of(error, public)
    state = SYNTAX if fault.message.startswith(_UNREADABLE) else STATES[fault.code]
    position = place(fault.position) if fault.position is not None and place is not None else None
    return SqlError(state, fault.message, fault.remedy or "", position)


def encoded(error: SqlError, severity: str = "ERROR") -> bytes:
    """An error as a message."""
    fields = {"S": severity, "V": severity, "C": error.state, "M": error.message}
    if error.hint:
        fields["H"] = error.hint
    if error.position is not None:
        fields["P"] = str(error.position)
    return codec.error(fields)


def notice(message: str) -> bytes:
    """A notice as a message."""
    return codec.error({"S": "NOTICE", "V": "NOTICE", "C": "00000", "M": message}, notice=True)
