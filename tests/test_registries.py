"""Nothing escapes its suite: what is added without a place in a list, or without a test of a list, is found."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from engines.test_conformance import ELSEWHERE

from tacit import Laplace, mechanisms
from tacit.audit import attacks
from tacit.engines.base import Engine
from tacit.engines.rows.reference import Reference
from tacit.ledger.stores.store import DIALECTS
from tacit.query.schema.databases import ENGINES
from tacit.testing import engines, ledgers, registry, workloads
from tacit.testing.mechanisms import claims
from tacit.testing.wrong import engines as wrong_engines
from tacit.testing.wrong import ledgers as wrong_ledgers
from tacit.testing.wrong import mechanisms as wrong
from tacit.testing.wrong import methods as wrong_methods
from tacit.workloads import METHODS
from tacit.workloads.methods.direct.per_query import PerQuery

TESTS = Path(__file__).parent
BY_NAME = r'@pytest\.mark\.parametrize\("name", IN_PROCESS\)\ndef test_an_engine\('
EVERY_CHECK = '@pytest.mark.parametrize("check", CHECKS, ids='


def test_nothing_escapes():
    assert registry.gaps() == {}


def without(listed, one):
    return type(listed)(each for each in listed if each is not one)


@pytest.mark.parametrize(
    ("owner", "name", "one", "gap"),
    [
        (registry, "MECHANISMS", Laplace, ("mechanisms", "Laplace")),
        (attacks, "ALL", attacks.AVERAGING, ("attacks", "averaging")),
        (engines, "CHECKS", engines.is_stable, ("checks", "is_stable")),
        (ledgers, "CHECKS", ledgers.a_question_is_paid_once, ("checks", "a_question_is_paid_once")),
        (registry.mechanism_suite, "CHECKS", claims.loss_covers_law, ("checks", "loss_covers_law")),
        (wrong, "ALL", wrong.Optimistic, ("checks of mechanisms that refute nothing", "error_bound_holds")),
        (wrong_methods, "ALL", wrong_methods.Boasts, ("checks of methods that refute nothing", "prediction_holds")),
        (wrong_engines, "ALL", wrong_engines.Unbounded, ("checks of engines that refute nothing", "is_stable")),
        (
            wrong_ledgers,
            "ALL",
            wrong_ledgers.OneByOne,
            ("checks of ledgers that refute nothing", "a_batch_is_all_or_nothing"),
        ),
        (workloads, "CHECKS", workloads.price_is_kept, ("checks", "price_is_kept")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_list_leaves_out_is_found(monkeypatch, owner, name, one, gap):
    listed, (kind, missing) = getattr(owner, name), gap
    shorter = without(listed, one)
    monkeypatch.setattr(owner, name, shorter)
    monkeypatch.setattr(registry, "LISTS", {m: shorter if v is listed else v for m, v in registry.LISTS.items()})
    assert missing in registry.gaps()[kind]


def test_an_engine_that_no_registry_names_is_found(monkeypatch):
    monkeypatch.delitem(registry.ENGINES, "spark")
    assert registry.gaps() == {"engines": {"Spark"}}


def test_a_store_that_no_scheme_names_is_found(monkeypatch):
    monkeypatch.delitem(DIALECTS, "postgresql")
    assert registry.gaps() == {"stores": {"PostgresStore"}}


def test_a_mechanism_that_is_in_no_list_is_found(monkeypatch):
    mine = type("Mine", (Laplace,), {"__module__": "tacit.mechanisms.additive.laplace"})
    monkeypatch.setattr("tacit.mechanisms.additive.laplace.Mine", mine, raising=False)
    assert registry.gaps() == {"mechanisms": {"Mine"}}
    monkeypatch.setattr(mine, "examples", lambda: ())
    monkeypatch.setattr(registry, "MECHANISMS", (*mechanisms.ALL, mine))
    assert registry.gaps() == {"mechanisms without examples": {"Mine"}}


def test_a_method_that_is_in_no_list_is_found(monkeypatch):
    shorter = tuple(method for method in METHODS if not isinstance(method, PerQuery))
    monkeypatch.setattr(registry, "METHODS", shorter)
    assert registry.gaps() == {"methods": {"PerQuery"}}
    monkeypatch.setattr(registry, "METHODS", METHODS)
    mine = type("Mine", (PerQuery,), {"__module__": PerQuery.__module__})
    monkeypatch.setattr(f"{PerQuery.__module__}.Mine", mine, raising=False)
    assert registry.gaps() == {"methods": {"Mine"}}


def test_every_engine_is_tested_by_every_check():
    """In process by its name, from the registry; on a server by a suite that imports its class."""
    named = {import_module(f"tacit.engines.{name}.engine").ENGINE: name for name in ENGINES}
    for kind in registry.concrete("tacit.engines", Engine) - {Reference}:
        file = TESTS / "engines" / f"{ELSEWHERE.get(named[kind], 'test_conformance')}.py"
        text = file.read_text("utf-8")
        imported = rf"from tacit\.engines\.[\w.]+ import .*\b{kind.__name__}\b"
        assert EVERY_CHECK in text
        assert re.search(imported if named[kind] in ELSEWHERE else BY_NAME, text), kind


def test_every_store_is_tested_by_every_check():
    fixture = (TESTS / "ledger" / "conftest.py").read_text("utf-8")
    assert "@pytest.fixture(params=DIALECTS)\ndef places" in fixture
    assert registry.stores() == {*DIALECTS.values()}
    running = (TESTS / "ledger" / "test_conformance.py").read_text("utf-8")
    assert EVERY_CHECK in running and "check(places())" in running
