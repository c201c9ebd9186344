r"""Discrete Gaussian noise is at least as private as continuous Gaussian noise of slightly smaller variance.

Theorem.  Noises of law p(z) proportional to exp(-z^2 / (2 s)), s >= 2, hide a vector of integers that moves by at most
d in l2, and in at most n coordinates.  With t as found below, no hockey-stick divergence exceeds that of continuous
noise of variance s - t on a move by d: with mu^2 = d^2 / (s - t) the noise is mu-Gaussian private (Dong, Roth, Su
2022), and mu^2 adds.

1. Rounding.  Let y ~ N(x, s - a), and z an integer with weights exp(-(z - y)^2 / (2 a)).  By Poisson summation these
add up to sqrt(2 pi a) / h(y), 1/h(y) = 1 + 2 sum_k exp(-2 pi^2 k^2 a) cos(2 pi k y) over k >= 1.  Two Gaussians
multiply: z has the law N(z; x, s) E[h(y) | z], where y given z is normal with variance b = a (1 - a/s).  Now let
E(v) = 2 sum_k exp(-2 pi^2 k^2 v).  h has period 1 and mean at least 1/(1 + E(a)); its other Fourier coefficients are at
most max |h - 1| <= E(a) / (1 - E(a)), and b damps them: E[h(y) | z] is that mean times 1 +- r,
    r = E(a) E(b) (1 + E(a)) / (1 - E(a)).
For whole x, then, z has the law p(z - x) times a constant, the same for every x, times 1 +- r.

2. So with c = n ln((1 + r) / (1 - r)) the divergences H of the discrete noise on a move of length d are, by
post-processing, and as coordinates that do not move cancel,
    H(e) <= exp(c) G(m, e - c),   m^2 = d^2 / (s - a),   G(m, e) = Phi(m/2 - e/m) - exp(e) Phi(-m/2 - e/m).

3. A little more mu makes up for c: exp(c) G(m, e - c) <= G(mu, e), e >= 0.  For on the way from (m, e - c) to (mu, e),
with the factor going from exp(c) to 1, the derivative has the sign of (mu - m) phi(g) - c Phi(g), g = m'/2 - e'/m' at
(m', e'): dG/dm = phi(g), dG/de = -exp(e) Phi(-m/2 - e/m).  As e' >= -c it is enough that
    mu - m >= c sqrt(2 pi) exp(g^2 / 2),   g = mu/2 + c/m.

4. Let t = a + 1/32; then mu - m >= d / (64 s^1.5).  Whole moves have n <= d^2, so c <= d sqrt(n) ln((1 + r) / (1 - r)).
Let A = a + b, so that a = A / (1 + sqrt(1 - A/s)).  If s >= 2, A <= 0.7 s, and
    exp(2 pi^2 A) = 1500 s^1.5 sqrt(n) exp(d^2 / (4 s))
then a >= 0.22, b >= 0.19, r <= 4.3 exp(-2 pi^2 A), t <= s/2, mu^2 <= 2 d^2 / s and c/m <= 0.01 exp(-mu^2 / 8), so that
g^2 / 2 <= mu^2 / 8 + 0.01; and 64 sqrt(2 pi) 8.7 exp(0.01) < 1500.  What is asked for grows with d and n, so that
shorter moves are covered too.

The price is t / (2 s) of sigma: t is 0.3 at sigma = 2, 0.4 at 10, 0.5 at 50.

References.  Micciancio, Peikert, CRYPTO 2013, theorem 3.3, on rounded Gaussians; Canonne, Kamath, Steinke, NeurIPS
2020, on discrete ones; Balle, Wang, ICML 2018, for G.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from ..errors import BadParameter
from ..exact import up


def smoothing(variance: Fraction, l2_squared: Fraction, moved: int) -> Fraction | None:
    """The t of the theorem for noise of parameter s = variance; None where the theorem does not apply."""
    s, square = up(variance), up(l2_squared)
    if s < 2:
        return None
    A = (math.log(1500 * s * math.sqrt(s * max(1, moved))) + square / (4 * s)) / (2 * math.pi**2)
    return Fraction(A / (1 + math.sqrt(1 - A / s))) + Fraction(1, 32) if min(0.7 * s, 2.0**20) >= A else None


@lru_cache(maxsize=1 << 12)
def mu_squared(variance: Fraction, l2_squared: Fraction, moved: int) -> Fraction | float:
    """A mu^2 such that the noise is mu-Gaussian private, rounded up; infinite where the theorem does not apply."""
    t = smoothing(variance, l2_squared, moved)
    return math.inf if t is None else Fraction(up(l2_squared / (variance - t)))


def variance_for(target: Fraction, l2_squared: Fraction, moved: int) -> Fraction:
    """A variance at which mu^2 is at most the target: up to rounding, the least to which the theorem applies."""
    least = l2_squared / target
    variance = max(least, Fraction(2))
    while mu_squared(variance, l2_squared, moved) > target:
        t = smoothing(variance, l2_squared, moved)
        if variance > 2**1000:
            raise BadParameter("mu^2", float(target), "large enough for a variance of at most 2^1000")
        variance = 2 * variance if t is None else max(variance, least + t) * (1 + Fraction(1, 1 << 40))
    return variance
