r"""MWEM: multiplicative weights that ask the exponential mechanism which queries the model answers worst.

Definition.  A group is a marginal, all cells of which are measured together, or else a single query.  In each of R
rounds every group is scored by its distance from the public model (`multiplicative_weights.py`), the sum over its
queries of |x - g| with g the model's answer rounded to a step, less what noise alone would give.  `TopK` picks b of
them; each is measured with noise; and the model is moved towards all measurements so far, the last first, again and
again until it is as near to them as noise lets the data be:
    weights times ((y + s) / (g + s))^(1/2) for each cell of a group, y >= 0 its mean measurement and s the noise on it
    pure    picks by the exponential mechanism, discrete Laplace noise
    zCDP    the same with bounded range, which costs epsilon^2 / 8 a pick, and discrete Gaussian noise
If n is not public, the total is measured first.

Privacy.  One unit moves the score of a group by no more than it moves its answers in l1, and the measurements by what
the noise is for.  The picks cost a tenth of the price and the measurements the rest; by adaptive composition they add
up to the price.  The model and the replay are post-processing.

Utility.  For one query a round, no replay and the average of all models: 2 n sqrt(ln|X| / R) + 10 R ln k / epsilon with
probability 1 - 2 R / k (`classical_bound`).  Replay is better in practice and not in proof, so no more is promised than
that an answer of n records is between 0 and n.

References.  Hardt, Ligett, McSherry, NeurIPS 2012, theorem 2.2; McKenna, Mullins, Sheldon, Miklau, VLDB 2022, for
scoring and measuring marginals; Cesar and Rogers, ALT 2021, for the price of a pick.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.accounting.loss import Loss, zero
from ....core.distance import Distance, scalar
from ....core.parameters import Number, positive, probability, whole
from ....core.progress import with_progress
from ....core.randomness import Source
from ....mechanisms import TopK
from ....storage import stored
from ...method import Method, Prediction, Released
from ...models.multiplicative_weights import Weights
from ...price import Noise, Price, variance
from ...queries._all_marginals import AllMarginals, Marginalised
from ...queries.data import EXACT, Data, Floats, Integers
from ...queries.domain import Axes, counted, shown
from ...queries.marginals import Marginal
from ...queries.workload import Workload

CELLS = 1 << 24  # of the model, at most
PICKS = Fraction(1, 10)  # the share of the price that picks get
TOTAL = Fraction(1, 50)  # and that the total gets, if n is not public
_MAX_ROUNDS = 16
_MAX_MEASUREMENTS = 256
_MAX_NOISE = 0.01  # of a measurement that is worth its while, as a share of n
_ASSUMED_RECORDS = 10_000  # where n is not public
_MIN_NOISE = 2.0**-40  # of all records: no measurement is known better, so that no ratio is 0 or infinite
_MAX_REPLAYS, _MAX_LAST_REPLAYS = 10, 100  # in a round, and at the end
_MAX_WORK = 1 << 28  # cells moved by replays, beyond which two replays are enough
_FITTED = 2.0  # squared misfit, in variances of the noise: that of the data is 1 on average, so that no noise is fitted
_MIN_GAIN = 0.01  # of the misfit: a replay that lowers it by less is the last


def classical_bound(cells: int, queries: int, *, n: int, rounds: int, epsilon: Number) -> float:
    """2 n sqrt(ln|X| / R) + 10 R ln k / epsilon, in counts."""
    learnt = 2 * whole("n", n) * math.sqrt(math.log(whole("cells", cells)) / whole("rounds", rounds))
    return learnt + 10 * rounds * math.log(whole("queries", queries)) / float(positive("epsilon", epsilon))


@dataclass(frozen=True)
class Group:
    """Queries measured together: the cells of the marginal on these axes, or one query, which units move by `moves`."""

    first: int
    queries: int
    axes: Axes | None
    moves: Distance[Any]

    @property
    def all(self) -> slice:
        return slice(self.first, self.first + self.queries)


class Groups:
    """Marginals as a whole, other queries one by one; `sizes` and `starts` count queries, `moves` are by part."""

    def __init__(self, workload: Workload, unit: Distance[Any]) -> None:
        parts, g = workload.parts, workload.grid
        self.axes = [part.marginal_axes for part in parts]
        self.moves: list[Distance[Any]] = []
        for far, axes in zip((part.distance(unit) for part in parts), self.axes, strict=True):
            if axes is None:
                self.moves.append(scalar(Fraction(max(1, math.ceil(far.linf / g))), far.relation))  # 0 of nothing
            else:
                self.moves.append(Distance(far.l1 / g, far.l2_squared / g**2, far.linf / g, far.l0, far.relation))
        times = [part.queries if axes is None else 1 for part, axes in zip(parts, self.axes, strict=True)]
        self.part = np.repeat(np.arange(len(parts)), times)
        self.sizes = np.array([part.queries for part in parts])[self.part]
        self.sizes[np.repeat([axes is None for axes in self.axes], times)] = 1
        self.starts = np.cumsum(self.sizes) - self.sizes

    def __len__(self) -> int:
        return self.part.size

    def __getitem__(self, i: int) -> Group:
        part = self.part[i]
        return Group(int(self.starts[i]), int(self.sizes[i]), self.axes[part], self.moves[part])


class Learner:
    """The public model, and for each group how often it was measured, the mean and its noise, in counts."""

    def __init__(self, workload: Workload, records: float) -> None:
        self.workload, self.weights = workload, Weights(workload.domain, records)
        self.measured: dict[Group, tuple[int, Floats, float]] = {}
        self._marginals = AllMarginals(workload.tables)

    def guess(self) -> Integers:
        """The model's answers, in steps of the workload's grid."""
        whole = Marginalised(self.workload.domain, self._marginals.of(self.weights.values))
        unit = self.weights.records / float(self.weights.values.sum()) / float(self.workload.grid)
        return np.minimum(np.round(self.workload.answer(whole) * unit), EXACT).astype(np.int64)

    def note(self, group: Group, numbers: NDArray[Any], deviation: float) -> None:
        """Add a measurement, in steps; the latest is the first to be replayed."""
        unit = float(self.workload.grid)
        times, mean, _ = self.measured.pop(group, (0, np.zeros(group.queries), 0.0))
        mean = (mean * times + numbers * unit) / (times + 1)
        self.measured[group] = times + 1, mean, deviation * unit / math.sqrt(times + 1)

    def fit(self, max_replays: int) -> None:
        """Replay until the model is as near to the measurements as noise lets it be, or comes no nearer."""
        work = self.workload.domain.size * len(self.measured)
        before = math.inf
        for _ in range(min(max_replays, max(2, _MAX_WORK // work))):
            misfit = self.replay()
            if misfit <= _FITTED or misfit > (1 - _MIN_GAIN) * before:
                return
            before = misfit

    def replay(self) -> float:
        """Move the model half of the way to each measurement, as a ratio, where noise is not larger than both.

        Returns the mean square of how far the model was from the measurements, in deviations of their noise.
        """
        records, misfits = self.weights.records, []
        for group, (_, mean, deviation) in reversed(self.measured.items()):
            noise = max(deviation, _MIN_NOISE * records)
            if group.axes is not None:
                now = self.weights.marginal(group.axes)
                then = np.maximum(mean, 0).reshape(now.shape)
                misfits.append(((then - now) / noise).ravel())
                self.weights.tilt(group.axes, np.log((then + noise) / (now + noise)) / 2)
                continue
            vector = self.workload.vector(group.first).reshape(self.workload.domain.shape)
            total = self.weights.settled()
            guess = records * min(float(np.vdot(vector, self.weights.values)) / total, 1.0)
            aim = min(max(float(mean[0]), 0.0), records)
            misfits.append(np.array([(aim - guess) / noise]))
            odds = (aim + noise) / (guess + noise) * (records - guess + noise) / (records - aim + noise)
            self.weights.tilt(self.workload.domain.all, vector * (math.log(odds) / 2))
        return float(np.square(np.concatenate(misfits)).mean())


@stored("MWEM", ("rounds", "picks"))
@dataclass(frozen=True)
class MWEM(Method):
    """Measure `picks` groups in each of `rounds`; by default as many as noise leaves worth their while."""

    name = "mwem"
    theorem = "(ln|X| ln k / (n epsilon))^(1/3) on average over rounds; |X| a measurement"
    reads_n = True

    rounds: int | None = None
    picks: int | None = None

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        if workload.domain.size > CELLS:
            return f"its model has at most {CELLS} cells, and this domain has {shown(workload.domain.size)} cells"
        if n is not None and n / workload.grid > EXACT:
            return f"{n} records are 2^53 steps or more, which floats do not distinguish"
        return None

    def counts(self, workload: Workload, n: int | None, price: Price) -> tuple[int, int]:
        """The number of rounds, and of picks in each: the noise of a measurement is then about a hundredth of n in all.

        There are at most a third as many measurements as groups, and at least two for each attribute.
        """
        among = Groups(workload, price.unit)
        cells = float(np.median(among.sizes))
        noise = _MAX_NOISE * (n or _ASSUMED_RECORDS) / cells  # deviation of each number, about
        paid = float(price.amount * (1 - PICKS))
        worth = noise * paid if price.epsilon is not None else 2 * noise**2 * paid
        least = min(len(among), 2 * len(workload.domain.shape))
        measurements = max(least, min(worth, len(among) / 3, _MAX_MEASUREMENTS))
        rounds = min(_MAX_ROUNDS, math.ceil(measurements)) if self.rounds is None else whole("rounds", self.rounds)
        picks = max(1, round(measurements / rounds)) if self.picks is None else whole("picks", self.picks)
        return rounds, min(picks, len(among))

    def _parts(self, workload: Workload, n: int | None, price: Price) -> tuple[TopK, Price]:
        """How the groups of a round are picked, and what each measurement costs."""
        rounds, picks = self.counts(workload, n, price)
        left = price.part(1 - TOTAL) if n is None else price
        pick, each = left.part(PICKS / rounds), left.part((1 - PICKS) / (rounds * picks))
        l1 = max(moves.l1 for moves in Groups(workload, price.unit).moves)
        moves = scalar(Fraction(math.ceil(l1)), price.unit.relation)
        return TopK(k=picks, epsilon=pick.epsilon, rho=pick.rho, sensitivity=moves), each

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        rounds, picks = self.counts(workload, n, price)
        choice, each = self._parts(workload, n, price)
        total = price.part(TOTAL).loss() if n is None else zero
        return total + rounds * choice.loss() + (rounds * picks) * each.loss()

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        rounds, picks = self.counts(workload, n, price)
        worst = float(n) if n is not None else math.inf
        seconds = self._seconds(workload, n, price)
        measured = counted(rounds * picks, "measurement", "measurements")
        why = f"{measured}; no bound better than n is proved for a model that replays them"
        return Prediction(worst, worst, worst, seconds, "bound", float(probability("beta", beta)), why)

    def _seconds(self, workload: Workload, n: int | None, price: Price) -> float:
        """The time to ask the model in each round, to pick among all groups, and to replay measurements."""
        rounds, picks = self.counts(workload, n, price)
        among, cells, each = Groups(workload, price.unit), workload.domain.size, self._parts(workload, n, price)[1]
        asked = rounds * (2e-5 * len(workload.parts) + 1e-8 * cells + workload.seconds / 5)
        picked = rounds * picks * (1e-4 + 1.5e-8 * len(among))
        noise = _deviation(each.noise(among.moves[0])) * float(workload.grid)
        halvings = max(1.0, math.log2(_MAX_NOISE * (n or _ASSUMED_RECORDS) / noise))
        halvings = min(halvings, max(2, _MAX_WORK // (cells * rounds * picks)))
        replays = rounds / 2 * min(halvings, _MAX_REPLAYS) + 2 * halvings
        move = 2.5e-5 + (7e-9 if among.axes[0] is None else 7e-10) * cells
        return asked + picked + rounds * picks * replays * move

    def scores(self, among: Groups, gaps: Integers, each: Price) -> Integers:
        """The sum of |x - g| over each group, less what noise alone gives on average, in steps."""
        noise = {moves: _deviation(each.noise(moves)) for moves in set(among.moves)}
        alone = 0.8 * among.sizes * np.array([noise[moves] for moves in among.moves])[among.part]
        return np.asarray(np.add.reduceat(np.abs(gaps), among.starts) - np.rint(alone).astype(np.int64))

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        among, (choice, each) = Groups(workload, price.unit), self._parts(workload, n, price)
        rounds, picks = self.counts(workload, n, price)
        truth = workload.exactly(data)
        if n is None:
            noise = price.part(TOTAL).noise(Marginal(workload.domain, ()).distance(price.unit))
            records = max(1.0, float(noise.sample(int(data.marginal(())), source)))
        else:
            records = float(n)
        learner = Learner(workload, records)
        for _ in with_progress("measuring", range(rounds), rounds):
            for pick in choice.sample(self.scores(among, truth - learner.guess(), each), source):
                group, noise = among[pick], each.noise(among[pick].moves)
                learner.note(group, np.asarray(noise.sample(truth[group.all], source)), _deviation(noise))
            learner.fit(_MAX_REPLAYS)
        learner.fit(_MAX_LAST_REPLAYS)
        measured, often = counted(rounds * picks, "measurement", "measurements"), counted(rounds, "round", "rounds")
        note = f"{measured} in {often}; {records:.0f} records"
        answers, loss = workload.answer(learner.weights), self.loss(workload, n, price)
        return Released(self.name, workload, answers, None, learner.weights, loss, beta, (note,))


def _deviation(noise: Noise) -> float:
    return math.sqrt(variance(noise))
