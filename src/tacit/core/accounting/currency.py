"""Currencies: units of account for adaptive purchases, where each question and price may depend on earlier answers.

Let L = ln P(transcript)/Q(transcript) at a stopping time; each price is known before its answer.  A `Currency` is an
account whose running sum is a filter: buying while the sum stays within its limit is as private as if all prices had
been fixed beforehand.

    pure epsilon      |L| is at most the sum, surely
    Renyi, order a    exp((a - 1)(L - sum of r_i)) is a supermartingale, so E exp((a - 1) L) <= exp((a - 1) limit)
    zCDP              as for Renyi, at every order a at once, with r_i = a rho_i

The probability delta_i with which an atom promises nothing is paid from a second sum, the sum of the failures.

The union filter, Budget(epsilon, delta).  Go on while the epsilons sum to at most `epsilon`, or the Renyi divergences
of one order a, fixed on opening, to at most r; and the failures to at most delta - slack.
Proof.  (1 - e^(epsilon - L))_+ is 0 where the epsilons keep their limit, for there L <= epsilon.  Elsewhere r is kept
and (1 - e^-x)_+ <= c e^((a-1) x), c = (1 - 1/a)^(a-1) / a, so its mean is at most c e^((a-1)(r - epsilon)) = slack.
The order is the best for Gaussian noise.  With c = 1 and r_i = a epsilon_i^2 / 2 this is the rule of Whitehouse et
al., sqrt(2 ln(1/slack) V) + V/2 <= epsilon with V the sum of epsilon_i^2: all that it admits is admitted here.

What is not a filter.  A composed privacy-loss distribution, a trade-off curve, and a Renyi curve whose order is chosen
at the end prove of each *fixed* sequence of prices that it keeps the budget, each by a test of its own: another event,
another order.  An adversary who has seen the first answers picks the sequence that hurts most given these answers, and
the mean of the largest exceeds the largest mean.  The tests refute such accounts with at most six coins.  They can
price a batch declared in advance, which is then bought as one atom.

References.  Rogers, Roth, Ullman, Vadhan, NeurIPS 2016, on filters; Feldman and Zrnic, NeurIPS 2021, for Renyi;
Whitehouse, Ramdas, Rogers, Wu, ICML 2023, for approximate zCDP and for the rate of advanced composition; Canonne,
Kamath, Steinke, NeurIPS 2020, proposition 12, for c; Haney et al., CCS 2023, for sessions that interleave.
"""

from __future__ import annotations

import decimal
import math
import sys
from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ..exact import shortened, up
from .accountants import View
from .loss import Atom, Concentrated, Loss

Amount = Fraction | float


class Readable(Fraction):
    """An exact amount that is shown as a decimal: 0.9, and not Fraction(9, 10)."""

    def __repr__(self) -> str:
        return f"{float(self):.12g}"

    __str__ = __repr__

    def __format__(self, form: str) -> str:
        return format(float(self), form) if form else repr(self)


def _outward(amount: Amount) -> Amount:
    """The amount as a rational: subnormal floats count as the least normal float, and negative amounts as infinite."""
    if isinstance(amount, Fraction):
        return amount if amount >= 0 else math.inf
    return Fraction(max(amount, sys.float_info.min)) if amount < math.inf else math.inf


def ln(x: Fraction) -> tuple[Fraction, Fraction]:
    """ln x, from below and from above: `Decimal.ln` is correctly rounded."""
    with decimal.localcontext(decimal.Context(prec=60, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)):
        near = Fraction((Decimal(x.numerator) / Decimal(x.denominator)).ln())
    return near - Fraction(1, 10**45), near + Fraction(1, 10**45)


class Currency(View[Amount]):
    """A view in exact amounts whose running sum is a filter: only such views may admit a purchase."""

    nothing: Amount = Fraction(0)

    @abstractmethod
    def price(self, atom: Atom) -> Amount:
        """The amount of the atom, rounded up."""

    def of(self, atom: Atom) -> Amount:
        return _outward(self.price(atom))

    def both(self, a: Amount, b: Amount) -> Amount:
        return shortened(a + b) if isinstance(a, Fraction) and isinstance(b, Fraction) else a + b

    def times(self, n: int, a: Amount) -> Amount:
        return n * a if n > 0 else math.inf


class Epsilon(Currency):
    """Pure epsilon."""

    name, theorem = "epsilon", "epsilons add (Dwork et al. 2006)"

    def price(self, atom: Atom) -> Amount:
        return atom.pure()

    def proves(self, total: Amount, delta: float) -> float:
        return up(total) if isinstance(total, Fraction) else math.inf


class Rho(Currency):
    """Zero-concentrated loss, rho."""

    name, theorem = "rho", "rhos add (Whitehouse et al. 2023)"

    def price(self, atom: Atom) -> Amount:
        return atom.rho if isinstance(atom, Concentrated) else atom.concentrated()

    def proves(self, total: Amount, delta: float) -> float:
        return Loss({Concentrated(total): 1}).epsilon(Fraction(delta)) if isinstance(total, Fraction) else math.inf


@dataclass(frozen=True)
class RenyiAt(Currency):
    """Renyi divergence of one order, fixed on opening."""

    order: Fraction
    name, theorem = "Renyi divergence", "divergences of a fixed order add (Feldman and Zrnic 2021)"

    def price(self, atom: Atom) -> Amount:
        """The divergence, which grows with the order: the order is rounded up, and `lost` makes up for cancellation."""
        lost = Fraction(1, 1 << 44) * self.order / (self.order - 1)
        return min(self.order * Rho().of(atom), _outward(atom.renyi(up(self.order))) + lost)

    def room(self, delta: Fraction) -> Fraction:
        """ln(delta / c) / (order - 1), from below: a divergence of epsilon + room gives (epsilon, delta)."""
        a, b = self.order, self.order - 1
        return (ln(delta)[0] + a * ln(a)[0] - b * ln(b)[1]) / b

    def proves(self, total: Amount, delta: float) -> float:
        if not isinstance(total, Fraction) or not delta:
            return math.inf
        return max(0.0, up(total - self.room(Fraction(delta))))

    @classmethod
    def best(cls, epsilon: Fraction, delta: Fraction) -> RenyiAt:
        """The order with the most room for Gaussian noise, sought below the best order of the bound with c = 1."""
        e, nats = float(epsilon), max(float(-ln(delta)[0]), 1e-9)
        middle = math.sqrt(nats) * (math.sqrt(nats + e) + math.sqrt(nats)) / e

        def rho(b: float) -> float:
            return (e + math.log1p(b) + (math.log1p(b) - nats) / b - math.log(b)) / (1 + b)

        return cls(1 + Fraction(f"{max((middle * 2 ** (k / 16) for k in range(-640, 16)), key=rho):.4g}"))
