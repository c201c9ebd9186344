"""Each theorem as a function, with the continuous law it is stated for."""

from tacit.theory import (
    gaussian,
    laplace,
    randomized_response,
    selection,
    sparse_vector,
    worked_examples,
    zcdp,
)

__all__ = [
    "gaussian",
    "laplace",
    "randomized_response",
    "selection",
    "sparse_vector",
    "worked_examples",
    "zcdp",
]
