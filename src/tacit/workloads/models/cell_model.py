"""A model that is one estimated count for each cell of the domain."""

from __future__ import annotations

from ...storage import stored
from ..price import Noise
from ..queries._layout import summed
from ..queries.data import Floats
from ..queries.domain import Axes, Domain
from ..queries.workload import Workload
from .error_bounds import Spread
from .model import Model
from .nonnegative_projection import nonnegative


@stored("CellModel", ("domain", "values", "noise"))
class Cells(Model):
    """A histogram; where each cell holds an independent `noise`, the error of every query is known."""

    def __init__(self, domain: Domain, values: Floats, noise: Noise | None = None) -> None:
        self.domain, self.noise = domain, noise
        self.values = values.reshape(domain.shape)

    def marginal(self, axes: Axes) -> Floats:
        return summed(self.values, axes)

    def error_bounds(self, workload: Workload, beta: float) -> Floats | None:
        if self.noise is None:
            return None
        return Spread.of(self.noise, workload.squares(), None if workload.grid == 1 else 1.0).bounds(beta)

    def nonnegative(self) -> Cells:
        """A nonnegative histogram with the same total, if that is positive."""
        return Cells(self.domain, nonnegative(self.values, float(self.values.sum())))
