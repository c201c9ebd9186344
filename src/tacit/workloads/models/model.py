"""The interface of a model: estimated counts from which any linear query can be computed, free of charge."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from ...core import samplers
from ...core.errors import BadParameter
from ...core.parameters import whole
from ...core.randomness import Source
from ..queries.data import Floats, Integers
from ..queries.domain import CELLS, Axes, Domain
from ..queries.workload import Workload


class Model(ABC):
    """Estimated counts on a domain."""

    domain: Domain

    @abstractmethod
    def marginal(self, axes: Axes) -> Floats:
        """Estimated counts on these axes."""

    def error_bounds(self, workload: Workload, beta: float) -> Floats | None:
        """The error bound of each answer, which holds with probability 1 - beta each; None where nothing is known."""
        return None

    @property
    def total(self) -> float:
        """The estimated number of records."""
        return float(self.marginal(()))

    def nonnegative(self) -> Model:
        """The nearest model without negative counts: by default one histogram of all cells."""
        from .cell_model import Cells  # a subclass of this one

        return Cells(self.domain, _histogram(self)).nonnegative()

    def consistent(self, n: int, source: Source) -> Model:
        """A model without negative counts whose marginals all agree, of about n records."""
        return self.nonnegative()

    def synthetic(self, n: int, source: Source) -> Integers:
        """n rows of codes in proportion to the model's counts, without the negative ones, rounded at random."""
        whole("n", n)
        shares = np.maximum(_histogram(self.nonnegative()), 0).ravel()
        if not shares.sum():
            shares = np.ones_like(shares)
        counts = rounded(shares * (n / shares.sum()), n, source)
        cells = np.repeat(np.arange(counts.size), counts)[samplers.permutation(n, source)]  # in no order
        return np.stack(np.unravel_index(cells, self.domain.shape), axis=1)


def rounded(values: Floats, total: int, source: Source) -> Integers:
    """Whole numbers that add up to `total`, each one of the two next to its value, and unbiased.

    Systematic sampling: the fractional parts are laid end to end, and cut at a random place and every 1 after it.
    """
    floor = np.floor(values).astype(np.int64)
    ends = np.cumsum(values - floor)
    left = total - int(floor.sum())
    if ends.size and ends[-1] > 0:
        ends *= left / ends[-1]  # what rounding of the floats moved
    start = source.word() / 2.0**source.width
    cuts = np.concatenate([[math.ceil(-start)], np.ceil(ends - start)]).astype(np.int64)
    counts: Integers = floor + np.diff(cuts)
    return counts


def _histogram(model: Model) -> Floats:
    if model.domain.size > CELLS:
        raise BadParameter("the domain", model.domain.size, f"of at most {CELLS} cells to be laid out as a table")
    return model.marginal(model.domain.all)
