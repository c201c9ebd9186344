"""A workload made anew by the constructors that check it: arrays may have been written to since, and properties forged.

Noise is scaled to what a workload says of one record (`row`), so a workload that is handed over is copied first: only
the kinds that are defined here, with axes of the domain, coefficients between 0 and 1, and nothing remembered.
"""

from __future__ import annotations

import numpy as np

from ...core.errors import BadParameter
from .domain import Axes, Domain
from .marginals import Marginal, Marginals
from .matrix import Matrix, from_matrix
from .predicates import Predicates, predicates
from .ranges import Ranges
from .workload import Stack, Workload


def remade(workload: Workload, domain: Domain) -> Workload:
    """The same queries on the same domain, of which a copy is given."""
    kind: type = type(workload)
    if kind is Marginals and isinstance(workload, Marginals):
        return Marginals(domain, workload.subsets, workload.part_weights)
    if kind is Stack:
        return Stack([remade(part, domain) for part in workload.parts], workload.part_weights)
    match workload:
        case Marginal() if kind is Marginal:
            return Marginals(domain, [workload.axes]).parts[0]
        case Ranges() if kind is Ranges:
            low, high = (np.array(end, np.int64) for end in (workload.low, workload.high))
            return Ranges(domain, _axes(domain, workload.axes), low, high, workload.given_weights)
        case Predicates() if kind is Predicates:
            named = [{domain.names[axis]: np.array(v, float) for axis, v in f.items()} for f in workload.factors]
            return predicates(domain, named, workload.given_weights)
        case Matrix() if kind is Matrix:
            return from_matrix(domain, workload.matrix(), workload.given_weights)
    raise BadParameter("workload", kind.__name__, "linear queries, as workloads.marginals(domain, k=2)")


def _axes(domain: Domain, axes: Axes) -> Axes:
    return domain.axes([domain.names[axis] for axis in axes])
