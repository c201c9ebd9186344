"""The domain of a table: named attributes, each with a public list of values.

Its cells are the product of the lists, in row-major order.  Nothing here is as large as the product: a domain of a
hundred attributes takes a hundred lists.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...core.errors import BadParameter
from ...storage import stored

Label = Hashable
Axes = tuple[int, ...]
CELLS = 1 << 26  # of a table in memory, at most


@stored("WorkloadDomain", ("attributes",), keep=True)
@dataclass(frozen=True)
class Domain:
    """Attributes and their values; `Domain.of({"age": range(100), "sex": ["f", "m"]})` is one."""

    attributes: tuple[tuple[str, Sequence[Label]], ...]

    def __post_init__(self) -> None:
        try:
            pairs = [(name, values) for name, values in self.attributes]
        except (TypeError, ValueError):
            raise BadParameter("attributes", type(self.attributes).__name__, "pairs of a name and its values") from None
        names = [name for name, _ in pairs]
        if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise BadParameter("attributes", names, "one or more, with different names, which are texts")
        object.__setattr__(self, "attributes", tuple((name, _labels(name, values)) for name, values in pairs))

    @classmethod
    def of(cls, attributes: Mapping[str, Iterable[Label] | int]) -> Domain:
        """A domain from a mapping of names to values; a number stands for the values 0, 1, ... below it."""
        if not isinstance(attributes, Mapping):
            raise BadParameter("attributes", type(attributes).__name__, "a mapping from names to values")
        read: dict[str, Any] = {
            name: range(v) if isinstance(v, int | np.integer) and not isinstance(v, bool) else v
            for name, v in attributes.items()
        }
        return cls(tuple(read.items()))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.attributes)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(len(values) for _, values in self.attributes)

    @cached_property
    def size(self) -> int:
        """The number of cells, an integer of any size."""
        return math.prod(self.shape)

    @property
    def all(self) -> Axes:
        """Every axis."""
        return tuple(range(len(self.names)))

    def axes(self, names: Iterable[str]) -> Axes:
        """The places of these attributes, in the order of the domain."""
        listed: list[Any] = [names] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
        unknown = [name for name in listed if not isinstance(name, str) or name not in self.names]
        if unknown or len(set(listed)) < len(listed):
            raise BadParameter("attributes", unknown or listed, f"different ones among {', '.join(self.names)}")
        return tuple(sorted(self.names.index(name) for name in listed))

    def sizes(self, axes: Axes) -> tuple[int, ...]:
        """How many values the attributes on these axes have."""
        try:
            return tuple(map(self.shape.__getitem__, axes))
        except (TypeError, IndexError):
            raise BadParameter("axes", axes, f"places of attributes, below {len(self.shape)}") from None

    def cells(self, axes: Axes | None) -> int:
        """How many cells the marginal on these axes has, or the whole domain."""
        return self.size if axes is None else math.prod(self.sizes(axes))

    def laid_out(self, axes: Axes) -> tuple[int, ...]:
        """The shape of the marginal on these axes, if it can be laid out in memory."""
        sizes = self.sizes(axes)
        if (cells := math.prod(sizes)) > CELLS:
            named = ", ".join(self.names[axis] for axis in axes)
            raise BadParameter(f"the marginal on {named}", cells, f"of at most {CELLS} cells")
        return sizes

    def project(self, names: Iterable[str]) -> Domain:
        """The domain of these attributes alone."""
        return Domain(tuple(self.attributes[axis] for axis in self.axes(names)))

    def code(self, name: str, label: Any) -> int:
        """The place of a value among those of an attribute."""
        axis = self.axes([name])[0]
        values, places = self.attributes[axis][1], self._places[axis]
        try:
            if isinstance(places, dict):
                return places[label]
            if isinstance(label, int | float | np.integer | np.floating) and label == int(label):
                return places.index(int(label))
            raise ValueError
        except (KeyError, TypeError, ValueError, OverflowError):  # a list has no hash, and infinity is no integer
            raise BadParameter(f"a value of {name}", label, f"one of its {len(values)} public values") from None

    @cached_property
    def _places(self) -> tuple[range | dict[Label, int], ...]:
        """Where each value is: by arithmetic in a range, by hash in a list."""
        return tuple(v if isinstance(v, range) else {label: i for i, label in enumerate(v)} for _, v in self.attributes)


def shown(count: int) -> str:
    """A number as text, also if it is too large for a float; below a million with all its digits."""
    if count < 10**6:
        return str(count)
    return f"{count:.3g}" if count < 10**300 else f"10^{math.log10(count):.0f}"


def counted(count: int, one: str, several: str) -> str:
    """A number with the singular or the plural of what it counts."""
    return f"{count} {one if count == 1 else several}"


def _labels(name: str, values: Sequence[Label]) -> Sequence[Label]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise BadParameter(f"the values of {name}", values, "a list, or a number: how many there are")
    if isinstance(values, range):
        if not values or abs(values[-1] - values[0]) >= sys.maxsize:
            raise BadParameter(f"the values of {name}", values, "one or more, and no more than 64 bits can count")
        return values
    labels = tuple(values)
    if not all(isinstance(label, Hashable) for label in labels):
        raise BadParameter(f"the values of {name}", "some that are lists", "texts, numbers or dates")
    if any(isinstance(label, float) and math.isnan(label) for label in labels):
        raise BadParameter(f"the values of {name}", "NaN", "values that are equal to themselves")
    if not labels or len(set(labels)) < len(labels):
        raise BadParameter(f"the values of {name}", f"{len(labels)} values", "one or more, all different")
    return labels
