"""The public surface raises tacit's own errors: for wrong kinds, empty or unequal inputs, and numbers beyond floats."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tacit
from tacit import audit, composition, workloads
from tacit.core.errors import TacitError

WRONG: list[Any] = [
    None, [], [1], [1, 2], [1, 2, 3], "x", "", {}, {"a": 1}, 0, -1, 1.5, math.nan, math.inf, 10**400, np.array([]),
    np.array([[1, 2], [3]], dtype=object), object(), True, (1, "a"), b"x", 1j, np.zeros((2, 2), int),
]  # fmt: skip
ABSTRACT = {"Data", "Method", "Model", "Workload"}  # which nobody makes
BY_HAND = {"Ledger", "estimate"}  # made by `Ledger.open`; takes minutes to draw
MECHANISMS: list[Any] = [
    tacit.Laplace(epsilon=1), tacit.Gaussian(rho=1), tacit.RandomizedResponse(epsilon=1),
    tacit.UnaryEncoding(epsilon=1, categories=3), tacit.HadamardResponse(epsilon=1, categories=3),
    tacit.SubsetSelection(epsilon=1, categories=4), tacit.Exponential(epsilon=1), tacit.NoisyMax(epsilon=1),
    tacit.NoisyMaxWithGap(epsilon=1), tacit.PermuteAndFlip(epsilon=1), tacit.TopK(k=2, epsilon=1),
    tacit.AboveThreshold(threshold=1, epsilon=1), tacit.Sparse(threshold=1, epsilon=1, count=2),
    tacit.NumericSparse(threshold=1, epsilon=1, count=2), tacit.KeySelection(epsilon=1, delta="1e-3"),
    tacit.Quantiles(epsilon=1, cells=4),
]  # fmt: skip
each_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)


def functions() -> list[Any]:
    found = []
    for module in (tacit, audit, composition, workloads):
        for name in module.__all__:
            f = getattr(module, name)
            error = isinstance(f, type) and issubclass(f, Exception)
            if callable(f) and not error and name not in ABSTRACT | BY_HAND:
                found.append(pytest.param(f, id=f"{module.__name__}.{name}"))
    return found


def refuses(call: Callable[[], Any]) -> None:
    """It may succeed; if it fails, it does so in tacit's own words."""
    with warnings.catch_warnings(), contextlib.suppress(TacitError):
        warnings.simplefilter("error")
        call()


@pytest.mark.parametrize("f", functions())
def test_functions_refuse_in_their_own_words(f: Any) -> None:
    some = random.Random(1)
    try:
        parameters = inspect.signature(f).parameters.values()
    except ValueError:  # a class of C
        return
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    asked = [p.name for p in named if p.default is p.empty] or [p.name for p in named[:2]]
    for _ in range(40):
        given = {name: some.choice(WRONG) for name in asked}
        refuses(lambda given=given: f(**given))  # type: ignore[misc]


METHODS = ("release", "law", "loss", "error", "classical_error", "estimate", "frequencies", "interval", "variance")


@each_mechanism
@pytest.mark.parametrize("name", [*METHODS, "answer", "count", "sample_size"])
def test_methods_of_mechanisms_refuse_in_their_own_words(mechanism: Any, name: str) -> None:
    some, method = random.Random(2), getattr(mechanism, name, None)
    if not callable(method):
        return
    parameters = inspect.signature(method).parameters.values()
    asked = max(1, sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters))
    for _ in range(40):
        given = [some.choice(WRONG) for _ in range(asked)]
        refuses(lambda given=given: method(*given))  # type: ignore[misc]


@each_mechanism
def test_audits_of_unequal_inputs_refuse_in_their_own_words(mechanism: Any) -> None:
    inputs = ([0, 1], [0], 0, [0, 1, 2], [], np.zeros((2, 2), int), (1,), {"a": 3}, {}, None, "x", [[1], [2]])
    for x, y in itertools.product(inputs, repeat=2):
        refuses(lambda x=x, y=y: audit.exact(mechanism, x, y).epsilon())  # type: ignore[misc]
