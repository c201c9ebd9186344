r"""One pair of laws that dominates several, in exact arithmetic.

The profile of a pair, H(a) = sum (p - a q)_+, is convex and piecewise linear in a = e^epsilon, with a kink at each
ratio p / q; H(0) = 1.  So is the largest of several profiles, whose kinks are those of the profiles and the places
where two of them cross.  A curve of this kind is the profile of a pair: Q gives each kink its change of slope, and P
that times the ratio (Doroshenko et al. 2022).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

from ..errors import BadParameter
from ..exact import TINY

MassPairs = Sequence[tuple[Fraction, Fraction]]  # of each outcome, under P and under Q
FloatTuple = tuple[float, ...]
_MAX_WORK = 1 << 22  # pairs times ratios


class _Profile:
    """A profile, by its ratios in increasing order and the masses above each."""

    def __init__(self, pair: MassPairs) -> None:
        self.infinite = sum((p for p, q in pair if not q), Fraction(0))
        merged: dict[Fraction, Fraction] = {}
        for p, q in pair:
            if p and q:
                merged[p / q] = merged.get(p / q, Fraction(0)) + q
        self.ratios = sorted(merged)
        weights = [merged[ratio] for ratio in self.ratios]
        self.key = (self.infinite, tuple(self.ratios), tuple(weights))
        self._q = [*reversed(list(accumulate(reversed(weights)))), Fraction(0)]
        above = [ratio * q for ratio, q in zip(self.ratios, weights, strict=True)]
        self._p = [*reversed(list(accumulate(reversed(above)))), Fraction(0)]

    def at(self, ratio: Fraction) -> tuple[Fraction, Fraction]:
        """The height of the profile at a ratio, and its slope to the right."""
        i = bisect_right(self.ratios, ratio)
        return self.infinite + self._p[i] - ratio * self._q[i], -self._q[i]


def envelope(pairs: Iterable[MassPairs], *, both_orders: bool) -> tuple[FloatTuple, FloatTuple]:
    """The masses of two laws that dominate each pair; with `both_orders` also each pair read backwards."""
    listed = [pair for one in pairs for pair in ((one, [(q, p) for p, q in one]) if both_orders else (one,))]
    profiles = list({profile.key: profile for profile in map(_Profile, listed)}.values())
    ratios = sorted({ratio for profile in profiles for ratio in profile.ratios})
    if len(ratios) * len(profiles) > _MAX_WORK:
        raise BadParameter(
            "pairs",
            f"{len(profiles)} pairs with {len(ratios)} ratios",
            "fewer",
            says=f"{len(profiles)} different pairs of laws with {len(ratios)} different ratios are too many to compare"
            " exactly. Use fewer tables or fewer outcomes.",
        )
    kinks = [*(kink for a, b in pairwise(ratios) for kink in (a, *_crossings(profiles, a, b))), *ratios[-1:]]
    heights = [max(profile.at(kink)[0] for profile in profiles) for kink in kinks]
    ends, tops = [Fraction(0), *kinks], [Fraction(1), *heights]
    slopes = [(b - a) / (y - x) for (x, y), (a, b) in zip(pairwise(ends), pairwise(tops), strict=True)]
    changes = [after - before for before, after in pairwise([*slopes, Fraction(0)])]
    infinite, vanishing = tops[-1], 1 + (slopes[0] if slopes else Fraction(0))
    points = [(kink * q, q) for kink, q in zip(kinks, changes, strict=True) if q]
    points += [(infinite, Fraction(0))] if infinite else []
    points += [(Fraction(0), vanishing)] if vanishing else []
    return tuple(_float(p) for p, _ in points), tuple(_float(q) for _, q in points)


def _float(mass: Fraction) -> float:
    """The nearest float; a positive mass stays positive."""
    return max(TINY, float(mass)) if mass else 0.0


def _crossings(profiles: Sequence[_Profile], start: Fraction, end: Fraction) -> Iterator[Fraction]:
    """Where the largest profile changes between two neighbouring kinks; there every profile is a line."""
    lines = [profile.at(start) for profile in profiles]
    height, slope = max(lines)
    while True:
        steeper = [(start + (height - h) / (s - slope), s, h) for h, s in lines if s > slope]
        at, _, _ = first = min(steeper, key=lambda line: (line[0], -line[1]), default=(end, slope, height))
        if at >= end:
            return
        if at > start:
            yield at
        _, slope, height = first
