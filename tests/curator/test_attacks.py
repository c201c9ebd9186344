"""Ways to get more out of a curator than was paid for, each of which must fail."""

import json
from contextlib import suppress
from fractions import Fraction

import pytest

import tacit
from curator.test_curator import COUNT, ROWS, SCHEMA, curator
from tacit.core.errors import BadParameter, BadQuestion, BudgetExceeded, LedgerConflict, TacitError
from tacit.curator import Curator
from tacit.engines.duckdb.engine import DuckDB
from tacit.ledger import Ledger
from tacit.release import Release

ORACLE = (
    "SELECT CASE WHEN year = '2023' THEN 'x' ELSE {other} END AS y, COUNT(*) AS n FROM visits GROUP BY year "
    "ORDER BY CASE WHEN year = '2024' THEN {other} WHEN COUNT(*) >= {least} THEN 'a' ELSE {other} END"
)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "visits.ledger"


def draws(place):
    with Ledger.open(place) as ledger:
        return [charge.release for charge in ledger.history() if charge.loss.terms]


def test_an_open_charge_on_a_part_is_not_completed_once_people_have_moved(place, monkeypatch):
    people = [{"person": i, "year": "2023", "age": 1, "cost": 1, "note": "a"} for i in range(20)]
    text = "SELECT COUNT(*) AS n FROM visits WHERE year = '2023'"
    with Curator(tacit.Table(people, SCHEMA), ledger=place, budget=tacit.Budget(epsilon=1)) as c:
        monkeypatch.setattr(c.ledger, "store", lambda *_, **__: 1 / 0)  # a crash between the charge and its release
        with pytest.raises(ZeroDivisionError):
            c.ask(text, epsilon="0.5")
    moved = [{**row, "year": "2024" if row["person"] % 2 else "2023"} for row in people]
    with Curator(tacit.Table(moved, SCHEMA), ledger=place) as c, pytest.raises(LedgerConflict, match="changed since"):
        c.ask(text, epsilon="0.5")


def test_a_stream_is_not_asked_what_moves_farther_than_its_noise(place):
    """Nine pairs of a unit, where noise is for three rows."""
    with curator(place, tacit.Budget(epsilon=1)) as c:
        stream = c.above_threshold(5, epsilon=1)
        with pytest.raises(BadQuestion, match="more than the stream was opened for"):
            stream.ask(c.table.join(c.table).count())


@pytest.mark.parametrize(("other", "bought"), [("0", 0), ("NULL", 1)])
def test_what_is_computed_from_an_answer_cannot_make_it_be_drawn_again(place, other, bought):
    """A question that fails after the draw and before storing would be an oracle on as many draws as one likes.

    Numbers beside text are refused before anything is charged; what is missing stands beside all.
    """
    with curator(place) as c:
        seen = set()
        for least in (0, 100, 200, 400):
            with suppress(TacitError):
                seen.add(c.ask(ORACLE.format(other=other, least=least), epsilon="0.1").noisy)
        assert c.remaining == 1 - Fraction(bought, 10) and len(seen) == bought
    assert len(draws(place)) == bought and None not in draws(place)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) * 1e400 AS n FROM visits",
        "SELECT ROUND(COUNT(*) / 3, 4000) AS n FROM visits",
        "SELECT COUNT(*) AS n FROM visits HAVING " + " OR ".join(f"COUNT(*) = {i}" for i in range(1500)),
        "SELECT COUNT(*) AS n FROM visits HAVING n IN (" + ", ".join(map(str, range(900))) + ")",
        "SELECT SQRT(0 - COUNT(*)) / 0 AS n, 1 / (COUNT(*) - COUNT(*)) AS m FROM visits",
    ],
)
def test_whatever_is_computed_from_an_answer_is_refused_before_the_draw_or_total(place, text):
    with curator(place) as c:
        try:
            str(c.ask(text, epsilon="0.1"))
        except TacitError:
            assert c.remaining == 1
    assert all(release is not None for release in draws(place))


def test_nothing_runs_between_draw_and_store_but_the_facts(place, monkeypatch):
    monkeypatch.setattr(Release, "columns", property(lambda self: 1 / 0))
    with curator(place) as c:
        c.ask(COUNT, epsilon="0.1")
    assert draws(place)[0] is not None


def test_keys_do_not_let_anybody_try_what_a_row_holds(tmp_path):
    """The same table under two ledgers: a key that were a hash of the content alone would be the same."""
    keys = []
    for name in ("a", "b"):
        with curator(tmp_path / f"{name}.ledger") as c:
            c.ask(COUNT, epsilon="0.1")
            c.above_threshold(100, epsilon="0.1").ask(COUNT)
            c.bounds("cost", epsilon="0.1")
            c.ledger.export(tmp_path / f"{name}.jsonl")
            keys.append({charge.key for charge in c.history() if charge.loss.terms and not charge.session})
            content = c._registration.engine.fingerprint()
        assert content not in (tmp_path / f"{name}.jsonl").read_text()
    assert not keys[0] & keys[1]


def test_different_ranks_are_different_questions(place):
    with curator(place) as c:
        for i, what in enumerate(("MIN(age)", "MEDIAN(age)", "QUANTILE(age, 0.9)", "MODE(year)")):
            c.ask(f"SELECT {what} AS v FROM visits", epsilon="0.1")
            assert c.remaining == 1 - Fraction(i + 1, 10)


def test_rows_of_another_schema_are_not_sold_at_its_price(place):
    """A domain or question made of the same data under other bounds would be priced by those."""
    narrow = tacit.Table(ROWS, SCHEMA.replace("rows = 3", "rows = 1"))
    other = tacit.Table(ROWS, SCHEMA.replace('name = "visits"', 'name = "others"'))
    with curator(place, tacit.Budget(rho=10)) as c:
        stream, left = c.above_threshold(100, epsilon=1), c.remaining
        for table in (narrow, other):
            workload = tacit.workloads.marginals(table.domain("year"), k=1)
            for ask in (
                lambda table=table: c.ask(table.count(), rho=1),
                lambda table=table: c.ask(table.count().query, rho=1),
                lambda workload=workload: c.answer(workload, rho=1),
                lambda table=table: c.online(table.domain("year"), rho=1),
                lambda table=table: stream.ask(table.count()),
            ):
                with pytest.raises(tacit.BadQuestion):
                    ask()
        assert c.remaining == left


def test_a_stream_is_of_one_schema(place):
    with curator(place, tacit.Budget(epsilon=2)) as c:
        c.above_threshold(100, epsilon=1)
    wider = tacit.Table(ROWS, SCHEMA.replace("rows = 3", "rows = 30"))
    with Curator(wider, ledger=place) as c:
        c.above_threshold(100, epsilon=1)
        assert c.remaining == 0  # another stream, with the noise that thirty rows take


@pytest.mark.parametrize(
    "other",
    [
        SCHEMA.replace('unit = "person"\nrows = 3', 'unit = "row"'),
        SCHEMA.replace('partition = "year"\n', ""),
        SCHEMA.replace('values = ["2023", "2024", "2025"]', 'values = ["2023", "2025", "2024"]'),
        SCHEMA.replace('name = "visits"', 'name = "others"'),
    ],
)
def test_whom_a_ledger_protects_never_changes(place, other):
    with curator(place) as c:
        c.ask(COUNT, epsilon="0.1")
    with pytest.raises(BadParameter), Curator(tacit.Table(ROWS, other), ledger=place) as c:
        c.ask(COUNT.replace("visits", c.table.schema.name), epsilon="0.1")


def test_somebody_who_moves_to_another_part_pays_in_both(place):
    with curator(place) as c:
        c.ask("SELECT COUNT(*) AS n FROM visits WHERE year = '2023'", epsilon=1)
    moved = [{**row, "year": "2024" if row["year"] == "2023" else row["year"]} for row in ROWS]
    with Curator(tacit.Table(moved, SCHEMA), ledger=place) as c, pytest.raises(BudgetExceeded):
        c.ask("SELECT COUNT(*) AS n FROM visits WHERE year = '2024'", epsilon="0.1")


def test_a_contradiction_is_a_question_like_any_other(place):
    with curator(place) as c:
        c.ask("SELECT COUNT(*) AS n FROM visits WHERE year = '2023' AND year = '2024'", epsilon="0.1")
        assert c.remaining == Fraction(9, 10)


def test_a_ledger_of_allowances_alone_can_be_used(place):
    with Ledger.open(place, tacit.Budget(epsilon=1), "visits", only_allowed=True) as ledger:
        ledger.allow("ann", tacit.Budget(epsilon="0.5"))
    with curator(place, analyst="ann") as c:
        c.ask(COUNT, epsilon="0.5")
        with pytest.raises(tacit.Refused):
            c.ask(COUNT, epsilon="0.1", analyst="bob")


@pytest.mark.parametrize(
    "row",
    [
        {"person": 10**5000, "year": 10**5000, "age": 10**5000, "cost": 10**5000, "note": 10**5000},
        {"person": "\ud800", "year": "\ud800", "age": float("nan"), "cost": "\x00", "note": "\ud800"},
        {"person": object(), "year": [], "age": {}, "cost": b"\xff", "note": object()},
        {},
    ],
    ids=["huge", "surrogates", "objects", "nothing"],
)
def test_no_row_makes_a_question_fail(tmp_path, row):
    with Curator(tacit.Table([*ROWS, row], SCHEMA), ledger=tmp_path / "x.ledger", budget=tacit.Budget(epsilon=1)) as c:
        c.ask("SELECT year, COUNT(*), AVG(age), SUM(cost) FROM visits GROUP BY year", epsilon="0.5")


@pytest.mark.parametrize("value", ["1e400", "1e-399", "1e300", 10**500, "nan", "inf", "-1", "0", True, [], b"1"])
@pytest.mark.parametrize("name", ["epsilon", "rho", "error", "relative", "beta", "delta"])
def test_wild_prices_are_refused_in_our_own_words(place, name, value):
    for budget in (tacit.Budget(epsilon=1), tacit.Budget(rho=1), tacit.Budget(epsilon=1, delta="1e-9")):
        with curator(place.with_name(f"{float(budget.rho or 0)}{float(budget.delta)}.ledger"), budget) as c:
            asked = {"epsilon": 1, name: value} if name in ("beta", "delta") else {name: value}
            with pytest.raises(TacitError):
                c.offer("SELECT note, COUNT(*) FROM visits GROUP BY note" if name == "delta" else COUNT, **asked)


def test_the_exact_answer_is_in_no_file(tmp_path):
    """A count that is easily told: the only number of its size that the engine gives."""

    class Marked(DuckDB):
        def _answer(self, plan, content):
            found = super()._answer(plan, content)
            found.cells[0][:] = 987_654_321
            return found

    with curator(tmp_path / "m.ledger", engine=Marked()) as c:
        release = c.ask(COUNT, epsilon="0.1")
        assert abs(release.noisy[0][0] - 987_654_321) < 5000
        c.ledger.export(tmp_path / "m.jsonl")
    stored = b"".join(f.read_bytes() for f in tmp_path.rglob("*") if f.is_file())
    if release.noisy[0][0] != 987_654_321:
        assert b"987654321" not in stored
    assert json.loads(release.to_json())["answer"]
