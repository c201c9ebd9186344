"""Which method for this workload: every one's predicted error and time, from public facts only.

The textbooks' table of methods (noise on the queries, noise on the histogram, multiplicative weights: error and cost)
for one's own domain, workload, number of records and price.
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

_TIE = 1e-3  # of a mean error: methods that are nearer are told apart by their time
_LOWERS = "keeps where no cell is nearly empty, and lowers where many are"


@dataclass(frozen=True)
class Row:
    """A method at a price, with what it predicts, or why it cannot be used."""

    method: Method
    price: Price
    prediction: Prediction | None
    reason: str = ""


@dataclass(frozen=True)
class Plan:
    """Every method, the best first; those that cannot be used last."""

    workload: Workload
    n: int | None
    price: Price
    rows: tuple[Row, ...] = field(repr=False)
    about: int | None = None
    remarks: tuple[str, ...] = ()  # what the first takes of a budget, and guarantees
    surcharge: str = ""  # where that is more than the number that was typed, a sentence that says so

    @property
    def best(self) -> Method:
        """The method of least predicted mean error; one that lowers another's counts as that other."""
        return self.row().method

    def row(self, name: str = "auto") -> Row:
        """That of the best method, or of the one of this name, if it can be used."""
        chosen = None if instance("method", name, str) == "auto" else method(name, [row.method for row in self.rows])
        rows = [row for row in self.rows if chosen in (None, row.method)]
        if rows[0].prediction is None:
            refused = "; ".join(f"{row.method.name}: {row.reason}" for row in rows)
            raise BadQuestion(f"no method can be used: {refused}" if name == "auto" else refused)
        return rows[0]

    @property
    def why(self) -> str:
        """Why the first comes before the second."""
        usable = [(row.method.name, row.prediction) for row in self.rows if row.prediction is not None]
        if not usable:
            return "no method can be used"
        name, first = usable[0]
        text = f"{name}: {first.why}"
        if len(usable) > 1:
            name, second = usable[1]
            most = "at most " if second.kind == "bound" else ""
            text += f"; {name}, the next, has a mean error of {most}{second.mean:.3g}, {self._compared()}: {second.why}"
        return text

    def _compared(self) -> str:
        """The mean error of the first, beside that of the second."""
        means = {row.method.name: row.prediction.mean for row in self.rows if row.prediction is not None}
        (first, mean), (second, other) = list(means.items())[:2]
        improved = self.rows[0].method.improves
        if improved in means and means[improved] <= mean:
            told = "" if improved == second else f"and {improved} one of {means[improved]:.3g}, "
            return f"{told}which {first} {_LOWERS}"
        same = abs(mean - other) <= _TIE * other or f"{mean:.3g}" == f"{other:.3g}"
        return f"which is a tie with {first}" if same else f"not {mean:.3g}"

    def records(self) -> list[dict[str, Any]]:
        """One row of plain values for each method, for a table or a picture."""
        found, records = [], self.n or self.about
        for rank, row in enumerate(self.rows, 1):
            p = row.prediction
            entry: dict[str, Any] = {"rank": rank, "method": row.method.name, "theorem": row.method.theorem}
            entry |= {"mean": p and p.mean, "rms": p and p.rms, "worst": p and p.worst, "kind": p and p.kind}
            entry |= {"seconds": p and p.seconds, "seconds_per_query": p and p.seconds / self.workload.queries}
            entry |= {"n": self.n, "normalised": p and (p.worst / records if records else None)}
            entry |= {"price": str(row.price)}
            found.append(entry | {"why": p.why if p else row.reason})
        return found

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
        refused = [f"not {row.method.name}: {row.reason}" for row in self.rows if row.prediction is None]
        spent = [f"without delta, as epsilon alone buys them more: {', '.join(pure)}"] if pure else []
        said = [*spent, *self.remarks, *([self.surcharge] if self.surcharge else [])]
        return lines("\n".join([visible(head), *table, *self._placed(), *said, f"why {self.why}", *refused]))

    def _placed(self) -> list[str]:
        """Which methods stand before some of a lesser mean error, and why."""
        counted, found = _counted(self.rows), []
        for row in self.rows:
            if (p := row.prediction) is not None and p.mean > counted[row.method.name]:
                reason = f"whose error it {_LOWERS}; its own is a bound for any table"
                found.append(f"{row.method.name} has the place of {row.method.improves}, {reason}")
        return found


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

    A method that lowers the error of another where cells are empty has the other's place, if the bound on its own is
    larger.
    Where n is None, `about` may be a rough one: it serves to rank methods that can do without n, and no others.
    Each method has the better of `ways`, which are what the price may be spent as, unless told.
    """
    probability("beta", beta)
    people, rough = (checked_n(workload, number, price) for number in (n, about))
    chosen = METHODS if methods is None else instances("methods", methods, Method)
    if not chosen:
        raise BadParameter("methods", "none", "one or more, such as those of METHODS")
    paid = instances("ways", () if ways is None else ways, Price) or price.ways
    rows = []
    for m in chosen:
        known = people if m.needs_n else people or rough
        tried = [_row(m, workload, known, way, beta) for way in paid]
        usable = [(row.prediction.mean, i) for i, row in enumerate(tried) if row.prediction]
        rows.append(tried[min(usable)[1] if usable else -1])
    return Plan(workload, people, price, tuple(_ranked(rows)), rough)


def _row(method: Method, workload: Workload, n: int | None, price: Price, beta: Number) -> Row:
    try:
        reason = method.refusal(workload, n, price)
        prediction = None if reason else method.predict(workload, n, price, beta)
    except BadParameter as error:  # noise that cannot be drawn at this price, by this method
        reason, prediction = str(error), None
    return Row(method, price, prediction, reason or "")


def _counted(rows: Sequence[Row]) -> dict[str, float]:
    """The mean errors to rank by: of a method that improves another that of the other, if the bound is larger."""
    means = {row.method.name: row.prediction.mean for row in rows if row.prediction is not None}
    improved = {row.method.name: row.method.improves or "" for row in rows}
    return {name: min(mean, means.get(improved[name], math.inf)) for name, mean in means.items()}


def _ranked(rows: list[Row]) -> list[Row]:
    """By mean error, then by time where that is a tie; one that improves another before all that tie with it."""
    counted, known = _counted(rows), []
    for row in rows:
        if (p := row.prediction) is not None:
            known.append((counted[row.method.name], row.method.improves not in counted, p.seconds, row))
    least, keyed = 0.0, []
    for mean, plain, seconds, row in sorted(known, key=lambda found: found[0]):
        least = least if mean <= least * (1 + _TIE) else mean  # of those that tie
        keyed.append((least, plain, seconds, row))
    ranked = [row for *_, row in sorted(keyed, key=lambda found: found[:3])]
    return ranked + [row for row in rows if row.prediction is None]


def method(name: str, methods: Sequence[Method] | None = None) -> Method:
    """The method of this name."""
    known = {m.name: m for m in (METHODS if methods is None else instances("methods", methods, Method))}
    if instance("method", name, str) not in known:
        raise BadParameter("method", name, f"auto, or one of {', '.join(known)}")
    return known[name]
