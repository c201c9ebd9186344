r"""SmallDB: among all small tables, choose one that answers the queries as the data do.

Definition.  Cells that no query distinguishes are one type; let there be t types.  The candidates are the multisets y
of m types, and the choice among them is by the score -max_q |m q(x) - n q(y)|: whole numbers, q(x) clamped to [0, n].
It is made by permute-and-flip for pure epsilon and by the exponential mechanism for zCDP.  The table that comes out
has n / m records for each member of y, spread evenly over the cells of its type.

Privacy.  One unit moves q(x), and so every score / m, by at most D; n is public and stays as it is.  The choice is
priced by its own theorem at sensitivity m D.

Utility.  Let the data hold n records.  For m members drawn from them at random Hoeffding's inequality and the union
bound over k queries leave a positive chance that all answers are within n alpha, alpha^2 = ln(2 k) / (2 m); so some
candidate is as good, and that chosen falls short by no more than the selection's `error` at C(t + m - 1, m) candidates.
By default m is where the sum of both is least, among the m whose candidates can be laid out.

Exactness.  All candidates are laid out and scored, and one of them is drawn: the same work whatever the data.  More
candidates than have four million records in all are refused.  To draw uniform ones until a coin of probability
exp(-gap / scale) lands heads would need no list, but the number of attempts would reveal how well the data fit.

References.  Blum, Ligett, Roth, J. ACM 60 (2013); Dwork and Roth (2014), section 4.1, whose size ln k / alpha^2 is too
small for the proof if k <= 2, and which counts |X|^m candidates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from ....core import law
from ....core.accounting.loss import Loss
from ....core.distance import scalar
from ....core.errors import BadQuestion
from ....core.parameters import Number, natural, positive, probability, whole
from ....core.randomness import Source
from ....mechanisms import Exponential, PermuteAndFlip
from ....storage import stored
from ...method import Method, Prediction, Released
from ...models.cell_model import Cells
from ...price import Price
from ...queries.data import Data, Floats, Integers
from ...queries.domain import shown
from ...queries.workload import Workload

MODERATE = Fraction(10**100)  # the largest argument of textbook formulas; the smallest is its inverse
RECORDS = 4 * 10**6  # in all the tables that are laid out, at most
_MAX_COEFFICIENTS = 1 << 24  # cells times queries, to find the types
_MAX_QUERIES = 1 << 16
_BLOCK = 1 << 20  # cells times queries, that are sorted at a time
_MAX_TYPES = 1 << 12
_ROWS = 1 << 12  # candidates scored at a time
_EXACT = 1 << 53  # below which floats are whole
_MAX_SIZE = 1 << 10  # records of a small table


def size_for(queries: int, alpha: Number) -> int:
    """m = floor(ln(2 k) / (2 alpha^2)) + 1: the least for which the existence proof holds."""
    a = float(positive("alpha", alpha, MODERATE))
    return math.floor(math.log(2 * natural("queries", queries)) / (2 * a**2)) + 1


def classical_size(queries: int, alpha: Number) -> int:
    """Dwork and Roth's ceil(ln k / alpha^2)."""
    return math.ceil(math.log(natural("queries", queries)) / float(positive("alpha", alpha, MODERATE)) ** 2)


def candidates(types: int, size: int) -> int:
    """C(t + m - 1, m) multisets."""
    return math.comb(whole("types", types) + whole("size", size) - 1, size)


def fits(types: int, size: int) -> bool:
    """Whether all candidate tables can be laid out in memory."""
    return candidates(types, size) * size <= RECORDS


def classical_error(cells: int, queries: int, alpha: Number, *, n: int, epsilon: Number, beta: Number) -> float:
    """alpha + 2 (ln|X| ln k / alpha^2 + ln(1 / beta)) / (epsilon n), as a share of n (proposition 4.4)."""
    a, people = float(positive("alpha", alpha, MODERATE)), whole("n", n)
    log_candidates = math.log(natural("cells", cells)) * math.log(natural("queries", queries)) / a**2
    nats = log_candidates - math.log(probability("beta", beta))
    return a + 2 * nats / float(positive("epsilon", epsilon, MODERATE) * people)


def classical_rate(cells: int, queries: int, *, n: int, epsilon: Number, beta: Number) -> float:
    """((16 ln|X| ln k + 4 ln(1 / beta)) / (epsilon n))^(1/3), as a share of n: at the best size (theorem 4.5).

    At size 4 ln k / alpha^2 the error is at most alpha/2 + (8 ln|X| ln k / alpha^2 + 2 ln(1 / beta)) / (epsilon n),
    which is at most this alpha where it is at most 1.
    """
    logs = 16 * math.log(natural("cells", cells)) * math.log(natural("queries", queries))
    nats = logs - 4 * math.log(probability("beta", beta))
    return math.cbrt(nats / float(positive("epsilon", epsilon, MODERATE) * whole("n", n)))


@dataclass(frozen=True)
class _Types:
    """The type of each cell, and the coefficients of each query on each type, in steps of the workload's grid."""

    of_cell: Integers
    coefficients: Integers

    @property
    def count(self) -> int:
        return int(self.coefficients.shape[1])


@lru_cache(maxsize=8)
def _types(workload: Workload) -> _Types | None:
    """The types of the cells, or None if there are too many."""
    cells, queries = workload.domain.size, workload.queries
    if queries > _MAX_QUERIES or cells * queries > _MAX_COEFFICIENTS:
        return None
    steps = np.round(workload.matrix().toarray() / float(workload.grid)).astype(np.int64)
    labels, together = np.zeros(cells, np.int64), max(1, _BLOCK // cells)
    for start in range(0, queries, together):
        rows = np.vstack([labels, steps[start : start + together]])
        labels = np.unique(rows, axis=1, return_inverse=True)[1].reshape(cells)
        if labels.max() >= _MAX_TYPES:
            return None
    first = np.unique(labels, return_index=True)[1]
    return _Types(labels, steps[:, first])


def multisets(types: int, size: int) -> NDArray[np.int16]:
    """Every multiset of so many members, each a row of ascending types."""
    rows = np.arange(types, dtype=np.int16)[:, None]
    for _ in range(size - 1):
        more = types - rows[:, -1].astype(np.int64)  # the next member is no less than the last
        ends = np.cumsum(more)
        following = np.arange(ends[-1]) + np.repeat(types - ends, more)
        rows = np.concatenate([np.repeat(rows, more, axis=0), following[:, None].astype(np.int16)], axis=1)
    return rows


@stored("SmallDB", ("size",))
@dataclass(frozen=True)
class SmallDB(Method):
    """Choose a table of `size` records; by default as many as make the bound on its error the least."""

    name = "small_db"
    theorem = "(ln|X| ln k / (n epsilon))^(1/3), with C(|X| + m - 1, m) tables to choose from"
    needs_n = reads_n = True

    size: int | None = None

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        records, cells = self._people(n), workload.domain.size
        if workload.queries > _MAX_QUERIES:
            return f"it takes at most {_MAX_QUERIES} queries, not {shown(workload.queries)}"
        if (coefficients := cells * workload.queries) > _MAX_COEFFICIENTS:
            return f"it takes at most {_MAX_COEFFICIENTS} coefficients on all cells, not {shown(coefficients)}"
        if (types := _types(workload)) is None:
            return f"it takes queries that distinguish at most {_MAX_TYPES} of the {shown(cells)} cells; these do more"
        m = self.members(workload, records, price)
        if records * m / workload.grid >= _EXACT:
            return f"n times {m} must be below 2^53 steps, so that scores are exact"
        many = candidates(types.count, m)
        if not fits(types.count, m):
            return f"it would lay out {shown(many)} tables of {m} records, and can lay out {RECORDS // m}"
        if self.size is None and self._bound(workload, records, price, m=m, beta=0.5) >= records:
            best = self._best(workload, records, price, range(1, _MAX_SIZE))
            if fits(types.count, best):
                return f"{records} records are too few: even the best size of table, {best}, promises nothing"
            return (
                f"tables of {m} records promise nothing, and there are too many of the best size, {best}, to lay out:"
                f" {shown(candidates(types.count, best))}"
            )
        return None

    def members(self, workload: Workload, n: int, price: Price) -> int:
        """The size m of a table: as given, or the best of those whose tables can be laid out."""
        if self.size is not None:
            return whole("size", self.size)
        t = _known(workload).count
        return self._best(workload, n, price, takewhile(lambda m: fits(t, m), range(1, _MAX_SIZE)))

    def _best(self, workload: Workload, n: int, price: Price, sizes: Iterable[int]) -> int:
        """The size m with the least n sqrt(ln(2 k) / (2 m)) + scale ln C(t + m - 1, m)."""
        t, scale = _known(workload).count, float(self._choice(workload, price, 1).scale * workload.grid)
        return min(sizes, key=lambda m: _nearest(workload, n, m) + scale * math.log(candidates(t, m)))

    def _choice(self, workload: Workload, price: Price, m: int) -> Exponential | PermuteAndFlip:
        each = max(1, math.ceil(workload.distance(price.unit).linf / workload.grid))  # queries of nothing move by 0
        moves = scalar(Fraction(m * each), price.unit.relation)
        if price.epsilon is not None:
            return PermuteAndFlip(epsilon=price.epsilon, sensitivity=moves)
        return Exponential(rho=price.amount, sensitivity=moves)

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        return self._choice(workload, price, self.members(workload, self._people(n), price)).loss()

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        records = self._people(n)
        m, t = self.members(workload, records, price), _known(workload).count
        many = candidates(t, m)
        worst = self._bound(workload, records, price, m=m, beta=float(probability("beta", beta)))
        seconds = 1e-9 * min(many * m, RECORDS) * workload.queries
        why = f"one of {shown(many)} tables of {m} records"
        return Prediction(worst, worst, worst, seconds, "bound", float(probability("beta", beta)), why)

    def _bound(self, workload: Workload, n: int, price: Price, *, m: int, beta: float) -> float:
        """A bound on every error, in counts; no answer of n records misses by more than n."""
        types = _known(workload).count
        many, choice = candidates(types, m), self._choice(workload, price, m)
        if not fits(types, m):  # so many that only their logarithm enters: the textbook's bound, of either choice
            falls_short = float(choice.scale) * (math.log(many) - math.log(beta))
        else:
            falls_short = choice.error(beta=beta, candidates=many)
        return min(_nearest(workload, n, m) + falls_short * float(workload.grid) / m, float(n))

    def scores(self, workload: Workload, data: Data, n: int, tables: NDArray[np.int16]) -> Integers:
        """-max_q |m q(x) - n q(y)| for each table y, in steps: floats that are whole and below 2^53 are exact."""
        steps, m = float(n / workload.grid), tables.shape[1]
        truth = np.minimum(workload.exactly(data), steps) * m
        of_type = np.ascontiguousarray(_known(workload).coefficients.T * float(n))
        if m > 1 and len(of_type) ** 2 <= _ROWS:  # two members are looked up together, as one of t^2 types and t
            pairs, t = (of_type[:, None] + of_type).reshape(-1, truth.size), len(of_type)
            even = tables[:, : m - m % 2]
            tables = np.concatenate([even[:, ::2] * t + even[:, 1::2], tables[:, m - m % 2 :] + t * t], axis=1)
            of_type = np.concatenate([pairs, of_type])
        scores = np.empty(len(tables), np.int64)
        for start in range(0, len(tables), _ROWS):
            gaps = np.tile(-truth, (min(_ROWS, len(tables) - start), 1))
            for members in tables[start : start + _ROWS].T:
                gaps += of_type[members]
            scores[start : start + _ROWS] = -np.abs(gaps, out=gaps).max(axis=1)
        return scores

    def law(self, workload: Workload, data: Data, price: Price, n: int) -> law.Finite:
        """The law of the table that is chosen, given by its members."""
        m = self.members(workload, n, price)
        tables = multisets(_known(workload).count, m)
        masses = self._choice(workload, price, m).law(self.scores(workload, data, n, tables)).masses
        return law.Finite({tuple(table): masses[i] for i, table in enumerate(tables.tolist())})

    def choose(self, workload: Workload, data: Data, price: Price, source: Source, n: int) -> NDArray[np.int16]:
        """Draw a table, given by its members."""
        t, m = _known(workload).count, self.members(workload, n, price)
        tables = multisets(t, m)
        chosen = self._choice(workload, price, m).sample(self.scores(workload, data, n, tables), source)
        return np.asarray(tables[chosen])

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        records, types = self._people(n), _known(workload)
        table = self.choose(workload, data, price, source, records)
        m = table.size
        each = np.bincount(table, minlength=types.count) * (records / m) / np.bincount(types.of_cell)
        model = Cells(workload.domain, each[types.of_cell])
        note = f"one of the tables of {m} records, scaled to {records}; errors are stated for that many records"
        loss = self.loss(workload, records, price)
        released = Released(self.name, workload, workload.answer(model), None, model, loss, beta, (note,))
        return replace(released, errors=self.error_bounds(released, n, price, beta))

    def error_bounds(self, released: Released, n: int | None, price: Price, beta: float) -> Floats:
        """One bound for all answers, by the size of the candidate tables."""
        workload, records = released.workload, self._people(n)
        m = self.members(workload, records, price)
        return np.full(workload.queries, self._bound(workload, records, price, m=m, beta=beta))


def _known(workload: Workload) -> _Types:
    types = _types(workload)
    if types is None:
        raise BadQuestion("The queries distinguish too many cells for small_db.")
    return types


def _nearest(workload: Workload, n: int, m: int) -> float:
    """n sqrt(ln(2 k) / (2 m)), in counts: some table of m records answers all queries this near to n records."""
    return n * math.sqrt(math.log(2 * workload.queries) / (2 * m))
