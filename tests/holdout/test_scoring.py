"""scikit-learn asks a holdout: searches, selectors, processes; wrong rows are refused aloud."""

import copy
import pickle
import subprocess
import sys
import warnings
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from tacit import Budget, Refused
from tacit.core.errors import BadParameter
from tacit.holdout import GuessAndCheck, HoldoutScorer, HoldoutSearchCV, HoldoutSplit, Ladder, Memory, Spent
from tacit.holdout.rules.rule import Rule, State, Statement
from tacit.holdout.sklearn.scorer import NoScore, correct
from tacit.ledger import Ledger

RNG = np.random.default_rng(7)
N = 4000
X = RNG.normal(size=(N, 6))
Y = np.where(RNG.random(N) < 0.2, -1, 1) * np.sign(X[:, 4])  # the sign of column 4, for four rows of five
TREE = DecisionTreeClassifier(random_state=0)


class Plain(Rule):
    """The exact mean, always: no rule at all, for tests of what is around a rule."""

    guesses = True

    def __init__(self, *, n):
        super().__init__(n, "0.05", Fraction(1, 1024), width=None)

    def answer(self, state, questions, source):
        return State(state.asked + len(questions)), [question.total / self.whole for question in questions]

    promise = Statement(0.4, Fraction(1, 20), "none")
    allowed = "all answers"

    def over(self, state):
        return False

    def left(self, state):
        return "All."


def scorer(X=X, Y=Y, rule=Plain, **how):
    split = HoldoutSplit(X, Y, **{"keeper": Memory(), **how})
    return HoldoutScorer(rule(n=split.n), split)


def truth(model, score):
    return float(np.mean(correct(model, *score.split.held_out)))


def test_the_score_of_a_forest_is_no_training_accuracy():
    """Digits: a forest is right about all of its training rows, and about 95 % of others."""
    features, labels = load_digits(return_X_y=True)
    score = scorer(features, labels, partial(GuessAndCheck, width="0.15"), holdout="0.4", validation="0.3")
    search = GridSearchCV(
        RandomForestClassifier(20, random_state=0), {"max_depth": [2, 4, None]}, cv=score.split, scoring=score
    )
    search.fit(*score.split.development)
    forest = clone(search.best_estimator_).fit(features[score.split.train], labels[score.split.train])
    assert search.best_score_ < 0.98 and abs(search.best_score_ - truth(forest, score)) < 0.05
    assert correct(forest, *(part[score.split.train] for part in (features, labels))).all()
    assert score.holdout.state.asked == 3 and score.holdout.state.told == 0


def test_validation_guesses_are_confirmed_where_training_ones_are_not():
    """40 trees of noise at 8000 holdout rows: every guess is right; by resubstitution the holdout is soon exhausted."""
    rng = np.random.default_rng(3)
    features = rng.normal(size=(16_000, 5))
    labels = (features[:, 0] > 0) ^ (rng.random(16_000) < 0.3)
    score = scorer(features, labels, partial(GuessAndCheck, width="0.05"), holdout="0.5", validation="0.25")
    grid = {"max_depth": [1, 3, 6, 12, None], "min_samples_leaf": [1, 3, 10, 30], "max_features": [2, 5]}
    search = GridSearchCV(TREE, grid, cv=score.split, scoring=score).fit(*score.split.development)
    assert score.holdout.state.asked == 40 and score.holdout.state.told == 0
    train = tuple(part[score.split.train] for part in (features, labels))
    true, guessed = [], []
    for parameters in search.cv_results_["params"]:
        model = clone(TREE).set_params(**parameters).fit(*train)
        true.append(truth(model, score))
        guessed.append(float(np.mean(correct(model, *train))))
    assert np.max(np.abs(search.cv_results_["mean_test_score"] - true)) < 0.03
    assert max(true) - true[search.best_index_] < 0.02  # the regret
    assert np.count_nonzero(np.abs(np.array(guessed) - true) > 0.05) > 10  # as many exceptions as no rule allows
    assert max(true) - true[int(np.argmax(guessed))] > 0.05


def test_a_halving_search_and_its_training_scores():
    score = scorer()
    search = HalvingGridSearchCV(TREE, {"max_depth": [1, 2, 5, 9]}, cv=score.split, scoring=score, random_state=0)
    search.fit(*score.split.development)
    results = search.cv_results_
    assert score.holdout.state.asked == len(results["params"]) > 4
    assert np.isfinite(results["mean_test_score"]).all() and np.nanmax(results["mean_train_score"]) > 0.9
    assert abs(results["mean_test_score"][-1] - 0.8) < 0.05


def test_training_scores_are_free():
    score = scorer()
    result = cross_validate(
        LogisticRegression(), *score.split.development, cv=score.split, scoring=score, return_train_score=True
    )
    assert score.holdout.state.asked == 1
    assert abs(result["train_score"][0] - 0.8) < 0.05 and abs(result["test_score"][0] - 0.8) < 0.05
    learning_curve(LogisticRegression(), *score.split.development, cv=score.split, scoring=score, train_sizes=[50, 500])
    assert score.holdout.state.asked == 3


def test_the_sequential_selector_asks_and_finds_the_column():
    score = scorer()
    selector = SequentialFeatureSelector(
        DecisionTreeClassifier(max_depth=3), n_features_to_select=2, cv=score.split, scoring=score
    )
    selector.fit(*score.split.development)
    assert 4 in selector.get_support(indices=True) and score.holdout.state.asked == 6 + 5


@pytest.mark.parametrize("form", ["array", "pandas", "sparse"])
def test_recursive_elimination(form):
    table = {"array": X, "pandas": pd.DataFrame(X, columns=list("abcdef")), "sparse": sp.csr_matrix(X)}[form]
    score = scorer(table)
    selector = RFECV(LogisticRegression(), cv=score.split, scoring=score).fit(*score.split.development)
    assert selector.support_[4] and score.holdout.state.asked == 6
    assert abs(max(selector.cv_results_["mean_test_score"]) - 0.8) < 0.05


def test_columns_are_found_by_their_values():
    """The model on column 4 alone is asked about column 4 of the holdout rows, among columns that look alike."""
    table = np.column_stack([np.zeros(N), X[:, 4], np.zeros(N), X[:, 0]])
    score = scorer(table)
    features, labels = score.split.development
    train, validation = next(score.split.split())
    for columns in ([1], [3, 1], [2, 1], [0, 2], [0, 1, 2, 3]):
        model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(features[train][:, columns], labels[train])
        held, held_labels = score.split.held_out
        expected = np.mean(model.predict(held[:, columns]) == held_labels)
        assert score(model, features[validation][:, columns], labels[validation]) == pytest.approx(expected)


def test_frames_of_pandas_and_polars_and_pipelines():
    for table in (pd.DataFrame(X, columns=list("abcdef")), pl.DataFrame(X, schema=list("abcdef"))):
        labels = pl.Series(Y) if isinstance(table, pl.DataFrame) else pd.Series(Y)
        score = scorer(table, labels)
        model = make_pipeline(StandardScaler(), LogisticRegression())
        search = GridSearchCV(model, {"logisticregression__C": [0.1, 1]}, cv=score.split, scoring=score)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # such as "X has feature names, but ..."
            search.fit(*score.split.development)
        assert abs(search.best_score_ - 0.8) < 0.05 and score.holdout.state.asked == 2
        features, y = score.split.development
        train, validation = next(score.split.split())
        some = clone(model).fit(features[["e", "a"]].to_numpy()[train], np.asarray(y)[train])
        assert abs(score(some, features[["e", "a"]].to_numpy()[validation], np.asarray(y)[validation]) - 0.8) < 0.05


@pytest.mark.parametrize("cv", [3, KFold(4, shuffle=True)])
@pytest.mark.parametrize("error_score", [np.nan, "raise", 0])
def test_other_folds_are_refused_aloud(cv, error_score):
    score = scorer()
    with pytest.raises(Refused, match="cv=split"):
        GridSearchCV(TREE, {"max_depth": [1]}, cv=cv, scoring=score, error_score=error_score).fit(
            *score.split.development
        )
    with pytest.raises(Refused, match="cv=split"):
        SequentialFeatureSelector(TREE, n_features_to_select=2, cv=cv, scoring=score).fit(*score.split.development)
    assert score.holdout.state.asked == 0


def test_all_rows_and_features_that_saw_all_rows_are_refused():
    score = scorer()
    with pytest.raises(Refused, match=r"split\.development"):
        GridSearchCV(TREE, {"max_depth": [1]}, cv=score.split, scoring=score).fit(X, Y)
    features, labels = score.split.development
    scaled = StandardScaler().fit_transform(features)
    with pytest.raises(Refused, match="Pipeline"):
        SequentialFeatureSelector(TREE, n_features_to_select=2, cv=score.split, scoring=score).fit(scaled, labels)
    assert score.holdout.state.asked == 0


@pytest.mark.parametrize("error_score", [np.nan, "raise"])
def test_a_spent_holdout_stops_every_search(error_score):
    for search in (
        GridSearchCV(TREE, {"max_depth": [1, 2, 3]}, error_score=error_score),
        SequentialFeatureSelector(TREE, n_features_to_select=2),
        RFECV(TREE),
    ):
        score = scorer(rule=partial(Ladder, questions=2))
        with pytest.raises(Spent):
            search.set_params(cv=score.split, scoring=score).fit(*score.split.development)
        assert score.holdout.state.asked == 2


def test_a_score_that_there_is_none_of_is_no_number():
    score = scorer()
    nothing = score(LogisticRegression().fit(X, Y), X[:-1], Y[:-1])
    assert isinstance(nothing, NoScore) and "cv=split" in repr(nothing)
    for use in (float, lambda x: x + 1, lambda x: 1 - x, lambda x: x < 0, round, bool):
        with pytest.raises(Refused, match="cv=split"):
            use(nothing)
    with pytest.raises(Refused, match="n must be"):  # scikit-learn suppresses a ValueError here
        NoScore(BadParameter("n", 1, "more")).item()


def test_why_a_model_fails_on_holdout_rows_is_not_shown():
    features, ids = X.copy(), np.arange(N)
    features[scorer(ids=ids).split.holdout[3], 2] = np.nan
    score = scorer(features, ids=ids)
    model = LogisticRegression().fit(X, Y)
    with pytest.raises(Refused, match=r"holdout rows \(ValueError\)") as refusal:
        float(score(model, features[score.split.validation], Y[score.split.validation]))
    assert refusal.value.__cause__ is None and "NaN" not in str(refusal.value)


def test_a_score_hashes_no_rows(monkeypatch):
    score = scorer(pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "up", "down")}))

    def hashed(*_):
        raise AssertionError

    for place in ("tacit.holdout.session.fingerprint", "tacit.holdout.sklearn.scorer.row_marks"):
        monkeypatch.setattr(place, hashed)

    class Constant:
        def predict(self, table):
            return np.ones(len(table))

    features, labels = score.split.development
    validation = next(score.split.split())[1]
    assert abs(score(Constant(), features.iloc[validation], labels[validation]) - 0.5) < 0.1


def test_values_of_ones_own():
    split = HoldoutSplit(X, Y, keeper=Memory())
    score = HoldoutScorer(
        Plain(n=split.n), split, lambda m, x, y: m.predict_proba(x)[np.arange(len(y)), (y > 0).astype(int)]
    )
    (result,) = cross_val_score(LogisticRegression(), *split.development, cv=split, scoring=score)
    assert 0.5 < result < 0.9


def test_other_processes_ask_the_same_session(tmp_path):
    with Ledger.open(tmp_path / "ledger", Budget(epsilon=1)) as ledger:
        split = HoldoutSplit(X, Y, keeper=ledger)
        score = HoldoutScorer(GuessAndCheck(n=split.n, width="0.1"), split, unprotected=True)
        search = GridSearchCV(TREE, {"max_depth": [1, 2, 3, 4]}, cv=split, scoring=score, n_jobs=2)
        search.fit(*split.development)
        assert score.holdout.state.asked == 4 and abs(search.best_score_ - 0.8) < 0.05
        again = pickle.loads(pickle.dumps(score))
        model = clone(TREE).fit(X[split.train], Y[split.train])
        assert again(model, X[split.validation], Y[split.validation]) > 0.5
        assert score.holdout.state.asked == again.holdout.state.asked == 5
        assert copy.deepcopy(score) is score and clone(search).scoring is score
        again.split.keeper.close()
    with pytest.raises(TypeError, match="Keep it in a ledger"):
        pickle.dumps(scorer())


def test_one_object_does_it_all():
    memory = Memory()
    searches = (
        GridSearchCV(TREE, {"max_depth": [1, 3]}),
        HalvingGridSearchCV(TREE, {"max_depth": [1, 3]}, random_state=0),
        SequentialFeatureSelector(TREE, n_features_to_select=1),
        RFECV(LogisticRegression()),
    )
    asked = 0
    for search in searches:
        found = HoldoutSearchCV(search, partial(GuessAndCheck, width="0.15"), stratify=True, keeper=memory).fit(X, Y)
        assert found.holdout_.state.asked > asked  # one session, of one holdout set
        asked = found.holdout_.state.asked
        if hasattr(found, "predict"):
            assert abs(found.score(*found.split_.held_out) - 0.8) < 0.05
        else:
            assert found.transform(X).shape == (N, 1)
        copied = clone(found)
        assert copied.keeper is memory and not hasattr(copied, "search_")
        stored = pickle.loads(pickle.dumps(found))
        assert not hasattr(stored, "split_") and len(pickle.dumps(found)) < X.nbytes
        with pytest.raises(Refused, match="without its ledger"):
            stored.fit(X, Y)
    assert found.n_features_in_ == 6 and found.support_[4]
    with pytest.raises(AttributeError, match="best_params_"):
        _ = HoldoutSearchCV(searches[0]).best_params_
    with pytest.raises(BadParameter, match="cv and scoring"):
        HoldoutSearchCV(TREE).fit(X, Y)


def test_the_estimator_checks_of_scikit_learn():
    """All that apply.  GridSearchCV itself is let off twice as many."""
    shared = "the same rows in another type are the same records, which have a session already"
    unseen = "a NaN among the holdout rows is not fitted to"
    fits = "GridSearchCV says that all fits failed, as it does by itself"
    search = HoldoutSearchCV(GridSearchCV(LogisticRegression(), {"C": [1.0]}), Plain)
    results = check_estimator(
        search,
        on_fail=None,
        on_skip=None,
        expected_failed_checks={
            "check_classifiers_train": shared,
            "check_estimators_nan_inf": unseen,
            "check_dtype_object": fits,
        },
    )
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    assert failed == [] and sum(r["status"] == "passed" for r in results) > 40


def test_nothing_heavy_is_imported():
    command = [sys.executable, "-c", "import sys, tacit.holdout; print(*sys.modules)"]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert not {name.partition(".")[0] for name in loaded} & {"sklearn", "altair", "pandas", "sqlite3"}
