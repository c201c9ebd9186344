"""Each theorem as a function, with the continuous law it is stated for."""

from . import (
    concentration,
    gaussian,
    laplace,
    randomized_response,
    selection,
    sparse_vector,
    worked_examples,
)

__all__ = [
    "concentration",
    "gaussian",
    "laplace",
    "randomized_response",
    "selection",
    "sparse_vector",
    "worked_examples",
]
