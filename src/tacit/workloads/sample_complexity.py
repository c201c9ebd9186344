r"""How many records, or what price, an accuracy takes; and the textbooks' closed forms.

A normalised query is a count divided by the public n.  `sample_size` is the least n at which a method's own bound on
the largest error of all queries, divided by n, is at most alpha; `price_for` the least epsilon or rho at one n.  Both
search, since no bound grows with n faster than n does, and none grows with the price.

The closed forms are those of the textbooks' table, with their constants, for k queries on |X| cells:

    noise on the queries       k ln(k / beta) / (n epsilon); with delta, sqrt(8 k ln(1 / delta)) for k, if that is less
    Gaussian on the queries    sqrt(k / rho) sqrt(ln(2 k / beta)) / n
    noise on the histogram     sqrt(8 |X| ln(2 k / beta)) / (n epsilon), if |X| >= 2 ln(2 k / beta)
    randomized response        (1 + |X| / (e^epsilon - 1)) sqrt(ln(2 k / beta) / (2 n)), coth(epsilon / 2) for |X| = 2
    multiplicative weights     3 alpha, alpha^3 = 36 ln|X| (ln(2 k) + ln(16 ln|X| / (beta alpha^2))) / (n epsilon)

and of these two solved for n (`small_db_records`, `multiplicative_weights_records`; SmallDB's own form is there).

References.  Dwork and Roth (2014), theorems 3.8, 4.5 and 4.14 (with 36 for 32); Warner, JASA 60 (1965).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from ..composition import per_query_epsilon_classical
from ..core.errors import BadParameter, BadQuestion
from ..core.parameters import Number, failure, instance, natural, positive, probability, rational, whole
from ..core.search import least_positive, least_whole
from .method import Method
from .methods.weights.pmw_plans import consistent_alpha
from .price import LARGEST, Price
from .queries.workload import Workload

_MAX_RECORDS = 10**15


def sample_size(method: Method, workload: Workload, price: Price, alpha: Number, beta: Number = 0.05) -> int:
    """The least n with which every normalised query is within alpha, with probability 1 - beta.

    Epsilon at a delta is spent as a plan would spend it: by zCDP, or as pure epsilon, whichever takes fewer records.
    """
    instance("method", method, Method)
    sizes, refused = list[int](), list[BadQuestion]()
    for way in instance("price", price, Price).ways:
        try:
            sizes.append(_least(method, workload, way, alpha, beta))
        except BadQuestion as error:
            refused.append(error)
    if not sizes:
        raise refused[-1]
    return min(sizes)


def _least(method: Method, workload: Workload, price: Price, alpha: Number, beta: Number) -> int:
    share = float(positive("alpha", alpha, LARGEST))

    @cache
    def reason(n: int) -> str | None:
        return method.refusal(workload, n, price)

    errors = dict[float, int]()  # as a share of n, and the n

    def good(n: int) -> bool:
        if reason(n) is not None:
            return False
        worst = method.predict(workload, n, price, beta).worst
        errors.setdefault(worst / n, n)
        return worst <= share * n

    low, high = 1, 1
    while not good(high):
        if high > _MAX_RECORDS:
            raise BadQuestion(f"{method.name}: {_never(errors) or reason(high)}")
        low, high = high + 1, 2 * high
        if reason(high) and not reason(low):  # the most records that the method takes lie between, and may be enough
            largest = least_whole(lambda n: reason(n) is not None, low) - 1
            high = largest if good(largest) else high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle + 1, high)
    return high


def _never(errors: dict[float, int]) -> str | None:
    """Why no number of records is enough, or None if the method took none; `errors` are shares of n, with their n."""
    if not errors:
        return None
    if (least := min(errors)) >= 1:
        return "no bound below n is proved for its errors, so no n is known to be enough; use another method"
    return f"no n up to {_MAX_RECORDS:g} is enough: the smallest bound is {least:.3g} n, with {errors[least]} records"


def price_for(method: Method, workload: Workload, n: int, price: Price, *, alpha: Number, beta: Number = 0.05) -> Price:
    """The least price at which every normalised query is within alpha, in the currency of `price`.

    Epsilon at a delta is spent as rho.
    """
    instance("method", method, Method)
    share = float(positive("alpha", alpha, LARGEST)) * whole("n", n)
    if reason := method.refusal(workload, n, price):
        raise BadQuestion(f"{method.name}: {reason}")

    def good(times: float) -> bool:
        return method.predict(workload, n, price.part(Fraction(times)), beta).worst <= share

    times = least_positive(good, 1.0, floor=2.0**-20, ceiling=2.0**20, precision=2.0**-10)
    if math.isinf(times):
        raise BadParameter("alpha", alpha, "large enough to be reached at a million times the price")
    return price.part(Fraction(times))


def laplace_on_queries(k: int, n: int, epsilon: Number, beta: Number = 0.05, *, delta: Number = 0) -> float:
    """k ln(k / beta) / (n epsilon); with delta, sqrt(8 k ln(1/delta)) for k if that is less (advanced composition)."""
    nats, e = math.log(whole("k", k)) - math.log(probability("beta", beta)), positive("epsilon", epsilon, LARGEST)
    advanced = per_query_epsilon_classical(e, delta, k) if _delta_helps(float(e), delta) else 0.0
    return nats / (whole("n", n) * max(float(e / k), advanced))


def _delta_helps(epsilon: float, delta: Number) -> bool:
    """Advanced composition is stated for epsilon <= 8 ln(1/delta), a little less here; beyond, delta buys nothing."""
    d = float(failure("delta", delta))
    return d > 0 and epsilon * (1 + 2.0**-40) <= -8 * math.log(d)


def gaussian_on_queries(k: int, n: int, rho: Number, beta: Number = 0.05) -> float:
    """sqrt(k / rho) sqrt(ln(2 k / beta)) / n: sigma^2 = k / (2 rho)."""
    log = math.log(2 * whole("k", k)) - math.log(probability("beta", beta))
    return math.sqrt(k / float(positive("rho", rho, LARGEST)) * log) / whole("n", n)


def laplace_on_histogram(cells: int, k: int, n: int, epsilon: Number, beta: Number = 0.05) -> float:
    """sqrt(8 |X| ln(2 k / beta)) / (n epsilon); for |X| below 2 ln(2 k / beta), 4 ln(2 k / beta) / (n epsilon)."""
    log = math.log(2 * natural("k", k)) - math.log(probability("beta", beta))
    root = math.sqrt(8 * max(whole("cells", cells), 2 * log) * log)
    return root / (whole("n", n) * float(positive("epsilon", epsilon, LARGEST)))


def randomized_response(k: int, n: int, epsilon: Number, beta: Number = 0.05, *, cells: int = 2) -> float:
    """(1 + |X| / (e^epsilon - 1)) sqrt(ln(2 k / beta) / (2 n)), under substitution; on bits coth(epsilon / 2) times it.

    The first factor is 1 / (p - q), for p the probability of one's own cell and q of any other: Hoeffding's inequality.
    """
    log = math.log(2 * natural("k", k)) - math.log(probability("beta", beta))
    e = min(float(positive("epsilon", epsilon, LARGEST)), 700.0)
    return (1 + whole("cells", cells, 2) / math.expm1(e)) * math.sqrt(log / (2 * whole("n", n)))


def multiplicative_weights(
    cells: int, k: int, n: int, epsilon: Number, beta: Number = 0.05, *, delta: Number = 0
) -> float:
    """3 alpha, for the alpha that solves alpha^3 = 36 ln|X| (ln(2 k) + ln(4 c / beta)) / (n epsilon).

    With delta, alpha^2 = (2 + 32 sqrt 2) sqrt(ln|X| ln(2 / delta)) (ln(2 k) + ln(4 c / beta)) / (n epsilon), if that
    is less.
    """
    e, b = float(positive("epsilon", epsilon, LARGEST)), float(probability("beta", beta))
    size = natural("cells", cells, 2)
    deltas = {0.0, float(rational("delta", delta)) if _delta_helps(e, delta) else 0.0}
    return 3 * min(
        consistent_alpha(size, natural("k", k), epsilon=e, n=whole("n", n), beta=b, delta=at) for at in deltas
    )


def small_db_records(cells: int, k: int, alpha: Number, epsilon: Number, beta: Number = 0.05) -> float:
    """n = (16 ln|X| ln k + 4 ln(1 / beta)) / (epsilon alpha^3): with so many records SmallDB is within alpha."""
    logs = 16 * math.log(natural("cells", cells)) * math.log(natural("k", k)) - 4 * math.log(probability("beta", beta))
    return logs / (float(positive("epsilon", epsilon, LARGEST)) * float(probability("alpha", alpha)) ** 3)


def multiplicative_weights_records(cells: int, k: int, alpha: Number, epsilon: Number, beta: Number = 0.05) -> float:
    """n = 36 ln|X| (ln(2 k) + ln(4 c / beta)) / (epsilon a^3), with a = alpha / 3 and c = 4 ln|X| / a^2."""
    a, log = float(probability("alpha", alpha)) / 3, math.log(natural("cells", cells, 2))
    nats = math.log(2 * natural("k", k)) + math.log(16 * log / a**2) - math.log(probability("beta", beta))
    return 36 * log * nats / (float(positive("epsilon", epsilon, LARGEST)) * a**3)
