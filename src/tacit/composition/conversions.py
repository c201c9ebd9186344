r"""Conversions between pure, concentrated, Renyi and approximate privacy.

Let (a, r) mean that the Renyi divergence of order a > 1 is at most r, in both directions; rho-zCDP is (a, a rho) for
every a.  A formula that is a minimum over some number holds at every value of that number, so the minimiser may be
found in floating point: only the formula itself has to be rounded outward.

Optimal conversion from one order.  An event S has p = P(S), q = Q(S); let M = e^((a-1) r).  Then
    p^a q^(1-a) + (1-p)^a (1-q)^(1-a) <= M.
Both terms are convex and homogeneous, hence above their tangents at the ratios t and s: for all t, s > 0
    a t^(a-1) p - (a-1) t^a q  +  a s^(a-1) (1-p) - (a-1) s^a (1-q)  <=  M.
If p - e^epsilon q = delta, the left side is linear in p from delta to 1.  Choose t so that it is M at p = delta.  At
p = 1 it falls with q, and is above M, so that no event exceeds delta, for every epsilon above that of
    e^epsilon = (a-1) (1-delta) (t^a - s^a) / (a t^(a-1) - (a-1) s^a - M),
    a delta t^(a-1) = M - a (1-delta) s^(a-1) + (a-1) s^a.
s = 0 gives the formula of Canonne, Kamath and Steinke.  If a delta < 1 the least over s in [0, 1) is the best that
follows from (a, r) (Asoodeh et al.): at the extreme pair (p, q) the tangents touch, and pairs of two points are the
extreme ones.  If a delta >= 1 the extreme pair has p = 1, and there epsilon = r + ln(1 - delta).

References.  Mironov, CSF 2017, propositions 3 and 5; Bun and Steinke, TCC 2016, propositions 1.3 and 1.4; Canonne,
Kamath, Steinke, NeurIPS 2020, proposition 12; Asoodeh, Liao, Calmon, Kosut, Sankar, IEEE JSAIT 2 (2021); Steinke (2024)
for epsilon tanh(epsilon/2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from ..core.accounting.atoms import GaussianNoise
from ..core.exact import down, up
from ..core.parameters import Number, probability
from ..core.search import least_positive
from ._enclosure import Formula, Reader, Span, lower, rough, upper
from ._parameters import above_one, nonnegative, positive
from .basic_and_advanced import tanh_half

_GOLDEN = (math.sqrt(5) - 1) / 2


def pure_to_zcdp(epsilon: Number) -> float:
    """rho = epsilon tanh(epsilon/2), the least rho of all epsilon-private mechanisms; it is below epsilon^2/2.

    For a coin with odds e^epsilon the divergence of order a is ln(cosh((a - 1/2) epsilon) / cosh(epsilon/2)) / (a-1);
    ln cosh(epsilon sqrt u) is concave in u, so at most its tangent at u = 1/4, which gives rho.  As a -> 1, where the
    divergence is that of Kullback and Leibler, the bound is an equality.
    """
    e = nonnegative("epsilon", epsilon)
    return upper(lambda at: at(e) * tanh_half(at(e))) if e else 0.0


def pure_to_renyi(epsilon: Number, order: Number) -> float:
    """ln((e^(a epsilon) + e^((1-a) epsilon)) / (1 + e^epsilon)) / (a-1): the divergence of a coin of odds e^epsilon."""
    e, a = nonnegative("epsilon", epsilon), above_one("order", order)

    def value(at: Reader) -> Span:
        return ((at(a * e).exp() + at((1 - a) * e).exp()) / (at(e).exp() + 1)).ln() / (a - 1)

    return min(up(e), upper(value)) if e else 0.0


def renyi_to_epsilon(order: Number, value: Number, delta: Number) -> float:
    """r + ln(1 - 1/a) - ln(a delta)/(a-1), at least 0 (Canonne, Kamath, Steinke 2020, proposition 12)."""
    a, r, d = above_one("order", order), nonnegative("value", value), probability("delta", delta)
    return upper(lambda at: _canonne(a, r, d, at))


def renyi_to_epsilon_classical(order: Number, value: Number, delta: Number) -> float:
    """r + ln(1/delta)/(a-1) (Mironov 2017, proposition 3)."""
    a, r, d = above_one("order", order), nonnegative("value", value), probability("delta", delta)
    return upper(lambda at: r - at(d).ln() / (a - 1))


def renyi_to_epsilon_optimal(order: Number, value: Number, delta: Number) -> float:
    """The least epsilon that follows from (a, r): the minimum over s in [0, 1), at least 0 (Asoodeh et al. 2021)."""
    a, r, d = above_one("order", order), nonnegative("value", value), probability("delta", delta)
    if not r:
        return 0.0
    if a * d >= 1:
        return upper(lambda at: (at(1 - d).ln() + r).clip())

    def value_at(s: Fraction, at: Reader) -> Span:
        """epsilon at s, where numerator and denominator are divided by M; w = t^(a-1) / M."""
        small, other = at((1 - a) * r).exp(), (at(s).ln() * (a - 1)).exp()
        w = (1 - small * (other * (a * (1 - d)) - other * s * (a - 1))) / (a * d)
        t = (w.ln() / (a - 1) + r).exp()
        top, bottom = w * t - small * other * s, w * a - 1 - small * other * s * (a - 1)
        return (top.ln() + (at((a - 1) * (1 - d)).ln() - bottom.ln())).clip()

    def formula(x: float) -> Formula:
        odds = Fraction(math.exp(x))
        return lambda at: value_at(odds / (1 + odds), at)

    best = _lowest(lambda x: rough(formula(x)), -700.0, 60.0)
    return min(upper(lambda at: _canonne(a, r, d, at)), upper(formula(best)))


def zcdp_to_epsilon(rho: Number, delta: Number) -> float:
    """min over a > 1 of a rho + ln(1 - 1/a) - ln(a delta)/(a-1), at least 0 (Canonne, Kamath, Steinke 2020).

    The minimum is where rho (a-1)^2 = -ln(a delta).
    """
    r, d = nonnegative("rho", rho), probability("delta", delta)
    if not r:
        return 0.0
    log, slope = -math.log(d), up(r)
    high = min(math.sqrt(log / slope), math.exp(min(log, 700.0)))  # where either term alone equals log
    s = _root(lambda s: slope * s * s + math.log1p(s) - log, high)
    a = 1 + Fraction(s)
    return upper(lambda at: _canonne(a, a * r, d, at))


def zcdp_to_epsilon_classical(rho: Number, delta: Number) -> float:
    """rho + 2 sqrt(rho ln(1/delta)) (Bun and Steinke 2016, proposition 1.3)."""
    r, d = nonnegative("rho", rho), probability("delta", delta)
    return upper(lambda at: 2 * (-at(d).ln() * r).sqrt() + r)


def rho_for(epsilon: Number, delta: Number) -> float:
    """The largest rho whose `zcdp_to_epsilon` is epsilon: max over a of (epsilon - ln(1-1/a) + ln(a delta)/(a-1))/a."""
    e, d = positive("epsilon", epsilon), probability("delta", delta)
    log, level = -math.log(d), up(e)

    def slope(s: float) -> float:
        """A number with the sign of the derivative, which is negative first."""
        return level + math.log1p(1 / s) - (log - math.log1p(s)) * (2 * s + 1) / (s * s)

    a = 1 + Fraction(_root(slope, max(1.0, 3 * log / level)))
    return lower(lambda at: (e - _order_cost(a, d, at)) / a)


def rho_for_classical(epsilon: Number, delta: Number) -> float:
    """(sqrt(ln(1/delta) + epsilon) - sqrt(ln(1/delta)))^2, the inverse of `zcdp_to_epsilon_classical`."""
    e, d = positive("epsilon", epsilon), probability("delta", delta)

    def rho(at: Reader) -> Span:
        log = -at(d).ln()
        root = (log + e).sqrt() - log.sqrt()
        return root * root

    return lower(rho)


def mu_for(epsilon: Number, delta: Number) -> float:
    """The largest mu, to a relative 2^-40 and never above, at which Gaussian noise is (epsilon, delta)-private."""
    e, d = down(positive("epsilon", epsilon)), down(probability("delta", delta))

    def private(sigma: float) -> bool:
        return GaussianNoise(1 / Fraction(sigma) ** 2).epsilon_at(d) <= e

    return down(1 / Fraction(least_positive(private, floor=0.0, precision=2.0**-40)))


def _canonne(a: Fraction, r: Fraction, d: Fraction, at: Reader) -> Span:
    return (_order_cost(a, d, at) + r).clip()


def _order_cost(a: Fraction, d: Fraction, at: Reader) -> Span:
    return at(1 - 1 / a).ln() - at(a * d).ln() / (a - 1)


def _root(f: Callable[[float], float], high: float) -> float:
    """The place at which a function that is negative first and positive at `high` changes sign, to the last bits."""
    return least_positive(lambda s: f(s) > 0, high, floor=0.0, precision=2.0**-50)


def _lowest(f: Callable[[float], Decimal], low: float, high: float) -> float:
    """The minimiser of a function that falls and then rises, and may be constant at first, by golden section."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = f(left), f(right)
    while high - low > 2.0**-26:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = f(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = f(right)
    return (low + high) / 2
