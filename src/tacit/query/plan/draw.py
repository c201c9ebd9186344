"""The draw: from exact integers to a release, once, by the mechanisms of an offer.

The result has no field for exact values: of keys that are selected privately only the selected ones are left, in their
order, and each measure is noisy integers, or the indices of cells or labels that were chosen.
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

_MAX_ABS = 1 << 60  # of the integers to which noise is added in 64 bits
_MAX_UNITS = 1 << 40  # no table has more


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
    """The draws of each step of an offer, and the selected keys of each row, or None if the keys are public.

    `seeded` says that the draw did not use the operating system's randomness, and protects no one.
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
        raise BadData("answer", "one without keys", "an exact answer with the keys in the data and the units of each")
    at, counts = selection.select(_cut(answer.units, 1), source)
    selected = tuple(answer.keys[i] for i in at)
    drawn = _all(measured, [array[at] for array in arrays], source)
    return Drawn(selected, (*drawn, tuple(counts.tolist())), source.seeded)


def _all(
    mechanisms: Sequence[Mechanism[Any, Any]], arrays: Sequence[NDArray[Any]], source: Source
) -> tuple[tuple[Any, ...], ...]:
    return tuple(noisy(m, array, source) for m, array in zip(mechanisms, arrays, strict=True))


def noisy(m: Mechanism[Any, Any], array: NDArray[Any], source: Source = SYSTEM) -> tuple[Any, ...]:
    """The draws of one mechanism on the exact integers of all cells.

    Total on all integers, and for quantiles on counts of at most 2^40 rows in a group: no table has more.
    """
    if isinstance(m, Quantiles | TopK):
        return tuple(m.sample_rows(_cut(array, 0), source))
    if isinstance(m, Laplace | Gaussian) and m.sensitivity.linf * _MAX_UNITS > _MAX_ABS:  # a public fact
        return tuple(int(v) + int(m.draw(source, None)) for v in array.tolist())  # whole numbers of any size
    return tuple(np.asarray(m.sample(_cut(array, -_MAX_ABS), source)).tolist())


def _cut(array: NDArray[Any], least: int) -> NDArray[np.int64]:
    """The integers clipped to 2^60, beyond which no table reaches; clipping moves no two of them farther apart."""
    return np.asarray(np.clip(array, least, _MAX_ABS), np.int64)
