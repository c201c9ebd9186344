"""A holdout as a scorer, and the single split that it needs, for scikit-learn's `cross_val_score` and `GridSearchCV`.

    split = OneSplit(len(X), holdout=0.5)
    holdout = rule.open(split.held_out(X, y))
    score = scorer(holdout, split.training(X, y))
    GridSearchCV(model, grid, cv=split, scoring=score, refit=False, error_score="raise")

Use `refit=False`, since a refitted model would have seen the holdout records, and `error_score="raise"`, so that an
exhausted holdout raises an error instead of scoring NaN.  The scorer cannot be sent to another process: use n_jobs=1,
or threads.  This module does not import scikit-learn, which needs only these methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadParameter, Refused
from ..core.parameters import Number, probability, whole
from ..core.randomness import SYSTEM, Source
from ..core.samplers import permutation
from .questions import fingerprint
from .session import Holdout

RowIndices = NDArray[np.int64]


class OneSplit:
    """Training and holdout rows, drawn once, so that every search over models uses the same holdout set."""

    def __init__(self, n: int, holdout: Number = "0.5", *, source: Source = SYSTEM) -> None:
        n, held = whole("n", n, at_least=2), round(whole("n", n) * probability("holdout", holdout))
        if not 0 < held < n:
            raise BadParameter("holdout", holdout, f"a share that leaves records for both sets, of {n} in all")
        order = permutation(n, source)
        self.train: RowIndices = np.sort(order[held:])
        self.holdout: RowIndices = np.sort(order[:held])

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[tuple[RowIndices, RowIndices]]:
        """The rows to train on and the rows held out."""
        if X is not None and len(X) != self.train.size + self.holdout.size:
            raise BadParameter("X", f"{len(X)} rows", f"the {self.train.size + self.holdout.size} rows that were split")
        yield self.train, self.holdout

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of splits, which is one."""
        return 1

    def training(self, X: Any, y: Any) -> tuple[Any, Any]:
        """The training rows of features and labels."""
        return _rows(X, self.train), _rows(y, self.train)

    def held_out(self, X: Any, y: Any) -> tuple[Any, Any]:
        """The holdout rows of features and labels."""
        return _rows(X, self.holdout), _rows(y, self.holdout)


def _rows(data: Any, rows: RowIndices) -> Any:
    """These rows of a data frame or an array."""
    return data.iloc[rows] if hasattr(data, "iloc") else np.asarray(data)[rows]


def correct(model: Any, X: Any, y: Any) -> NDArray[np.bool_]:
    """Whether the prediction is right, for each record."""
    return np.asarray(model.predict(X) == np.asarray(y))


def scorer(
    holdout: Holdout, train: tuple[Any, Any], values: Callable[[Any, Any, Any], Any] = correct
) -> Callable[[Any, Any, Any], float]:
    """A scorer that asks the holdout about its records, with the model's mean value on `train` as the guess.

    `values(model, X, y)` gives each record its value in [0, 1], by default whether it was predicted right.  On the
    training records the score is the plain mean.  Other records are refused.
    """
    trained_on = fingerprint(tuple(train))

    def score(model: Any, X: Any, y: Any) -> float:
        records = fingerprint((X, y))
        guess = float(np.mean(values(model, *train)))
        if records == trained_on:
            return guess
        if records != holdout.fingerprint:
            raise Refused("These records are neither the training nor the holdout records of this scorer.")
        return holdout.ask((guess, values(model, X, y)))

    return score
