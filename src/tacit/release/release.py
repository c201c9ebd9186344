"""A release: what was drawn, and all that is needed to read it.

It holds facts: the question, the noisy integers, the mechanisms they were drawn from, the loss that was paid.  Values,
intervals at any confidence and the card are computed from these, so they cost nothing and say no more.

Each interval holds with probability 1 - beta by itself, over the noise: it is of the statistic of the rows that were
used, after each unit's were bounded, and says nothing of sampling.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import storage
from ..core.accounting import every_atom  # noqa: F401 - the loss of a release is of any
from ..core.accounting.loss import Loss
from ..core.errors import BadParameter, NewerVersion, reading
from ..core.mechanism import Mechanism
from ..core.parameters import Number, probability, whole
from ..core.safe_text import visible
from ..mechanisms import KeySelection, Quantiles, TopK
from ..query.plan.accuracy import level
from ..query.plan.draw import Drawn
from ..query.plan.estimators import Noisy, Recipe, times
from ..query.plan.evaluation import evaluate, shown
from ..query.plan.offer import Offer
from ..query.plan.outputs import (
    Estimate,
    Floats,
    Output,
    Released,
    labels,
    listed,
    numbers,
    released,
)
from ..query.plan.query import Query
from ..query.values.domain import Domain
from .provenance import Provenance

if TYPE_CHECKING:
    from altair import TopLevelMixin
    from pyarrow import Table

FORMAT = 2  # 1 had the least value of a cell for a quantile


@storage.stored(
    "Release",
    ("query", "recipes", "mechanisms", "noisy", "keys", "loss", "price", "beta", "revised"),
    omit=("provenance",),  # which is written beside the facts
)
@dataclass(frozen=True)
class Release:
    """An answer with its accuracy, its price and where it comes from.

    `keys` are there only where they were chosen privately.  `revised` are values that post-processing put in the place
    of estimates: an aggregate, why, and one for each cell.
    """

    query: Query
    recipes: tuple[tuple[str, Recipe], ...]
    mechanisms: tuple[Mechanism[Any, Any], ...]
    noisy: tuple[tuple[Any, ...], ...]
    keys: tuple[tuple[int | str, ...], ...] | None
    loss: Loss
    price: Fraction
    beta: Fraction
    provenance: Provenance = field(default_factory=Provenance)
    revised: tuple[tuple[str, str, tuple[int, ...]], ...] = ()

    @classmethod
    def of(cls, offer: Offer, drawn: Drawn, provenance: Provenance | None = None) -> Release:
        """What was drawn for an offer."""
        told = provenance or Provenance()
        return cls(
            offer.query,
            offer.recipes,
            tuple(step.mechanism for step in offer.steps),
            drawn.noisy,
            drawn.keys,
            offer.loss,
            Fraction(offer.price),
            offer.beta,
            replace(told, seeded=True) if drawn.seeded else told,
        )

    def nonnegative(self) -> Release:
        """The same with counts that fell below zero shown as zero: free, and no farther from the truth."""
        now = self._estimates(float(self.beta))
        counts = [name for name, recipe in self.recipes if recipe.kind in ("count", "units")]
        return self.revise({name: [max(0, int(v)) for v in now[name].values] for name in counts}, "not negative")

    def revise(self, values: Mapping[str, Sequence[int]], why: str) -> Release:
        """The same with other values of some aggregates; their intervals, which hold the truth, stay.

        Only what lies below zero is cut from that of a count, as far as the value is not below it too; and an interval
        that a value has left is stretched to it, and so still holds the truth.
        """
        known, told = dict(self.recipes), self.revised
        given: Any = values
        allowed = f"{self._rows} whole numbers, for one of {', '.join(known)}"
        if not isinstance(given, Mapping):
            raise BadParameter("values", given, allowed)
        for name, new in given.items():
            if name not in known or not isinstance(new, Sequence | np.ndarray) or len(new) != self._rows:
                raise BadParameter(name, new, allowed)
            told = (*told, (name, why, tuple(whole(name, value, -(1 << 62)) for value in new)))
        return replace(self, revised=told)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for name, _ in self.query.outputs)

    @cached_property
    def noisy_names(self) -> frozenset[str]:
        """The names of the columns that are computed from what is noisy."""
        aggregates = dict(self.recipes).keys()
        return frozenset(name for name, output in self.query.outputs if released(output) & aggregates)

    @cached_property
    def picked_by_noise(self) -> bool:
        """Whether noisy values decide which rows of the answer are shown, of which intervals do not take account."""
        q, aggregates = self.query, dict(self.recipes).keys()
        deciding = [*([] if q.having is None else [q.having]), *(by for by, _ in q.order if q.limit is not None)]
        return any(released(output) & aggregates for output in deciding)

    @cached_property
    def columns(self) -> Mapping[str, Estimate]:
        """The answer, with intervals at the confidence it was asked for."""
        return self.at(self.beta)

    def __getitem__(self, name: str) -> Estimate:
        """One column of the answer: its `values`, and the ends `lower` and `upper` of their intervals."""
        if name not in self.names:
            raise BadParameter("column", name, f"one of {', '.join(self.names)}")
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def at(self, beta: Number) -> Mapping[str, Estimate]:
        """The answer, with intervals that each hold with probability 1 - beta."""
        told = probability("beta", beta)
        return {name: self._output(output, told).take(self._shown) for name, output in self.query.outputs}

    def interval(self, beta: Number = "0.05") -> Mapping[str, tuple[Floats, Floats]]:
        """Lower and upper ends of each column of numbers."""
        return {name: (c.lower, c.upper) for name, c in self.at(beta).items() if c.kind != "label"}

    def error(self, beta: Number = "0.05") -> Mapping[str, float]:
        """How far, at most, a value of each column is from the truth; of what is chosen, in rows: see `ranks`.

        Where noise took a value away it is the width of its interval; where there is no value at all it is NaN.
        """
        found = dict(self.ranks(beta))
        for name, output in self.query.outputs:
            c = self._output(output, probability("beta", beta)).take(self._shown)
            if name not in found and c.kind != "label":
                far = np.maximum(c.upper - c.values, c.values - c.lower)
                far = np.where(c.missing() & c.unsure, c.upper - c.lower, far)
                found[name] = float(np.fmax.reduce(far, initial=math.nan))
        return found

    def ranks(self, beta: Number = "0.05") -> Mapping[str, float]:
        """By how many rows, at most, each column of chosen values is out of its place.

        A quantile v at rank q of n rows is max(0, #(x < v) - q n, q n - #(x <= v)) rows away from it: none where the
        rank lies among the rows that share its value.  Of the middle of a cell that is said of the whole cell.
        """
        recipes, found = dict(self.recipes), {}
        for name, output in self.query.outputs:
            recipe = recipes.get(output.name) if isinstance(output, Released) else None
            if recipe is not None and recipe.kind in ("quantile", "top"):
                found[name] = self.mechanisms[recipe.parts[0]].error(beta=beta)
        return found

    @cached_property
    def _rows(self) -> int:
        if self.keys is not None:
            return len(self.keys)
        return math.prod(len(key.values or ()) for key in self.query.keys)

    @cached_property
    def _keys(self) -> dict[str, Estimate]:
        """The keys of each row: those that were chosen, or all public cells in row-major order."""
        if self.keys is not None:
            return {k.name: _key(k.domain, [row[i] for row in self.keys]) for i, k in enumerate(self.query.keys)}
        axes = np.meshgrid(*(np.array(key.values, np.int64) for key in self.query.keys), indexing="ij")
        return {
            key.name: _key(key.domain, axis.ravel().tolist()) for key, axis in zip(self.query.keys, axes, strict=True)
        }

    @cached_property
    def _arrays(self) -> list[NDArray[Any]]:
        return [_array(m, values) for m, values in zip(self.mechanisms, self.noisy, strict=True)]

    @cached_property
    def _shown(self) -> Any:
        q = self.query
        if q.having is None and not q.order:
            return np.arange(self._rows)[: q.limit]
        return shown(self._estimates(float(self.beta)), self._rows, q.having, q.order, q.limit)

    def _estimates(self, each: float, names: Iterable[str] | None = None) -> dict[str, Estimate]:
        """Keys and aggregates, where the noise of each measure keeps within its bound with probability 1 - each."""
        recipes = dict(self.recipes)
        wanted = recipes.keys() if names is None else recipes.keys() & names
        used = {part % len(self.noisy) for name in wanted for part in recipes[name].parts}
        measures = [
            _noisy(array, m, each) if i in used else Noisy(array)
            for i, (array, m) in enumerate(zip(self._arrays, self.mechanisms, strict=True))
        ]
        found = {name: recipes[name].estimate(measures) for name in wanted}
        for name, _, values in self.revised:
            if name in wanted:
                now, low, high = np.array(values, np.int64), found[name].lower, found[name].upper
                if recipes[name].kind in ("count", "units"):
                    low, high = (np.maximum(end, np.minimum(now, 0)) for end in (low, high))
                low, high = np.minimum(low, now), np.maximum(high, now)
                found[name] = replace(found[name], values=now, lower=low, upper=high)
        return {**self._keys, **found}

    def _output(self, output: Output, beta: Fraction) -> Estimate:
        recipes, names = dict(self.recipes), released(output)
        used = {part for name in names & recipes.keys() for part in recipes[name].parts}
        return evaluate(output, self._estimates(level(beta, max(1, len(used))), names), self._rows)

    def facts(self) -> bytes:
        """What was drawn and where from, as canonical JSON: nothing that the question computes from it."""
        return f"{{{self._facts()}}}".encode()

    def to_json(self) -> bytes:
        """The facts, and beside them the answer for whoever reads nothing else."""
        answer = {name: _plain(column) for name, column in self.columns.items()}
        text = json.dumps(answer, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return f'{{"answer":{text},{self._facts()}}}'.encode()

    def _facts(self) -> str:
        facts, provenance = storage.canonical_members(self), storage.canonical_members(self.provenance)
        return f'"facts":{facts},"format":{FORMAT},"provenance":{provenance}'

    @classmethod
    def from_json(cls, text: str | bytes) -> Release:
        """The release that was written."""
        try:
            whole = json.loads(text)
            facts, provenance, version = whole["facts"], whole["provenance"], whole.get("format")
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            raise BadParameter("text", type(text).__name__, "the JSON of a release") from None
        if type(version) is int and version > FORMAT:
            raise NewerVersion("this release", f"it is of format {version}, and this version reads {FORMAT}")
        if version != FORMAT:
            raise BadParameter("format", version, f"{FORMAT}, with all that belongs to it")
        with reading("this release"):
            release: Release = storage.read_members(Release, facts)
            return replace(release, provenance=storage.read_members(Provenance, provenance))

    def to_arrow(self) -> Table:
        """An Arrow table; the ends of intervals stand beside the values."""
        from .export import arrow

        return arrow(self)

    def to_pandas(self) -> Any:
        """A data frame of pandas."""
        from .export import frame

        return frame(self, "pandas")

    def to_polars(self) -> Any:
        """A data frame of Polars."""
        from .export import frame

        return frame(self, "polars")

    def to_csv(self) -> str:
        """RFC 4180, with text that a spreadsheet would take for a formula marked as text."""
        from .export import csv

        return csv(self)

    def card(self) -> dict[str, Any]:
        """The release card: what a reader must know to judge it."""
        from .card import card

        return card(self)

    def plot(self, name: str | None = None) -> TopLevelMixin:
        """Bars with intervals, of one column of numbers: the first that is not exact, unless told."""
        from .plots import release_bars

        return release_bars(self, name)

    def __str__(self) -> str:
        from .export import text

        return text(self)

    def __repr__(self) -> str:
        return f"Release({visible(', '.join(self.names))}; rows={len(self._shown)}, price={float(self.price):g})"

    def _repr_html_(self) -> str:
        from .notebook import html

        return html(self)


def _array(m: Mechanism[Any, Any], values: tuple[Any, ...]) -> NDArray[Any]:
    if isinstance(m, Quantiles | TopK):
        return np.array(values, np.int64).reshape(-1, m.k if isinstance(m, TopK) else len(m.quantiles))
    narrow = all(-(1 << 63) <= v < 1 << 63 for v in (min(values, default=0), max(values, default=0)))
    return np.array(values, np.int64 if narrow else object)


def _noisy(array: NDArray[Any], m: Mechanism[Any, Any], each: float) -> Noisy:
    """With what its noise keeps within; a choice has no noise, and a count by which a key was chosen a threshold."""
    if isinstance(m, Quantiles | TopK):
        return Noisy(array)
    if isinstance(m, KeySelection):
        return Noisy(array, m.noise.error(beta=each), m.threshold)
    return Noisy(array, m.error(beta=each))


def _key(domain: Domain, values: Sequence[int | str]) -> Estimate:
    match domain.kind:
        case "text":
            return labels(values)
        case "number":
            return numbers(times(np.array(values, np.int64), domain.grid))
        case "boolean":
            truth = np.array(values, np.float64)
            return Estimate("boolean", truth, truth, truth)
    known = {step: domain.label(int(step)) for step in set(values)}
    return labels([known[step] for step in values])


def _plain(c: Estimate) -> dict[str, Any]:
    """A column for JSON; an end that is not known is null."""
    if c.kind == "label":
        return {"values": [v if v is None or isinstance(v, str) else v.isoformat() for v in c.tolist()]}
    return {"values": c.tolist(), "lower": listed(c.lower), "upper": listed(c.upper)}
