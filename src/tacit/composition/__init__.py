"""The theorems of composition and conversion as functions of numbers; parallel composition as a function of losses.

Numbers may be int, float, Fraction, Decimal or decimal text, and are read exactly as written.  Every result is rounded
outward: no epsilon or delta is below the exact value of its formula, no permitted epsilon or rho above it.
"""

from .basic_and_advanced import (
    advanced,
    advanced_heterogeneous,
    basic,
    crossover,
    per_query_epsilon_classical,
    per_query_epsilon_lecture,
)
from .bounded_range import optimal_bounded_range
from .concentration import (
    azuma,
    azuma_intervals,
    azuma_inverse,
    bernstein_inverse,
    hoeffding,
    hoeffding_inverse,
    pinsker,
)
from .conversions import (
    mu_for,
    pure_to_renyi,
    pure_to_zcdp,
    renyi_to_epsilon,
    renyi_to_epsilon_classical,
    renyi_to_epsilon_optimal,
    rho_for,
    rho_for_classical,
    zcdp_to_epsilon,
    zcdp_to_epsilon_classical,
)
from .filters import rogers_filter, whitehouse_filter
from .groups import group, group_classical, group_gdp, group_renyi, group_zcdp
from .optimum import (
    optimal,
    optimal_delta,
    optimal_heterogeneous,
    optimal_heterogeneous_delta,
    per_query_epsilon,
)
from .parts import parallel

__all__ = [
    "advanced",
    "advanced_heterogeneous",
    "azuma",
    "azuma_intervals",
    "azuma_inverse",
    "basic",
    "bernstein_inverse",
    "crossover",
    "group",
    "group_classical",
    "group_gdp",
    "group_renyi",
    "group_zcdp",
    "hoeffding",
    "hoeffding_inverse",
    "mu_for",
    "optimal",
    "optimal_bounded_range",
    "optimal_delta",
    "optimal_heterogeneous",
    "optimal_heterogeneous_delta",
    "parallel",
    "per_query_epsilon",
    "per_query_epsilon_classical",
    "per_query_epsilon_lecture",
    "pinsker",
    "pure_to_renyi",
    "pure_to_zcdp",
    "renyi_to_epsilon",
    "renyi_to_epsilon_classical",
    "renyi_to_epsilon_optimal",
    "rho_for",
    "rho_for_classical",
    "rogers_filter",
    "whitehouse_filter",
    "zcdp_to_epsilon",
    "zcdp_to_epsilon_classical",
]
