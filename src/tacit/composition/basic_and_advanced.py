r"""Composition in closed form: sums, and sums with a square root.

Each theorem holds when every mechanism, and its data, is chosen after seeing the outputs of earlier ones; only the
epsilons and deltas are fixed beforehand.

Basic.  Epsilons add and deltas add.  Densities multiply, so losses add; none exceeds its epsilon.

Advanced.  For every slack > 0 the total is at most   sum of drifts + sqrt(2 ln(1/slack) sum epsilon_i^2)   with
probability 1 - slack: the loss of one mechanism lies in [-epsilon, epsilon] and has a mean of at most the drift, so
the loss less its mean is a martingale difference in an interval of length 2 epsilon, and Azuma's inequality gives the
root.  Every delta_i is the chance of an event outside of which the mechanism is pure (Kairouz et al.), so
    delta = 1 - (1 - slack) prod (1 - delta_i),   which is at most slack + sum delta_i.

The drift is the largest mean of a loss between -epsilon and epsilon, that of a coin with odds e^epsilon:
    epsilon tanh(epsilon/2)  <=  epsilon^2/2  <=  epsilon (e^epsilon - 1),   epsilon^2/2  <=  2 epsilon^2,
as tanh x <= x <= e^x - 1.  So every form below holds for every epsilon, also 2 epsilon^2, whose textbook proof goes
through e^epsilon - 1 <= 2 epsilon and would need epsilon <= 1.256.

References.  Dwork, McSherry, Nissim, Smith, TCC 2006; Dwork, Rothblum, Vadhan, FOCS 2010; Dwork and Roth (2014),
theorems 3.16 and 3.20; Dwork and Rothblum (2016); Kairouz, Oh, Viswanath, ICML 2015, theorem 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Literal, get_args

from ..core.errors import BadParameter
from ..core.exact import up
from ..core.parameters import Number, failure, one_of, probability, whole
from ._enclosure import Reader, Span, floor, lower, upper
from ._parameters import Multiplicities, alike, lists, nonnegative, positive

Drift = Literal["original", "classical", "half", "sharp"]


def tanh_half(x: Span) -> Span:
    """tanh(x/2) = (1 - e^-x) / (1 + e^-x)."""
    e = (-x).exp()
    return (1 - e) / (1 + e)


_DRIFTS: dict[Drift, Callable[[Span], Span]] = {
    "original": lambda e: e * (e.exp() - 1),
    "classical": lambda e: 2 * e * e,
    "half": lambda e: e * e / 2,
    "sharp": lambda e: e * tanh_half(e),
}


def basic(epsilons: Iterable[Number], deltas: Iterable[Number] = ()) -> tuple[float, float]:
    """Basic composition: (sum epsilon_i, sum delta_i) (Dwork and Roth, theorem 3.16)."""
    es, ds = lists(epsilons, deltas)
    return up(total(es)), up(min(Fraction(1), total(ds)))


def advanced(epsilon: Number, delta: Number, k: int, slack: Number, drift: Drift = "sharp") -> tuple[float, float]:
    """Advanced composition: (epsilon sqrt(2 k ln(1/slack)) + k drift, 1 - (1 - delta)^k (1 - slack)).

    drift   original    epsilon (e^epsilon - 1)   Dwork, Rothblum, Vadhan 2010
            classical   2 epsilon^2               a simplification in lecture notes
            half        epsilon^2 / 2             Dwork and Rothblum 2016
            sharp       epsilon tanh(epsilon/2)   Kairouz, Oh, Viswanath 2015: never above the others
    """
    es, ds = alike(nonnegative("epsilon", epsilon), failure("delta", delta), whole("k", k))
    return _advanced(es, ds, probability("slack", slack), drift)


def advanced_heterogeneous(
    epsilons: Iterable[Number], deltas: Iterable[Number], slack: Number, drift: Drift = "sharp"
) -> tuple[float, float]:
    """Advanced composition of different mechanisms.

    (sqrt(2 ln(1/slack) sum epsilon_i^2) + sum of drifts, 1 - (1 - slack) prod (1 - delta_i)).
    """
    es, ds = lists(epsilons, deltas)
    return _advanced(es, ds, probability("slack", slack), drift)


def _advanced(es: Multiplicities, ds: Multiplicities, slack: Fraction, drift: Drift) -> tuple[float, float]:
    one_of("drift", drift, get_args(Drift))
    square = sum((n * e * e for e, n in es.items()), Fraction(0))

    def epsilon(at: Reader) -> Span:
        drifts = sum((n * _DRIFTS[drift](at(e)) for e, n in es.items()), at(0))
        return drifts + (-at(slack).ln() * (2 * square)).sqrt()

    return upper(epsilon) if square else 0.0, any_failure(ds, slack)


def total(counts: Multiplicities) -> Fraction:
    """The sum of the numbers, each as often as it occurs."""
    return sum((n * x for x, n in counts.items()), Fraction(0))


def any_failure(ds: Multiplicities, last: Fraction) -> float:
    """1 - (1 - last) prod (1 - delta_i): the chance that one of independent failures occurs."""
    if not ds:
        return up(last)
    return min(1.0, upper(lambda at: 1 - no_failure(ds, at) * (1 - last)))


def no_failure(ds: Multiplicities, at: Reader) -> Span:
    """prod (1 - delta_i): the chance that none of independent failures occurs."""
    return sum((n * at(1 - d).ln() for d, n in ds.items()), at(0)).exp()


def per_query_epsilon_classical(epsilon: Number, delta: Number, k: int) -> float:
    """epsilon / sqrt(8 k ln(1/delta)): k mechanisms with this epsilon are together (epsilon, delta)-private.

    With the drift epsilon^2/2 their total is epsilon/2 + epsilon^2 / (16 ln(1/delta)), which is at most epsilon if
    epsilon <= 8 ln(1/delta), which is required here.  (Textbooks require epsilon < 1 and a small delta.)  The result is
    about 2.5 times less than `per_query_epsilon`.  Dwork and Roth, corollary 3.21.
    """
    e, d, n = positive("epsilon", epsilon), probability("delta", delta), whole("k", k)
    if lower(lambda at: at(d).ln() * -8 - e) < 0:
        raise BadParameter("epsilon", epsilon, "at most 8 ln(1/delta)")
    return lower(lambda at: e / (-at(d).ln() * (8 * n)).sqrt())


def per_query_epsilon_lecture(epsilon: Number, delta: Number, k: int) -> tuple[float, float]:
    """epsilon / sqrt(2 k ln(1/delta)), and the total of k mechanisms with this epsilon by the classical drift.

    The total is epsilon + epsilon^2 / ln(1/delta): at most 2 epsilon if epsilon <= ln(1/delta) (lecture notes,
    corrected).
    """
    e, d, n = positive("epsilon", epsilon), probability("delta", delta), whole("k", k)
    each = lower(lambda at: e / (-at(d).ln() * (2 * n)).sqrt())
    return each, upper(lambda at: e * e / -at(d).ln() + e)


def crossover(epsilon: Number, delta: Number) -> int:
    """The least k at which advanced composition, with the sharp drift and slack delta, is below k epsilon.

    sqrt(2 k ln(1/delta)) < k (1 - tanh(epsilon/2)) and 1 - tanh(epsilon/2) = 2 / (1 + e^epsilon), so k is the least
    integer above (1 + e^epsilon)^2 ln(1/delta) / 2.
    """
    e, d = positive("epsilon", epsilon), probability("delta", delta)
    if e > 1000:
        raise BadParameter("epsilon", epsilon, "at most 1000")

    def bound(at: Reader) -> Span:
        odds = at(e).exp() + 1
        return odds * odds * -at(d).ln() / 2

    return floor(bound) + 1
