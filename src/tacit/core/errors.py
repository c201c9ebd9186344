"""Every error tacit raises.

TacitError
├─ Refused              the question is understood and the answer is no
│  └─ BudgetExceeded    (budget, spent, cost)
├─ Malformed            what was asked cannot be read
│  ├─ BadParameter      (name, given, allowed)   a public parameter is outside its domain
│  ├─ BadData           (name, given, allowed)   a private value has the wrong shape or kind; it is never shown
│  └─ MixedRelations    (first, second)          losses under different neighbouring relations do not add
└─ Exhausted            (name, allowed)          an interactive mechanism has given all it may
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .budget import Budget
    from .loss import Loss


class TacitError(Exception):
    """The root of the tree."""

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

    def __init__(self, name: str, given: object, allowed: str) -> None:
        super().__init__(f"{name} must be {allowed}; got {given}")
        self.name, self.given, self.allowed = name, given, allowed


class BadParameter(Malformed):
    """A public parameter is outside its domain."""

    def __init__(self, name: str, given: object, allowed: str) -> None:
        try:
            text = repr(given)
        except ValueError:  # an integer too long to print
            text = f"a very large {type(given).__name__}"
        super().__init__(name, text if len(text) <= 80 else f"{text[:77]}...", allowed)


class BadData(Malformed):
    """A private value has the wrong shape or kind: `given` describes it by public facts, never by value."""


class MixedRelations(TacitError, ValueError):
    """Losses or distances under different neighbouring relations were added."""

    def __init__(self, first: object, second: object) -> None:
        super().__init__(
            f"cannot add a loss under {first} to one under {second}; state both distances under one relation"
        )
        self.first, self.second = first, second


class Exhausted(TacitError):
    """An interactive mechanism has given all that it may give."""

    def __init__(self, name: str, allowed: str) -> None:
        super().__init__(f"{name} is exhausted: it gives {allowed}; start a new one, which costs its full price again")
        self.name, self.allowed = name, allowed


class Refused(TacitError):
    """The question is understood and the answer is no; nothing was read and nothing spent."""


class BudgetExceeded(Refused):
    """The budget does not admit the cost after what is spent."""

    def __init__(self, budget: Budget, spent: Loss, cost: Loss) -> None:
        super().__init__(budget.refusal(spent, cost))
        self.budget, self.spent, self.cost = budget, spent, cost
