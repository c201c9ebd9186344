r"""Scores beyond accuracy, as questions that a holdout can answer: each is a mean of values in [0, 1], or of pairs.

    accuracy        whether a prediction is right
    log_loss        -ln of the probability of the true label, at most `most` nats, in units of `most`
    squared_error   (y - prediction)^2, at most `most`^2, in units of that; `rmse` reads the root from an answer
    r_squared       1 - E (y - prediction)^2 / Var(y), from the answers to three means: squared error, y and y^2
    auc             the chance that a positive record has the larger score of a random pair, ties half: of pairs

Bounds are declared, never taken from the data: values beyond `most` count as `most`, so the question is about the
clipped score, in the population as in the sample.  A score that is none of these has no bounded mean, and is refused.

`scaled`, `rmse` and `r_squared` turn answers and their width into a `Score`: its value, and the interval that contains
the true one.  As roots and ratios are monotone in each mean, that is the image of the intervals of the means.

Pairs [proved].  Of n1 positive and n0 negative records, m = min(n1, n0).  The area under the curve U is the mean of
1{s > s'} + 1{s = s'}/2 over all n1 n0 pairs.  For each way to match m positives with m negatives the matched pairs are
independent given the labels, and U is the average over all ways of the means of m such values.  By convexity E e^(r
U) is at most the average of E e^(r mean), so Chernoff's bound, and with it `histories.interval`, holds for U with m in
place of n (Hoeffding 1963, section 5).  Substituting a record that keeps its label moves U by at most 1/m.
`GuessAndCheck` asks about pairs: it counts histories, and each question brings its own m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadData
from ..core.parameters import Number, positive
from .questions import Pairs

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Score:
    """A score with the interval that contains the true one."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.4g}, and truly between {self.low:.4g} and {self.high:.4g}"


def accuracy(y: Any, predicted: Any) -> NDArray[np.bool_]:
    """Whether each prediction is right."""
    y, predicted = _columns(y, predicted)
    return np.asarray(y == predicted)


def log_loss(y: Any, probability: Any, *, most: Number) -> Floats:
    """-ln of the probability of the true label, at most `most`, in units of `most`; `y` is 0 or 1, or a column index.

    `probability` is that of label 1, or has a column for each label.
    """
    labels, chances = np.asarray(y), np.asarray(probability, np.float64)
    if chances.ndim == 1:
        chances = np.stack([1 - chances, chances], axis=1)
    if labels.ndim != 1 or len(labels) != len(chances) or not _are_columns(labels, chances.shape[1]):
        raise BadData("y", "something else", f"a whole number below {chances.shape[1]}, a column, for each record")
    if not bool(np.all((chances >= 0) & (chances <= 1))):
        raise BadData("probability", "some that are not", "from 0 to 1")
    true = chances[np.arange(len(labels)), labels.astype(np.int64)]
    cap = float(positive("most", most))
    return np.asarray(np.clip(-np.log(np.maximum(true, math.exp(-cap))) / cap, 0.0, 1.0), np.float64)


def squared_error(y: Any, predicted: Any, *, most: Number) -> Floats:
    """(y - prediction)^2, in units of `most`^2, and at most 1: errors beyond `most` count as `most`."""
    y, predicted = _columns(y, predicted)
    if not all(each.dtype.kind in "biuf" and not np.isnan(each).any() for each in (y, predicted)):
        raise BadData("y and predictions", "something else", "one number for each record, without NaN")
    cap = float(positive("most", most))
    off = np.abs(y.astype(np.float64) - predicted.astype(np.float64)) / cap
    return np.asarray(np.minimum(off, 1.0) ** 2, np.float64)


def in_units(y: Any, *, low: Number, high: Number) -> Floats:
    """Values clamped to [low, high], as a share of that range."""
    values, least, most = np.asarray(y, np.float64), float(low), float(high)
    if not least < most or values.ndim != 1 or bool(np.isnan(values).any()):
        raise BadData("y", "something else", "one number for each record, without NaN, and low below high")
    return (np.clip(values, least, most) - least) / (most - least)


def scaled(answer: float, width: float, *, most: Number) -> Score:
    """The score in its own units, for a mean in units of `most`: a log-loss."""
    cap = float(positive("most", most))
    return Score(cap * answer, cap * max(0.0, answer - width), cap * min(1.0, answer + width))


def rmse(answer: float, width: float, *, most: Number) -> Score:
    """The root of the mean squared error, for an answer about `squared_error` with this `most`."""
    cap = float(positive("most", most))
    low, high = math.sqrt(max(0.0, answer - width)), math.sqrt(min(1.0, answer + width))
    return Score(cap * math.sqrt(answer), cap * low, cap * high)


def r_squared(
    error: float, mean: float, square: float, width: float, *, most: Number, low: Number, high: Number
) -> Score:
    """1 - E (y - prediction)^2 / Var(y), for answers about `squared_error`, about y in units, and about their square.

    In units of the range of y the variance is E u^2 - (E u)^2.  The score is least where the error is greatest and the
    variance least; (E u)^2 is greatest and least at an end of its interval.
    """
    ratio = (float(positive("most", most)) / (float(high) - float(low))) ** 2

    def score(e: float, variance: float) -> float:
        return 1 - ratio * e / variance if variance > 0 else -math.inf

    ends = [max(0.0, mean - width), min(1.0, mean + width)]
    least = max(0.0, square - width) - ends[1] ** 2
    most_varied = min(0.25, min(1.0, square + width) - ends[0] ** 2)
    worst, best = score(min(1.0, error + width), least), score(max(0.0, error - width), most_varied)
    return Score(score(error, square - mean**2), worst, best)


def auc(y: Any, score: Any) -> Pairs:
    """The area under the curve: the share of pairs of a positive and a negative record that are in the right order."""
    y, score = _columns(y, score)
    labels, scores = y.astype(bool), score.astype(np.float64)
    if not bool(np.all((y == 0) | (y == 1))) or bool(np.isnan(scores).any()) or labels.all() or not labels.any():
        raise BadData("y and score", "something else", "labels 0 and 1, both of them, and a number for each record")
    negative = np.sort(scores[~labels])
    below = np.searchsorted(negative, scores[labels], "left") + np.searchsorted(negative, scores[labels], "right")
    ones, zeros = int(labels.sum()), int((~labels).sum())
    return Pairs(Fraction(int(below.sum()), 2 * ones * zeros), min(ones, zeros))


def _columns(*given: Any) -> tuple[NDArray[Any], ...]:
    """Arrays of one length and one axis."""
    found = tuple(np.asarray(each) for each in given)
    if any(each.ndim != 1 or len(each) != len(found[0]) for each in found):
        raise BadData("y and predictions", "something else", "one value for each record")
    return found


def _are_columns(labels: NDArray[Any], columns: int) -> bool:
    return labels.dtype.kind in "biu" and bool(np.all((labels >= 0) & (labels < columns)))
