"""Nothing escapes its suite: what is added without a place in a list, or without a test of a list, is found."""

import re
from pathlib import Path

import pytest

from tacit import Laplace, mechanisms
from tacit.audit import attacks
from tacit.engines.base import Engine
from tacit.testing import engines, ledgers, registry, wrong
from tacit.testing.mechanisms import claims

TESTS = Path(__file__).parent
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


def test_a_mechanism_that_is_in_no_list_is_found(monkeypatch):
    mine = type("Mine", (Laplace,), {"__module__": "tacit.mechanisms.additive.laplace"})
    monkeypatch.setattr("tacit.mechanisms.additive.laplace.Mine", mine, raising=False)
    assert registry.gaps() == {"mechanisms": {"Mine"}}
    monkeypatch.setattr(mine, "examples", lambda: ())
    monkeypatch.setattr(registry, "MECHANISMS", (*mechanisms.ALL, mine))
    assert registry.gaps() == {"mechanisms without examples": {"Mine"}}


def test_every_engine_is_tested_by_every_check():
    files = [path.read_text("utf-8") for path in (TESTS / "engines").glob("test_*.py")]
    running = [text for text in files if EVERY_CHECK in text]
    for kind in registry.concrete("tacit.engines", Engine):
        imported = rf"from tacit\.engines\.[\w.]+ import .*\b{kind.__name__}\b"
        assert any(re.search(imported, text) for text in running), kind


def test_every_store_is_tested_by_every_check():
    fixture = (TESTS / "ledger" / "conftest.py").read_text("utf-8")
    named = re.search(r"@pytest\.fixture\(params=(\[.*\])\)\ndef places", fixture)
    assert set(re.findall(r'"(\w+)"', named[1])) == {kind.__name__.lower() for kind in registry.stores()}
    running = (TESTS / "ledger" / "test_conformance.py").read_text("utf-8")
    assert EVERY_CHECK in running and "check(places())" in running
