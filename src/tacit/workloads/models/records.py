"""Tables of Arrow: rows of codes, with the values that a domain names, and answers beside their queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...core.errors import BadParameter
from ...core.parameters import instance, whole
from ...core.randomness import Source
from ..queries.data import Floats, Integers
from ..queries.domain import Domain, Label
from .model import Model

if TYPE_CHECKING:
    import pyarrow as pa

Arrow: TypeAlias = "pa.Table"
_VALUES = 1 << 29


def records(domain: Domain, codes: Integers) -> Arrow:
    """A column for each attribute; values of several types are written as text."""
    import pyarrow as pa

    columns = [_labels(values).take(pa.array(own)) for (_, values), own in zip(domain.attributes, codes.T, strict=True)]
    return pa.table(columns, names=list(domain.names))


def counts(queries: list[str], answers: Floats, errors: Floats) -> Arrow:
    """A row for each query; an error that is not known is left out."""
    import pyarrow as pa

    within = pa.array(errors, mask=~np.isfinite(errors))
    return pa.table({"query": pa.array(queries, pa.string()), "count": pa.array(answers), "within": within})


def drawn(model: Model, n: int, source: Source) -> Arrow:
    """n rows that follow a model, if they fit in memory."""
    attributes = len(model.domain.names)
    if whole("n", n) * attributes > _VALUES:
        raise BadParameter("n", n, f"at most {_VALUES // attributes} rows of {attributes} attributes at once")
    return records(model.domain, model.synthetic(n, instance("source", source, Source)))


def _labels(values: Sequence[Label]) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError):
        return pa.array([str(value) for value in values])
