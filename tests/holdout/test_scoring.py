"""scikit-learn asks a holdout: a scorer and a splitter in cross_val_score, cross_validate and GridSearchCV."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.tree import DecisionTreeClassifier

from tacit.core.errors import BadParameter, Refused
from tacit.holdout import GuessAndCheck, Holdout, Ladder, OneSplit, Spent, scorer
from tacit.testing.sources import Seeded

N = 800
X = np.where(Seeded(1).words(N * 6).reshape(N, 6) % 2 == 0, 1.0, -1.0)
Y = np.where(Seeded(2).words(N) % 5 == 0, -X[:, 0], X[:, 0])  # four labels of five are the first column's sign
SPLIT = OneSplit(N, source=Seeded(3))


def desk(width: str = "0.2") -> Holdout:
    return GuessAndCheck(n=N // 2, width=width).open(SPLIT.held_out(X, Y))


def test_one_split() -> None:
    ((train, held),) = SPLIT.split(X, Y)
    assert sorted([*train, *held]) == list(range(N))
    assert SPLIT.get_n_splits() == 1
    assert all(np.array_equal(a, b) for a, b in zip(next(SPLIT.split(X)), (train, held), strict=True))
    with pytest.raises(BadParameter, match="800"):
        next(SPLIT.split(X[:-1]))
    for share in ("0.001", "0.9999", 0):
        with pytest.raises(BadParameter, match="holdout"):
            OneSplit(10, share)


def test_cross_val_score() -> None:
    holdout = desk()
    score = scorer(holdout, SPLIT.training(X, Y))
    (result,) = cross_val_score(LogisticRegression(), X, Y, cv=SPLIT, scoring=score)
    assert abs(result - 0.8) <= holdout.statement.width
    assert holdout.state.asked == 1


def test_grid_search_asks_once_for_each_model() -> None:
    holdout = desk()
    score = scorer(holdout, SPLIT.training(X, Y))
    search = GridSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, 2, 3, 6]},
        cv=SPLIT,
        scoring=score,
        refit=False,
        error_score="raise",
    )
    search.fit(X, Y)
    assert holdout.state.asked == 4
    assert search.best_params_["max_depth"] >= 1
    assert np.all(np.abs(search.cv_results_["mean_test_score"] - 0.8) <= holdout.statement.width)


def test_training_scores_are_free() -> None:
    holdout = desk()
    score = scorer(holdout, SPLIT.training(X, Y))
    result = cross_validate(LogisticRegression(), X, Y, cv=SPLIT, scoring=score, return_train_score=True)
    assert holdout.state.asked == 1
    assert result["train_score"][0] == pytest.approx(0.8, abs=0.1)


def test_other_records_are_refused() -> None:
    score = scorer(desk(), SPLIT.training(X, Y))
    model = LogisticRegression().fit(X, Y)
    with pytest.raises(Refused, match="neither"):
        score(model, X[:-1], Y[:-1])


class Frame:
    """As much of a data frame as is asked for."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.iloc = values, self

    def __getitem__(self, rows: np.ndarray) -> "Frame":
        return Frame(self.values[rows])

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return self.values

    def __len__(self) -> int:
        return len(self.values)


def test_data_frames_stay_data_frames() -> None:
    train, held = SPLIT.training(Frame(X), Y), SPLIT.held_out(Frame(X), Y)
    holdout = GuessAndCheck(n=N // 2, width="0.2").open(held, train)
    assert holdout.fingerprint == desk().fingerprint
    assert abs(holdout.ask(lambda x, y: x.values[:, 0] * y > 0) - 0.8) <= holdout.statement.width


def test_nothing_heavy_is_imported() -> None:
    command = [sys.executable, "-c", "import sys, tacit.holdout; print(*sys.modules)"]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert not {name.partition(".")[0] for name in loaded} & {"sklearn", "altair", "pandas", "sqlite3"}


def test_a_spent_holdout_stops_the_search() -> None:
    holdout = Ladder(n=N // 2, questions=2).open(SPLIT.held_out(X, Y))
    search = GridSearchCV(
        DecisionTreeClassifier(),
        {"max_depth": [1, 2, 3]},
        cv=SPLIT,
        scoring=scorer(holdout, SPLIT.training(X, Y)),
        refit=False,
        error_score="raise",
    )
    with pytest.raises(Spent):
        search.fit(X, Y)
    assert holdout.state.asked == 2


def test_values_of_ones_own() -> None:
    holdout = desk()

    def closeness(model: LogisticRegression, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(model.predict_proba(x)[np.arange(len(y)), (y > 0).astype(int)])

    score = scorer(holdout, SPLIT.training(X, Y), closeness)
    (result,) = cross_val_score(LogisticRegression(), X, Y, cv=SPLIT, scoring=score)
    assert 0.5 < result < 0.9
