"""Rows of codes as a table of Arrow, with the values that a domain names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from .data import Integers
from .domain import Domain, Label

if TYPE_CHECKING:
    import pyarrow as pa

Arrow: TypeAlias = "pa.Table"


def records(domain: Domain, codes: Integers) -> Arrow:
    """A column for each attribute; values of several types are written as text."""
    import pyarrow as pa

    columns = [_labels(values).take(pa.array(own)) for (_, values), own in zip(domain.attributes, codes.T, strict=True)]
    return pa.table(columns, names=list(domain.names))


def _labels(values: Sequence[Label]) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError):
        return pa.array([str(value) for value in values])
