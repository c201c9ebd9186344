"""Which cases of a test run by default, and which with `make slow`."""

from collections.abc import Iterable
from typing import Any

import pytest


def quick(cases: Iterable[Any], most: int) -> list[Any]:
    """The cases of a test, of which all but the first `most` are slow."""
    return [case if i < most else pytest.param(case, marks=pytest.mark.slow) for i, case in enumerate(cases)]
