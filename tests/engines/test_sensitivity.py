"""The main test of privacy: one unit never moves what is computed, before any noise, farther than the plan claims.

Random schemas, tables of hostile cells and plans go through the real engine, once with and once without a unit.  One
check is one measure of one plan on one pair of neighbouring tables: its whole vector of cells is held against its own
claim in four norms.  Both tables of a pair are registered, canonicalised and bounded by the engine anew.
"""

import random

import pyarrow as pa
import pytest
from pyarrow import parquet
from running_time import quick

from tacit.query.python.table import Table
from tacit.query.values.cells import unit_text
from tacit.testing.engines import key_of, mixed, stable
from tacit.testing.typed import typed
from tacit.testing.worlds import World

from ._remembering import Remembering

PLANS, MEASURES = 10, 36


def neighbours(world, data, schema, most):
    """The table without one of its units, for several of them."""
    if isinstance(data, list):
        texts = [str(i) if schema.unit is None else unit_text(row[schema.unit]) for i, row in enumerate(data)]
        units = sorted({text for text in texts if text is not None})
        for unit in world.r.sample(units, min(most, len(units))):
            yield [row for row, text in zip(data, texts, strict=True) if text != unit]
    else:
        cells = range(len(data)) if schema.unit is None else data[schema.unit].to_pylist()
        texts = [unit_text(cell) for cell in cells]
        units = sorted({text for text in texts if text is not None})
        for unit in world.r.sample(units, min(most, len(units))):
            yield data.take(pa.array([i for i, text in enumerate(texts) if text != unit], pa.int64()))


def checks(seed, folder, most=10):
    """How many measures on how many pairs were held against their claims; a quarter of tables is in Parquet files."""
    world = World(random.Random(seed))
    schema, key = world.schema(), key_of(world)
    data = typed(world, schema, plain=seed % 4 == 1) if seed % 2 else mixed(world, schema)
    plans = [world.plan(schema.scan(), MEASURES) for _ in range(PLANS)]
    groups, dictionary = world.any([3, 100]), world.likely(0.5)

    def stored(rows):
        if seed % 4 != 1:
            return rows
        parquet.write_table(rows, folder / "t.parquet", row_group_size=groups, use_dictionary=dictionary)
        return folder / "t.parquet"

    done = 0
    with Remembering() as engine:
        engine.register(Table(stored(data), schema), key)
        whole = [engine.answer(plan) for plan in plans]
        for other in neighbours(world, data, schema, most):
            engine.forget(schema.name)
            engine.register(Table(stored(other), schema), key)
            done += sum(
                stable(plan, answer, engine.answer(plan), seed) for plan, answer in zip(plans, whole, strict=True)
            )
    return done


@pytest.mark.parametrize("part", quick(range(8), most=2))
def test_one_unit_moves_nothing_farther_than_its_distance(part, tmp_path):
    """100,000 checks, in eight parts, of which two run by default."""
    done, seed = 0, part * 100_000
    while done < 12_500:
        done += checks(seed, tmp_path)
        seed += 1


@pytest.mark.slow
def test_one_unit_moves_nothing_farther_in_a_million(tmp_path):
    done, seed = 0, random.SystemRandom().getrandbits(48)
    while done < 1_000_000:
        done += checks(seed, tmp_path)
        seed += 1
