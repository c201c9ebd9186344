"""Released models as JSON: arrays, and the classes of `tacit.workloads`, exactly and by name.

What is read can name nothing but the kinds listed here, so a file cannot make a program run.  Other values go through
`query.codec`.  What a class computes once and keeps is left out.
"""

from __future__ import annotations

import base64
import datetime
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import numpy as np
from scipy import sparse

from .. import workloads
from ..core.errors import BadParameter
from ..query import codec
from ..query.python import table_domain
from ..workloads.methods.weights.pmw import Move, Moves

_STORED = {  # modules that have another name in what is stored
    "_breakpoints": "stretches",
    "_buckets": "buckets",
    "_measurement_search": "search",
    "_strategy": "strategy",
    "_tree_descent": "_descent",
    "cell_model": "cells",
    "copying": "remaking",
    "data_cube": "cube",
    "error_bounds": "spread",
    "graphical_model": "graphical",
    "junction_tree": "junction",
    "local_report_error": "reports",
    "local_reports": "local",
    "matrix_mechanism": "optimised",
    "measured_model": "measured",
    "model_growth": "growth",
    "monotone_model": "rising",
    "nonnegative_projection": "halves",
    "records": "labelled",
    "registry": "methods",
    "table_domain": "linear",
    "tree_design": "design",
    "weighted_points": "points",
}


def _kinds() -> Iterator[type]:
    modules = [import_module(m.name) for m in walk_packages(workloads.__path__, f"{workloads.__name__}.")]
    for module in (*modules, table_domain):
        for kind in vars(module).values():
            if isinstance(kind, type) and kind.__module__ == module.__name__:
                yield kind


def _name(kind: type) -> str:
    """Module and name: two modules may call different things alike."""
    module = kind.__module__.rpartition(".")[2]
    return f"{_STORED.get(module, module)}.{kind.__name__}"


KINDS = {_name(kind): kind for kind in _kinds()}
_NAMES = {kind: name for name, kind in KINDS.items()}
_LONG = 1 << 10  # integers that are written as an array: one by one they take a second for a million
_INTEGER = frozenset((int,))
_WRITTEN = "_written"  # of a move, which is written again with every state after it


def dumps(value: object) -> bytes:
    """One text for one value."""
    return json.dumps(write(value), sort_keys=True, separators=(",", ":")).encode()


def loads(text: bytes) -> Any:
    """The value that was written."""
    return read(json.loads(text))


def write(value: object) -> Any:  # noqa: PLR0912 - a case for each kind
    kind = type(value)
    if isinstance(value, Moves):
        return write(tuple(value))
    if kind is int:
        return {"value": value}
    if name := _NAMES.get(kind):
        if isinstance(value, tuple):
            return {"of": name, "named": [write(item) for item in value]}
        known = vars(value).get(_WRITTEN)
        if known is None:
            known = {"of": name, "with": {key: write(v) for key, v in _state(value).items()}}
            if kind is Move:
                vars(value)[_WRITTEN] = known
        return known
    match value:
        case np.ndarray():
            flat = np.ascontiguousarray(value)
            return {"array": base64.b64encode(flat.tobytes()).decode(), "dtype": flat.dtype.str, "shape": value.shape}
        case np.generic():
            return {"scalar": write(np.asarray(value))}
        case sparse.sparray():
            rows: Any = sparse.csr_array(value)  # type: ignore[call-overload]
            return {"sparse": [write(part) for part in (rows.data, rows.indices, rows.indptr)], "shape": rows.shape}
        case datetime.date():  # or a moment
            return {"moment": value.isoformat()}
        case range():
            return {"range": [value.start, value.stop, value.step]}
        case tuple():
            many = _integers(value)
            return {"tuple": [write(item) for item in value] if many is None else write(many)}
        case list():
            return [write(item) for item in value]
        case dict():
            return {"items": [[write(k), write(v)] for k, v in value.items()]}
    return {"value": codec.write(value)}


def _integers(values: tuple[Any, ...]) -> np.ndarray[Any, Any] | None:
    """Many whole numbers, in as few bytes each as hold them all; None if they are few, or not all that."""
    if len(values) < _LONG or not _INTEGER.issuperset(map(type, values)):
        return None
    kind = np.result_type(*(np.min_scalar_type(end(values)) for end in (min, max)))
    return np.array(values, kind) if kind.kind in "iu" else None


def _state(value: object) -> dict[str, Any]:
    """The attributes that make a value."""
    kind = type(value)
    if is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in fields(value)}
    return {k: v for k, v in vars(value).items() if not isinstance(getattr(kind, k, None), cached_property)}


def read(written: Any) -> Any:  # noqa: PLR0912
    match written:
        case list():
            return [read(item) for item in written]
        case {"array": str(text), "dtype": str(dtype), "shape": shape}:
            if np.dtype(dtype).hasobject:
                raise BadParameter("dtype", dtype, "one of numbers")
            return np.frombuffer(base64.b64decode(text), dtype).reshape(shape).copy()
        case {"scalar": array}:
            return read(array)[()]
        case {"sparse": parts, "shape": shape}:
            return sparse.csr_array(tuple(map(read, parts)), shape=tuple(shape))
        case {"moment": str(text)}:
            return (datetime.datetime if "T" in text else datetime.date).fromisoformat(text)
        case {"range": ends}:
            return range(*ends)
        case {"tuple": items}:
            return tuple(map(read, items) if isinstance(items, list) else read(items).tolist())
        case {"items": items}:
            return {read(k): read(v) for k, v in items}
        case {"of": str(name), "named": items} if issubclass(KINDS.get(name, object), tuple):
            return KINDS[name](*map(read, items))
        case {"of": str(name), "with": dict(kept)} if name in KINDS:
            made: Any = object.__new__(KINDS[name])
            for key, v in kept.items():
                object.__setattr__(made, key, read(v))
            return made
        case {"value": value}:
            return codec.read(value)
    raise BadParameter("text", type(written).__name__, "the JSON of a release")
