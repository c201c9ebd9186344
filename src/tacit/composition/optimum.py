r"""Optimal composition: the least (epsilon, delta) that every composition of epsilon-private mechanisms satisfies.

Theorem (Kairouz, Oh, Viswanath 2015, theorem 3.3).  k mechanisms, each epsilon-private, are together (e, delta)-private
for   delta(e) = (1 + e^epsilon)^-k  sum over l of  C(k, l) (e^((k-l) epsilon) - e^(e + l epsilon))_+ ,   and coins with
odds e^epsilon are not, for any lesser delta.  With different epsilons (Murtagh and Vadhan 2016, theorem 1.5) the sum
is over all sets of coins, and its exact computation is #P-hard.  Mechanisms may be chosen adaptively.  If each also
fails to be private with probability delta_i, the total is 1 - (1 - delta) prod (1 - delta_i).

Mechanisms of equal epsilon are counted together, so the sum has prod (count + 1) terms.  A sum of up to 2^20 terms is
evaluated, and epsilon is then right to 10^-13 and delta to 10^-12 of its value (worse only where a delta near 1, or a
loss just above epsilon, makes the result depend on the last bits).  With more terms the losses are put on a grid, and
epsilon is usually within 10^-4 of the truth; if there are more than 2^10 different epsilons each is first rounded up
to ten bits, which costs some 10^-3.  No result is below the exact value.

References.  Kairouz, Oh, Viswanath, ICML 2015 and IEEE Trans. Inf. Theory 63 (2017); Murtagh and Vadhan, TCC 2016 and
Theory of Computing 14 (2018).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import cache, reduce

from ..core.errors import BadParameter
from ..core.exact import down, up
from ..core.parameters import Number, failure, probability, whole
from ._coins import Atoms, coins, on_a_grid, together
from ._enclosure import lower
from ._parameters import Multiplicities, alike, lists, nonnegative, positive
from .basic_and_advanced import any_failure, no_failure, total
from .conversions import mu_for

MAX_K = 10**9  # takes a second, and several seconds in `per_query_epsilon`
LEAST_DELTA = 2.0**-900  # below, the result is that of basic composition
_MAX_TERMS = 1 << 20
_MAX_EPSILONS = 1 << 10  # different ones
_MAX_CELLS, _MAX_PRODUCTS = 1 << 17, 1 << 28  # of the grid, and to be added on it
_UNLISTED_SHARE = 2.0**-60  # of delta, for losses that are not listed
_UNLISTED_MASSES = (2.0**-100, 2.0**-200, 2.0**-400, 2.0**-800)  # tried in turn where delta is unknown
_MAX_PRODUCT_BITS = 1 << 14  # of a product that is computed exactly


def optimal(epsilon: Number, k: int, delta_target: Number, delta: Number = 0) -> float:
    """The least epsilon of k-fold composition at delta_target; infinite if the k deltas alone exceed delta_target."""
    es, ds = alike(nonnegative("epsilon", epsilon), failure("delta", delta), _count(k))
    return _epsilon(es, ds, probability("delta_target", delta_target))


def optimal_delta(epsilon: Number, k: int, epsilon_total: Number, delta: Number = 0) -> float:
    """The least delta of k-fold composition at epsilon_total: the sum in the theorem."""
    es, ds = alike(nonnegative("epsilon", epsilon), failure("delta", delta), _count(k))
    return _delta(es, ds, nonnegative("epsilon_total", epsilon_total))


def optimal_heterogeneous(epsilons: Iterable[Number], delta_target: Number, deltas: Iterable[Number] = ()) -> float:
    """The least epsilon of the composition at delta_target; infinite if the deltas alone exceed delta_target."""
    es, ds = lists(epsilons, deltas)
    return _epsilon(es, ds, probability("delta_target", delta_target))


def optimal_heterogeneous_delta(
    epsilons: Iterable[Number], epsilon_total: Number, deltas: Iterable[Number] = ()
) -> float:
    """The least delta of the composition at epsilon_total."""
    es, ds = lists(epsilons, deltas)
    return _delta(es, ds, nonnegative("epsilon_total", epsilon_total))


def per_query_epsilon(epsilon: Number, delta: Number, k: int) -> float:
    """The largest epsilon0, to 10^-13 and never above, whose k-fold composition is (epsilon, delta)-private."""
    from scipy.optimize import brentq

    e, d, n = positive("epsilon", epsilon), down(probability("delta", delta)), _count(k)
    at, safe = down(e), down(e / n)  # epsilon / k is good at every delta
    if d < LEAST_DELTA:
        return safe

    @cache
    def excess(x: float) -> float:
        """ln of the ratio of the composed delta to the allowed delta."""
        return math.log(max(coins(Fraction(x), n, d * _UNLISTED_SHARE).delta(at), d * _UNLISTED_SHARE) / d)

    near, apart = max(safe, mu_for(e, d) / math.sqrt(n)), 2.0**-20  # many coins are about normal: mu^2 = k epsilon0^2
    low, high = near, near * (1 + apart)
    while excess(high) <= 0:
        low, high, apart = high, high * (1 + apart), 16 * apart
    while low > safe and excess(low) > 0:
        low, high, apart = max(safe, low / (1 + apart)), low, 16 * apart
    if excess(low) > 0:  # delta depends on the last bits of epsilon
        return safe
    each = float(brentq(excess, low, high, xtol=1e-300, rtol=2.0**-50))
    step = each * 2.0**-50
    while each > low and excess(each) > 0:
        each, step = each - step, 2 * step
    return max(each, low)


def _count(k: int) -> int:
    n = whole("k", k)
    if n > MAX_K:
        raise BadParameter("k", k, f"at most {MAX_K}")
    return n


def _epsilon(es: Multiplicities, ds: Multiplicities, target: Fraction) -> float:
    left, basic = _left(target, ds), up(total(es))
    if left < 0:
        return math.inf
    if left < LEAST_DELTA or not basic:
        return basic
    return min(basic, _losses(es, left * _UNLISTED_SHARE).epsilon(left))


def _delta(es: Multiplicities, ds: Multiplicities, e: Fraction) -> float:
    if e >= total(es):
        return any_failure(ds, Fraction(0))
    pure = 1.0
    for rare in _UNLISTED_MASSES:
        pure = _losses(es, rare).delta(down(e))
        if rare <= pure * _UNLISTED_SHARE:
            break
    return any_failure(ds, Fraction(pure))


def _left(target: Fraction, ds: Multiplicities) -> float:
    """The delta d, rounded down, for which 1 - (1 - d) prod (1 - delta_i) is the target; negative if there is none."""
    if sum(n * d.denominator.bit_length() for d, n in ds.items()) <= _MAX_PRODUCT_BITS:
        return down(1 - (1 - target) / math.prod((1 - d) ** n for d, n in ds.items()))
    return lower(lambda at: 1 - (1 - target) / no_failure(ds, at))


def _losses(es: Multiplicities, rare: float) -> Atoms:
    """The sum of all losses, except for a mass of about `rare` that is not listed."""
    if len(es) > _MAX_EPSILONS:
        es = _rounded(es)
    share = rare / (2 * len(es) + 1)
    parts = [coins(e, n, share) for e, n in es.items() if e]
    if math.prod(len(part.loss) for part in parts) <= _MAX_TERMS:
        return reduce(together, parts)
    deviation = math.sqrt(sum(n * e * e for e, n in es.items()))
    loss_range = sum(float(part.loss[0] - part.loss[-1]) for part in parts)
    width = min(loss_range, 2 * deviation * math.sqrt(-2 * math.log(rare)))  # holds nearly all mass, by Hoeffding
    taps = sum(2 * len(part.loss) for part in parts)
    cells = min(
        _MAX_CELLS, max(_MAX_PRODUCTS / taps, math.sqrt(_MAX_PRODUCTS * width / loss_range))
    )  # a part has taps on its own cells
    return on_a_grid(parts, 2.0 ** math.floor(math.log2(width / cells)), share)


def _rounded(es: Multiplicities) -> Multiplicities:
    """The epsilons rounded up to ten significant bits; a coin with larger odds can imitate the other, so is worse."""
    rounded: Multiplicities = Counter()
    for e, n in es.items():
        unit = Fraction(2) ** (math.frexp(e)[1] - 10)
        rounded[math.ceil(e / unit) * unit] += n
    return rounded
