"""A search asks about its candidates as one list: one round, which is as accurate as Bonferroni."""

import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV

from tacit import Budget, Refused
from tacit.core.errors import BadParameter
from tacit.holdout import GuessAndCheck, HoldoutSearchCV, Ladder, Memory, ReusableHoldout, Spent, Unanswered
from tacit.holdout.metrics import auc
from tacit.ledger import Ledger

N = 4000
RNG = np.random.default_rng(11)
Y = RNG.integers(0, 2, N)
X = np.column_stack([Y ^ (RNG.random(N) < 1 - share) for share in (0.5, 0.7, 0.95)]).astype(float)
COLUMNS = {"column": [0, 1, 2]}


class Column(ClassifierMixin, BaseEstimator):
    """Predicts what stands in a column, and fails for column 9."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        if self.column == 9:
            raise ValueError
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X[:, self.column]


def searched(search, rule, **how):
    found = HoldoutSearchCV(search, rule, holdout="0.5", validation="0.25", **{"keeper": Memory(), **how})
    return found.fit(X, Y)


def test_a_grid_is_one_round_and_bonferroni_is_all_it_needs():
    """2,000 rows, 500 candidates, width 0.0501: one after another even the first could not be answered so narrowly."""
    rule = partial(GuessAndCheck, width="0.0501", questions=500, rounds=1, resolution="1/4096", grid=1)
    found = searched(GridSearchCV(Column(), {"column": [0, 1, 2] * 166 + [1, 1]}), rule)
    state = found.holdout_.state
    assert (state.asked, state.rounds) == (500, 1) and found.best_params_ == {"column": 2}
    scores = found.cv_results_["mean_test_score"]
    assert np.abs(scores[:3] - [0.5, 0.7, 0.95]).max() < 0.05 and found.best_score_ == max(scores)
    assert type(found.search_) is GridSearchCV
    with pytest.raises(BadParameter):
        GuessAndCheck(n=2000, width="0.0501", questions=500, resolution="1/4096", grid=1).open(np.arange(2000)).ask_all(
            [(0.5, Y[:2000])] * 2
        )


def test_answers_are_those_of_the_holdout_set_and_not_the_guesses():
    """Labels that the first half of the table does not have: guesses are wrong, and the answers right."""
    labels = np.where(np.arange(N) % 2, Y, 1 - Y)
    search = HoldoutSearchCV(
        GridSearchCV(Column(), COLUMNS), partial(GuessAndCheck, width="0.1"), keeper=Memory(), holdout="0.5"
    ).fit(X, labels)
    held, true = search.split_.held_out
    for column, score in enumerate(search.cv_results_["mean_test_score"]):
        assert abs(score - np.mean(held[:, column] == true)) <= 0.1


def test_a_candidate_that_cannot_be_answered_is_ranked_last():
    """At a width of 0.03 and 2,000 rows means near 1/2 are not told, and those of 0.95 are."""
    rule = partial(GuessAndCheck, width="0.03", resolution="1/1024")
    with pytest.warns(UserWarning, match="non-finite"):
        found = searched(GridSearchCV(Column(), COLUMNS), rule)
    scores = found.cv_results_["mean_test_score"]
    assert np.isnan(scores[:2]).all() and abs(scores[2] - 0.95) < 0.03
    assert found.best_index_ == 2 and found.best_score_ == scores[2]
    with pytest.raises(Unanswered, match="any of 2 candidates"):
        searched(GridSearchCV(Column(), {"column": [0, 1]}), rule)


def test_a_round_of_halving_is_one_list():
    search = HalvingGridSearchCV(Column(), {"column": [0, 1, 2, 0, 1, 0]}, factor=2, random_state=0)
    found = searched(search, partial(GuessAndCheck, width="0.1"))
    state = found.holdout_.state
    assert state.rounds == found.n_iterations_ > 1 and state.asked == sum(found.n_candidates_)
    assert found.best_params_ == {"column": 2}


def test_a_fit_that_fails_and_training_scores_are_as_ever():
    search = GridSearchCV(Column(), {"column": [9, 2]}, return_train_score=True)
    with pytest.warns(UserWarning, match="non-finite"), pytest.warns(FitFailedWarning):
        found = searched(search, partial(GuessAndCheck, width="0.1"))
    assert np.isnan(found.cv_results_["mean_test_score"][0]) and found.best_params_ == {"column": 2}
    assert found.holdout_.state.asked == 1 and abs(found.cv_results_["mean_train_score"][1] - 0.95) < 0.03


@pytest.mark.parametrize(
    "rule",
    [
        partial(ReusableHoldout, questions=3, exceptions=2),
        partial(Ladder, questions=3),
        partial(Ladder, questions=6, rounds=2),
    ],
)
def test_a_rule_without_rounds_is_asked_one_after_another(rule):
    memory = Memory()
    found = searched(RandomizedSearchCV(Column(), COLUMNS, n_iter=3), rule, keeper=memory)
    assert found.holdout_.state.asked == 3 and found.best_params_ == {"column": 2}
    assert found.holdout_.state.rounds_asked == (1 if found.holdout_.rule.rounds else 3)
    if not found.holdout_.rule.rounds:
        with pytest.raises(Spent):
            searched(GridSearchCV(Column(), COLUMNS), rule, keeper=memory)


def test_a_list_that_is_too_long_for_a_round_spends_nothing():
    memory = Memory()
    rule = partial(GuessAndCheck, width="0.1", questions=2, rounds=1)
    with pytest.raises(BadParameter, match="at most 2 in a round"):
        searched(GridSearchCV(Column(), COLUMNS), rule, keeper=memory)
    assert searched(GridSearchCV(Column(), {"column": [1, 2]}), rule, keeper=memory).holdout_.state.asked == 2


def test_processes_need_no_ledger():
    found = searched(GridSearchCV(Column(), COLUMNS, n_jobs=2), partial(GuessAndCheck, width="0.1"))
    assert found.holdout_.state.rounds == 1 and found.best_params_ == {"column": 2}


def test_what_is_no_search_or_no_rule_is_said():
    for search, rule, says in (
        (GridSearchCV, GuessAndCheck, "search must be"),
        ("grid", GuessAndCheck, "search must be"),
        (GridSearchCV(Column(), COLUMNS), GuessAndCheck(n=2000, width="0.1"), "rule must be a function of n"),
    ):
        with pytest.raises(BadParameter, match=says):
            HoldoutSearchCV(search, rule).fit(X, Y)


def test_numbers_are_no_labels():
    with pytest.raises(Refused, match="pass `values`"):
        HoldoutSearchCV(GridSearchCV(Column(), COLUMNS), keeper=Memory()).fit(X, Y + 0.5)


def test_a_search_by_the_area_under_the_curve():
    found = searched(
        GridSearchCV(Column(), COLUMNS),
        partial(GuessAndCheck, width="0.1"),
        values=lambda m, x, y: auc(y, m.predict(x)),
    )
    assert found.best_params_ == {"column": 2} and abs(found.best_score_ - 0.95) < 0.1
    assert abs(found.score(X, Y) - 0.95) < 0.02


def test_processes_take_down_questions_and_this_one_asks(tmp_path):
    with Ledger.open(tmp_path / "ledger", Budget(epsilon=1)) as ledger:
        rule = partial(GuessAndCheck, width="0.1", questions=3, rounds=1)
        found = searched(GridSearchCV(Column(), COLUMNS, n_jobs=2), rule, keeper=ledger, unprotected=True)
        assert (found.holdout_.state.asked, found.holdout_.state.rounds) == (3, 1)
        stored = pickle.loads(pickle.dumps(found))
    assert found.best_params_ == stored.best_params_ == {"column": 2} and (stored.predict(X) == X[:, 2]).all()
