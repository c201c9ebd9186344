"""A holdout set as a scorer of scikit-learn.

    split = HoldoutSplit(X, y, keeper=ledger)
    score = HoldoutScorer(GuessAndCheck(n=split.n, width="0.05"), split)
    GridSearchCV(model, grid, cv=split, scoring=score).fit(*split.development)

A score of a model is the answer of the holdout set to "how often is the model right?", with the mean on the validation
rows as the guess.  scikit-learn passes the validation rows; the scorer has the holdout rows, which it passes to the
model itself.

Which rows.  The rows that are passed are compared with the validation rows: all labels, and the features of a few
hundred rows.  A part of the validation rows, as successive halving takes, is recognised by the marks of a few hundred
rows.  Training rows are scored by their plain mean, which tells nothing of the holdout set.  Any other rows are
refused.  Whatever is passed, no more is computed from the holdout set than the answer to a question.

Which columns.  Selectors of features pass some of the columns.  Columns of a data frame are known by their names, and
columns of an array by their values on the validation rows; those that agree on all of these count as one.

Lists.  A search that evaluates a list of candidates at once need not ask about them one after another.  `ListScorer`
only takes down the question about each model, as a `Question`; the search hands all of them to `settle`, which asks
them as one round, the bound for which is Bonferroni's (`histories.py`).

Errors.  scikit-learn catches what a scorer raises, and takes `error_score`, NaN by default, for the score: then the
search goes on, and `SequentialFeatureSelector` returns the first features.  But what a scorer returns is turned into a
number outside of that protection, by its method `item` (`_score` in sklearn/model_selection/_validation.py).  So a
refusal is not raised by the scorer.  It is returned as `NoScore`, which raises it when used as a number.

Processes.  A scorer whose session is in a ledger can be sent to another process, which opens the ledger again
(`split.py`).  A `ListScorer` needs no ledger for that, as only `settle` asks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from threading import Lock
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BadData, Exhausted, Refused, TacitError
from ..keeper import Keeper, Memory
from ..questions import Pairs
from ..records import row_marks
from ..rules.rule import Rule, Unanswered
from ..session import Holdout
from .split import HoldoutSplit, Rows, row_count, same, take

Values = Callable[[Any, Any, Any], Any]

_PROBES = 256  # rows whose features are compared
_OTHER_ROWS = (
    "These rows are neither validation nor training rows of the split. Pass cv=split, and fit on `split.development`."
)
_OTHER_COLUMNS = (
    "Some of these columns are none of the columns that were split. Put what transforms features into a Pipeline, so"
    " that it is fitted to training rows alone."
)
_sessions: dict[tuple[int, str, str], Holdout] = {}  # of scorers that came from other processes
_lock = Lock()


def correct(model: Any, X: Any, y: Any) -> NDArray[np.bool_]:
    """Whether the prediction is right, for each record."""
    predicted, labels = np.asarray(model.predict(X)), np.asarray(y)
    if labels.dtype.kind == "f" and bool(np.any(labels != np.round(labels))):
        allowed = "labels; for numbers pass `values`, such as 1 - metrics.squared_error(y, model.predict(X), most=...)"
        raise BadData("y", "numbers that are no labels", allowed)
    return np.asarray(predicted == labels.reshape(predicted.shape))


def mean_of(values: Any) -> float:
    """The mean of one value for each record, or of pairs of records."""
    return float(values.mean if isinstance(values, Pairs) else np.mean(np.asarray(values, np.float64)))


class NoScore:
    """A score that there is none of: every use as a number raises the reason.  scikit-learn calls `item`."""

    def __init__(self, reason: TacitError) -> None:
        self.reason = reason

    def item(self) -> NoReturn:
        """Raise the reason; as `Refused` if it is a ValueError, which scikit-learn suppresses here."""
        if isinstance(self.reason, ValueError):
            raise Refused(str(self.reason)) from self.reason
        raise self.reason

    def _raise(self, *_: object) -> NoReturn:
        self.item()

    __float__ = __bool__ = __add__ = __radd__ = __sub__ = __rsub__ = __lt__ = __gt__ = __round__ = _raise

    def __repr__(self) -> str:
        return f"NoScore: {self.reason}"


class Question(float):
    """A question about a model that was not asked yet: the guess, with the values of the holdout rows."""

    values: Any

    def __new__(cls, guess: float, values: Any = None) -> Question:
        """Values are None only until a pickled question is complete."""
        question = super().__new__(cls, guess)
        question.values = values
        return question


class HoldoutScorer:
    """A scorer that asks a holdout set by a rule; `values(model, X, y)` gives each record its value in [0, 1].

    It may also give a mean of pairs, as `metrics.auc` does.  Values are the larger the better.
    """

    def __init__(
        self,
        rule: Rule,
        split: HoldoutSplit,
        values: Values = correct,
        *,
        analyst: str = "analyst",
        unprotected: bool = False,
    ) -> None:
        """Open the session of the holdout rows; `unprotected` is that of `Rule.open`."""
        self.rule, self.split, self.values = rule, split, values
        self.analyst, self.unprotected = analyst, unprotected
        self.holdout = self._open(split.keeper)
        self._prepare()

    def _open(self, keeper: Keeper) -> Holdout:
        ids = None if self.split.ids is None else take(np.asarray(self.split.ids), self.split.holdout)
        how: dict[str, Any] = {"analyst": self.analyst, "unprotected": self.unprotected, "ids": ids}
        return self.rule.open(self.split.held_out, keeper=keeper, **how)

    def _prepare(self) -> None:
        """Take the parts once: every score uses them."""
        X, y = self.split.X, self.split.y
        parts = self.split.validation, self.split.train, self.split.holdout
        self._labels = [None if y is None else np.asarray(take(y, rows)) for rows in parts]
        self._features = take(X, self.split.holdout)
        self._marks: list[NDArray[np.uint64]] = []

    def __call__(self, model: Any, X: Any, y: Any = None) -> Any:
        """The answer of the holdout set, or `NoScore`; for training rows their plain mean."""
        try:
            found = self._question(model, X, y)
            return self._answer(found) if isinstance(found, Question) else found
        except (Refused, Exhausted, ValueError) as error:
            if not isinstance(error, TacitError):  # of the model, for scikit-learn to treat
                raise
            return NoScore(error)

    def _answer(self, question: Question) -> float:
        return self.holdout.ask((float(question), question.values))

    def _question(self, model: Any, X: Any, y: Any) -> float | Question:
        """The question about a model; for training rows their plain mean."""
        validation, columns = self._recognise(X, y)
        if validation and row_count(X) < self.split.validation.size:  # all of them make a better guess
            X, y = self._like(X, take(self.split.X, self.split.validation)), self._labels[0]
        mean = mean_of(self.values(model, X, y))
        return Question(mean, self._held_values(model, X, columns)) if validation else mean

    def _held_values(self, model: Any, X: Any, columns: Any) -> Any:
        """The values of the holdout rows; why there are none is not shown, since it may be private."""
        held = self._features if columns is None else _columns(self._features, columns)
        try:
            return self.values(model, self._like(X, held), self._labels[2])
        except Exception as error:
            raise Refused(
                f"The model cannot be applied to the holdout rows ({type(error).__name__}). Let it, or `values`, give"
                " every row a value, also where numbers are missing."
            ) from None

    def _like(self, X: Any, ours: Any) -> Any:
        """Our rows as an array, if the model is given arrays, or else as they are."""
        return np.asarray(ours) if hasattr(ours, "columns") and not hasattr(X, "columns") else ours

    def _recognise(self, X: Any, y: Any) -> tuple[bool, Any]:
        """Whether these are validation rows rather than training rows, and which columns; None stands for all."""
        n, parts = row_count(X), (self.split.validation, self.split.train)
        names, refusal = list(X.columns) if hasattr(X, "columns") else None, _OTHER_ROWS
        for validation, rows, labels in zip((True, False), parts, self._labels[:2], strict=True):
            if n != rows.size or (labels is not None and not same(y, labels)):
                continue
            refusal = _OTHER_COLUMNS
            probes = np.unique(np.linspace(0, n - 1, _PROBES).astype(np.int64))
            given, ours = _table(take(X, probes)), _table(take(self.split.X, rows[probes]))
            if names is not None and hasattr(self.split.X, "columns"):
                known = list(self.split.X.columns)
                if set(names) <= set(known) and _equal(given, ours[:, [known.index(name) for name in names]]):
                    return validation, names
            elif given.shape == ours.shape and _equal(given, ours):
                return validation, None
            elif (found := self._matched(X, rows)) is not None:
                return validation, found
        return self._part_of_validation(X, y, refusal), None

    def _matched(self, X: Any, rows: Rows) -> Rows | None:
        """The columns that have these values on these rows, in their order; None if some are not found."""
        places: dict[bytes, list[int]] = {}
        for i, column in enumerate(_keys(take(self.split.X, rows))):
            places.setdefault(column, []).append(i)
        found = []
        for column in _keys(X):
            if column not in places:
                return None
            alike = places[column]
            found.append(alike.pop(0) if len(alike) > 1 else alike[0])
        return np.array(found, np.int64)

    def _part_of_validation(self, X: Any, y: Any, refusal: str) -> bool:
        """Whether these are some of the validation rows, or else some of the training rows; others are refused."""
        if not self._marks:
            everything = self.split.X if self.split.y is None else (self.split.X, self.split.y)
            marks = row_marks(everything, b"")
            self._marks = [np.unique(marks[rows]) for rows in (self.split.validation, self.split.train)]
        probes = np.unique(np.linspace(0, max(0, row_count(X) - 1), _PROBES).astype(np.int64))
        given = take(X, probes) if self.split.y is None else (take(X, probes), take(y, probes))
        marks = row_marks(given, b"")
        if np.isin(marks, self._marks[0]).all():
            return True
        if np.isin(marks, self._marks[1]).all():
            return False
        raise Refused(refusal)

    def __repr__(self) -> str:
        return f"HoldoutScorer({self.rule!r}, {self.split!r})"

    def __deepcopy__(self, memo: object) -> HoldoutScorer:
        return self  # a copy of a search asks the same holdout set

    def __getstate__(self) -> dict[str, Any]:
        if isinstance(self.split.keeper, Memory):
            raise TypeError(
                "The session of this holdout set is in the memory of this process. Keep it in a ledger, with"
                " HoldoutSplit(X, y, keeper=Ledger.open(place, budget)), or use n_jobs=1."
            )
        kept = ("rule", "split", "values", "analyst", "unprotected")
        return {name: vars(self)[name] for name in kept} | {"known_as": self.holdout.fingerprint}

    def __setstate__(self, state: dict[str, Any]) -> None:
        session = id(state["split"].keeper), state.pop("known_as"), repr(state["rule"])
        vars(self).update(state)
        with _lock:
            self.holdout = _sessions.get(session) or self._open(self.split.keeper)
            _sessions[session] = self.holdout
        self._prepare()


class ListScorer(HoldoutScorer):
    """A scorer for searches that evaluate lists: a score is a `Question`, and `settle` asks a list of them at once."""

    asks = True  # whether the session is in this process: others only take down questions

    def _answer(self, question: Question) -> float:
        if self.asks:
            self.rule.refuse_if_over(self.holdout.state)
        return question

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in ("rule", "split", "values", "analyst", "unprotected")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, asks=False)
        self._prepare()

    def settle(self, results: Sequence[dict[str, Any]]) -> None:
        """Put answers in the place of questions, in the results of scikit-learn for each candidate.

        The questions are one round, or, by a rule that declares questions but no `rounds`, one after another.  A
        candidate that the holdout set cannot tell of has NaN, which scikit-learn ranks last; there must be others.
        """
        asked = [result for result in results if isinstance(result["test_scores"], Question)]
        questions = [(float(each["test_scores"]), each["test_scores"].values) for each in asked]
        if self.rule.limit is None or self.rule.rounds is not None:
            answers = self.holdout.ask_all(questions)
        else:
            answers = [answer for each in questions for answer in self.holdout.ask_all([each])]
        if answers and all(map(math.isnan, answers)):
            raise Unanswered(
                f"The holdout set cannot answer any of {len(answers)} candidates to the width of its rule. Take a rule"
                " with a larger width, or hold out more rows. See `tacit docs holdout`."
            )
        for result, answer in zip(asked, answers, strict=True):
            result["test_scores"] = answer


def _table(data: Any) -> NDArray[Any]:
    """Rows as an array of two dimensions."""
    array = data.toarray() if hasattr(data, "toarray") else np.asarray(data)
    return np.asarray(array).reshape(len(array), -1)


def _equal(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a.shape == b.shape and same(a.ravel(), b.ravel())


def _keys(data: Any) -> list[bytes]:
    """For each column, bytes that columns of equal values share."""
    if hasattr(data, "tocsc"):
        sparse = data.tocsc().copy()
        sparse.sum_duplicates()
        sparse.eliminate_zeros()
        ends, rows, values = sparse.indptr, sparse.indices.astype(np.int64), sparse.data.astype(np.float64)
        return [rows[i:j].tobytes() + values[i:j].tobytes() for i, j in pairwise(ends)]
    table = _table(data)
    if table.dtype.kind in "biuf":
        return [(np.ascontiguousarray(column, np.float64) + 0.0).tobytes() for column in table.T]
    return [repr(column.tolist()).encode() for column in table.T]


def _columns(data: Any, columns: Any) -> Any:
    """Some columns, by their names or their numbers."""
    if hasattr(data, "columns"):
        return data[columns] if isinstance(columns, list) else np.asarray(data)[:, columns]
    return data[:, columns] if hasattr(data, "tocsr") else np.asarray(data)[:, columns]
