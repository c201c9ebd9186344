"""A question made anew: what is handed over is copied into plain values of known types, and only the copy is used.

An object may carry more than its fields: a subclass that computes its own price, a remembered property that was put in
by hand, a part that its maker changes after it was looked at.  A copy has none of that.  Each field must hold exactly
what its declaration says, so numbers are whole where they are declared so, and never NaN, a float or a subclass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from ...core.errors import BadQuestion
from ..relation import relation
from ..select import outputs, query
from ..values import nodes
from ..values.domain import Domain

Made = TypeVar("Made")
Match = Callable[[Any], bool]

PLAIN = frozenset((int, str, bool, NoneType))  # of these there is nothing to copy
ABSTRACT = (nodes.Expression, relation.Relation, outputs.Output)
NODES = frozenset(
    (
        Domain,
        query.Key,
        query.Aggregate,
        query.Query,
        *(
            kind
            for module in (nodes, outputs, relation)
            for kind in vars(module).values()
            if isinstance(kind, type) and issubclass(kind, ABSTRACT) and kind not in ABSTRACT
        ),
    )
)


def remade(value: Made) -> Made:
    """A copy, of known types throughout, or BadQuestion."""
    try:
        made: Made = _Copier().copy(value)
        return made
    except RecursionError:
        raise BadQuestion("the question is nested too deeply") from None


class _Copier:
    def __init__(self) -> None:
        self.made: dict[int, tuple[Any, Any]] = {}  # what was copied, kept alive so that no other has its identity

    def copy(self, value: Any) -> Any:
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is Fraction:
            return _fraction(value)
        if kind is tuple:
            return value if PLAIN.issuperset(map(type, value)) else tuple(map(self.copy, value))
        if kind not in NODES:
            raise BadQuestion(f"a question is made of the parts that tacit makes; {kind.__name__[:40]} is none")
        if id(value) not in self.made:
            self.made[id(value)] = value, self._node(value)
        return self.made[id(value)][1]

    def _node(self, value: Any) -> Any:
        kind: type = type(value)
        given, told = vars(value), dict[str, Any]()
        for name, fits in _fields(kind):
            if name not in given:
                raise BadQuestion(f"a {kind.__name__} of this question has no {name}")
            told[name] = self.copy(given[name])
            if not fits(told[name]):
                raise BadQuestion(f"the {name} of a {kind.__name__} in this question is of another kind than it can be")
        return kind(**told)


def _fraction(value: Fraction) -> Fraction:
    """A copy in lowest terms: the parts of a Fraction can be written to."""
    if not type(value.numerator) is type(value.denominator) is int or not value.denominator:
        raise BadQuestion("a number of this question is no quotient of whole numbers")
    return Fraction(value.numerator, value.denominator)


@cache
def _fields(kind: type) -> tuple[tuple[str, Match], ...]:
    """The fields that make a node, and whether a value is what the declaration of each says."""
    hints = get_type_hints(kind)
    return tuple((field.name, _match(hints[field.name])) for field in fields(kind) if field.init)


def _match(declared: Any) -> Match:
    """Whether a value that was copied is of a declared type."""
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
        return lambda value: isinstance(value, declared)  # of an exact kind, as it was copied
    return lambda value: type(value) is declared


def _plain(declared: Any) -> list[type]:
    """Those of a declared type's options that are plain: long tuples of these are looked at by their types alone."""
    options = get_args(declared) if get_origin(declared) in (Union, UnionType) else (declared,)
    return [option for option in options if option in PLAIN]
