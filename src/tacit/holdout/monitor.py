r"""The Monitor, run: the argument behind the transfer theorem as an experiment.

The population P is uniform on a universe of U points.  M sees a sample of m of them and chooses a set; the question q
is "is the point in the set?", so q(P) = size / U is known, which only a simulation can say.  Without privacy M takes
the points that it has seen: q(S) = 1.  With privacy it takes those whose number plus discrete Laplace noise of scale
2/epsilon is 1 or more; a histogram moves by 2 when a record is substituted, so this is epsilon-private.

The Monitor runs M on T samples and chooses among the 2 T candidates (t, q), (t, 1 - q) by the exponential mechanism at
epsilon', with score q(S_t) - q(P), of sensitivity 1/m.  It is (epsilon + epsilon')-private, so in the mean its score
is at most e^(epsilon + epsilon') - 1 (transfer.expected).  It also is at least the mean of the largest score, less 2
ln(2 T) / (epsilon' m).  Repeated runs show both; without privacy the first fails, and nothing is wrong with that.

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

DOUBT = "1e-9"  # the chance that a mean strays farther than its margin


@dataclass(frozen=True, slots=True)
class Monitored:
    """Means over many runs: of the score the Monitor chose and of the largest, and how often M was `alpha` off."""

    chosen: float
    largest: float
    overfit: float
    margin: float  # of each mean, but for the chance DOUBT
    bound: float  # e^(epsilon + epsilon') - 1
    shortfall: float  # 2 ln(2 T) / (epsilon' m)
    alpha: float
    private: bool
    samples: int = 1

    @property
    def claimed(self) -> float:
        """alpha (1 - (1 - p)^T), at most the mean of the largest score (claim 0.3): p is the share of those overfit."""
        return self.alpha * -math.expm1(self.samples * math.log1p(-self.overfit)) if self.overfit < 1 else self.alpha

    @property
    def kept(self) -> bool | None:
        """Is the bound kept?  None if these runs cannot tell."""
        if self.chosen - self.margin > self.bound:
            return False
        return True if self.chosen + self.margin <= self.bound else None

    def __str__(self) -> str:
        how = "private" if self.private else "not private"
        off = f"off by {self.alpha:.3g} or more in {100 * self.overfit:.3g} % of its samples"
        verdict = {True: "is kept", False: "is exceeded", None: "may be kept or not: these runs cannot tell"}[self.kept]
        score = f"the Monitor's mean score is {self.chosen:.3f} +- {self.margin:.3f}"
        least = f"the largest has the mean {self.largest:.3f}, at least {self.claimed:.3f} as samples are off so often"
        return (
            f"M is {how}: {off}; {score}, and the bound for private M, {self.bound:.3f}, {verdict}.\n"
            f"  Of its 2 T = {2 * self.samples} scores {least}, and the choice loses {self.shortfall:.3f} at most."
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
        """Scores are m U (q(S_t) - q(P)), whole numbers, and one record moves them by U."""
        return Exponential(
            epsilon=self.choice, sensitivity=SUBSTITUTE.sum(0, self.universe), candidates=2 * self.samples
        )

    @cached_property
    def histogram(self) -> Laplace:
        return Laplace(epsilon=self.epsilon, sensitivity=SUBSTITUTE.histogram())

    def loss(self) -> Loss:
        """What one run costs a record, which is in one of the samples: that of M and of the choice."""
        return self.histogram.loss() + self.selection.loss()

    def chosen_set(self, counts: np.ndarray, private: bool, source: Source) -> np.ndarray:
        """What M makes of a histogram: the points that seem to be in the sample."""
        noisy = self.histogram.sample(counts, source) if private else counts
        return np.asarray(noisy) >= 1

    def run(self, runs: int = 2000, *, private: bool = True, source: Source = SYSTEM) -> Monitored:
        """So many runs, each with fresh samples."""
        runs, private = whole("runs", runs), flag("private", private)
        m, u, alpha = self.size, self.universe, NOTES_WIDTH * float(positive("epsilon", self.epsilon))
        scale, chosen, largest, overfit = m * u, [], [], 0
        for _ in range(runs):
            scores = np.empty(2 * self.samples, np.int64)
            for t in range(self.samples):
                counts = np.bincount(samplers.integers(u, source, m), minlength=u)
                taken = self.chosen_set(counts, private, source)
                excess = u * int(counts[taken].sum()) - m * int(taken.sum())
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
    """Of a mean of independent scores in [-1, 1]: Bernstein's, if it is smaller than Hoeffding's."""
    n, half = len(scores), Fraction(DOUBT) / 2
    hoeffding = hoeffding_inverse(n, half)
    return 2 * (min(hoeffding, bernstein_inverse(n, variance(scores) / 4, half)) if n > 1 else hoeffding)


def simulate_monitor(runs: int = 2000, *, source: Source = SYSTEM) -> tuple[Monitored, Monitored]:
    """The Monitor of a private M, and of one that is not."""
    experiment = Monitor()
    return experiment.run(runs, source=source), experiment.run(runs, private=False, source=source)
