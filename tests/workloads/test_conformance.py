"""Every method, every case, every check.  A method is covered by being listed in `workloads.METHODS`."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from tacit import Laplace
from tacit.core.accounting.loss import zero
from tacit.testing.mechanisms import Refuted
from tacit.testing.replay import recorded, replayed, spent
from tacit.testing.sources import Seeded
from tacit.testing.workloads import (
    CHECKS,
    applicable,
    cases,
    conform,
    law_reads_what_it_says,
    neighbours,
    prediction_holds,
    price_is_kept,
    privacy_is_paid_for,
    stated_errors_hold,
)
from tacit.workloads import METHODS, Price
from tacit.workloads.methods.direct.per_query import PerQuery
from tacit.workloads.methods.weights.mwem import MWEM

PAIRS = [pytest.param(m, c, id=f"{m.name}-{c.name}") for m, c in applicable(METHODS)]


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize(("method", "case"), PAIRS)
def test_method(method, case, check):
    check(method, case)


def test_every_method_is_tried():
    assert {m.name for m, _ in applicable(METHODS)} == {m.name for m in METHODS}
    assert len({m.name for m in METHODS}) == len(METHODS)


@dataclass(frozen=True)
class Overspends(PerQuery):
    """Wrong: twice the price."""

    def noises(self, workload, price):
        return super().noises(workload, price.part(2))


@dataclass(frozen=True)
class Exact(PerQuery):
    """Wrong: the exact answers, at the price of noisy ones."""

    def run(self, workload, data, price, source, *, n, beta):
        r = super().run(workload, data, price, source, n=n, beta=beta)
        return replace(r, answers=workload.answer(data))


@dataclass(frozen=True)
class HalfTheNoise(PerQuery):
    """Wrong: noise for twice the price."""

    def run(self, workload, data, price, source, *, n, beta):
        r = super().run(workload, data, price.part(2), source, n=n, beta=beta)
        return replace(r, loss=self.loss(workload, n, price))


@dataclass(frozen=True)
class ForgetsAPart(PerQuery):
    """Wrong: of its parts it claims all but the last."""

    def _loss(self, workload, n, price):
        return sum((noise.loss() for noise in self.noises(workload, price)[:-1]), zero)

    def run(self, workload, data, price, source, *, n, beta):
        r = super().run(workload, data, price, source, n=n, beta=beta)
        return replace(r, loss=self.loss(workload, n, price))


@dataclass(frozen=True)
class ForgetsItsPicks(MWEM):
    """Wrong: of picks and measurements it claims the measurements."""

    def _loss(self, workload, n, price):
        rounds, picks = self.counts(workload, n, price)
        return (rounds * picks) * self._parts(workload, n, price)[1].loss()


@dataclass(frozen=True)
class Whispers(PerQuery):
    """Wrong: the table is in a note."""

    def run(self, workload, data, price, source, *, n, beta):
        r = super().run(workload, data, price, source, n=n, beta=beta)
        return replace(r, notes=(*r.notes, f"of {int(data.marginal(()))} records"))


@dataclass(frozen=True)
class Hoards(PerQuery):
    """Wrong: the table is in the model."""

    def run(self, workload, data, price, source, *, n, beta):
        r = super().run(workload, data, price, source, n=n, beta=beta)
        r.model.seen = data.marginal(data.domain.all)
        return r


@dataclass(frozen=True)
class Adjusts(PerQuery):
    """Wrong: less noise for tables of an odd number of records."""

    def run(self, workload, data, price, source, *, n, beta):
        part = price.part(Fraction(1, 1 + int(data.marginal(())) % 2))
        return replace(super().run(workload, data, part, source, n=n, beta=beta), loss=self.loss(workload, n, price))


@dataclass(frozen=True)
class Boasts(PerQuery):
    """Wrong: predicts a third of its error."""

    def _predict(self, workload, n, price, beta):
        p = super()._predict(workload, n, price, beta)
        return replace(p, mean=p.mean / 3, rms=p.rms / 3, worst=p.worst / 3)


@dataclass(frozen=True)
class Understates(PerQuery):
    """Wrong: states a fifth of the errors."""

    def run(self, workload, data, price, source, *, n, beta):
        r = super().run(workload, data, price, source, n=n, beta=beta)
        return replace(r, errors=r.errors / 5)


@dataclass(frozen=True)
class Peeks(PerQuery):
    """Wrong: its noise depends on beta, and it does not say so."""

    def run(self, workload, data, price, source, *, n, beta):
        return super().run(workload, data, price.part(Fraction(1, 2)) if beta < 0.05 else price, source, n=n, beta=beta)


@dataclass(frozen=True)
class Restates(PerQuery):
    """Wrong: errors at another beta are those that it had."""

    def error_bounds(self, released, n, price, beta):
        return released.errors


@pytest.mark.parametrize(
    ("wrong", "check"),
    [
        (Overspends, price_is_kept),
        (Boasts, prediction_holds),
        (Understates, stated_errors_hold),
        (Peeks, law_reads_what_it_says),
        (Restates, law_reads_what_it_says),
    ],
)
def test_the_suite_refutes_wrong_methods(wrong, check):
    case = cases()[0]
    with pytest.raises(Refuted):
        check(wrong(), case)
    with pytest.raises(Refuted):
        conform(wrong(), case)


@pytest.mark.parametrize(
    "case", [c for c in cases() if c.name.startswith(("marginals-", "weighted-"))], ids=lambda c: c.name
)
@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        (Exact, "another way than by draws"),
        (HalfTheNoise, "draws cost"),
        (ForgetsAPart, "draws cost"),
        (ForgetsItsPicks, "draws cost"),
        (Whispers, "another way than by draws"),
        (Hoards, "another way than by draws"),
        (Adjusts, "on a neighbour of"),
    ],
)
def test_a_method_that_is_not_private_is_refuted(wrong, found, case):
    if case.name.endswith("substitute") and wrong in (Whispers, Adjusts):
        return  # the number of records is public
    with pytest.raises(Refuted, match=found):
        privacy_is_paid_for(wrong(), case)
    with pytest.raises(Refuted):
        conform(wrong(), case)


def test_every_method_meets_the_privacy_check():
    """Each in every currency and relation that it can be used with, and on tables that differ."""
    assert privacy_is_paid_for in CHECKS
    met = {(m.name, c.price) for m, c in applicable(METHODS)}
    assert {name for name, _ in met} == {m.name for m in METHODS}
    for m in METHODS:
        prices = {c.price for c in cases() if m.refusal(c.workload, c.n, c.price) is None}
        assert prices == {price for name, price in met if name == m.name} and prices
    for case in cases():
        for x, y in neighbours(case):
            apart = np.abs(x.marginal(x.domain.all) - y.marginal(y.domain.all))
            assert apart.sum() == (2 if "substitute" in case.name else 1) and apart.max() == 1


def test_a_replay_sees_every_draw():
    """Of one noise on a count the cost is that of the noise at the distance between the counts."""
    noise = Laplace(epsilon=1, sensitivity=1)
    first, draws = recorded(lambda: noise.sample(5, Seeded(0)))
    second, again = replayed(lambda: noise.sample(7, Seeded(1)), draws)
    assert first == second and [d.value for d in again] == [7]
    assert spent(draws, again, None).epsilon() == 2
    for other in (lambda: 5, lambda: [noise.sample(5, Seeded(0)) for _ in range(2)]):
        with pytest.raises(Refuted, match="draws"):
            replayed(other, draws)
    assert noise.sample(5, Seeded(0)) == first  # and nothing is intercepted any more


def test_conform_runs_every_check():
    conform(PerQuery(), cases()[0])


def test_prices():
    assert Price.of(epsilon=2).part(2).epsilon == 4
