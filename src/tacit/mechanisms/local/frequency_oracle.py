r"""The best frequency oracle.

Definition.  Of randomized response, subset selection, unary encoding and Hadamard response, the one whose estimate of
a frequency that is 0 has the least variance; given a limit on the bits of a report, of those that keep within it.

Privacy.  That of the oracle chosen, which depends on public parameters only.  Projection is post-processing: free.

Utility.  Without a limit subset selection is never far from the best, and with sets of one category it is randomized
response.  Unary encoding has a variance that does not depend on k; Hadamard response has reports of log k bits.
Projecting the estimates x on the simplex, P(x) = (x - t)_+, never takes them farther in l2 from the truth p, which lies
in it.  The largest error e may grow, at most to 2 e: sum (x - e)_+ <= sum p = 1 <= sum (x + e)_+ puts t within e of 0.

References.  Wang, Blocki, Li, Jha, USENIX Security 2017; Ye and Barg, IEEE Trans. Inf. Theory 64 (2018); Held, Wolfe,
Crowder, Math. Programming 6 (1974), for the projection.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import BadParameter
from ...core.exact import Floats
from ...core.parameters import Number, reals, whole
from ._frequency import FrequencyOracle
from .hadamard_response import HadamardResponse
from .randomized_response import RandomizedResponse
from .subset_selection import SubsetSelection
from .unary_encoding import UnaryEncoding


def frequency_oracle(epsilon: Number, categories: int, bits: int | None = None) -> FrequencyOracle:
    """The oracle of least variance at frequency 0, if need be with reports of at most so many bits."""
    oracles: list[FrequencyOracle] = [
        RandomizedResponse(epsilon=epsilon, categories=categories),
        HadamardResponse(epsilon=epsilon, categories=categories),
        UnaryEncoding(epsilon=epsilon, categories=categories),
        SubsetSelection(epsilon=epsilon, categories=categories),
    ]
    room = oracles[-1].bits if bits is None else whole("bits", bits, at_least=oracles[0].bits)
    return min((oracle for oracle in oracles if oracle.bits <= room), key=_variance)


def _variance(oracle: FrequencyOracle) -> float:
    """The variance to twelve digits, so that of equal oracles the first listed is taken."""
    return float(f"{oracle.variance():.12g}")


def project_to_simplex(estimates: Any) -> Floats:
    """The nearest frequencies that are at least 0 and add up to 1: all less one number, or 0 if that is more."""
    v = reals("estimates", estimates)
    if v.ndim != 1 or not v.size:
        raise BadParameter("estimates", f"shape {v.shape}", "one finite number for each category")
    return nearest_shares(v)


def nearest_shares(v: Floats) -> Floats:
    """The nearest frequencies to each row, along the last axis."""
    v = v - v.max(axis=-1, keepdims=True)  # which moves nothing, and keeps the largest above the number, however large
    falling = np.sort(v)[..., ::-1]
    n = v.shape[-1]
    spare = (np.cumsum(falling, axis=-1) - 1) / np.arange(1, n + 1)  # the number, if only the first so many are above
    last = n - 1 - np.argmax((falling > spare)[..., ::-1], axis=-1, keepdims=True)
    nearest: Floats = np.maximum(v - np.take_along_axis(spare, last, axis=-1), 0)
    return nearest
