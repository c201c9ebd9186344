"""The one way to buy: each step stands in one place, and whatever fails in between, one charge is one draw."""

import ast
import json
import re
import shutil
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tacit
from curator.test_curator import COUNT, ROWS, SCHEMA, curator
from tacit.cli import app
from tacit.core.errors import (
    BadQuestion,
    BudgetExceeded,
    DrawFailed,
    EngineError,
    EngineUnavailable,
    LedgerConflict,
    NoAllowance,
    Refused,
)
from tacit.core.purpose import KINDS, MAX_DESCRIPTION, Purpose
from tacit.curator import Curator, purchase
from tacit.curator.registration import Registration
from tacit.demo import story
from tacit.engines.base import Engine, EngineAnswer
from tacit.engines.duckdb.engine import DuckDB
from tacit.ledger import Ledger
from tacit.ledger.entries import _from_prose
from tacit.query.python.table_domain import Counted
from tacit.workloads import marginals

SOURCE = Path(tacit.__file__).parent


@pytest.fixture
def place(tmp_path):
    return tmp_path / "visits.ledger"


def calls():
    """Each call of a method in the package: the module, the receiver as it is written, and the method."""
    for file in sorted(SOURCE.rglob("*.py")):
        module = file.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                yield module, ast.unparse(node.func.value), node.func.attr


PLACES = {
    ("ledger", "charge"): {"curator/purchase.py"},
    ("ledger", "charge_many"): set(),
    ("ledger", "store"): {"curator/purchase.py"},
    ("ledger", "start"): {"curator/session.py"},
    ("kept", "start"): {"holdout/session.py"},
    ("keeper", "start"): {"core/session.py"},
    ("session", "step"): {"core/session.py"},
    ("engine", "answer"): {"curator/registration.py"},
    ("registration", "exact"): {"curator/purchase.py"},
    ("order", "prepare"): {"curator/purchase.py"},
    ("pace", "let_out"): {"curator/purchase.py", "curator/session.py"},
}


@pytest.mark.parametrize(("receiver", "method"), PLACES)
def test_each_step_of_a_purchase_stands_in_one_place(receiver, method):
    """A lint, which knows a receiver by the name of its variable alone: a call under another name passes unseen.

    `tacit.testing` asks ledgers and engines as an outsider would, and `Ledger` itself charges by `charge_many`.
    """
    found = {
        module
        for module, written, called in calls()
        if called == method and written.split(".")[-1].lstrip("_") == receiver and not module.startswith("testing/")
    }
    assert found == PLACES[receiver, method]


def written_steps():
    """The steps of a purchase in the order in which the docstring of `purchase` lists them."""
    return re.findall(r"^ {4}(\w+(?: \w+)?)  ", purchase.__doc__, flags=re.MULTILINE)


@contextmanager
def observed(c, monkeypatch):
    """The steps that a curator takes, each named once for calls in a row; the last is the end of `let_out`."""
    steps = []

    def note(step):
        if steps[-1:] != [step]:
            steps.append(step)

    def before(step, real):
        return lambda *given, **named: (note(step), real(*given, **named))[1]

    def after(step, real):
        def call(*given, **named):
            result = real(*given, **named)
            note(step)
            return result

        return call

    def order(**facts):
        named = {"price": "price", "prepare": "prepare"}
        return Order(**{**facts, **{name: before(step, facts[name]) for name, step in named.items()}})

    Order, engine = purchase.Order, c._registration._engine
    with monkeypatch.context() as patch:
        for module in ("ask", "bounds", "workloads"):
            patch.setattr(f"tacit.curator.{module}.Order", order)
        for owner, method, step in (
            (c.ledger, "find", "find"),
            (engine, "register", "register"),
            (c.ledger, "charge", "charge"),
            (engine, "answer", "read"),
            (purchase.WatchedSource, "words", "draw"),
            (purchase.WatchedSource, "word", "draw"),
            (c.ledger, "store", "store"),
        ):
            patch.setattr(owner, method, before(step, getattr(owner, method)))
        patch.setattr(c.pace, "let_out", after("hand out", c.pace.let_out))
        patch.setattr(c.pace, "hold", after("hand out", c.pace.hold))
        yield steps


@pytest.mark.parametrize("kind", ["question", "workload", "bounds"])
def test_a_purchase_takes_its_steps_in_the_order_that_is_written(place, monkeypatch, kind):
    """A repeat finds and hands out; a charge that is open is completed without being priced or charged again."""
    written = written_steps()
    assert written == ["find", "price", "register", "charge", "prepare", "read", "draw", "store", "hand out"]
    plain = SCHEMA.replace('partition = "year"\n', "")
    with Curator(tacit.Table(ROWS, plain), ledger=place, budget=tacit.Budget(epsilon=10), engine=DuckDB()) as c:
        act = dict(purchases(c))[kind]
        with observed(c, monkeypatch) as steps:
            act()
        assert steps == written
        with observed(c, monkeypatch) as steps:
            act()
        assert steps == ["find", "hand out"]
        with crashing(monkeypatch, c.ledger, "store", after=False), pytest.raises(Crash):
            act(fresh=True)
        with observed(c, monkeypatch) as steps:
            act()
        assert steps == ["find", "prepare", "read", "draw", "store", "hand out"]


def things(c):
    """What can be reached from a curator and its sessions by public names, with the way to it."""
    domain = c.table.domain("year")
    roots = {
        "curator": c,
        "stream": c.above_threshold(10, epsilon=1),
        "online": c.online(domain, epsilon=20, n=500, queries=10, updates=4),
    }
    queue, seen = [*roots.items()], set()
    while queue:
        path, thing = queue.pop()
        if id(thing) in seen or path.count(".") > 3:
            continue
        seen.add(id(thing))
        yield path, thing
        if type(thing).__module__.startswith("tacit."):
            names = [name for name in dir(thing) if not name.startswith("_")]
            queue += [(f"{path}.{name}", getattr(thing, name)) for name in names if not unread(path, name)]


def unread(path, name):
    """What is the owner's own: the table that was handed to the curator, and pictures of mechanisms."""
    return name in ("table", "tables", "plot")


def test_nothing_public_on_a_curator_leads_to_exact_integers(place):
    with curator(place, tacit.Budget(epsilon=100)) as c:
        c.ask(COUNT, epsilon=1)
        reached = dict(things(c))
    assert {"curator.ledger", "curator.ask", "stream.mechanism", "online.mechanism"} <= reached.keys()
    for path, thing in reached.items():
        assert not isinstance(thing, Engine | Registration | Counted | EngineAnswer), path
        owner = getattr(thing, "__self__", None)
        assert not isinstance(owner, Engine | Registration | Counted), path
        names = getattr(getattr(thing, "__func__", thing), "__globals__", {})
        returned = names.get(getattr(thing, "__annotations__", {}).get("return"))
        assert returned not in (EngineAnswer, Engine, Registration, Counted), path
    assert not {"exact", "engine", "data", "key"} & {name for name in dir(c) if not name.startswith("_")}
    assert c.read_tables.__annotations__["return"] == "None"


def purchases(c):
    """One of each kind that is bought at once, and what is seen of it."""
    w = marginals(c.table.domain("year"), k=1)
    yield "question", lambda **fresh: c.ask("SELECT year, COUNT(*) FROM visits GROUP BY year", epsilon=1, **fresh).noisy
    yield "workload", lambda **fresh: tuple(c.answer(w, epsilon=1, method="histogram", **fresh).answers)
    yield "bounds", lambda **fresh: c.bounds("age", epsilon=1, **fresh)


KINDS_BOUGHT = ["question", "workload", "bounds"]
SPENT = r"^The draw of this answer failed, and its charge is spent\. Ask with fresh=True, which is charged again\.$"


class Crash(BaseException):
    """The process ends here: nothing catches it."""


@contextmanager
def crashing(monkeypatch, owner, *methods, after):
    """Let a call of one of the methods fail, once: before it does anything, or after it did all of it."""
    state = {"left": 1}

    def crashes(real):
        def crash(*given, **named):
            if not state["left"]:
                return real(*given, **named)
            state["left"] = 0
            if after:
                real(*given, **named)
            raise Crash

        return crash

    with monkeypatch.context() as patch:
        for method in methods:
            patch.setattr(owner, method, crashes(getattr(owner, method)))
        yield


STEPS = {
    "find": lambda c: (c.ledger, "find"),
    "register": lambda c: (c._registration, "read_tables"),
    "charge": lambda c: (c.ledger, "charge"),
    "read": lambda c: (c._registration.engine, "answer"),
    "draw": lambda c: (purchase.WatchedSource, "words", "word"),
    "store": lambda c: (c.ledger, "store"),
    "hand out": lambda c: (c.pace, "let_out"),
}


@pytest.mark.parametrize("kind", KINDS_BOUGHT)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True])
def test_a_crash_at_any_step_costs_one_charge_and_one_draw(place, monkeypatch, kind, step, after):
    """Asked again in another process, the same charge is completed; what was stored is what is handed out."""
    budget = tacit.Budget(epsilon=10)
    with curator(place, budget) as c:
        if step == "read":
            c.read_tables()
        with crashing(monkeypatch, *STEPS[step](c), after=after), pytest.raises(Crash):
            dict(purchases(c))[kind]()
        charges = c.history()
    charged = step not in ("find", "register") and (step, after) != ("charge", False)
    stored = (step, after) in {("store", True), ("hand out", True)}
    assert [charge.release is not None for charge in charges] == [stored] * charged
    with curator(place, budget) as c:
        answer = dict(purchases(c))[kind]()
        assert dict(purchases(c))[kind]() == answer
        (charge,) = c.history()
        assert charge.purpose.kind == kind and c.remaining == 9
        assert not charges or (charge.seq, charges[0].release or charge.release) == (charges[0].seq, charge.release)
        assert sum(entry.kind == "release" for entry in c.ledger.entries()) == 1
        c.ledger.verify()


@pytest.mark.parametrize("kind", KINDS_BOUGHT)
@pytest.mark.parametrize("failure", [ValueError("4711"), MemoryError("4711"), ZeroDivisionError("4711")])
def test_a_failure_before_the_first_noise_leaves_the_charge_open(place, monkeypatch, kind, failure):
    with curator(place, tacit.Budget(epsilon=10)) as c:
        act = dict(purchases(c))[kind]
        for owner, method in ((purchase.WatchedSource, "words"), (c._registration.engine, "answer")):

            def fails(*_):
                raise failure

            with monkeypatch.context() as patch:
                patch.setattr(owner, method, fails)
                patch.setattr(purchase.WatchedSource, "word", fails)
                with pytest.raises(EngineError) as silent:
                    act()
            assert silent.value.__context__ is None and "4711" not in str(silent.value)
            assert [charge.release for charge in c.history()] == [None] and c.remaining == 9
        act()
        assert c.remaining == 9 and len(c.history()) == 1


@pytest.mark.parametrize("kind", KINDS_BOUGHT)
def test_a_failure_after_the_first_noise_is_stored_and_nothing_is_drawn_again(place, monkeypatch, kind):
    """Else whoever can make a draw fail, by what it drew, could look at the data any number of times."""
    draws = []

    def fails(self, n=1):
        self.drawn = True
        draws.append(n)
        raise ValueError("4711")

    with curator(place, tacit.Budget(epsilon=10)) as c:
        act = dict(purchases(c))[kind]
        with monkeypatch.context() as patch:
            patch.setattr(purchase.WatchedSource, "words", fails)
            patch.setattr(purchase.WatchedSource, "word", fails)
            if kind == "workload":  # whose releases can say that nothing is known
                assert np.isnan(act()).all()
            else:
                with pytest.raises(DrawFailed, match=SPENT) as silent:
                    act()
                assert silent.value.__context__ is None and "4711" not in str(silent.value)
        (charge,) = c.history()
        assert charge.release is not None and len(draws) == 1
        assert charge.failed == c.ledger.find(charge.key).failed == (kind != "workload")
        (form,) = (entry.body["form"] for entry in c.ledger.entries() if entry.kind == "release")
        assert form == ("workload" if kind == "workload" else "failure")
        for _ in range(3):
            if kind == "workload":
                assert np.isnan(act()).all()
            else:
                with pytest.raises(DrawFailed, match=SPENT):
                    act()
        assert c.remaining == 9 and len(c.history()) == 1
        c.ledger.verify()
        act(fresh=True)
        assert c.remaining == 8 and [charge.draw for charge in c.history()] == [1, 2]
        assert act() == act() and c.remaining == 8 and not c.history()[1].failed


@pytest.mark.parametrize("method", ["queries", "tree", "adaptive"])
@pytest.mark.parametrize("failure", [EngineError(), LedgerConflict("The table has changed."), ValueError("4711")])
def test_a_read_that_fails_after_the_first_noise_is_a_failed_draw(place, monkeypatch, method, failure):
    """Of methods that read more than once: what was drawn before the read that failed is not drawn again."""
    drawn = []

    def watched(real):
        return lambda self, *n: (drawn.append(n), real(self, *n))[1]

    with curator(place, tacit.Budget(rho=10)) as c:
        exact = c._registration.exact
        domain = c.table.derive(band=lambda rows: rows.age // 10 * 10).domain("year", "band")

        def fails(plan, parts):
            if drawn:
                raise failure
            return exact(plan, parts)

        def act(**fresh):
            return c.answer(marginals(domain, k=1), rho=1, method=method, **fresh).answers

        with monkeypatch.context() as patch:
            for draw in ("words", "word"):
                patch.setattr(purchase.WatchedSource, draw, watched(getattr(purchase.WatchedSource, draw)))
            patch.setattr(c._registration, "exact", fails)
            assert np.isnan(act()).all() and drawn
            draws = len(drawn)
            assert np.isnan(act()).all() and len(drawn) == draws
        (charge,) = c.history()
        assert np.isnan(act()).all() and c.remaining == 9 and charge.release == c.history()[0].release
        assert np.isfinite(act(fresh=True)).all() and c.remaining == 8


def test_who_looks_at_charges_sees_which_draws_failed(place, monkeypatch):
    """The bytes that are stored for a failure are no release, and nobody parses them as one."""
    text = "SELECT COUNT(*) AS n FROM visits"

    def fails(self, n=1):
        self.drawn = True
        raise ValueError

    with curator(place, tacit.Budget(epsilon=10)) as c:
        with monkeypatch.context() as patch:
            patch.setattr(purchase.WatchedSource, "words", fails)
            patch.setattr(purchase.WatchedSource, "word", fails)
            with pytest.raises(DrawFailed):
                c.ask(text, epsilon=1)
        c.ask(text, epsilon=1, fresh=True)
        failed, bought = c.history()
        assert failed.failed and not bought.failed
        assert [story._question(charge) for charge in c.history()] == [text, text]
    shown = json.loads(CliRunner().invoke(app, ["ledger", "show", str(place), "--json"]).stdout)["charges"]
    assert [(row["question"], row["released"]) for row in shown] == [(text, "failed"), (text, "yes")]


class Blind(DuckDB):
    """An engine that may not read."""

    def register(self, table, key):
        raise AssertionError("data was read")


def refusals(c):
    """About all parts: what is asked about some of them is priced once the tables were read."""
    w = marginals(c.table.domain("age"), k=1)
    yield BudgetExceeded, lambda: c.ask(COUNT, epsilon=2)
    yield BudgetExceeded, lambda: c.answer(w, epsilon=2, method="histogram")
    yield BudgetExceeded, lambda: c.bounds("age", epsilon=2)
    yield Refused, lambda: c.ask(COUNT, epsilon="1e-9")
    yield Refused, lambda: c.answer(w, epsilon="1e-9", method="histogram")
    yield Refused, lambda: c.bounds("age", epsilon="1e-9")
    yield BadQuestion, lambda: c.ask("SELECT SUM(note) FROM visits", epsilon=1)
    yield BadQuestion, lambda: c.bounds("note", epsilon=1)
    yield BudgetExceeded, lambda: c.above_threshold(5, epsilon=2)
    yield BudgetExceeded, lambda: c.online(c.table.domain("year"), epsilon=20, n=500, queries=10, updates=4)
    yield Refused, lambda: c.above_threshold(5, epsilon="1e-9")
    yield BadQuestion, lambda: c.above_threshold(5, epsilon="0.1").ask("SELECT SUM(age) FROM visits")  # opened before


@pytest.mark.parametrize("budget", [tacit.Budget(epsilon=1), tacit.Budget(epsilon=1, delta="1e-6")])
def test_what_public_facts_refuse_is_refused_before_data_are_read(place, budget):
    with curator(place, budget) as c:
        c.above_threshold(5, epsilon="0.1")
    with curator(place, budget, engine=Blind()) as c:
        for error, act in refusals(c):
            with pytest.raises(error):
                act()
        with pytest.raises(AssertionError, match="data was read"):
            c.ask(COUNT, epsilon="0.1")


def openings(c):
    """One of each kind of session."""
    yield lambda: c.above_threshold(5, epsilon=1)
    yield lambda: c.numeric_sparse(5, epsilon=1)
    yield lambda: c.online(c.table.domain("year"), epsilon=20, n=500, queries=10, updates=4)


def test_a_session_about_tables_that_cannot_be_read_is_refused_before_it_is_charged(place):
    class Away(DuckDB):
        def register(self, table, key):
            raise EngineUnavailable("the table", "its server is away")

    with curator(place, tacit.Budget(epsilon=100), engine=Away()) as c:
        for act in openings(c):
            with pytest.raises(EngineUnavailable, match=r"Nothing was charged\."):
                act()
        assert not c.history() and c.remaining == 100


def test_a_session_of_another_unit_is_refused_before_it_is_charged(place):
    """The ledger was first used with persons: what is sold to rows means nothing beside it."""
    with curator(place, tacit.Budget(epsilon=100)) as c:
        c.ask(COUNT, epsilon=1)
    rows = SCHEMA.replace('unit = "person"\nrows = 3\n', 'unit = "row"\n')
    wrong = r"^The unit or partition of 'visits' is not the one that this ledger was first used with\.$"
    with Curator(tacit.Table(ROWS, rows), ledger=place, engine=Blind()) as c:
        for act in openings(c):
            with pytest.raises(tacit.BadParameter, match=wrong):
                act()
        assert len(c.history()) == 1 and c.remaining == 99


def test_a_session_that_was_opened_before_goes_on_where_the_tables_cannot_be_read_any_more(place):
    high = "SELECT COUNT(*) FROM visits WHERE age >= 0"
    with curator(place, tacit.Budget(epsilon=100)) as c:
        first = c.above_threshold(5, epsilon=10).ask(high)
    with curator(place, engine=Blind(), budget=tacit.Budget(epsilon=100)) as c:
        assert c.above_threshold(5, epsilon=10).ask(high) == first and c.remaining == 90


def test_who_has_no_allowance_is_refused_before_data_are_read(place):
    ledger = Ledger.open(place, tacit.Budget(epsilon=1), "visits", only_allowed=True)
    with curator(ledger, tacit.Budget(epsilon=1), engine=Blind()) as c:
        with pytest.raises(NoAllowance):
            c.ask(COUNT, epsilon="0.1")
        ledger.allow("analyst", tacit.Budget(epsilon="0.2"))
        with pytest.raises(BudgetExceeded, match="allowance of analyst"):
            c.ask(COUNT, epsilon="0.3")


def test_what_was_bought_is_free_where_the_tables_cannot_be_read_any_more(place):
    with curator(place) as c:
        first = c.ask(COUNT, epsilon="0.5")
    with curator(place, engine=Blind()) as c:
        assert c.ask(COUNT, epsilon="0.5") == first and c.remaining == tacit.Budget(epsilon="0.5").limit


def test_tables_that_have_changed_are_paid_for_as_a_whole_from_the_first_question(place):
    """A question about a part is priced once it is known whether everybody is where they were."""
    part = "SELECT COUNT(*) AS n FROM visits WHERE year = '2023'"
    with curator(place, tacit.Budget(epsilon=1, delta="1e-6")) as c:
        c.ask(part, share="0.1")
    with Curator(tacit.Table(ROWS[1:], SCHEMA), ledger=place) as c:
        c.ask(part, share="0.2")
        assert [charge.parts for charge in c.history()] == [{"year=2023"}, None]


@contextmanager
def counted(ledger, monkeypatch):
    """The transactions of a ledger, by their kind."""
    made = []
    with monkeypatch.context() as patch:
        for kind in ("reading", "writing"):
            real = getattr(ledger.database, kind)
            patch.setattr(ledger.database, kind, lambda real=real, kind=kind: made.append(kind) or real())
        yield made


@pytest.mark.parametrize("kind", KINDS_BOUGHT)
def test_a_purchase_is_one_look_and_two_commits_and_a_repeat_one_look(place, monkeypatch, kind):
    plain = SCHEMA.replace('partition = "year"\n', "")
    with Curator(tacit.Table(ROWS, plain), ledger=place, budget=tacit.Budget(epsilon=10)) as c:
        c.ask(COUNT, epsilon=1)
        act = dict(purchases(c))[kind]
        for expected in (["reading", "writing", "writing"], ["reading"]):
            with counted(c.ledger, monkeypatch) as made:
                act()
            assert made == expected


def test_a_charge_says_what_it_is_for(place):
    with curator(place, tacit.Budget(epsilon=200)) as c:
        text = "SELECT COUNT(*) AS n FROM visits"
        c.ask(text, epsilon=1)
        c.ask(c.table.group_by("year").mean("age"), epsilon=1)
        c.answer(marginals(c.table.domain("year"), k=1), epsilon=1, method="histogram")
        c.bounds("age", epsilon=1)
        c.above_threshold(10, epsilon=20, name="alerts")
        c.online(c.table.domain("year"), epsilon=20, n=500, queries=10, updates=4)
        stated = [(charge.purpose.kind, charge.purpose.description) for charge in c.history()]
        kept = {charge.purpose.kind for charge in c.ledger.history() if not charge.loss.terms}
        bodies = [entry.body["purpose"] for entry in c.ledger.entries() if entry.kind == "charge"]
        c.ledger.export(place.with_suffix(".jsonl"))
    assert kept == {"private value"} and all(body.keys() == {"kind", "description", "terms"} for body in bodies)
    assert [kind for kind, _ in stated] == ["question", "question", "workload", "bounds", "stream", "online"]
    assert stated[0][1] == text and stated[1][1] == "year, mean_age of visits, asked in Python"
    assert "histogram on" in stated[2][1] and stated[3][1] == "bounds of age"
    assert stated[4][1].startswith("alerts: Sparse(") and "multiplicative weights on year" in stated[5][1]
    lines = [json.loads(line)["entry"] for line in place.with_suffix(".jsonl").read_text().splitlines()]
    assert [line["purpose"]["kind"] for line in lines if line["kind"] == "charge"] == [body["kind"] for body in bodies]


OLD = Path(__file__).parents[1] / "fixtures" / "ledgers"


@pytest.mark.parametrize("name", ["pure", "pure_failures", "rho", "union", "renyi"])
def test_what_a_charge_of_an_earlier_version_is_for_is_read_from_its_text(place, name):
    """Such an entry has prose called plan, of which the kind is recognised, and for a question what completes it."""
    shutil.copyfile(OLD / f"{name}.sqlite", place)
    place.chmod(0o600)
    with Ledger.open(place) as ledger:
        entries = {entry.seq: entry.body for entry in ledger.entries() if entry.kind == "charge"}
        purposes = {charge.seq: charge.purpose for charge in ledger.history()}
    assert all("purpose" not in body for body in entries.values())
    assert {purpose.kind for purpose in purposes.values()} >= {
        "question",
        "workload",
        "bounds",
        "online",
        "private value",
    }
    for seq, purpose in purposes.items():
        text = entries[seq]["plan"]
        if purpose.kind == "question":
            _, mechanisms, beta = json.loads(text)
            assert purpose.terms == {"mechanisms": mechanisms, "beta": beta} and purpose.description == ""
        else:
            assert (purpose.description, purpose.terms) == (text, None)
        starts = {
            "bounds": "bounds of ",
            "stream": "stream: ",
            "online": "online: ",
            "question": "[",
            "private value": "",
        }
        assert text.startswith(starts.get(purpose.kind, text)) and (purpose.kind != "workload" or " on " in text)


@pytest.mark.parametrize(
    ("text", "session", "analyst", "kind"),
    [
        ("", True, "ann", "holdout"),
        ("", True, "holdout", "private value"),
        ("", False, "ann", "other"),
        ("[not JSON", False, "ann", "other"),
        ("[1, 2]", False, "ann", "other"),
        ("COUNT(*)", False, "ann", "other"),
    ],
)
def test_a_text_that_says_little_is_of_another_kind(text, session, analyst, kind):
    assert _from_prose(text, session, analyst).kind == kind


def test_a_purpose_is_of_a_known_kind_and_its_description_is_short():
    assert all(Purpose(kind).kind == kind for kind in KINDS)
    assert len(Purpose("question", "x" * 10_000).description) == MAX_DESCRIPTION
    for wrong in (("purchase",), ("question", 5)):
        with pytest.raises(tacit.BadParameter):
            Purpose(*wrong)
