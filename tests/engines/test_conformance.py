"""DuckDB conforms; and the suite refutes engines that do not."""

import pytest

from tacit.engines.base import Answer
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.rows.reference import Reference
from tacit.testing.engines import CHECKS, conform
from tacit.testing.mechanisms import Refuted

from ._hash import content_decides_where_hashes_are_equal, units_are_named_alike


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_duckdb(check, part):
    for seed in range(1000 * part, 1000 * part + 10):
        assert check(DuckDB, seed) > 0


def test_the_keyed_hash():
    units_are_named_alike(DuckDB)
    content_decides_where_hashes_are_equal(DuckDB, range(30))


def test_the_reference_conforms_to_itself():
    assert conform(Reference, range(10)) > 100


class Miscounting(Reference):
    """One too many, wherever there is something."""

    def _answer(self, plan, content):
        answer = super()._answer(plan, content)
        return Answer(tuple(cells + (cells > 0) for cells in answer.cells), answer.keys, answer.units)


class Unbounded(Reference):
    """Keeps all rows of a unit."""

    def register(self, table, key):
        super().register(table, key)
        kept = self._tables[table.schema.name][0]
        self._tables[table.schema.name] = kept * 20, key


class Ordered(Reference):
    """Keeps the first rows of a unit, instead of those of least hash."""

    def register(self, table, key):
        from tacit.engines.rows import reference

        hashed = reference.order
        reference.order = lambda *_: 0
        try:
            super().register(table, key)
        finally:
            reference.order = hashed


@pytest.mark.parametrize("wrong", [Miscounting, Unbounded, Ordered])
def test_the_suite_refutes(wrong):
    with pytest.raises(Refuted):
        conform(wrong, range(40))
