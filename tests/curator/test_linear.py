"""Linear queries through the curator: planned from public facts, bought once, kept, and asked for more for free."""

import datetime
import json
import re
from fractions import Fraction

import numpy as np
import pytest

import tacit
from curator.test_curator import ROWS, SCHEMA
from tacit import storage
from tacit.composition import rho_for
from tacit.core.accounting.currency import Rho
from tacit.core.errors import BadParameter, BadQuestion, BudgetExceeded, EngineError, TacitError
from tacit.curator import Curator, workloads
from tacit.workloads import METHODS, Price, marginals, predicates, ranges
from tacit.workloads.methods.marginals.chow_liu import ChowLiu
from tacit.workloads.methods.weights.pmw_plans import practical, proven
from tacit.workloads.models.multiplicative_weights import LinearQuery
from tacit.workloads.queries.data_cube import cube


@pytest.fixture
def place(tmp_path):
    return tmp_path / "visits.ledger"


def opened(place, budget=None):
    c = Curator(tacit.Table(ROWS, SCHEMA), ledger=place, budget=budget or tacit.Budget(rho=10))
    return c, c.table.derive(band=lambda rows: rows.age // 10 * 10).domain("year", "band")


def truth(year, bands):
    return sum(row["year"] == year and row["age"] // 10 * 10 in bands for row in ROWS)


def test_the_domain_of_a_table_counts_what_the_table_holds(place):
    c, domain = opened(place)
    with c:
        assert domain.names == ("year", "band") and domain.shape == (3, 10)
        assert (domain.distance.l1, domain.distance.l2_squared, domain.distance.linf) == (3, 9, 3)  # rows = 3
        plan = domain.plan((0, 1))
        counts = c._registration.engine.answer(plan).cells[0].reshape(domain.shape)
        assert counts[1, 4] == truth("2024", [40]) and counts.sum() == len(ROWS)
        with pytest.raises(BadParameter, match="The columns are age, cost, note, year"):
            c.table.domain()


def test_a_derived_column_has_the_values_of_its_expression():
    rows = tacit.Table(ROWS, SCHEMA).derive(band=lambda rows: tacit.case((rows.age < 18, 0), otherwise=65))
    assert rows.domain("year", "band").attributes[1] == ("band", (0, 65))


def test_the_card_of_answers_says_what_a_reader_must_know(place):
    c, domain = opened(place)
    with c:
        bought = c.answer(marginals(domain, k=2), rho=5)
        card = bought.card()
        again = c.answer(marginals(domain, k=2), rho=5)
        assert again.card() == card == json.loads(json.dumps(card, allow_nan=False))
        some = c.table.where(c.table.age < 40).domain("year")
        assert c.answer(marginals(some, k=1), rho="0.1").card()["rows_digest"] != card["rows_digest"]
        assert card["question"] == "Marginals(30 queries on 3 x 10 cells): year x band"
        assert card["privacy"]["unit"] == [{"table": "visits", "unit": c.table.schema.unit}]
        assert (card["privacy"]["rho"], card["privacy"]["rows_per_unit"], card["privacy"]["relation"]) == (
            5,
            3,
            "AddRemove",
        )
        assert card["accounting"]["price"] == 5 and card["accounting"]["hash"] == c.history()[0].hash
        assert card["mechanisms"][0]["name"] == bought.method and card["implementation"]["tacit"]
        assert card["accuracy"]["largest_error"] == bought.errors.max() and card["accuracy"]["errors_known"] == 30
        clipped = bought.nonnegative().card()
        assert clipped["accounting"] == card["accounting"] and len(clipped["notes"]) == len(card["notes"]) + 1


def test_what_was_stored_without_saying_what_it_was_made_with_is_still_read(place, monkeypatch):
    c, domain = opened(place)
    with c:
        monkeypatch.setattr(
            workloads, "canonical", lambda value: storage.canonical(value[0] if _is_pair(value) else value)
        )
        old = c.answer(marginals(domain, k=2), rho=5)
        monkeypatch.undo()
        again = c.answer(marginals(domain, k=2), rho=5)
        assert again.answers.tolist() == old.answers.tolist() == c.query(marginals(domain, k=2)).answers.tolist()
        assert again.card()["implementation"] == {}


def _is_pair(value):
    return isinstance(value, tuple) and len(value) == 2


@pytest.mark.parametrize("problem", [ZeroDivisionError(), BadParameter("scores", "some", "smaller"), MemoryError()])
def test_a_fit_that_fails_after_the_noise_is_stored_and_never_drawn_again(place, monkeypatch, problem):
    """Each draw under one charge would be another look."""
    draws = []

    def fails(method, workload, data, price, source, **_):
        data.marginal((0,))
        draws.append(source.word())
        raise problem

    monkeypatch.setattr(ChowLiu, "run", fails)
    c, domain = opened(place)
    with c:
        for _ in range(3):
            failed = c.answer(marginals(domain, k=2), method="tree", rho=5)
            assert np.isnan(failed.answers).all() and "failed" in failed.notes[0] and failed.errors is None
    assert len(draws) == 1


@pytest.mark.parametrize(
    "problem", [ZeroDivisionError("37"), BadParameter("scores", "37", "smaller"), MemoryError("37")]
)
def test_what_fails_before_the_noise_is_silent_and_nothing_is_stored(place, monkeypatch, problem):
    def fails(method, workload, data, *_, **__):
        data.marginal((0,))
        raise problem

    c, domain = opened(place)
    with c:
        monkeypatch.setattr(ChowLiu, "run", fails)
        for _ in range(2):
            with pytest.raises(EngineError) as silent:
                c.answer(marginals(domain, k=2), method="tree", rho=5)
            assert str(silent.value) == str(EngineError()) and type(silent.value) is EngineError
            assert silent.value.__cause__ is None and silent.value.__context__ is None
        (charge,) = c.history()
        assert charge.release is None
        monkeypatch.undo()
        assert np.isfinite(c.answer(marginals(domain, k=2), method="tree", rho=5).answers).all() and c.remaining == 5


def test_a_workload_is_bought_once_and_its_model_answers_on(place):
    c, domain = opened(place)
    w = marginals(domain, k=2)
    with c:
        planned = c.plan(w, rho=5)
        assert planned.best.name in str(planned) and c.remaining == 10
        first = c.answer(w, rho=5)
        left = c.remaining
        again = c.answer(marginals(domain, k=2), rho=5)
        assert np.array_equal(first.answers, again.answers) and c.remaining == left <= 6
        assert np.abs(first.answers - w.answer(_data(c, domain))).max() < 60
        with pytest.raises(BudgetExceeded):
            c.answer(w, rho=50)
    c, domain = opened(place)
    with c:  # the budget may be gone, and the model is there
        kept = c.answer(marginals(domain, k=2), rho=5)
        assert np.array_equal(first.answers, kept.answers)
        more = kept.query(marginals(domain, k=1))
        assert more.answers.shape == (13,) and more.statement
        assert kept.synthetic(50).shape == (50, 2) and c.remaining == left


def _data(c, domain):
    from tacit.query.python.table_domain import Counted

    return Counted(domain, lambda plan: c._registration.engine.answer(plan).cells[0])


def test_marginals_counted_together_are_those_of_the_engine(place):
    c, domain = opened(place)
    with c:
        data = _data(c, domain)
        (found,) = cube(data, [(), (0,), (1,), (0, 1)])
        assert all((table == data.marginal(axes)).all() for axes, table in found.items()) and len(found) == 4


@pytest.mark.parametrize("method", [m.name for m in METHODS])
def test_every_method_survives_the_ledger(place, method):
    """What applies is bought, stored and read back as it was; what does not is refused before any charge."""
    for price in ({"rho": 1}, {"epsilon": 1}):
        budget = tacit.Budget(rho=10) if "rho" in price else tacit.Budget(epsilon=10)
        c, domain = opened(place.with_name(f"{next(iter(price))}.ledger"), budget)
        with c:
            for w in (marginals(domain, k=1), ranges(domain, "band")):
                before = c.remaining
                try:
                    c.answer(w, method=method, n=len(ROWS), **price)
                except tacit.Refused:
                    assert c.remaining == before
                    continue
                assert before - c.remaining <= 1 + 1e-9
                kept = c.history()[-1].release
                assert storage.canonical(storage.loads(kept)).encode() == kept


def test_no_error_rests_on_a_rough_size(place):
    """600 rows, says the schema; 500 there are, and fewer where a condition holds."""
    sizes = {"rough": "size = 600", "other": "size = 4000"}
    rough, other = (tacit.Table(ROWS, SCHEMA.replace("size = 500", s), name=name) for name, s in sizes.items())
    c = Curator(rough, other, ledger=place, budget=tacit.Budget(epsilon=10))
    with c:
        some = rough.where(rough.age < 4)
        for table, about in ((rough, 600), (some, None), (other, 4000)):
            total = marginals(table.domain("year"), k=0)
            planned = c.plan(total, epsilon="0.02")
            assert (planned.n, planned.about) == (None, about) and not planned.best.needs_n
            for name in ("small_db", "pmw"):
                with pytest.raises(BadQuestion, match="exact"):
                    c.answer(total, epsilon=5, method=name)
        assert c.remaining == 10
        kept = c.answer(marginals(rough.domain("year"), k=0), epsilon=1, method="small_db", n=500)
        assert kept.answers.tolist() == [500] and "stated for that many" in kept.notes[0]
        with pytest.raises(BadParameter, match="roughly how many records there are"):
            c.online(some.domain("year"), epsilon=1)
        assert c.online(other.domain("year"), epsilon=1, updates=1).mechanism.n == 4000
        told = c.online(some.domain("year"), epsilon=1, updates=1, n=3000)
        assert told.mechanism.n == 3000 and repr(told) == "Online(year, n=3000, queries=10000, updates=1)"


def test_a_method_that_is_named_is_not_compared_with_all(place, monkeypatch):
    c, domain = opened(place)
    with c:
        monkeypatch.setattr(workloads, "planned", None)
        assert c.answer(marginals(domain, k=1), rho=1, method="queries").method == "queries"
        for wrong in ({"beta": 1}, {"n": 0}):
            with pytest.raises(BadParameter, match=next(iter(wrong))):
                c.answer(marginals(domain, k=1), rho=1, method="queries", **wrong)
        assert c.remaining == 9


def test_online_questions_count(place):
    """Fractions are refused alike while the data are asked and when only the model is left."""
    c, domain = opened(place, tacit.Budget(rho=10**6))
    with c:
        o, half = c.online(domain, rho=10**6, updates=1), LinearQuery.on_cells(domain, np.full(domain.size, 0.5))
        for left in (1, 0):
            assert o.left == left
            with pytest.raises(BadParameter, match="0 and 1"):
                o.ask(half)
            o.ask({"band": 90})  # where nobody is, and the model has a tenth of all


def test_online_questions_with_a_grid_weigh(place):
    c, domain = opened(place, tacit.Budget(rho=10**6))
    with c:
        o = c.online(domain, rho=10**5, updates=3, grid="0.25")
        shares = np.zeros(domain.shape)
        shares[1], shares[2, 4] = 0.25, 0.75
        told = o.ask(LinearQuery.on_cells(domain, shares.ravel()))
        bands = range(0, 100, 10)
        exact = truth("2024", bands) / 4 + truth("2025", [40]) * 3 / 4
        assert told.by == "data" and abs(told.value - exact) <= 1
        assert o.ask({"year": "2024"}).value == pytest.approx(truth("2024", bands), abs=1)
        with pytest.raises(BadParameter, match="steps of 1/4"):
            o.ask(LinearQuery.on_cells(domain, np.full(domain.size, 0.125)))
        left = c.remaining
        assert c.online(domain, rho=10**5, updates=3, grid="0.25").left == o.left and c.remaining == left
        c.online(domain, rho=10**5, updates=3)
        assert c.remaining < left  # of another grid, it is another life
        left = c.remaining
        for wrong in ("0.3", "2", "2/3", "1e-30", Fraction(1, 1 << 21)):
            with pytest.raises(BadParameter, match="grid must be"):
                c.online(domain, rho=1, updates=3, grid=wrong)
        assert c.remaining == left


def test_weights_live_in_the_ledger(place):
    c, domain = opened(place)
    with c:
        o = c.online(domain, rho=8, updates=10)
        left = c.remaining
        told = [o.ask({"year": year, "band": [0, 10, 20]}) for year in ("2023", "2024", "2025")]
        assert all(answer.by in ("model", "data") for answer in told)
        moves = o.left
    c, domain = opened(place)
    with c:
        o = c.online(domain, rho=8, updates=10)
        assert c.remaining == left and o.left == moves
        assert o.ask({"year": "2023", "band": [0, 10, 20]}) == told[0]
        while o.left:  # narrow questions, until no update is left
            before = o.left
            for year in ("2023", "2024", "2025"):
                for band in range(0, 100, 10):
                    o.ask({"year": year, "band": [band, (band + before) % 100 // 10 * 10]})
            if o.left == before:
                break
        assert c.remaining == left
        assert o.synthetic(20).shape == (20, 2)


def test_a_model_at_hand_is_the_one_the_ledger_makes_again(place):
    """Two doors to one life, in turns and twice through each, so that what one keeps is at times no longer so."""
    c, domain = opened(place)
    with c:
        doors = [c.online(domain, rho=8, updates=10) for _ in range(2)]
        for i in range(24):
            question = LinearQuery.where(domain, {"year": ("2023", "2024", "2025")[i % 3], "band": [i // 3 * 10, 90]})
            guess = doors[0].model.answer(question)
            answer = doors[i // 2 % 2].ask(question)
            assert answer.by == "data" or answer.value == round(guess)


def test_what_cannot_be_asked_is_refused_before_any_charge(place):
    c, domain = opened(place)
    with c:
        for wrong in ({"epsilon": 1, "rho": 1}, {}, {"rho": -1}):
            with pytest.raises(TacitError):
                c.answer(marginals(domain, k=1), **wrong)
        with pytest.raises(BadParameter):
            c.answer(marginals(tacit.workloads.Domain.of({"a": 3}), k=1), rho=1)
        with pytest.raises(BadParameter, match="workload must be linear queries"):
            c.plan("foo", rho=1)
        with pytest.raises(TacitError):
            c.table.domain("note")
        with pytest.raises(TacitError):
            c.answer(marginals(domain, k=1), rho=1, method="nonsense")
        with pytest.raises(TacitError):
            c.online(domain, rho=1, updates=1).ask({"year": "1999"})
        for axes, steps in (((9,), (1, 0)), ((0,), (1,)), ((-1,), (1, 0))):
            with pytest.raises(BadParameter, match="one on the domain, a coefficient for each value"):
                c.online(domain, rho=1, updates=1).ask(LinearQuery(((axes, steps),)))
        assert c.remaining >= 9 - 1e-9


def test_weights_and_rows_are_part_of_the_question(place):
    c, domain = opened(place)
    with c:
        plain, heavy = (ranges(domain, "band", weights=w) for w in (None, np.linspace(1, 1e6, 55)))
        assert storage.canonical(plain) != storage.canonical(heavy)
        assert np.array_equal(storage.loads(storage.canonical(heavy)).weights, heavy.weights)
        some = c.table.derive(band=lambda rows: rows.age // 10 * 10).where(c.table.age < 50).domain("year", "band")
        assert some != domain
        with pytest.raises(TacitError):
            c.answer(marginals(domain, k=1), rho=1).query(marginals(some, k=1))
        left = c.remaining
        c.answer(marginals(domain, k=1), rho=1, beta="1/20")
        assert c.remaining == left  # 0.05 and 1/20 are one


@pytest.mark.parametrize("name", ["queries", "histogram", "residual"])
def test_under_a_ledger_epsilon_and_delta_cost_their_rho(place, name):
    """What is noise alone would buy more on its own; here the rho of zCDP is paid, to the last of it."""
    rho = Fraction(rho_for(1, "1e-9"))
    c, domain = opened(place, tacit.Budget(rho=rho))
    with c:
        w = marginals(domain, k=2)
        assert type(c.plan(w, epsilon=1, delta="1e-9").price) is Price
        told = c.answer(w, epsilon=1, delta="1e-9", method=name)
        assert c.remaining == 0 and Rho().total(told.loss) == rho


def test_queries_about_dates_are_bought_and_kept(tmp_path):
    first = datetime.date(2020, 1, 1)
    days = {"type": "date", "lower": first, "upper": datetime.date(2020, 1, 5)}
    table = tacit.Table([{"d": first}] * 90, {"table": {"name": "t", "unit": "row"}, "columns": {"d": days}})
    with tacit.Curator(table, ledger=tmp_path / "t.ledger", budget=tacit.Budget(epsilon=100)) as curator:
        asked = marginals(table.domain("d"), k=1)
        for _ in range(2):
            rows = curator.answer(asked, epsilon=50).nonnegative().synthetic(9)
            assert rows["d"].to_pylist() == [first] * 9
        assert curator.online(table.domain("d"), n=90, epsilon=50).ask({"d": first}).value == pytest.approx(90, abs=30)


def test_a_budget_that_has_no_place_for_a_delta_buys_without(place):
    c, domain = opened(place, tacit.Budget(epsilon=1))
    with c:
        w = marginals(domain, k=1)
        assert c.plan(w, epsilon=1, delta="1e-9").price.epsilon == 1
        assert c.answer(w, epsilon=1, delta="1e-9").loss.delta(1) == 0 and c.remaining == 0
        with pytest.raises(BadParameter, match="epsilon and delta"):
            c.plan(w, eps=1)


def test_no_promise_is_not_sold(place):
    """An error of all records and more is refused before it is charged, and what would be enough is told."""
    c, domain = opened(place)
    with c:
        before = c.remaining
        for terms in ({"epsilon": "0.1"}, {"rho": "0.01", "updates": 10**6}):
            with pytest.raises(BadQuestion, match=r"guaranteed error .* is not below the number of records") as refused:
                c.online(domain, n=5000, **terms)
            name, need = re.search(r"at least (epsilon|rho) = (\S+), or", str(refused.value)).groups()
            life = proven(domain, 5000, Price.of(**{name: need}, unit=domain.distance))
            if "updates" in terms:
                life = practical(domain, 5000, Price.of(**{name: need}, unit=domain.distance), updates=10**6)
            assert life.error() == pytest.approx(5000, rel=0.05)
        assert c.remaining == before


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("5", "1e-5"), ("0.5", "1e-9")])
def test_the_whole_of_a_budget_with_delta_can_be_bought(place, epsilon, delta):
    """Half of its delta is for failures, so it sells less than one release of that epsilon and delta would be."""
    c, domain = opened(place, tacit.Budget(epsilon=epsilon, delta=delta))
    with c:
        w, whole = marginals(domain, k=2), Price.of(epsilon=epsilon, delta=delta).shared
        price = c.plan(w, share=1).price
        assert c.budget.price(whole.loss()) > c.budget.limit >= c.budget.price(price.loss())
        assert price.part(Fraction(10**10 + 1, 10**10)).amount > price.amount
        assert c.budget.price(price.part(1 + Fraction(1, 10**9)).loss()) > c.budget.limit
        with pytest.raises(BudgetExceeded):
            c.answer(w, rho=whole.rho)
        told = c.answer(w, share=1)
        assert told.loss.epsilon(Fraction(delta)) <= Fraction(epsilon) and 0 <= c.remaining < 1e-9
        c.answer(w, share=1)  # which it has
        less = c.plan(w, epsilon=Fraction(epsilon) / 2, delta=delta).price
        assert less == Price.of(epsilon=Fraction(epsilon) / 2, delta=delta, unit=domain.distance).shared


def test_a_delta_is_not_spent_where_epsilon_alone_buys_more(place):
    """What it guarantees is what was asked, whatever came before; and asked again it is free, whatever came."""
    c, domain = opened(place, tacit.Budget(epsilon=10, delta="1e-6"))
    with c:
        few, price = marginals(domain, k=1), {"epsilon": 1, "delta": "1e-9"}
        pure = c.answer(few, **price)
        assert pure.loss.delta(1) == 0 and c.remaining == 9
        assert c.plan(few, **price).row().price == Price.of(epsilon=1, unit=domain.distance)
        ranged = ranges(domain, "band") + marginals(domain, k=2) + marginals(domain, k=1)
        c.answer(ranged, rho="0.0001")  # of no epsilon: from here on only divergence is counted
        left = c.remaining
        np.testing.assert_array_equal(c.answer(few, **price).answers, pure.answers)
        assert c.remaining == left
        other = c.answer(marginals(domain, k=1, weights=[1, 2]), **price)
        assert left - c.remaining > 1 and other.loss.epsilon(delta="1e-9") < 1 + 1e-9
        left = c.remaining
        c.answer(marginals(domain, k=1, weights=[1, 2]), **price)
        assert c.remaining == left
    c, domain = opened(place, tacit.Budget(epsilon=10, delta="1e-6"))
    with c:
        np.testing.assert_array_equal(c.answer(marginals(domain, k=1), **price).answers, pure.answers)
        assert c.remaining == left


def test_what_cannot_be_counted_or_kept_is_refused_before_a_charge(tmp_path, monkeypatch):
    columns = {f"a{i}": {"type": "integer", "lower": 0, "upper": 9} for i in range(9)}
    table = tacit.Table([dict.fromkeys(columns, 1)] * 9, {"table": {"name": "t", "unit": "row"}, "columns": columns})
    with tacit.Curator(table, ledger=tmp_path / "t.ledger", budget=tacit.Budget(epsilon=1)) as c:
        domain = table.domain(*columns)
        wide = predicates(domain, [{name: [0, 1] for name in columns}])
        assert all(row.prediction is None for row in c.plan(wide, epsilon=1).rows)
        for name in ("auto", "queries"):
            with pytest.raises(BadQuestion, match="1e\\+09 cells"):
                c.answer(wide, epsilon=1, method=name)
        monkeypatch.setattr(workloads, "MAX_STORED_NUMBERS", 399)
        with pytest.raises(BadQuestion, match="at most 399 numbers of one release, and this one may have 500"):
            c.answer(marginals(table.domain("a0", "a1"), k=2), epsilon=1)
        assert c.remaining == 1
        assert c.answer(marginals(table.domain("a0"), k=1), epsilon=1).answers.shape == (10,)


def test_linear_queries_about_parts_cost_the_largest(place):
    c, _ = opened(place, tacit.Budget(epsilon=1))
    with c:
        for year in ("2023", "2024"):
            some = c.table.where(c.table.year == year)
            c.answer(marginals(some.domain("age"), k=1), epsilon="0.75", method="queries")
        assert c.remaining == Fraction(1, 4)
        with pytest.raises(BudgetExceeded):
            c.answer(marginals(c.table.domain("age"), k=1), epsilon="0.5", method="queries")


def test_of_releases_that_know_as_little_the_best_answers(place):
    c, domain = opened(place)
    with c:
        poor = c.answer(marginals(domain, k=1), rho="0.001", method="residual")
        rich = c.answer(marginals(domain, k=1), rho=1, method="residual")
        both = marginals(domain, k=2)
        told = c.query(both)
        assert "nothing is known of the errors" in told.statement
        np.testing.assert_allclose(told.answers, rich.query(both).answers)
        c.answer(marginals(domain, k=1), rho="0.002", method="residual")
        np.testing.assert_allclose(c.query(both).answers, rich.query(both).answers)
        assert not np.allclose(poor.query(both).answers, told.answers)


def test_when_the_budget_is_gone_what_was_released_answers_on(place):
    c, domain = opened(place, tacit.Budget(epsilon=1))
    with c:
        with pytest.raises(BadQuestion, match="keeps a model"):
            c.query(marginals(domain, k=1))
        c.answer(marginals(domain, k=1), epsilon="0.25")
        bought = c.answer(marginals(domain, k=2), epsilon="0.75")
        with pytest.raises(BudgetExceeded):
            c.answer(ranges(domain, "band"), epsilon="0.1")
    c, domain = opened(place, tacit.Budget(epsilon=1))
    with c:
        w = marginals(domain, k=2)
        again = c.query(w)
        np.testing.assert_allclose(again.answers, bought.answers)
        assert "with probability" in again.statement and "when it was released" in again.statement
        assert c.remaining == 0 and len(c.query(ranges(domain, "band")).answers) == 55
        with pytest.raises(BadParameter):
            c.query("SELECT 1")


@pytest.mark.parametrize("method", ["residual", "isotonic", "hierarchy", "histogram", "queries"])
def test_one_draw_is_told_at_any_beta_and_whatever_n(place, method):
    c, domain = opened(place)
    with c:
        w = ranges(domain, "band") if method in ("isotonic", "hierarchy") else marginals(domain, k=1)
        usual = c.answer(w, rho=1, method=method)
        surer, left = c.answer(w, rho=1, method=method, beta="0.001", n=500), c.remaining
        np.testing.assert_array_equal(surer.answers, usual.answers)
        assert left == 9 and (surer.beta, usual.beta) == (0.001, 0.05)
        assert (surer.errors >= usual.errors).all() and (surer.errors > usual.errors).any()
        again = c.answer(w, rho=1, method=method)
        np.testing.assert_array_equal(again.errors, usual.errors)


def test_what_the_law_reads_is_part_of_what_is_bought(place):
    c, domain = opened(place)
    with c:
        w = marginals(domain, k=1)
        left = [c.answer(w, rho=1, method="mwem", n=n) and c.remaining for n in (500, 400, 500)]
        assert 10 > left[0] > left[1] == left[2]
        c.answer(w, rho=1, method="residual", beta="0.01", n=500)
        assert c.remaining == left[1] - 1
        for beta in (0, 1, 1e-322, "1e-400", "nan"):
            with pytest.raises(BadParameter, match="beta"):
                c.answer(w, rho=1, method="residual", beta=beta)
            with pytest.raises(BadParameter, match="beta"):
                c.plan(w, rho=1, beta=beta)


def test_releases_are_compared_at_one_beta(place):
    c, domain = opened(place)
    with c:
        w = marginals(domain, k=1)
        c.answer(w, rho="0.1", method="residual", beta="0.999")
        told = c.query(w)
        assert "with probability 0.95 each" in told.statement
        better = c.answer(w, rho=1, method="residual")
        np.testing.assert_allclose(c.query(w).errors, better.errors)
        assert c.query(w).errors.max() < told.errors.max()


def test_a_release_that_cannot_be_read_is_passed_over(place):
    c, domain = opened(place)
    with c:
        ranged = ranges(domain, "band")
        bought = c.answer(ranged, rho=1, method="isotonic")
        charge = c.ledger.charge(key="0" * 64, loss=bought.loss, analyst="x")
        c.ledger.store(charge, b'{"of": "nothing.Known", "with": {}}', form="workload")
        np.testing.assert_array_equal(c.query(ranged).answers, bought.answers)


@pytest.mark.parametrize("name", ["adaptive", "tree", "mwem"])
def test_a_later_and_cheaper_release_does_not_answer_what_was_bought_before(place, name):
    """Neither states an error of a pair, but the first was bought for pairs."""
    c, domain = opened(place)
    w = marginals(domain, k=2)
    with c:
        bought = c.answer(w, method=name, rho=5, n=len(ROWS))
        c.answer(marginals(domain, k=1), method="residual", rho="0.1")
        assert np.array_equal(c.query(marginals(domain, k=2)).answers, bought.answers)
        one = predicates(domain, [{"year": "2024", "band": 40}])
        assert c.query(one).answers[0] == pytest.approx(bought.query(one).answers[0])


def test_what_was_bought_without_a_model_is_told_again(place):
    c, _ = opened(place)
    wide = c.table.derive(whole=c.table.cost.bin(1)).domain("year", "age", "whole")
    asked = [{"year": "2024"}, {"year": ["2023", "2024"], "age": list(range(40))}]
    w = predicates(wide, asked)
    with c:
        bought = c.answer(w, method="queries", rho=5)
        assert bought.model is None
        again = c.query(predicates(wide, asked))
        assert np.array_equal(again.answers, bought.answers) and np.array_equal(again.errors, bought.errors)
        with pytest.raises(BadQuestion, match="keeps a model"):
            c.query(predicates(wide, asked[:1]))


def test_a_plan_is_what_would_be_bought_after_what_was_spent(place):
    c, domain = opened(place, tacit.Budget(epsilon=3, delta="1e-6"))
    w, terms = marginals(domain, k=1), {"share": "1/6"}
    with c:
        assert c.plan(w, **terms).rows[0].price.epsilon is not None
        c.answer(marginals(domain, k=2), method="residual", rho="0.02")
        planned = c.plan(w, **terms).rows[0]
        assert planned.price.epsilon is None  # an epsilon would take more than that now
        assert c.answer(w, **terms).method == planned.method.name


@pytest.mark.parametrize("name", ["residual", "partition", "histogram", "queries", "hierarchy"])
def test_noise_that_cannot_be_drawn_is_refused_before_a_charge(place, name):
    c, domain = opened(place, tacit.Budget(epsilon=1))
    w = ranges(domain, "band") if name in ("partition", "hierarchy") else marginals(domain, k=2)
    with c:
        with pytest.raises(TacitError, match="scale"):
            c.answer(w, method=name, epsilon="1e-30")
        assert c.remaining == 1 and not [charge for charge in c.history() if charge.loss.terms]


def test_what_would_be_enough_is_found_for_any_price(place):
    c, domain = opened(place)
    with c:
        needs = []
        for rho in ("0.001", "0.01"):
            with pytest.raises(BadQuestion, match=r"guaranteed error .* is not below the number of records") as refused:
                c.online(domain, rho=rho, n=500, queries=100)
            needs.append(re.search(r"at least rho = ([^ ]+), or", str(refused.value)).group(1))
        assert needs[0] == needs[1]


def test_a_fit_that_failed_answers_nothing(place, monkeypatch):
    c, domain = opened(place)
    with c:
        monkeypatch.setattr(ChowLiu, "run", lambda _, w, data, price, source, **__: source.word() / 0)
        failed = c.answer(marginals(domain, k=2), method="tree", rho=1)
        assert np.isnan(failed.answers).all()
        with pytest.raises(BadQuestion, match="keeps a model"):
            c.query(marginals(domain, k=2))
        c.answer(marginals(domain, k=1), method="residual", rho=1)
        assert np.isfinite(c.query(marginals(domain, k=2)).answers).all()


def test_a_linear_query_that_is_none_is_refused_before_anything_is_read(place):
    c, domain = opened(place)
    with c:
        online = c.online(domain, n=500, queries=50, updates=3, rho=1)
        head = c.ledger.head()
        for factors in ((((0,), (1, 0, 0)), ((), (1,))), (((0,), (1, 0, 0)), ((5,), ())), (((7,), (1,)),)):
            with pytest.raises(BadParameter):
                online.ask(LinearQuery(factors))
        assert c.ledger.head() == head


@pytest.mark.parametrize("name", ["hierarchy", "isotonic"])
def test_a_method_that_cannot_answer_is_refused_for_a_share_too(place, name):
    c, domain = opened(place)
    with c:
        for price in ({"share": "0.1"}, {"rho": 1}):
            with pytest.raises(BadQuestion, match=f"^{name}: "):
                c.answer(marginals(domain, k=2), method=name, **price)
