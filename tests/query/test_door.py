"""Questions in Python are the queries that they look like, and what cannot be asked is refused, without any data."""

import copy
import datetime
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import BadParameter, BadQuestion, BadSchema
from tacit.query.python.column_expressions import case, greatest, least
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.relation.relation import Derive, Join, PerUnit, Where
from tacit.query.schema.public_table import PublicTable
from tacit.query.select import aggregates as ask
from tacit.query.select.outputs import Arithmetic, CaseOutput, Comparison, Function, Logic, OutputValue, ReleasedColumn
from tacit.query.select.query import Aggregate, Key, Query
from tacit.query.sql.parser import parse
from tacit.query.values.domain import number
from tacit.query.values.nodes import Column, Constant

COLUMNS = {
    "age": {"type": "integer", "lower": 0, "upper": 120},
    "spend": {"type": "real", "lower": 0, "upper": 500, "grid": 0.25},
    "region": {"type": "category", "values": ["north", "south"]},
    "member": {"type": "boolean"},
    "joined": {"type": "date", "lower": datetime.date(2015, 1, 1), "upper": datetime.date(2025, 1, 1)},
    "free": {"type": "real"},
    "note": {"type": "text"},
    "count": {"type": "integer", "lower": 0, "upper": 9},
}


def table(name="people", unit="id", **more):
    return Table(
        [], {"table": {"name": name, "unit": unit, "rows": 10 if unit == "id" else 1, **more}, "columns": COLUMNS}
    )


people = table(groups=3)
scan = people.schema.scan()
AGE, SPEND, REGION, MEMBER = (build.column(scan, name) for name in ("age", "spend", "region", "member"))
COUNT = ("count", Aggregate("count"))


def query(relation=scan, keys=(), aggregates=(COUNT,), groups=None, **shown):
    names = [*(key.name for key in keys), *(name for name, _ in aggregates)]
    return Query(relation, keys, aggregates, tuple((name, ReleasedColumn(name)) for name in names), groups, **shown)


def c(value):
    return build.constant(value)


def test_a_column_is_an_attribute_or_an_item():
    assert people.age.expression == people["age"].expression == AGE == Column(scan.columns["age"], "age")
    assert people["count"].expression == build.column(scan, "count")
    assert callable(people.count)
    assert not hasattr(people, "height")
    with pytest.raises(BadQuestion, match="no column 'height'"):
        people["height"]


TERMS = [
    (people.age + 1, build.add(AGE, c(1))),
    (1 + people.age, build.add(c(1), AGE)),
    (people.age - people.spend, build.subtract(AGE, SPEND)),
    (1 - people.age, build.subtract(c(1), AGE)),
    (people.age * 2, build.multiply(AGE, c(2))),
    (0.5 * people.age, build.multiply(c(0.5), AGE)),
    (people.age / 4, build.divide(AGE, c(4))),
    (1 / people.age, build.divide(c(1), AGE)),
    (people.age // 10, build.floor(build.divide(AGE, c(10)))),
    (7 // people.age, build.floor(build.divide(c(7), AGE))),
    (people.age % 7, build.modulo(AGE, c(7))),
    (people.age**2, build.raised(AGE, c(2))),
    (people.region.lower(), build.recased(REGION, str.lower)),
    (people.region.upper(), build.recased(REGION, str.upper)),
    (-people.age, build.negate(AGE)),
    (abs(people.age - 50), build.absolute(build.subtract(AGE, c(50)))),
    (people.age == 3, build.compare("=", AGE, c(3))),
    (people.age != 3, build.compare("<>", AGE, c(3))),
    (people.age < 3, build.compare("<", AGE, c(3))),
    (people.age <= people.spend, build.compare("<=", AGE, SPEND)),
    (people.age > 3, build.compare(">", AGE, c(3))),
    (people.age >= 3, build.compare(">=", AGE, c(3))),
    (people.age < 3, build.compare(">", c(3), AGE)),
    (people.member & (people.age > 3), build.and_(MEMBER, build.compare(">", AGE, c(3)))),
    (people.member | (people.age > 3), build.or_(MEMBER, build.compare(">", AGE, c(3)))),
    (~people.member, build.not_(MEMBER)),
    (people.region == "north", build.compare("=", REGION, c("north"))),
    (people.region.is_missing(), build.is_missing(REGION)),
    (people.region.is_in(["south"]), build.is_in(REGION, [c("south")])),
    (people.age.between(3, 5), build.between(AGE, c(3), c(5))),
    (people.note.like("a%"), build.like(build.column(scan, "note"), "a%")),
    (people.age.coalesce(0), build.coalesce(AGE, c(0))),
    (people.age.clamp(1, 9), build.clamp(AGE, 1, 9)),
    (people.spend.floor(), build.floor(SPEND)),
    (people.spend.ceil(), build.ceil(SPEND)),
    (people.spend.round(1), build.round_to(SPEND, 1)),
    (people.age.round(np.int64(-1)), build.round_to(AGE, -1)),
    (people.spend.bin(10), build.bin_to(SPEND, 10)),
    (people.joined.part("year"), build.date_part("year", build.column(scan, "joined"))),
    (people.joined.trunc("month"), build.date_trunc("month", build.column(scan, "joined"))),
    (people.member.cast("integer"), build.cast(MEMBER, "integer")),
    (people.region.lookup({"north": 1, "south": 2}), build.lookup(REGION, {"north": 1, "south": 2})),
    (
        case((people.age < 18, "young"), otherwise="old"),
        build.case([((people.age < 18).expression, c("young"))], c("old")),
    ),
    (least(people.age, 18), build.least(AGE, c(18))),
    (greatest(people.age, people.spend), build.greatest(AGE, SPEND)),
]


@pytest.mark.parametrize(("term", "expression"), TERMS, ids=range(len(TERMS)))
def test_a_term_is_its_expression(term, expression):
    assert people.derive(x=term).relation.derived[-1] == ("x", expression)


QUESTIONS = [
    (people.count(), query()),
    (people.count("age"), query(aggregates=(("count_age", Aggregate("count", AGE)),))),
    (people.units(), query(aggregates=(("units", Aggregate("units")),))),
    (people.sum("spend"), query(aggregates=(("sum_spend", Aggregate("sum", SPEND)),))),
    (people.sum(people.spend), query(aggregates=(("sum_spend", Aggregate("sum", SPEND)),))),
    (people.sum(lambda t: -t.age), query(aggregates=(("sum", Aggregate("sum", build.negate(AGE))),))),
    (people.sum("member"), query(aggregates=(("sum_member", Aggregate("sum", build.cast(MEMBER, "integer"))),))),
    (people.mean("age"), query(aggregates=(("mean_age", Aggregate("mean", AGE)),))),
    (people.variance("age"), query(aggregates=(("variance_age", Aggregate("variance", AGE)),))),
    (people.stddev("age"), query(aggregates=(("stddev_age", Aggregate("deviation", AGE)),))),
    (people.quantile("age", 0.1), query(aggregates=(("quantile_age", Aggregate("quantile", AGE, Fraction(1, 10))),))),
    (people.median("age"), query(aggregates=(("median_age", Aggregate("quantile", AGE, Fraction(1, 2))),))),
    (people.min("age"), query(aggregates=(("min_age", Aggregate("quantile", AGE, Fraction(1, 100))),))),
    (people.max("age", at=1), query(aggregates=(("max_age", Aggregate("quantile", AGE, Fraction(1))),))),
    (people.mode("region"), query(aggregates=(("mode_region", Aggregate("top", REGION)),))),
    (
        people.top("region", 2),
        query(aggregates=tuple((f"top_region_{i}", Aggregate("top", REGION, None, i, 2)) for i in (1, 2))),
    ),
    (
        people.aggregate(ask.count(), m=ask.mean("age")).max("age"),
        query(
            aggregates=(
                COUNT,
                ("m", Aggregate("mean", AGE)),
                ("max_age", Aggregate("quantile", AGE, Fraction(99, 100))),
            )
        ),
    ),
    (
        people.group_by("region", band=people.age // 10 * 10).count(),
        query(
            keys=(
                Key("region", REGION, (0, 1)),
                Key("band", (people.age // 10 * 10).expression, build.keys((people.age // 10 * 10).expression)),
            ),
            groups=3,
        ),
    ),
    (
        people.group_by("note", "region", private=True, groups=7).count(),
        query(keys=(Key("note", build.column(scan, "note"), None), Key("region", REGION, (0, 1))), groups=7),
    ),
    (
        people.where(people.age >= 18).count(),
        query(Where(scan, (people.age >= 18).expression)),
    ),
    (
        people.where("member").where(lambda t: t.age >= 18, people.age < 60).count(),
        query(Where(scan, build.and_(MEMBER, (people.age >= 18).expression, (people.age < 60).expression))),
    ),
]


@pytest.mark.parametrize(("question", "expected"), QUESTIONS, ids=range(len(QUESTIONS)))
def test_a_question_is_its_query(question, expected):
    assert question.query == expected


def test_what_is_shown_is_arithmetic_on_what_is_released():
    q = people.group_by("region").aggregate(n=ask.count(), m=ask.mean("age"))
    n, m = ReleasedColumn("n"), ReleasedColumn("m")
    shown = (
        q.select("region", share=1 - q["n"] / 2, root=lambda q: abs(q["m"]).sqrt().round(2))
        .having((q["n"] > 10) & ~(q["m"] == 3))
        .having(q["region"] != "north")
        .order_by("-share", "region", q["m"])
        .limit(5)
    )
    share = Arithmetic("-", OutputValue(Fraction(1)), Arithmetic("/", n, OutputValue(Fraction(2))))
    enough = Logic(
        "and",
        Comparison("<", OutputValue(Fraction(10)), n),
        Function("not", Comparison("=", m, OutputValue(Fraction(3)))),
    )
    elsewhere = Function("not", Comparison("=", ReleasedColumn("region"), OutputValue("north")))
    root = Function("round", Function("sqrt", Function("abs", m)), 2)
    assert shown.query.outputs == (("region", ReleasedColumn("region")), ("share", share), ("root", root))
    assert shown.query.having == Logic("and", enough, elsewhere)
    assert shown.query.order == ((share, True), (ReleasedColumn("region"), False), (m, False))
    assert shown.query.limit == 5
    assert (shown.query.keys, shown.query.aggregates) == (q.query.keys, q.query.aggregates)


@pytest.mark.parametrize(
    ("figure", "output"),
    [
        (lambda n: n + 1, Arithmetic("+", ReleasedColumn("n"), OutputValue(Fraction(1)))),
        (lambda n: 1 + n, Arithmetic("+", OutputValue(Fraction(1)), ReleasedColumn("n"))),
        (lambda n: n - n, Arithmetic("-", ReleasedColumn("n"), ReleasedColumn("n"))),
        (lambda n: n * 0.1, Arithmetic("*", ReleasedColumn("n"), OutputValue(Fraction(1, 10)))),
        (lambda n: 2 * n, Arithmetic("*", OutputValue(Fraction(2)), ReleasedColumn("n"))),
        (lambda n: 2 / n, Arithmetic("/", OutputValue(Fraction(2)), ReleasedColumn("n"))),
        (lambda n: -n, Arithmetic("-", OutputValue(Fraction(0)), ReleasedColumn("n"))),
        (lambda n: n < 1, Comparison("<", ReleasedColumn("n"), OutputValue(Fraction(1)))),
        (lambda n: n <= 1, Comparison("<=", ReleasedColumn("n"), OutputValue(Fraction(1)))),
        (lambda n: n >= 1, Comparison("<=", OutputValue(Fraction(1)), ReleasedColumn("n"))),
        (
            lambda n: (n < 1) | (n == 2),
            Logic(
                "or",
                (Comparison("<", ReleasedColumn("n"), OutputValue(Fraction(1)))),
                Comparison("=", ReleasedColumn("n"), OutputValue(Fraction(2))),
            ),
        ),
        (
            lambda n: n.floor().ceil().is_missing(),
            Function("is_missing", Function("ceil", Function("floor", ReleasedColumn("n")))),
        ),
        (lambda n: n.round(np.int64(-1)), Function("round", ReleasedColumn("n"), -1)),
        (
            lambda n: n.where(n < 1),
            CaseOutput(
                Comparison("<", ReleasedColumn("n"), OutputValue(Fraction(1))), ReleasedColumn("n"), OutputValue(None)
            ),
        ),
    ],
)
def test_a_figure_is_its_output(figure, output):
    q = people.aggregate(n=ask.count())
    assert q.select(x=figure(q["n"])).query.outputs == (("x", output),)


@pytest.mark.parametrize(
    ("day", "text"),
    [
        (datetime.date(2020, 2, 1), "2020-02-01"),
        (datetime.datetime(2020, 2, 1, 12, tzinfo=datetime.UTC), "2020-02-01T12:00:00"),
    ],
)
def test_a_date_is_compared_as_its_text(day, text):
    q = people.derive(at=people.joined.cast("timestamp")).median("at")
    assert q.having(q["median_at"] < day).query.having == Comparison(
        "<", ReleasedColumn("median_at"), OutputValue(text)
    )


def test_groups_are_by_columns_however_they_are_named():
    asked = people.group_by("region", "member").count().query
    assert people.group_by(["region", "member"]).count().query == asked
    assert people.group_by(people.region, people["member"]).count().query == asked
    assert people.group_by(("region", people.member)).count().query == asked


def test_derived_columns_stand_beside_the_others_or_instead_of_them():
    rows = people.derive(double=people.age * 2, age=people.age + 1)
    assert isinstance(rows.relation, Derive)
    assert list(rows.relation.columns) == [*scan.columns, "double"]
    assert rows.relation.columns["age"].upper == 121
    assert rows.mean("double").query.aggregates[0][1].expression.domain == number(0, 120, Fraction(2))


def test_a_term_of_other_rows_is_refused():
    """What was known of a column need not hold of another of its name: a bound would be stale."""
    wider = people.derive(age=people.age * 1000)
    for stale in (
        people.age,
        people.age + 1,
        people.age > 3,
        case((people.age > 3, people.spend)),
        least(1, people.age),
    ):
        with pytest.raises(BadQuestion, match="'age' belongs to other rows"):
            wider.derive(x=stale)
    assert wider.derive(x=wider.age, y=people.spend)
    assert people.where(people.age > 3).mean(people.age).query == people.where(people.age > 3).mean("age").query


def test_one_row_for_each_unit():
    rows = people.per_unit(n=ask.count(), total=ask.sum_("spend"), first=ask.min_("joined"), last=ask.max_("age"))
    assert rows.relation == PerUnit(
        scan,
        (),
        (
            ("n", build.fold("count", scan)),
            ("total", build.fold("sum", scan, SPEND)),
            ("first", build.fold("min", scan, build.column(scan, "joined"))),
            ("last", build.fold("max", scan, AGE)),
        ),
    )
    assert rows.relation.rows == 1
    assert people.per_unit("region", n=ask.count()).relation.keys == (("region", REGION),)


def test_rows_are_joined_on_their_unit():
    visits = table("visits", groups=5)
    both = people.join(visits.where(visits.age > 3))
    assert isinstance(both.relation, Join)
    assert both.relation.rows == 100
    assert both.relation.columns.keys() == {*COLUMNS, *(f"visits_{name}" for name in COLUMNS)}
    assert both.relation.columns["visits_spend"] == scan.columns["spend"]
    assert both.group_by("region").count().query.groups == 3
    assert (
        people.join(visits.per_unit(visits=ask.count())).relation.right == visits.per_unit(visits=ask.count()).relation
    )
    with pytest.raises(BadQuestion, match="each row is a unit"):
        people.join(table("rows", unit="row"))


def test_joins_do_not_multiply_the_rows_of_a_unit_beyond_measure():
    few, many = table("few", rows=1000), table("many", rows=1001)
    assert few.join(table("others", rows=1000)).relation.rows == 10**6
    with pytest.raises(BadQuestion, match="give one unit 1,001,000 rows; at most 1,000,000 are allowed"):
        few.join(many)
    great = table("great", rows=10**7)
    assert great.join(people.per_unit(n=ask.count())).relation.rows == 10**7  # which multiplies nothing
    with pytest.raises(BadQuestion, match="at most 1,000,000"):
        great.join(people)
    tables = {"few": few, "many": many}
    with pytest.raises(BadQuestion, match=r"line 1, column \d+: This join could give one unit 1,001,000 rows"):
        parse("SELECT COUNT(*) FROM few JOIN (SELECT id, age AS old FROM many) m ON few.id = m.id", tables, {})


def test_a_public_table_says_more_of_a_column(tmp_path):
    rows = [{"region": "north", "name": "N", "zone": 1}, {"region": "south", "name": "S", "zone": 3}]
    path = tmp_path / "geo.csv"
    path.write_text("region,name,zone\nnorth,N,1\nsouth,S,3\n")
    for data in (rows, path):
        geo = PublicTable(data, "geo")
        assert geo.columns == ("region", "name", "zone")
        more = people.lookup(geo, on="region", columns=["name", "zone"])
        assert more.relation.columns["name"].labels == ("N", "S")
        assert more.relation.derived[-1] == ("zone", build.lookup(REGION, {"north": 1, "south": 3}))
    geo = PublicTable([*rows, rows[0]], "geo")
    with pytest.raises(BadParameter, match="must be unique"):
        people.lookup(geo, on="region", columns=["name"])
    with pytest.raises(BadParameter, match="one of region, name, zone"):
        people.lookup(geo, on="region", columns=["size"])
    with pytest.raises(BadParameter, match="must be unique"):
        PublicTable([{"region": ["north"], "name": "N"}], "geo").mapping("region", "name")
    (tmp_path / "geo.parquet").write_text("no Parquet")
    with pytest.raises(BadSchema, match="can be read"):
        PublicTable(tmp_path / "geo.parquet", "geo").mapping("region", "name")
    (tmp_path / "coasts.csv").write_text("region,coast\nnorth,yes\n")
    assert PublicTable(str(tmp_path / "coasts.csv")).name == PublicTable(tmp_path / "coasts.csv").name == "coasts"
    with pytest.raises(BadSchema, match="name must be a small letter"):
        PublicTable(rows)


edges = st.lists(st.integers(-10, 600).map(lambda n: Fraction(n, 4)), min_size=2, max_size=9, unique=True).map(sorted)


@given(edges, st.integers(0, 2000) | st.none())
def test_a_histogram_counts_between_its_edges(edges, step):
    (key,) = people.histogram("spend", edges=edges).query.keys
    found = key.expression.meaning({"spend": step})
    x = None if step is None else Fraction(step, 4)
    if x is None or not edges[0] <= x <= edges[-1]:
        assert found is None
    else:
        expected = max(edge for edge in edges[:-1] if edge <= x)
        assert found * key.domain.grid == expected
        assert found in key.values


def test_a_histogram_has_bins_of_equal_width():
    q = people.group_by("region").histogram("age", bins=12).query
    assert [key.name for key in q.keys] == ["region", "age"]
    assert q.keys[1].labels() == list(range(0, 120, 10))
    assert q.keys[1].expression.meaning({"age": 120}) * q.keys[1].domain.grid == 110
    assert q.aggregates == (COUNT,)
    assert people.histogram(lambda t: t.age + 1).query.keys[0].name == "bin"


@pytest.mark.parametrize(
    ("lower", "upper", "bins", "expected"),
    [(0, 99, 30, range(0, 100, 4)), (0, 99, 200, range(100)), (0, 99, 10, range(0, 100, 10)), (7, 7, 10, [7])],
)
def test_no_bin_begins_beyond_the_bounds(lower, upper, bins, expected):
    schema = {
        "table": {"name": "few", "unit": "row"},
        "columns": {"n": {"type": "integer", "lower": lower, "upper": upper}},
    }
    (key,) = Table([], schema).histogram("n", bins=bins).query.keys
    assert key.labels() == list(expected)
    assert all(key.expression.meaning({"n": n}) is not None for n in range(lower, upper + 1))


REFUSED = [
    (lambda: people.sum("region"), "A sum needs numbers; 'region' is a category."),
    (lambda: people.mean("note"), "A mean needs numbers; 'note' is text."),
    (lambda: people.mean("free"), "'free' has no bounds. Put lower"),
    (lambda: people.quantile("region", 0.5), "needs numbers or dates"),
    (lambda: people.quantile("free", 0.5), "'free' has no bounds. Put lower"),
    (lambda: people.quantile("age", 2), "from 0 to 1"),
    (lambda: people.quantile("age", float("nan")), "finite number"),
    (lambda: people.top("region", 3), "from 1 to 2"),
    (lambda: people.top("region", 0), "at least 1"),
    (lambda: people.mode("note"), "Or count them: GROUP BY the column, ORDER BY the count DESC, LIMIT k"),
    (lambda: people.domain("note"), "not public. List them in the schema"),
    (lambda: people.group_by("note"), "selected privately: group_by(..., private=True)"),
    (lambda: people.group_by("free"), "declared bounds"),
    (lambda: people.group_by("height"), "no column 'height'"),
    (lambda: people.group_by(["region", "height"]), "no column 'height'"),
    (lambda: people.group_by(people.age // 2), "group_by(band=rows.age // 10)"),
    (lambda: people.group_by(lambda rows: rows.age), "group_by(band=rows.age // 10)"),
    (lambda: people.group_by(people.derive(age=people["count"])["age"]), "belongs to other rows"),
    (lambda: people.where(people.member == "true"), "Write numbers, TRUE and FALSE without quotes"),
    (lambda: people.group_by("age", groups=0), "at least 1"),
    (lambda: people.group_by("age").query, "The question has no aggregate"),
    (lambda: people.group_by("age", "spend", "region", "joined").count().query, "at most 1000000 groups"),
    (lambda: people.group_by("age", "age").count().query, "called 'age'"),
    (lambda: people.group_by("count").count().query, "called 'count'"),
    (lambda: people.where("age"), "condition"),
    (lambda: people.age**0.5, "whole number from 1 to 10"),
    (lambda: people.age**people.age, "whole number from 1 to 10"),
    (people.note.lower, "need a category"),
    (lambda: people.where(people.count == 3), 'rows["name"]'),
    (people.where, "condition"),
    (lambda: people.derive(**{"a\0": people.age}), "control characters"),
    (lambda: people.derive(x=people.region + 1), "category"),
    (lambda: people.where(people.region == "nroth"), "north"),
    (lambda: people.where(people.age > 3 and people.age < 5), "Use & | ~"),
    (lambda: people.where(3 < people.age < 5), "Use & | ~"),
    (lambda: people.count().having(lambda q: q["count"] > 3 and q["count"] < 5), "Use & | ~"),
    (lambda: people.per_unit(m=ask.mean("age")), "count, sum, min and max"),
    (lambda: people.per_unit("age", age=ask.count()), "called 'age'"),
    (lambda: people.histogram("region"), "needs numbers"),
    (lambda: people.histogram("free"), "declare"),
    (lambda: people.histogram("age", edges=[1]), "at least two"),
    (lambda: people.histogram("age", edges=[1, 1]), "increase"),
    (lambda: people.histogram("age", bins=0), "at least 1"),
    (lambda: people.count().select("age"), "its columns are count"),
    (lambda: people.count().having(lambda q: q["count"] > "10").query, "without quotes"),
    (lambda: people.count().having(lambda q: q["count"]).query, "true or false"),
    (lambda: people.count().select(x=lambda q: ~q["count"]).query, "true or false"),
    (lambda: people.count().select(x=lambda q: q["count"].where(q["count"] > 5, "few")).query, "Cannot combine"),
    (lambda: people.mode("member").select(x=lambda q: q["mode_member"] + 1).query, "needs numbers"),
    (lambda: people.median("joined").order_by(lambda q: q["median_joined"] < "2020-1-9").query, "like 2020-12-31"),
    (lambda: people.count().having(people.units()["units"] > 5).query, "no column 'units'"),
    (lambda: people.count().select("count", count=1), "called 'count'"),
    (lambda: people.count().select(x=float("inf")), "finite number"),
    (lambda: people.count().order_by("-age"), "its columns are count"),
    (lambda: people.count().limit(0), "at least 1"),
    (lambda: people[3], "no column '3'"),
    (lambda: people[["age"]], "no column"),
    (lambda: people.domain(3), "no column '3'"),
    (lambda: people.region.like(3), "A pattern must be text"),
    (lambda: people.age.is_in(3), "is_in needs a list"),
    (lambda: people.region.is_in("north"), "is_in needs a list"),
    (lambda: people.age.lookup(3), "is a mapping of keys"),
    (lambda: people.lookup(3, "age", ["x"]), "PublicTable"),
    (lambda: people.join(3), "with other rows"),
    (lambda: people.per_unit(x=3), "not int"),
    (lambda: people.count().order_by(3), "by its columns"),
    (lambda: people.count()[3], "no column '3'"),
    (lambda: people.age.round(1.5), "a whole number"),
    (lambda: people.age.round("x"), "a whole number"),
    (lambda: people.count().select(x=lambda q: q["count"].round(float("nan"))), "a whole number"),
    (lambda: people.count().select(x="\ud800"), "surrogate"),
]


@pytest.mark.parametrize(("asked", "fragment"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_asked_is_refused(asked, fragment):
    with pytest.raises((BadQuestion, BadParameter)) as caught:
        asked()
    assert fragment in str(caught.value)


def test_questions_are_frozen_and_can_be_copied():
    q = people.where(people.age > 3).group_by("region").mean("age")
    before = q.query
    q.count()
    q.limit(3)
    assert q.query == before
    assert copy.deepcopy(q).query == pickle.loads(pickle.dumps(q)).query == before
    with pytest.raises(AttributeError):
        q.keys = ()
    with pytest.raises(TypeError):
        hash(people.age)


def test_a_constant_column_is_a_term_too():
    assert people.derive(one=1).relation.derived[-1] == ("one", Constant(c(1).domain, 1))


SAME = [
    (people.count(), "SELECT COUNT(*) FROM people"),
    (
        people.where(people.age >= 18).where(people.region == "north").mean("spend"),
        "SELECT AVG(spend) FROM people WHERE age >= 18 AND region = 'north'",
    ),
    (
        people.group_by("region", "note", private=True).aggregate(n=ask.count(), m=ask.median("age")),
        "SELECT region, note, COUNT(*) AS n, MEDIAN(age) AS m FROM people GROUP BY region, note",
    ),
    (
        people.per_unit(total=ask.sum_("spend")).mean("total"),
        "SELECT AVG(total) FROM (SELECT id, SUM(spend) AS total FROM people GROUP BY id) AS t",
    ),
    (
        people.group_by("region").aggregate(n=ask.count()).having(lambda q: q["n"] > 10).order_by("-n").limit(3),
        "SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING n > 10 ORDER BY n DESC LIMIT 3",
    ),
]


@pytest.mark.parametrize(("question", "text"), SAME, ids=range(len(SAME)))
def test_both_doors_mean_the_same(question, text):
    assert parse(text, {"people": people}).query == question.query


BANDS = case((people.age < 18, 0), (people.age < 65, 18), otherwise=65)
BANDED = "SELECT *, CASE WHEN age < 18 THEN 0 WHEN age < 65 THEN 18 ELSE 65 END AS band FROM people"
YEARS = people.joined.trunc("year")


@pytest.mark.parametrize(
    ("rows", "key", "direct"),
    [
        (people.derive(key=YEARS), "key", YEARS),
        (people.derive(key=BANDS), "key", BANDS),
        (people.derive(key=BANDS).where(people.age > 3), "key", BANDS),
        (people.derive(band=BANDS).derive(key=lambda rows: rows.band + 1), "key", BANDS + 1),
        (people.derive(band=BANDS), lambda rows: -rows.band, -BANDS),
        (people.derive(key=BANDS).derive(member=True), "key", BANDS),
        (people.derive(key=BANDS).join(table("visits")), "key", BANDS),
        (people.derive(key=BANDS).per_unit("key", n=ask.count()), "key", BANDS),
        (people.derive(band=BANDS).per_unit(key=ask.max_("band")), "key", BANDS),
        (people.derive(age=BANDS), "age", BANDS),
    ],
)
def test_grouped_by_a_derived_column_a_question_has_the_groups_of_its_expression(rows, key, direct):
    (found,), (expected,) = (q.count().query.keys for q in (rows.group_by(key=key), people.group_by(key=direct)))
    assert found.values == expected.values and len(expected.values) in (3, 11)


def test_groups_by_a_derived_column_are_the_same_through_both_doors():
    asked = people.derive(band=BANDS).group_by("band").count()
    for text in (
        f"WITH b AS ({BANDED}) SELECT band, COUNT(*) FROM b GROUP BY band",
        f"SELECT band, COUNT(*) FROM ({BANDED}) AS b GROUP BY 1",
    ):
        assert parse(text, {"people": people}).query == asked.query


def test_a_column_that_is_derived_over_and_over_is_looked_at_once():
    rows = people.derive(key=BANDS)
    for _ in range(50):  # written out, 2^50 operations
        rows = rows.derive(key=lambda rows: case((rows.member, rows.key), otherwise=rows.key.clamp(0, 70)))
    (key,) = rows.group_by("key").count().query.keys
    assert len(key.values) <= 71


def test_many_conditions_on_what_is_released_are_not_deep():
    start = "SELECT COUNT(*) AS n FROM people HAVING "
    assert parse(start + " AND ".join(f"n > {i}" for i in range(500)), {"people": people}).query.having is not None
    assert parse(start + " OR ".join(f"n = {i}" for i in range(500)), {"people": people}).query.having is not None


@pytest.mark.parametrize(("terms", "refused"), [(190, False), (210, True)])
def test_both_doors_compute_equally_deep(terms, refused):
    q = people.aggregate(n=ask.count())
    total = q["n"]
    for _ in range(terms - 1):
        total = total + q["n"]
    text = f"SELECT {' + '.join(['COUNT(*)'] * terms)} AS x FROM people"
    for door in (lambda: q.select(x=total).query, lambda: parse(text, {"people": people}).query):
        if refused:
            with pytest.raises(BadQuestion, match="at most 200 operations deep"):
                door()
        else:
            assert door().outputs


def test_what_is_too_large_when_written_out_is_refused_by_both_doors():
    q, text = people.aggregate(n=ask.count()), "COUNT(*)"
    doubled = q["n"]
    for _ in range(60):
        doubled = doubled + doubled
    for _ in range(20):
        text = f"NULLIF({text}, 3)"
    for door in (
        lambda: q.select(x=doubled).query,
        lambda: parse(f"SELECT {text} AS x FROM people", {"people": people}),
    ):
        with pytest.raises(BadQuestion, match="at most 100000 operations"):
            door()


def test_of_many_columns_the_nearest_are_named_and_the_others_counted():
    columns = {f"reading_{i:03}": {"type": "boolean"} for i in range(244)}
    wide = Table([], {"table": {"name": "wide", "unit": "row"}, "columns": columns})
    with pytest.raises(BadQuestion, match=r"the columns are reading_200, reading_.* and 232 more\.$"):
        wide.group_by("readng_200")
    with pytest.raises(BadQuestion, match=r"the columns are reading_200, .* and 232 more\.$"):
        parse("SELECT COUNT(*) FROM wide WHERE readng_200", {"wide": wide}, {})


def test_a_method_that_is_misspelt_is_named() -> None:
    with pytest.raises(AttributeError, match=r"Do you mean group_by\(\)\?"):
        _ = people.groupby
