"""What versions before stored names wrote: read by upgrading it, and spelled again to find what was bought under it.

A ledger's losses were {"relation": name, "terms": [[n, {"atom": class, fields}]]}, numbers being texts.  Workloads and
models were {"of": "module.Class", "with": attributes}, each number and text in a {"value": }.  The state of a stream
was an object of its attributes.  `upgraded` turns all three into what `codec.write` would have written.

A purchase of workload answers was found by a digest of such a text.  `text` makes it, for ledgers that were opened
then; new ledgers never need it.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import Unreadable
from .registry import BY_NAME, BY_TYPE, NAME, StoredType

_FORMER = {  # the former name of each stored type that had one
    "Adaptive": "adaptive.Adaptive",
    "AveragedResiduals": "averaged.Averaged",
    "Bins": "bins.Bins",
    "CellModel": "cells.Cells",
    "ChowLiu": "chow_liu.ChowLiu",
    "CumulativeErrors": "rising.Sums",
    "Energy": "residuals.Energy",
    "ErrorBounds": "spread.Spread",
    "GraphicalModel": "graphical.Graphical",
    "Hierarchy": "hierarchy.Hierarchy",
    "HistogramNoise": "histogram.HistogramNoise",
    "Isotonic": "isotonic.Isotonic",
    "IsotonicModel": "isotonic.Risen",
    "JunctionTree": "junction.Junction",
    "LineModel": "line_model.Line",
    "LinearQuery": "multiplicative_weights.Question",
    "LocalReports": "local.Local",
    "LocalReportsModel": "local.Reported",
    "MWEM": "mwem.MWEM",
    "Marginal": "marginals.Marginal",
    "Marginals": "marginals.Marginals",
    "MatrixMechanism": "optimised.Optimised",
    "MatrixQueries": "matrix.Matrix",
    "MeasuredModel": "measured.Measured",
    "MonotoneModel": "rising.Rising",
    "MultiplicativeWeights": "multiplicative_weights.Weights",
    "NoisyMarginals": "noisy_marginals.NoisyMarginals",
    "OfflinePMW": "pmw_offline.OfflinePMW",
    "OnlineAnswer": "pmw.Answer",
    "OnlineMove": "pmw.Move",
    "OnlineState": "pmw.State",
    "Partition": "partition.Partition",
    "PerQuery": "per_query.PerQuery",
    "Predicates": "predicates.Predicates",
    "Price": "price.Price",
    "Pruned": "pruned.Pruned",
    "PrunedModel": "pruned.Leaved",
    "Ranges": "ranges.Ranges",
    "Residual": "residual.Residual",
    "Residuals": "residuals.Residuals",
    "SmallDB": "small_db.SmallDB",
    "Stack": "workload.Stack",
    "TableDomain": "linear.TableDomain",
    "Tree": "tree.Tree",
    "TreeModel": "line_model.TreeLine",
    "WorkloadDomain": "domain.Domain",
    "WorkloadRelease": "method.Released",
}
_STORED = {former: name for name, former in _FORMER.items()}
_RENAMED = {"_parts": "parts", "_rows": "rows", "_cells": "cells"}  # attributes that were private
_STATE = {  # the attributes that named a workload, where they were others than its stored fields
    "Marginal": ("axes", "domain", "queries"),
    "Marginals": ("_parts", "domain", "grid", "part_weights", "queries", "subsets"),
    "MatrixQueries": ("_rows", "domain", "given_weights", "grid", "queries"),
    "Predicates": ("domain", "factors", "given_weights", "grid", "queries"),
    "Ranges": ("axes", "domain", "given_weights", "high", "low", "queries"),
    "Stack": ("_parts", "domain", "grid", "part_weights", "queries"),
    "TableDomain": ("attributes", "keys", "relation"),
}
_MANY = 1 << 10  # integers of a tuple that were written as an array
_INTEGER = frozenset((int,))


def is_former(written: Any) -> bool:
    """Whether JSON is of a former spelling."""
    return (
        type(written) is dict
        and NAME not in written
        and ("terms" in written or not _READERS.keys().isdisjoint(written))
    )


def upgraded(written: Any) -> Any:
    """JSON of a former spelling in that of today."""
    try:
        return _loss(written) if "terms" in written else _upgraded(written)
    except Unreadable:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise Unreadable("the text of an earlier version cannot be read") from None


def _loss(written: Any) -> Any:
    relation = written["relation"]
    terms = [[_atom(atom), n] for n, atom in written["terms"]]
    return {NAME: "Loss", "terms": terms, "relation": None if relation is None else {NAME: relation}}


def _atom(written: Any) -> Any:
    """An atom, a loss, a number, or several of them, of a ledger."""
    match written:
        case int():
            return written
        case str() if "/" in written:
            return {"/": written}
        case str() if "p" in written or "inf" in written:
            return _number(float.fromhex(written))
        case str():
            return {"0x": f"{int(written, 0):x}"}
        case list():
            return list(map(_atom, written))
        case {"set": items}:
            return {NAME: "set", "items": list(map(_atom, items))}
        case {"terms": _}:
            return _loss(written)
    return {NAME: written["atom"], **{key: _atom(each) for key, each in written.items() if key != "atom"}}


def _number(written: Any) -> Any:
    """JSON in which numbers that are not finite stand as codec writes them."""
    match written:
        case float() if math.isinf(written):
            return {"float": "inf" if written > 0 else "-inf"}
        case list():
            return list(map(_number, written))
        case dict():
            return {key: _number(each) for key, each in written.items()}
    return written


def _upgraded(written: Any) -> Any:
    if type(written) is list:
        return list(map(_upgraded, written))
    (reader,) = (_READERS[key] for key in written if key in _READERS)
    return reader(written)


def _object(written: Any) -> Any:
    """A workload, a model, or a part of one: what is no stored field any more is left out, as it follows from those."""
    name = _STORED.get(written["of"])
    if name is None:
        raise Unreadable(f"no earlier version stored {str(written['of'])[:40]!r}")
    stored = {attribute: field for field, attribute in BY_NAME[name].attributes.items()}
    if "named" in written:
        pairs = list(zip(stored, written["named"], strict=False))
    else:
        pairs = [(_RENAMED.get(key, key), each) for key, each in written["with"].items()]
    return {NAME: name, **{stored[attribute]: _upgraded(each) for attribute, each in pairs if attribute in stored}}


def _tuple(written: Any) -> Any:
    items = written["tuple"]
    if type(items) is list:
        return list(map(_upgraded, items))
    integers = np.frombuffer(base64.b64decode(items["array"]), items["dtype"])
    if integers.dtype.kind not in "iu":
        raise Unreadable("the text of an earlier version cannot be read")
    return integers.tolist()


def _date(written: Any) -> Any:
    text = written["moment"]
    return {NAME: "timestamp" if "T" in text else "date", "text": text}


def _array(written: Any) -> Any:
    return {NAME: "array", "data": written["array"], "dtype": written["dtype"], "shape": written["shape"]}


def _scalar(written: Any) -> Any:
    """A number of NumPy, which is a number of Python today."""
    array = written["scalar"]
    (value,) = np.frombuffer(base64.b64decode(array["array"]), array["dtype"]).tolist()
    return _number(value)


def _sparse(written: Any) -> Any:
    parts = dict(zip(("data", "indices", "indptr"), map(_upgraded, written["sparse"]), strict=True))
    return {NAME: "sparse", **parts, "shape": written["shape"]}


def _range(written: Any) -> Any:
    return {NAME: "range", **dict(zip(("start", "stop", "step"), written["range"], strict=True))}


def _dict(written: Any) -> Any:
    return {NAME: "dict", "items": [[_upgraded(key), _upgraded(each)] for key, each in written["items"]]}


_READERS: dict[str, Callable[[Any], Any]] = {
    "of": _object,
    "value": lambda written: _number(written["value"]),
    "tuple": _tuple,
    "array": _array,
    "scalar": _scalar,
    "sparse": _sparse,
    "moment": _date,
    "range": _range,
    "items": _dict,
    "hits": lambda written: {NAME: "SparseState", **written},
}


def text(value: object) -> str:
    """The former canonical text of what named a purchase of workload answers, or a question to an online session."""
    return json.dumps(_spelled(value), sort_keys=True, separators=(",", ":"))


def _spelled(value: Any) -> Any:
    match value:
        case tuple():
            many = _integers(value)
            return {"tuple": list(map(_spelled, value)) if many is None else _spelled(many)}
        case list():
            return list(map(_spelled, value))
        case dict():
            return {"items": [[_spelled(key), _spelled(each)] for key, each in value.items()]}
        case range():
            return {"range": [value.start, value.stop, value.step]}
        case np.ndarray():
            flat = np.ascontiguousarray(value)
            return {"array": base64.b64encode(flat.tobytes()).decode(), "dtype": flat.dtype.str, "shape": value.shape}
    kind = BY_TYPE.get(type(value))
    if kind is not None and kind.name in _FORMER:
        return {"of": _FORMER[kind.name], "with": _state(kind, value)}
    if kind is not None and kind.name in ("date", "timestamp"):
        return {"moment": kind.members(value)["text"]}
    if kind is not None and kind.name == "sparse":
        parts = kind.members(value)
        return {"sparse": [_spelled(parts[name]) for name in ("data", "indices", "indptr")], "shape": parts["shape"]}
    from .codec import write  # which reads former spellings

    return {"value": write(value)}


def _state(kind: StoredType, value: Any) -> dict[str, Any]:
    names = _STATE.get(kind.name, tuple(kind.attributes.values()))
    attributes = {name: getattr(value, _RENAMED.get(name, name)) for name in names}
    return {name: _spelled(each) for name, each in attributes.items() if name != "given_weights" or each is not None}


def _integers(values: tuple[Any, ...]) -> NDArray[Any] | None:
    """Many whole numbers, in as few bytes each as hold them all; None if they are few, or not all that."""
    if len(values) < _MANY or not _INTEGER.issuperset(map(type, values)):
        return None
    of = np.result_type(*(np.min_scalar_type(end(values)) for end in (min, max)))
    return np.array(values, of) if of.kind in "iu" else None
