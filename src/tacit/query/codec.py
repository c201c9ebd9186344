"""Frozen values as canonical JSON, exactly: what is read equals what was written, and equal values have one text.

    Fraction     {"/": "3/10"}          tuple     a list; of three or more integers in even steps {"..": [0, 99, 1]}
    a dataclass  {"is": its name, and each of its fields that is compared}

Only the kinds listed here are read, so a text can name nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, fields, is_dataclass
from fractions import Fraction
from functools import cache
from json.encoder import encode_basestring_ascii
from operator import eq
from types import ModuleType
from typing import Any

from .. import mechanisms
from ..core.accounting import atoms, grouped, loss, sampled
from ..core.accounting.loss import Loss
from ..core.distance import ADD_REMOVE, SUBSTITUTE, Distance, Neighbours
from ..core.errors import BadParameter
from .plan import estimators, plan
from .relation import relation
from .select import outputs, query
from .values import domain, nodes

_PLAIN = frozenset((int, str))  # of which lists may be long: they stay as they are
_INTEGER = frozenset((int,))
_MOST_EVEN = 1 << 24  # integers in even steps that one text may hold: no question has more
_KEPT = frozenset((domain.Domain, query.Key))  # long and often written: each keeps its text
_TEXT = "_canonical"
_dumps = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode
_RELATIONS: Mapping[str, Neighbours] = {repr(r): r for r in (ADD_REMOVE, SUBSTITUTE)}


def _kinds(*modules: ModuleType) -> Iterator[type]:
    for module in modules:
        for kind in vars(module).values():
            if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module.__name__:
                yield kind


KINDS: Mapping[str, type] = {
    kind.__name__: kind
    for kind in (
        *_kinds(atoms, grouped, loss, sampled, domain, nodes, outputs, plan, query, estimators, relation),
        loss.BoundedRange,
        Distance,
        mechanisms.Gaussian,
        mechanisms.HadamardResponse,
        mechanisms.IndependentQuantiles,
        mechanisms.KeySelection,
        mechanisms.Laplace,
        mechanisms.Quantiles,
        mechanisms.RandomizedResponse,
        mechanisms.SubsetSelection,
        mechanisms.TopK,
    )
}


def canonical(value: Any) -> str:
    """One text for one value: what `write` makes of it, with its keys in order."""
    kind: type = type(value)
    if kind is int:
        return str(value)
    if kind is str:
        return encode_basestring_ascii(value)
    if kind is tuple or kind is list:
        if not _INTEGER.issuperset(map(type, value)):
            return f"[{','.join(map(canonical, value))}]"
        even = _even(value)
        return f"[{','.join(map(str, value))}]" if even is None else f'{{"..":[{even[0]},{even[-1]},{even.step}]}}'
    if kind is Fraction:
        return f'{{"/":"{value.numerator}/{value.denominator}"}}'
    if kind is Loss or KINDS.get(kind.__name__) is not kind:
        return "null" if value is None else _dumps(write(value))
    known: str | None = vars(value).get(_TEXT)
    if known is None:
        members = [f"{key}{canonical(getattr(value, name)) if name else ''}" for key, name in _keys(kind)]
        known = f"{{{','.join(members)}}}"
        if kind in _KEPT:
            vars(value)[_TEXT] = known
    return known


def digest(value: object) -> str:
    """SHA-256 of the canonical text."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def write(value: object) -> Any:
    """A value as JSON."""
    match value:
        case None | bool() | int() | str() | float():
            return value
        case Fraction():
            return {"/": f"{value.numerator}/{value.denominator}"}
        case tuple() | list():
            even = _even(value) if _INTEGER.issuperset(map(type, value)) else None
            if even is not None:
                return {"..": [even[0], even[-1], even.step]}
            return [item if type(item) in _PLAIN else write(item) for item in value]
        case dict():
            return {"is": "dict", "items": [[write(k), write(v)] for k, v in value.items()]}
        case Neighbours():
            return {"is": repr(value)}
        case Loss():
            terms = sorted(([write(atom), n] for atom, n in value.terms.items()), key=json.dumps)
            return {"is": "Loss", "terms": terms, "relation": write(value.relation)}
    kind: type = type(value)
    if KINDS.get(kind.__name__) is not kind:
        raise BadParameter("value", kind.__name__, "a number, text, or one of the parts that questions are made of")
    return {"is": kind.__name__, **{f.name: write(getattr(value, f.name)) for f in _told(kind)}}


def read(written: Any) -> Any:
    """What `write` wrote."""
    if _evens(written) > _MOST_EVEN:
        raise BadParameter("text", "one that stands for very many numbers", "canonical JSON of a value")
    return _read(written)


def _evens(written: Any) -> int:
    """How many integers stand there by their ends: a short text may hold any number of them."""
    match written:
        case list():
            return sum(_evens(item) for item in written if type(item) not in _PLAIN)
        case {"..": [int(first), int(last), int(step)]} if step:
            return max(0, (last - first) // step + 1)
        case dict():
            return sum(map(_evens, written.values()))
    return 0


def _read(written: Any) -> Any:
    match written:
        case list():
            return tuple([item if type(item) in _PLAIN else _read(item) for item in written])
        case {"/": str(text)}:
            return Fraction(text)
        case {"..": [int(first), int(last), int(step)]} if step and last in range(first + 2 * step, last + step, step):
            return tuple(range(first, last + step, step))
        case {"is": "dict", "items": items}:
            return {_read(k): _read(v) for k, v in items}
        case {"is": "Loss", "terms": terms, "relation": under}:
            return Loss({_read(atom): n for atom, n in terms}, _read(under))
        case {"is": str(name)} if name in _RELATIONS:
            return _RELATIONS[name]
        case {"is": str(name), **told} if name in KINDS:
            return _made(KINDS[name], {str(key): _read(value) for key, value in told.items()})
        case dict():
            raise BadParameter("text", sorted(written)[:5], "canonical JSON of a value")
    return written


def _even(integers: Sequence[int]) -> range | None:
    """What they are, if they are three or more in even steps."""
    if len(integers) < 3 or integers[0] == integers[1]:
        return None
    step = integers[1] - integers[0]
    found = range(integers[0], integers[0] + step * len(integers), step)
    return found if integers[-1] == found[-1] and all(map(eq, integers, found)) else None


@cache
def _keys(kind: type) -> list[tuple[str, str]]:
    """The keys of a value of this kind, in order, as they are written, and the field that follows each but its name."""
    return sorted([(f'"is":"{kind.__name__}"', ""), *((f'"{f.name}":', f.name) for f in _told(kind))])


@cache
def _told(kind: type) -> list[Field[Any]]:
    """The fields that make a value: neither those with a fixed value, nor those that are not compared."""
    own_init = not kind.__dataclass_params__.init  # type: ignore[attr-defined]
    return [f for f in fields(kind) if f.compare and (f.init or own_init)]


def _made(kind: type, known: Mapping[str, Any]) -> Any:
    if known.keys() != {f.name for f in _told(kind)}:
        raise BadParameter("text", kind.__name__, "canonical JSON of a value, with all its fields")
    if kind.__dataclass_params__.init:  # type: ignore[attr-defined]
        return kind(**known)
    made: Any = object.__new__(kind)  # a mechanism, whose parameters are not its fields
    for name, value in known.items():
        object.__setattr__(made, name, value)
    return made
