"""Every method, every case, every check.  A method is covered by being listed in `workloads.METHODS`."""

from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from tacit.testing.mechanisms import Refuted
from tacit.testing.workloads import (
    CHECKS,
    applicable,
    cases,
    conform,
    law_reads_what_it_says,
    prediction_holds,
    price_is_kept,
    stated_errors_hold,
)
from tacit.workloads import METHODS, Price
from tacit.workloads.methods.direct.per_query import PerQuery

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


def test_conform_runs_every_check():
    conform(PerQuery(), cases()[0])


def test_prices():
    assert Price.of(epsilon=2).part(2).epsilon == 4
