"""Metrics of a leaderboard: each gives every row a value in [0, 1], higher if better, and the score is their mean.

    accuracy    whether the label was predicted
    auc         the share of pairs of a row of label 1 and one of label 0 that are in the right order, ties half
    brier       1 - (p - y)^2, for the probability p of label 1
    logloss     1 - min(-ln p, c) / c, for the probability p of the true label 0 or 1, where c = -ln 0.01
    mae         1 - |p - y| / (upper - lower), where both are clamped to the declared range
    rmse        1 - (p - y)^2 / (upper - lower)^2

A score is shown in the unit of its metric, such as a mean absolute error.  The area under the curve is a mean of pairs,
as accurate as a mean of as many rows as the rarer label has (`holdout/metrics.py`); so the promise of a board by it
tells how many these are.  What is no bounded mean has no place here: the promise would not hold for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BadData, BadParameter
from ...core.exact import Floats
from ...core.parameters import one_of, rational
from ..metrics import auc
from .ladder import UNIT

NAMES = ("accuracy", "auc", "brier", "logloss", "mae", "rmse")
_RANGED = ("mae", "rmse")
_CLIP = 0.01  # least probability that counts in a log-loss


@dataclass(frozen=True)
class Metric:
    """A metric by its name, with the range of labels where it needs one."""

    name: str
    lower: float = 0.0
    upper: float = 1.0

    @classmethod
    def read(cls, name: str, bounds: Sequence[Any] | None = None) -> Metric:
        """A metric, checked; `bounds` are the least and largest label, for mae and rmse."""
        one_of("metric", name, NAMES)
        if name not in _RANGED:
            if bounds is not None:
                raise BadParameter("bounds", bounds, f"given for {' and '.join(_RANGED)} only")
            return cls(name)
        if bounds is None or len(bounds) != 2:
            raise BadParameter("bounds", bounds, f"the least and the largest label, for {name}")
        lower, upper = (float(rational("bounds", bound)) for bound in bounds)
        if not lower < upper:
            raise BadParameter("bounds", [lower, upper], "two numbers that ascend")
        return cls(name, lower, upper)

    def __str__(self) -> str:
        return self.name

    def predictions(self, values: Sequence[object], ids: Sequence[str]) -> NDArray[Any]:
        """Predictions in the order of these ids, checked; messages may show them, since the team wrote them."""
        if self.name == "accuracy":
            labels = [canonical(value) for value in values]
            if missing := next((i for i, label in zip(ids, labels, strict=True) if not label), None):
                raise BadParameter("prediction", "", "a label", says=f"There is no prediction for id {missing!r}.")
            return np.array(labels, object)
        wanted = "a probability from 0 to 1" if self.name in ("brier", "logloss") else "a finite number"
        numbers = np.array([_number(value) for value in values])
        any_number = self.name in ("auc", *_RANGED)
        fine = np.isfinite(numbers) if any_number else (numbers >= 0) & (numbers <= 1)
        if not fine.all():
            i = int(np.argmin(fine))
            says = f"The prediction for id {ids[i]!r} must be {wanted}; got {str(values[i])[:40]!r}."
            raise BadParameter("prediction", str(values[i]), wanted, says=says)
        return numbers

    def labels(self, values: Sequence[object]) -> NDArray[Any]:
        """True labels, checked; messages name the row and never show the label."""
        if self.name == "accuracy":
            labels = np.array([canonical(value) for value in values], object)
            fine, wanted = labels != "", "labels that are not empty"
        else:
            labels = np.array([_number(value) for value in values])
            inside = (labels >= self.lower) & (labels <= self.upper)
            fine = inside if self.name in _RANGED else (labels == 0) | (labels == 1)
            wanted = f"from {self.lower:g} to {self.upper:g}" if self.name in _RANGED else "0 or 1"
        if not fine.all():
            raise BadData("labels", f"another in row {int(np.argmin(fine)) + 1} of the solution", wanted)
        return labels

    def size(self, labels: NDArray[Any]) -> int:
        """How many rows a score is as accurate as a mean of: all of them, or those of the rarer label."""
        return min(int((labels == 0).sum()), int((labels == 1).sum())) if self.name == "auc" else len(labels)

    def total(self, predictions: NDArray[Any], labels: NDArray[Any]) -> int:
        """The score times `size`, in steps of 1/1024."""
        if self.name == "accuracy":
            return UNIT * int(np.count_nonzero(predictions == labels))
        if self.name == "auc":
            pairs = auc(labels, predictions)
            return math.floor(pairs.mean * pairs.independent * UNIT + Fraction(1, 2))
        values = self._values(predictions.astype(np.float64), labels.astype(np.float64))
        return int(np.floor(np.clip(values, 0, 1) * UNIT + 0.5).astype(np.int64).sum())

    def _values(self, p: Floats, y: Floats) -> Floats:
        if self.name == "brier":
            return 1 - (p - y) ** 2
        if self.name == "logloss":
            right = np.maximum(np.where(y == 1, p, 1 - p), _CLIP)
            return 1 - np.log(right) / math.log(_CLIP)
        miss = np.abs(np.clip(p, self.lower, self.upper) - y) / (self.upper - self.lower)
        return 1 - miss if self.name == "mae" else 1 - miss**2

    def shown(self, score: float) -> float:
        """A score in the unit of the metric."""
        match self.name:
            case "accuracy" | "auc":
                return score
            case "brier":
                return 1 - score
            case "logloss":
                return (1 - score) * -math.log(_CLIP)
            case "mae":
                return (1 - score) * (self.upper - self.lower)
        return math.sqrt(max(0.0, 1 - score)) * (self.upper - self.lower)


def canonical(value: object) -> str:
    """A label as text: 1, 1.0 and " 1" are one label, and NaN is none."""
    text = str(value).strip()
    number = _number(text)
    if math.isnan(number) and text.lower().lstrip("+-") == "nan":
        return ""
    return repr(number + 0.0) if math.isfinite(number) else text


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return math.nan
