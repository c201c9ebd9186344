"""Every public function refuses every bad parameter, by its name; no function is left out."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import astuple, is_dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any, get_type_hints

import numpy as np
import pytest

from tacit import theory
from tacit.core.distance import ADD_REMOVE
from tacit.core.errors import BadData, BadParameter, TacitError
from tacit.testing.sources import Seeded
from tacit.theory import randomized_response, sparse_vector

MODULES: list[ModuleType] = [getattr(theory, name) for name in theory.__all__]

NOT_NUMBERS: list[Any] = [math.nan, math.inf, -math.inf, "one", None, 1j, True, [1.0], 10**400]
POSITIVE = [*NOT_NUMBERS, 0, 0.0, -1.0]
PROBABILITY = [*POSITIVE, 1, 1.0, 1.5]
COUNT = [*NOT_NUMBERS, 0, -1, 1.5, 2.0, Fraction(1, 2)]
VECTOR = [None, 1.0, "12", [], [math.nan], [1.0, math.inf], ["1"], [None], {1.0, 2.0}, [[1.0]], {"a": None}]
WORD = ["uniform", "", None, 1]

# What a parameter may be, by its name, and what it may not: one good value, and the bad ones.
DOMAINS: dict[str, tuple[Any, list[Any]]] = {
    "epsilon": (0.5, POSITIVE),
    "epsilon0": (0.7, POSITIVE),
    "sensitivity": (1.5, POSITIVE),
    "scale": (2.0, POSITIVE),
    "sigma": (2.0, POSITIVE),
    "sigma_threshold": (2.0, POSITIVE),
    "sigma_query": (4.0, POSITIVE),
    "mu": (0.5, POSITIVE),
    "rho": (0.1, POSITIVE),
    "alpha": (0.1, POSITIVE),
    "order": (2.0, [*POSITIVE, 1.0, 0.5]),
    "x": (-1.0, NOT_NUMBERS),
    "threshold": (-1.0, NOT_NUMBERS),
    "reported": (0.25, NOT_NUMBERS),
    "t": (1.0, [*NOT_NUMBERS, -1.0]),
    "gap": (1.0, [*NOT_NUMBERS, -1.0]),
    "price": (1.0, [*NOT_NUMBERS, -1.0]),
    "frequency": (0.5, [*NOT_NUMBERS, -0.1, 1.1]),
    "p": (0.75, PROBABILITY),
    "beta": (0.05, PROBABILITY),
    "delta": (1e-6, PROBABILITY),
    "queries": (3, COUNT),
    "terms": (3, COUNT),
    "cells": (3, COUNT),
    "n": (30, COUNT),
    "bits": (3, COUNT),
    "tops": (3, COUNT),
    "candidates": (3, COUNT),
    "optimal": (2, COUNT),
    "ones": (2, [value for value in COUNT if value != 0 or value is False]),
    "categories": (8, COUNT),
    "hashes": (3, [value for value in COUNT if value is not None]),
    "size": (2, [value for value in COUNT if value is not None]),
    "scores": ([1.0, 2.0, 0.5], VECTOR),
    "neighbour": ([1.0, 2.5, 0.5], VECTOR),
    "probabilities": ([0.5, 0.25, 0.25], [*VECTOR, [-1.0, 1.0, 1.0]]),
    "valuations": ([1.0, 2.0], [*VECTOR, [-1.0]]),
    "prices": ([1.0, 2.0], [*VECTOR, [1.0], [-1.0, 1.0]]),
    "votes": ([3, 2, 1], [*VECTOR, [-1]]),
    "counts": ({"a": 3, "b": 1}, [*VECTOR, {"a": -1}]),
    "noise": ("laplace", WORD),
    "pair": ("coin", WORD),
    "k": (3, COUNT),
    "samples": (50, COUNT),
    "walks": (4, COUNT),
    "lecture": ("ucsb-3", WORD),
    "law": ("gaussian", WORD),
    "deviation": (2.0, POSITIVE),
    "prior": (0.25, PROBABILITY),
    "rare": (0.1, PROBABILITY),
    "common": (0.5, PROBABILITY),
    "likely": (0.5, [*NOT_NUMBERS, -0.1, 1.1]),
    "unlikely": (0.25, [*NOT_NUMBERS, -0.1, 1.1]),
    "outcomes": ([0, 1], [None, 1.0, "01", []]),
    "universe": ([0, 1], [None, 1.0, "01", []]),
    "relation": (ADD_REMOVE, [None, 1.0, "ADD_REMOVE"]),
    "score": (lambda table, outcome: table.count(outcome), [None, 1.0, "count", int]),
    "choose": (lambda past: 0.5, [None, 1.0, "0.5", int]),
    "weights": ([[0.0, 1.0], [0.5, 0.5]], [None, 1.0, "01", [], [[]], [[0.5, 1.5]], [[-0.5]], [[math.nan]], [None]]),
}
# Where a name means something else.
SPECIAL: dict[tuple[str, str], tuple[Any, list[Any]]] = {
    ("laplace.profile", "epsilon"): (0.5, [*NOT_NUMBERS, -1.0]),
    ("gaussian.profile", "epsilon"): (0.5, [*NOT_NUMBERS, -1.0]),
    ("gaussian.tail_delta", "epsilon"): (0.5, [*NOT_NUMBERS, -1.0]),
    ("selection.top_k", "order"): ([1, 0], [None, 1, [], [0, 0], [3], [-1], [0.5], [math.nan], [True], "01"]),
    ("sparse_vector.above_threshold", "queries"): ([1.0, 2.0], VECTOR),
    ("sparse_vector.worst_loss", "queries"): ([1.0, 2.0], VECTOR),
    ("concentration.losses", "size"): (2, COUNT),
    ("scores.score_sensitivity", "size"): (2, COUNT),
    ("side_information.posterior_bounds", "size"): (2, COUNT),
    ("linear_queries.weights_total", "delta"): (1e-6, [*NOT_NUMBERS, -1e-9, 1.0, 2.0]),
    ("linear_queries.weights_alpha", "delta"): (1e-6, [*NOT_NUMBERS, -1e-9, 1.0, 2.0]),
    ("Oracle.error", "categories"): (8, COUNT),
    ("Oracle.sample_size", "categories"): (8, COUNT),
    **{  # of which only the logarithm enters
        (f"selection.{name}", "candidates"): (3, [value for value in COUNT if value != 10**400])
        for name in ("utility_bound", "expected_gap_bound")
    },
    **{
        (f"sparse_vector.{name}", "delta"): (1e-6, [*NOT_NUMBERS, -1e-9, 1.0, 2.0])
        for name in (
            "sparse_scales",
            "sparse_error",
            "numeric_sparse_split",
            "numeric_sparse_scales",
            "numeric_sparse_error",
        )
    },
}
GIVEN: dict[str, Callable[[], Any]] = {
    "scales": lambda: sparse_vector.Scales(2.0, 4.0),
    "monotone": lambda: False,
    "approval": lambda: False,
    "source": lambda: Seeded(1),
}


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for module in MODULES:
        short = module.__name__.rsplit(".", 1)[1]
        for name, thing in vars(module).items():
            if inspect.isfunction(thing) and thing.__module__ == module.__name__ and not name.startswith("_"):
                yield f"{short}.{name}", thing
    oracle = randomized_response.unary(1.0)
    for name in ("variance", "error", "sample_size"):
        yield f"Oracle.{name}", getattr(oracle, name)
    yield "Scales.variance", sparse_vector.Scales(1.0, 2.0).variance


FUNCTIONS = dict(functions())


def domain(name: str, parameter: str) -> tuple[Any, list[Any]]:
    return SPECIAL.get((name, parameter)) or DOMAINS[parameter]


def parameters(name: str) -> list[str]:
    return list(inspect.signature(FUNCTIONS[name]).parameters)


def good(name: str) -> dict[str, Any]:
    return {p: GIVEN[p]() if p in GIVEN else domain(name, p)[0] for p in parameters(name)}


CASES = [(name, p) for name in FUNCTIONS for p in parameters(name) if p not in GIVEN]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_good_parameters_are_taken(name: str) -> None:
    FUNCTIONS[name](**good(name))


@pytest.mark.parametrize(("name", "parameter"), CASES, ids=map("-".join, CASES))
def test_bad_parameters_are_refused(name: str, parameter: str) -> None:
    for value in domain(name, parameter)[1]:
        with pytest.raises(TacitError) as caught:
            FUNCTIONS[name](**good(name) | {parameter: value})
        assert isinstance(caught.value, BadParameter | BadData)
        assert caught.value.name == parameter


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_is_typed_and_says_what_it_computes(name: str) -> None:
    function = FUNCTIONS[name]
    assert set(get_type_hints(function)) == {*parameters(name), "return"}
    assert function.__doc__


def leaves(result: Any) -> list[Any]:
    if is_dataclass(result) and not isinstance(result, type):
        return leaves(astuple(result))
    if isinstance(result, dict):
        return leaves([*result.values()])
    if isinstance(result, tuple | list | np.ndarray):
        return [x for part in result for x in leaves(part)]
    return [result]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_of_numpy_are_numbers(name: str) -> None:
    kinds: dict[type, Callable[[Any], Any]] = {float: np.float64, int: np.int64, list: np.array}
    given = {p: kinds[type(v)](v) if type(v) in kinds else v for p, v in good(name).items()}
    assert leaves(FUNCTIONS[name](**given)) == leaves(FUNCTIONS[name](**good(name)))


def test_private_values_are_not_shown() -> None:
    with pytest.raises(BadData) as caught:
        theory.selection.noisy_max([123456.0, math.nan], 1.0)
    assert "123456" not in str(caught.value)


def test_the_parts() -> None:
    for name, module in zip(sorted(theory.__all__), MODULES, strict=True):
        assert module.__name__ == f"tacit.theory.{name}"
        assert module.__doc__


@pytest.mark.parametrize("name", [name for name, p in CASES if p in ("epsilon", "beta", "delta", "scale", "mu")])
def test_numbers_may_be_given_as_text(name: str) -> None:
    """As everywhere: 0.5 and "0.5" are the same number."""
    as_text = {p: str(value) if isinstance(value, float) else value for p, value in good(name).items()}
    assert str(FUNCTIONS[name](**as_text)) == str(FUNCTIONS[name](**good(name)))
