"""A release: the noisy integers that were drawn, and all that is needed to read them.

A release holds facts: the query, the noisy integers, the mechanisms that drew them, the privacy loss that was paid.
Values, intervals at any confidence and the card are computed from these, so they cost nothing and reveal nothing more.

Each interval holds separately with probability 1 - beta over the noise: it covers the statistic of the rows that were
used, after the rows of each unit were bounded, and does not account for sampling.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property, partial
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
from ..mechanisms import Gaussian, KeySelection, Laplace
from ..query.plan.accuracy import level
from ..query.plan.draw import Drawn
from ..query.plan.estimators import NoisyMeasure, Recipe, times
from ..query.plan.offer import Offer
from ..query.select.outputs import ColumnEstimate, Floats, labels, listed, numbers
from ..query.select.query import Query
from ..query.select.selections import AnswerRows, Lineage, noises
from ..query.values.domain import ValueDomain
from .provenance import Provenance
from .rates import Rates

if TYPE_CHECKING:
    from altair import TopLevelMixin
    from pyarrow import Table

_NO_INTEGERS = "This is not the JSON of a release: its noisy values are not lists of whole numbers."
FORMAT = 2  # 1 had the least value of a cell for a quantile


@storage.stored(
    "Release",
    ("query", "recipes", "mechanisms", "noisy", "keys", "loss", "price", "beta", "revised"),
    omit=("provenance",),  # which is written beside the facts
)
@dataclass(frozen=True)
class Release:
    """An answer with its accuracy, its price and its provenance.

    `keys` is None unless the keys were selected privately.  `revised` are values with which post-processing replaced
    estimates: the aggregate, the reason, and a value for each cell.
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
        """The release of what was drawn for an offer."""
        origin = provenance or Provenance()
        return cls(
            offer.query,
            offer.recipes,
            tuple(step.mechanism for step in offer.steps),
            drawn.noisy,
            drawn.keys,
            offer.loss,
            Fraction(offer.price),
            offer.beta,
            replace(origin, seeded=True) if drawn.seeded else origin,
        )

    def nonnegative(self) -> Release:
        """This release with negative counts replaced by zero: free of charge, and no farther from the truth."""
        now = self._estimates(float(self.beta))
        counts = [name for name, recipe in self.recipes if recipe.kind in ("count", "units", "distinct")]
        return self.revise(
            {name: [max(0, int(v)) for v in now[name].values] for name in counts}, "negative values set to zero"
        )

    def revise(self, values: Mapping[str, Sequence[int]], why: str) -> Release:
        """This release with other values of some aggregates; their intervals stay, and hold as before.

        The part of a count's interval below zero is cut off, as far as the new value is not below it too; and an
        interval that does not contain the new value is extended to it.
        """
        recipes, revised = dict(self.recipes), self.revised
        aggregates: Any = values
        allowed = f"{self._rows} whole numbers, for one of {', '.join(recipes)}"
        if not isinstance(aggregates, Mapping):
            says = f"Pass a mapping from names of aggregates ({', '.join(recipes)}) to {self._rows} whole numbers each."
            raise BadParameter("values", aggregates, allowed, says=says)
        for name, new in aggregates.items():
            if name not in recipes or not isinstance(new, Sequence | np.ndarray) or len(new) != self._rows:
                says = f"Pass {self._rows} whole numbers, one for each cell, for one of {', '.join(recipes)}."
                raise BadParameter(name, new, allowed, says=says)
            revised = (*revised, (name, why, tuple(whole(name, value, -(1 << 62)) for value in new)))
        return replace(self, revised=revised)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.query.names

    @cached_property
    def lineage(self) -> Lineage:
        """What the noise of each column comes from."""
        return Lineage.of(self.query, self._additive)

    @cached_property
    def noisy_names(self) -> frozenset[str]:
        """The names of the columns that are computed from noisy values."""
        return frozenset(name for name, origin in self.lineage.columns.items() if origin.sources)

    @property
    def picked_by_noise(self) -> bool:
        """Whether noisy values decide which rows are shown (by HAVING or LIMIT); intervals do not account for this."""
        return bool(self.lineage.deciding)

    @cached_property
    def columns(self) -> Mapping[str, ColumnEstimate]:
        """The answer, with intervals at the confidence that was asked for."""
        return self.at(self.beta)

    def __getitem__(self, name: str) -> ColumnEstimate:
        """One column of the answer: its `values`, and the `lower` and `upper` ends of their intervals."""
        if name not in self.names:
            raise BadParameter("column", name, f"one of {', '.join(self.names)}")
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def at(self, beta: Number) -> Mapping[str, ColumnEstimate]:
        """The answer, with intervals that each hold with probability 1 - beta."""
        error_probability = probability("beta", beta)
        return {name: self._selected(self._level(name, error_probability)).columns[name] for name in self.names}

    def interval(self, beta: Number = "0.05") -> Mapping[str, tuple[Floats, Floats]]:
        """The lower and upper ends of the intervals of each column of numbers."""
        return {name: (c.lower, c.upper) for name, c in self.at(beta).items() if c.kind != "label"}

    def error(self, beta: Number = "0.05") -> Mapping[str, float]:
        """A bound on the errors of each column; for quantiles and most common labels, in rows (see `ranks`).

        Where noise made a value missing, the bound is the width of its interval; where there is no value, it is NaN.
        """
        errors = dict(self.ranks(beta))
        for name, c in self.at(beta).items():
            if name not in errors and c.kind != "label":
                far = np.maximum(c.upper - c.values, c.values - c.lower)
                far = np.where(c.missing() & c.unsure, c.upper - c.lower, far)
                errors[name] = float(np.fmax.reduce(far, initial=math.nan))
        return errors

    def ranks(self, beta: Number = "0.05") -> Mapping[str, float]:
        """A bound on the error, in rows, of each column of quantiles or most common labels.

        A quantile v at rank q of n rows is max(0, #(x < v) - q n, q n - #(x <= v)) rows away from it: 0 where the rank
        lies among the rows that share its value.  For the middle of a cell, the bound is that of the whole cell.
        """
        recipes, errors = dict(self.recipes), {}
        for name, origin in self.lineage.columns.items():
            recipe = recipes.get(origin.column or "")
            if recipe is not None and recipe.kind in ("quantile", "top"):
                errors[name] = self.mechanisms[recipe.parts[0]].error(beta=beta)
        return errors

    @cached_property
    def _rows(self) -> int:
        if self.keys is not None:
            return len(self.keys)
        return math.prod(len(key.values or ()) for key in self.query.keys)

    @cached_property
    def _keys(self) -> dict[str, ColumnEstimate]:
        """The keys of each row: those that were selected privately, or all public cells in row-major order."""
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
    def _additive(self) -> frozenset[str]:
        """The aggregates of which the noise of a sum is bounded as one: released as they were drawn, in every cell."""
        revised = {name for name, _, _ in self.revised}
        plain = {i for i, m in enumerate(self.mechanisms) if isinstance(m, Laplace | Gaussian)}
        added = (name for name, r in self.recipes if r.kind in ("count", "units", "sum") and {*r.parts} <= plain)
        return frozenset(added) - revised

    def _level(self, name: str, beta: Fraction) -> float:
        """The failure probability for each noise with which an interval of a column holds with 1 - beta."""
        origin, parts = self.lineage.columns[name], {name: {*recipe.parts} for name, recipe in self.recipes}
        several = max(1, noises(origin, parts, self._rows))
        return float(beta) / several if origin.sums else level(beta, several)

    @cached_property
    def _selected(self) -> Callable[[float], AnswerRows]:
        """The rows of the answer, where the noise of each measure is within its bound with probability 1 - each."""

        @cache
        def selected(each: float) -> AnswerRows:
            rates = Rates(dict(self.query.aggregates), dict(self.recipes))
            lineage = Lineage.released(self.query, self._additive)
            rows = AnswerRows(self._estimates(each), self._rows, lineage, rates)
            for selection in self.query.selections:
                rows = rows.select(selection)
            return rows

        return selected

    def _estimates(self, each: float) -> dict[str, ColumnEstimate]:
        """Keys and aggregates; the noise of each measure is within its bound with probability 1 - each."""
        recipes = dict(self.recipes)
        used = {part % len(self.noisy) for recipe in recipes.values() for part in recipe.parts}
        measures = [
            _noisy(array, m, each) if i in used else NoisyMeasure(array)
            for i, (array, m) in enumerate(zip(self._arrays, self.mechanisms, strict=True))
        ]
        estimates = {name: recipe.estimate(measures) for name, recipe in recipes.items()}
        for name, _, values in self.revised:
            if name in estimates:
                now, low, high = np.array(values, np.int64), estimates[name].lower, estimates[name].upper
                if recipes[name].kind in ("count", "units", "distinct"):
                    low, high = (np.maximum(end, np.minimum(now, 0)) for end in (low, high))
                low, high = np.minimum(low, now), np.maximum(high, now)
                estimates[name] = replace(estimates[name], values=now, lower=low, upper=high, sum_error=None)
        return {**self._keys, **estimates}

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
            if not _of_integers(release.noisy):
                raise BadParameter("noisy", type(release.noisy).__name__, "whole numbers", says=_NO_INTEGERS)
            return replace(release, provenance=storage.read_members(Provenance, provenance))

    def to_arrow(self) -> Table:
        """An Arrow table, with the ends of intervals beside the values."""
        from .export import arrow

        return arrow(self)

    def to_pandas(self) -> Any:
        """A pandas data frame, with the ends of intervals beside the values."""
        from .export import frame

        return frame(self, "pandas")

    def to_polars(self) -> Any:
        """A Polars data frame, with the ends of intervals beside the values."""
        from .export import frame

        return frame(self, "polars")

    def to_csv(self) -> str:
        """CSV by RFC 4180; text that a spreadsheet would take for a formula gets an apostrophe."""
        from .export import csv

        return csv(self)

    def card(self) -> dict[str, Any]:
        """The release card: all that a reader needs to judge the answer."""
        from .card import card

        return card(self)

    def plot(self, name: str | None = None) -> TopLevelMixin:
        """A bar chart with intervals, of one column of numbers: by default the first noisy one."""
        from .plots import release_bars

        return release_bars(self, name)

    def __str__(self) -> str:
        from .export import text

        return text(self)

    def __repr__(self) -> str:
        rows = len(self.columns[self.names[0]])
        return f"Release({visible(', '.join(self.names))}; rows={rows}, price={float(self.price):g})"

    def _repr_html_(self) -> str:
        from .notebook import html

        return html(self)


def _of_integers(values: object) -> bool:
    """Whether a value is a tuple of integers, or of such tuples."""
    if type(values) is not tuple:
        return False
    return set(map(type, values)) <= {int} or all(type(each) is int or _of_integers(each) for each in values)


def _array(m: Mechanism[Any, Any], values: tuple[Any, ...]) -> NDArray[Any]:
    if m.choices:
        return np.array(values, np.int64).reshape(-1, m.choices)
    narrow = all(-(1 << 63) <= v < 1 << 63 for v in (min(values, default=0), max(values, default=0)))
    return np.array(values, np.int64 if narrow else object)


def _noisy(array: NDArray[Any], m: Mechanism[Any, Any], each: float) -> NoisyMeasure:
    """Noisy values with a bound on their noise: none for selections, and a threshold for counts that selected keys."""
    if m.choices:
        return NoisyMeasure(array)
    threshold = m.threshold if isinstance(m, KeySelection) else None
    sums = partial(_sum_error, m, each) if isinstance(m, Laplace | Gaussian) else None
    return NoisyMeasure(array, m.added_noise.error(beta=each), threshold, sums)


def _sum_error(noise: Laplace | Gaussian, beta: float, terms: int) -> float:
    """A bound on the sum of so many noises of one law, but for a probability of beta."""
    from ..workloads.models.error_bounds import Spread

    return float(Spread.of(noise, np.array([float(terms)])).bounds(beta)[0])


def _key(domain: ValueDomain, values: Sequence[int | str]) -> ColumnEstimate:
    match domain.kind:
        case "text":
            return labels(values)
        case "number":
            return numbers(times(np.array(values, np.int64), domain.grid))
        case "boolean":
            truth = np.array(values, np.float64)
            return ColumnEstimate("boolean", truth, truth, truth)
    of_step = {step: domain.label(int(step)) for step in set(values)}
    return labels([of_step[step] for step in values])


def _plain(c: ColumnEstimate) -> dict[str, Any]:
    """A column for JSON; an infinite end is null."""
    if c.kind == "label":
        return {"values": [v if v is None or isinstance(v, str) else v.isoformat() for v in c.tolist()]}
    return {"values": c.tolist(), "lower": listed(c.lower), "upper": listed(c.upper)}
