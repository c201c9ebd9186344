r"""Training, validation and holdout rows, as a function of the rows themselves and of a secret that is kept.

    split = HoldoutSplit(X, y, keeper=ledger)
    split.development      the features and labels of the training and validation rows, for scikit-learn to fit on
    split.held_out         those of the holdout rows, for a rule to open

Definition.  Each row has a mark, a keyed hash of its identifier, its group or its values (`records.row_marks`); equal
rows are told apart by counting them.  In each stratum the rows of the smallest marks are held out, the next are for
validation, and the rest for training.  The key is the secret of the ledger, or none: either way the same rows are
split the same way in every process, in any order, so that running a notebook again draws no new holdout set.

Why three parts.  A rule compares its holdout set with a guess.  The mean on the training rows is no guess: a forest is
right about all of them.  The mean on validation rows, which the model was not fitted to, is near the truth.

The split is also a `cv` of scikit-learn, on the development rows: one fold, training against validation.  scikit-learn
never sees the holdout rows, so that nothing can be fitted or refitted to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BadData, BadParameter, Refused
from ...core.parameters import Number, probability
from ..keeper import THIS_PROCESS, Keeper, Memory
from ..records import row_marks, secret

Rows = NDArray[np.int64]
Marks = NDArray[np.uint64]

_reopened: dict[tuple[str, str], Keeper] = {}  # ledgers of splits that came from other processes
_lock = Lock()
_ODD, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)  # of the generator splitmix64


class Elsewhere:
    """In the place of a keeper, in what came from another process or a file without it."""

    def start(self, **_: object) -> NoReturn:
        """Refuse."""
        raise Refused("This search came without its ledger. Set it: search.set_params(keeper=Ledger.open(place)).")


class HoldoutSplit:
    """The rows of a table in three parts; `train`, `validation` and `holdout` are their numbers, in order."""

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        holdout: Number = "0.25",
        validation: Number = "0.25",
        stratify: Any = None,
        groups: Any = None,
        ids: Any = None,
        keeper: Keeper | None = None,
    ) -> None:
        """Split the rows of X and y.

        `stratify` holds a label for each row: each label has its share of every part.  `groups` holds the group of
        each row: a group stays in one part.  `ids` holds an identifier for each row, by which the row is known even if
        its values change.  `keeper` is where the session will be kept.
        """
        self.X, self.y, self.ids = X, y, ids
        self.keeper: Keeper = THIS_PROCESS if keeper is None else keeper
        shares = probability("holdout", holdout), probability("validation", validation)
        if sum(shares) >= 1:
            raise BadParameter("validation", validation, f"below 1 - {float(shares[0]):g}, to leave training rows")
        if groups is not None and (stratify is not None or ids is not None):
            raise BadParameter("groups", "groups and more", "given without stratify and ids")
        key = b"" if isinstance(self.keeper, Memory) else secret(self.keeper)
        table = X if y is None else (X, y)
        n = row_count(X)
        named = groups if groups is not None else ids
        marks = row_marks(np.asarray(named) if named is not None else table, key)
        if len(marks) != n:
            what = "groups" if groups is not None else "ids"
            raise BadData(what, f"{len(marks)} of them", f"one for each of {n} rows")
        strata = np.zeros(n, np.int64) if stratify is None else _codes(stratify, n)
        part = np.zeros(n, np.int8)  # 0 is for training
        for stratum in np.unique(strata):
            rows = np.flatnonzero(strata == stratum)
            if groups is None:
                order = rows[np.argsort(_distinct(marks[rows]), kind="stable")]
                ends = np.cumsum([round(len(rows) * share) for share in shares])
            else:
                order = rows[np.argsort(marks[rows], kind="stable")]
                ends = _group_ends(marks[order], [float(share) for share in shares])
            part[order[: ends[0]]], part[order[ends[0] : ends[1]]] = 2, 1
        self.train, self.validation, self.holdout = (np.flatnonzero(part == i) for i in range(3))
        if not all(rows.size for rows in (self.train, self.validation, self.holdout)):
            allowed = f"a share that leaves rows for all three parts (here n_samples = {n})"
            raise BadParameter("holdout", float(shares[0]), allowed)
        self._development = np.flatnonzero(part < 2)

    @property
    def n(self) -> int:
        """The number of holdout rows, which a rule is made for."""
        return self.holdout.size

    @property
    def held_out(self) -> Any:
        """The holdout rows: features and labels, or the features alone if there are no labels."""
        return self._part(self.holdout)

    @property
    def development(self) -> Any:
        """The training and validation rows, in the order of the table: what scikit-learn is to fit on."""
        return self._part(self._development)

    def _part(self, rows: Rows) -> Any:
        X = take(self.X, rows)
        return X if self.y is None else (X, take(self.y, rows))

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """The training and the validation rows, as numbers of development rows; other tables are refused."""
        if X is not None:
            self._check(row_count(X), y)
        yield np.searchsorted(self._development, self.train), np.searchsorted(self._development, self.validation)

    def _check(self, n: int, y: Any) -> None:
        """Refuse tables that are not the development rows; scikit-learn lets errors of a splitter through."""
        if n == self._development.size + self.holdout.size:
            raise Refused(
                "These are all rows of the table, so the holdout rows would be fitted to. Fit on"
                " `split.development`, which leaves them out."
            )
        if n != self._development.size:
            raise BadParameter("X", f"{n} rows", f"the {self._development.size} rows of `split.development`")
        if y is not None and self.y is not None and not same(y, take(self.y, self._development)):
            raise Refused("These labels are not those of `split.development`, in their order. Fit on its rows.")

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of splits, which is one."""
        return 1

    def __repr__(self) -> str:
        return f"HoldoutSplit(train={self.train.size}, validation={self.validation.size}, holdout={self.n})"

    def __deepcopy__(self, memo: object) -> HoldoutSplit:
        return self  # a copy of a search asks the same holdout set

    def __getstate__(self) -> dict[str, Any]:
        """The rows, and the way to the ledger, which another process opens again; a memory has none."""
        if isinstance(self.keeper, Memory | Elsewhere):
            return {**vars(self), "keeper": Elsewhere()}
        ledger: Any = self.keeper
        place = ledger.database.place
        place = place if "://" in place else str(Path(place).absolute())
        return {**vars(self), "keeper": (type(ledger), place, str(ledger.seal.path))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state["keeper"], Elsewhere):
            vars(self).update(state)
            return
        kind, place, key = state["keeper"]
        with _lock:
            if (place, key) not in _reopened:
                _reopened[place, key] = kind.open(place, key=key)
            vars(self).update({**state, "keeper": _reopened[place, key]})


def _distinct(marks: Marks) -> Marks:
    """Marks in which equal ones differ: mixed with how many equal ones stand before."""
    order = np.argsort(marks, kind="stable")
    ordered = marks[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    before = np.arange(marks.size) - np.repeat(first, np.diff(np.append(first, marks.size)))
    mixed = np.empty_like(marks)
    mixed[order] = ordered + before.astype(np.uint64) * _ODD
    return (mixed ^ (mixed >> np.uint64(30))) * _MIX


def _group_ends(ordered: Marks, shares: list[float]) -> Rows:
    """Where the first two parts end, if rows are in the order of their groups: nearest to the shares."""
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, ordered.size)
    wanted = np.cumsum(shares) * ordered.size
    nearest: Rows = ends[np.argmin(np.abs(ends[None, :] - wanted[:, None]), axis=1)]
    return nearest


def _codes(labels: Any, n: int) -> Rows:
    array = np.asarray(labels)
    if array.shape != (n,):
        raise BadData("stratify", "something else", f"one label for each of {n} rows")
    codes: dict[Any, int] = {}
    return np.array([codes.setdefault(label, len(codes)) for label in array.tolist()], np.int64)


def row_count(data: Any) -> int:
    """The number of rows of an array, a data frame or a sparse matrix."""
    return int(data.shape[0]) if hasattr(data, "shape") else len(np.asarray(data))


def take(data: Any, rows: Rows) -> Any:
    """These rows, in the kind of table that they are in: pandas, polars, sparse, or else an array."""
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    if hasattr(data, "tocsr"):
        return data.tocsr()[rows]
    if type(data).__module__.partition(".")[0] == "polars":
        return data[rows]
    return np.asarray(data)[rows]


def same(a: Any, b: Any) -> bool:
    """Whether two columns of labels are equal, whatever they are stored in; NaN equals NaN."""
    x, y = np.asarray(a), np.asarray(b)
    if x.shape != y.shape:
        return False
    if x.dtype.kind in "biuf" and y.dtype.kind in "biuf":
        return bool(np.array_equal(x, y, equal_nan=True))
    return bool(x.tolist() == y.tolist())
