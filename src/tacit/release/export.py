"""A release as an Arrow table, a data frame, CSV and text."""

from __future__ import annotations

import csv as rfc4180
import importlib
import io
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..core.errors import Missing
from ..core.safe_text import cell, visible
from ..mechanisms import KeySelection
from ..query.plan.accuracy import chosen_label, chosen_quantile
from ..query.plan.compiler import read_columns
from ..query.plan.offer import promise
from ..query.relation.relation import scans
from ..query.select.outputs import ColumnEstimate, Function
from ..query.values.domain import Label
from .provenance import REHEARSAL

if TYPE_CHECKING:
    from pyarrow import Table

    from .release import Release

_MAX_ROWS = 40  # of a table in text
ENDS = ("low", "high")  # of an interval: they have none of their own
_UNCLAMPED = ("count", "units", "distinct", "top")
_MAX_PLAIN = 1e21  # numbers below it are written without an exponent


def _with_ends(release: Release) -> Iterator[tuple[str, ColumnEstimate, list[Any]]]:
    """Each column, followed by the ends of its intervals if it is noisy; a quantile or mode has no interval."""
    ends = {name for name, output in release.query.outputs if isinstance(output, Function) and output.name in ENDS}
    taken, noisy = set(release.names), release.noisy_names - release.ranks().keys() - ends
    for name, c in release.columns.items():
        yield name, c, c.tolist()
        if c.kind in ("integer", "real") and name in noisy:
            for side, end in (("lower", c.lower), ("upper", c.upper)):
                title = f"{name}_{side}"
                while title in taken:
                    title += "_"
                taken.add(title)
                yield title, c, [_end(v, c.kind == "integer") for v in end.tolist()]


def _end(end: float, integer: bool) -> float | None:
    """The end of an interval: an integer in a column of integers, and None where it is infinite."""
    if not math.isfinite(end):
        return None
    return int(end) if integer and end == int(end) else end


def _floats(ends: list[Any]) -> list[float | None]:
    """Ends as floats: Arrow converts no integer beyond 2^53."""
    return [None if end is None else float(end) for end in ends]


def arrow(release: Release) -> Table:
    """An Arrow table, with the ends of intervals beside the values."""
    import pyarrow as pa

    kinds = {"integer": pa.int64(), "real": pa.float64(), "boolean": pa.bool_()}
    names, arrays = [], []
    for name, c, values in _with_ends(release):
        kind = pa.float64() if name not in release.columns else kinds.get(c.kind)
        if kind is None and not any(value is not None for value in values):
            kind = pa.string()
        names.append(name)
        arrays.append(pa.array(values if name in release.columns else _floats(values), kind))
    return pa.table(arrays, names=names)


def frame(release: Release, library: str) -> Any:
    """A pandas or Polars data frame."""
    try:
        module = importlib.import_module(library)
    except ImportError:
        raise Missing(
            f"to_{library} needs {library}, which is not installed. Run pip install {library}, or use to_arrow."
        ) from None
    table = arrow(release)
    return module.from_arrow(table) if library == "polars" else table.to_pandas(date_as_object=False)


def csv(release: Release) -> str:
    """CSV by RFC 4180, with lines that end in CR LF; text that could begin a formula gets an apostrophe."""
    columns = list(_with_ends(release))
    sheet = io.StringIO(newline="")
    writer = rfc4180.writer(sheet)
    writer.writerow([cell(name) for name, _, _ in columns])
    writer.writerows(zip(*([_cell(v) for v in values] for _, _, values in columns), strict=True))
    return sheet.getvalue()


def _cell(value: Any) -> Any:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return cell(value)
    return value


def text(release: Release) -> str:
    """A table, and sentences on its accuracy and privacy."""
    columns = release.columns
    bracketed = release.noisy_names - release.ranks().keys()
    cells = [[visible(name), *_lines(c, name in bracketed, name in release.noisy_names)] for name, c in columns.items()]
    widths = [max(map(len, column)) for column in cells]
    rows = zip(*cells, strict=True)
    table = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    count = len(next(iter(columns.values()))) if columns else 0
    if count > _MAX_ROWS:
        table.append(f"... and {count - _MAX_ROWS} more rows; to_csv (--csv) has all")
    return "\n".join((*table, "", sentence(release)))


def _lines(c: ColumnEstimate, intervals: bool, noisy: bool) -> list[str]:
    values, ends = c.tolist()[:_MAX_ROWS], zip(c.lower.tolist(), c.upper.tolist(), strict=True)
    if c.kind not in ("integer", "real") or not intervals:
        return [_decimal(v, _places(abs(v)), round) if noisy and isinstance(v, float) else _plain(v) for v in values]
    return [_number(v, *end) for v, end in zip(values, ends, strict=False)]


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _MAX_PLAIN else f"{value:.15g}"
    if value is None:
        return "-"
    return visible(str(value))


def _number(value: int | float | None, low: float, high: float) -> str:
    """A value and its interval, rounded outward: integers in full, others with enough digits to differ."""
    if low == high:
        return _plain(value)
    if isinstance(value, int):
        places = finer = 0
    else:
        places = _places(max((abs(end) for end in (low, high) if math.isfinite(end)), default=0.0), high - low)
        finer = max(places, _places(abs(value or 0.0)))  # so that rounding moves the value past no end
    shown = "-" if value is None else _decimal(value, finer, round)
    return f"{shown} [{_decimal(low, places, math.floor)}, {_decimal(high, places, math.ceil)}]"


def _places(size: float, width: float = math.inf) -> int:
    """Decimals that show six digits of a number, or a thousandth of a width, but no more digits than a float has."""
    if not size:
        return 0
    first = math.floor(math.log10(size))
    apart = first - math.floor(math.log10(width)) + 3 if 0 < width < math.inf else 0
    places = min(max(apart, 5), 14) - first
    return places if size >= _MAX_PLAIN else max(places, 0)


def _decimal(x: float, places: int, rounded: Callable[[Fraction], int]) -> str:
    if not math.isfinite(x):
        return f"{x:g}"
    exact = Fraction(x) if x == int(x) else Fraction(repr(x))  # as written: 40.2 is not rounded outward to 40.2001
    steps = rounded(exact * Fraction(10) ** places)
    while places and steps and steps % 10 == 0:
        steps, places = steps // 10, places - 1
    return f"{Decimal(f'{steps}e{-places}'):g}" if steps else "0"


def sentence(release: Release, shown: str = "in brackets ") -> str:
    """The sentences under an answer: what its intervals mean, what was clamped and capped, and how private it is.

    `shown` says where the intervals are.
    """
    if release.query.public:
        return "This answer follows from public facts alone: nothing was read, and nothing was charged."
    confidence = f"{float(100 * (1 - release.beta)):g} %"
    units = " and ".join(sorted({unit for _, unit, _ in release.provenance.tables})) or "unit"
    chosen, sentences = release.ranks(release.beta), list[str]()
    if release.keys == ():
        threshold = max(m.threshold for m in release.mechanisms if isinstance(m, KeySelection))
        sentences.append(f"No key is shown: the noisy number of units of every key is below {threshold}.")
    noisy = (c for name, c in release.columns.items() if name in release.noisy_names - chosen.keys())
    if any(c.kind in ("integer", "real") and (c.lower != c.upper).any() for c in noisy):
        given = "" if release.keys is None else ", given that its key is shown"
        sentences.append(
            f"Each interval {shown}contains the exact value with {confidence} probability over the noise{given}."
        )
    sentences += [_rank_sentence(release, name, ranks, confidence) for name, ranks in chosen.items()]
    if release.picked_by_noise:
        sentences.append("Noisy values decided which rows are shown; the intervals do not account for this.")
    elif release.lineage.ordering:
        sentences.append("The rows are ordered by noisy values.")
    if bounds := clamped(release):
        clamps = " and ".join(f"{name} to {_closed(ends)}" for name, ends in bounds.items())
        sentences.append(f"Values are clamped: {clamps}.")
    for name, ends in clamped_sums(release).items():
        sentences.append(f"The contribution of one {units} to {name} is clamped to {_closed(ends)}.")
    read = [(scan.rows, scan.table) for scan in scans(release.query.relation)]
    groups, capped = release.query.groups, ""
    if release.query.keys and groups is not None and groups < release.query.relation.rows:
        capped = f", in at most {groups} group{'s' if groups > 1 else ''}"
    if len(read) == 1 and read[0][0] > 1:
        sentences.append(f"At most {read[0][0]} rows of each {units} are used{capped}.")
    elif max(read)[0] > 1:
        caps = " and ".join(f"{n} rows of {name}" if i == 0 else f"{n} of {name}" for i, (n, name) in enumerate(read))
        sentences.append(f"At most {caps} are used for each {units}{capped}.")
    sentences.append(f"Taken alone, this answer is {promise(release.loss)} for any one {units}.")
    if release.provenance.seeded:
        sentences.append("DRAWN WITH A SEED, FOR TESTS: this answer protects nobody.")
    if release.provenance.rehearsal:
        sentences.insert(0, REHEARSAL)
    return visible(" ".join(sentences))


def _closed(ends: tuple[Label, Label]) -> str:
    return f"[{_plain(ends[0])}, {_plain(ends[1])}]"


def clamped(release: Release) -> dict[str, tuple[Label, Label]]:
    """The columns whose values are summed or ranked, each with the bounds that its values are clamped to."""
    q, bounds = release.query, {}
    added = (a.expression for _, a in q.aggregates if a.expression and a.kind not in _UNCLAMPED)
    for column in (column for e in added for column in read_columns(q.relation, e)):
        d = column.domain
        if d.declared and d.kind in ("number", "date", "timestamp"):
            bounds[column.name] = d.label(d.lower), d.label(d.upper)
    return dict(sorted(bounds.items()))


def clamped_sums(release: Release) -> dict[str, tuple[Label, Label]]:
    """The sums in which the contribution of one unit is clamped, each with its bounds."""
    sums = ((name, r.domain, r.per_unit) for name, r in release.recipes if r.per_unit is not None)
    return {name: (d.label(ends[0]), d.label(ends[1])) for name, d, ends in sums}


def _rank_sentence(release: Release, name: str, ranks: float, confidence: str) -> str:
    """The accuracy of a column of quantiles or most common labels, in rows."""
    recipe = dict(release.recipes)[release.lineage.columns[name].column or ""]  # `ranks` has no other columns
    if recipe.kind == "top":
        return f"{name} {chosen_label(recipe, ranks)}, with {confidence} probability."
    distance = chosen_quantile(recipe, release.mechanisms[recipe.parts[0]], ranks)
    return f"{name} is {distance}, with {confidence} probability."
