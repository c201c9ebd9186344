"""Frequency oracles whose report says of each category whether it speaks for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import BadParameter
from .._grid import as_array
from ._frequency import Counts, FrequencyOracle


class MaskOracle(FrequencyOracle):
    """A report is an array of k booleans; n of them are an n by k array."""

    @property
    def bits(self) -> int:
        return self.categories

    def count(self, reports: Any) -> tuple[Counts, int]:
        masks = as_array("reports", reports)
        if masks.dtype != bool or masks.shape[-1:] != (self.categories,):
            given = f"shape {masks.shape}, dtype {masks.dtype}"
            raise BadParameter("reports", given, f"rows of {self.categories} booleans")
        rows = masks.reshape(-1, self.categories)
        return np.count_nonzero(rows, axis=0), rows.shape[0]
