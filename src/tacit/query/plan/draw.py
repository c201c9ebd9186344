"""The draw: from exact integers to what may be released, once, by the mechanisms of an offer.

Nothing that comes out of here has a place for the truth: of keys that are chosen privately only those that were chosen
are left, in their order, and each measure is noisy integers, or the places of cells or labels that were chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BadData
from ...core.mechanism import Mechanism
from ...core.randomness import SYSTEM, Source
from ...mechanisms import Gaussian, KeySelection, Laplace, Quantiles, TopK
from .offer import Offer

_LARGEST = 1 << 60  # in magnitude, of the integers that noise is added to as 64 bits
_MOST_UNITS = 1 << 40  # no table has more


class ExactAnswer(Protocol):
    """The exact answer to a plan."""

    @property
    def cells(self) -> Sequence[NDArray[Any]]: ...
    @property
    def keys(self) -> Sequence[tuple[int | str, ...]] | None: ...
    @property
    def units(self) -> NDArray[Any] | None: ...


@dataclass(frozen=True)
class Drawn:
    """What was drawn in each step of the offer; of keys that are chosen privately those of each row, else None.

    `seeded` says that it was not drawn from the operating system's randomness, and protects no one.
    """

    keys: tuple[tuple[int | str, ...], ...] | None
    noisy: tuple[tuple[Any, ...], ...]
    seeded: bool


def draw(offer: Offer, answer: ExactAnswer, source: Source = SYSTEM) -> Drawn:
    """Draw every step of the offer."""
    arrays, mechanisms = list(answer.cells), [step.mechanism for step in offer.steps]
    if not offer.plan.chosen:
        return Drawn(None, _all(mechanisms, arrays, source), source.seeded)
    *measured, selection = mechanisms
    if answer.keys is None or answer.units is None or not isinstance(selection, KeySelection):
        raise BadData("answer", "one without them", "the keys that were found, and how many units have each")
    at, counts = selection.select(_cut(answer.units, 1), source)
    kept = tuple(answer.keys[i] for i in at)
    drawn = _all(measured, [array[at] for array in arrays], source)
    return Drawn(kept, (*drawn, tuple(counts.tolist())), source.seeded)


def _all(
    mechanisms: Sequence[Mechanism[Any, Any]], arrays: Sequence[NDArray[Any]], source: Source
) -> tuple[tuple[Any, ...], ...]:
    return tuple(noisy(m, array, source) for m, array in zip(mechanisms, arrays, strict=True))


def noisy(m: Mechanism[Any, Any], array: NDArray[Any], source: Source = SYSTEM) -> tuple[Any, ...]:
    """What one mechanism makes of the exact integers of all cells.

    It is total on all integers, and for quantiles on counts of at most 2^40 rows in a group: no table has more.
    """
    if isinstance(m, Quantiles | TopK):
        return tuple(m.sample_rows(_cut(array, 0), source))
    if isinstance(m, Laplace | Gaussian) and m.sensitivity.linf * _MOST_UNITS > _LARGEST:  # a public fact
        return tuple(int(v) + int(m.draw(source, None)) for v in array.tolist())  # whole numbers of any size
    return tuple(np.asarray(m.sample(_cut(array, -_LARGEST), source)).tolist())


def _cut(array: NDArray[Any], least: int) -> NDArray[np.int64]:
    """Integers of 64 bits: beyond 2^60, where there are none of so few units, they are cut, and none moves farther."""
    return np.asarray(np.clip(array, least, _LARGEST), np.int64)
