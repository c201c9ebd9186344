"""Plans as SQL: one statement, one scan.

    rows of the relation  ->  [group cap]  ->  [one row for each unit and cell]  ->  one row for each cell (and bin)

One aggregation computes counts and sums over rows; histograms are grouping sets of it.  An inner aggregation by unit is
added only for counts of units and for sums that are clamped for each unit, and only if a unit may have several rows.
Only a plan that has both histograms and such measures takes two statements; counts of different values, which are no
sums of anything, take one of their own.

The names are fixed: c0, c1, ... for columns, u for the unit, k for keys, b for bins, m for measures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from ...query.plan.plan import BinCounts, Measure, QueryPlan, RowCount, Total, UnitCount, ValueCount, max_abs
from ...query.relation.relation import scans
from ...query.select.query import Key
from .binning import Binning, histogram_binning, key_binning
from .dialect import TEXT, Dialect, Typed, alias, call, case, cast, clamped, number, there
from .expressions import Translator
from .keyed_hash import KeyedHash
from .relations import BoundedTable, Context, RowQuery, column, rows_of, selected

Trees = list[exp.Expr]
Aggregation = tuple[exp.Select, dict[int, exp.Expr], exp.Expr]  # input rows, the measures of a cell, and its count
MAX_ROWS = 1 << 40  # a sum of this many values below 2^23 fits 64 bits


@dataclass(frozen=True)
class SQLStatement:
    """A SQL tree and the meaning of its columns: keys k, bins b with flags g, and measures m by their index."""

    tree: exp.Expr
    keys: tuple[Binning | None, ...]
    bins: Mapping[int, Binning]  # by the index of the histogram in the plan
    measures: tuple[int, ...]
    wide: frozenset[int]  # measures that are returned as decimal digits


def statements(plan: QueryPlan, dialect: Dialect, tables: Mapping[str, BoundedTable]) -> list[SQLStatement]:
    """The statements of a plan; if keys are selected privately, the number of units is an additional last measure."""
    single = plan.relation.rows == 1
    measures = [*plan.measures, UnitCount()] if plan.chosen else list(plan.measures)
    if single:  # a unit has at most one row: then rows are units, and are clamped one by one
        measures = [RowCount(m.expression) if isinstance(m, UnitCount) else m for m in measures]
    by_index = dict(enumerate(measures))
    of_values = {i: m for i, m in by_index.items() if isinstance(m, ValueCount)}
    of_units = {} if single else {i: m for i, m in by_index.items() if _of_units(m)}
    additive = {i: m for i, m in by_index.items() if i not in of_units and i not in of_values}
    if of_units and not any(isinstance(m, BinCounts) for m in additive.values()):
        of_units, additive = {**additive, **of_units}, {}
    return [_Builder(plan, part, dialect, tables).statement() for part in (of_values, additive, of_units) if part]


def _of_units(measure: Measure) -> bool:
    return isinstance(measure, UnitCount) or (isinstance(measure, Total) and measure.per_unit is not None)


@dataclass(frozen=True)
class _Builder:
    """Builds the statement of some measures of a plan."""

    plan: QueryPlan
    measures: Mapping[int, Measure]
    dialect: Dialect
    tables: Mapping[str, BoundedTable]

    def statement(self) -> SQLStatement:
        """The statement, from the innermost query to the outermost."""
        plan, d = self.plan, self.dialect
        rows = rows_of(plan.relation, Context(d, self.tables))
        if plan.groups is not None and plan.groups < replace(plan, groups=None).touched and plan.relation.rows > 1:
            rows = capped(rows, plan.keys, plan.groups, self.tables[next(scans(plan.relation)).table].key, d)
        t = Translator(d, rows.columns)
        keys = tuple(None if k.values is None else key_binning(k, t.value(k.expression), d) for k in plan.keys)
        codes = [
            d.narrowed(t.value(k.expression)).sql if binning is None else binning.code
            for k, binning in zip(plan.keys, keys, strict=True)
        ]
        bins = {
            i: histogram_binning(m, t.value(m.expression), d)
            for i, m in self.measures.items()
            if isinstance(m, BinCounts)
        }
        inside = [there(code.copy()) for code in codes]
        at = [*(alias(code, f"k{i}") for i, code in enumerate(codes))]
        at += [alias(binning.code, f"b{i}") for i, binning in bins.items()]
        names = [e.alias for e in at]
        others = {i: m for i, m in self.measures.items() if i not in bins}
        single = plan.relation.rows == 1 or not any(map(_of_units, others.values()))
        aggregation = self._by_rows if single else self._by_units
        source, sums, counted = aggregation(rows, at, inside, others)
        if bins:
            sums = {-1: cast(counted, d.integers[64]), **sums}
        wide = frozenset(i for i, m in others.items() if _wide(m))
        return SQLStatement(self._outermost(source, names, sums, list(bins)), keys, bins, tuple(others), wide)

    def _by_rows(self, rows: RowQuery, at: Trees, inside: Trees, others: Mapping[int, Measure]) -> Aggregation:
        """An aggregation over rows, or, if the table can aggregate eagerly, over sums of rows that are alike."""
        t = Translator(self.dialect, rows.columns)
        values = {i: self._value(m, t) for i, m in others.items()}
        added = {f"v{i}": self._inner(m, values[i]) or exp.Count(this=exp.Star()) for i, m in others.items()}
        added |= {"n": exp.Count(this=exp.Star())} if len(others) < len(self.measures) else {}
        apart = any(isinstance(m, ValueCount) for m in others.values())
        if rows.eager is not None and not apart and (summed := rows.eager(rows, at, added)) is not None:
            source = selected([*at, *map(column, added)], summed, inside)
            unclamped = {i: replace(m, per_unit=None) if isinstance(m, Total) else m for i, m in others.items()}
            sums = {i: self._outer(m, column(f"v{i}"), True) for i, m in unclamped.items()}
            return source, sums, exp.Sum(this=column("n"))
        source = selected([*at, *(alias(v, f"v{i}") for i, v in values.items() if v)], rows, inside)
        sums = {i: self._outer(m, column(f"v{i}") if values[i] else None, False) for i, m in others.items()}
        return source, sums, exp.Count(this=exp.Star())

    def _by_units(self, rows: RowQuery, at: Trees, inside: Trees, others: Mapping[int, Measure]) -> Aggregation:
        """An aggregation over one row for each unit and cell."""
        t, binned = Translator(self.dialect, rows.columns), len(others) < len(self.measures)
        inner = {i: self._inner(m, t.value(m.expression).sql if m.expression else None) for i, m in others.items()}
        parts = [alias(rows.owner(), "u"), *at, *([alias(exp.Count(this=exp.Star()), "n")] if binned else [])]
        parts += [alias(v, f"v{i}") for i, v in inner.items() if v]
        source = selected(parts, rows, inside).group_by(*_places(1 + len(at)), copy=False)
        sums = {i: self._outer(m, column(f"v{i}") if inner[i] else None, True) for i, m in others.items()}
        return source, sums, exp.Sum(this=column("n"))

    def _outermost(
        self, source: exp.Select, names: list[str], sums: Mapping[int, exp.Expr], bins: list[int]
    ) -> exp.Select:
        """The outermost query: one row for each cell, or for each cell and bin of each histogram."""
        out: list[exp.Expr] = [column(name) for name in names]
        if len(bins) > 1:
            out += [alias(call("GROUPING", column(f"b{i}")), f"g{i}") for i in bins]
        out += [alias(e, "n" if i < 0 else f"m{i}") for i, e in sums.items()]
        tree = _from(out, source)
        if len(bins) > 1:
            shared = names[: len(names) - len(bins)]
            sets = [exp.Tuple(expressions=[column(name) for name in (*shared, f"b{i}")]) for i in bins]
            tree.set("group", exp.Group(grouping_sets=[exp.GroupingSets(expressions=sets)]))
        elif names:
            tree.group_by(*_places(len(names)), copy=False)
        return tree

    def _value(self, m: Measure, t: Translator) -> exp.Expr | None:
        """The value that a row adds to a measure."""
        if m.expression is None:
            return None
        e = t.value(m.expression)
        if isinstance(m, Total) and m.per_unit is not None:  # a unit has one row here
            return self._clamped(e, m.per_unit)
        return e.sql

    def _clamped(self, e: Typed, ends: tuple[int, int]) -> exp.Expr:
        bits = max(e.bits, self.dialect.bits(*ends))
        x = self.dialect.widened(e, bits)
        low, high = (self.dialect.widened(Typed(number(end), 0), bits) for end in ends)
        return case((there(x.copy()), clamped(x, low, high)))

    def _inner(self, m: Measure, value: exp.Expr | None) -> exp.Expr | None:
        """The sum or count over a unit's rows in one cell; None where only their presence matters."""
        if value is None:
            return None if isinstance(m, UnitCount) else exp.Count(this=exp.Star())
        if not isinstance(m, Total):
            return exp.Count(this=value.copy())
        return exp.Coalesce(this=self.dialect.total(value.copy(), _bits(m)), expressions=[number(0)])

    def _outer(self, m: Measure, value: exp.Expr | None, grouped: bool) -> exp.Expr:
        """A measure of a cell, from the values of its rows or, if `grouped`, of its units or groups."""
        d = self.dialect
        if isinstance(m, Total):
            assert value is not None
            if grouped and m.per_unit is not None:
                bits = max(_bits(m), d.bits(*m.per_unit))
                value = clamped(value, *(d.widened(Typed(number(end), 0), bits) for end in m.per_unit))
            total = exp.Coalesce(this=d.total(value, _bits(m)), expressions=[number(0)])
            return d.text(total) if _wide(m) else cast(total, d.integers[64])
        if isinstance(m, ValueCount):
            return exp.Count(this=exp.Distinct(expressions=[value]))
        if value is None or not grouped:
            return exp.Count(this=value or exp.Star())
        if isinstance(m, UnitCount):
            return exp.Count(this=exp.Nullif(this=value, expression=number(0)))
        return cast(exp.Coalesce(this=exp.Sum(this=value), expressions=[number(0)]), d.integers[64])


def _from(columns: Sequence[exp.Expr], source: exp.Select) -> exp.Select:
    return exp.select(*columns, copy=False).from_(source.subquery("q", copy=False), copy=False)


def _wide(m: Measure) -> bool:
    return isinstance(m, Total) and _bits(m) > 64


def _bits(m: Total) -> int:
    """The number of bits that a sum may need: 64 or 128."""
    return 64 if max_abs(m.expression.domain.lower, m.expression.domain.upper) * MAX_ROWS < 1 << 63 else 128


def _places(n: int) -> list[exp.Expr]:
    return [number(i + 1) for i in range(n)]


def capped(rows: RowQuery, keys: Sequence[Key], groups: int, secret: str, d: Dialect) -> RowQuery:
    """The group cap: the rows of each unit that are in its `groups` cells of smallest hash (`rows.reference.cells`)."""
    t = Translator(d, rows.columns)
    cell = [d.narrowed(t.value(key.expression)) for key in keys]
    codes = [x.sql if k.values is None else key_binning(k, x, d).code for k, x in zip(keys, cell, strict=True)]
    columns = [alias(rows.owner(), "u"), *(alias(x.sql.copy(), f"s{i}") for i, x in enumerate(cell))]
    columns += [alias(x.sql.copy(), f"c{i}") for i, x in enumerate(rows.columns.values())]
    inside = selected(columns, rows, [there(code.copy()) for code in codes])
    steps = [Typed(column(f"s{i}"), TEXT if x.bits == TEXT else 32) for i, x in enumerate(cell)]
    values = [(x, key.domain) for x, key in zip(steps, keys, strict=True)]
    by = KeyedHash(secret, "groups", Typed(column("u"), rows.unit or TEXT), values, d)
    summed = _and(alias(by.linear(), "y"), inside)
    order = exp.Order(expressions=[exp.Ordered(this=e) for e in (by.cubic(column("y")), *(x.sql for x in steps))])
    rank = exp.Window(this=exp.DenseRank(), partition_by=[column("u")], order=order)
    ranked = _and(alias(rank, "place"), summed).subquery("q", copy=False)
    renamed = {name: Typed(column(f"c{i}"), x.bits) for i, (name, x) in enumerate(rows.columns.items())}
    return RowQuery(ranked, renamed, rows.unit, (exp.LTE(this=column("place"), expression=number(groups)),))


def _and(more: exp.Expr, source: exp.Select) -> exp.Select:
    return exp.select(exp.Star(), more, copy=False).from_(source.subquery("q", copy=False), copy=False)
