r"""How many adaptive questions n records can answer, and how accurately k questions are answered, by every method.

    asked beforehand      sqrt(ln(2 k / beta) / (2 n)), for questions fixed before the data is seen; a yardstick
    sample splitting      sqrt(R ln(2 k / beta) / (2 n)): n / R fresh records for each of R rounds
    rounded answers       multiples of 1/V: 1/(2 V) + sqrt(ln(2 N / beta) / (2 n)), N = c sum over d < R of (V+1)^(d c)
    Gaussian answers      sigma z + what a transfer theorem adds, z a quantile of the largest of k normals

Without rounds R = k and c = 1; `ranking.py` compares these with the rules.  Gaussian answers have a line for each
theorem.  The best sigma is searched for each: more noise is less accurate, less noise less private.  The search is in
floating point; its result is then evaluated as the theorem states.  By the theorems of `posterior.py` k answers are
mu-Gaussian private, mu = sqrt(k) / (n sigma).  The others, which are older, get the epsilon and delta of rho-zCDP, rho
= mu^2 / 2.
    Noise pays from some hundred questions on, if n is large: its width grows like k^(1/4), the others like k^(1/2).

References.  Jung et al., ITCS 2020, figure 1; `posterior.py`, `transfer.py` and `histories.py` for the theorems.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import ndtri

from ..composition import hoeffding_inverse, rho_for
from ..core.errors import BadParameter
from ..core.exact import Floats
from ..core.parameters import Number, one_of, probability, whole
from ..core.search import least_whole
from . import histories, posterior, transfer

MAX_QUESTIONS = 1 << 40
_LIKELY = Fraction(1, 5)
MAX_RECORDS = 1 << 62
_ORDERS: list[float] = np.geomspace(0.3, 1e14, 220).tolist()
_EPSILONS: Floats = 2 * 1.01 ** -np.arange(2600.0)  # down to 1e-11: the best is about 1 / sqrt(n), and more
_STRIDE = 40  # of the coarse search, a factor of 1.5
_SHARES: Floats = 10.0 ** (-np.arange(2, 49) / 4)  # of beta, for noise and for delta


@dataclass(frozen=True, slots=True)
class HoldoutPlan:
    """The promise of one method: all k answers within `width` of the truth, with probability at least 1 - beta."""

    method: str
    n: int
    questions: int
    width: float
    sigma: float = 0.0
    epsilon: float = 0.0
    delta: float = 0.0
    needs: str = ""


def beforehand(n: int, questions: int, beta: Number, rounds: int | None = None) -> HoldoutPlan:
    """The width by Hoeffding's inequality and the union bound, for questions that do not depend on the records."""
    n, k = whole("n", n), whole("questions", questions)
    return HoldoutPlan("asked beforehand", n, k, hoeffding_inverse(n, transfer.shared(beta) / k))


def splitting(n: int, questions: int, beta: Number, rounds: int | None = None) -> HoldoutPlan:
    """The width with fresh records for each round, or for each question."""
    n, k = whole("n", n), whole("questions", questions)
    each, share = n // (rounds or k), transfer.shared(beta) / k
    return HoldoutPlan("sample splitting", n, k, hoeffding_inverse(each, share) if each else math.inf)


def rounded(n: int, questions: int, beta: Number, rounds: int | None = None) -> HoldoutPlan:
    """The width of sample means that are rounded to multiples of the best of 1/2, 1/4, ..."""
    n, k, b, best = whole("n", n), whole("questions", questions), float(transfer.shared(beta)), math.inf
    size, before = histories.in_rounds(k, rounds)
    for values in (2**j for j in range(1, 33)):
        # ln of the sum of c (V+1)^(d c) over d < R, from above: the last term times 1 + 1/V
        nats = before * math.log(values + 1) + math.log1p(1 / values) + math.log(2 * size / b)
        best = min(best, 1 / (2 * values) + math.sqrt(nats / (2 * n)))
    return HoldoutPlan("rounded answers", n, k, best * histories.OUTWARD)


def quantile(beta: float, questions: int) -> float:
    """The bound that the largest of k standard normals, in absolute value, exceeds with probability beta."""
    return -float(ndtri(-math.expm1(math.log1p(-beta) / questions) / 2))


def gaussian(n: int, questions: int, beta: Number, theorem: str = "drift") -> HoldoutPlan:
    """The plan for Gaussian noise at its best sigma, by one theorem: `drift`, `information`, `jung`, `monitor`, ..."""
    one_of("theorem", theorem, (*_POSTERIOR, "jung", "monitor", *_FIXED))
    n, k, b = whole("n", n), whole("questions", questions), float(transfer.shared(beta))
    if theorem in _POSTERIOR:
        return _posterior(n, k, b, theorem)
    if theorem in _FIXED:
        return _fixed(n, k, b, theorem)
    return _jung(n, k, b) if theorem == "jung" else _monitor(n, k, b)


def _posterior(n: int, k: int, b: float, theorem: str) -> HoldoutPlan:
    """The plan by a theorem of `posterior.py`: sigma is searched around that at which noise and drift are equal."""
    shares = [min(16 * b, 0.5) / 2**j for j in range(40)]
    normal = [(x, quantile(x, k)) for x in shares]
    about = math.sqrt(math.sqrt(k) / (n * normal[len(normal) // 4][1]))

    def width(sigma: float) -> float:
        accuracy = [(x, min(1.0, sigma * z * histories.OUTWARD)) for x, z in normal]
        if theorem == "information":
            nats = posterior.gaussian_information(n, k, Fraction(sigma) ** 2)
            return posterior.information(b, nats, n, accuracy).width
        mu_squared = Fraction(k) / (n * Fraction(sigma)) ** 2
        return (posterior.shortfall(b, accuracy) + posterior.gaussian_drift(b, mu_squared)) * histories.OUTWARD

    sigma = min((about * 2 ** (j / 4) for j in range(-8, 9)), key=width)
    sigma = min((sigma * 2 ** (j / 24) for j in range(-5, 6)), key=width)
    return HoldoutPlan(_POSTERIOR[theorem], n, k, width(sigma), sigma)


def _jung(n: int, k: int, b: float) -> HoldoutPlan:
    """The plan by Jung et al., at the best epsilon, delta and share of beta: a coarse search, then a fine one."""
    about = _best(n, k, b, _EPSILONS[::_STRIDE])[0]
    near = _EPSILONS[np.abs(np.log(_EPSILONS / about)) < 0.5]
    e, d, x = (float(f"{v:.6g}") for v in _best(n, k, b, near))
    sigma = _exact_sigma(n, k, e, d)
    proved = transfer.jung_at(b, e, d, alpha=sigma * quantile(x, k), beta=x)
    return HoldoutPlan("Gaussian, Jung et al. 2020", n, k, proved.width, sigma, e, d)


def _best(n: int, k: int, b: float, epsilons: Floats) -> tuple[float, float, float]:
    """The epsilon among `epsilons`, the delta and the share of beta for the noise that give the smallest width."""
    epsilon, share = epsilons[:, None, None], b * _SHARES
    delta, noise = share[:, None], share
    alpha = _sigma(n, k, epsilon, delta) * _quantiles(noise, k)
    width = alpha + np.expm1(epsilon) + (np.sqrt(noise) + np.sqrt(2 * delta)) ** 2 / b
    i, j, m = np.unravel_index(np.argmin(width), width.shape)
    return float(epsilons[i]), float(share[j]), float(share[m])


def _fixed(n: int, k: int, b: float, theorem: str) -> HoldoutPlan:
    """The plan by a theorem in which epsilon fixes the width: half of beta is for the noise, half for the theorem."""
    times, divisor, least, most, method = _FIXED[theorem]
    low, high = math.sqrt(least(b) / n) * (1 + 1e-9), most * (1 - 1e-9)
    if low >= high or b >= 0.5:  # half of a larger beta is outside the theorems
        return HoldoutPlan(method, n, k, math.inf)
    epsilon = np.geomspace(low, high, 400)
    delta, alpha = epsilon * b / (2 * divisor) * (1 - 1e-9), quantile(b / 2, k)
    e = float(epsilon[np.argmin(_sigma(n, k, epsilon, delta) * alpha + times * epsilon)])
    d = e * b / (2 * divisor) * (1 - 1e-9)
    sigma = _exact_sigma(n, k, e, d)
    proved = getattr(transfer, theorem)(e, d, n, alpha=sigma * alpha, beta=b / 2)
    return HoldoutPlan(method, n, k, proved.width, sigma, e, d)


def _monitor(n: int, k: int, b: float) -> HoldoutPlan:
    """The plan by the Monitor, at the best epsilon and delta of a grid: half of beta is for the noise."""
    epsilon, delta = _EPSILONS[:: _STRIDE // 8, None, None], (b * _SHARES / n)[:, None]
    t = transfer.monitored_samples(b / 2)
    choice = np.sqrt(2 * np.log(2 * t) / n)
    right = 2 * np.log(2 * t) / (choice * n) + np.expm1(epsilon + choice) + t * delta
    alpha = quantile(b / 2, k)
    width = _sigma(n, k, epsilon, delta) * alpha + right / -np.expm1(t * math.log1p(-b / 2))
    i, j, _ = np.unravel_index(np.argmin(width), width.shape)
    e, d = float(epsilon[i, 0, 0]), float(delta[j, 0])
    sigma = _exact_sigma(n, k, e, d)
    proved = transfer.monitor_at(b, e, d, n, alpha=sigma * alpha, beta=b / 2)
    return HoldoutPlan("Gaussian, the Monitor", n, k, proved.width, sigma, e, d)


def _sigma(n: int, k: int, epsilon: Floats, delta: Floats) -> Floats:
    """The noise that makes k answers (epsilon, delta)-private, slightly too large: only some Renyi orders are tried."""
    rho = np.zeros(np.broadcast_shapes(np.shape(epsilon), np.shape(delta)))
    for s in _ORDERS:  # the order less one
        room = epsilon + math.log1p(1 / s) + (math.log1p(s) + np.log(delta)) / s
        np.maximum(rho, room / (1 + s), out=rho)
    return np.asarray(math.sqrt(k / 2) / n / np.sqrt(np.maximum(rho, 1e-300)))


def _exact_sigma(n: int, k: int, epsilon: float, delta: float) -> float:
    """The noise that makes k answers (epsilon, delta)-private, by the exact conversion."""
    return math.sqrt(k / (2 * rho_for(epsilon, delta))) / n * histories.OUTWARD


def _quantiles(beta: Floats, k: int) -> Floats:
    return np.asarray(-ndtri(-np.expm1(np.log1p(-beta) / k) / 2))


# width / epsilon, failure / (delta / epsilon), the smallest n epsilon^2, the largest epsilon, the name
_FIXED: dict[str, tuple[int, int, Callable[[float], float], float, str]] = {
    "bassily": (
        transfer.BASSILY_WIDTH,
        1,
        lambda b: math.log(8 / b),
        float(transfer.BASSILY_LARGEST),
        "Gaussian, Bassily et al. 2016",
    ),
    "notes": (
        transfer.NOTES_WIDTH,
        transfer.NOTES_DELTA,
        lambda b: max(transfer.NOTES_SMALLEST, math.log(4 / b) / float(transfer.NOTES_DECAY)),
        float(transfer.NOTES_LARGEST),
        "Gaussian, lecture notes",
    ),
}
_POSTERIOR = {"drift": "Gaussian, posterior drift", "information": "Gaussian, mutual information"}
Planner = Callable[[int, int, Number], HoldoutPlan]
METHODS: dict[str, Planner] = {
    "asked beforehand": beforehand,
    "sample splitting": splitting,
    "rounded answers": rounded,
    "Gaussian, posterior drift": gaussian,
    "Gaussian, mutual information": lambda n, k, beta: gaussian(n, k, beta, "information"),
    "Gaussian, Jung et al. 2020": lambda n, k, beta: gaussian(n, k, beta, "jung"),
    "Gaussian, the Monitor": lambda n, k, beta: gaussian(n, k, beta, "monitor"),
    "Gaussian, Bassily et al. 2016": lambda n, k, beta: gaussian(n, k, beta, "bassily"),
    "Gaussian, lecture notes": lambda n, k, beta: gaussian(n, k, beta, "notes"),
}


def max_questions(n: int, width: Number, beta: Number = "0.05", method: str | None = None) -> int:
    """The largest number of adaptive questions that n records answer to within `width`, by one method or the best."""
    n, target = whole("n", n), float(probability("width", width))

    def most(planner: Planner) -> int:
        return least_whole(lambda k: k > MAX_QUESTIONS or planner(n, k, beta).width > target, 1) - 1

    return max(map(most, _planners(method, transfer.shared(beta))))


def min_records(questions: int, width: Number, beta: Number = "0.05", method: str | None = None) -> int:
    """The smallest number of records for this many adaptive questions to within `width`, by one method or the best."""
    k, target = whole("questions", questions), float(probability("width", width))

    def least(planner: Planner) -> int:
        return least_whole(lambda n: n > MAX_RECORDS or planner(n, k, beta).width <= target, 1)

    if (records := min(map(least, _planners(method, transfer.shared(beta))))) > MAX_RECORDS:
        raise BadParameter("width", width, "larger: no n up to 2^62 is known to be enough")
    return records


def _planners(method: str | None, beta: Fraction) -> list[Planner]:
    """The method of this name, or those that answer adaptive questions and of which any may be the best.

    The other theorems about Gaussian answers are never narrower than the posterior drift, and up to a beta of 1/5 the
    mutual information is not either.
    """
    if method is None:
        return [splitting, rounded, gaussian, *([METHODS[_POSTERIOR["information"]]] if beta > _LIKELY else [])]
    return [METHODS[one_of("method", method, METHODS)]]
