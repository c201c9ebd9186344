"""What a mechanism states, held against its own law: privacy, sampler, error, price and file.

Each check takes one `Example` and raises `Refuted` with the claim and with what the law says.  All checks are exact but
that of the sampler, a chi-squared test with a false-alarm rate of 1e-10.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binom, chi2

from ...core.accounting.accountants import failures
from ...core.accounting.loss import Loss
from ...core.distance import ADD_REMOVE, SUBSTITUTE, Distance
from ...core.errors import BadParameter, Exhausted
from ...core.interactive import Interactive
from ...core.law import Finite, Law, hockey_stick, max_divergence, renyi_divergence
from ...core.mechanism import Example
from ...core.parameters import rational
from ..sources import Seeded

AnyExample = Example[Any]
FALSE_ALARM = 1e-10
SEEDS = 1000  # with which two samplers are compared
SESSIONS = 4000  # that are asked value by value, or drawn row by row
ORDERS = (1.05, 1.5, 2.0, 3.0, 4.5, 8.0, 16.0, 32.0, 64.0)
EPSILONS = (0.0, 0.01, 0.1, 0.3, 0.7, 1.0, 1.5, 2.0, 3.0)


class Refuted(AssertionError):
    """A claim of a mechanism is false."""


def _laws(case: AnyExample) -> tuple[tuple[Law, Law], tuple[Law, Law]]:
    p, q = case.mechanism.law(case.x), case.mechanism.law(case.y)
    return (p, q), (q, p)


def loss_covers_law(case: AnyExample) -> None:
    """At every epsilon the hockey-stick divergence is within the claimed delta; no ratio exceeds the pure epsilon."""
    loss = case.mechanism.loss(case.distance)
    pure = loss.epsilon()
    for p, q in _laws(case):
        for epsilon in (*EPSILONS, *([pure] if math.isfinite(pure) else [])):
            exact, claimed = hockey_stick(p, q, epsilon), loss.delta(epsilon)
            if exact > claimed * (1 + 1e-9) + 1e-12:
                raise Refuted(f"delta({epsilon:g}) is {exact:.4g}, claimed {claimed:.4g}")
        if math.isfinite(pure) and (exact := max_divergence(p, q)) > pure * (1 + 1e-9) + 1e-12:
            raise Refuted(f"epsilon is at least {exact:.6g}, claimed {pure:.6g}")


def renyi_covers_law(case: AnyExample) -> None:
    """At every order the Renyi divergence is within what the atoms claim, as a curve and as rho times the order.

    Where the loss claims a failure probability, outputs that only one of the two laws gives must be no likelier than
    that, and the divergence is taken between the laws without them.
    """
    loss = case.mechanism.loss(case.distance)
    terms, failure = loss.terms.items(), float(failures(loss))
    for a, b in _laws(case):
        p, q = (_without_failure(a, b, failure), _without_failure(b, a, failure)) if failure else (a, b)
        for order in ORDERS:
            exact = renyi_divergence(p, q, order)
            curve = sum(n * atom.renyi(order) for atom, n in terms)
            line = order * sum(n * atom.concentrated() for atom, n in terms)
            if exact > min(curve, line) * (1 + 1e-9) + 1e-12:
                raise Refuted(f"Renyi divergence of order {order:g} is {exact:.6g}, claimed {min(curve, line):.6g}")


def _without_failure(p: Law, q: Law, failure: float) -> Law:
    """The law p, conditioned on the outputs that q can give too."""
    points = dict.fromkeys([*p.support(1e-15), *q.support(1e-15)])
    own = math.fsum(p.mass(y) for y in points if not q.mass(y))
    if own > failure * (1 + 1e-9) + 1e-12:
        raise Refuted(f"fails with probability {own:.4g}, claimed {failure:.4g}")
    return Finite({y: p.mass(y) / (1 - own) for y in points if q.mass(y)})


def outcome(y: object) -> Hashable:
    """An output as a hashable value, for counting."""
    if isinstance(y, np.ndarray):
        return tuple(y.ravel().tolist())
    return y.item() if isinstance(y, np.generic) else y


def fit(case: AnyExample, seed: int = 1) -> float:
    """The p-value of the sampler against the law on x; zero if the sampler gives an output of probability zero."""
    source, sample_rows = Seeded(seed), _row_sampler(case)
    draw: Callable[[], object] = partial(case.mechanism.sample, case.x, source)
    if sample_rows is not None:
        draw = iter(sample_rows(np.stack([case.x] * case.draws), source)).__next__
    return _p_value(case.mechanism.law(case.x), draw, case.draws)


def _row_sampler(case: AnyExample) -> Callable[[Any, Seeded], Sequence[object]] | None:
    """The sampler of many rows at once, if there is one and it draws for one row, word for word, what `sample` draws.

    Where the two differ in one draw out of fifty, so many seeds show it but for one time in 10^8.
    """
    sample, sample_rows = case.mechanism.sample, getattr(case.mechanism, "sample_rows", None)
    row = None if sample_rows is None else np.stack([case.x])
    alike = sample_rows is not None and all(
        outcome(sample(case.x, Seeded(seed))) == outcome(sample_rows(row, Seeded(seed))[0]) for seed in range(SEEDS)
    )
    return sample_rows if alike else None


def _p_value(law: Law, draw: Callable[[], object], draws: int) -> float:
    seen = Counter(outcome(draw()) for _ in range(draws))
    if any(law.mass(y) == 0 for y in seen):
        return 0.0
    cells = [(seen[y], draws * law.mass(y)) for y in law.support(1e-9)]
    large = [(o, e) for o, e in cells if e >= 10]
    rare, expected = draws - sum(o for o, _ in large), draws - math.fsum(e for _, e in large)
    too_many = float(binom.sf(rare - 1, draws, min(max(expected, 0) / draws, 1)))
    large += [(rare, expected)] if expected >= 10 else []
    statistic = sum((o - e) ** 2 / e for o, e in large)
    wrong_shape = float(chi2.sf(statistic, len(large) - 1)) if len(large) > 1 else 1.0
    return min(1.0, 2 * min(wrong_shape, too_many))


def sampler_follows_law(case: AnyExample) -> None:
    """The sampler passes a chi-squared test against the law, with a fixed seed."""
    if (p := fit(case)) < FALSE_ALARM:
        raise Refuted(f"the sampler does not follow its law (p = {p:.2g})")


def steps_follow_law(case: AnyExample) -> None:
    """Asked one value at a time, an interactive mechanism gives the law of the whole, by the same test."""
    mechanism, source = case.mechanism, Seeded(2)
    if not isinstance(mechanism, Interactive):
        return

    def session() -> object:
        state, answers = mechanism.begin(source), []
        for value in case.x:
            try:
                state, answer = mechanism.step(state, value, source)
            except Exhausted:
                break
            answers.append(answer)
        return mechanism.output(answers)

    if (p := _p_value(mechanism.law(case.x), session, min(case.draws, SESSIONS))) < FALSE_ALARM:
        raise Refuted(f"a session, asked step by step, does not follow the law (p = {p:.2g})")


def rows_follow_law(case: AnyExample) -> None:
    """Where a mechanism draws for many rows of data at once, each output follows the law of its own row."""
    sample_rows = getattr(case.mechanism, "sample_rows", None)
    if sample_rows is None:
        return
    draws = min(case.draws, SESSIONS)
    outputs = sample_rows(np.stack([case.x, case.y] * draws), Seeded(3))
    for x, drawn in ((case.x, outputs[::2]), (case.y, outputs[1::2])):
        if (p := _p_value(case.mechanism.law(x), iter(drawn).__next__, draws)) < FALSE_ALARM:
            raise Refuted(f"outputs drawn for many rows at once do not follow the law (p = {p:.2g})")


def error_bound_holds(case: AnyExample) -> None:
    """Under the law, the mass of outputs that miss by more than error(beta) is at most beta."""
    law = case.mechanism.law(case.x)
    for beta in (0.3, 0.05, 0.001):
        bound = case.mechanism.error(beta=beta, **case.given)
        missed = math.fsum(law.mass(y) for y in law.support(1e-12) if case.mechanism.miss(case.x, y) > bound)
        if missed > beta:
            raise Refuted(f"misses by more than {bound:g} with probability {missed:.4g}, claimed {beta:g}")


def farther_is_dearer(case: AnyExample) -> None:
    """Zero distance costs nothing, and twice the distance no less."""
    if case.mechanism.loss(0).terms:
        raise Refuted("zero distance is not free")
    twice = case.distance.group(2) if isinstance(case.distance, Distance) else 2 * rational("distance", case.distance)
    near, far = case.mechanism.loss(case.distance), case.mechanism.loss(twice)
    if not _price(near) <= _price(far):
        raise Refuted("twice the distance costs less")


def _price(loss: Loss) -> tuple[float, float]:
    return float(loss.epsilon()), sum(n * atom.renyi(2.0) for atom, n in loss.terms.items())


def loss_states_its_relation(case: AnyExample) -> None:
    """A loss is stated under the relation of the distance, and no other; a mechanism may refuse a relation."""
    for distance in (ADD_REMOVE.histogram(), SUBSTITUTE.histogram()):
        try:
            loss = case.mechanism.loss(distance)
        except BadParameter:
            continue
        if loss.relation != distance.relation:
            raise Refuted(f"a distance under {distance.relation} is priced under {loss.relation}")


def file_states_its_theorems(case: AnyExample) -> None:
    """The docstring of the module has the headings Definition, Privacy, Utility and References."""
    text = inspect.getdoc(sys.modules[type(case.mechanism).__module__]) or ""
    missing = [h for h in ("Definition.", "Privacy.", "Utility.", "References.") if h not in text]
    if missing:
        raise Refuted(f"the file does not state {', '.join(missing)}")


CHECKS: tuple[Callable[[AnyExample], None], ...] = (
    loss_covers_law,
    renyi_covers_law,
    sampler_follows_law,
    steps_follow_law,
    rows_follow_law,
    error_bound_holds,
    farther_is_dearer,
    loss_states_its_relation,
    file_states_its_theorems,
)
