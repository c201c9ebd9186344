"""Every error tacit raises.

TacitError
├─ Refused              the question is understood and the answer is no
│  ├─ BadQuestion       (reason, position)       a question that is not of those that can be answered privately
│  ├─ BudgetExceeded    (budget, spent, cost)
│  └─ NoAllowance       (analyst)                this ledger serves only those who were given an allowance
├─ Malformed            what was asked cannot be read
│  ├─ BadParameter      (name, given, allowed)   a public parameter is outside its domain
│  │  └─ BadSchema      (name, given, allowed)   a schema, or the place of a table, is not as it must be
│  └─ BadData           (name, given, allowed)   a private value has the wrong shape or kind; it is never shown
├─ NewerVersion         (what, reason)           what was stored was written by a newer version of tacit
├─ MixedRelations       (first, second)          what is stated under different neighbouring relations does not add
├─ Exhausted            (name, allowed)          an interactive mechanism has given all it may
│  └─ Spent             (.., statement)          a holdout set has told all that it may (`tacit.holdout`)
├─ EngineError                                   an engine failed; its own words are never shown
│  └─ EngineUnavailable (place, reason)          where a table is cannot be reached or read; nothing was charged
├─ LedgerError                                   the ledger cannot be used, and without it nothing is released
│  ├─ LedgerUnavailable (place, reason)          its file or database cannot be opened, read or written
│  │  └─ LedgerMoved    (place, reason)          its file or log is no longer where it was when it was opened
│  ├─ LedgerCorrupt     (seq, reason)            an entry is not what was written
│  └─ LedgerConflict    (reason)                 what was done before, or by another process, stands against it
└─ Missing                                       an extra that the call needs is not installed
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from numbers import Number
from typing import TYPE_CHECKING

from .. import storage
from .safe_text import visible

if TYPE_CHECKING:
    from .accounting.budget import Budget, Spent
    from .accounting.loss import Loss


_SHORT = 100  # members of a collection that is shown


class TacitError(Exception):
    """The root of the tree.  A message may quote names and questions, so nothing in it acts on a terminal."""

    def __str__(self) -> str:
        return visible(super().__str__())

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[TacitError], args: tuple[object, ...], fields: dict[str, object]) -> TacitError:
    """An error as it was, from a pickle."""
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(fields)
    return error


class Malformed(TacitError, ValueError):
    """What was asked cannot be read."""

    def __init__(self, name: str, given: object, allowed: str, *, says: str = "") -> None:
        super().__init__(says or f"{name} must be {allowed}; got {given}")
        self.name, self.given, self.allowed = name, given, allowed


class BadParameter(Malformed):
    """A public parameter is outside its domain.  What may hold data, such as a frame, is told by its type alone.

    `says` is the whole message where "must be" and "got" would be clumsy.
    """

    def __init__(self, name: str, given: object, allowed: str, *, says: str = "") -> None:
        text = type(given).__name__
        if _written(given) or _several(given):
            try:
                text = str(given) if isinstance(given, Fraction) else repr(given)
            except ValueError:  # an integer too long to print
                text = f"a very large {text}"
        super().__init__(name, text if len(text) <= 80 else f"{text[:77]}...", allowed, says=says)


def _written(given: object) -> bool:
    """Whether it is what a person writes: a number, text, a date, a path, a type, or something of tacit's own."""
    alike = any(hasattr(type(given), name) for name in ("isoformat", "__fspath__"))
    plain = isinstance(given, Number | str | bytes | range | type | None) or alike
    return plain or type(given).__module__.partition(".")[0] == __name__.partition(".")[0]


def _several(given: object) -> bool:
    """Whether it is a short and flat collection of such: rows of a table are not."""
    if not isinstance(given, list | tuple | set | frozenset | dict) or len(given) > _SHORT:
        return False
    return all(map(_written, [*given, *given.values()] if isinstance(given, dict) else given))


class BadSchema(BadParameter):
    """A schema, or the place of a table, is not as it must be."""


class BadData(Malformed):
    """A private value has the wrong shape or kind: `given` describes it by public facts, never by value."""


class NewerVersion(TacitError, ValueError):
    """A newer version of tacit wrote what is to be read."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"{what} was written by a newer version of tacit: {reason}. Update tacit to read it.")
        self.what, self.reason = what, reason


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Say in errors of tacit why something stored cannot be read; `what` names it, as in "this release"."""
    try:
        yield
    except storage.WrittenLater as error:
        raise NewerVersion(what, str(error)) from None
    except storage.Unreadable as error:
        raise BadParameter(
            "text", type(what).__name__, "as tacit wrote it", says=f"{what} cannot be read: {error}."
        ) from None


class MixedRelations(TacitError, ValueError):
    """Losses or distances under different neighbouring relations were added."""

    def __init__(self, first: object, second: object) -> None:
        super().__init__(
            f"cannot add what is stated under {first} to what is under {second}; state both under one relation"
        )
        self.first, self.second = first, second


class Exhausted(TacitError):
    """An interactive mechanism has given all that it may give."""

    def __init__(self, name: str, allowed: str) -> None:
        super().__init__(f"{name} is exhausted: it gives {allowed}; start a new one, which costs its full price again")
        self.name, self.allowed = name, allowed


class EngineError(TacitError):
    """An engine failed.  What it said is not repeated, since it may hold cells."""

    def __init__(self) -> None:
        super().__init__("the engine failed; the charge is kept; ask again to complete it")


class EngineUnavailable(EngineError):
    """The place of a table cannot be reached or read, as is seen before anything is charged."""

    def __init__(self, place: object, reason: str) -> None:
        TacitError.__init__(self, f"{place} cannot be read: {reason}; nothing was charged")
        self.place, self.reason = place, reason


class Missing(TacitError, ImportError):
    """An extra that the call needs is not installed."""


class Refused(TacitError):
    """The question is understood and the answer is no; nothing was read and nothing spent."""


class BadQuestion(Refused, ValueError):
    """A question that is not of those that can be answered privately; `position` is (line, column) in its text."""

    def __init__(self, reason: str, position: tuple[int, int] | None = None) -> None:
        super().__init__(reason if position is None else f"line {position[0]}, column {position[1]}: {reason}")
        self.reason, self.position = reason, position


class BudgetExceeded(Refused):
    """The budget, or the allowance of an analyst, does not admit the cost after what is spent."""

    def __init__(self, budget: Budget, spent: Spent, cost: Loss, *, analyst: str = "") -> None:
        super().__init__(budget.refusal(spent, cost, analyst))
        self.budget, self.spent, self.cost = budget, spent, cost


class NoAllowance(Refused):
    """This ledger serves only those who were given an allowance."""

    def __init__(self, analyst: str) -> None:
        super().__init__(f"{analyst!r} has no allowance, which this ledger asks for; the curator can give one")
        self.analyst = analyst


class LedgerError(TacitError):
    """The ledger cannot be used, and without it nothing is released."""


class LedgerUnavailable(LedgerError):
    """The file or the database of the ledger cannot be opened, read or written."""

    def __init__(self, place: object, reason: str, *, says: str = "") -> None:
        super().__init__(says or f"the ledger {place} cannot be used: {reason}; nothing was released")
        self.place, self.reason = place, reason


class LedgerMoved(LedgerUnavailable):
    """The file of the ledger, or its log, is no longer where it was when it was opened."""


class LedgerCorrupt(LedgerError):
    """An entry is not what was written; entry 0 stands for the ledger as a whole."""

    def __init__(self, seq: int, reason: str) -> None:
        where = f"entry {seq} of the ledger" if seq else "the ledger"
        then = "restore a copy, and verify it against the last head that was noted elsewhere"
        super().__init__(f"{where} is not as it was written: {reason}; {then}")
        self.seq, self.reason = seq, reason


class LedgerConflict(LedgerError):
    """What was done before, or by another process meanwhile, stands against it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
