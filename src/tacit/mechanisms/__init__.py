"""Every mechanism, one file each.  Adding one is a file here and a line in ALL."""

from .additive.gaussian import Gaussian
from .additive.laplace import Laplace
from .continual.toeplitz_count import ToeplitzCount
from .continual.tree_count import TreeCount
from .local.frequency_oracle import frequency_oracle, project_to_simplex
from .local.hadamard_response import HadamardResponse
from .local.randomized_response import RandomizedResponse
from .local.subset_selection import SubsetSelection
from .local.unary_encoding import UnaryEncoding
from .selection.exponential import Exponential
from .selection.independent_quantiles import IndependentQuantiles
from .selection.key_selection import KeySelection
from .selection.noisy_max import NoisyMax
from .selection.noisy_max_with_gap import NoisyMaxWithGap
from .selection.permute_and_flip import PermuteAndFlip
from .selection.posted_price import PostedPrice, posted_price
from .selection.quantile import Quantiles
from .selection.top_k import TopK
from .sparse_vector.above_threshold import AboveThreshold
from .sparse_vector.gaussian_sparse import GaussianSparse
from .sparse_vector.numeric_sparse import NumericSparse
from .sparse_vector.restarted_sparse import RestartedSparse
from .sparse_vector.sparse import Sparse

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
    ToeplitzCount,
    TopK,
    TreeCount,
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
    "ToeplitzCount",
    "TopK",
    "TreeCount",
    "UnaryEncoding",
    "frequency_oracle",
    "posted_price",
    "project_to_simplex",
]
