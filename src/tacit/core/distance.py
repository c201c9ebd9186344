"""Which tables are neighbours, and how far apart neighbouring values may be.

A `Distance` bounds, in four norms at once, how one unit of privacy can move a vector of integers or reals.  Each
mechanism reads the norm its theorem is stated in: Laplace l1, Gaussian l2, selection and sparse vector linf.  The
neighbouring relation is part of its type, stated once where the data are described; distances and losses under
different relations do not add.

                                      l0    l1    l2^2    linf
    k counting queries, either         k     k     k       1
    histogram, add or remove           1     1     1       1
    histogram, substitute              2     2     2       1

`neighbours` lists all pairs of neighbouring tables over a small universe, for claims that are checked by enumeration.

References.  Dwork and Roth (2014), definitions 2.3, 3.1; Kifer and Machanavajjhala, SIGMOD 2011, on the relations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, Generic, TypeVar

from ..storage import stored
from .errors import BadParameter, MixedRelations
from .parameters import Number, positive, rational, whole

MAX_PAIRS = 1 << 20  # of neighbouring tables that are listed
Records = tuple[Any, ...]  # a multiset of records, in the order of their universe


@dataclass(frozen=True, repr=False)
class Neighbours:
    """The neighbouring relation: which tables are neighbours.

    `units` is the number of units of privacy by which the neighbours of a distance or a loss differ.  Distances and
    losses carry it along, so that theorems about a single unit, such as amplification by sampling, can refuse a group.
    Neither equality nor the stored form of a relation depends on it.
    """

    units: int = field(default=1, compare=False, kw_only=True)

    def __repr__(self) -> str:
        return type(self).__name__

    def counts(self: R, k: int = 1) -> Distance[R]:
        """The distance of k counting queries together: one person moves each count by at most 1."""
        k = whole("k", k)
        return Distance(Fraction(k), Fraction(k), Fraction(1), k, self)


R = TypeVar("R", bound=Neighbours)
T = TypeVar("T")


def one_relation(first: T | None, second: T | None) -> T | None:
    """The relation of a sum: the relation that its parts name, if any, for the larger group; else `MixedRelations`."""
    if first is None or second is None:
        return second if first is None else first
    if first != second:
        raise MixedRelations(first, second)
    return max(first, second, key=lambda relation: getattr(relation, "units", 1))


@stored("Distance", ("l1", "l2_squared", "linf", "l0", "relation"), keep=True)
@dataclass(frozen=True, repr=False)
class Distance(Generic[R]):
    """One unit of privacy moves at most l0 coordinates, by at most these norms; l0 is None if unknown."""

    l1: Fraction
    l2_squared: Fraction
    linf: Fraction
    l0: int | None = None
    relation: R | None = None

    def __post_init__(self) -> None:
        for name in ("l1", "l2_squared", "linf"):
            norm = rational(name, getattr(self, name))
            if norm < 0:
                raise BadParameter(name, norm, "at least 0")
            object.__setattr__(self, name, norm)
        if self.l0 is not None and self.l1 > whole("l0", self.l0, at_least=0) * self.linf:
            raise BadParameter("l1", self.l1, "at most l0 times linf")
        if self.l2_squared > self.l1 * self.linf or self.linf > self.l1:
            raise BadParameter("l2_squared", self.l2_squared, "at most l1 times linf, with linf at most l1")
        if not isinstance(self.relation, Neighbours | None):
            raise BadParameter("relation", self.relation, "ADD_REMOVE or SUBSTITUTE")

    @property
    def coordinates(self) -> int:
        """A bound, of 1 or more, on the coordinates that move by whole numbers: each adds 1 or more to l2^2."""
        bound = math.floor(self.l2_squared)
        return max(1, bound if self.l0 is None else min(bound, self.l0))

    @property
    def records(self) -> Fraction:
        """The number of records added and removed, where l1 counts records; a substitution does both."""
        return max(self.l1, 2 * self.linf) if isinstance(self.relation, Substitute) else self.l1

    @property
    def substituted(self) -> int:
        """The number of records substituted, where l1 counts records; each leaves one cell and enters another."""
        return math.ceil(self.records / 2)

    def __repr__(self) -> str:
        under = f", relation={self.relation}" if self.relation else ""
        return f"Distance(l0={self.l0}, l1={self.l1}, l2_squared={self.l2_squared}, linf={self.linf}{under})"

    def group(self, k: int) -> Distance[R]:
        """The distance that k units together can move a value (the triangle inequality)."""
        k = whole("k", k)
        if k == 1:
            return self
        return replace(
            self,
            l1=k * self.l1,
            l2_squared=k * k * self.l2_squared,
            linf=k * self.linf,
            l0=self.l0 and k * self.l0,
            relation=self.relation and replace(self.relation, units=k * self.relation.units),
        )

    def __add__(self, other: Distance[R]) -> Distance[R]:
        """The distance of two vectors side by side."""
        relation = one_relation(self.relation, other.relation)
        return Distance(
            self.l1 + other.l1,
            self.l2_squared + other.l2_squared,
            max(self.linf, other.linf),
            self.l0 + other.l0 if self.l0 is not None and other.l0 is not None else None,
            relation,
        )

    def on_grid(self, grid: Fraction) -> Distance[R]:
        """This distance in whole multiples of `grid`, after each real was rounded to the nearest multiple, halves up.

        Rounding commutes with shifts by multiples of the grid, so a coordinate that moves by d moves by at most
        ceil(d / grid) multiples; a sum of l0 ceilings is at most ceil(l1 / grid) + l0 - 1.
        """
        if self.l0 is None:
            raise BadParameter(
                "distance",
                self,
                "a distance with l0",
                says="Rounding to a grid moves each coordinate. Give l0, the number of coordinates that move.",
            )
        linf = Fraction(math.ceil(self.linf / grid))
        l1 = min(Fraction(math.ceil(self.l1 / grid) + max(0, self.l0 - 1)), self.l0 * linf)
        # |ceil(d/g)|_2 <= |d|_2/g + sqrt(l0), and |v|_2^2 <= |v|_1 |v|_inf
        cross = math.isqrt(math.ceil(4 * self.l0 * self.l2_squared / grid**2)) + 1
        l2_squared = min(self.l2_squared / grid**2 + self.l0 + cross, l1 * linf)
        return Distance(l1, l2_squared, linf, self.l0, self.relation) if self.linf else self


@stored("AddRemove", omit=("units",), make=lambda: ADD_REMOVE)
@dataclass(frozen=True, repr=False)
class AddRemove(Neighbours):
    """Neighbouring tables differ by the presence of one unit; the number of units is private."""

    def histogram(self) -> Distance[AddRemove]:
        """The distance of a histogram: each unit lies in one cell."""
        return Distance(Fraction(1), Fraction(1), Fraction(1), 1, self)

    def sum(self, low: Number, high: Number) -> Distance[AddRemove]:
        """The distance of a sum of one value in [low, high] for each unit."""
        return scalar(max(map(abs, _interval(low, high))), self)


@stored("Substitute", omit=("units",), make=lambda: SUBSTITUTE)
@dataclass(frozen=True, repr=False)
class Substitute(Neighbours):
    """Neighbouring tables differ in the data of one unit; the number of units is public."""

    def histogram(self) -> Distance[Substitute]:
        """The distance of a histogram: a unit leaves one cell and enters another."""
        return Distance(Fraction(2), Fraction(2), Fraction(1), 2, self)

    def sum(self, low: Number, high: Number) -> Distance[Substitute]:
        """The distance of a sum of one value in [low, high] for each unit."""
        low, high = _interval(low, high)
        return scalar(high - low, self)

    def mean(self, low: Number, high: Number, n: int) -> Distance[Substitute]:
        """The distance of a mean of n values in [low, high], n public."""
        low, high = _interval(low, high)
        return scalar((high - low) / whole("n", n), self)


ADD_REMOVE: AddRemove = AddRemove()
SUBSTITUTE: Substitute = Substitute()


def _interval(low: Number, high: Number) -> tuple[Fraction, Fraction]:
    a, b = rational("low", low), rational("high", high)
    if a > b:
        raise BadParameter("low", low, f"at most high ({high})")
    return a, b


def scalar(size: Fraction, relation: R | None = None) -> Distance[R]:
    """The distance at which one coordinate moves, by at most `size`."""
    return Distance(size, size * size, size, 1 if size else 0, relation)


def distance(value: Number | Distance[R], name: str = "distance", zero: bool = False) -> Distance[R]:
    """Read a distance; a number means that one coordinate moves, by at most that much."""
    if isinstance(value, Distance):
        return value
    return scalar(Fraction(0)) if zero and rational(name, value) == 0 else scalar(positive(name, value))


def norms(
    *,
    l0: int | None = None,
    l1: Number | None = None,
    l2: Number | None = None,
    linf: Number | None = None,
    relation: R | None = None,
) -> Distance[R]:
    """A distance from the norms that are known; the others follow from l1 <= l0 linf and l2^2 <= l1 linf."""
    bounds = {name: positive(name, v) for name, v in (("l1", l1), ("l2", l2), ("linf", linf)) if v is not None}
    if not bounds:
        raise BadParameter("norms", "none", "one of l1, l2, linf", says="Give at least one of l1, l2 and linf.")
    count = None if l0 is None else whole("l0", l0)
    largest = min(bounds.values())
    if "l1" in bounds:
        total = bounds["l1"]
    elif count is not None:
        total = largest * count
    elif "l2" in bounds:
        if bounds["l2"] < 1:
            raise BadParameter("l2", l2, "at least 1, or given together with l0")
        total = bounds["l2"] ** 2  # for whole moves |d| <= d^2; moves that are not whole need l0
    else:
        raise BadParameter("l0", None, "present", says="Give l0 (the number of coordinates that move) with linf.")
    total = min(total, largest * count) if count is not None else total
    square = min(total * largest, bounds["l2"] ** 2 if "l2" in bounds else total * largest)
    return Distance(total, square, largest, count, relation)


def neighbours(universe: Sequence[Any], size: int, relation: Neighbours) -> Iterator[tuple[Records, Records]]:
    """Every pair of neighbouring tables of at most (ADD_REMOVE) or exactly (SUBSTITUTE) `size` records.

    Under ADD_REMOVE a pair is (with a record, without it); under SUBSTITUTE each pair comes in both orders.
    """
    whole("size", size)
    listed: object = universe
    if not isinstance(listed, Sequence) or not listed:
        raise BadParameter("universe", type(universe).__name__, "a list of at least one record")
    records = tuple(listed)
    if not isinstance(relation, AddRemove | Substitute):
        raise BadParameter("relation", relation, "ADD_REMOVE or SUBSTITUTE")
    if (pairs := count_neighbours(len(records), size, relation)) > MAX_PAIRS:
        raise BadParameter(
            "size",
            size,
            "small enough to list all pairs",
            says=f"There are {pairs:,} pairs of neighbouring tables of {size} records from a universe of"
            f" {len(records)}; at most {MAX_PAIRS:,} pairs are listed. Use fewer records or a smaller universe.",
        )
    return _removing(records, size) if isinstance(relation, AddRemove) else _substituting(records, size)


def count_neighbours(universe: int, size: int, relation: Neighbours) -> int:
    """The number of pairs: under ADD_REMOVE, u larger tables for each of C(u + size - 1, u) smaller ones."""
    if isinstance(relation, AddRemove):
        return universe * math.comb(universe + size - 1, universe)
    return universe * (universe - 1) * math.comb(universe + size - 2, universe - 1)


def _removing(records: Records, size: int) -> Iterator[tuple[Records, Records]]:
    for rest in range(size):
        for places in combinations_with_replacement(range(len(records)), rest):
            smaller = tuple(records[i] for i in places)
            for i in range(len(records)):
                yield tuple(records[j] for j in sorted((*places, i))), smaller


def _substituting(records: Records, size: int) -> Iterator[tuple[Records, Records]]:
    for places in combinations_with_replacement(range(len(records)), size - 1):
        tables = [tuple(records[j] for j in sorted((*places, i))) for i in range(len(records))]
        yield from ((x, y) for i, x in enumerate(tables) for j, y in enumerate(tables) if i != j)
