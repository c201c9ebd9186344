r"""How far a comparison with a noisy threshold can err.

Let the bar stand Z + m above the threshold, S(t) = P[Z_i >= t] and F(t) = P[Z_i < t].  Given Z, a value more than a
below the threshold is TOP with probability at most s = S(Z + m + a + 1), and one more than a above it is not with at
most f = F(Z + m - a - 1).  As long as nothing has gone wrong, all values that far above were TOP, so there were at most
`count`.  Over k values, even chosen by one who sees Z and all answers, nothing goes wrong with probability at least
    sum_z P[Z = z] min over h <= min(count, k) of (1 - s)^(k - h) (1 - f)^h,
which values that all lie below attain with h = 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.search import least_whole
from ._comparison_noise import Masses, Noise

_BLOCKS = 1 << 12  # groups of threshold noises; single ones for scales up to about 100
_CUT = 2.0**-40  # threshold noise that is left out, relative to beta, and counted as wrong


def error_in_steps(
    bar_noise: Noise,
    query_noise: Noise,
    *,
    shift: int,
    count: int,
    queries: int,
    beta: float,
    log_numbers_within: Callable[[int], float],
) -> int:
    """The least a, in steps, for which the theorem proves 1 - beta.  A group of noises counts as its worst."""
    low, high = bar_noise.reach(beta * _CUT)
    edges = low + np.arange(_BLOCKS + 1) * -(-(high - low + 1) // _BLOCKS)
    weights = bar_noise.at_least(edges[:-1]) - bar_noise.at_least(edges[1:])
    first, last, h = edges[:-1] + shift, edges[1:] - 1 + shift, min(count, queries)

    def good(a: int) -> bool:
        below = _log_not(query_noise.at_least(first + (a + 1)))
        above = _log_not(query_noise.below(last - (a + 1)))
        log_right = (queries - h) * below + h * np.minimum(below, above) + log_numbers_within(a)
        return float(np.sum(weights * -np.expm1(log_right))) + beta * _CUT <= beta

    return least_whole(good)


def _log_not(p: Masses) -> Masses:
    """ln(1 - p), as if p were at most 1 - 2^-53."""
    return np.asarray(np.log1p(-np.minimum(p, 1 - 2.0**-53)))
