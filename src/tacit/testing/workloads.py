"""The conformance suite for methods that answer linear queries: what a method states, checked against what it does.

Nothing here is per-method.  `CHECKS` is run on every method in `workloads.METHODS` with every case of `cases()`, and
may be run on yours: `conform(Mine(), case)`.  Each check raises `Refuted`.  Privacy is checked by replay, exactly
(`replay.py`).  Errors are averaged over seeded releases; the factors allowed are far outside what chance does to them
(the mean of hundreds of errors, ten times over).
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..core.accounting.budget import Budget
from ..core.accounting.loss import Atom, Loss, zero
from ..core.distance import SUBSTITUTE, Substitute
from ..workloads import (
    Domain,
    Histogram,
    Method,
    Price,
    Released,
    Rows,
    Workload,
    marginals,
    predicates,
    prefixes,
    ranges,
)
from ..workloads.price import EpsilonDelta
from .mechanisms import Refuted
from .replay import recorded, replayed, same, spent
from .sources import Seeded

_RELEASES = 12
_ROUNDING = 1 + 1e-9  # of sums of losses, as floats


PRICES = {
    "epsilon": Price.of(epsilon=1),
    "rho": Price.of(rho="0.1"),
    "delta": Price.of(epsilon=1, delta="1e-9"),  # whose `alone` is a mu
    "substitute": Price.of(epsilon=1, unit=SUBSTITUTE.histogram()),
}


@dataclass(frozen=True)
class WorkloadCase:
    """A table, a workload on it and a price; n is public."""

    name: str
    workload: Workload
    data: Rows
    price: Price
    n: int


@lru_cache(maxsize=1)
def cases() -> tuple[WorkloadCase, ...]:
    """Small tables with skew and empty cells; marginals, ranges, prefixes and predicates; every kind of price."""
    random = np.random.default_rng(7)
    n = 3000
    wide, line = Domain.of({"a": 2, "b": 3, "c": ["x", "y", "z", "w"], "d": 2}), Domain.of({"v": 64})
    skewed = np.stack([np.minimum(random.geometric(0.5, n) - 1, size - 1) for size in wide.shape], axis=1)
    skewed[:, 3] = skewed[:, 0] ^ (random.random(n) < 0.1)
    lumps = np.where(random.random(n) < 0.7, 3, random.integers(20, 40, n))[:, None]
    some = predicates(wide, [{"a": 0, "c": ["x", "z"]}, {"b": {0, 2}}, {"d": 1, "b": 1, "a": 1}, {}])
    workloads = (
        ("marginals", marginals(wide, k=2), skewed),
        ("weighted", marginals(wide, subsets=[["a"], ["b", "c"]], weights=[3, 1]), skewed),
        ("ranges", ranges(line), lumps),
        ("prefixes", prefixes(line), lumps),
        ("predicates", some, skewed),
    )
    return tuple(
        WorkloadCase(f"{name}-{kind}", workload, Rows(workload.domain, rows, price.unit), price, n)
        for name, workload, rows in workloads
        for kind, price in PRICES.items()
    )


def applicable(methods: Iterable[Method]) -> list[tuple[Method, WorkloadCase]]:
    """Each method with each case that it does not refuse."""
    return [(m, case) for m in methods for case in cases() if m.refusal(case.workload, case.n, case.price) is None]


@lru_cache(maxsize=512)
def released(method: Method, case: WorkloadCase, seed: int) -> Released:
    return method.release(case.workload, case.data, case.price, Seeded(seed), n=case.n)


def _misses(method: Method, case: WorkloadCase) -> Any:
    truth = case.workload.answer(case.data)
    return np.stack([np.abs(released(method, case, seed).answers - truth) for seed in range(_RELEASES)])


def price_is_kept(method: Method, case: WorkloadCase) -> None:
    """The loss is within the price, in its own currency, and the release has the loss that the method stated."""
    loss = method.loss(case.workload, case.n, case.price)
    if not _within(case.price, loss):
        raise Refuted(f"a loss of {loss} is above {case.price}")
    if released(method, case, 0).loss != loss:
        raise Refuted("a release pays another loss than was stated")


def _within(price: Price, loss: Loss) -> bool:
    """Whether a loss is within a price: epsilon and rho by their sums, epsilon at a delta by what is proved at it."""
    if isinstance(price, EpsilonDelta):
        epsilon, delta = price.terms
        return Budget(rho=price.rho).admits(zero, loss) or loss.epsilon(delta) <= epsilon
    budget = Budget(epsilon=price.epsilon) if price.epsilon is not None else Budget(rho=price.rho)
    return budget.admits(zero, loss)


def neighbours(case: WorkloadCase) -> Iterator[tuple[Histogram, Histogram]]:
    """Two pairs of neighbouring tables: they differ in a crowded cell, and in one with other values throughout.

    Of the first pair the second table has a record more in the crowded cell, of the second pair one less in the other.
    Where records are substituted, one moves from the other cell to the crowded one, and in the second pair back.
    """
    domain, unit = case.workload.domain, case.price.unit
    counts = case.data.marginal(domain.all)
    crowded = np.unravel_index(int(counts.argmax()), domain.shape)
    other = tuple((place + 1) % size for place, size in zip(crowded, domain.shape, strict=True))
    in_crowded, in_other = counts.copy(), counts.copy()
    in_crowded[crowded] += 1
    in_other[other] += 1
    if isinstance(unit.relation, Substitute):
        pairs = (in_other, in_crowded), (in_crowded, in_other)
    else:
        pairs = (counts, in_crowded), (in_other, counts)
    for x, y in pairs:
        yield Histogram(domain, x, unit), Histogram(domain, y, unit)


def privacy_is_paid_for(method: Method, case: WorkloadCase) -> None:
    """On a neighbouring table the same draws give the same release, and cost no more than it claims."""

    def run(data: Histogram) -> Released:
        return method.release(case.workload, data, case.price, Seeded(0), n=case.n)

    for x, y in neighbours(case):
        ours, draws = recorded(partial(run, x))
        theirs, again = replayed(partial(run, y), draws)
        if not same(ours, theirs):
            raise Refuted("a release depends on the table in another way than by draws from mechanisms")
        _covered(ours.loss, spent(draws, again, case.price.unit.relation))


def _covered(claimed: Loss, total: Loss) -> None:
    """Raise `Refuted` unless a claim is finite in some currency, and covers what was spent wherever it is finite."""
    claims = {name: of(claimed) for name, of in _CURRENCIES.items() if of(claimed) < math.inf}
    if not claims:
        raise Refuted(f"{claimed} is claimed, which is finite neither as an epsilon nor as a rho nor as a mu")
    for name, claim in {**claims, "failure": _failure(claimed)}.items():
        if (cost := {**_CURRENCIES, "failure": _failure}[name](total)) > claim * _ROUNDING:
            raise Refuted(f"draws cost {name} = {cost:.6g} between neighbours, and {claim:.6g} is claimed")


def _added(of: Callable[[Atom], Fraction | float]) -> Callable[[Loss], float]:
    return lambda loss: float(sum(times * of(atom) for atom, times in loss.terms.items()))


_CURRENCIES: dict[str, Callable[[Loss], float]] = {  # in each of which losses add up
    "epsilon": _added(lambda atom: atom.pure()),
    "rho": _added(lambda atom: atom.concentrated()),
    "mu^2": _added(lambda atom: atom.gaussian()),
}
_failure = _added(lambda atom: atom.failure())  # the probability with which nothing is promised


def prediction_holds(method: Method, case: WorkloadCase) -> None:
    """An exact prediction is within a factor 1.5; a bound is not exceeded."""
    p, misses = method.predict(case.workload, case.n, case.price), _misses(method, case)
    mean = float(np.mean([case.workload.mean(row) for row in misses]))
    rms = float(np.mean([case.workload.mean(row**2) for row in misses])) ** 0.5
    for name, found, stated in (("mean", mean, p.mean), ("root mean square", rms, p.rms)):
        if found > 1.5 * stated or (p.kind == "exact" and found < stated / 1.5):
            raise Refuted(f"the {name} error is {found:.4g}, predicted {stated:.4g} ({p.kind})")
    if (
        over := int((misses.max(axis=1) > p.worst).sum())
    ) > 6:  # 7 of 12 at 0.05 each: below 1e-6, and bounds are loose
        raise Refuted(f"the largest error is above {p.worst:.4g} in {over} of {_RELEASES} releases")


def stated_errors_hold(method: Method, case: WorkloadCase) -> None:
    """No more answers are off by more than is stated than beta allows."""
    for seed in range(_RELEASES):
        if released(method, case, seed).errors is None:
            return
    truth = case.workload.answer(case.data)
    over = [np.abs(r.answers - truth) > r.errors for r in (released(method, case, seed) for seed in range(_RELEASES))]
    if np.mean(over) > 0.05 * 2.5:  # errors within one release are dependent
        raise Refuted(f"{np.mean(over):.3g} of the answers are off by more than stated, at beta = 0.05")


def law_reads_what_it_says(method: Method, case: WorkloadCase) -> None:
    """Where the law does not read n or beta, others give the same draw; restated, its errors are the same, too."""
    first, least = released(method, case, 0), released(method, case, 0).beta / 5
    beta = first.beta if method.reads_beta else least
    known = [case.n] if method.reads_n else [case.n + 1000, *([] if method.needs_n else [None])]
    for n in known:
        other = method.release(case.workload, case.data, case.price, Seeded(0), n=n, beta=beta)
        if not np.array_equal(first.answers, other.answers) or first.loss != other.loss:
            raise Refuted("the law of a release reads n or beta, and does not say so")
    if method.reads_beta and method.restated(first, case.n, case.price, least).beta != first.beta:
        raise Refuted("the errors of a release that reads beta are restated at another beta")
    if other.errors is not None:
        again = method.restated(first, case.n, case.price, beta)
        if again.errors is None or again.beta != beta or not np.allclose(again.errors, other.errors):
            raise Refuted("errors that are restated at another beta are not those of that beta")


def further_queries_are_answered(method: Method, case: WorkloadCase) -> None:
    """The workload asked again gives the same answers; the total is answered, with a statement."""
    r = released(method, case, 0)
    again = r.query(case.workload)
    if not np.array_equal(again.answers, r.answers):
        raise Refuted("the same workload has other answers when asked again")
    if r.model is None:
        return
    total = r.query(predicates(case.workload.domain, [{}]))
    if not total.statement or not np.isfinite(total.answers).all():
        raise Refuted("the total is not answered")
    if not np.allclose(case.workload.answer(r.model), r.answers, rtol=1e-6, atol=1e-6 * case.n):
        raise Refuted("the model does not give the answers of its release")


def post_processing_is_sound(method: Method, case: WorkloadCase) -> None:
    """Non-negative answers are so; synthetic rows lie in the domain and are as many as asked for."""
    r = released(method, case, 0)
    if (r.nonnegative().answers < -1e-6).any():
        raise Refuted("a non-negative release has a negative answer")
    if r.model is None:
        return
    if r.synthetic(7, Seeded(1)).column_names != list(case.workload.domain.names):
        raise Refuted("a synthetic table has other columns")
    rows = r.model.synthetic(500, Seeded(1))
    if (
        rows.shape != (500, len(case.workload.domain.shape))
        or (rows < 0).any()
        or (rows >= case.workload.domain.shape).any()
    ):
        raise Refuted("synthetic rows are not rows of the domain")


def file_states_its_theorems(method: Method, case: WorkloadCase) -> None:
    """The module says Definition, Privacy, Utility, References; the method has a line for the table."""
    text = inspect.getdoc(sys.modules[type(method).__module__]) or ""
    missing = [h for h in ("Definition.", "Privacy.", "Utility.", "References.") if h not in text]
    if missing or not method.theorem:
        raise Refuted(f"the file does not state {', '.join(missing) or 'its line of the table'}")


CHECKS: tuple[Callable[[Method, WorkloadCase], None], ...] = (
    price_is_kept,
    privacy_is_paid_for,
    prediction_holds,
    stated_errors_hold,
    law_reads_what_it_says,
    further_queries_are_answered,
    post_processing_is_sound,
    file_states_its_theorems,
)


def conform(method: Method, case: WorkloadCase) -> None:
    """Run every check."""
    for check in CHECKS:
        check(method, case)
