"""The split is a function of the rows and of what is kept: the same in every process and in every order."""

import copy
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from tacit import Budget, Refused
from tacit.core.errors import BadData, BadParameter
from tacit.holdout import GuessAndCheck, HoldoutSplit, Memory
from tacit.ledger import Ledger

RNG = np.random.default_rng(1)
N = 400
X, Y = RNG.normal(size=(N, 3)), RNG.integers(0, 2, N)


def parts(split):
    return [rows.tolist() for rows in (split.train, split.validation, split.holdout)]


def test_three_parts_of_the_shares_that_were_asked_for():
    split = HoldoutSplit(X, Y, holdout="0.5", validation="0.2")
    assert sorted(row for rows in parts(split) for row in rows) == list(range(N))
    assert [len(rows) for rows in parts(split)] == [120, 80, 200] and split.n == 200
    ((train, validation),) = split.split(*split.development)
    kept = np.setdiff1d(np.arange(N), split.holdout)
    assert np.array_equal(kept[train], split.train) and np.array_equal(kept[validation], split.validation)
    assert split.get_n_splits() == 1 and copy.deepcopy(split) is split
    assert repr(split) == "HoldoutSplit(train=120, validation=80, holdout=200)"


def test_running_again_draws_no_new_holdout():
    """In this process, in another one, in another order of the rows and another kind of table."""
    first, order = HoldoutSplit(X, Y), RNG.permutation(N)
    assert parts(HoldoutSplit(X, Y)) == parts(first)
    shuffled = HoldoutSplit(X[order], Y[order])
    assert sorted(order[shuffled.holdout]) == first.holdout.tolist()
    assert parts(HoldoutSplit(X.tolist(), Y.tolist())) == parts(first)
    assert parts(HoldoutSplit(X, Y, keeper=Memory())) == parts(first)
    code = (
        "import numpy as np; from tacit.holdout import HoldoutSplit\n"
        "x = np.arange(60.0).reshape(20, 3); print(HoldoutSplit(x).holdout.tolist())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in (1, 2)
    }
    assert seen == {f"{HoldoutSplit(np.arange(60.0).reshape(20, 3)).holdout.tolist()}\n"}


def test_a_ledger_keeps_the_salt(tmp_path):
    place = tmp_path / "ledger"
    with Ledger.open(place, Budget(epsilon=1)) as ledger:
        first = HoldoutSplit(X, Y, keeper=ledger)
    with Ledger.open(place) as ledger:
        assert parts(HoldoutSplit(X, Y, keeper=ledger)) == parts(first)
    with Ledger.open(tmp_path / "other", Budget(epsilon=1)) as other:
        assert parts(HoldoutSplit(X, Y, keeper=other)) != parts(first)


def test_a_holdout_that_shares_rows_with_another_is_refused(tmp_path):
    with Ledger.open(tmp_path / "ledger", Budget(epsilon=1)) as ledger:
        for share, fine in (("0.5", True), ("0.5", True), ("0.4", False)):
            split = HoldoutSplit(X, Y, holdout=share, keeper=ledger)
            rule = GuessAndCheck(n=split.n, width="0.3")
            if fine:
                rule.open(split.held_out, keeper=ledger, unprotected=True)
            else:
                with pytest.raises(Refused, match="another session"):
                    rule.open(split.held_out, keeper=ledger, unprotected=True)


def test_identifiers_survive_new_values_and_new_rows():
    ids = np.array([f"person {i}" for i in range(N)])
    first, later = HoldoutSplit(X, Y, ids=ids), HoldoutSplit(X + 1, Y, ids=ids)
    assert parts(first) == parts(later)
    with pytest.raises(BadData, match="one for each of 400 rows"):
        HoldoutSplit(X, Y, ids=ids[:-1])


def test_equal_rows_are_split_like_others():
    """Of 400 copies of two rows each part has its share of both, not all of one."""
    copies, labels = np.repeat([[0.0], [1.0]], 2000, axis=0), np.zeros(4000, int)
    split = HoldoutSplit(copies, labels)
    assert split.n == 1000 and 350 < copies[split.holdout].sum() < 650  # 500, and 9 deviations each way


def test_stratified():
    labels = np.array(["rare"] * 20 + ["common"] * 380)
    split = HoldoutSplit(X, labels, stratify=labels, holdout="0.5", validation="0.25")
    assert [sum(labels[rows] == "rare") for rows in (split.train, split.validation, split.holdout)] == [5, 5, 10]
    with pytest.raises(BadData, match="stratify"):
        HoldoutSplit(X, labels, stratify=labels[:-1])


def test_grouped():
    groups = np.arange(N) // 8
    split = HoldoutSplit(X, Y, groups=groups)
    sets = [set(groups[rows]) for rows in (split.train, split.validation, split.holdout)]
    assert not (sets[0] & sets[1] or sets[0] & sets[2] or sets[1] & sets[2])
    assert [len(rows) for rows in parts(split)] == [200, 104, 96]
    with pytest.raises(BadParameter, match="groups"):
        HoldoutSplit(X, Y, groups=groups, stratify=Y)


@pytest.mark.parametrize("form", ["pandas", "polars", "sparse"])
def test_a_table_stays_of_its_kind(form):
    plain = HoldoutSplit(X, Y)
    names = ["a", "b", "c"]
    table = {
        "pandas": lambda: pd.DataFrame(X, columns=names),
        "polars": lambda: pl.DataFrame(X, schema=names),
        "sparse": lambda: sp.csc_matrix(X),
    }[form]()
    labels = pl.Series(Y) if form == "polars" else Y
    split = HoldoutSplit(table, labels)
    assert form == "sparse" or parts(split) == parts(plain)
    features, held_labels = split.held_out
    assert isinstance(features, sp.spmatrix if form == "sparse" else type(table))
    assert features.shape == (100, 3) and len(held_labels) == 100


def test_what_cannot_be_split_is_refused():
    for share in ("0", "1", "0.8", "-0.1"):
        with pytest.raises(BadParameter):
            HoldoutSplit(X, Y, holdout=share)
    with pytest.raises(BadParameter, match="n_samples = 1"):
        HoldoutSplit(X[:1], Y[:1])


def test_all_rows_are_never_fitted():
    split = HoldoutSplit(X, Y)
    with pytest.raises(Refused, match=r"split\.development"):
        next(split.split(X, Y))
    with pytest.raises(BadParameter, match="300 rows"):
        next(split.split(X[:17], Y[:17]))
    features, labels = split.development
    with pytest.raises(Refused, match="labels"):
        next(split.split(features, labels[::-1]))
