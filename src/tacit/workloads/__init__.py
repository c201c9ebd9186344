"""Linear queries: domain, workload, planner, and one file for each way to answer them."""

from .data import Data, Histogram, Rows
from .domain import Domain
from .marginals import Marginals, marginals
from .matrix import from_matrix
from .method import Answered, Method, Prediction, Released
from .methods import METHODS
from .model import Model
from .planner import Plan, method, plan
from .predicates import predicates
from .price import Price
from .ranges import prefixes, ranges
from .workload import Stack, Workload

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
