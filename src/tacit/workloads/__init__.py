"""Linear queries: domain, workload, planner, and one file for each method that answers them."""

from .method import Answered, Method, Prediction, Released
from .models.model import Model
from .planner import Plan, method, plan
from .price import Price
from .queries.data import Data, Histogram, Rows
from .queries.domain import Domain
from .queries.marginals import Marginals, marginals
from .queries.matrix import from_matrix
from .queries.predicates import predicates
from .queries.ranges import prefixes, ranges
from .queries.workload import Stack, Workload
from .registry import METHODS

__all__ = [
    "METHODS",
    "Answered",
    "Data",
    "Domain",
    "Histogram",
    "Marginals",
    "Method",
    "Model",
    "Plan",
    "Prediction",
    "Price",
    "Released",
    "Rows",
    "Stack",
    "Workload",
    "from_matrix",
    "marginals",
    "method",
    "plan",
    "predicates",
    "prefixes",
    "ranges",
]
