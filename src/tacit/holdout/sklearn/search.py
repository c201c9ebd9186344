"""Any search of scikit-learn on a holdout set: `HoldoutSearchCV`.  This module imports scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

from ...core.errors import BadParameter, Missing
from ...core.parameters import Number, kind_of
from ..keeper import Keeper
from ..rules.guess_and_check import GuessAndCheck
from ..rules.rule import Rule
from .scorer import HoldoutScorer, ListScorer, Values, correct, mean_of
from .split import Elsewhere, HoldoutSplit

try:
    from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    wanted = "HoldoutSearchCV needs scikit-learn, which is not installed. Run pip install scikit-learn."
    raise Missing(wanted) from error

WITHIN_A_TWENTIETH = partial(GuessAndCheck, width="0.05")


class _AsksLists:
    """A search, mixed with its own class while it is fitted, whose candidates are asked about a list at a time.

    `BaseSearchCV` calls `_format_results` whenever a list of candidates was evaluated, with the results of all so far.
    """

    def _format_results(self, candidates: Any, n_splits: int, results: Any, more: Any = None) -> Any:
        search: Any = self
        search.scoring.settle(results)
        return super()._format_results(candidates, n_splits, results, more)  # type: ignore[misc]


def _fitted(search: Any, X: Any, y: Any) -> Any:
    """The search after it was fitted, by lists where it has lists."""
    kind = type(search)
    if not isinstance(search.scoring, ListScorer):
        return search.fit(X, y)
    search.__class__ = type(kind.__name__, (_AsksLists, kind), {})
    try:
        return search.fit(X, y)
    finally:
        search.__class__ = kind


def _delegated(name: str, doc: str) -> Any:
    """A method that the search does; there is one only if the search has it."""

    def method(self: Any, X: Any) -> Any:
        check_is_fitted(self, "search_")
        return getattr(self.search_, name)(X)

    def available(self: Any) -> bool:
        getattr(self.search_ if hasattr(self, "search_") else self.search, name)
        return True

    method.__name__, method.__doc__ = name, doc
    return available_if(available)(method)


class HoldoutSearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Fit a search of scikit-learn on development rows, and score its models by a holdout set.

    `search` is anything with parameters `cv` and `scoring`: `GridSearchCV`, `RandomizedSearchCV`, the halving searches,
    `SequentialFeatureSelector` or `RFECV`.  The candidates of a grid, or of a round of halving, are asked about as one
    list; selectors ask one question after another.  `rule` is called with n, the number of holdout rows.  After `fit`,
    `search_` is the fitted search, `split_` the `HoldoutSplit`, and `holdout_` the session, with its `statement` and
    what is `left`.  A search that refits does so on training and validation rows.
    """

    def __init__(
        self,
        search: Any,
        rule: Callable[..., Rule] = WITHIN_A_TWENTIETH,
        *,
        holdout: Number = "0.25",
        validation: Number = "0.25",
        stratify: bool = False,
        values: Values = correct,
        keeper: Keeper | None = None,
        analyst: str = "analyst",
        unprotected: bool = False,
    ) -> None:
        self.search = search
        self.rule = rule
        self.holdout = holdout
        self.validation = validation
        self.stratify = stratify
        self.values = values
        self.keeper = keeper
        self.analyst = analyst
        self.unprotected = unprotected

    def __sklearn_clone__(self) -> HoldoutSearchCV:
        """A clone asks the same ledger, which cannot be copied."""
        parameters = self.get_params(deep=False)
        return type(self)(clone(parameters.pop("search")), **parameters)

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, ids: Any = None) -> HoldoutSearchCV:
        """Split the rows, open the session of the holdout rows, and fit the search on the others."""
        has_parameters = hasattr(self.search, "get_params") and not isinstance(self.search, type)
        if not has_parameters or not {"cv", "scoring"} <= set(self.search.get_params(deep=False)):
            raise BadParameter("search", kind_of(self.search), "a search with parameters cv and scoring")
        split = HoldoutSplit(
            X,
            y,
            holdout=self.holdout,
            validation=self.validation,
            stratify=y if self.stratify else None,
            groups=groups,
            ids=ids,
            keeper=self.keeper,
        )
        how: dict[str, Any] = {"analyst": self.analyst, "unprotected": self.unprotected}
        rule: object = self.rule
        if not callable(rule):
            raise BadParameter("rule", kind_of(rule), 'a function of n, such as partial(GuessAndCheck, width="0.05")')
        scorer = ListScorer if isinstance(self.search, BaseSearchCV) else HoldoutScorer
        score = scorer(rule(n=split.n), split, self.values, **how)
        search = clone(self.search).set_params(cv=split, scoring=score)
        X, y = split.development if y is not None else (split.development, None)
        self.search_ = _fitted(search, X, y)
        self.split_, self.holdout_ = split, score.holdout
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(self.search_, name):
                setattr(self, name, getattr(self.search_, name))
        return self

    def __getstate__(self) -> dict[str, Any]:
        """All that a fitted search needs to predict: without the rows, and without the session."""
        state = {k: v for k, v in super().__getstate__().items() if k not in ("split_", "holdout_")}
        if "search_" in state:
            search = state["search_"] = copy(state["search_"])
            search.set_params(cv=None, scoring=None)
            for name in ("scorer_", "_checked_cv_orig"):
                vars(search).pop(name, None)
        if self.keeper is not None:
            state["keeper"] = Elsewhere()
        return state

    def __getattr__(self, name: str) -> Any:
        """What the fitted search found, such as `best_params_`, `best_score_` or `support_`."""
        if name.endswith("_") and not name.startswith("_") and "search_" in vars(self):
            return getattr(self.search_, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    predict = _delegated("predict", "Predict by the model that was refitted.")
    predict_proba = _delegated("predict_proba", "Predict probabilities by the model that was refitted.")
    decision_function = _delegated("decision_function", "The decision function of the model that was refitted.")
    transform = _delegated("transform", "The features that were selected.")

    def score(self, X: Any, y: Any) -> float:
        """The mean of `values` on other rows, of the model that was refitted: no question to the holdout set."""
        check_is_fitted(self, "search_")
        return mean_of(self.values(self, X, y))

    def __sklearn_tags__(self) -> Any:
        """The tags of the search."""
        from sklearn.utils import get_tags

        tags, inner = super().__sklearn_tags__(), get_tags(self.search)
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "input_tags", "target_tags"):
            setattr(tags, name, getattr(inner, name))
        return tags
