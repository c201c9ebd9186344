"""Silence: whatever fails between a charge and its draw becomes one error, of one class and one text, without a cause.

An exception that private data can cause is an answer that nobody paid for.  Engines promise that nothing in a table
makes them fail, and tests count every such failure as a leak; this is the second wall, should a promise be broken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..core.errors import EngineError, LedgerError

T = TypeVar("T")


def silently(step: Callable[[], T]) -> T:
    """The result of a step that touches private data; any failure in it becomes an `EngineError` that says nothing.

    An error of the ledger passes: it is about the ledger, and holds no data.
    """
    try:
        return step()
    except LedgerError:
        raise
    except Exception:
        pass
    raise EngineError  # here, outside the handler, so that the failure is not even its context
