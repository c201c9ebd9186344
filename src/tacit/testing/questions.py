"""Random questions, as the text that a person would type: SQL from a grammar of all that is understood.

Constants stand at the edges of integer types, chains of terms leave 64 bits and come back, and a text may have been
mistyped.  A question is about one table or about two of the same units.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ..core.errors import BadQuestion
from ..query.schema.schema import Schema
from ..query.sql.functions import understood, used
from ..query.sql.lexer import Text
from .hostile import TEXTS
from .worlds import World

INTEGERS = [0, 1, 2, 3, 7, 10, 20, 99, 127, 128, 255, 256, 32_767, 32_768, 2**31 - 1, 2**31, 2**53, 2**53 + 1]
INTEGERS += [2**61, 2**62, 2**62 + 1, 2**63 - 1, 2**63, 2**64, 2_000_000_000_000_000_100, 10**18, 10**19, 2**100]
SMALL = INTEGERS[:10]
FRACTIONS = ["0.5", "1.5", "0.1", "1e-9", "1e18", "2.5e3", ".25", "123456789.123456789", "1e-30", "1e30"]
DATES = ["0001-01-01", "1969-12-31", "2016-02-29", "2020-06-30", "2024-12-31", "9999-12-31"]
PARTS = ["YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOW", "ISODOW", "DOY"]
CLOCK = ["HOUR", "MINUTE", "SECOND"]
PART_FUNCTIONS = ["YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFMONTH", "DAYOFWEEK", "DAYOFYEAR", "WEEKOFYEAR"]
PART_FUNCTIONS += ["DAYOFWEEK_ISO"]
RANKS = ["0.001", "0.01", "0.25", "0.5", "0.9", "0.999"]
TYPES = ["INTEGER", "BIGINT", "SMALLINT", "DOUBLE", "DECIMAL"]
MISTAKES = ["(", ")", ",", "'", '"', "--", "NULL", "*", "DISTINCT", "1e400", "::INT", "OVER ()", "[1]", ";", "=", "NOT"]
PAIRS = ["CORR", "COVAR_POP", "COVAR_SAMP", "REGR_COUNT", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2"]
WINDOWS = ["SUM(a0)", "AVG(a0)", "COUNT(*)", "COUNT(a0)", "MIN(a0)", "MAX(a0)", "FIRST_VALUE(a0)", "LAST_VALUE(a0)"]
WINDOWS += [
    "LAG(a0)",
    "LEAD(a0, 2)",
    "ROW_NUMBER()",
    "RANK()",
    "DENSE_RANK()",
    "PERCENT_RANK()",
    "CUME_DIST()",
    "NTILE(3)",
]
OVER = [
    "",
    "ORDER BY a0 DESC",
    "ORDER BY a0 ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING",
    "PARTITION BY a0 > 0 ORDER BY a0",
]
OVER += ["ORDER BY a0 ROWS BETWEEN 3 FOLLOWING AND UNBOUNDED FOLLOWING"]
AROUND = ["SELECT a0 FROM ({}) AS x WHERE a0 > 1", "SELECT COUNT(*), SUM(a0), AVG(a0), MIN(a0), MAX(a0) FROM ({}) AS x"]
AROUND += [
    "SELECT DISTINCT a0 FROM ({}) AS x",
    "WITH x AS ({}) SELECT a0 > 3 AS big, COUNT(a0) AS n FROM x GROUP BY big",
]
HAVING = ["COUNT(*) > 2", "a0 IS NOT NULL", "ROUND(a0, 1) * 2 >= -7", "SQRT(COUNT(*)) > 1", "LN(COUNT(*)) < EXP(3)"]
HAVING += ["DP_INTERVAL_LOW(a0) < 9", "DP_INTERVAL_HIGH(COUNT(*)) >= 0", "SIGN(a0) = 1", "POWER(a0, 2) > 4"]
LABELS = ["SUBSTR({}, 1, 2)", "LEFT({}, 2)", "RIGHT({}, -1)", "TRIM({})", "TRIM(LEADING 'n' FROM {})", "INITCAP({})"]
LABELS += ["REPLACE({}, 'o', '0')", "SPLIT_PART({}, 'o', 1)", "REVERSE({})", "{} || '-'", "CONCAT({}, '/', {})"]
FORMS = ["YYYY-MM", "FMMonth", "Dy", "IYYY-IW", '"Q"Q', "DD.MM.YYYY", "D"]
TODAY = ["CURRENT_DATE", "CAST(NOW() AS DATE)", "DATE_TRUNC('day', CURRENT_TIMESTAMP)", "DATE(LOCALTIMESTAMP)"]
TODAY += ["TO_DATE('2020-02-29', 'YYYY-MM-DD')", "CAST(TO_TIMESTAMP('31.12.2020', 'DD.MM.YYYY') AS DATE)"]
Kinds = dict[str, list[str]]  # the columns of each kind, as they are written


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def texts(seeds: Iterable[int]) -> Iterator[str]:
    """Twenty questions from each seed, about two tables of the same units."""
    for seed in seeds:
        world = World(random.Random(seed))
        writer = Writer(world, world.schema("t", "who"), world.schema("s", "who"))
        yield from (writer.question() for _ in range(20))


def undrawn(seeds: Iterable[int] = range(150)) -> set[str]:
    """What SQL understands and no random question uses: the grammar below is complete if this is empty."""
    missing = set(understood())
    for text in texts(seeds):
        try:
            tree, _ = Text(text).read()
        except BadQuestion:  # a mistyped one
            continue
        missing -= used(tree)
    return missing


@dataclass
class Writer:
    """Writes questions about a table, and about another of the same units, if there is one."""

    world: World
    schema: Schema
    other: Schema | None = None

    @cached_property
    def own(self) -> Kinds:
        """The columns of the table, by their kinds."""
        return self._kinds(self.schema, "t")

    def _kinds(self, schema: Schema, table: str) -> Kinds:
        found: Kinds = {}
        for name, column in schema.columns:
            found.setdefault(column.domain.kind, []).append(f"{table}.{quoted(name)}")
        return found

    def question(self) -> str:
        """One SELECT; now and then a mistyped one."""
        text = self._select()
        return self._mistyped(text) if self.world.likely(0.03) else text

    def _mistyped(self, text: str) -> str:
        words = text.split(" ")
        at = self.world.r.randrange(len(words))
        match self.world.r.randrange(4):
            case 0:
                del words[at]
            case 1:
                words.insert(at, words[self.world.r.randrange(len(words))])
            case 2:
                words.insert(at, self.world.any(MISTAKES))
            case _:
                words[at] = self.world.any(MISTAKES)
        return " ".join(words)

    def _select(self) -> str:
        rows, kinds = self._rows()
        keys = [self._key(kinds) for _ in range(self.world.any([0, 0, 1, 1, 2]))]
        wanted = [self._aggregate(kinds) for _ in range(self.world.any([1, 1, 2, 4]))]
        if self.world.likely(0.1):
            wanted.append(f"{self.world.any(PAIRS)}({self.number(kinds, 1)}, {self.number(kinds, 1)})")
        shown = [f"{key} AS k{i}" for i, key in enumerate(keys)] + [f"{agg} AS a{i}" for i, agg in enumerate(wanted)]
        shown += [f"{self.world.any(WINDOWS)} OVER ({self.world.any(OVER)}) AS w"] if self.world.likely(0.2) else []
        text = f"SELECT {', '.join(shown)} FROM {rows}"
        if self.world.likely(0.5):
            text += f" WHERE {self.condition(kinds, 2)}"
        if keys:
            by = "ALL" if self.world.likely(0.1) else ", ".join(map(str, range(1, len(keys) + 1)))
            text += f" GROUP BY {by if self.world.likely(0.4) else ', '.join(keys)}"
        text += self._afterwards(bool(keys))
        return self.world.any(AROUND).format(text) if self.world.likely(0.1) else text

    def _afterwards(self, grouped: bool) -> str:
        """What is computed from the answer."""
        text = ""
        if grouped and self.world.likely(0.2):
            text += f" HAVING {self.world.any(HAVING)}"
        if self.world.likely(0.2):
            text += f" ORDER BY a0 {self.world.any(['ASC', 'DESC'])} LIMIT {self.world.any([1, 3, 2**40])}"
        return text

    def _rows(self) -> tuple[str, Kinds]:
        """Where rows come from, and the columns that they have: a table, a subquery, or a join on the unit."""
        table, unit = self.schema.name, self.schema.unit
        match self.world.r.randrange(6):
            case 0:
                derived = f"SELECT *, {self.number(self.own, 2)} AS fresh FROM {table} AS t"
                where = f" WHERE {self.condition(self.own, 1)}" if self.world.likely(0.5) else ""
                return f"({derived}{where}) AS t", {**self.own, "number": [*self.own.get("number", []), "t.fresh"]}
            case 1 if unit is not None:
                folds = [f"{self._fold(self.own)} AS f{i}" for i in range(2)]
                rows = f"(SELECT {quoted(unit)}, {', '.join(folds)} FROM {table} AS t GROUP BY {quoted(unit)}) AS t"
                return rows, {"number": ["t.f0", "t.f1"]}
            case 2 if unit is not None and self.other is not None and self.other.unit is not None:
                on = f"t.{quoted(unit)} = s.{quoted(self.other.unit)}"
                both, theirs = dict(self.own), self._kinds(self.other, "s")
                kinds = {kind: both.get(kind, []) + theirs.get(kind, []) for kind in {**both, **theirs}}
                return f"{table} AS t JOIN {self.other.name} AS s ON {on}", kinds
            case 3:
                return f"(SELECT * FROM {table} AS t WHERE {self.condition(self.own, 2)}) AS t", self.own
        return f"{table} AS t", self.own

    def _fold(self, kinds: Kinds) -> str:
        how = self.world.any(["COUNT", "SUM", "MIN", "MAX", "AVG"])
        return "COUNT(*)" if self.world.likely(0.2) else f"{how}({self.number(kinds, 2)})"

    def _key(self, kinds: Kinds) -> str:
        """What to group by."""
        match self.world.r.randrange(8):
            case 0 if "category" in kinds:
                return self._label(kinds)
            case 1 if "text" in kinds:
                return self.world.any(kinds["text"])
            case 2 if "date" in kinds and self.world.likely(0.4):
                how = self.world.any(["DAYNAME({})", "MONTHNAME({})", f"TO_CHAR({{}}, '{self.world.any(FORMS)}')"])
                return how.format(self.date(kinds, 1))
            case 2 if "date" in kinds:
                return f"DATE_TRUNC('{self.world.any(['month', 'year', 'week', 'quarter'])}', {self.date(kinds, 1)})"
            case 3:
                return self.condition(kinds, 1)
            case 4:
                return f"CASE WHEN {self.condition(kinds, 1)} THEN 'a' WHEN {self.condition(kinds, 1)} THEN 'b' END"
            case 5:
                lower = self.world.any([0, -5, 2**62 - 3, 2**63 - 2, -(2**63)])
                return f"CLAMP({self.number(kinds, 2)}, {lower}, {lower + self.world.any([1, 9, 40])})"
            case 6:
                return self.there_and_back(f"({self.number(kinds, 1)}) % {self.world.any([2, 5, 10])}")
        return self.number(kinds, 1)

    def _label(self, kinds: Kinds) -> str:
        """A category, or a function of its labels."""
        column = self.world.any(kinds["category"])
        return self.world.any(LABELS).format(column, column) if self.world.likely(0.4) else column

    def there_and_back(self, e: str) -> str:
        """Terms that leave the range of an integer type, and come back or stay just beyond it."""
        s = self.world.any(INTEGERS[8:])
        chain = self.world.any([f"+ {s} - {s}", f"- {s} + {s}", f"+ {s} - {s} + {s}", f"- {s} + {s} - {s}", f"+ {s}"])
        return f"{e} {' '.join([chain] * self.world.any([1, 1, 2, 3]))}"

    def _aggregate(self, kinds: Kinds) -> str:
        """One aggregate, perhaps of some of the rows."""
        text = self._plain(kinds)
        return f"{text} FILTER (WHERE {self.condition(kinds, 1)})" if self.world.likely(0.1) else text

    def _plain(self, kinds: Kinds) -> str:  # noqa: PLR0912
        e = self.number(kinds, 2)
        match self.world.r.randrange(16):
            case 0:
                return "COUNT(*)"
            case 13:
                return f"{self.world.any(['BOOL_AND', 'BOOL_OR', 'EVERY'])}({self.condition(kinds, 1)})"
            case 14:
                how = self.world.any(["COUNT(DISTINCT {})", "APPROX_DISTINCT({})"])
                return how.format(f"{self.world.any([e, *kinds.get('text', []), *kinds.get('category', [])])}")
            case 1:
                return f"COUNT({e})"
            case 2:
                unit = None if self.schema.unit is None else quoted(self.schema.unit)
                return f"COUNT(DISTINCT t.{unit})" if unit else "COUNT(*)"
            case 3:
                return f"COUNT_IF({self.condition(kinds, 2)})"
            case 4 | 5 | 6:
                return f"SUM({e})"
            case 7:
                return f"AVG({e})"
            case 8:
                return f"{self.world.any(['VARIANCE', 'VAR_POP', 'STDDEV', 'STDDEV_POP'])}({e})"
            case 9:
                return f"{self.world.any(['MEDIAN', 'MIN', 'MAX'])}({self.world.any([e, self.date(kinds, 1)])})"
            case 10:
                how = self.world.any(["QUANTILE", "APPROX_QUANTILE", "QUANTILE_CONT", "QUANTILE_DISC"])
                return f"{how}({e}, {self.world.any(RANKS)})"
            case 11:
                how = self.world.any(["PERCENTILE_CONT", "PERCENTILE_DISC"])
                return f"{how}({self.world.any(RANKS)}) WITHIN GROUP (ORDER BY {e}{self.world.any(['', ' DESC'])})"
            case 12 if "category" in kinds:
                how = self.world.any(["TOP_K({}, 2)", "APPROX_TOP_K({}, 1)", "MODE({})"])
                return how.format(self.world.any(kinds["category"]))
        return f"MEDIAN({self.there_and_back(f'({e}) % 10')})"

    # Expressions over one row

    def literal(self) -> str:
        if self.world.likely(0.15):
            return self.world.any(FRACTIONS)
        return f"{self.world.any(['', '', '-'])}{self.world.any(INTEGERS if self.world.likely(0.2) else SMALL)}"

    def number(self, kinds: Kinds, depth: int) -> str:  # noqa: PLR0912
        """A number."""
        columns = kinds.get("number", [])
        if depth == 0 or self.world.likely(0.25):
            return self.world.any(columns) if columns and self.world.likely(0.8) else self.literal()
        a, b = (f"({self.number(kinds, depth - 1)})" for _ in range(2))
        match self.world.r.randrange(22):
            case 0 | 1:
                return f"{a} {self.world.any(['+', '-', '*'])} {b}"
            case 20:
                narrow = f"CLAMP(ROUND({a}), {self.world.any([-3, 0, 1])}, {self.world.any([1, 9, 30])})"
                return f"{self.world.any(['SQRT', 'LN', 'LOG10', 'EXP'])}({narrow})"
            case 21 if "category" in kinds:
                return self.world.any(["LENGTH({})", "POSITION('o' IN {})"]).format(self._label(kinds))
            case 2:
                return f"{a} / {self.world.any([b, self.literal()])}"
            case 3:
                return f"{a} {self.world.any(['DIV', '%'])} {self.world.any([b, self.literal()])}"
            case 4 | 5:
                return self.there_and_back(a)
            case 6:
                return f"{self.world.any(['ABS', 'FLOOR', 'CEIL', 'SIGN', '-'])}({a})"
            case 7 if self.world.likely(0.3):
                return f"WIDTH_BUCKET({a}, {self.world.any([-5, 0])}, {self.world.any([7.5, 100])}, 4)"
            case 7:
                return f"{self.world.any(['ROUND', 'TRUNC'])}({a}, {self.world.any([-2, 0, 1, 3])})"
            case 8:
                return f"POWER({a}, {self.world.any([1, 2, 3])})"
            case 9:
                otherwise = f" ELSE {b}" if self.world.likely(0.6) else ""
                return f"CASE WHEN {self.condition(kinds, depth - 1)} THEN {a}{otherwise} END"
            case 10:
                return f"IF({self.condition(kinds, depth - 1)}, {a}, {b})"
            case 11:
                return f"{self.world.any(['COALESCE', 'LEAST', 'GREATEST', 'NULLIF'])}({a}, {b})"
            case 12:
                return f"{self.world.any(['CAST', 'TRY_CAST'])}({a} AS {self.world.any(TYPES)})"
            case 13:
                lower, more = self.world.any([-5, 0, 7]), self.world.any([0, 3, 2**40])
                return f"CLAMP({a}, {lower}, {lower + more})"
            case 14:
                return f"CASE {a} WHEN {self.literal()} THEN {b} ELSE {self.literal()} END"
            case 15:
                return f"{self.date(kinds, 0)} - {self.date(kinds, 0)}"
            case 16:
                return f"CAST(({self.condition(kinds, depth - 1)}) AS INTEGER)"
            case 17:
                of, parts = self._moment(kinds, depth - 1)
                return f"{self.world.any(PART_FUNCTIONS + (CLOCK if parts[-1] in CLOCK else []))}({of})"
            case 18:
                of, parts = self._moment(kinds, depth - 1)
                part = self.world.any(parts)
                return self.world.any([f"EXTRACT({part} FROM {of})", f"DATE_PART('{part}', {of})"])
        return f"NULLIF({a}, {self.world.any([self.literal(), 'NULL'])})"

    def _moment(self, kinds: Kinds, depth: int) -> tuple[str, list[str]]:
        """A date or a timestamp, and what parts it has."""
        stamps = kinds.get("timestamp", [])
        if stamps and self.world.likely(0.6):
            return self.world.any(stamps), PARTS + CLOCK
        return self.date(kinds, depth), PARTS

    def date(self, kinds: Kinds, depth: int) -> str:
        """A date."""
        columns = kinds.get("date", [])
        if depth == 0 or self.world.likely(0.4):
            if columns and self.world.likely(0.8):
                return self.world.any(columns)
            return self.world.any(TODAY) if self.world.likely(0.3) else f"DATE '{self.world.any(DATES)}'"
        a = self.date(kinds, depth - 1)
        match self.world.r.randrange(4):
            case 0:
                amount, unit = self.world.any([1, 7, 400, 10**7]), self.world.any(["DAY", "WEEK", "MONTH"])
                return f"{a} {self.world.any(['+', '-'])} INTERVAL '{amount}' {unit}"
            case 1:
                return f"DATE_TRUNC('{self.world.any(['month', 'year', 'week'])}', {a})"
            case 2 if "timestamp" in kinds:
                stamp = self.world.any(kinds["timestamp"])
                return self.world.any([f"CAST({stamp} AS DATE)", f"DATE({stamp})", f"TIMESTAMP_TRUNC({stamp}, MONTH)"])
        return f"COALESCE({a}, {self.date(kinds, 0)})"

    def condition(self, kinds: Kinds, depth: int) -> str:
        """A condition on a row."""
        if depth > 0 and self.world.likely(0.4):
            a, b = (f"({self.condition(kinds, depth - 1)})" for _ in range(2))
            return self.world.any([f"{a} AND {b}", f"{a} OR {b}", f"NOT {a}", f"{a} = {b}", f"{a} IS NOT TRUE"])
        compare = self.world.any(["=", "<>", "<", "<=", ">", ">="])
        e = self.number(kinds, depth)
        match self.world.r.randrange(10):
            case 0 if "category" in kinds:
                column = self.world.any(kinds["category"])
                how = self.world.any(["{} = 'north'", "UPPER({}) LIKE '%N%'", "{} IN ('n', '7')", "{} ILIKE 'n%'"])
                if self.world.likely(0.3):
                    how, column = self.world.any(["{} ~ '^n.*h$'", "{} !~* '[a-n]{{2}}'"]), self._label(kinds)
                return self.world.any([how.format(column), f"LOWER({column}) NOT LIKE 'n%'"])
            case 1 if "text" in kinds:
                text = self.world.any(TEXTS[:12]).replace("'", "''")
                how = self.world.any([f"= '{text}'", f"<> '{text}'", "LIKE '%a%'", "NOT LIKE '_%'", "IS NULL"])
                return f"{self.world.any(kinds['text'])} {how}"
            case 2 if "boolean" in kinds:
                return self.world.any(kinds["boolean"]) + self.world.any(["", " IS FALSE", " IS NOT NULL"])
            case 3 if "timestamp" in kinds:
                stamp = self.world.any(kinds["timestamp"])
                zone = self.world.any(["", "", " AT TIME ZONE 'UTC'"])
                return f"{stamp}{zone} {compare} TIMESTAMP '{self.world.any(DATES)} 23:59:59'"
            case 4:
                return f"{self.date(kinds, depth)} {compare} {self.date(kinds, 1)}"
            case 5:
                return f"{e} IS NULL"
            case 6:
                return f"{e} BETWEEN {self.literal()} AND {self.literal()}"
            case 7:
                return f"{e} IN ({', '.join(self.literal() for _ in range(3))})"
            case 8:
                way = self.world.any(["IS DISTINCT FROM", "IS NOT DISTINCT FROM"])
                return f"{e} {way} {self.number(kinds, depth)}"
        return f"{e} {compare} {self.number(kinds, depth)}"
