"""Failures between a charge and its draw: one error that says nothing, whatever fails; and data make nothing fail."""

import traceback
from itertools import product

import numpy as np
import pytest

import tacit
from tacit import storage
from tacit.core.distance import ADD_REMOVE, Distance
from tacit.core.errors import BadData, BadParameter, EngineError, EngineUnavailable, Refused
from tacit.curator import Curator
from tacit.engines.base import EngineAnswer
from tacit.query.plan.plan import BinCounts, Total, UnitCount
from tacit.testing.sources import Seeded
from tacit.workloads import METHODS, Domain, Price, marginals, predicates, prefixes, ranges
from tacit.workloads.queries._layout import summed

SECRET = "4711"
ROWS = [{"person": i // 2, "age": i % 50, "city": f"city {i % 3}", "sex": "fm"[i % 2]} for i in range(200)]
SCHEMA = """
[table]
name = "people"
unit = "person"
rows = 2
[columns.age]
type = "integer"
lower = 0
upper = 99
[columns.city]
type = "text"
[columns.sex]
type = "category"
values = ["f", "m"]
"""
FAILURES = [
    IndexError(SECRET),
    KeyError(SECRET),
    ValueError(SECRET),
    TypeError(SECRET),
    OverflowError(SECRET),
    ZeroDivisionError(SECRET),
    MemoryError(SECRET),
    RecursionError(SECRET),
    UnicodeDecodeError("utf-8", SECRET.encode(), 0, 1, SECRET),
    AssertionError(SECRET),
    OSError(SECRET),
    BadData("age", SECRET, SECRET),
    BadParameter("age", SECRET, SECRET),
    EngineUnavailable(SECRET, SECRET),
    EngineError(),
]


@pytest.fixture
def curator(tmp_path):
    table, budget = tacit.Table(ROWS, SCHEMA), tacit.Budget(epsilon=1000, delta="1e-6")
    with Curator(table, ledger=tmp_path / "people.ledger", budget=budget) as c:
        yield c


def _methods(c):
    """The purchases of every method that takes some workload of the table."""
    domain = c.table.domain("sex", "age")
    line = c.table.domain("age")
    for method in METHODS:
        for w in (marginals(domain, k=1), ranges(line)):
            if method.refusal(w, len(ROWS), Price.of(epsilon=1, unit=w.domain.distance)) is None:
                yield method.name, lambda w=w, m=method: c.answer(w, epsilon=1, method=m.name, n=len(ROWS)).answers
                break


def doors(c):
    """Every way to ask about data."""
    domain = c.table.domain("sex", "age")
    stream, numbers = c.above_threshold(50, epsilon=1, name="a"), c.numeric_sparse(50, epsilon=1, name="b")
    online = c.online(domain, epsilon=5, n=len(ROWS), updates=2)
    yield "count", lambda: c.ask("SELECT COUNT(*) FROM people", epsilon=1)["count"].values
    yield "sum", lambda: c.ask("SELECT sex, SUM(age) AS s, AVG(age) FROM people GROUP BY sex", epsilon=1)["s"].values
    yield "median", lambda: c.ask("SELECT MEDIAN(age) AS m FROM people", epsilon=1)["m"].values
    yield "top", lambda: len(c.ask("SELECT MODE(sex) AS m FROM people", epsilon=1)["m"].values)
    yield "keys", lambda: len(c.ask("SELECT city, COUNT(*) FROM people GROUP BY city", share="0.001")["count"].values)
    yield "bounds", lambda: c.bounds("age", epsilon=1).beyond
    yield "stream", lambda: stream.ask("SELECT COUNT(*) FROM people WHERE age < 30")
    yield "numbers", lambda: numbers.ask("SELECT COUNT(*) FROM people WHERE age < 30") or 0
    yield "online", lambda: online.ask({"sex": "f", "age": range(30)}).value
    yield from _methods(c)


def test_an_exact_answer_prints_none_of_its_integers():
    """Neither by itself nor in a message that shows what was given."""
    answer = EngineAnswer((np.array([4711]),), ((4711, "ann"),), np.array([4711]))
    for text in (repr(answer), str(answer), f"{[answer]}", str(BadParameter("data", answer, "a table"))):
        assert "EngineAnswer" in text and "4711" not in text and "ann" not in text


def test_whatever_fails_in_reading_is_one_error_that_says_nothing(curator, monkeypatch):
    """In every door, before anything is stored; afterwards the same question is completed under its charge."""
    asked = dict(doors(curator))
    assert len(asked) > 18, sorted(asked)
    engine, silent = curator._registration.engine, str(EngineError())
    for name, ask in asked.items():
        left = None
        for failure in FAILURES:

            def fails(*_, failure=failure):
                raise failure

            monkeypatch.setattr(engine, "answer", fails)
            with pytest.raises(EngineError) as raised:
                ask()
            error = raised.value
            assert (type(error), str(error), error.args) == (EngineError, silent, EngineError().args), (name, failure)
            assert error.__cause__ is None and error.__context__ is None, (name, failure)
            assert SECRET not in "".join(traceback.format_exception(error)), (name, failure)
            assert left in (None, curator.remaining), (name, failure)  # it is charged once
            left = curator.remaining
        monkeypatch.undo()
        assert np.isfinite(np.asarray(ask(), float)).all() and curator.remaining == left, name


def hostile(shape, kind, measure):
    """Integers as no table should have them; of a histogram at most 2^40, and no count is negative."""
    cells, most = np.zeros(shape, np.int64), 1 << 40
    match kind:
        case "one":
            cells.flat[:1] = 1
        case "lump":
            cells.flat[-1:] = 10**9
        case "2^62":
            cells[...] = most // cells.size if isinstance(measure, BinCounts) else 1 << 62
        case "2^63 in one cell":
            cells.flat[:1] = most if isinstance(measure, BinCounts) else (1 << 63) - 1
        case "2^70" if not isinstance(measure, BinCounts):
            cells = np.full(shape, 1 << 70, object)
        case "-2^63" if isinstance(measure, Total):
            cells[...] = -(1 << 63)
    return cells


KINDS = ["empty", "one", "lump", "2^62", "2^63 in one cell", "2^70", "-2^63"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_integers_of_an_engine_make_a_question_fail(curator, monkeypatch, kind):
    """An exception here would be caused by data alone, before or after the noise: a leak either way."""
    asked = {name: ask for name, ask in doors(curator) if name not in ("local", "small_db")}
    engine = curator._registration.engine
    real = engine.answer

    def answer(plan, content=None):
        found = real(plan, content)
        measured = zip(found.cells, plan.measures, strict=True)
        cells = tuple(hostile(np.shape(array), kind, measure) for array, measure in measured)
        units = None if found.units is None else np.maximum(hostile(np.shape(found.units), kind, UnitCount()), 1)
        return EngineAnswer(cells, found.keys, units)

    monkeypatch.setattr(engine, "answer", answer)
    for name, ask in asked.items():
        assert np.isfinite(np.asarray(ask(), float)).all(), name


class Hostile:
    """A table whose marginals are anything, and need not fit together."""

    def __init__(self, domain, unit, counts):
        self.domain, self.distance, self._counts = domain, unit, counts

    def marginal(self, axes):
        shape = self.domain.laid_out(axes)
        return np.asarray(self._counts(axes, shape), np.int64).reshape(shape)


def tables(domain):
    """Histograms, and functions of axes and shape: at most 2^60 records, as `Counted` has it."""
    n = domain.size
    last, most = np.zeros(domain.shape, np.int64), (1 << 60) // n
    last.flat[-1] = 1
    full = {
        "empty": 0 * last,
        "one": last,
        "lump": 1000 * last,
        "even": 0 * last + 7,
        "2^60 in one cell": last << 60,
        "2^60 evenly": 0 * last + most,
        "comb": (np.arange(n) % 2 * 10**9).reshape(domain.shape),
    }
    yield from ((name, lambda axes, _, c=counts: summed(c, axes)) for name, counts in full.items())
    yield "as many in every table", lambda axes, shape: np.full(shape, (1 << 60) // max(1, int(np.prod(shape))))
    yield "tables that contradict each other", lambda axes, shape: np.full(shape, 0 if len(axes) % 2 else 10**6)


WIDE, LINE, DOT = Domain.of({"a": 2, "b": 3, "c": 4, "d": 1}), Domain.of({"v": 64}), Domain.of({"v": 1})
WORKLOADS = {
    "pairs": marginals(WIDE, k=2),
    "total": marginals(WIDE, k=0),
    "all": marginals(WIDE, k=4),
    "ranges": ranges(LINE),
    "prefixes": prefixes(LINE),
    "predicates": predicates(WIDE, [{"a": 0, "c": [0, 2]}, {"b": [0, 2]}, {}]),
    "one cell": marginals(DOT, k=1),
}


def _refused(method, workload, n, price):
    """As the curator refuses, from public facts, before anything is charged."""
    try:
        reason = method.refusal(workload, n, price)
        return reason is not None or not method.predict(workload, n, price)
    except (Refused, BadParameter):
        return True


HUNDRED = Distance(100, 10_000, 100, None, ADD_REMOVE)  # rows of a unit
PRICES = [{"rho": "0.1"}, {"epsilon": 1, "unit": HUNDRED}, {"epsilon": 1}, {"epsilon": "0.001"}, {"rho": 100}]
TOTAL = [m for m in METHODS if m.name not in ("local", "small_db")]  # those draw until a coin says so, or by record


def _total(method, workloads, prices, sizes):
    """How many releases on hostile tables were drawn, stored, read and told again; each without a failure."""
    tried = 0
    for seed, (name, given, n) in enumerate(product(workloads, prices, sizes)):
        workload, price = WORKLOADS[name], Price.of(**given)
        if _refused(method, workload, n, price):
            continue
        for kind, counts in tables(workload.domain):
            data = Hostile(workload.domain, price.unit, counts)
            released = method.release(workload, data, price, Seeded(seed), n=n)
            again = storage.loads(storage.canonical(released))
            assert np.isfinite(released.answers).all(), (name, given, n, kind)
            assert np.array_equal(again.answers, released.answers), (name, given, n, kind)
            assert str(method.restated(again, n, price, 0.01))
            tried += 1
    return tried


@pytest.mark.parametrize("method", TOTAL, ids=lambda m: m.name)
@pytest.mark.filterwarnings("error")
def test_no_table_makes_a_method_fail(method):
    assert _total(method, ["pairs", "ranges", "one cell"], PRICES[:2], [1000]) >= 9


@pytest.mark.slow
@pytest.mark.parametrize("method", TOTAL, ids=lambda m: m.name)
@pytest.mark.filterwarnings("error")
def test_no_table_makes_a_method_fail_at_any_price_and_size(method):
    """With n right, wrong and unknown."""
    assert _total(method, WORKLOADS, PRICES, [None, 1, 1000, 10**6]) >= 100
