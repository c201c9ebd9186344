"""tacit: a curator for sensitive tables.

A release is a draw from a law; its distance from the neighbouring law is a loss; the loss was paid before the draw.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .calibrate import Calibrated, Target, calibrate
from .core.budget import Budget
from .core.distance import ADD_REMOVE, SUBSTITUTE, Distance, norms
from .core.errors import (
    BadData,
    BadParameter,
    BadQuestion,
    BadSchema,
    BudgetExceeded,
    EngineError,
    Exhausted,
    LedgerError,
    MixedRelations,
    Refused,
    TacitError,
)
from .core.loss import Loss
from .core.odometer import Odometer
from .mechanisms import (
    AboveThreshold,
    Exponential,
    Gaussian,
    GaussianSparse,
    HadamardResponse,
    IndependentQuantiles,
    KeySelection,
    Laplace,
    NoisyMax,
    NumericSparse,
    PermuteAndFlip,
    PostedPrice,
    Quantiles,
    RandomizedResponse,
    Sparse,
    SubsetSelection,
    TopK,
    UnaryEncoding,
    frequency_oracle,
    posted_price,
    project_to_simplex,
)
from .mix import mix
from .tables.aggregates import count, mean, median, mode, quantile, stddev, top, units, variance
from .tables.aggregates import max_ as max
from .tables.aggregates import min_ as min
from .tables.aggregates import sum_ as sum
from .tables.schema import Schema
from .tables.table import PublicTable, Table
from .tables.terms import case, greatest, least

if TYPE_CHECKING:
    from . import composition
    from .curator import Curator
    from .ledger import Ledger
    from .release import Release

# What takes long to import, or what a user of mechanisms never needs, is imported when it is first named.
_LATER = {"Curator": ".curator", "Ledger": ".ledger", "Release": ".release"}
_PARTS = ("audit", "composition", "holdout", "workloads")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return import_module(f".{name}", __name__)
    if name in _LATER:
        return getattr(import_module(_LATER[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "ADD_REMOVE",
    "SUBSTITUTE",
    "AboveThreshold",
    "BadData",
    "BadParameter",
    "BadQuestion",
    "BadSchema",
    "Budget",
    "BudgetExceeded",
    "Calibrated",
    "Curator",
    "Distance",
    "EngineError",
    "Exhausted",
    "Exponential",
    "Gaussian",
    "GaussianSparse",
    "HadamardResponse",
    "IndependentQuantiles",
    "KeySelection",
    "Laplace",
    "Ledger",
    "LedgerError",
    "Loss",
    "MixedRelations",
    "NoisyMax",
    "NumericSparse",
    "Odometer",
    "PermuteAndFlip",
    "PostedPrice",
    "PublicTable",
    "Quantiles",
    "RandomizedResponse",
    "Refused",
    "Release",
    "Schema",
    "Sparse",
    "SubsetSelection",
    "Table",
    "TacitError",
    "Target",
    "TopK",
    "UnaryEncoding",
    "calibrate",
    "case",
    "composition",
    "count",
    "frequency_oracle",
    "greatest",
    "least",
    "max",
    "mean",
    "median",
    "min",
    "mix",
    "mode",
    "norms",
    "posted_price",
    "project_to_simplex",
    "quantile",
    "stddev",
    "sum",
    "top",
    "units",
    "variance",
]
