"""A copy of a question, in plain values of known types: only the copy is used.

An object may carry more than its fields: a subclass may compute its own price, a cached property may have been set by
hand, and its maker may change a part after it was checked.  A copy has none of that.  Each field must hold exactly the
declared type, so numbers are whole where they are declared so, and never NaN, a float or a subclass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from ...core.errors import BadQuestion
from ..relation import relation
from ..select import outputs, query
from ..values import nodes
from ..values.domain import ValueDomain

Part = TypeVar("Part")
Match = Callable[[Any], bool]

PLAIN = frozenset((int, str, bool, NoneType))  # immutable, and not copied
ABSTRACT = (nodes.Expression, relation.Relation, outputs.Output)
NODES = frozenset(
    (
        ValueDomain,
        query.Key,
        query.Aggregate,
        query.Query,
        query.Selection,
        *(
            kind
            for module in (nodes, outputs, relation)
            for kind in vars(module).values()
            if isinstance(kind, type) and issubclass(kind, ABSTRACT) and kind not in ABSTRACT
        ),
    )
)


def remade(value: Part, tables: Iterable[relation.Scan] = ()) -> Part:
    """A copy of a question in known types throughout, or BadQuestion.

    A question that was stored knows the columns of its tables by their digests; those of `tables` are put in their
    place.
    """
    try:
        copy: Part = _Copier(tables).copy(value)
        return copy
    except RecursionError:
        raise BadQuestion("The question is nested too deeply.") from None


class _Copier:
    def __init__(self, tables: Iterable[relation.Scan]) -> None:
        self._own = {scan.table: scan for scan in tables}
        self.copies: dict[int, tuple[Any, Any]] = {}  # originals with copies; the original stays alive, so ids differ

    def copy(self, value: Any) -> Any:
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is Fraction:
            return _fraction(value)
        if kind is tuple:
            return value if PLAIN.issuperset(map(type, value)) else tuple(map(self.copy, value))
        if kind not in NODES:
            raise BadQuestion(f"The type {kind.__name__[:40]} cannot be part of a question.")
        if id(value) not in self.copies:
            self.copies[id(value)] = value, self._node(value)
        return self.copies[id(value)][1]

    def _node(self, value: Any) -> Any:
        kind: type = type(value)
        given, copied = vars(value), dict[str, Any]()
        for name, fits in _fields(kind):
            if name not in given:
                raise BadQuestion(f"A {kind.__name__} in this question has no {name}.")
            copied[name] = self.copy(given[name])
            if not fits(copied[name]):
                raise BadQuestion(f"The {name} of a {kind.__name__} in this question has the wrong type.")
        made = kind(**copied)
        if kind is relation.Scan and not made.known and made == self._own.get(made.table):
            return self._own[made.table]
        return made


def _fraction(value: Fraction) -> Fraction:
    """A copy in lowest terms: the parts of a Fraction can be written to."""
    if not type(value.numerator) is type(value.denominator) is int or not value.denominator:
        raise BadQuestion("A Fraction in this question is not a quotient of whole numbers.")
    return Fraction(value.numerator, value.denominator)


@cache
def _fields(kind: type) -> tuple[tuple[str, Match], ...]:
    """The fields that make a node, and whether a value is what the declaration of each says."""
    hints = get_type_hints(kind)
    return tuple((field.name, _match(hints[field.name])) for field in fields(kind) if field.init)


def _match(declared: Any) -> Match:
    """A test of whether a copied value has a declared type."""
    origin, inner = get_origin(declared), get_args(declared)
    if origin in (Union, UnionType):
        options = [_match(option) for option in inner]
        return lambda value: any(option(value) for option in options)
    if origin is Literal:
        return lambda value: type(value) is str and value in inner
    if origin is tuple and inner[-1] is ...:
        each, plain = _match(inner[0]), frozenset(_plain(inner[0]))
        return lambda value: type(value) is tuple and (plain.issuperset(map(type, value)) or all(map(each, value)))
    if origin is tuple:
        parts = [_match(part) for part in inner]
        return lambda value: (
            type(value) is tuple and len(value) == len(parts) and all(p(v) for p, v in zip(parts, value, strict=True))
        )
    if declared in ABSTRACT:
        return lambda value: isinstance(value, declared)  # its exact type was checked when it was copied
    return lambda value: type(value) is declared


def _plain(declared: Any) -> list[type]:
    """The plain options of a declared type: long tuples of these are checked by their types alone."""
    options = get_args(declared) if get_origin(declared) in (Union, UnionType) else (declared,)
    return [option for option in options if option in PLAIN]
