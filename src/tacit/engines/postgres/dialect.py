"""The SQL dialect of PostgreSQL 14 or later, the raw columns of its types, and joins with long lists of labels.

PostgreSQL raises where others round: for a double that is too small, an invalid date, too many digits.  So every value
is checked to be in range before it is cast, divided or subtracted.  Text is compared as bytes, whatever the collation
of a column; the database itself must be in UTF-8.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from sqlglot import exp

from ...query.schema.schema import Schema
from ...query.values.column_types import ColumnType
from ...query.values.nodes import DatePartName
from ..sql.dialect import (
    Dialect,
    Typed,
    binary,
    call,
    case,
    cast,
    constant,
    double,
    number,
    within,
)
from ..sql.raw_columns import RawColumn

_DATE_PARTS = {"year": "YEAR", "quarter": "QUARTER", "month": "MONTH", "day": "DAY", "weekday": "ISODOW"}
_INTEGER_BITS = {"int2": 16, "int4": 32, "int8": 64}
_TEXTS = ("text", "varchar", "bpchar", "name", "citext", "uuid")
_EPOCH = cast(constant("1970-01-01"), "DATE")
_INFINITE_TIME = 1 << 60  # steps that stand for -infinity and infinity
_MAX_CASE = 8  # keys that are compared one by one
_MAX_ARRAY_PER_KEY = 4  # a lookup array has at most this many entries for each key
_LARGEST, _TINY = "1.7976931348623157e308", "1e-300"  # beyond these a double overflows, or may underflow
_SAFE_DIGITS = 300  # a decimal with so many digits before and after its point is within these
_MAX_UNIT = 10**38  # integers below it can be units
_MAX_COMPARED = 3  # labels that are compared one by one; more are joined
_LEAP = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)"
_DAY = (
    "^(?!0000)([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    f"|02-(0[1-9]|1[0-9]|2[0-8]))|{_LEAP}-02-29)$"
)


class PostgresDialect(Dialect):
    """PostgreSQL; integers beyond 64 bits are decimals of any length."""

    name = "postgres"
    integers = {16: "SMALLINT", 32: "INT", 64: "BIGINT", 128: "DECIMAL"}  # noqa: RUF012

    def text(self, e: exp.Expr) -> exp.Expr:
        return _bytes(cast(e, "TEXT"))

    def joined(self, parts: Sequence[exp.Expr]) -> exp.Expr:
        bare = (e.this.this if isinstance(e, exp.Collate) and isinstance(e.this, exp.Cast) else e for e in parts)
        return call("CONCAT", *bare)  # CONCAT converts numbers itself

    def once(self, query: str) -> str:
        return f"{query} OFFSET 0"  # else it is merged into the outer query, and its columns are computed again

    def md5(self, e: exp.Expr) -> exp.Expr:
        return _bytes(call("MD5", e))

    def hexadecimal(self, e: exp.Expr, digits: int) -> exp.Expr:
        written = call("CONCAT", constant("x"), call("LEFT", e, number(digits)))
        return cast(exp.Cast(this=written, to=exp.Var(this=f"BIT({4 * digits})")), self.integers[64])

    def whole(self, e: exp.Expr) -> exp.Expr:
        short = call("LEFT", e.copy(), number(21))  # one character more than the longest integer
        n = case((_like(short, "^(0|-?[1-9][0-9]{0,18})$"), cast(e.copy(), self.integers[128])))
        return case((within(n, -(1 << 63), (1 << 63) - 1), cast(e.copy(), self.integers[64])))

    def flag(self, condition: exp.Expr) -> exp.Expr:
        return cast(condition, "INT")

    def total(self, e: exp.Expr, bits: int) -> exp.Expr:
        # PostgreSQL sums INT in BIGINT, and BIGINT in DECIMAL
        return exp.Sum(this=binary(exp.Add, e, cast(number(0), self.integers[64])) if bits > 64 else e)

    def quotient(self, a: exp.Expr, b: exp.Expr, bits: int) -> exp.Expr:
        if bits > 64:
            return call("DIV", a, b)
        return exp.Paren(this=exp.Div(this=a, expression=b, typed=True))

    def date_part(self, part: DatePartName, days: exp.Expr) -> exp.Expr:
        day = binary(exp.Add, _EPOCH.copy(), cast(days, "INT"))
        return exp.Extract(this=exp.Var(this=_DATE_PARTS[part]), expression=day)

    def lookup(self, a: Typed, keys: Sequence[int | str], values: Sequence[int]) -> exp.Expr:
        pairs = {key: value for key, value in zip(keys, values, strict=True) if "\0" not in str(key)}  # no text has it
        keys, values = list(pairs), list(pairs.values())
        if len(keys) <= _MAX_CASE:
            return super().lookup(a, keys, values) if keys else cast(exp.Null(), "INT")
        whole = [key for key in keys if isinstance(key, int)]
        if len(whole) == len(keys) and (span := max(whole) - min(whole) + 1) <= _MAX_ARRAY_PER_KEY * len(keys):
            none, first = max(values) + 1, min(whole)  # an array without NULL is indexed in constant time
            entries = [none] * span
            for key, value in zip(whole, values, strict=True):
                entries[key - first] = value
            place = cast(binary(exp.Sub, a.sql, number(first - 1)), "INT")
            array = exp.Paren(this=exp.Var(this=f"'{{{', '.join(map(str, entries))}}}'::BIGINT[]"))
            entry = exp.Bracket(this=array, expressions=[place], offset=1)
            inside = within(a.sql.copy(), first, first + span - 1)
            return case((inside, exp.Nullif(this=entry, expression=number(none))))
        # a JSONB object is searched by bisection, and fields of text are the fastest to read
        table = json.dumps({str(key): str(value) for key, value in pairs.items()}, ensure_ascii=False)
        field = call("JSONB_OBJECT_FIELD_TEXT", cast(constant(table), "JSONB"), cast(a.sql, "TEXT"))
        return cast(field, self.integers[self.bits(min(values), max(values))])

    def matches(self, e: exp.Expr, pattern: str) -> exp.Expr:
        return _like(e, f"^(?:{pattern.removeprefix('(?s)')})$")  # in PostgreSQL, . matches a newline already

    def group(self, e: exp.Expr, pattern: str, number_: int) -> exp.Expr:
        found = call("REGEXP_MATCH", e, constant(f"^(?:{pattern})$"))
        return _bytes(exp.Bracket(this=exp.Paren(this=found), expressions=[number(number_)], offset=1))

    def bounded(self, x: exp.Expr, low: float, high: float) -> exp.Expr:
        above, below = binary(exp.GT, x.copy(), double(high)), binary(exp.LT, x.copy(), double(low))
        last = case(
            (self.is_nan(x.copy()), exp.Null()), otherwise=double(high)
        )  # PostgreSQL sorts NaN above all numbers
        return case((above, last), (below, double(low)), otherwise=x)  # two comparisons are faster than BETWEEN

    def scaled(self, x: exp.Expr, grid: float) -> exp.Expr:
        if grid == 1:
            return x
        if grid < 1:  # 1 / grid is a power of two, so the product is exact, and faster
            return binary(exp.Mul, x, double(1 / grid))
        divided = exp.Paren(this=exp.Div(this=x, expression=double(grid), typed=True))
        large = binary(exp.GT, exp.Abs(this=x.copy()), _double(_TINY))
        return case((large, divided), otherwise=x.copy())

    def try_cast(self, e: exp.Expr, to: str) -> exp.Expr:
        if to == "DOUBLE":
            return _nearest(cast(e, "DECIMAL"))
        return case((_like(e, "^[0-9]{1,4}$"), cast(e.copy(), to)))

    def is_nan(self, e: exp.Expr) -> exp.Expr:
        return binary(exp.EQ, e, _double("NaN"))

    def day(self, e: exp.Expr) -> exp.Expr:
        return case((_like(e, _DAY), binary(exp.Sub, cast(e.copy(), "DATE"), _EPOCH.copy())))


def raw(name: exp.Expr, kind: str, enumerated: bool, modifier: int) -> RawColumn:
    """The raw column of a PostgreSQL column; a modifier may fix the digits of a decimal."""
    if kind in _INTEGER_BITS:
        return RawColumn("integer", name, _INTEGER_BITS[kind])
    if kind in ("float4", "float8"):
        return RawColumn("double", cast(name, "DOUBLE") if kind == "float4" else name)
    if kind == "numeric":
        written = case((binary(exp.LT, exp.Abs(this=name), _decimal(_MAX_UNIT)), name.copy()))
        fixed = modifier >= 4 and max(divmod(modifier - 4, 1 << 16)) <= _SAFE_DIGITS
        return RawColumn("decimal", written, double=cast(name.copy(), "DOUBLE") if fixed else _nearest(name.copy()))
    if kind == "bool":
        return RawColumn("boolean", name)
    if kind in _TEXTS or enumerated:
        return RawColumn("text", PostgresDialect().text(name))
    if kind == "date":
        return RawColumn("date", _finite(name, binary(exp.Sub, name.copy(), _EPOCH.copy()), "DATE"))
    if kind in ("timestamp", "timestamptz"):
        seconds = exp.Extract(this=exp.Var(this="EPOCH"), expression=name.copy())
        return RawColumn("timestamp", _finite(name, exp.Floor(this=seconds), kind))
    return RawColumn("other", name)


def _bytes(e: exp.Expr) -> exp.Expr:
    """Text under the collation that compares bytes."""
    return exp.Collate(this=e, expression=exp.Identifier(this="C", quoted=True))


def _double(written: str) -> exp.Expr:
    return cast(constant(written), "DOUBLE")


def _decimal(value: int | str) -> exp.Expr:
    return cast(constant(str(value)), "DECIMAL")


def _like(e: exp.Expr, pattern: str) -> exp.Expr:
    return exp.Paren(this=exp.RegexpLike(this=e, expression=constant(pattern)))


def _nearest(x: exp.Expr) -> exp.Expr:
    """The double nearest to a decimal: infinite if it is too large, 0 if it is too small."""
    tiny = binary(exp.LT, exp.Abs(this=x.copy()), _decimal(_TINY))
    above, below = binary(exp.GT, x.copy(), _decimal(_LARGEST)), binary(exp.LT, x.copy(), _decimal(f"-{_LARGEST}"))
    nan = binary(exp.EQ, x.copy(), cast(constant("NaN"), "DECIMAL"))
    ends = (nan, _double("NaN")), (tiny, _double("0")), (above, _double("Infinity")), (below, _double("-Infinity"))
    return case(*ends, otherwise=cast(x, "DOUBLE"))


def _finite(x: exp.Expr, value: exp.Expr, kind: str) -> exp.Expr:
    """The value of a date or timestamp, with infinities replaced by very large steps."""
    always, never = (cast(constant(end), kind) for end in ("infinity", "-infinity"))
    after, before = binary(exp.EQ, x.copy(), always), binary(exp.EQ, x.copy(), never)
    return case((after, number(_INFINITE_TIME)), (before, number(-_INFINITE_TIME)), otherwise=cast(value, "BIGINT"))


def listed(column: ColumnType, raw: RawColumn) -> bool:
    """Whether a category has so many labels that a join finds them fastest."""
    domain = column.domain
    return domain.kind == "category" and raw.kind in ("integer", "text") and len(domain.labels) > _MAX_COMPARED


def joins(schema: Schema, raw: dict[str, RawColumn]) -> Iterator[exp.Join]:
    """The joins with lists of labels that these columns need; each such column is replaced by its canonical form.

    A list is grouped, so that PostgreSQL knows that no row matches twice, and can drop a join that is not needed.
    """
    d = PostgresDialect()
    for i, (name, column) in enumerate(schema.columns):
        if name in raw and listed(column, raw[name]):
            labels = column.domain.labels
            kind = d.integers[d.bits(0, len(labels))]
            rows = f"UNNEST(CAST({d.render(constant(_label_array(labels)))} AS TEXT[])) WITH ORDINALITY AS v(t, p)"
            labelled = f"(SELECT t, CAST(MIN(p) - 1 AS {kind}) AS p FROM {rows} GROUP BY t) AS l{i}"
            same = exp.EQ(this=d.text(raw[name].sql), expression=exp.column("t", f"l{i}"))
            yield exp.Join(this=exp.Var(this=labelled), side="LEFT", on=same)
            raw[name] = RawColumn("canonical", exp.column("p", f"l{i}"))


def _label_array(texts: Sequence[str]) -> str:
    """A PostgreSQL array literal; one constant is parsed faster than many."""
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return "{" + ",".join(f'"{text}"' for text in quoted) + "}"
