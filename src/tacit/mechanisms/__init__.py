"""Every mechanism, one file each.  Adding one is a file here and a line in ALL."""

from .above_threshold import AboveThreshold
from .exponential import Exponential
from .frequency_oracle import frequency_oracle, project_to_simplex
from .gaussian import Gaussian
from .gaussian_sparse import GaussianSparse
from .hadamard_response import HadamardResponse
from .independent_quantiles import IndependentQuantiles
from .key_selection import KeySelection
from .laplace import Laplace
from .noisy_max import NoisyMax
from .noisy_max_with_gap import NoisyMaxWithGap
from .numeric_sparse import NumericSparse
from .permute_and_flip import PermuteAndFlip
from .prices import PostedPrice, posted_price
from .quantile import Quantiles
from .randomized_response import RandomizedResponse
from .restarted_sparse import RestartedSparse
from .sparse import Sparse
from .subset_selection import SubsetSelection
from .top_k import TopK
from .unary_encoding import UnaryEncoding

ALL = (
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
    TopK,
    UnaryEncoding,
)

__all__ = [
    "ALL",
    "AboveThreshold",
    "Exponential",
    "Gaussian",
    "GaussianSparse",
    "HadamardResponse",
    "IndependentQuantiles",
    "KeySelection",
    "Laplace",
    "NoisyMax",
    "NoisyMaxWithGap",
    "NumericSparse",
    "PermuteAndFlip",
    "PostedPrice",
    "Quantiles",
    "RandomizedResponse",
    "RestartedSparse",
    "Sparse",
    "SubsetSelection",
    "TopK",
    "UnaryEncoding",
    "frequency_oracle",
    "posted_price",
    "project_to_simplex",
]
