"""Every error tacit raises.

TacitError
├─ Refused              tacit understands the question and declines it; nothing was read or spent
│  ├─ BadQuestion       (reason, position)       the question cannot be answered privately
│  │  └─ Answered       a subquery has an answer of its own instead of rows of units (`tacit.query.sql`)
│  ├─ BudgetExceeded    (budget, spent, cost)    the budget does not admit the cost
│  ├─ NoAllowance       (analyst)                the ledger serves only analysts with an allowance
│  └─ Unanswered        a holdout set cannot tell the answer closely enough, which it counts (`tacit.holdout`)
├─ Malformed            an argument or a value cannot be used
│  ├─ BadParameter      (name, given, allowed)   a public parameter is outside its domain
│  │  └─ BadSchema      (name, given, allowed)   a schema, or the location of a table, is invalid
│  └─ BadData           (name, given, allowed)   a private value has the wrong shape or type; it is never shown
├─ NewerVersion         (what, reason)           a newer version of tacit wrote the stored value
├─ MixedRelations       (first, second)          losses or distances under different neighbouring relations were added
├─ Exhausted            (name, allowed)          an interactive mechanism has given all its answers
│  └─ Spent             (.., statement)          a holdout set has given all its answers (`tacit.holdout`)
├─ EngineError                                   an engine failed; its own message is never shown
│  ├─ EngineUnavailable (place, reason)          a table cannot be reached or read; nothing was charged
│  └─ DrawFailed                                 a draw failed after its first noise; its charge is spent
├─ LedgerError                                   the ledger cannot be used, and without it nothing is released
│  ├─ LedgerUnavailable (place, reason)          the ledger's file or database cannot be opened, read or written
│  │  └─ LedgerMoved    (place, reason)          the ledger's file or log was moved while it was open
│  ├─ LedgerCorrupt     (seq, reason)            an entry of the ledger is not what was written
│  └─ LedgerConflict    (reason)                 an earlier step, or another process, stands in the way
└─ Missing                                       an optional dependency that the call needs is not installed
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
    from .accounting.budget import Budget, SpentSoFar
    from .accounting.loss import Loss


MAX_SHOWN_MEMBERS = 100  # of a collection; a larger one is shown by its type
MAX_SHOWN_CHARACTERS = 80  # of a value


class TacitError(Exception):
    """The base of all errors.  Messages may quote names and questions, so control characters in them are escaped."""

    def __str__(self) -> str:
        return visible(super().__str__())

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (type(self), self.args, self.__dict__)


def _unpickled(kind: type[TacitError], args: tuple[object, ...], fields: dict[str, object]) -> TacitError:
    """Rebuild an error from its pickle, without calling its constructor."""
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(fields)
    return error


def _sentence(reason: str) -> str:
    """The reason with a full stop, unless it ends in a mark of its own."""
    return reason if reason.endswith((".", "?", "!")) else f"{reason}."


def _capital(text: str) -> str:
    """The text with a capital letter at its beginning, where it begins a sentence."""
    return f"{text[:1].upper()}{text[1:]}"


class Malformed(TacitError, ValueError):
    """An argument or a value cannot be used.

    The message is "NAME must be ALLOWED; got GIVEN", or `says` where a sentence of its own reads better.
    """

    def __init__(self, name: str, given: object, allowed: str, *, says: str = "") -> None:
        super().__init__(says or f"{name} must be {allowed}; got {given}")
        self.name, self.given, self.allowed = name, given, allowed


class BadParameter(Malformed):
    """A public parameter is outside its domain.  Objects that may hold data, such as frames, are shown by type."""

    def __init__(self, name: str, given: object, allowed: str, *, says: str = "") -> None:
        text = type(given).__name__
        if _showable(given) or _short_collection(given):
            try:
                text = str(given) if isinstance(given, Fraction) else repr(given)
            except ValueError:  # an integer too long to print
                text = f"a very large {text}"
        super().__init__(
            name,
            text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[: MAX_SHOWN_CHARACTERS - 3]}...",
            allowed,
            says=says,
        )


def _showable(given: object) -> bool:
    """Whether the value is safe to show: a number, text, a date, a path, a type, or an object of tacit's own."""
    date_or_path = any(hasattr(type(given), name) for name in ("isoformat", "__fspath__"))
    plain = isinstance(given, Number | str | bytes | range | type | None) or date_or_path
    return plain or type(given).__module__.partition(".")[0] == __name__.partition(".")[0]


def _short_collection(given: object) -> bool:
    """Whether the value is a short, flat collection of values that are safe to show; rows of a table are not."""
    if not isinstance(given, list | tuple | set | frozenset | dict) or len(given) > MAX_SHOWN_MEMBERS:
        return False
    return all(map(_showable, [*given, *given.values()] if isinstance(given, dict) else given))


class BadSchema(BadParameter):
    """A schema, or the location of a table, is invalid."""


class BadData(Malformed):
    """A private value has the wrong shape or type; `given` describes the value by public facts and never shows it."""


class NewerVersion(TacitError, ValueError):
    """A newer version of tacit wrote what is to be read."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(
            f"{_capital(what)} was written by a newer version of tacit: {reason}. Update tacit to read it."
        )
        self.what, self.reason = what, reason


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Say in errors of tacit why something stored cannot be read; `what` names the thing, as in "this release"."""
    try:
        yield
    except storage.WrittenLater as error:
        raise NewerVersion(what, str(error)) from None
    except storage.Unreadable as error:
        wrong = f"{_capital(what)} cannot be read: {error}."
        raise BadParameter("text", "other text", "as tacit wrote it", says=wrong) from None


class MixedRelations(TacitError, ValueError):
    """Losses or distances under different neighbouring relations were added."""

    def __init__(self, first: object, second: object) -> None:
        super().__init__(
            f"Losses or distances stated under {first} cannot be added to those under {second}."
            " State both under one neighbouring relation."
        )
        self.first, self.second = first, second


class Exhausted(TacitError):
    """An interactive mechanism has given all its answers."""

    def __init__(self, name: str, allowed: str, *, says: str = "") -> None:
        super().__init__(
            says or f"{name} is exhausted: it gives {allowed}. Start a new one, which costs its full price again."
        )
        self.name, self.allowed = name, allowed


class EngineError(TacitError):
    """An engine failed.  The engine's own message is not repeated, since it may hold private values."""

    def __init__(self) -> None:
        super().__init__("The engine failed. The charge is kept; ask again to complete it.")


class EngineUnavailable(EngineError):
    """A table cannot be reached or read; this is found out before anything is charged."""

    def __init__(self, place: object, reason: str) -> None:
        TacitError.__init__(self, f"{place} cannot be read: {_sentence(reason)} Nothing was charged.")
        self.place, self.reason = place, reason


class DrawFailed(EngineError):
    """A draw failed after its first noise.  Its charge is spent: to draw again would be another look at the data."""

    def __init__(self) -> None:
        TacitError.__init__(
            self,
            "The draw of this answer failed, and its charge is spent. Ask with fresh=True, which is charged again.",
        )


class Missing(TacitError, ImportError):
    """An optional dependency that the call needs is not installed."""


class Refused(TacitError):
    """tacit understands the question and declines it; nothing was read and nothing spent."""


class BadQuestion(Refused, ValueError):
    """The question cannot be answered privately; `position` is (line, column) in its text."""

    def __init__(self, reason: str, position: tuple[int, int] | None = None) -> None:
        super().__init__(reason if position is None else f"line {position[0]}, column {position[1]}: {reason}")
        self.reason, self.position = reason, position


class BudgetExceeded(Refused):
    """The budget, or the allowance of an analyst, does not admit the cost on top of what is spent."""

    def __init__(self, budget: Budget, spent: SpentSoFar, cost: Loss, *, analyst: str = "") -> None:
        super().__init__(budget.refusal(spent, cost, analyst))
        self.budget, self.spent, self.cost = budget, spent, cost


class NoAllowance(Refused):
    """The ledger serves only analysts with an allowance, and this analyst has none."""

    def __init__(self, analyst: str) -> None:
        super().__init__(
            f"{analyst!r} has no allowance, and this ledger serves only analysts who have one. Ask its curator."
        )
        self.analyst = analyst


class LedgerError(TacitError):
    """The ledger cannot be used, and without it nothing is released."""


class LedgerUnavailable(LedgerError):
    """The ledger's file or database cannot be opened, read or written."""

    def __init__(self, place: object, reason: str, *, says: str = "") -> None:
        super().__init__(says or f"The ledger {place} cannot be used: {_sentence(reason)} Nothing was released.")
        self.place, self.reason = place, reason


class LedgerMoved(LedgerUnavailable):
    """The ledger's file, or its log, was moved while it was open."""


class LedgerCorrupt(LedgerError):
    """An entry of the ledger is not what was written; entry 0 stands for the ledger as a whole."""

    def __init__(self, seq: int, reason: str) -> None:
        where = f"Entry {seq} of the ledger" if seq else "The ledger"
        advice = "Restore a copy, and verify it against the last head that was noted elsewhere."
        super().__init__(f"{where} is not what was written: {_sentence(reason)} {advice}")
        self.seq, self.reason = seq, reason


class LedgerConflict(LedgerError):
    """An earlier step, or a step of another process, stands in the way."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
