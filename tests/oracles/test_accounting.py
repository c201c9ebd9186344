"""Accounting beside three other accountants: dp_accounting, prv_accountant and autodp.

Ours and theirs are bounds on one truth, so what is asserted are the inequalities that follow: no upper bound of either
side is below a lower bound of the other.  Known faults of theirs are kept away from: dp_accounting counts randomized
response once inside a SelfComposedDpEvent, so it is given a ComposedDpEvent of all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import dp_accounting as dpa
import prv_accountant as prvs
import pytest
from autodp import mechanism_zoo as zoo
from autodp import transformer_zoo as transformers
from dp_accounting.pld import privacy_loss_distribution as plds
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant

from tacit.core.accounting.atoms import GaussianNoise, KaryResponse, LaplaceNoise
from tacit.core.accounting.loss import Atom, Loss, Pure
from tacit.core.accounting.sampled import Sampled

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs

DELTAS = (1e-9, 1e-6, 1e-3)
ROUNDING = 1e-9  # relative, and absolute for deltas: theirs are floats rounded to nearest
ADD_REMOVE, REPLACE = dpa.NeighboringRelation.ADD_OR_REMOVE_ONE, dpa.NeighboringRelation.REPLACE_ONE


@dataclass(frozen=True)
class Case:
    """A mechanism of ours with theirs."""

    atom: Atom
    event: Any
    plds: Callable[[bool], Any]  # pessimistic or optimistic
    relation: Any = ADD_REMOVE

    def events(self, n: int) -> list[Any]:
        return [self.event] * n if self.relation is REPLACE else [dpa.SelfComposedDpEvent(self.event, n)]


def laplace(epsilon: str) -> Case:
    scale = float(1 / Fraction(epsilon))
    return Case(
        LaplaceNoise(Fraction(epsilon)),
        dpa.LaplaceDpEvent(scale),
        lambda pessimistic: plds.from_laplace_mechanism(scale, pessimistic_estimate=pessimistic),
    )


def gaussian(sigma: int, rate: str = "1") -> Case:
    atom, event, q = GaussianNoise(Fraction(1, sigma**2)), dpa.GaussianDpEvent(sigma), float(Fraction(rate))
    sampled = Fraction(rate) < 1
    return Case(
        Sampled(Fraction(rate), atom) if sampled else atom,
        dpa.PoissonSampledDpEvent(q, event) if sampled else event,
        lambda pessimistic: plds.from_gaussian_mechanism(sigma, pessimistic_estimate=pessimistic, sampling_prob=q),
    )


def response(epsilon: str, categories: int) -> Case:
    p = categories / (math.expm1(float(Fraction(epsilon))) + categories)
    return Case(
        KaryResponse(Fraction(epsilon), categories),
        dpa.RandomizedResponseDpEvent(p, categories),
        lambda pessimistic: plds.from_randomized_response(p, categories, pessimistic_estimate=pessimistic),
        REPLACE,
    )


COMPOSITIONS: dict[str, list[tuple[Case, int]]] = {
    "laplace": [(laplace("0.1"), 200)],
    "gaussian": [(gaussian(20), 100)],
    "coin": [(response("0.1", 2), 300)],
    "response": [(response("0.2", 5), 40)],
    "sampled gaussian": [(gaussian(1, "0.01"), 500)],
    "mixed": [(laplace("0.2"), 30), (gaussian(10), 20), (laplace("0.05"), 10), (gaussian(3), 2)],
}


def losses(mix: list[tuple[Case, int]]) -> Loss:
    return Loss({case.atom: n for case, n in mix})


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_dp_accounting(name: str) -> None:
    mix, loss = COMPOSITIONS[name], losses(COMPOSITIONS[name])
    accountant = PLDAccountant(mix[0][0].relation)
    accountant.compose(dpa.ComposedDpEvent([event for case, n in mix for event in case.events(n)]))
    optimistic = reduce(lambda a, b: a.compose(b), (case.plds(False).self_compose(n) for case, n in mix))
    ways = [loss.distribution(reverse=way) for way in (False, True)]
    for delta in DELTAS:
        ours, pessimist, optimist = (
            loss.epsilon(delta),
            accountant.get_epsilon(delta),
            optimistic.get_epsilon_for_delta(delta),
        )
        assert optimist <= ours * (1 + ROUNDING)
        assert ours <= pessimist * 1.001  # and ours is as tight
        epsilon = round(ours, 3)
        lower, upper = max(way.delta(epsilon).lower for way in ways), loss.delta(epsilon)
        assert 0 < lower <= upper
        assert lower <= accountant.get_delta(epsilon) * (1 + ROUNDING)
        assert optimistic.get_delta_for_epsilon(epsilon) <= upper * (1 + ROUNDING)


@pytest.mark.parametrize(
    ("atoms", "theirs"),
    [
        ({LaplaceNoise(Fraction(1, 10)): 200}, [(lambda: prvs.LaplaceMechanism(0.1), 200)]),
        ({Pure(Fraction(1, 10)): 200}, [(lambda: prvs.PureDPMechanism(0.1), 200)]),
        ({GaussianNoise(Fraction(1, 400)): 100}, [(lambda: prvs.GaussianMechanism(20), 100)]),
        (
            {Sampled(Fraction(1, 100), GaussianNoise(Fraction(1))): 500},
            [(lambda: prvs.PoissonSubsampledGaussianMechanism(0.01, 1.0), 500)],
        ),
        (
            {LaplaceNoise(Fraction(1, 10)): 20, GaussianNoise(Fraction(1, 100)): 10},
            [(lambda: prvs.LaplaceMechanism(0.1), 20), (lambda: prvs.GaussianMechanism(10), 10)],
        ),
    ],
    ids=["laplace", "pure", "gaussian", "sampled gaussian", "mixed"],
)
def test_prv_accountant(atoms: dict[Atom, int], theirs: list[tuple[Callable[[], Any], int]]) -> None:
    loss, counts = Loss(atoms), [n for _, n in theirs]
    accountant = prvs.PRVAccountant([make() for make, _ in theirs], 0.02, 1e-9, max_self_compositions=counts)
    for delta in (1e-6, 1e-3):
        low, _, high = accountant.compute_epsilon(delta, counts)
        assert low < high
        assert low <= loss.epsilon(delta) * (1 + ROUNDING)  # the brackets overlap:
        lower = max(loss.distribution(reverse=way).delta(high).lower for way in (False, True))
        assert lower <= delta * (1 + ROUNDING)  # our lower bound on epsilon is not above theirs from above


@pytest.mark.parametrize(
    ("loss", "mechanism", "count"),
    [
        (Loss({LaplaceNoise(Fraction(1, 10)): 1}), lambda: zoo.LaplaceMechanism(b=10), 100),
        (Loss({Pure(Fraction(1, 10)): 1}), lambda: zoo.RandresponseMechanism(p=1 / (1 + math.exp(-0.1))), 100),
        (Loss({GaussianNoise(Fraction(1, 100)): 1}), lambda: zoo.GaussianMechanism(10), 20),
    ],
    ids=["laplace", "pure", "gaussian"],
)
def test_autodp_by_renyi_divergences(loss: Loss, mechanism: Callable[[], Any], count: int) -> None:
    composed = transformers.Composition()([mechanism()], [count])
    for delta in DELTAS:
        theirs, (atom,) = float(composed.get_approxDP(delta)), loss.terms
        assert (count * loss).epsilon(delta) <= theirs * (1 + 1e-6)
        lower = (count * loss).distribution().delta(theirs).lower
        assert lower <= delta * (1 + ROUNDING)
        for order in (1.5, 4.0, 32.0):
            exact = composed.RenyiDP(order) / count
            assert exact * (1 - 1e-9) <= atom.renyi(order) <= exact * (1 + 1e-9)


def test_autodp_adds_gaussians_exactly() -> None:
    composed = transformers.ComposeGaussian()(
        [zoo.ExactGaussianMechanism(10), zoo.ExactGaussianMechanism(30)], [20, 50]
    )
    loss = Loss({GaussianNoise(Fraction(1, 100)): 20, GaussianNoise(Fraction(1, 900)): 50})
    for delta in DELTAS:
        assert loss.epsilon(delta) == pytest.approx(float(composed.get_approxDP(delta)), rel=1e-6)
