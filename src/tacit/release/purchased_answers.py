"""Purchased answers of a workload: the release of a method, with its price and provenance."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..query.python.table_domain import TableDomain
from ..workloads import Released, method
from .card import EACH, heading
from .provenance import Provenance


@dataclass(frozen=True, kw_only=True)
class Bought(Released):
    """The answers of a workload with their price and provenance, which post-processing keeps."""

    price: Fraction
    provenance: Provenance

    def card(self) -> dict[str, Any]:
        """The release card: all that a reader needs to judge the answers."""
        domain = self.workload.domain
        assert isinstance(domain, TableDomain)
        errors = np.full(self.workload.queries, np.inf) if self.errors is None else self.errors
        bounded = errors[np.isfinite(errors)]
        return {
            **heading(self.provenance, self.loss, self.price, domain.relation),
            "mechanisms": [{"name": self.method, "theorem": method(self.method).theorem}],
            "accuracy": {
                "confidence": 1 - self.beta,
                "queries": self.workload.queries,
                "errors_known": bounded.size,
                "largest_error": float(bounded.max()) if bounded.size else None,
                "of": "rows",
                "holds": EACH,
                "covers": "the noise; not sampling or the bounding of each unit's rows",
            },
            "notes": list(self.notes),
        }
