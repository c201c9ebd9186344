"""Answers beside what they count, as a table of Arrow or a data frame."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ..core.errors import Missing
from .data import Floats
from .records import Arrow, counts
from .workload import Workload


class Labelled:
    """Has a workload, its answers, and what is known of their errors."""

    workload: Workload
    answers: Floats
    errors: Floats | None

    def to_arrow(self) -> Arrow:
        """An Arrow table: the query in words, its count, and within what of it the truth is, where that is known."""
        errors = np.full(self.workload.queries, np.inf) if self.errors is None else self.errors
        return counts(list(map(self.workload.label, range(self.workload.queries))), self.answers, errors)

    def to_pandas(self) -> Any:
        """The same as a data frame of pandas."""
        try:
            importlib.import_module("pandas")
        except ImportError:
            raise Missing("to_pandas needs pandas: pip install pandas; or use to_arrow") from None
        return self.to_arrow().to_pandas()
