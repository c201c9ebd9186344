"""tacit: a curator for sensitive tables.

A release is a draw from a law; its distance from the neighbouring law is a loss; the loss was paid before the draw.
"""

from .core.distance import ADD_REMOVE, SUBSTITUTE, Distance, norms
from .core.errors import BadData, BadParameter, Exhausted, MixedRelations, TacitError
from .core.loss import Loss
from .mechanisms import (
    AboveThreshold,
    Exponential,
    Gaussian,
    GaussianSparse,
    HadamardResponse,
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

__all__ = [
    "ADD_REMOVE",
    "SUBSTITUTE",
    "AboveThreshold",
    "BadData",
    "BadParameter",
    "Distance",
    "Exhausted",
    "Exponential",
    "Gaussian",
    "GaussianSparse",
    "HadamardResponse",
    "Laplace",
    "Loss",
    "MixedRelations",
    "NoisyMax",
    "NumericSparse",
    "PermuteAndFlip",
    "PostedPrice",
    "Quantiles",
    "RandomizedResponse",
    "Sparse",
    "SubsetSelection",
    "TacitError",
    "TopK",
    "UnaryEncoding",
    "frequency_oracle",
    "norms",
    "posted_price",
    "project_to_simplex",
]
