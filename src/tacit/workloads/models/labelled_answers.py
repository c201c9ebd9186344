"""Answers beside what they count, as a table of Arrow or a data frame."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ...core.errors import Missing
from ...core.exact import ceiling
from ..queries.data import Floats
from ..queries.domain import counted
from ..queries.workload import Workload
from .records import Arrow, counts


class Labelled:
    """Has a workload, its answers, and what is known of their errors."""

    workload: Workload
    answers: Floats
    errors: Floats | None

    def _summary(self, by: str = "") -> str:
        """How many answers there are, and the least and the largest of their errors."""
        told = f"{counted(self.workload.queries, 'answer', 'answers')}{by}"
        if self.errors is None or not np.isfinite(self.errors).any():
            return told
        least, most = (float(ceiling(end(self.errors))) for end in (np.min, np.max))
        return f"{told}; errors within {least:g} to {most:g}"

    def to_arrow(self) -> Arrow:
        """An Arrow table: the query in words, its count, and within what of it the truth is, where that is known."""
        errors = np.full(self.workload.queries, np.inf) if self.errors is None else self.errors
        return counts(list(map(self.workload.label, range(self.workload.queries))), self.answers, errors)

    def to_pandas(self) -> Any:
        """The same as a data frame of pandas."""
        self._library("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """The same as a data frame of Polars."""
        return self._library("polars").from_arrow(self.to_arrow())

    def _library(self, name: str) -> Any:
        try:
            return importlib.import_module(name)
        except ImportError:
            raise Missing(
                f"to_{name} needs {name}, which is not installed. Run pip install {name}, or use to_arrow."
            ) from None
