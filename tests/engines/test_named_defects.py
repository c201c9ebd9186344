"""Defects that others had, or DuckDB has, where tables meet integers: each by its name, each held off here."""

import datetime
import itertools
import random

import numpy as np
import pyarrow as pa
import pytest

from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.rows.reference import Reference
from tacit.query.plan.plan import BinCounts, QueryPlan, RowCount, Total, UnitCount
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.relation.relation import Derive, Join, PerUnit, Where
from tacit.query.select.query import Key
from tacit.query.values.domain import TEXT
from tacit.query.values.nodes import Column, Compare, Constant, Like, Multiply
from tacit.testing.engines import engine, same, stable

KEY = "f" * 32


def table(data, name="t", unit="who", rows=2, **columns):
    facts = {"name": name, "unit": unit} | ({} if unit == "row" else {"rows": rows})
    return Table(data, {"table": facts, "columns": columns})


def ask(tables, plan):
    """The answer, the same from both engines."""
    with engine(Reference, tables, KEY) as reference, engine(DuckDB, tables, KEY) as tested:
        answer = tested.answer(plan)
        same(reference.answer(plan), answer, 0, plan)
    return answer


def of(t, *names):
    return [build.column(t.schema.scan(), name) for name in names]


@pytest.mark.parametrize("bound", [2**31 - 1, 2**31, 3 * 2**60, 2**62])
@pytest.mark.parametrize("n", [1, 2, 3, 9])
def test_tumult_sums_of_integers_wrap(bound, n):
    """Bounds (0, 3 * 2^60): three rows gave a negative sum.  OpenDP 2837, 2925 and Google 40 are of this kind."""
    for sign in (1, -1):
        t = table([{"x": sign * bound}] * n, unit="row", x={"type": "integer", "lower": -bound, "upper": bound})
        (x,) = of(t, "x")
        plan = QueryPlan(t.schema.scan(), (), (Total(x), Total(x, (-bound, bound))))
        assert [int(cells[0]) for cells in ask([t], plan).cells] == [sign * n * bound] * 2
        assert plan.distance(plan.measures[0]).linf == bound


def test_tumult_sums_wrap_within_a_unit():
    t = table([{"who": 1, "x": 2**60}] * 3, rows=3, x={"type": "integer", "lower": 0, "upper": 2**60})
    (x,) = of(t, "x")
    folded = PerUnit(t.schema.scan(), (), (("s", build.fold("sum", t.schema.scan(), x)),))
    assert ask([t], QueryPlan(folded, (), (Total(build.column(folded, "s")),))).cells[0].tolist() == [3 * 2**60]


def test_duckdb_sums_of_doubles_depend_on_their_order():
    """Also OpenDP 2923 and Google 126: what is added are whole steps, so the order is nothing."""
    values = [1e15, 0.1, -1e15, 0.3, 1e-9, 2.0**53, -(2.0**53), 0.7] * 50
    answers = set()
    for seed in range(4):
        random.Random(seed).shuffle(values)
        t = table(pa.table({"x": values}), unit="row", x={"type": "real", "lower": -1000, "upper": 1000})
        answers.add(int(ask([t], QueryPlan(t.schema.scan(), (), (Total(*of(t, "x")),))).cells[0][0]))
    assert len(answers) == 1


@pytest.mark.parametrize("cell", [None, float("nan"), np.float32("nan"), "NaN", "nan", "", "null"])
def test_opendp_2936_2935_missing_becomes_nan_becomes_zero(cell):
    """What is no number is missing: it is in no sum, no count of values and no bin."""
    t = table([{"x": cell}, {"x": 50.0}], unit="row", x={"type": "real", "lower": 10, "upper": 100, "grid": "1"})
    (x,) = of(t, "x")
    answer = ask([t], QueryPlan(t.schema.scan(), (), (RowCount(), RowCount(x), Total(x), BinCounts(x, (0, 20, 100)))))
    assert [cells.tolist() for cells in answer.cells] == [[2], [1], [50], [[0, 1]]]


POISON = [
    "0",
    "-1e999",
    "1e999",
    "NaN",
    "inf",
    "0x7f",
    "1_0",
    "9" * 400,
    "2024-02-30",
    "0000-01-01",
    "\t",
    "'",
    '"',
    "%",
    "名",
]


@pytest.mark.parametrize("cell", [*POISON, 0, -(2**63), 2**63 - 1, 1e308, float("-inf"), 5e-324, datetime.date.max])
def test_opendp_2942_and_duckdb_raising_operators(cell):
    """A cast, a division by zero, an overflow, a bad date: one row made the whole question fail."""
    kinds = {
        "n": {"type": "integer", "lower": -(2**62), "upper": 2**62},
        "r": {"type": "real"},
        "b": {"type": "boolean"},
        "c": {"type": "category", "values": ["0", "'"]},
        "d": {"type": "date"},
        "m": {"type": "timestamp"},
        "s": {"type": "text"},
    }
    for data in ([dict.fromkeys(kinds, cell)], pa.table({name: [cell] for name in kinds})):
        t = table(data, unit="row", **kinds)
        n, r, d, s = of(t, "n", "r", "d", "s")
        some = build.clamp(n, -9, 9)
        measures = (
            RowCount(build.divide(build.constant(7), some)),
            RowCount(build.modulo(some, build.constant(3))),
            Total(build.divide(some, build.clamp(r, -1, 1))),
            RowCount(build.date_part("year", d)),
            Total(n),
            RowCount(build.case([(build.like(s, "%'%"), build.constant(1))])),
        )
        answer = ask([t], QueryPlan(t.schema.scan(), (), measures))
        assert all(cells.shape == (1,) for cells in answer.cells)


def test_opendp_2949_the_bound_on_rows_is_stale_after_a_step():
    """Each step states its own bound: rows of a join multiply, rows gathered by unit are one."""
    t = table([{"who": 1, "x": i} for i in range(9)], rows=3, x={"type": "integer", "lower": 0, "upper": 9})
    s = table(
        [{"whose": 1, "y": i} for i in range(9)], "s", "whose", rows=2, y={"type": "integer", "lower": 0, "upper": 9}
    )
    join = Join(t.schema.scan(), s.schema.scan())
    plan = QueryPlan(join, (), (RowCount(), UnitCount(), Total(build.column(join, "y"))))
    assert [cells.tolist() for cells in ask([t, s], plan).cells[:2]] == [[6], [1]]
    assert [plan.distance(m).linf for m in plan.measures] == [6, 1, 54]
    empty = [table([], rows=3, x={"type": "integer", "lower": 0, "upper": 9}), s]
    assert stable(plan, ask([t, s], plan), ask(empty, plan), 0) == 3


def test_opendp_2938_2939_a_count_that_is_free():
    """No count of rows has distance 0, whatever columns were computed away."""
    t = table([{"who": 1}], x={"type": "integer", "lower": 0, "upper": 0})
    bare = Derive(t.schema.scan(), (("one", build.constant(1)),))
    for relation in (t.schema.scan(), bare, PerUnit(bare, (), ()), Where(bare, build.constant(True))):
        plan = QueryPlan(relation, (), (RowCount(), UnitCount()))
        assert all(plan.distance(m).linf >= 1 for m in plan.measures)
        assert ask([t], plan).cells[0].tolist() == [1]


def test_opendp_2941_2944_cut_at_edges():
    """A value on an edge, beyond the last and below the first: each in one bin, or in none."""
    values = [-1, 0, 9, 10, 19, 20, 21, None]
    t = table([{"x": v} for v in values], unit="row", x={"type": "integer", "lower": -100, "upper": 100})
    (x,) = of(t, "x")
    far = build.multiply(build.column(Derive(t.schema.scan(), (("x", x),)), "x"), x)
    wide = BinCounts(far, (0, 100, 10**5))
    answer = ask([t], QueryPlan(t.schema.scan(), (), (BinCounts(x, (0, 10, 20)), wide)))
    assert answer.cells[0].tolist() == [[2, 3]]
    assert answer.cells[1].tolist() == [[3, 4]]


def test_opendp_2926_2927_a_row_in_front_moves_the_others():
    t_rows = [{"who": i % 4, "x": i} for i in range(30)]
    new = [{"who": 9, "x": i} for i in range(5)]
    at = {"front": [*new, *t_rows], "end": [*t_rows, *new], "between": [*t_rows[:9], *new, *t_rows[9:]]}
    facts = {"type": "integer", "lower": 0, "upper": 40}
    tables = {place: table(rows, x=facts) for place, rows in at.items()}
    base = table(t_rows, x=facts)
    key = Key("x", *of(base, "x"), tuple(range(41)))
    plan = QueryPlan(base.schema.scan(), (key,), (RowCount(), UnitCount(), Total(key.expression)), 1)
    answers = [ask([t], plan) for t in tables.values()]
    for answer in answers:
        same(answers[0], answer, 0, plan)
        stable(plan, ask([base], plan), answer, 0)


def test_opendp_2937_a_mean_of_dates_changes_its_sign():
    last = datetime.date(9999, 12, 31)
    t = table([{"d": last}] * 1000, unit="row", d={"type": "date", "lower": datetime.date(1, 1, 1), "upper": last})
    (d,) = of(t, "d")
    assert ask([t], QueryPlan(t.schema.scan(), (), (Total(d),))).cells[0].tolist() == [1000 * 2932896]


def test_opendp_2185_groups_come_in_the_order_of_the_data():
    rows = [{"who": i, "s": text} for i, text in enumerate(["b", "a", "名", "", "b", "é", "Z"])]
    t = table(rows, s={"type": "text"})
    (s,) = of(t, "s")
    answer = ask([t], QueryPlan(t.schema.scan(), (Key("s", s, None),), (RowCount(),)))
    assert answer.keys == (("",), ("Z",), ("a",), ("b",), ("é",), ("名",))
    assert answer.units.tolist() == [1, 1, 1, 2, 1, 1]


@pytest.mark.parametrize(
    "text",
    ["'; DROP TABLE t0; --", "' OR 1=1 --", '" OR ""="', "error('x')", "$1", "?", "\\'", "/* */", "assert_true(false)"],
)
def test_tumult_and_duckdb_text_of_an_analyst_is_code(text):
    """A constant is a constant, in a comparison, in a pattern and as a label; a name is only a name."""
    name = f"{text} {text[::-1]}"
    rows = [{name: text, "c": text}, {name: "other", "c": "other"}]
    t = table(rows, unit="row", **{name: {"type": "text"}, "c": {"type": "category", "values": ["x", text]}})
    column, c = Column(TEXT, name), of(t, "c")[0]
    scan = t.schema.scan()
    for condition in (
        Compare("=", column, Constant(TEXT, text)),
        Like(column, (text, "")),
        Like(column, ("", text, "")),
    ):
        assert ask([t], QueryPlan(Where(scan, condition), (), (RowCount(),))).cells[0].tolist() == [1]
    assert ask([t], QueryPlan(scan, (Key("c", c, (0, 1)),), (RowCount(),))).cells[0].tolist() == [0, 1]


def test_duckdb_a_sum_of_no_rows_is_null():
    t = table([], x={"type": "integer", "lower": 0, "upper": 9})
    (x,) = of(t, "x")
    for keys in ((), (Key("x", x, (0, 5)),)):
        measures = (RowCount(), UnitCount(), Total(x), Total(x, (0, 1)), BinCounts(x, (0, 5, 9)))
        answer = ask([t], QueryPlan(t.schema.scan(), keys, measures))
        assert all(not cells.any() for cells in answer.cells)


def test_diffprivlib_105_one_bound_is_used_twice():
    t = table([], rows=4, x={"type": "integer", "lower": -7, "upper": 3})
    (x,) = of(t, "x")
    plan = QueryPlan(t.schema.scan(), (), (Total(x), Total(x, (-2, 20))))
    assert [plan.distance(m).linf for m in plan.measures] == [28, 20]


def test_csv_readers_guess_types_from_the_data(tmp_path):
    """One bad cell made a column text, or its rows vanish: here it is missing, and the others are as they were."""
    path = tmp_path / "t.csv"
    path.write_text("who,x\n" + "".join(f"{i},{i % 10}\n" for i in range(5000)) + "5000,seven\n5001,2024-01-01\n")
    t = table(path, x={"type": "integer", "lower": 0, "upper": 9})
    (x,) = of(t, "x")
    answer = ask([t], QueryPlan(t.schema.scan(), (), (RowCount(), RowCount(x), Total(x))))
    assert [cells.tolist() for cells in answer.cells] == [[5002], [5000], [22500]]


def test_the_deepest_expression_that_may_be_asked_is_answered():
    t = table([{"who": 1, "x": 1}], x={"type": "integer", "lower": 0, "upper": 1})
    (x,) = of(t, "x")
    e = x
    for i in range(98):
        e = build.case([(build.compare("<", x, build.constant(i % 2)), e)], build.constant(i))
    build.moderate(e)
    assert ask([t], QueryPlan(t.schema.scan(), (), (Total(e),))).cells[0].tolist() == [97]


@pytest.mark.parametrize("several", [(100, 100), (110, 90, -90, 100), (2**61, 2**61 - 200)])
def test_duckdb_makes_one_constant_of_several(several):
    """(x + 100) + 100 fits where x does, but is computed as x + 200, which failed on every row of a table but none."""
    bounds = {"type": "integer", "lower": -100, "upper": -80}
    t = table([{"x": -100 + i} for i in range(20)] + [{"x": None}], unit="row", x=bounds)
    (x,) = of(t, "x")
    for constant in several:
        x = build.add(x, build.constant(constant))
    once = build.multiply(x, build.constant(1))
    again, binned = build.add(once, build.constant(-100)), build.floor(build.divide(x, build.constant(7)))
    plan = QueryPlan(t.schema.scan(), (), tuple(Total(e) for e in (x, once, again, binned)))
    assert int(ask([t], plan).cells[0][0]) == sum(range(-100, -80)) + 20 * sum(several)


def test_duckdb_multiplies_the_constants_of_a_product_first():
    """Where s can only be 0, (s * 100) * 4 - x was computed with s * 400, which a width for 0 does not hold."""
    t = table([{"who": 1, "x": 3}], x={"type": "integer", "lower": -12, "upper": 16})
    (x,) = of(t, "x")
    folded = PerUnit(t.schema.scan(), (("x", x),), (("s", build.fold("sum", t.schema.scan(), build.clamp(x, 0, 0))),))
    product = s = build.column(folded, "s")
    for constant in (100, 4):
        product = Multiply(s.domain, product, build.constant(constant))
    moved = build.subtract(product, build.column(folded, "x"))
    assert ask([t], QueryPlan(folded, (), (Total(moved), RowCount(moved)))).cells[0].tolist() == [-3]


def _term(draw, columns):
    """A column, a constant, a remainder or a quotient."""
    kind, x = draw.random(), draw.choice(columns)
    if kind < 0.4:
        return build.constant(draw.choice([1, 2, 5, 10, 20, 40, 60, 100, -1, -3, -20, -60]))
    if kind < 0.75:
        return x
    quotient = build.floor(build.divide(x, build.constant(draw.choice([2, 3, 10, 50]))))
    return quotient if kind < 0.85 else build.add(x, build.multiply(quotient, build.constant(-50)))


@pytest.mark.parametrize("seed", range(8))
def test_duckdb_takes_the_terms_of_a_sum_in_another_order(seed):
    """age % 50 + 20 + 10 fits a byte, but was computed as (30 + age) + ..., which failed if anybody was above 97."""
    draw = random.Random(seed)
    ends = draw.sample([(0, 99), (-60, -40), (100, 120), (-128, 127), (50, 100), (0, 32767)], 3)
    bounds = {f"x{i}": {"type": "integer", "lower": low, "upper": high} for i, (low, high) in enumerate(ends)}
    corners = [dict(zip(bounds, row, strict=True)) for row in itertools.product(*ends)]
    t = table(corners, unit="row", **bounds)
    columns, sums = of(t, *bounds), []
    for _ in range(60):
        x = _term(draw, columns)
        for _ in range(draw.randint(2, 5)):
            x = build.add(x, _term(draw, columns))
        sums.append(Total(x))
    ask([t], QueryPlan(t.schema.scan(), (), tuple(sums)))


def test_duckdb_adds_constants_before_a_remainder():
    t = table([{"x": 20}] * 9 + [{"x": 99}], unit="row", x={"type": "integer", "lower": 0, "upper": 99})
    (x,) = of(t, "x")
    rest = build.add(x, build.multiply(build.floor(build.divide(x, build.constant(50))), build.constant(-50)))
    moved = build.add(build.add(rest, build.constant(20)), build.constant(10))
    plan = QueryPlan(t.schema.scan(), (), (Total(moved), RowCount(build.compare("<", build.constant(40), moved))))
    assert ask([t], plan).cells[0].tolist() == [9 * 50 + 79]
