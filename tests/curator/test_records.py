"""What a curator says of purchases without one: what was bought, how many are left, and how an answer would look."""

from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

import tacit
from curator.test_curator import COUNT, curator
from tacit import storage
from tacit.core.errors import BadParameter, BudgetExceeded
from tacit.curator import Curator
from tacit.release.provenance import REHEARSAL
from tacit.workloads import marginals

BUDGETS = {
    "pure": tacit.Budget(epsilon=1),
    "union": tacit.Budget(epsilon=1, delta="1e-6"),
    "rho": tacit.Budget(rho="0.1"),
    "renyi": tacit.Budget(epsilon=1, renyi_order=8),
}


@pytest.fixture
def place(tmp_path):
    return tmp_path / "visits.ledger"


def test_what_was_bought_is_known_by_whoever_asks_and_offers_say_that_it_is_free(place):
    with curator(place) as c:
        before = c.ledger.head()
        assert c.bought(COUNT, epsilon="0.1") is None and c.offer(COUNT, epsilon="0.1").bought is None
        assert c.ledger.head() == before  # a ledger from which nothing was bought has no secret yet
        release = c.ask(COUNT, epsilon="0.1", analyst="ann")
        charge = c.bought(COUNT, epsilon="0.1", analyst="ben")
        assert charge.hash == release.provenance.entry_hash and charge.analyst == "ann"
        offered = c.offer(c.table.count(), epsilon="0.1")
        assert offered.bought == charge.time and f"bought on {charge.time[:10]}, so it is free" in str(offered)
        assert c.bought(COUNT, epsilon="0.2") is None and c.offer(COUNT, epsilon="0.2").bought is None
        assert c.bought(COUNT, epsilon="0.1", fresh=True) is None


def test_what_was_bought_is_covered_when_nothing_is_left(place):
    with curator(place, tacit.Budget(epsilon=1)) as c:
        c.ask(COUNT, epsilon=1)
        assert c.covers(c.offer(COUNT, epsilon=1)) and not c.covers(c.offer(COUNT, epsilon="0.5"))


def test_a_draw_that_failed_is_not_said_to_be_free(place, monkeypatch):
    with curator(place) as c:
        monkeypatch.setattr("tacit.curator.ask.draw", lambda *args: args[-1].word() and 1 / 0)
        with pytest.raises(tacit.DrawFailed):
            c.ask(COUNT, epsilon="0.1")
        assert c.bought(COUNT, epsilon="0.1").failed and c.offer(COUNT, epsilon="0.1").bought is None


@pytest.mark.parametrize("kind", ["question", "bounds", "workload"])
def test_a_named_draw_is_bought_once_and_leaves_the_first_draw_as_it_was(place, kind):
    with curator(place, tacit.Budget(epsilon=100)) as c:
        work = marginals(c.table.domain("year"), k=1)

        def buy(**terms):
            match kind:
                case "question":
                    return c.ask(COUNT, epsilon=1, **terms)
                case "bounds":
                    return c.bounds("age", epsilon=1, **terms)
            return c.answer(work, epsilon=1, method="histogram", **terms).answers.tolist()

        def charges():
            return len(c.history())

        first = buy()
        one = buy(fresh="retry 7", analyst="ann")
        assert charges() == 2 and buy(fresh="retry 7", analyst="ann") == one and charges() == 2
        buy(fresh="retry 7", analyst="ben")
        assert charges() == 3  # a name is its analyst's own
        buy(fresh="retry 8", analyst="ann")
        assert charges() == 4 and buy() == first and charges() == 4
        for wrong in ("", "x" * 201, "a\nb", 1):
            with pytest.raises(BadParameter, match="fresh"):
                buy(fresh=wrong)


def test_a_named_draw_is_found_again(place):
    with curator(place) as c:
        assert c.bought(COUNT, epsilon="0.1", fresh="a") is None
        release = c.ask(COUNT, epsilon="0.1", fresh="a")
        assert c.bought(COUNT, epsilon="0.1", fresh="a").seq == release.provenance.entry
        assert c.bought(COUNT, epsilon="0.1") is None
        assert c.bought(COUNT, epsilon="0.1", fresh="a", analyst="ben") is None


@pytest.mark.parametrize("name", BUDGETS)
def test_exactly_so_many_questions_are_left(place, name):
    """As many are admitted one by one, and one more is refused; what is spent before is counted."""
    with curator(place, BUDGETS[name]) as c:
        c.ask("SELECT SUM(age) AS s FROM visits", share="0.23")
        left = c.questions_left(COUNT, share="0.11")
        offered = c.offer(COUNT, share="0.11")
        assert left == c.questions_left(offered) > 1
        for i in range(left):
            assert c.questions_left(offered) == left - i
            c.ledger.charge(key=f"{i:064x}", loss=offered.loss, analyst="ann")
        assert c.questions_left(offered) == 0
        with pytest.raises(BudgetExceeded):
            c.ledger.charge(key=f"{left:064x}", loss=offered.loss, analyst="ann")


def test_questions_left_are_those_of_the_allowance_if_that_has_fewer(place):
    with curator(place, tacit.Budget(epsilon=1)) as c:
        c.ledger.allow("ann", tacit.Budget(epsilon="0.35"))
        assert c.questions_left(COUNT, epsilon="0.1", analyst="ann") == 3
        assert c.questions_left(COUNT, epsilon="0.1", analyst="ben") == 0  # who has none


def test_questions_left_on_a_part_are_those_of_that_part(place):
    with curator(place, tacit.Budget(epsilon=1)) as c:
        one, other = (f"SELECT COUNT(*) AS n FROM visits WHERE year = '{year}'" for year in (2023, 2024))
        c.ask(one, epsilon="0.5")
        assert [c.questions_left(each, epsilon="0.1") for each in (one, other, COUNT)] == [5, 10, 5]


@pytest.mark.parametrize("name", BUDGETS)
def test_repeats_of_a_loss_are_those_that_charges_admit(name):
    budget, loss = BUDGETS[name], tacit.Laplace(epsilon=Fraction(3, 70), sensitivity=1).loss()
    times, spent = budget.repeats(loss), budget.amounts(tacit.Loss({}))
    each = budget.amounts(loss)
    for i in range(times + 1):
        after = tuple(a + b for a, b in zip(spent, each, strict=True))
        assert (budget.used(after) <= budget.limit) == (i < times)
        spent = after
    with pytest.raises(BadParameter, match="takes something"):
        budget.repeats(tacit.Loss({}))


def test_gaussian_noise_is_bought_no_times_in_pure_epsilon():
    loss = tacit.Gaussian(rho="0.01", sensitivity=1).loss()
    assert BUDGETS["pure"].repeats(loss) == 0 and BUDGETS["union"].repeats(loss) > 0


def test_a_release_is_found_by_the_hash_of_its_entry_and_verified(place):
    with curator(place, tacit.Budget(epsilon=10)) as c:
        release = c.ask("SELECT COUNT(*) AS n FROM visits ORDER BY n LIMIT 3", epsilon=1)
        bought = c.answer(marginals(c.table.domain("year"), k=1), epsilon=1, method="histogram")
        kept = c.release_of(release.provenance.entry_hash)
        assert kept == release and kept.provenance == release.provenance
        again = c.release_of(bought.provenance.entry_hash)
        assert again.answers.tolist() == bought.answers.tolist() and again.provenance == bought.provenance
        head = c.ledger.head()
        for sound in (release, kept, bought, again, tacit.Release.from_json(release.to_json()), release.nonnegative()):
            assert c.verify(sound) == head
        other = c.ask("SELECT COUNT(*) AS m FROM visits ORDER BY m DESC", epsilon=1, beta="0.1")
        assert c.verify(other) == head  # the same draw, shown otherwise


def test_a_release_that_the_ledger_does_not_keep_is_not_verified(place):
    with curator(place, tacit.Budget(epsilon=10)) as c:
        release = c.ask(COUNT, epsilon=1)
        for forged in (
            replace(release, noisy=((release.noisy[0][0] + 1, *release.noisy[0][1:]),)),
            replace(release, price=Fraction(1, 7)),
            replace(release, provenance=replace(release.provenance, question="another")),
        ):
            with pytest.raises(BadParameter, match="not the release that entry"):
                c.verify(forged)
        for hidden in (
            replace(release, provenance=replace(release.provenance, entry_hash=None)),
            c.rehearse(COUNT, epsilon=1),
        ):
            with pytest.raises(BadParameter, match="names no entry"):
                c.verify(hidden)
        with pytest.raises(BadParameter, match="No release"):
            c.verify(replace(release, provenance=replace(release.provenance, entry_hash="0" * 64)))
        with pytest.raises(BadParameter, match="release"):
            c.verify("text")


def test_entries_without_a_release_have_none(place):
    with curator(place, tacit.Budget(epsilon=10)) as c:
        c.bounds("age", epsilon=1)
        c.above_threshold(10, epsilon=1)
        by_kind = {charge.purpose.kind: charge.hash for charge in c.ledger.history()}
        for kind, says in (("bounds", "is for bounds"), ("stream", "No release"), ("private value", "No release")):
            with pytest.raises(BadParameter, match=says):
                c.release_of(by_kind[kind])
        assert c.ledger.charge_of(by_kind["bounds"]).purpose.kind == "bounds"
        assert c.ledger.charge_of(c.ledger.head().hash) is None and c.ledger.charge_of("nothing") is None


def test_a_question_that_was_stored_is_the_same_question(place):
    """Its text knows the columns of a table by their digest alone."""
    with curator(place, tacit.Budget(epsilon=10)) as c:
        asked = c.table.where(c.table.cost > 3).group_by("year").mean("cost")
        release = c.ask(asked, epsilon=1)
        stored = storage.loads(storage.canonical(asked.query))
        assert c.ask(stored, epsilon=1) == release and c.ask(release.query, epsilon=1) == release
        work = marginals(c.table.where(c.table.age > 20).domain("year"), k=1)
        bought = c.answer(work, epsilon=1, method="histogram")
        again = c.answer(storage.loads(storage.canonical(work)), epsilon=1, method="histogram")
        assert again.answers.tolist() == bought.answers.tolist() and len(c.history()) == 2
        other = replace(stored, relation=replace(stored.relation, source=tacit.Schema.load(EVERY).scan()))
        with pytest.raises(tacit.BadQuestion):
            c.ask(other, epsilon=1)


EVERY = """
[table]
name = "all_types"
unit = "who"
rows = 3
partition = "sort"

[columns.whole]
type = "integer"
lower = -5
upper = 20
[columns.wide]
type = "integer"
[columns.part]
type = "real"
lower = -1.5
upper = 2.25
[columns.free]
type = "real"
[columns.flag]
type = "boolean"
[columns.sort]
type = "category"
values = ["a", "b", "c"]
[columns.day]
type = "date"
lower = 2020-01-01
upper = 2020-12-31
[columns.any_day]
type = "date"
[columns.moment]
type = "timestamp"
lower = 2020-01-01T00:00:00Z
upper = 2020-01-02T00:00:00Z
[columns.any_moment]
type = "timestamp"
[columns.words]
type = "text"
"""


def test_made_up_rows_keep_to_the_schema_and_are_the_same_every_time():
    table = tacit.Table([], EVERY).rehearse(500)
    rows = table.data.to_pylist()
    assert table.made_up and repr(table) == "Table('all_types', made up)" and len(rows) == 500
    assert table.data.equals(tacit.Table([], EVERY).rehearse(500).data)
    table.check()
    assert max(sum(row["who"] == who for row in rows) for who in range(10)) <= 3
    assert {len({row["sort"] for row in rows if row["who"] == who}) for who in range(100)} == {1}  # parts are disjoint
    assert {row["sort"] for row in rows} == {"a", "b", "c"} and {row["flag"] for row in rows} == {True, False}
    assert {row["whole"] for row in rows} == set(range(-5, 21))
    assert all(-1.5 <= row["part"] <= 2.25 for row in rows) and all(row["day"].year == 2020 for row in rows)
    for wrong in (0, -1, 10**7, 1.5):
        with pytest.raises(BadParameter, match="rows"):
            table.rehearse(wrong)


def test_a_rehearsal_says_so_and_touches_neither_data_nor_ledger(place, monkeypatch):
    with curator(place) as c:
        before = c.ledger.head()
        monkeypatch.setattr(c._registration, "read_tables", lambda: pytest.fail("the tables were read"))
        by_sql = c.rehearse("SELECT year, COUNT(*) AS n FROM visits GROUP BY year", epsilon=1, rows=400)
        by_python = c.rehearse(c.table.group_by("year").count(), epsilon=1)
        assert c.ledger.head() == before
        for release in (by_sql, by_python):
            assert release.provenance.rehearsal and release.provenance.entry is None
            assert release.card()["rehearsal"] == REHEARSAL and REHEARSAL in str(release)
            assert REHEARSAL in release._repr_html_()
            assert tacit.Release.from_json(release.to_json()).provenance.rehearsal
        counts = sum(by_sql["n"].tolist()), sum(by_python["count"].tolist())
        assert abs(counts[0] - 400) < 270 and abs(counts[1] - 1000) < 270  # of three of scale 3: else below 1e-12


def test_what_was_bought_does_not_say_that_it_was_rehearsed(place):
    with curator(place) as c:
        release = c.ask(COUNT, epsilon="0.1")
    assert "rehearsal" not in release.card() and REHEARSAL not in str(release)
    assert b"rehearsal" not in release.to_json()  # and so stored texts are what they were


def test_a_ledger_is_for_data_or_for_rehearsals_but_not_for_both(place, tmp_path):
    with curator(place) as c:
        c.ask(COUNT, epsilon="0.1")
        made_up = c.table.rehearse()
    with Curator(made_up, ledger=place) as c, pytest.raises(BadParameter, match="first used with"):
        c.ask(COUNT, epsilon="0.1")
    with Curator(made_up, ledger=tmp_path / "trial.ledger", budget=tacit.Budget(epsilon=1)) as c:
        assert c.ask(COUNT, epsilon="0.1").provenance.rehearsal
        assert "rehearsal" in c.answer(marginals(made_up.domain("year"), k=1), epsilon="0.1").card()
    with curator(tmp_path / "trial.ledger") as c, pytest.raises(BadParameter, match="first used with"):
        c.ask(COUNT, epsilon="0.2")


KINDS = {
    pa.int64(): "integer",
    pa.float64(): "real",
    pa.bool_(): "boolean",
    pa.string(): "text",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
}
QUESTIONS = [
    "SELECT sort, flag, COUNT(*) AS n, COUNT(DISTINCT who) AS u, SUM(whole) AS s, SUM(part) AS p FROM all_types"
    " GROUP BY sort, flag",
    "SELECT AVG(whole) AS a, VARIANCE(part) AS v, STDDEV(whole) AS d, MEDIAN(part) AS m, MEDIAN(whole) AS w"
    " FROM all_types",
    "SELECT MEDIAN(day) AS d, MEDIAN(moment) AS t, MODE(sort) AS s, MODE(flag) AS f FROM all_types",
    "SELECT whole, COUNT(*) AS n, COUNT(*) / 3 AS q, COUNT(*) * 2 AS t, ROUND(SUM(part)) AS r, COUNT(*) > 3 AS c,"
    " CASE WHEN COUNT(*) > 5 THEN 'many' ELSE 'few' END AS l, NULL AS z, ABS(COUNT(*) - 4) AS a,"
    " SQRT(COUNT(*)) AS e FROM all_types GROUP BY whole",
    "SELECT day, COUNT(*) AS n, CASE WHEN COUNT(*) > 5 THEN COUNT(*) END AS c FROM all_types GROUP BY day",
    "SELECT words, COUNT(*) AS n FROM all_types GROUP BY words",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_schema_of_an_offer_is_that_of_the_answer(place, question):
    made_up = tacit.Table([], EVERY)
    with Curator(made_up, ledger=place, budget=tacit.Budget(epsilon=100, delta="1e-3")) as c:
        schema = c.offer(question, share="0.9").schema
        answer = c.rehearse(question, share="0.9", rows=2000)
    table = answer.to_arrow()
    assert [name for name, _ in schema] == list(answer.names)
    assert {name: KINDS[table.schema.field(name).type] for name, _ in schema} == dict(schema)
