r"""The accuracy of an answer, from public facts alone.

A count or a sum has the error of its noise.  A mean T / N whose total and count have errors of at most e and f has an
error of at most (e + h f) / (N - f), where h is the largest distance of a value from the number subtracted from it:
|T'/N' - T/N| = |(T' - T) - (N' - N) T/N| / N'.  A variance has likewise the error of the mean of squares, and 2 h times
that of the mean for the square of the mean; where squares are of values rounded to g, g times that of the mean more,
and in any case less than g (h + 5 g / 4) by the rounding (see `estimators`).  N is not public; where the size of the
table is, an equal share of it for each cell stands for N.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...core.exact import at_most, from_above, up
from ...core.mechanism import Mechanism
from ...mechanisms import KeySelection, Quantiles
from ..relation.relation import Cohort, Derive, Relation, Scan, Where
from ..schema.schema import Schema
from ..select.query import Query
from ..select.selections import Lineage
from .calibration import Step
from .estimators import Recipe, Squares
from .plan import QueryPlan, max_abs


@dataclass(frozen=True)
class Accuracy:
    """The error of an output, or None if it depends on a number that is not public; `text` then says how."""

    name: str
    error: float | None
    text: str
    theorem: str = ""

    def __str__(self) -> str:
        return self.text


def public_size(relation: Relation, schemas: Mapping[str, Schema], of_table: bool = False) -> int | None:
    """The approximate number of rows, if public; with `of_table`, before conditions left any out."""
    match relation:
        case Derive():
            return public_size(relation.source, schemas, of_table)
        case Where() | Cohort() if of_table:
            return public_size(relation.source, schemas, of_table)
        case Scan():
            return schemas[relation.table].size if relation.table in schemas else None
    return None


def accuracies(
    plan: QueryPlan,
    named: Sequence[tuple[str, Recipe]],
    steps: Sequence[Step],
    query: Query,
    *,
    beta: Fraction,
    size: int | None,
) -> tuple[Accuracy, ...]:
    """The accuracy of each output."""
    recipes, answers = dict(named), []
    cells = plan.cells
    count = None if size is None or cells is None else size / cells
    for name, origin in Lineage.of(query).columns.items():
        if origin.column in recipes:
            answers.append(accuracy(name, recipes[origin.column], steps, beta, count))
        elif parts := sorted(origin.sources):
            errors = ", ".join(f"{part} {accuracy(part, recipes[part], steps, beta, count)}" for part in parts)
            answers.append(Accuracy(name, None, f"follows from {errors}", "interval arithmetic"))
        elif plan.chosen and origin.column is not None:
            text = f"shown if more than {at_most(steps[-1].mechanism.error(beta=beta), 'unit')} have it"
            answers.append(Accuracy(name, None, text, "P[n + Z < threshold]"))
        else:
            answers.append(Accuracy(name, 0.0, "exact"))
    return tuple(answers)


def level(beta: Fraction, parts: int) -> float:
    """The failure probability for each of so many independent noises, so that all hold with 1 - beta (Sidak 1967)."""
    return -math.expm1(math.log1p(-float(beta)) / parts) if parts > 1 else float(beta)


def accuracy(name: str, r: Recipe, steps: Sequence[Step], beta: Fraction, count: float | None) -> Accuracy:
    """The accuracy of one aggregate, with about `count` rows in a cell."""
    each = level(beta, len(r.parts))
    errors = [steps[i].mechanism.added_noise.error(beta=each) for i in r.parts]
    theorem = steps[r.parts[0]].mechanism.theorem
    match r.kind:
        case "count" | "units" | "distinct" | "sum":
            error, m = up(Fraction(errors[0]) * r.own), steps[r.parts[0]].mechanism
            text = f"+-{from_above(error)}"
            if isinstance(m, KeySelection):
                text += f" where it is above {from_above(m.threshold + error)}, else from 1 up"
            return Accuracy(name, error, text, theorem)
        case "quantile":
            text = chosen_quantile(r, steps[r.parts[0]].mechanism, errors[0])
            return Accuracy(name, errors[0], text, theorem)
        case "top":
            return Accuracy(name, errors[0], chosen_label(r, errors[0]), theorem)
    top, rest, text, bound = _quotient(r, errors)
    if count is None:
        return Accuracy(name, None, text, "(e + h f) / (N - f), from the errors e of the total and f of the count")
    few = count - errors[0]
    error = min(top / few + rest, bound) if few > 0 else bound
    error = math.sqrt(error) if r.kind == "deviation" else error
    about = f"+-{from_above(error)} where there are about {count:g} rows"
    return Accuracy(name, error, about, "(e + h f) / (N - f), from the errors e of the total and f of the count")


def chosen_quantile(r: Recipe, mechanism: Mechanism[Any, Any], error: float) -> str:
    """The error of a quantile in words: how far its value, or the cell around it, is from its rank."""
    assert isinstance(mechanism, Quantiles)
    rank = f"at most {at_most(error, 'row')} away from rank {float(mechanism.quantiles[r.place]):g}"
    return f"the middle of a cell {r.width} wide, {rank}" if r.coarse > 1 else rank


def chosen_label(r: Recipe, error: float) -> str:
    """The error of a most common label in words: by how much another label may be more common."""
    largest = "the largest" if r.place == 0 else f"number {r.place + 1} of the largest"
    return f"has a count at most {at_most(error, 'row')} below {largest}"


def _quotient(r: Recipe, errors: Sequence[float]) -> tuple[float, float, str, float]:
    """For means and variances: the numerator over N - f, a constant term, both in words, and the largest error."""
    d, grid = r.domain, float(r.domain.grid)
    far = max_abs(d.lower - r.shift, d.upper - r.shift)
    mean = errors[1] + far * errors[0]
    wide = (d.upper - d.lower) * grid
    if r.kind == "mean":
        return mean * grid, 0.0, f"+-{from_above(mean * grid)} / (count - {from_above(errors[0])})", wide
    s = Squares.of(d, r.centre)
    square = (errors[2] + (s.largest - s.middle) * errors[0]) * s.coarse**2
    half = max_abs(d.lower - r.centre, d.upper - r.centre)
    coarse = s.coarse if s.coarse > 1 else 0
    top = (square + (2 * half + coarse) * mean) * grid**2
    rest = coarse * (half + 1.25 * coarse) * grid**2
    words = f"{from_above(top)} / (count - {from_above(errors[0])})" + (f" + {from_above(rest)}" if rest else "")
    return top, rest, f"+-sqrt({words})" if r.kind == "deviation" else f"+-{words}", wide**2 / 4
