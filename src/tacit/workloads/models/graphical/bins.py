"""Bins of neighbouring values: rare values are counted together, and separated again by their shares.

Noise on a table grows with its cells, so a table is measured no finer than its counts are worth.  A common value keeps
a bin of its own, whatever its place, so this suits values in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....storage import stored
from ...queries.data import Floats, Integers


@stored("Bins", ("starts", "size"))
@dataclass(frozen=True, eq=False)
class Bins:
    """Bins of `size` places in a row: where each begins."""

    starts: Integers
    size: int

    def __len__(self) -> int:
        return self.starts.size

    @property
    def lengths(self) -> Integers:
        return np.diff(self.starts, append=self.size)

    @classmethod
    def each(cls, size: int) -> Bins:
        """A bin for each place."""
        return cls(np.arange(size), size)

    @classmethod
    def of(cls, masses: Floats, least: float) -> Bins:
        """Bins of neighbours that have at least the mass `least` together.

        A place with that mass is a bin by itself, unless the places left before it are too light to be a bin.
        """
        starts, mass = [0], 0.0
        for place, own in enumerate(masses.tolist()):
            if place and (mass >= least or (own >= least and 3 * mass >= least)):
                starts.append(place)
                mass = 0.0
            mass += own
        if len(starts) > 1 and 3 * mass < least:
            starts.pop()
        return cls(np.array(starts), len(masses))


def coarse(table: NDArray[Any], bins: Sequence[Bins]) -> NDArray[Any]:
    """The sums over the bins of each axis."""
    for axis, each in enumerate(bins):
        if len(each) < each.size:
            table = np.add.reduceat(table, each.starts, axis=axis)
    return table


def fine(table: Floats, bins: Sequence[Bins]) -> Floats:
    """Each bin's number at every place of it: the transpose of `coarse`."""
    for axis, each in enumerate(bins):
        if len(each) < each.size:
            table = np.repeat(table, each.lengths, axis=axis)
    return table
