r"""Events that distinguish two inputs, learned from samples.

The best event at any size is a level set of the likelihood ratio.  The ratio is unknown, so several scores are fitted
that may grow with it, and each is cut at the threshold that proves most:

    value        the number itself, and its distance from the middle: best for one number and noise with one hump
    outcomes     the ratio of counts, for outputs that repeat: best for finite sets
    classifier   logistic regression on the coordinates of a vector (Bichsel et al., DP-Sniper, 2021)
    bits         logistic regression on the 64 bits of each float, and the place of its lowest bit that is set: float
                 noise leaves marks there that no other score sees (Mironov 2012; Haney et al. 2022)

To see past those marks, numbers can be rounded to 2^-20 of their spread before they are scored.  Rounding is
post-processing, and the spread is that of the first halves, so a bound on rounded outputs is a bound for the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadParameter
from ..core.exact import Floats

Array = NDArray[Any]

_FIT_SAMPLES = 5_000  # of each input that a regression is fitted to
_BLOCK = 50  # rows multiplied at a time: so few that no threads are started, which on a busy machine wait long
_CHUNK = 1 << 15  # samples whose bits are spelled out at a time
_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio, which spreads bits well
_BIT_COORDINATES = 4  # of a vector, whose bits are spelled out
_COARSE = 2.0**-20  # of the spread of each coordinate, to which numbers are rounded where last bits are left out


@dataclass(frozen=True)
class Outputs:
    """Outputs on one input: as numbers, a row for each run, if all are numeric; and as codes of distinct outputs."""

    numbers: Floats | None
    codes: NDArray[np.int64]

    def __getitem__(self, part: slice) -> Outputs:
        return Outputs(None if self.numbers is None else self.numbers[part], self.codes[part])


@dataclass(frozen=True)
class Score:
    """A number for each output, thought to grow or fall with the likelihood ratio."""

    name: str
    of: Callable[[Outputs], Floats]


def read(
    first: Sequence[Any] | Array, second: Sequence[Any] | Array, *, last_bits: bool = True
) -> tuple[Outputs, Outputs]:
    """The outputs on two inputs in one coding, chosen by the first halves: the second halves will test events."""
    n, numbers = len(first), _numbers(first, second)
    if numbers is not None and not last_bits:
        numbers = _rounded(numbers, np.concatenate([numbers[: n // 2], numbers[n : n + n // 2]]))
    codes = _named([*first, *second]) if numbers is None else _codes(numbers)
    parts = [Outputs(None if numbers is None else numbers[at], codes[at]) for at in (slice(n), slice(n, None))]
    return parts[0], parts[1]


def _numbers(first: Sequence[Any] | Array, second: Sequence[Any] | Array) -> Floats | None:
    """A row of numbers for each output, or None if the first halves are not numeric; later outputs become NaN."""
    with suppress(ValueError, TypeError, OverflowError):
        return _rows(first, second)
    half = len(first) // 2
    try:
        width = _rows(first[:half], second[:half]).shape[1]
    except (ValueError, TypeError, OverflowError):
        return None
    numbers = np.full((2 * len(first), width), np.nan)
    for i, output in enumerate([*first, *second]):
        with suppress(ValueError, TypeError, OverflowError):
            numbers[i] = _rows([output])
    return numbers


def _rows(*parts: Sequence[Any] | Array) -> Floats:
    return np.concatenate([np.asarray(part, np.float64).reshape(len(part), -1) for part in parts])


def _rounded(numbers: Floats, seen: Floats) -> Floats:
    """Each coordinate rounded to a multiple of 2^-20 of its spread, the median distance from the median, in `seen`."""
    finite = np.where(np.isfinite(seen), seen, 0.0)
    spread = np.median(np.abs(finite - np.median(finite, axis=0)), axis=0)
    step = np.where(spread > 0, spread * _COARSE, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        coarse = np.rint(numbers / step)
    return np.where((spread > 0) & np.isfinite(coarse), coarse * step, numbers) + 0.0  # no negative zero


def _named(outputs: Sequence[Any]) -> NDArray[np.int64]:
    """Codes of outputs that are not numbers, in order of appearance."""
    codes: dict[Any, int] = {}
    keys = ((y.shape, y.tobytes()) if isinstance(y, np.ndarray) else y for y in outputs)
    try:
        return np.array([codes.setdefault(key, len(codes)) for key in keys], np.int64)
    except TypeError:
        raise BadParameter(
            "run",
            "outputs of other kinds",
            "one that gives numbers, vectors or hashables",
            says="The outputs of run must be numbers, vectors of one length, or hashable values.",
        ) from None


def _codes(numbers: Floats) -> NDArray[np.int64]:
    """Equal codes for equal rows, by a hash; a collision makes an event less sharp, and no less sound."""
    mixed = np.zeros(len(numbers), np.uint64)
    for column in numbers.T:
        mixed = (mixed ^ np.ascontiguousarray(column).view(np.uint64)) * _ODD
        mixed ^= mixed >> np.uint64(29)
    codes: NDArray[np.int64] = np.unique(mixed, return_inverse=True)[1]
    return codes


def scores(x: Outputs, y: Outputs, *, last_bits: bool = True) -> list[Score]:
    """Every score that suits these outputs, fitted to them."""
    fitted = []
    distinct = len(np.unique(np.concatenate([x.codes, y.codes])))
    if 4 * distinct <= len(x.codes):
        fitted.append(_outcomes(x, y))
    if x.numbers is None or y.numbers is None:
        return fitted or [_outcomes(x, y)]
    pooled = np.nan_to_num(np.concatenate([x.numbers, y.numbers]), posinf=0.0, neginf=0.0)
    if pooled.shape[1] == 1:
        middle = float(np.median(pooled))
        fitted.append(Score("value", lambda o: _column(o, 0)))
        fitted.append(Score(f"distance from {middle:.6g}", lambda o: np.abs(_column(o, 0) - middle)))
    else:
        fitted.append(_regression("classifier", _coordinates(pooled), x, y))
    if last_bits and not (pooled == np.rint(pooled)).all():
        fitted += [_lowest_bit(i) for i in range(pooled.shape[1])]
        fitted.append(_regression("bits", _bits, x, y))
    return fitted


def _column(o: Outputs, i: int) -> Floats:
    assert o.numbers is not None
    return np.nan_to_num(o.numbers[:, i], nan=-np.inf, posinf=np.inf, neginf=-np.inf)


def _lowest_bit(i: int) -> Score:
    return Score(f"lowest bit of number {i}", lambda o: _lowest(_column(o, i)))


def _outcomes(x: Outputs, y: Outputs) -> Score:
    """ln of the ratio of counts, each with half a count more; 0 for outputs that were not seen."""
    size = int(max(x.codes.max(), y.codes.max())) + 1
    seen_x, seen_y = (np.bincount(o.codes, minlength=size) for o in (x, y))
    ratios = np.append(np.log((seen_x + 0.5) / (seen_y + 0.5)), 0.0)
    return Score("ratio of outcomes", lambda o: ratios[np.minimum(o.codes, size)])


def _coordinates(pooled: Floats) -> Callable[[Outputs], Floats]:
    """Features: each coordinate less its median, plain and squashed, since heavy tails have a bounded ratio."""
    middle = np.median(pooled, axis=0)
    scale = np.median(np.abs(pooled - middle), axis=0)
    scale[scale == 0] = 1.0

    def features(o: Outputs) -> Floats:
        assert o.numbers is not None
        z = np.clip((np.nan_to_num(o.numbers) - middle) / scale, -1e3, 1e3)
        return np.hstack([z, z / (1 + np.abs(z))])

    return features


def _bits(o: Outputs) -> Floats:
    assert o.numbers is not None
    values = np.ascontiguousarray(o.numbers[:, :_BIT_COORDINATES])
    bits = np.unpackbits(values.view(np.uint8), axis=1, bitorder="little")
    return np.hstack([bits, *(_lowest(column)[:, None] / 64 for column in values.T)])


def _lowest(values: Floats) -> Floats:
    """The exponent of the lowest bit that is set: y is an odd multiple of two to this power; 1024 for 0."""
    finite = np.where(np.isfinite(values), values, 0.0)
    mantissa, exponent = np.frexp(finite)
    steps = np.abs(mantissa * 2.0**53).astype(np.int64)
    _, place = np.frexp((steps & -steps).astype(np.float64))
    return np.where(steps > 0, exponent - 54.0 + place, 1024.0)


def _regression(name: str, features: Callable[[Outputs], Floats], x: Outputs, y: Outputs) -> Score:
    """Logistic regression by Newton's method, with a small ridge for what separates perfectly."""
    design = np.vstack([features(o[:_FIT_SAMPLES]) for o in (x, y)])
    design = np.hstack([design, np.ones((len(design), 1))])
    label = np.repeat([1.0, 0.0], [len(x[:_FIT_SAMPLES].codes), len(y[:_FIT_SAMPLES].codes)])
    blocks = [slice(i, i + _BLOCK) for i in range(0, len(design), _BLOCK)]
    weights = np.zeros(design.shape[1])
    for _ in range(6):
        chance = 1 / (1 + np.exp(-np.clip(_times(design, weights), -30, 30)))
        curved = design * (chance * (1 - chance))[:, None]
        curvature = sum((design[b].T @ curved[b] for b in blocks), np.eye(weights.size))
        weights += np.linalg.solve(curvature, np.einsum("ij,i->j", design, label - chance) - weights)

    def score(o: Outputs) -> Floats:
        parts = [_times(features(o[i : i + _CHUNK]), weights[:-1]) for i in range(0, len(o.codes), _CHUNK)]
        return np.concatenate(parts)

    return Score(name, score)


def _times(matrix: Floats, vector: Floats) -> Floats:
    """The product of a matrix and a vector, without the threads of a matrix library."""
    product: Floats = np.einsum("ij,j->i", matrix, vector)
    return product
