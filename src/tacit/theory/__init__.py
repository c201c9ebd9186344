"""Textbook theorems as functions, for the continuous laws for which they are stated."""

from . import (
    concentration,
    gaussian,
    laplace,
    linear_queries,
    martingale,
    noise_laws,
    notes,
    randomized_response,
    scores,
    selection,
    side_information,
    sparse_vector,
    worked_examples,
)

__all__ = [
    "concentration",
    "gaussian",
    "laplace",
    "linear_queries",
    "martingale",
    "noise_laws",
    "notes",
    "randomized_response",
    "scores",
    "selection",
    "side_information",
    "sparse_vector",
    "worked_examples",
]
