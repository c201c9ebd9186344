"""The errors of PEP 249, each raised from the error of tacit whose words it has.

Warning
Error
├─ InterfaceError          the interface is used wrongly: a closed cursor, rows before a question
└─ DatabaseError
   ├─ ProgrammingError     a question, a price or a parameter that cannot be used
   ├─ OperationalError     a budget, a ledger, an engine or a service stands in the way
   ├─ NotSupportedError    what this interface does not have
   └─ DataError, IntegrityError, InternalError   named by PEP 249, and never raised
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..core.errors import BadQuestion, Malformed, TacitError


class Warning(Exception):  # noqa: A001  # the name that PEP 249 gives it
    """Something important that is no error."""


class Error(Exception):
    """The base of all errors of this interface."""


class InterfaceError(Error):
    """The interface is used wrongly."""


class DatabaseError(Error):
    """What the curator refuses, or could not do."""


class DataError(DatabaseError):
    """Named by PEP 249, and never raised."""


class OperationalError(DatabaseError):
    """A budget, a ledger, an engine or a service stands in the way."""


class IntegrityError(DatabaseError):
    """Named by PEP 249, and never raised."""


class InternalError(DatabaseError):
    """Named by PEP 249, and never raised."""


class ProgrammingError(DatabaseError):
    """A question, a price or a parameter that cannot be used."""


class NotSupportedError(DatabaseError):
    """What this interface does not have."""


@contextmanager
def translated() -> Iterator[None]:
    """Raise errors of tacit as those of PEP 249, with the same words."""
    try:
        yield
    except (BadQuestion, Malformed) as error:
        raise ProgrammingError(str(error)) from error
    except TacitError as error:
        raise OperationalError(str(error)) from error
