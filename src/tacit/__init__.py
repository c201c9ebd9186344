"""tacit: a curator for sensitive tables.

A release is a draw from a law; its distance from the neighbouring law is a loss; the loss was paid before the draw.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .calibrate import Calibrated, Target, calibrate
from .core.accounting.budget import Budget
from .core.accounting.loss import Loss
from .core.accounting.odometer import Odometer
from .core.distance import ADD_REMOVE, SUBSTITUTE, Distance, norms
from .core.errors import (
    BadData,
    BadParameter,
    BadQuestion,
    BadSchema,
    BudgetExceeded,
    DrawFailed,
    EngineError,
    EngineUnavailable,
    Exhausted,
    LedgerConflict,
    LedgerCorrupt,
    LedgerError,
    LedgerMoved,
    LedgerUnavailable,
    Malformed,
    Missing,
    MixedRelations,
    NewerVersion,
    NoAllowance,
    Refused,
    TacitError,
)
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
    NoisyMaxWithGap,
    NumericSparse,
    PermuteAndFlip,
    PostedPrice,
    Quantiles,
    RandomizedResponse,
    RestartedSparse,
    Sparse,
    SubsetSelection,
    ToeplitzCount,
    TopK,
    TreeCount,
    UnaryEncoding,
    frequency_oracle,
    posted_price,
    project_to_simplex,
)
from .mix import mix
from .query.python.column_expressions import case, greatest, least
from .query.python.table import Table
from .query.schema.public_table import PublicTable
from .query.schema.schema import Schema
from .query.select.aggregates import (
    count,
    mean,
    median,
    mode,
    quantile,
    stddev,
    top,
    units,
    variance,
)
from .query.select.aggregates import max_ as max
from .query.select.aggregates import min_ as min
from .query.select.aggregates import sum_ as sum

if TYPE_CHECKING:
    from . import audit, composition, dbapi, holdout, laws, losses, plots, release, theory, workloads
    from .client import connect
    from .curator import Curator
    from .ledger import Ledger
    from .release import Release

# What takes long to import, or what a user of mechanisms never needs, is imported when it is first named.
_LATER = {
    "Curator": ".curator",
    "client": ".client",
    "connect": ".client",
    "Ledger": ".ledger",
    "Release": ".release",
    **{
        part: f".{part}"
        for part in (
            "audit",
            "composition",
            "dbapi",
            "holdout",
            "laws",
            "losses",
            "plots",
            "release",
            "theory",
            "workloads",
        )
    },
    "testing": ".testing",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version(__name__)
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_LATER[name], __name__)
    return module if _LATER[name] == f".{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__", *(name for name in globals() if name.startswith("__"))})


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
    "DrawFailed",
    "EngineError",
    "EngineUnavailable",
    "Exhausted",
    "Exponential",
    "Gaussian",
    "GaussianSparse",
    "HadamardResponse",
    "IndependentQuantiles",
    "KeySelection",
    "Laplace",
    "Ledger",
    "LedgerConflict",
    "LedgerCorrupt",
    "LedgerError",
    "LedgerMoved",
    "LedgerUnavailable",
    "Loss",
    "Malformed",
    "Missing",
    "MixedRelations",
    "NewerVersion",
    "NoAllowance",
    "NoisyMax",
    "NoisyMaxWithGap",
    "NumericSparse",
    "Odometer",
    "PermuteAndFlip",
    "PostedPrice",
    "PublicTable",
    "Quantiles",
    "RandomizedResponse",
    "Refused",
    "Release",
    "RestartedSparse",
    "Schema",
    "Sparse",
    "SubsetSelection",
    "Table",
    "TacitError",
    "Target",
    "ToeplitzCount",
    "TopK",
    "TreeCount",
    "UnaryEncoding",
    "audit",
    "calibrate",
    "case",
    "composition",
    "connect",
    "count",
    "dbapi",
    "frequency_oracle",
    "greatest",
    "holdout",
    "laws",
    "least",
    "losses",
    "max",
    "mean",
    "median",
    "min",
    "mix",
    "mode",
    "norms",
    "plots",
    "posted_price",
    "project_to_simplex",
    "quantile",
    "release",
    "stddev",
    "sum",
    "theory",
    "top",
    "units",
    "variance",
    "workloads",
]
