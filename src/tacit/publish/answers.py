"""The answers of a publication as they are shown: a table with intervals, a chart, sentences and a card for each."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import storage
from ..core.errors import reading
from ..core.exact import from_above
from ..core.safe_text import cell
from ..curator.bounds import Bounds, read_bounds
from ..curator.items import BoundsItem, Item, QuestionItem, WorkloadItem
from ..query.plan.offer import promise
from ..release import Release
from ..release.card import heading, mechanism
from ..release.export import sentence
from ..release.plots import drawable
from ..release.purchased_answers import Bought
from ..workloads.models.records import records
from .chart import Bar, bars

if TYPE_CHECKING:
    from pyarrow import Table

_COVERS = "The intervals cover the noise; not sampling or the bounding of each unit's rows."


@dataclass(frozen=True)
class Answer:
    """One answer: what was asked, its table, chart and sentences, what a machine reads, and further files by suffix."""

    name: str
    title: str
    kind: str
    question: str
    table: Table
    csv: str
    sentences: str
    errors: list[tuple[str, str]]
    card: dict[str, Any]
    chart: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def mechanisms(self) -> list[str]:
        """The names of the mechanisms behind the answer."""
        return [each["name"] for each in self.card["mechanisms"]]


def read_answer(item: Item, stored: Mapping[str, Any], price: Fraction) -> Answer:
    """The answer to an item, from what the ledger keeps of it."""
    with reading("this publication"):
        if isinstance(item, QuestionItem):
            return _question(item, item.asked.shown(Release.from_json(json.dumps(stored))))
        if isinstance(item, WorkloadItem):
            released, _, origin = storage.read(stored["workload"])
            facts = {**vars(released), "workload": item.workload}
            bought = Bought(**facts, price=price, provenance=origin)
            return _synthetic(item, bought, stored["rows"]) if item.rows else _workload(item, bought)
        assert isinstance(item, BoundsItem)
        return _bounds(item, stored["bounds"], price)


def _question(item: QuestionItem, release: Release) -> Answer:
    card = release.card()
    accuracy = card["accuracy"]
    errors = [
        (name, "unbounded" if error is None else f"+-{from_above(error)} {accuracy['of'][name]}")
        for name, error in accuracy["largest_error"].items()
        if name in release.noisy_names
    ]
    return Answer(
        item.name,
        item.title or item.name,
        "question",
        item.asked.text,
        release.to_arrow(),
        release.to_csv(),
        sentence(release, "from lower to upper "),
        errors,
        card,
        _release_chart(release),
        {"json": release.to_json()},
    )


def _release_chart(release: Release) -> str:
    """A chart of the first column of numbers against the keys, if there is one."""
    if not any(c.kind in ("integer", "real") for n, c in release.columns.items() if n in release.noisy_names):
        return ""
    name = next((n for n in drawable(release.query) if n in release.noisy_names), None)
    if name is None:
        return ""
    column, keys = (
        release.columns[name],
        [c.tolist() for n, c in release.columns.items() if n not in release.noisy_names],
    )
    labels = [", ".join(str(key[i]) for key in keys) for i in range(len(column))] if keys else [name]
    ends = zip(labels, column.tolist(), column.lower.tolist(), column.upper.tolist(), strict=True)
    return bars([Bar(*each) for each in ends if each[1] is not None], name)


def _workload(item: WorkloadItem, bought: Bought) -> Answer:
    import pyarrow as pa

    n, errors = item.workload.queries, bought.errors
    labels = [item.workload.label(i) for i in range(n)]
    within = np.full(n, np.inf) if errors is None else errors
    low, high = bought.answers - within, bought.answers + within
    low, high = np.minimum(np.maximum(low, 0), bought.answers), np.maximum(high, 0)  # no count is negative
    finite = [
        (None if not np.isfinite(a) else float(a), None if not np.isfinite(b) else float(b))
        for a, b in zip(low, high, strict=True)
    ]
    lows, highs = zip(*finite, strict=True)
    table = pa.table({"query": labels, "count": bought.answers.tolist(), "count_lower": lows, "count_upper": highs})
    shown = [Bar(label, float(v), *ends) for label, v, ends in zip(labels, bought.answers, finite, strict=True)]
    largest = float(within.max())
    stated = [("count", f"+-{from_above(largest)} rows" if np.isfinite(largest) else "unknown")]
    return _of_workload(item, bought, table, stated, chart=bars(shown, "count"), caveat=_COVERS)


def _synthetic(item: WorkloadItem, bought: Bought, rows: Sequence[Sequence[int]]) -> Answer:
    table = records(item.domain, np.array(rows, np.int64).reshape(-1, len(item.domain.names)))
    largest = None if bought.errors is None else float(bought.errors.max())
    stated = "unknown" if largest is None or not np.isfinite(largest) else f"+-{from_above(largest)} rows"
    caveat = (
        "These rows are drawn from a model of noisy counts: no row is anybody's, and how many there are says nothing"
    )
    more = f"{caveat} about the size of the table. Counts that were not measured may be far off."
    return _of_workload(item, bought, table, [("measured counts", stated)], caveat=more)


def _of_workload(
    item: WorkloadItem, bought: Bought, table: Table, errors: list[tuple[str, str]], *, chart: str = "", caveat: str
) -> Answer:
    units = " and ".join(sorted({unit for _, unit, _ in bought.provenance.tables})) or "unit"
    kind = "synthetic" if item.rows else "workload"
    alone = f"Taken alone, this answer is {promise(bought.loss)} for any one {units}."
    sure = f"Each interval holds with {100 * (1 - bought.beta):g} % probability over the noise."
    left_out = f"Rows in which one of {', '.join(item.domain.names)} is missing are left out."
    sentences = " ".join((*([sure] if kind == "workload" else []), caveat, left_out, *bought.notes, alone))
    question = f"{item.workload!r}: {' x '.join(item.domain.names)}, by {bought.method}"
    title = item.title or item.name
    return Answer(item.name, title, kind, question, table, _csv(table), sentences, errors, bought.card(), chart)


def _bounds(item: BoundsItem, stored: Mapping[str, Any], price: Fraction) -> Answer:
    import pyarrow as pa

    noise = storage.read(stored["noise"])
    origin = storage.read(stored["provenance"])
    found = read_bounds(item.column, item.histogram, stored["counts"], noise, item.beta)
    lower, upper = ([str(end)] if end is not None else [None] for end in (found.lower, found.upper))
    table = pa.table(
        {"column": [item.column], "lower": pa.array(lower, pa.string()), "upper": pa.array(upper, pa.string())}
    )
    card = {
        **heading(origin, noise.loss(), price, item.relation),
        "mechanisms": [mechanism(noise)],
        "accuracy": {"confidence": float(1 - item.beta), "beyond": found.beyond},
    }
    return Answer(
        item.name,
        item.title or f"Bounds of {item.column}",
        "bounds",
        f"bounds of {item.column}",
        table,
        _csv(table),
        _bounds_sentence(found),
        [(item.column, f"at most {from_above(found.beyond)} values in each cell beyond")],
        card,
    )


def _bounds_sentence(found: Bounds) -> str:
    if found.lower is None:
        return "No bounds were found: too few values lie together for this price."
    sure = f"With {float(100 * (1 - found.beta)):g} % probability there are values in the outermost cells"
    return f"{sure}, and at most {from_above(found.beyond)} in each cell beyond."


def _csv(table: Table) -> str:
    """CSV by RFC 4180; text that could begin a formula gets an apostrophe."""
    sheet = io.StringIO(newline="")
    writer = csv.writer(sheet)
    writer.writerow([cell(name) for name in table.column_names])
    for row in table.to_pylist():
        writer.writerow(["" if v is None else cell(v) if isinstance(v, str) else v for v in row.values()])
    return sheet.getvalue()
