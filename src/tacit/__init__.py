"""tacit: a curator for sensitive tables.

A release is a draw from a law; its distance from the neighbouring law is a loss; the loss was paid before the draw.
"""

from . import composition
from .calibrate import Calibrated, Target, calibrate
from .core.budget import Budget
from .core.distance import ADD_REMOVE, SUBSTITUTE, Distance, norms
from .core.errors import BadData, BadParameter, BudgetExceeded, Exhausted, MixedRelations, Refused, TacitError
from .core.loss import Loss
from .core.odometer import Odometer
from .mechanisms import (
    AboveThreshold,
    Exponential,
    Gaussian,
    GaussianSparse,
    HadamardResponse,
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

__all__ = [
    "ADD_REMOVE",
    "SUBSTITUTE",
    "AboveThreshold",
    "BadData",
    "BadParameter",
    "Budget",
    "BudgetExceeded",
    "Calibrated",
    "Distance",
    "Exhausted",
    "Exponential",
    "Gaussian",
    "GaussianSparse",
    "HadamardResponse",
    "KeySelection",
    "Laplace",
    "Loss",
    "MixedRelations",
    "NoisyMax",
    "NumericSparse",
    "Odometer",
    "PermuteAndFlip",
    "PostedPrice",
    "Quantiles",
    "RandomizedResponse",
    "Refused",
    "Sparse",
    "SubsetSelection",
    "TacitError",
    "Target",
    "TopK",
    "UnaryEncoding",
    "calibrate",
    "composition",
    "frequency_oracle",
    "mix",
    "norms",
    "posted_price",
    "project_to_simplex",
]
