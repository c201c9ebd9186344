"""Methods that choose what to measure, end to end: the exact law of all that they draw, on toy universes.

The code itself is run, with its draws decided: what a mechanism would draw is asked for its exact mass on this table,
and a transcript (counts of single attributes, picks, measurements, the appraisal) has the product.  Transcripts with a
draw far in a tail are left out and the appraisal, the last draw, is told to within a quarter of its noise, so masses
are exact and sums over transcripts at most what they are over all: a divergence above the price refutes it.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from tacit.core.accounting.budget import Budget
from tacit.core.accounting.loss import zero
from tacit.core.distance import SUBSTITUTE
from tacit.core.law import Finite, hockey_stick, max_divergence, renyi_divergence
from tacit.mechanisms import Exponential, Gaussian, Laplace
from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Histogram, Price, from_matrix, marginals, ranges
from tacit.workloads.methods.direct import _strategy, matrix_mechanism
from tacit.workloads.methods.direct.matrix_mechanism import Optimised
from tacit.workloads.methods.marginals import _residual_plan, adaptive, chow_liu
from tacit.workloads.methods.marginals.adaptive import Adaptive
from tacit.workloads.methods.marginals.chow_liu import ChowLiu
from tacit.workloads.methods.trees import pruned
from tacit.workloads.methods.trees.partition import Partition
from tacit.workloads.methods.trees.pruned import Pruned
from tacit.workloads.models.marginals.residuals import centred

MOST = {
    "tree": 0.9,
    "tree of three": 0.5,
    "adaptive": 0.1,
    "partition": 0.9,
    "pruned": 0.9,
    "optimised": 0.7,
}  # of the mass is gone through
TWO, THREE = Domain.of({"a": 2, "b": 2}), Domain.of({"a": 2, "b": 2, "c": 2})
LINE, SIX = Domain.of({"x": 4}), Domain.of({"x": 6})


class Undecided(Exception):
    """A draw that the script does not decide, and what it could be."""

    def __init__(self, options):
        self.options = list(options)


@dataclass
class Script:
    """What each draw is to be, but for the last: of that the masses of all parts of the line, cut at `cuts`."""

    decided: tuple
    tail: float
    cuts: tuple | None = None
    drawn: int = 0
    mass: float = 1.0
    last: tuple = (1.0,)

    def next(self, mass, support):
        if self.drawn == len(self.decided):
            raise Undecided(support())
        y = self.decided[self.drawn]
        self.drawn, self.mass = self.drawn + 1, self.mass * mass(y)
        return y

    def numbers(self, noise, x):
        """What an additive noise makes of exact numbers; one number alone is the appraisal."""
        laws = [noise.noise(round(v / (noise.grid or 1))) for v in np.ravel(x).tolist()]
        if not np.ndim(x):
            far = math.sqrt(laws[0].variance())
            self.cuts = self.cuts or tuple(x + round(k * far / 4) for k in range(-20, 21))
            above = [1.0, *(laws[0].at_least(cut) for cut in self.cuts), 0.0]
            self.last = tuple(a - b for a, b in pairwise(above))
            return x
        y = self.next(
            lambda y: math.prod(law.mass(v) for law, v in zip(laws, y, strict=True)),
            lambda: product(*(law.support(self.tail) for law in laws)),
        )
        return np.array(y, np.int64).reshape(np.shape(x))

    def pick(self, mechanism, scores):
        masses = mechanism.law(scores).masses
        return self.next(masses.__getitem__, lambda: masses)

    def residual(self, tables, noise, source):
        return np.stack([self.one_residual(table, noise) for table in np.split(tables, len(tables))])

    def one_residual(self, stack, noise):
        """The total, or the counts of two values of which N (x1 - x0) + Z1 - Z0 is told, by its exact law."""
        table = stack.reshape(stack.shape[1:])
        values = [int(v) * table.size for v in np.ravel(table)]
        if not table.ndim:
            law = noise.noise(values[0])
            return np.array(float(self.next(law.mass, lambda: law.support(self.tail))))
        assert len(values) == 2
        one, gap = noise.noise(0), values[1] - values[0]
        draws = [(z, one.mass(z)) for z in one.support(1e-14)]
        y = self.next(
            lambda y: math.fsum(p * one.mass(y - gap + z) for z, p in draws),
            lambda: [gap + v for v in one.support(self.tail)],
        )
        return centred(np.array([0.0, y])) / table.size


def played(release, table, script):
    """The release of a table, as the script decides."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in (Laplace, Gaussian):
            patch.setattr(kind, "sample", lambda noise, x, source: script.numbers(noise, x))
        patch.setattr(Exponential, "sample", lambda mechanism, scores, source: script.pick(mechanism, scores))
        patch.setattr(_residual_plan, "residual", script.residual)
        for module in (chow_liu, adaptive):  # fits are post-processing, of any quality
            patch.setattr(module, "_FIT_STEPS", 1)
        patch.setattr(adaptive, "_LAST_FIT_STEPS", 1)
        patch.setattr(pruned, "_BRANCHING", 2)  # so that few values have several levels
        release(table)
    return script


def laws(release, x, y, tail):
    """The laws of transcripts on both tables."""
    found, todo = ({}, {}), [()]
    while todo:
        decided = todo.pop()
        try:
            one = played(release, x, Script(decided, tail))
        except Undecided as branch:
            todo += [(*decided, option) for option in branch.options]
            continue
        other = played(release, y, Script(decided, tail, one.cuts))
        for law, script in zip(found, (one, other), strict=True):
            law.update({(decided, part): script.mass * mass for part, mass in enumerate(script.last)})
    return Finite(found[0]), Finite(found[1])


FEW = [2, 0, 0, 1, 0, 1, 1, 1]
SUM = from_matrix(LINE, [[1, 1, 1, 0], *np.eye(4)], weights=[40, 1, 1, 1, 1])
CASES = {
    "tree": (ChowLiu(), marginals(TWO, k=2), [2, 0, 1, 2], [2, 1, 1, 2], 1e-3),
    "tree, one less": (ChowLiu(), marginals(TWO, k=2), [2, 1, 1, 2], [2, 0, 1, 2], 1e-2),
    "tree, substitution": (ChowLiu(), marginals(TWO, k=2), [2, 0, 1, 2], [2, 1, 1, 1], 1e-2),
    "tree of three": (ChowLiu(), marginals(THREE, k=2), FEW, [*FEW[:7], 0], 0.1),
    "adaptive": (Adaptive(), marginals(THREE, k=2), FEW, [*FEW[:7], 0], 0.35),
    "partition": (Partition(), ranges(LINE), [3, 0, 0, 1], [2, 0, 0, 1], 1e-2),
    "pruned": (Pruned(), ranges(LINE), [3, 0, 0, 1], [2, 0, 0, 1], 1e-8),
    "pruned, substitution": (Pruned(), ranges(LINE), [3, 0, 0, 1], [2, 0, 1, 1], 1e-8),
    "optimised": (Optimised(), SUM, [3, 0, 0, 1], [2, 0, 0, 1], 0.05),
    "optimised, substitution": (Optimised(), SUM, [3, 0, 0, 1], [2, 0, 0, 2], 0.05),
    "pruned, three levels": (Pruned(), ranges(SIX), [2, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], 1e-7),
}


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """Strategies in quarters, so that few steps are likely, and never the cells alone."""
    monkeypatch.setattr(_strategy, "STEP", Fraction(1, 4))
    monkeypatch.setattr(matrix_mechanism, "strategies", lambda *terms: _strategy.strategies(*terms)[1:])


@pytest.mark.parametrize("money", [{"epsilon": 60}, {"rho": 50}], ids=["pure", "zCDP"])
@pytest.mark.parametrize("case", CASES)
def test_the_exact_law_is_within_the_price(case, money):
    """Noises are small at such prices, so that few transcripts are most of the mass; ratios are near the price."""
    method, workload, x, y, tail = CASES[case]
    price = Price.of(**money, unit=SUBSTITUTE.histogram() if "substitution" in case else None)
    p, q = laws(
        lambda table: method.release(workload, table, price, Seeded(0)),
        Histogram(workload.domain, x, price.unit),
        Histogram(workload.domain, y, price.unit),
        tail,
    )
    loss = method.loss(workload, None, price)
    assert Budget(**money).admits(zero, loss)
    assert MOST[case.partition(",")[0]] < math.fsum(p.masses.values()) <= 1 + 1e-9
    for one, other in ((p, q), (q, p)):
        for epsilon in (5.0, 30.0, 50.0):
            assert hockey_stick(one, other, epsilon) <= loss.delta(epsilon) + 1e-9
        if price.epsilon is not None:
            assert max_divergence(one, other) <= 60 * (1 + 1e-9)
        for order in (1.2, 2.0, 5.0):
            line = order * sum(k * atom.concentrated() for atom, k in loss.terms.items())
            assert renyi_divergence(one, other, order) <= line * (1 + 1e-9)
    if price.epsilon is not None:
        assert max_divergence(p, q) > 40  # so a synthesiser sold at two thirds of its price would be refuted
