"""Copies of workloads, made by the constructors that check them.

Noise is scaled to what a workload says of one record (`row`).  A workload that is handed over may have arrays that were
written to since, or forged properties, so it is copied first: only the kinds that are defined here, with axes of the
domain, coefficients between 0 and 1, and nothing remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.errors import BadParameter
from .domain import Domain
from .marginals import Marginal, Marginals
from .matrix import Matrix
from .predicates import Predicates
from .ranges import Ranges
from .workload import Stack, Workload

# By exact type, and called on the class: neither a subclass nor an attribute of the instance can put in its own.
_COPIES: dict[type, Callable[[Any, Domain], Workload]] = {
    kind: kind.copied for kind in (Marginal, Marginals, Ranges, Predicates, Matrix)
}


def remade(workload: Workload, domain: Domain) -> Workload:
    """A checked copy of the queries, on a domain that equals theirs."""
    kind: type = type(workload)
    if kind is Stack:
        return Stack([remade(part, domain) for part in workload.parts], workload.part_weights)
    if (copied := _COPIES.get(kind)) is None:
        raise BadParameter("workload", kind.__name__, "linear queries, as workloads.marginals(domain, k=2)")
    return copied(workload, domain)
