"""Which method for this workload: the predicted error and time of every method, from public facts only.

The textbooks' table of methods (noise on the queries, noise on the histogram, multiplicative weights: error and cost)
for one's own domain, workload, number of records and price.  Where a method is refused, the planner names another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import BadParameter, BadQuestion
from ..core.parameters import Number, instance, instances, probability
from ..core.safe_text import lines, visible
from .method import Method, Prediction, checked_n
from .price import Price
from .queries.workload import Workload
from .registry import METHODS

_TIE = 1e-3  # of a mean error: methods that are nearer are ranked by their time
_LOWERS = "keeps where no cell is nearly empty, and lowers where many are"
_ADVISED = ("hierarchy", "residual", "histogram", "queries")  # whose errors are known without n: the first that can do


@dataclass(frozen=True)
class PlanRow:
    """A method at a price, with its prediction, or the reason why it cannot be used."""

    method: Method
    price: Price
    prediction: Prediction | None
    reason: str = ""


@dataclass(frozen=True)
class Plan:
    """All methods, the best first; those that cannot be used come last."""

    workload: Workload
    n: int | None
    price: Price
    rows: tuple[PlanRow, ...] = field(repr=False)
    about: int | None = None
    remarks: tuple[str, ...] = ()  # what the first method takes of a budget, and guarantees
    surcharge: str = ""  # a sentence that says so where that is more than the price that was typed

    @property
    def best(self) -> Method:
        """The method of least predicted mean error; a method that improves another is ranked as that other."""
        return self.row().method

    def row(self, name: str = "auto") -> PlanRow:
        """The row of the best method, or of the method of this name; BadQuestion if it cannot be used."""
        chosen = None if instance("method", name, str) == "auto" else method(name, [row.method for row in self.rows])
        rows = [row for row in self.rows if chosen in (None, row.method)]
        if rows[0].prediction is None:
            if chosen is not None:
                raise refused(chosen, rows[0].reason, self.workload, self.n or self.about, rows[0].price)
            reasons = "; ".join(f"{row.method.name}: {row.reason}" for row in rows)
            raise BadQuestion(f"no method can be used: {reasons}")
        return rows[0]

    @property
    def why(self) -> str:
        """Why the first method comes before the second."""
        usable = [(row.method.name, row.prediction) for row in self.rows if row.prediction is not None]
        if not usable:
            return "no method can be used"
        name, first = usable[0]
        text = f"{name}: {first.why}"
        if len(usable) > 1:
            name, second = usable[1]
            bound = "at most " if second.kind == "bound" else ""
            text += (
                f"; {name}, the next, has a mean error of {bound}{second.mean:.3g}, {self._compared()}: {second.why}"
            )
        return text

    def _compared(self) -> str:
        """The mean error of the first method, compared with that of the second."""
        means = {row.method.name: row.prediction.mean for row in self.rows if row.prediction is not None}
        (first, mean), (second, other) = list(means.items())[:2]
        improved = self.rows[0].method.improves
        if improved in means and means[improved] <= mean:
            other_mean = "" if improved == second else f"and {improved} one of {means[improved]:.3g}, "
            return f"{other_mean}which {first} {_LOWERS}"
        same = abs(mean - other) <= _TIE * other or f"{mean:.3g}" == f"{other:.3g}"
        return f"which is a tie with {first}" if same else f"not {mean:.3g}"

    def records(self) -> list[dict[str, Any]]:
        """One row of plain values for each method, for a table or a plot."""
        entries, records = [], self.n or self.about
        for rank, row in enumerate(self.rows, 1):
            p = row.prediction
            entry: dict[str, Any] = {"rank": rank, "method": row.method.name, "theorem": row.method.theorem}
            entry |= {"mean": p and p.mean, "rms": p and p.rms, "worst": p and p.worst, "kind": p and p.kind}
            entry |= {"seconds": p and p.seconds, "seconds_per_query": p and p.seconds / self.workload.queries}
            entry |= {"n": self.n, "normalised": p and (p.worst / records if records else None)}
            entry |= {"price": str(row.price)}
            entries.append(entry | {"why": p.why if p else row.reason})
        return entries

    def __str__(self) -> str:
        rough = "n not public" if self.about is None else f"n about {self.about}"
        n = rough if self.n is None else f"n = {self.n}"
        head = f"{self.workload!r}, {n}, {self.price}"
        shown = [("method", "mean", "rms", "max", "max / n", "seconds", "kind", "in the textbooks (max / n; time)")]
        pure = [row.method.name for row in self.rows if row.prediction and row.price != self.price]
        for r in self.records():
            if r["mean"] is None:
                continue
            share = "-" if r["normalised"] is None else f"{r['normalised']:.2g}"
            figures = (f"{r[name]:.3g}" for name in ("mean", "rms", "worst"))
            shown.append((r["method"], *figures, share, f"{r['seconds']:.1g}", r["kind"], r["theorem"]))
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        table = ["  ".join(f"{v:<{w}}" for v, w in zip(line, widths, strict=True)).rstrip() for line in shown]
        unusable = [f"not {row.method.name}: {row.reason}" for row in self.rows if row.prediction is None]
        spent = [f"without delta, as epsilon alone buys them more: {', '.join(pure)}"] if pure else []
        notes = [*spent, *self.remarks, *([self.surcharge] if self.surcharge else [])]
        return lines("\n".join([visible(head), *table, *self._placed(), *notes, f"why {self.why}", *unusable]))

    def _placed(self) -> list[str]:
        """Which methods are ranked before some of a lower mean error, and why."""
        counted, notes = _counted(self.rows), []
        for row in self.rows:
            if (p := row.prediction) is not None and p.mean > counted[row.method.name]:
                reason = f"whose error it {_LOWERS}; its own is a bound for any table"
                notes.append(f"{row.method.name} has the place of {row.method.improves}, {reason}")
        return notes


def plan(
    workload: Workload,
    n: int | None,
    price: Price,
    methods: Iterable[Method] | None = None,
    beta: Number = 0.05,
    *,
    about: int | None = None,
    ways: Sequence[Price] | None = None,
) -> Plan:
    """Every method's prediction, ranked by mean error; n is the public number of records, or None.

    A method that lowers the error of another where cells are empty has the other's place, if the bound on its own error
    is larger.
    Where n is None, `about` may be a rough number of records, which serves to rank the methods that do not need n.
    Each method is given the better of `ways`, by default all ways in which the price may be spent.
    """
    probability("beta", beta)
    people, rough = (checked_n(workload, number, price) for number in (n, about))
    chosen = METHODS if methods is None else instances("methods", methods, Method)
    if not chosen:
        raise BadParameter("methods", "none", "one or more, such as those of METHODS")
    paid = instances("ways", () if ways is None else ways, Price) or price.ways
    rows = []
    for m in chosen:
        records = people if m.needs_n else people or rough
        tried = [_row(m, workload, records, way, beta) for way in paid]
        usable = [(row.prediction.mean, i) for i, row in enumerate(tried) if row.prediction]
        rows.append(tried[min(usable)[1] if usable else -1])
    return Plan(workload, people, price, tuple(_ranked(rows)), rough)


def refused(method: Method, reason: str, workload: Workload, n: int | None, price: Price) -> BadQuestion:
    """The error for a method that cannot be used for this reason; it names another method that can, if there is one."""
    others = (m for m in METHODS if m.name in _ADVISED and m.name != method.name)
    usable = (m.name for m in sorted(others, key=lambda m: _ADVISED.index(m.name)) if _usable(m, workload, n, price))
    other = next(usable, None)
    return BadQuestion(f"{method.name}: {reason}" + (f"; use {other}" if other else ""))


def _usable(method: Method, workload: Workload, n: int | None, price: Price) -> bool:
    return _row(method, workload, None if method.needs_n else n, price, 0.05).prediction is not None


def _row(method: Method, workload: Workload, n: int | None, price: Price, beta: Number) -> PlanRow:
    try:
        reason = method.refusal(workload, n, price)
        prediction = None if reason else method.predict(workload, n, price, beta)
    except BadParameter as error:  # noise that cannot be drawn at this price, by this method
        reason, prediction = str(error), None
    return PlanRow(method, price, prediction, reason or "")


def _counted(rows: Sequence[PlanRow]) -> dict[str, float]:
    """The mean errors to rank by: that of the improved method, for one that improves it and has a larger bound."""
    means = {row.method.name: row.prediction.mean for row in rows if row.prediction is not None}
    improved = {row.method.name: row.method.improves or "" for row in rows}
    return {name: min(mean, means.get(improved[name], math.inf)) for name, mean in means.items()}


def _ranked(rows: list[PlanRow]) -> list[PlanRow]:
    """Rows by mean error, ties by time; a method that improves another comes before all that tie with it."""
    counted, usable = _counted(rows), []
    for row in rows:
        if (p := row.prediction) is not None:
            usable.append((counted[row.method.name], row.method.improves not in counted, p.seconds, row))
    least, keyed = 0.0, []
    for mean, plain, seconds, row in sorted(usable, key=lambda each: each[0]):
        least = least if mean <= least * (1 + _TIE) else mean  # of those that tie
        keyed.append((least, plain, seconds, row))
    ranked = [row for *_, row in sorted(keyed, key=lambda each: each[:3])]
    return ranked + [row for row in rows if row.prediction is None]


def method(name: str, methods: Sequence[Method] | None = None) -> Method:
    """The method of this name."""
    by_name = {m.name: m for m in (METHODS if methods is None else instances("methods", methods, Method))}
    if instance("method", name, str) not in by_name:
        raise BadParameter("method", name, f"auto, or one of {', '.join(by_name)}")
    return by_name[name]
