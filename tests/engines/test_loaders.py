"""The loaders against each other: the same rows are the same integers in every form, and a cell changes no other's.

What a cell means rests on that cell alone: not on statistics that a file holds, true or false, nor on its encoding, its
row groups or its writer, nor on what an optimiser makes of them.
"""

import random

import pytest
from running_time import quick

from tacit.engines.rows.reference import Reference
from tacit.query.python.table import Table
from tacit.testing.engines import engine, same, stable

from ._loaders import (
    BASES,
    CELLS,
    FORMS,
    HOSTILE,
    KEY,
    PARQUET,
    PLAIN,
    SCHEMA,
    arrow,
    claims,
    lying,
    neighbours,
    plans,
    stored,
)
from ._postgres import Loaded
from ._remembering import Remembering
from ._spark import MARKS

PLANS = plans()
POOLS = {name: [row[name] for row in HOSTILE.values() if name in row] or [None] for name in CELLS}
LIES = [((0, 1), None), ((5, 5), None), ((9, 2), None), ((30_000, -30_000), None), ((0, 1), 0), ((0, 1), 7)]
LIARS = [form for form in PARQUET if form.startswith("pyarrow") and "without statistics" not in form]
TELLING = ["missing", "NaN", "infinite", "above", "below", "huge"]


def answers(factory, data):
    with engine(factory, [Table(data, SCHEMA)], KEY) as tested:
        return [tested.answer(plan) for plan in PLANS]


def alike(expected, found):
    for plan, one, two in zip(PLANS, expected, found, strict=True):
        same(one, two, 0, plan)


@pytest.fixture(scope="module")
def expected():
    """What the reference says of rows in a list, which no loader reads; each is asked once."""
    known = {}

    def of(base, kind=None):
        if (base, kind) not in known:
            known[base, kind] = answers(Reference, [*BASES[base], *(neighbours(kind) if kind else [])])
        return known[base, kind]

    return of


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_same_integers(form, tmp_path, expected):
    with Remembering() as tested:
        for base, rows in BASES.items():
            tested.register(Table(stored(form, rows, tmp_path), SCHEMA), KEY)
            alike(expected(base), [tested.answer(plan) for plan in PLANS])


def changes_no_other(form, base, kinds, folder, expected):
    """Of each row the cells are seen one by one; of all together the claim holds."""
    before = expected(base)
    with Remembering() as tested:
        for kind in kinds:
            data = stored(form, [*BASES[base], *neighbours(kind)], folder)
            tested.register(Table(data, SCHEMA), KEY)
            after = [tested.answer(plan) for plan in PLANS]
            alike(expected(base, kind), after)
            for plan, one, two in zip(PLANS, before, after, strict=True):
                stable(plan, one, two, 0)
            others = [i for i, (text,) in enumerate(after[0].keys) if not text.startswith("new")]
            assert [after[0].keys[i] for i in others] == list(before[0].keys)
            for one, two in zip(before[0].cells, after[0].cells, strict=True):
                assert one.tolist() == two[others].tolist()


@pytest.mark.parametrize("form", FORMS)
def test_one_more_person_changes_no_other(form, tmp_path, expected):
    changes_no_other(form, "with NaN", TELLING, tmp_path, expected)


@pytest.mark.slow
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("form", FORMS)
def test_one_more_person_of_any_cells_changes_no_other(form, base, tmp_path, expected):
    changes_no_other(form, base, HOSTILE, tmp_path, expected)


@pytest.mark.parametrize("form", LIARS)
def test_a_footer_that_lies_changes_nothing(form, tmp_path):
    """Ends within the bounds, beyond them, and the wrong way round; no cell missing, or many."""
    rows = [*BASES["with missing cells"], *neighbours("huge"), *neighbours("NaN"), *neighbours("below")]
    truth = answers(Reference, rows)
    with Remembering() as tested:
        for ends, nulls in LIES:
            path = stored(form, rows, tmp_path)
            honest = claims(path)
            lying(path, ends, nulls)
            assert claims(path) != honest
            tested.register(Table(path, SCHEMA), KEY)
            alike(truth, [tested.answer(plan) for plan in PLANS])


def test_random_files_mean_what_their_cells_mean(tmp_path):
    """Few kinds of cells in each column, so that one person often has the only one of a kind; then they leave."""
    for seed in range(50):
        r = random.Random(seed)
        cells = {name: [*r.sample(POOLS[name], min(2, len(POOLS[name]))), PLAIN[5][name]] for name in CELLS}
        rows = [row | {name: r.choice(cells[name]) for name in CELLS} for row in PLAIN[: r.choice([3, 6])]]
        some = r.choice(rows)["who"]
        with Remembering() as tested:
            for part in (rows, [row for row in rows if row["who"] != some]):
                tested.register(Table(stored(r.choice([*PARQUET]), part, tmp_path), SCHEMA), KEY)
                alike(answers(Reference, part), [tested.answer(plan) for plan in PLANS])


def test_in_postgres_too(server, expected):
    for base, rows in BASES.items():
        alike(expected(base), answers(lambda: Loaded(server), arrow(rows)))
    for kind in HOSTILE:
        alike(
            expected("with NaN", kind), answers(lambda: Loaded(server), arrow([*BASES["with NaN"], *neighbours(kind)]))
        )


class TestSpark:
    """In Spark, whose own reader of Parquet has statistics and filters of its own."""

    pytestmark = MARKS

    @pytest.mark.parametrize("form", quick(["pyarrow in row groups", "Polars with all"], most=1))
    def test_the_same_integers(self, form, session, tmp_path):
        from tacit.engines.spark.engine import Spark

        rows = [*BASES["with NaN"], *(row for kind in HOSTILE for row in neighbours(kind))]
        alike(answers(Reference, rows), answers(lambda: Spark(session), stored(form, rows, tmp_path)))

    @pytest.mark.slow
    def test_a_footer_that_lies(self, session, tmp_path):
        from tacit.engines.spark.engine import Spark

        rows = [*BASES["with missing cells"], *neighbours("huge"), *neighbours("NaN")]
        path = stored("pyarrow in row groups", rows, tmp_path)
        lying(path, (0, 1), 7)
        for data in (path, session.read.parquet(f"file://{path}")):  # the second is read in another's session
            alike(answers(Reference, rows), answers(lambda: Spark(session), data))
