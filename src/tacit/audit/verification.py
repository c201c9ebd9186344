r"""Exact verification: the true epsilon(delta) between two inputs, from the mechanism's own law, beside its claim.

Sort outcomes by falling P(y)/Q(y), and let E_k be the first k.  Among events of any probability the likelihood ratio's
level sets are best (Neyman and Pearson), so

    delta(epsilon)  =  sum over y of (P(y) - e^epsilon Q(y))_+
    epsilon(delta)  =  max over k of ln((P(E_k) - delta) / Q(E_k)),  and at least 0.

Laws on infinitely many points are cut where no more than `TAIL` of the mass is left.  So the result may fall short of
the truth by as much in delta, and never exceeds it by more than rounding: for a Gaussian, whose epsilon at delta 0 is
infinite, the result at delta 0 is its epsilon at about 1e-15.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..core.accounting.loss import Loss
from ..core.distance import Distance
from ..core.errors import BadParameter
from ..core.exact import Floats
from ..core.law import MAX_COUNTED, Law, Product, outcomes
from ..core.mechanism import Mechanism
from ..core.parameters import Number, instance, rational, several, whole

Row = dict[str, Any]

TAIL = 1e-15
DELTAS = ("0", "1e-12", "1e-9", "1e-6", "1e-3", "1e-2", "0.1", "0.5")
ROUNDING = 1e-9  # relative, on masses that are good to 1e-14 and sums of them


class Divergence:
    """How far one law is from another, in one direction."""

    def __init__(self, p: Law, q: Law) -> None:
        if max(outcomes(law, TAIL) for law in (p, q)) > MAX_COUNTED:
            raise BadParameter(
                "law",
                "too many outcomes",
                f"one of at most {MAX_COUNTED} outcomes",
                says=f"The law of the mechanism has over {MAX_COUNTED} outcomes. Use a coarser grid or less noise.",
            )
        points = list(dict.fromkeys([*p.support(TAIL), *q.support(TAIL)]))
        masses = np.array([(p.mass(y), q.mass(y)) for y in points], np.float64).T
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(masses[0] > 0, np.log(masses[0]) - np.log(masses[1]), -np.inf)
        self._p, self._q = masses[:, np.argsort(-ratio, kind="stable")]

    @cached_property
    def _events(self) -> tuple[Floats, Floats]:
        return np.cumsum(self._p), np.cumsum(self._q)

    def epsilon(self, delta: float = 0.0) -> float:
        """The least epsilon >= 0 at which these laws are within delta."""
        p, q = self._events
        likely = p > delta
        if not likely.any():
            return 0.0
        with np.errstate(divide="ignore"):
            return max(0.0, float(np.max(np.log(p[likely] - delta) - np.log(q[likely]))))

    def delta(self, epsilon: float) -> float:
        """The hockey-stick divergence."""
        return math.fsum(np.maximum(0.0, self._p - math.exp(epsilon) * self._q).tolist())


@dataclass(frozen=True)
class Exact:
    """The divergence of the laws on two inputs, and the claim of the mechanism."""

    mechanism: Mechanism[Any, Any]
    claim: Loss
    forward: Divergence
    backward: Divergence

    def epsilon(self, delta: Number = 0) -> float:
        """The true epsilon at delta: the worse of the two directions."""
        return max(way.epsilon(float(rational("delta", delta))) for way in (self.forward, self.backward))

    def delta(self, epsilon: Number) -> float:
        """The true delta at epsilon."""
        return max(way.delta(float(rational("epsilon", epsilon))) for way in (self.forward, self.backward))

    def rows(self, deltas: Sequence[Number] = DELTAS) -> list[Row]:
        """A row for each delta: epsilon from x to y, from y to x, as claimed, and whether the claim holds."""
        rows = []
        for delta in several("deltas", deltas, rational):
            d, claimed = float(delta), self.claim.epsilon(delta)
            there, back = self.forward.epsilon(d), self.backward.epsilon(d)
            holds = max(there, back) <= claimed * (1 + ROUNDING) + ROUNDING
            rows.append({"delta": d, "x to y": there, "y to x": back, "claimed": claimed, "holds": holds})
        return rows

    @cached_property
    def holds(self) -> bool:
        """Whether the claim covers the laws, both ways, at each of `DELTAS`."""
        return all(row["holds"] for row in self.rows())

    def curve(self, points: int = 49) -> list[Row]:
        """Delta against epsilon, for a plot: true in each direction, and claimed."""
        tops = (self.epsilon(), self.claim.epsilon(), self.epsilon("1e-9"))
        top = next((1.05 * e for e in tops if 0 < e < math.inf), 1.0)
        rows = []
        for epsilon in np.linspace(0, top, whole("points", points, at_least=2)).tolist():
            deltas = {"claimed": self.claim.delta(epsilon)}
            deltas |= {"x to y": self.forward.delta(epsilon), "y to x": self.backward.delta(epsilon)}
            rows += [{"epsilon": epsilon, "delta": delta, "of": name} for name, delta in deltas.items()]
        return rows

    def __str__(self) -> str:
        lines = [f"{self.mechanism!r}: the claim {'holds' if self.holds else 'is FALSE'}"]
        lines.append(f"{'delta':>8}  {'x to y':>9}  {'y to x':>9}  {'claimed':>9}")
        for row in self.rows():
            numbers = "  ".join(f"{row[name]:9.6g}" for name in ("x to y", "y to x", "claimed"))
            lines.append(f"{row['delta']:8g}  {numbers}{'' if row['holds'] else '  FALSE'}")
        return "\n".join(lines)


def _form(law: Law) -> tuple[Any, ...] | None:
    """How the coordinates of an output are nested; None for an output without coordinates."""
    return tuple(map(_form, law.parts)) if isinstance(law, Product) else None


def exact(mechanism: Mechanism[Any, Any], x: Any, y: Any, distance: Number | Distance[Any] | None = None) -> Exact:
    """Check the claim for inputs `distance` apart, by default the sensitivity, against the laws on x and y."""
    p, q = instance("mechanism", mechanism, Mechanism).law(x), mechanism.law(y)
    if _form(p) != _form(q):
        raise BadParameter(
            "y",
            type(y).__name__,
            "of the same shape as x",
            says="x and y must have the same shape, because outputs of different shapes cannot be compared.",
        )
    return Exact(mechanism, mechanism.loss(distance), Divergence(p, q), Divergence(q, p))
