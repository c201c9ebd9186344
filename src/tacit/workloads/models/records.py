"""Answers and synthetic rows as Arrow tables or data frames, with the values that a domain names."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ...core.errors import BadParameter, Missing
from ...core.exact import ceiling
from ...core.parameters import instance, whole
from ...core.randomness import Source
from ..queries.data import Floats, Integers
from ..queries.domain import Domain, Label, counted
from ..queries.workload import Workload
from .model import Model

if TYPE_CHECKING:
    import pyarrow as pa

Arrow: TypeAlias = "pa.Table"
_MAX_VALUES = 1 << 29


def records(domain: Domain, codes: Integers) -> Arrow:
    """Rows of codes as an Arrow table, a column for each attribute; values of mixed types become text."""
    import pyarrow as pa

    columns = [_labels(values).take(pa.array(own)) for (_, values), own in zip(domain.attributes, codes.T, strict=True)]
    return pa.table(columns, names=list(domain.names))


def counts(queries: list[str], answers: Floats, errors: Floats) -> Arrow:
    """An Arrow table with a row for each query; an unknown error is null."""
    import pyarrow as pa

    within = pa.array(errors, mask=~np.isfinite(errors))
    return pa.table({"query": pa.array(queries, pa.string()), "count": pa.array(answers), "within": within})


def drawn(model: Model, n: int, source: Source) -> Arrow:
    """Draw n synthetic rows from a model, if they fit in memory."""
    attributes = len(model.domain.names)
    if whole("n", n) * attributes > _MAX_VALUES:
        raise BadParameter("n", n, f"at most {_MAX_VALUES // attributes} rows of {attributes} attributes at once")
    return records(model.domain, model.synthetic(n, instance("source", source, Source)))


def _labels(values: Sequence[Label]) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError):
        return pa.array([str(value) for value in values])


class Labelled:
    """A workload with its answers and what is known of their errors."""

    workload: Workload
    answers: Floats
    errors: Floats | None

    def _summary(self, by: str = "") -> str:
        """The number of answers, and the smallest and largest of their error bounds."""
        size = f"{counted(self.workload.queries, 'answer', 'answers')}{by}"
        if self.errors is None or not np.isfinite(self.errors).any():
            return size
        smallest, largest = (float(ceiling(end(self.errors))) for end in (np.min, np.max))
        return f"{size}; errors within {smallest:g} to {largest:g}"

    def to_arrow(self) -> Arrow:
        """An Arrow table: each query in words, its count, and its error bound where one is known."""
        errors = np.full(self.workload.queries, np.inf) if self.errors is None else self.errors
        return counts(list(map(self.workload.label, range(self.workload.queries))), self.answers, errors)

    def to_pandas(self) -> Any:
        """A pandas data frame with the columns of `to_arrow`."""
        self._library("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A Polars data frame with the columns of `to_arrow`."""
        return self._library("polars").from_arrow(self.to_arrow())

    def _library(self, name: str) -> Any:
        try:
            return importlib.import_module(name)
        except ImportError:
            raise Missing(
                f"to_{name} needs {name}, which is not installed. Run pip install {name}, or use to_arrow."
            ) from None
