"""Every engine conforms; and the suite refutes engines that do not."""

from importlib import import_module
from pathlib import Path

import pytest
from running_time import quick

from tacit.engines.base import Engine
from tacit.engines.rows.reference import Reference
from tacit.query.schema.databases import ENGINES
from tacit.testing.engines import CHECKS, conform
from tacit.testing.mechanisms import Refuted
from tacit.testing.wrong import engines

from ._hash import content_decides_where_hashes_are_equal, units_are_named_alike
from ._spark import MARKS

ELSEWHERE = {"postgres": "test_postgres", "spark": "test_spark"}  # whose tables are first put on a server
IN_PROCESS = [name for name in ENGINES if name not in ELSEWHERE]


def engine_class(name):
    return import_module(f"tacit.engines.{name}.engine").ENGINE


@pytest.mark.parametrize("part", quick(range(4), most=2))
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", IN_PROCESS)
def test_an_engine(name, check, part):
    for seed in range(1000 * part, 1000 * part + 10):
        assert check(engine_class(name), seed) > 0


@pytest.mark.parametrize("name", IN_PROCESS)
def test_the_keyed_hash(name):
    units_are_named_alike(engine_class(name))
    content_decides_where_hashes_are_equal(engine_class(name), range(30))


@pytest.mark.parametrize("name", [pytest.param(n, marks=MARKS if n == "spark" else ()) for n in ENGINES])
def test_every_engine_is_opened_by_its_name(name):
    pytest.importorskip(ENGINES[name].requires)
    with engine_class(name).create(None) as opened:
        assert isinstance(opened, Engine)


@pytest.mark.parametrize(("name", "suite"), ELSEWHERE.items())
def test_engines_on_a_server_have_suites_of_their_own(name, suite):
    text = (Path(__file__).parent / f"{suite}.py").read_text()
    assert name in ENGINES and "CHECKS" in text


def test_the_reference_conforms_to_itself():
    assert conform(Reference, range(10)) > 100


@pytest.mark.parametrize("wrong", engines.ALL, ids=lambda wrong: wrong.__name__)
def test_the_suite_refutes(wrong):
    with pytest.raises(Refuted):
        sum(wrong.refuted_by(wrong, seed) for seed in range(40))
    with pytest.raises(Refuted):
        conform(wrong, range(40))
