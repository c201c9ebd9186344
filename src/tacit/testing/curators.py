"""The conformance suite for curators: what must hold whether a curator is in this process or behind a service.

    conform(place)

A `Place` makes curators with a new ledger: within `with place(budget) as seen_by`, the curator as an analyst uses it is
`seen_by("ann")`.  Each of `CHECKS` takes a place, and raises an AssertionError where the curators fail.  The tables
are those of `people()`, `visits()` and `regions()`, which a place opens under these very schemas.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

from ..core.accounting.budget import Budget
from ..core.errors import BudgetExceeded, Exhausted, NoAllowance, Refused, TacitError
from ..curator import Curator
from ..query.python.table import Table
from ..query.schema.public_table import PublicTable
from ..workloads import marginals, prefixes
from ._ledger import refused
from .curator_tables import people, regions, visits
from .refused_by_curators import REFUSED

SeenBy = Callable[[str], Any]  # a curator, or what has its methods, as an analyst uses it
COUNT = "SELECT COUNT(*) AS n FROM people"
BY_REGION = "SELECT region, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY region"
BUDGETS = {
    "pure": Budget(epsilon=1),
    "union": Budget(epsilon=1, delta="1e-6"),
    "rho": Budget(rho="0.1"),
    "rho and delta": Budget(rho="0.1", delta="1e-6"),
    "renyi": Budget(epsilon=1, renyi_order=8),
}


class Place(Protocol):
    """Makes curators of tables with a new ledger, and closes them."""

    def __call__(
        self,
        budget: Budget,
        *tables: Table,
        public: tuple[PublicTable, ...] = (),
        allowances: Mapping[str, Budget] | None = None,
    ) -> AbstractContextManager[SeenBy]: ...


def a_question_is_paid_once(place: Place) -> None:
    with place(Budget(epsilon=1)) as seen_by:
        ann, ben = seen_by("ann"), seen_by("ben")
        assert ann.remaining == ann.budget.limit == 1
        first = ann.ask(BY_REGION, epsilon="0.25")
        assert first.names == ("region", "n", "a") and first["region"].tolist() == ["north", "south", "west"]
        assert first.price == Fraction(1, 4) and first.provenance.question == BY_REGION
        assert ann.remaining == ben.remaining == Fraction(3, 4)
        for again in (ann, ben):
            assert again.ask(BY_REGION, epsilon="0.25").facts() == first.facts()
            asked = again.tables["people"]
            same = again.ask(asked.group_by("region").count().mean("age"), epsilon="0.25")
            assert same.noisy == first.noisy and same.provenance == first.provenance
        assert ann.remaining == Fraction(3, 4) and len(ann.history()) == 1


def the_same_numbers_can_be_shown_in_many_ways(place: Place) -> None:
    with place(Budget(epsilon=1)) as seen_by:
        ann = seen_by("ann")
        first = ann.ask(BY_REGION, epsilon="0.25")
        shown = ann.ask(f"{BY_REGION} ORDER BY n DESC LIMIT 2", epsilon="0.25", beta="0.2")
        assert shown["n"].tolist() == sorted(first["n"].tolist(), reverse=True)[:2] and shown.beta == Fraction(1, 5)
        assert len(ann.history()) == 1 and str(first) == str(type(first).from_json(first.to_json()))
        assert first.to_arrow().num_rows == 3 and first.card()["accounting"]["entry"] == first.provenance.entry


def an_offer_says_what_an_answer_takes(place: Place) -> None:
    for budget in BUDGETS.values():
        with place(budget) as seen_by, _Local(budget) as local:
            ann = seen_by("ann")
            for terms in ({"share": "0.1"}, {"error": 40}, {"relative": "0.05"}):
                offered, expected = ann.offer(BY_REGION, **terms), local.offer(BY_REGION, **terms)
                assert str(offered) == str(expected) and offered.explain() == expected.explain()
                assert (offered.price, offered.loss, offered.schema) == (expected.price, expected.loss, expected.schema)
                assert (offered.size, offered.typed, offered.beta) == (expected.size, expected.typed, expected.beta)
                assert [e.error for e in offered.errors] == [e.error for e in expected.errors]
                assert ann.covers(offered) and ann.questions_left(offered) == local.questions_left(expected)
            assert ann.remaining == budget.limit and not ann.history() and ann.bought(BY_REGION, share="0.1") is None
            offered = ann.offer(BY_REGION, share="0.1")
            release = ann.ask(BY_REGION, share="0.1")
            assert release.loss == offered.loss and release.price == offered.price
            assert release.mechanisms == tuple(step.mechanism for step in offered.steps)


def an_offer_says_when_it_is_free(place: Place) -> None:
    with place(Budget(epsilon=1)) as seen_by:
        ann = seen_by("ann")
        assert ann.offer(COUNT, epsilon=1).bought is None
        release = ann.ask(COUNT, epsilon=1)
        offered, charge = seen_by("ben").offer(COUNT, epsilon=1), ann.bought(COUNT, epsilon=1)
        assert offered.bought == release.provenance.time and "it is free" in str(offered)
        assert ann.covers(offered) and not ann.covers(ann.offer(COUNT, epsilon="0.5"))
        assert (charge.hash, charge.seq) == (release.provenance.entry_hash, release.provenance.entry)


def fresh_draws_are_paid_again(place: Place) -> None:
    with place(Budget(epsilon=1)) as seen_by:
        ann = seen_by("ann")
        first = ann.ask(COUNT, epsilon="0.1")
        second = ann.ask(COUNT, epsilon="0.1", fresh=True)
        assert second.provenance.entry != first.provenance.entry and len(ann.history()) == 2
        assert ann.ask(COUNT, epsilon="0.1").facts() == second.facts()
        named = ann.ask(COUNT, epsilon="0.1", fresh="monday")
        assert ann.ask(COUNT, epsilon="0.1", fresh="monday").facts() == named.facts() and len(ann.history()) == 3
        assert ann.ask(COUNT, epsilon="0.1").facts() == second.facts() and ann.remaining == Fraction(7, 10)


def refusals_are_those_of_the_library(place: Place) -> None:
    with place(Budget(epsilon=1)) as seen_by, _Local(Budget(epsilon=1)) as local:
        ann = seen_by("ann")
        for act in REFUSED:
            expected, found = _refusal(act, local), _refusal(act, ann)
            assert found == expected, f"{found} where {expected} was to be said"
        assert not ann.history() and ann.remaining == 1


def a_budget_that_is_spent_sells_nothing(place: Place) -> None:
    for budget in BUDGETS.values():
        with place(budget) as seen_by, _Local(budget) as local:
            ann = seen_by("ann")
            for curator in (ann, local):
                curator.ask(COUNT, share="0.6")
            assert _refusal(lambda c: c.ask(BY_REGION, share="0.5"), ann) == _refusal(
                lambda c: c.ask(BY_REGION, share="0.5"), local
            )
            with refused(Refused):
                ann.ask(BY_REGION, share="0.5")
            assert not ann.covers(ann.offer(COUNT, share="0.41")) and ann.questions_left(COUNT, share="0.1") > 0
            assert ann.ask(COUNT, share="0.6").price > 0 and len(ann.history()) == 1


def allowances_are_kept(place: Place) -> None:
    allowances = {"ann": Budget(epsilon="0.3")}
    with place(Budget(epsilon=1), allowances=allowances) as seen_by:
        ann, ben = seen_by("ann"), seen_by("ben")
        assert ann.remaining == Fraction(3, 10) and ben.remaining == 0
        assert ann.questions_left(COUNT, epsilon="0.1") == 3 and ben.questions_left(COUNT, epsilon="0.1") == 0
        ann.ask(COUNT, epsilon="0.2")
        assert ben.ask(COUNT, epsilon="0.2").price == Fraction(1, 5)  # what was bought is free for all
        with refused(NoAllowance):
            ben.ask(COUNT, epsilon="0.1")
        kind, text = _refusal(lambda c: c.ask(COUNT, epsilon="0.15"), ann)
        assert kind == "BudgetExceeded" and text.startswith("The allowance of ann, epsilon=0.3, has spent 0.2"), text
        assert ann.remaining == Fraction(1, 10)


def parts_pay_apart(place: Place) -> None:
    north, south = (f"SELECT COUNT(*) AS n FROM people WHERE region = '{name}'" for name in ("north", "south"))
    with place(Budget(epsilon=1)) as seen_by:
        ann = seen_by("ann")
        ann.ask(north, epsilon="0.5")
        assert ann.remaining_for(north) == Fraction(1, 2) and ann.remaining_for(south) == 1
        assert ann.questions_left(south, epsilon="0.1") == 10 and ann.questions_left(COUNT, epsilon="0.1") == 5
        ann.ask(south, epsilon=1)
        with refused(BudgetExceeded):
            ann.ask(COUNT, epsilon="0.1")


def several_tables_and_public_ones_are_asked_together(place: Place) -> None:
    with place(Budget(epsilon=10), people(), visits(), public=(regions(),)) as seen_by:
        ann = seen_by("ann")
        assert list(ann.tables) == ["people", "visits"] and ann.table.schema.name == "people"
        joined = "SELECT kind, SUM(cost) AS s FROM people JOIN visits USING (person) WHERE age > 20 GROUP BY kind"
        first = ann.ask(joined, epsilon=1)
        rows = ann.tables["people"].join(ann.tables["visits"])
        rows = rows.where(rows.age > 20)
        assert ann.ask(rows.group_by("kind").sum("cost"), epsilon=1).noisy == first.noisy
        looked_up = "SELECT coast, COUNT(*) AS n FROM people JOIN regions USING (region) GROUP BY coast"
        assert sorted(ann.ask(looked_up, epsilon=1)["coast"].tolist()) == ["no", "yes"]
        by_python = ann.tables["people"].lookup(ann.public["regions"], "region", ["coast"]).group_by("coast").count()
        assert sorted(ann.ask(by_python, epsilon=1)["coast"].tolist()) == ["no", "yes"]


def every_aggregate_is_answered(place: Place) -> None:
    with place(Budget(epsilon=50, delta="1e-6")) as seen_by:
        ann = seen_by("ann")
        text = "SELECT MEDIAN(age) AS m, MODE(region) AS r, STDDEV(spend) AS s, VARIANCE(age) AS v, MEDIAN(born) AS b"
        release = ann.ask(f"{text} FROM people", share="0.5")
        assert [kind for _, kind in ann.offer(f"{text} FROM people", share="0.5").schema] == [
            "integer",
            "text",
            "real",
            "real",
            "date",
        ]
        assert release["r"].tolist()[0] in ("north", "south", "west") and 0 <= release["m"].tolist()[0] <= 99
        keys = ann.ask("SELECT town, COUNT(*) AS n FROM people GROUP BY town", share="0.2")
        assert keys["town"].tolist() == ["Ash", "Elm", "Oak", "Yew"]  # 250 people each


def history_has_every_charge(place: Place) -> None:
    with place(Budget(epsilon=10)) as seen_by:
        ann = seen_by("ann")
        release = ann.ask(COUNT, epsilon=1)
        ann.bounds("age", epsilon=1)
        (first, second) = ann.history()
        assert (first.seq, first.hash, first.analyst) == (
            release.provenance.entry,
            release.provenance.entry_hash,
            "ann",
        )
        assert first.time == release.provenance.time and first.loss == release.loss
        assert (first.purpose.kind, first.purpose.description) == ("question", COUNT)
        assert (second.purpose.kind, second.purpose.description) == ("bounds", "bounds of age")


def bounds_are_bought(place: Place) -> None:
    with place(Budget(epsilon=10)) as seen_by:
        ann = seen_by("ann")
        bought = ann.bounds("age", epsilon=1)
        assert bought.column == "age" and bought.lower <= 2 and bought.upper >= 63 and bought.beta == Fraction(1, 100)
        assert ann.bounds("age", epsilon=1) == bought and "lower = " in str(bought) and len(ann.history()) == 1
        assert ann.bounds("born", share="0.1").lower.year <= 1972
        ann.bounds("age", epsilon=1, fresh=True)
        assert len(ann.history()) == 3


def linear_queries_are_planned_bought_and_read_again(place: Place) -> None:
    budget = Budget(epsilon=10)
    with place(budget) as seen_by, _Local(budget) as local:
        ann = seen_by("ann")
        work, same = (marginals(c.table.domain("region", "age"), k=1) for c in (ann, local))
        planned, expected = ann.plan(work, epsilon=1), local.plan(same, epsilon=1)
        assert [row.method for row in planned.rows] == [row.method for row in expected.rows]
        assert (planned.remarks, planned.surcharge, str(planned.price)) == (
            expected.remarks,
            expected.surcharge,
            str(expected.price),
        )
        bought = ann.answer(work, epsilon=1)
        assert bought.answers.shape == (work.queries,) and bought.workload is work and bought.price > 0
        again = seen_by("ben").answer(same, epsilon=1)
        assert again.answers.tolist() == bought.answers.tolist() and len(ann.history()) == 1
        assert bought.card()["accounting"]["entry"] == ann.history()[0].seq
        read = ann.query(work)
        assert read.answers.tolist() == bought.answers.tolist() and "when it was released" in read.statement
        if bought.model is not None:
            assert bought.synthetic(20).num_rows == 20
        assert ann.release_of(bought.provenance.entry_hash).answers.tolist() == bought.answers.tolist()


def ranges_are_answered_by_a_named_method(place: Place) -> None:
    with place(Budget(epsilon=10)) as seen_by:
        ann = seen_by("ann")
        work = prefixes(ann.table.domain("age"), "age")
        bought = ann.answer(work, epsilon=1, method="hierarchy", n=1000)
        assert bought.method == "hierarchy" and bought.errors is not None
        assert ann.answer(work, epsilon=1, method="hierarchy", n=1000, fresh="a").answers.shape == bought.answers.shape
        assert len(ann.history()) == 2


def streams_go_on_where_they_were(place: Place) -> None:
    with place(Budget(epsilon=50)) as seen_by:
        ann = seen_by("ann")
        stream = ann.above_threshold(500, epsilon=20, count=1)
        assert stream.ask("SELECT COUNT(*) FROM people WHERE age > 85") is False
        assert stream.left == 1 and stream.error() >= 0
        assert stream.ask(COUNT) is True and stream.left == 0
        again = ann.above_threshold(500, epsilon=20, count=1)
        assert again.ask(COUNT) is True and len(ann.history()) == 1 and repr(again) == repr(stream)
        assert again.ask(ann.table.where(ann.table.age > 85).count()) is False
        with refused(Exhausted):
            again.ask("SELECT COUNT(*) FROM people WHERE age > 5")
        numbers = ann.numeric_sparse(500, share="0.4", name="numbers")
        told = numbers.ask(COUNT)
        assert told is not None and abs(told - 1000) < 200 and len(ann.history()) == 2


def online_sessions_go_on_where_they_were(place: Place) -> None:
    with place(Budget(epsilon=100)) as seen_by:
        ann = seen_by("ann")
        domain = ann.table.domain("region")
        session = ann.online(domain, epsilon=50, n=1000, queries=10, updates=4)
        first = session.ask({"region": "north"})
        assert abs(first.value - 334) < 300 and session.ask({"region": "north"}) == first
        again = ann.online(domain, epsilon=50, n=1000, queries=10, updates=4)
        assert again.ask({"region": "north"}) == first and len(ann.history()) == 1
        assert again.left == session.left <= 4 and repr(again) == repr(session)
        assert again.synthetic(10).num_rows == 10 and again.model.domain == domain


def rehearsals_are_free_and_say_so(place: Place) -> None:
    with place(Budget(epsilon=1)) as seen_by:
        ann = seen_by("ann")
        release = ann.rehearse(BY_REGION, epsilon=1, rows=300)
        assert release.provenance.rehearsal and release.provenance.entry is None and "rehearsal" in release.card()
        assert not ann.history() and ann.remaining == 1
        assert ann.tables["people"].rehearse(50).data.num_rows == 50


def a_release_is_kept_for_good_and_verified(place: Place) -> None:
    with place(Budget(epsilon=1)) as seen_by:
        ann = seen_by("ann")
        release = ann.ask(COUNT, epsilon="0.5")
        kept = ann.release_of(release.provenance.entry_hash)
        assert kept.facts() == release.facts()
        head = ann.verify(release)
        assert head.seq >= release.provenance.entry and len(head.hash) == 64
        with refused(TacitError):
            ann.release_of("0" * 64)


CHECKS: tuple[Callable[[Place], None], ...] = (
    a_question_is_paid_once,
    the_same_numbers_can_be_shown_in_many_ways,
    an_offer_says_what_an_answer_takes,
    an_offer_says_when_it_is_free,
    fresh_draws_are_paid_again,
    refusals_are_those_of_the_library,
    a_budget_that_is_spent_sells_nothing,
    allowances_are_kept,
    parts_pay_apart,
    several_tables_and_public_ones_are_asked_together,
    every_aggregate_is_answered,
    history_has_every_charge,
    bounds_are_bought,
    linear_queries_are_planned_bought_and_read_again,
    ranges_are_answered_by_a_named_method,
    streams_go_on_where_they_were,
    online_sessions_go_on_where_they_were,
    rehearsals_are_free_and_say_so,
    a_release_is_kept_for_good_and_verified,
)


def conform(place: Place) -> None:
    """Run every check."""
    for check in CHECKS:
        check(place)


class _Local:
    """A curator in this process with the same tables, to be compared with."""

    def __init__(self, budget: Budget) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._curator = Curator(people(), ledger=Path(self._folder.name) / "local.ledger", budget=budget, analyst="ann")

    def __enter__(self) -> Curator:
        return self._curator

    def __exit__(self, *_: object) -> None:
        self._curator.close()
        self._folder.cleanup()


def _refusal(act: Callable[[Any], object], curator: Any) -> tuple[str, str]:
    """The class and the text of the error that an act raises."""
    try:
        act(curator)
    except TacitError as error:
        return type(error).__name__, str(error)
    return "nothing", "was refused"
