"""A free offer takes little time, whatever text it is of: every text is read, compiled and priced, or refused, at once.

Times are of the processor, of the whole way from a text to an offer.
"""

import datetime
import itertools
import time
from collections.abc import Callable

import pytest

import tacit
import tacit.query.select.aggregates as ask
from tacit.core.errors import BadParameter, BadQuestion, Missing, Refused
from tacit.query.plan.compiler import MOST_NUMBERS
from tacit.query.plan.offer import offer
from tacit.query.schema.schema import Schema
from tacit.query.select.query import MOST_AGGREGATES, MOST_CANDIDATES
from tacit.query.sql import lexer
from tacit.query.sql.lexer import LONGEST, MOST_LOOKED_UP, STEPS, Text
from tacit.query.sql.parser import parse

from .sql_texts import texts
from .test_sql import PEOPLE, REGIONS, TABLES, VISITS, people

BUDGET = tacit.Budget(epsilon=1, delta="1e-6")
SECONDS = 2.0


def seconds(text: str) -> tuple[float, bool]:
    """How long an offer takes, and whether there is one."""
    start = time.process_time()
    try:
        query = parse(text, TABLES, {"regions": REGIONS}).query
        offer(query, BUDGET, schemas={"people": PEOPLE, "visits": VISITS}, epsilon=1)
    except (BadQuestion, BadParameter, Refused):
        return time.process_time() - start, False
    return time.process_time() - start, True


def tried(seed: int, count: int) -> tuple[int, float]:
    """How many of so many texts are answered with an offer, and the longest time; none may take too long."""
    made, longest = 0, 0.0
    for text in itertools.islice(texts(seed), count):
        took, offered = seconds(text)
        assert took < SECONDS, text
        made, longest = made + offered, max(longest, took)
    return made, longest


def test_no_short_text_takes_long() -> None:
    made, longest = tried(7, 20_000)
    assert made > 200 and longest < SECONDS


@pytest.mark.slow
def test_no_short_text_of_very_many_takes_long() -> None:
    made, _ = tried(11, 200_000)
    assert made > 5000


@pytest.mark.parametrize("opening", ["ARRAY[", "DATE(", "DECIMAL(", "STRUCT(", "TIMESTAMP(", "VARCHAR(1, ", "{'a': "])
@pytest.mark.parametrize("place", ["SELECT {} FROM people", "SELECT COUNT(*) FROM people WHERE CAST(age AS {}) = 1"])
def test_constructs_that_a_parser_reads_in_several_ways_are_no_bombs(opening: str, place: str) -> None:
    closing = "".join({"(": ")", "[": "]", "{": "}"}.get(c, "") for c in reversed(opening))
    took, offered = seconds(place.format(opening * 30 + "1" + closing * 30))
    assert took < SECONDS / 4 and not offered


@pytest.mark.parametrize(
    "text", ["SELECT COUNT(*) FROM people", "SELECT SUM((age + 1) * 2) FROM people WHERE NOT member"]
)
def test_every_token_is_a_counted_step_of_the_parser(text: str) -> None:
    dialect = lexer._Dialect()
    parser, tokens = dialect.parser(), dialect.tokenize(text)
    parser.parse(tokens, text)
    assert len(tokens) <= parser.steps <= parser.most == STEPS * (len(tokens) + 10)


def test_a_parser_that_takes_too_many_steps_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexer, "STEPS", 0)
    with pytest.raises(BadQuestion, match="takes too long to parse"):
        Text("SELECT COUNT(*) FROM people").read()


def test_a_parser_whose_steps_cannot_be_counted_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(*_: object, **__: object) -> None:
        raise TypeError("interpreted classes cannot inherit from compiled")

    monkeypatch.setattr(lexer._Parser, "__init__", compiled)
    with pytest.raises(Missing, match="pip uninstall sqlglotc"):
        Text("SELECT COUNT(*) FROM people").read()


def filled(before: str, each: Callable[[int], str], between: str, after: str) -> str:
    """A text of the largest length there may be."""
    made, size = [], len(before) + len(after)
    for i in itertools.count():
        size += len(each(i)) + len(between)
        if size > LONGEST:
            return before + between.join(made) + after
        made.append(each(i))
    raise AssertionError


LONG: dict[str, tuple[str, Callable[[int], str], str, str]] = {
    "aggregates": ("SELECT ", lambda i: f"SUM(age+{i})", ",", " FROM people"),
    "medians": ("SELECT ", lambda i: f"MEDIAN(age+{i})", ",", " FROM people"),
    "common values": ("SELECT ", lambda i: f"TOP_K(age+{i},100)", ",", " FROM people"),
    "columns": ("SELECT COUNT(*) AS n,", lambda i: f"n+{i} AS c{i}", ",", " FROM people"),
    "keys": ("SELECT COUNT(*) FROM people GROUP BY ", lambda i: f"age={i}", ",", ""),
    "order": ("SELECT COUNT(*) AS n FROM people ORDER BY ", lambda i: f"n+{i}", ",", ""),
    "conditions": ("SELECT SUM(age) FROM people WHERE ", lambda i: f"age={i}", " OR ", ""),
    "branches": ("SELECT COUNT(*) FROM people WHERE CASE ", lambda i: f"WHEN age={i} THEN 'l{i}'", " ", " END = 'l1'"),
    "values": ("SELECT COUNT(*) FROM people WHERE age IN (", str, ",", ")"),
    "lookups": ("SELECT COUNT(*) FROM people ", lambda i: f"JOIN regions r{i} ON people.region=r{i}.region", " ", ""),
    "folds": ("SELECT COUNT(*) FROM (SELECT person_id,", lambda i: f"SUM(age+{i})", ",", " FROM people GROUP BY 1)"),
    "tables": ("WITH ", lambda i: f"a{i} AS (SELECT * FROM people)", ",", " SELECT COUNT(*) FROM a0"),
    "least": ("SELECT SUM(LEAST(", lambda i: f"age+{i}", ",", ")) FROM people"),
    "signs": ("SELECT SUM(", lambda _: "-", " ", "age) FROM people"),
    "brackets": ("SELECT ", lambda _: "(", "", " FROM people"),
}


@pytest.mark.parametrize("name", LONG)
def test_the_longest_texts_take_seconds_at_most(name: str) -> None:
    took, _ = seconds(filled(*LONG[name]))
    assert took < SECONDS


def test_aggregates_are_counted_at_both_doors() -> None:
    refusal = f"A question may have at most {MOST_AGGREGATES} aggregates. Ask several questions."
    wanted = ",".join(f"SUM(age + {i})" for i in range(MOST_AGGREGATES + 1))
    with pytest.raises(BadQuestion, match=refusal):
        parse(f"SELECT {wanted} FROM people", TABLES)
    many = people.aggregate(**{f"n{i}": ask.sum_(people.age + i) for i in range(MOST_AGGREGATES + 1)})
    with pytest.raises(BadQuestion, match=refusal):
        offer(many.query, BUDGET, schemas={"people": PEOPLE}, epsilon=1)


def test_the_numbers_of_an_answer_are_bounded_by_cells_and_measures() -> None:
    sums = ",".join(f"SUM(age + {i})" for i in range(60))
    text = f"SELECT joined, age % 50 AS a, {sums} FROM people GROUP BY joined, a"
    with pytest.raises(BadQuestion, match=f"60 counts and sums in each of 200900 groups .* at most {MOST_NUMBERS}"):
        offer(parse(text, TABLES).query, BUDGET, schemas={"people": PEOPLE}, epsilon=1)


LABELS = [f"L{i:06d}" for i in range(2000)]
DAYS = {"type": "date", "lower": datetime.date.min, "upper": datetime.date(8000, 1, 1)}
WIDE = Schema.load(
    {
        "table": {"name": "wide", "unit": "row"},
        "columns": {
            "age": {"type": "integer", "lower": 0, "upper": 999_999},
            "c": {"type": "category", "values": LABELS},
            "long": {"type": "category", "values": ["a" * 4000, "b" * 4000]},
            "day": DAYS,
        },
    }
)


def refused(text: str) -> str:
    """Why there is no offer, which takes little to say; or nothing, if there is one."""
    start, reason = time.process_time(), ""
    try:
        offer(parse(text, {"wide": WIDE}).query, BUDGET, schemas={"wide": WIDE}, epsilon=1)
    except BadQuestion as error:
        reason = error.reason
    assert time.process_time() - start < 1
    return reason


@pytest.mark.parametrize("count", [1, 3, 100])
@pytest.mark.parametrize("k", [1, 2, 100])
def test_the_most_common_of_too_many_values_is_refused_before_they_are_listed(count: int, k: int) -> None:
    wanted = ", ".join(f"TOP_K(age + {i}, {k}) AS s{i}" for i in range(count))
    assert f"among at most {MOST_CANDIDATES} public values" in refused(f"SELECT {wanted} FROM wide")


def test_the_most_common_of_as_many_values_as_there_may_be_take_little() -> None:
    for k, count in ((100, 3), (1, 300)):
        wanted = ", ".join(f"TOP_K((age + {i}) % {MOST_CANDIDATES}, {k}) AS s{i}" for i in range(count))
        assert refused(f"SELECT {wanted} FROM wide") == ""


EACH = {
    "c ILIKE '%L%0%0%0%{}%'": 2,
    "c LIKE '%L%0%0%0%{}%'": 1,
    "c NOT LIKE '%L%0%0%0%{}%'": 1,
    "LOWER(c) = 'l{:06d}'": 1,
    "UPPER(LOWER(c)) = 'L{:06d}'": 2,
    "CAST(c AS INTEGER) = {}": 1,
}


@pytest.mark.parametrize("each", EACH)
def test_labels_that_functions_go_through_are_counted(each: str) -> None:
    most = MOST_LOOKED_UP // len(LABELS) // EACH[each]
    for count in (most, most + 1, 400, 1000):
        text = "SELECT COUNT(*) FROM wide WHERE " + " OR ".join(each.format(i) for i in range(count))
        assert (f"more than {MOST_LOOKED_UP} labels" in refused(text)) == (count > most)


def test_periods_that_functions_go_through_are_counted() -> None:
    text = " OR ".join(f"DATE_TRUNC('month', day) = DATE '{2000 + i}-01-01'" for i in range(100))
    assert f"more than {MOST_LOOKED_UP} labels and periods" in refused(f"SELECT COUNT(*) FROM wide WHERE {text}")


@pytest.mark.parametrize(
    "pattern", ["%_" * 500, "_%" * 500, "a%" * 500, "%a" * 499 + "b", "a" * 999 + "_", "%" + "a" * 998 + "b"]
)
def test_patterns_take_little_time_on_long_labels(pattern: str) -> None:
    likes = " OR ".join(f"long LIKE '{pattern[: 1000 - i]}'" for i in range(60))
    assert refused(f"SELECT COUNT(*) FROM wide WHERE {likes}") == ""


@pytest.mark.parametrize("each", ["DAYOFYEAR(day) = {}", "WEEK(day) = {}", "DATE_PART('doy', day) = {}"])
def test_years_of_a_calendar_are_counted(each: str) -> None:
    most = MOST_LOOKED_UP // 8000
    for count in (most, most + 1, 1000):
        text = "SELECT COUNT(*) FROM wide WHERE " + " OR ".join(each.format(i + 1) for i in range(count))
        assert (f"more than {MOST_LOOKED_UP} labels" in refused(text)) == (count > most)
