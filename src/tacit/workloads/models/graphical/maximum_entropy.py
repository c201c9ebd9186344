r"""The distribution nearest to a product that explains noisy tables.

Given noisy sums y_m = C_m x + noise of variance v_m of the counts x = N p, p minimises
    N KL(p || q) + sum_m |N C_m p - y_m|^2 / (2 r v_m),
where q is a product of one-way shares and r a small number, so that p follows the tables, and q where they say
nothing.  Then p is proportional to q exp(sum_m C_m' t_m), where t minimises the dual, smooth and convex:
    N log Z(t) - sum_m t_m . y_m + r v_m |t_m|^2 / 2,      with gradient  N C_m p - y_m + r v_m t_m.
p is exact by the junction tree of the tables' axes, and t is found by a quasi-Newton method.

References.  McKenna, Sheldon, Miklau, ICML 2019, for estimation on junction trees; Altun and Smola, COLT 2006, for the
duality of noisy tables and penalties; Liu and Nocedal, Math. Program. 45 (1989).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from ...queries.data import Floats
from ...queries.domain import Axes
from .bins import Bins, coarse, fine
from .junction_tree import Junction, summed

_R = 0.01
_MIN_VARIANCE = 1e-4  # at which whole numbers are as good as known: t is at most |y - N C p| / (r v)
_MEMORY = 20  # pairs of gradients that the quasi-Newton method keeps
_MAX_T = 1e100


@dataclass(frozen=True, eq=False)
class Measurement:
    """Noisy sums over bins of a table on these axes, with the variance of each."""

    axes: Axes
    bins: tuple[Bins, ...]
    values: Floats
    variances: Floats


def fit(
    shares: Sequence[Floats], measurements: Sequence[Measurement], total: float, start: Floats, steps: int
) -> tuple[Junction, list[Floats], Floats]:
    """The tree, the marginals of its cliques, and t; `start` is the t of the first of the measurements."""
    shape = [len(share) for share in shares]
    tree = Junction.of({m.axes for m in measurements}, shape)
    base: dict[Axes, Floats] = {(axis,): np.log(share) for axis, share in enumerate(shares)}
    y = np.concatenate([m.values.ravel() for m in measurements])
    v = _R * np.maximum(np.concatenate([m.variances.ravel() for m in measurements]), _MIN_VARIANCE)
    scale = 1 / np.sqrt(v + np.maximum(y, 1))  # the diagonal of the Hessian is about N C p + r v
    ends = np.cumsum([m.values.size for m in measurements])[:-1]

    def calibrated(t: Floats) -> tuple[list[Floats], float]:
        potentials = dict(base)
        for m, own in zip(measurements, np.split(t, ends), strict=True):
            tilt = fine(own.reshape(m.values.shape), m.bins)
            potentials[m.axes] = potentials[m.axes] + tilt if m.axes in potentials else tilt
        return tree.calibrate(potentials)

    def dual(scaled: Floats) -> tuple[float, Floats]:
        t = scaled * scale
        beliefs, log_z = calibrated(t)
        tables = {m.axes: tree.marginal(beliefs, m.axes) for m in measurements}
        sums = np.concatenate([coarse(tables[m.axes], m.bins).ravel() for m in measurements])
        return total * log_z - t @ y + v @ (t * t) / 2, (total * sums - y + v * t) * scale

    begin = np.concatenate([start, np.zeros(y.size - start.size)])
    solution = minimize(dual, begin / scale, jac=True, method="L-BFGS-B", options={"maxiter": steps, "maxcor": _MEMORY})
    t = solution.x * scale
    if not (np.abs(t) < _MAX_T).all():  # or not a number: the fit never fails, as its data are noise
        t = begin
    beliefs, _ = calibrated(t)
    return tree, beliefs, t


def product(shares: Sequence[Floats]) -> tuple[Junction, list[Floats]]:
    """The product of the shares: a tree of single axes, and its marginals."""
    tree = Junction.of([], [len(share) for share in shares])
    return tree, [shares[clique[0]] / summed(shares[clique[0]], clique, ()) for clique in tree.cliques]
