"""The answers of a workload as a ledger keeps them: the release of a method, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..query.python.table_domain import TableDomain
from ..workloads import Released, method
from .card import EACH, headed
from .provenance import Provenance


@dataclass(frozen=True, kw_only=True)
class Bought(Released):
    """Answers with their price and provenance; whatever is made of them, free, keeps both."""

    price: Fraction
    provenance: Provenance

    def card(self) -> dict[str, Any]:
        """The release card: what a reader must know to judge it."""
        domain = self.workload.domain
        assert isinstance(domain, TableDomain)
        errors = np.full(self.workload.queries, np.inf) if self.errors is None else self.errors
        known = errors[np.isfinite(errors)]
        return {
            **headed(self.provenance, self.loss, self.price, domain.relation),
            "mechanisms": [{"name": self.method, "theorem": method(self.method).theorem}],
            "accuracy": {
                "confidence": 1 - self.beta,
                "queries": self.workload.queries,
                "errors_known": known.size,
                "largest_error": float(known.max()) if known.size else None,
                "of": "rows",
                "holds": EACH,
                "covers": "noise; not sampling, nor the bounding of each unit's rows",
            },
            "notes": list(self.notes),
        }
