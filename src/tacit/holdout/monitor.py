r"""The Monitor, simulated: the proof of the transfer theorem as an experiment.

The population P is uniform on a universe of U points.  M sees a sample of m of them and chooses a set; the question q
is "is the point in the set?", so q(P) = size / U is known, as it is only in a simulation.  Without privacy M takes
the points that it has seen: q(S) = 1.  With privacy M takes the points whose count plus discrete Laplace noise of scale
2/epsilon is 1 or more; substituting a record moves a histogram by 2, so this is epsilon-private.

The Monitor runs M on T samples and chooses among the 2 T candidates (t, q), (t, 1 - q) by the exponential mechanism at
epsilon', with score q(S_t) - q(P), of sensitivity 1/m.  The Monitor is (epsilon + epsilon')-private, so its mean score
is at most e^(epsilon + epsilon') - 1 (transfer.expected).  Its mean score is also at least the mean of the largest
score less 2 ln(2 T) / (epsilon' m).  Repeated runs show both; without privacy the first bound fails, as it should.

References.  Sorrell, lecture notes on the Monitor; Bassily et al., STOC 2016, section 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import variance

import numpy as np

from ..composition import bernstein_inverse, hoeffding_inverse
from ..core import samplers
from ..core.accounting.loss import Loss
from ..core.distance import SUBSTITUTE
from ..core.exact import up
from ..core.parameters import Number, flag, positive, whole
from ..core.randomness import SYSTEM, Source
from ..mechanisms import Exponential, Laplace
from .transfer import NOTES_WIDTH, expected

DOUBT = "1e-9"  # the probability that a mean is off by more than its margin


@dataclass(frozen=True, slots=True)
class Monitored:
    """Means over many runs: of the chosen score, of the largest, and of the share of samples where M is `alpha` off."""

    chosen: float
    largest: float
    overfit: float
    margin: float  # of each mean, except with probability DOUBT
    bound: float  # e^(epsilon + epsilon') - 1
    shortfall: float  # 2 ln(2 T) / (epsilon' m)
    alpha: float
    private: bool
    samples: int = 1

    @property
    def claimed(self) -> float:
        """alpha (1 - (1 - p)^T), a lower bound on the mean of the largest score (claim 0.3); p is `overfit`."""
        return self.alpha * -math.expm1(self.samples * math.log1p(-self.overfit)) if self.overfit < 1 else self.alpha

    @property
    def kept(self) -> bool | None:
        """Whether the bound holds, or None if these runs cannot decide."""
        if self.chosen - self.margin > self.bound:
            return False
        return True if self.chosen + self.margin <= self.bound else None

    def __str__(self) -> str:
        how = "private" if self.private else "not private"
        off = f"off by {self.alpha:.3g} or more in {100 * self.overfit:.3g} % of its samples"
        verdict = {True: "holds", False: "is exceeded", None: "is undecided: these runs are too few"}[self.kept]
        score = f"the Monitor's mean score is {self.chosen:.3f} +- {self.margin:.3f}"
        largest = f"the largest has mean {self.largest:.3f}, which must be at least {self.claimed:.3f}"
        return (
            f"M is {how}: {off}; {score}, and the bound for private M, {self.bound:.3f}, {verdict}.\n"
            f"  Of its 2 T = {2 * self.samples} scores {largest}; the choice loses at most {self.shortfall:.3f}."
        )


@dataclass(frozen=True)
class Monitor:
    """The parameters of the experiment: T samples of `size` records, from a universe of as many points or more."""

    epsilon: Number = "0.05"
    choice: Number = "0.05"
    samples: int = 10
    size: int = 1000
    universe: int = 2000

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        positive("choice", self.choice)
        for name in ("samples", "size", "universe"):
            whole(name, getattr(self, name))

    @cached_property
    def selection(self) -> Exponential:
        """The exponential mechanism on the scores m U (q(S_t) - q(P)), integers that one record moves by U."""
        return Exponential(
            epsilon=self.choice, sensitivity=SUBSTITUTE.sum(0, self.universe), candidates=2 * self.samples
        )

    @cached_property
    def histogram(self) -> Laplace:
        """The noise that makes M private."""
        return Laplace(epsilon=self.epsilon, sensitivity=SUBSTITUTE.histogram())

    def loss(self) -> Loss:
        """The privacy loss of one run, for a record in one of the samples: that of M and of the choice."""
        return self.histogram.loss() + self.selection.loss()

    def chosen_set(self, counts: np.ndarray, private: bool, source: Source) -> np.ndarray:
        """The set that M chooses from a histogram: the points that seem to be in the sample."""
        noisy = self.histogram.sample(counts, source) if private else counts
        return np.asarray(noisy) >= 1

    def run(self, runs: int = 2000, *, private: bool = True, source: Source = SYSTEM) -> Monitored:
        """Run the experiment `runs` times, each with fresh samples."""
        runs, private = whole("runs", runs), flag("private", private)
        m, u, alpha = self.size, self.universe, NOTES_WIDTH * float(positive("epsilon", self.epsilon))
        scale, chosen, largest, overfit = m * u, [], [], 0
        for _ in range(runs):
            scores = np.empty(2 * self.samples, np.int64)
            for t in range(self.samples):
                counts = np.bincount(samplers.integers(u, source, m), minlength=u)
                members = self.chosen_set(counts, private, source)
                excess = u * int(counts[members].sum()) - m * int(members.sum())
                scores[2 * t : 2 * t + 2] = excess, -excess
            overfit += int((np.abs(scores[::2]) >= alpha * scale).sum())
            chosen.append(int(scores[self.selection.sample(scores, source)]) / scale)
            largest.append(int(scores.max()) / scale)
        total = positive("epsilon", self.epsilon) + positive("choice", self.choice)
        return Monitored(
            chosen=math.fsum(chosen) / runs,
            largest=math.fsum(largest) / runs,
            overfit=overfit / (runs * self.samples),
            margin=max(map(_margin, (chosen, largest))),
            bound=expected(total),
            shortfall=up(2 / (positive("choice", self.choice) * m)) * math.log(2 * self.samples),
            alpha=alpha,
            private=private,
            samples=self.samples,
        )


def _margin(scores: list[float]) -> float:
    """The margin of a mean of independent scores in [-1, 1]: the smaller of Bernstein's and Hoeffding's bounds."""
    n, half = len(scores), Fraction(DOUBT) / 2
    hoeffding = hoeffding_inverse(n, half)
    return 2 * (min(hoeffding, bernstein_inverse(n, variance(scores) / 4, half)) if n > 1 else hoeffding)


def simulate_monitor(runs: int = 2000, *, source: Source = SYSTEM) -> tuple[Monitored, Monitored]:
    """Run the Monitor on an M that is private, and on an M that is not."""
    experiment = Monitor()
    return experiment.run(runs, source=source), experiment.run(runs, private=False, source=source)
