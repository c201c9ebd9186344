"""The contract of a mechanism.

A mechanism is a frozen value.  Its file makes these statements, which the suite in `tacit.testing` checks against the
mechanism's own law:

    Definition.   the law of its output, exactly
    Privacy.      its loss as a function of distance
    Utility.      how far the output is from the truth, with what probability
    References.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, ClassVar, Generic, Self, TypeVar

from .accounting.loss import Loss
from .distance import Distance
from .errors import BadParameter
from .law import Law
from .parameters import Number, positive, probability
from .randomness import SYSTEM, Source
from .search import least_positive

X = TypeVar("X")
Y = TypeVar("Y")


@dataclass(frozen=True)
class Example(Generic[X]):
    """Hard neighbours: the mechanism's loss at `distance` must cover its laws on x and y, in both directions.

    `given` holds the arguments that `error` needs about x, such as its size; `draws` is the number of samples to test.
    """

    mechanism: Mechanism[X, Any]
    x: X
    y: X
    distance: Number | Distance[Any]
    given: Mapping[str, Any] = field(default_factory=dict)
    draws: int = 20_000


def _shown(value: object) -> str:
    """A parameter, as text that a person would write."""
    if isinstance(value, Distance) and value.l0 == 1 and value.relation is None:
        value = value.l1
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    if isinstance(value, Fraction):
        return str(value) if value.denominator < 1000 else f"{float(value):.6g}"
    return repr(value)


def epsilon_for(good: Callable[[float], bool], error: Number) -> str:
    """The least epsilon that achieves this error, as text of six digits, rounded up."""
    least = least_positive(good, floor=2.0**-40, ceiling=2.0**10, precision=2.0**-30)
    if least == math.inf:
        raise BadParameter(
            "error",
            error,
            "large enough to be achieved with an epsilon below 1024",
            says=f"No epsilon below 1024 achieves an error of {error}. Allow a larger error.",
        )
    return f"{least * (1 + 1e-5):.6g}"


class Mechanism(ABC, Generic[X, Y]):
    """A randomized map, a frozen dataclass, with its law, its privacy theorem, its utility theorem and its sampler."""

    @abstractmethod
    def law(self, x: X) -> Law:
        """The exact law of the output on x."""

    @abstractmethod
    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        """The privacy loss on inputs at most `distance` apart; by default, at the mechanism's sensitivity."""

    @abstractmethod
    def error(self, *, beta: Number = 0.05) -> float:
        """With probability at least 1 - beta the output misses the truth by no more than this."""

    @abstractmethod
    def miss(self, x: X, y: Y) -> float:
        """How far output y is from the truth on x, in the units of `error`."""

    @abstractmethod
    def sample(self, x: X, source: Source) -> Y:
        """Draw from `law(x)`."""

    @classmethod
    @abstractmethod
    def examples(cls) -> Iterable[Example[X]]:
        """Hard neighbours, for the suite."""

    theorem: ClassVar[str] = ""  # the bound behind `error` in a few words, for a reader of an answer

    @property
    def choices(self) -> int:
        """How many values the mechanism chooses for each input; 0 if it adds noise to the input."""
        return 0

    @property
    def added_noise(self) -> Mechanism[Any, Any]:
        """The mechanism whose noise a released number holds: this one, unless it selects by noisy counts."""
        return self

    def described(self) -> dict[str, Any]:
        """Noise and parameters, as the card of a release lists them."""
        return {}

    def __repr__(self) -> str:
        values = ((f.name, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{name}={_shown(v)}' for name, v in values if v is not None)})"

    def release(self, x: X) -> Y:
        """Draw from `law(x)` with the operating system's randomness."""
        return self.sample(x, SYSTEM)

    @classmethod
    def for_error(cls, error: Number, beta: Number = 0.05, **fixed: Any) -> Self:
        """The mechanism of least epsilon, to six digits, with at most this error at beta; `fixed` is the rest."""
        return cls._for_error(error, beta, {}, fixed)

    @classmethod
    def _for_error(cls, error: Number, beta: Number, given: Mapping[str, Any], fixed: Mapping[str, Any]) -> Self:
        """The mechanism of least epsilon, where `given` holds the further arguments of `error`."""
        target = float(min(positive("error", error), Fraction(10**100)))  # beyond any error
        probability("beta", beta)

        make: Callable[..., Self] = cls

        def good(epsilon: float) -> bool:
            return make(epsilon=epsilon, **fixed).error(beta=beta, **given) <= target

        return make(epsilon=epsilon_for(good, error), **fixed)

    def sample_size(self, relative_error: Number, beta: Number = 0.05) -> int:
        """The least n for which the error is at most `relative_error` times n."""
        return math.ceil(Fraction(self.error(beta=beta)) / positive("relative_error", relative_error))
