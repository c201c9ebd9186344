"""Random SQL text about hostile tables in every format: the attack of an analyst who can only type.

    fuzz(DuckDB, range(100))

For each seed there are two tables of the same units, in memory or in a file, and questions in SQL (`questions`).  A
text is understood, or refused before any data are read.  A question that is understood must have the integers of the
reference engine, on the table and on a neighbour of it; one unit must move no measure farther than the plan claims; and
a curator must draw and show an answer.  Any other exception counts as a leak, since data could cause it.

`python -m tacit.testing.fuzz --seconds 3600` runs for an hour from a random seed.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.accounting.budget import Budget
from ..core.errors import BadSchema, Refused
from ..curator import Curator
from ..engines.duckdb.engine import DuckDB
from ..engines.rows.reference import Reference
from ..query.plan.compiler import compiled
from ..query.plan.plan import QueryPlan
from ..query.python.table import Table
from ..query.schema.schema import Schema
from ..query.sql import parser
from ..query.values.cells import unit_text
from ..query.values.domain import ValueDomain
from .engines import Factory, engine, key_of, mixed, same, stable
from .hostile import DATES, MOMENTS, NUMBERS, REALS, TEXTS
from .mechanisms import Refuted
from .questions import Writer
from .typed import typed
from .worlds import World

QUESTIONS = 12  # that are understood, of one pair of neighbouring tables
MAX_TEXTS = 80  # that are tried until so many are understood
MAX_CELLS = 20_000  # of a plan
MAX_SECONDS = 2.0  # of processor time until a text is priced or refused
Write = Callable[[World, Any, Path], Any]


@dataclass
class FuzzCounts:
    """How many texts, questions, measures and purchases were tried, and the time of the slowest text."""

    texts: int = 0
    questions: int = 0
    measures: int = 0
    bought: int = 0
    slowest: float = 0.0


def parquet(world: World, table: Any, folder: Path) -> Path:
    """A Parquet file written by Arrow, with or without statistics, dictionaries and small groups of rows."""
    import pyarrow.parquet as pq

    path = folder / f"{world.r.getrandbits(64):x}.parquet"
    pq.write_table(
        table,
        path,
        row_group_size=world.any([1, 3, 1000]),
        use_dictionary=world.likely(0.5),
        write_statistics=world.likely(0.8),
        write_page_index=world.likely(0.3),
        data_page_version=world.any(["1.0", "2.0"]),
        compression=world.any(["none", "snappy", "zstd"]),
    )
    return path


def feather(world: World, table: Any, folder: Path) -> Path:
    """A Feather file, which is Arrow's own format."""
    import pyarrow.feather

    path = folder / f"{world.r.getrandbits(64):x}.feather"
    pyarrow.feather.write_feather(table, path, compression=world.any(["uncompressed", "zstd"]))
    return path


def csv(world: World, table: Any, folder: Path) -> Path:
    """A CSV file, whose cells are text."""
    import pyarrow.csv

    path = folder / f"{world.r.getrandbits(64):x}.csv"
    pyarrow.csv.write_csv(table, path)
    return path


FORMATS: dict[str, Write] = {"arrow": lambda _, table, __: table, "parquet": parquet, "feather": feather, "csv": csv}


def fuzz(factory: Factory, seeds: Iterable[int], *, asks: int = 4) -> FuzzCounts:
    """Try every seed, and each `asks`-th of them also through a curator."""
    counts = FuzzCounts()
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            _trial(factory, seed, counts, Path(folder), ask=seed % asks == 0)
    return counts


def _trial(factory: Factory, seed: int, counts: FuzzCounts, folder: Path, *, ask: bool) -> None:
    world = World(random.Random(seed))
    first = world.schema("t")
    schemas = [first] if first.unit is None else [first, world.schema("s", first.unit)]
    raw = [(schema, *_data(world, schema)) for schema in schemas]
    gone = world.any([None, *sorted({unit for schema, data, _ in raw for unit in _units(schema, data) if unit})])
    whole = [Table(write(world, data, folder), schema) for schema, data, write in raw]
    without = [Table(write(world, _without(schema, data, gone), folder), schema) for schema, data, write in raw]
    asked = _understood(seed, Writer(world, *schemas), {schema.name: schema for schema in schemas}, counts)
    key, answers = key_of(world), []
    for tables in (whole, without):
        with engine(Reference, tables, key) as reference, engine(factory, tables, key) as tested:
            answers.append([_answered(seed, text, plan, reference, tested) for text, plan in asked])
    for (text, plan), one, two in zip(asked, *answers, strict=True):
        try:
            counts.measures += stable(plan, one, two, seed)
        except Refuted as error:
            raise Refuted(f"{error}: {text}") from None
    if ask:
        counts.bought += _buy(seed, whole, [text for text, _ in asked], folder)


def _data(world: World, schema: Schema) -> tuple[Any, Write]:
    """Rows of any cells, or a table of Arrow, and the function that writes it."""
    if world.likely(0.3):
        return mixed(world, schema), FORMATS["arrow"]
    form = world.any(list(FORMATS))
    table = typed(world, schema, plain=form != "arrow")
    for name, column in schema.columns:
        if world.likely(0.6):
            place = table.column_names.index(name)
            table = table.set_column(place, name, _cells(world, column.type, column.domain, len(table)))
    return table, FORMATS[form]


def _cells(world: World, kind: str, domain: ValueDomain, n: int) -> Any:
    """Cells of the declared type of a column: within its bounds, just beyond them, and hostile."""
    import pyarrow as pa

    near = [float(end * domain.grid) + more for end in (domain.lower, domain.upper) for more in (-1.0, 0.0, 0.5, 1.0)]
    match kind:
        case "real":
            pool: list[Any] = [*(near if world.likely(0.7) else []), *world.r.sample(REALS, 4), None]
            typ = world.any([pa.float64(), pa.float32()])
            return pa.array([world.any(pool) for _ in range(n)], pa.float64()).cast(typ, safe=False)
        case "integer":
            pool = [*(int(x) for x in near if abs(x) < 2**62), *NUMBERS[:12], None]
            return pa.array([world.any(pool) for _ in range(n)], pa.int64())
        case "category":
            return pa.array([world.any([*domain.labels, "other", None]) for _ in range(n)], pa.string())
        case "boolean":
            return pa.array([world.any([True, False, None]) for _ in range(n)], pa.bool_())
        case "date":
            return pa.array([world.any([*DATES, None]) for _ in range(n)], pa.date32())
        case "timestamp":
            return pa.array([world.any([*MOMENTS, None]) for _ in range(n)], pa.timestamp("us"))
    return pa.array([world.any([*TEXTS, None]) for _ in range(n)], pa.string())


def _units(schema: Schema, data: Any) -> list[str | None]:
    """The unit of each row."""
    if schema.unit is None:
        return [str(place) for place in range(len(data))]
    cells = [row[schema.unit] for row in data] if isinstance(data, list) else data[schema.unit].to_pylist()
    return [unit_text(cell) for cell in cells]


def _without(schema: Schema, data: Any, gone: str | None) -> Any:
    """The table without the rows of one unit."""
    import pyarrow as pa

    others = [i for i, unit in enumerate(_units(schema, data)) if gone is None or unit != gone]
    return [data[i] for i in others] if isinstance(data, list) else data.take(pa.array(others, pa.int64()))


def _understood(
    seed: int, writer: Writer, schemas: dict[str, Schema], counts: FuzzCounts
) -> list[tuple[str, QueryPlan]]:
    """Questions that are understood, as text and as plans of few cells."""
    understood: list[tuple[str, QueryPlan]] = []
    for _ in range(MAX_TEXTS):
        text, start = writer.question(), time.process_time()
        counts.texts += 1
        try:
            plan = compiled(parser.parse(text, schemas).query, schemas).plan
            understood += [(text, plan)] if (plan.cells or 1) <= MAX_CELLS else []
        except Refused:
            continue
        except Exception as error:
            raise Refuted(f"seed {seed}: {type(error).__name__} where a refusal was expected: {text}") from error
        finally:
            counts.slowest = max(counts.slowest, time.process_time() - start)
        if counts.slowest > MAX_SECONDS:
            raise Refuted(f"seed {seed}: {counts.slowest:.1f} s to read {text}")
        if len(understood) == QUESTIONS:
            break
    counts.questions += len(understood)
    return understood


def _answered(seed: int, text: str, plan: QueryPlan, reference: Any, tested: Any) -> Any:
    expected = reference.answer(plan)
    try:
        answer = tested.answer(plan)
    except Exception as error:
        raise Refuted(f"seed {seed}: {type(error).__name__} before the noise: {text}") from error
    try:
        same(expected, answer, seed, plan)
    except Refuted as error:
        raise Refuted(f"{error}: {text}") from None
    return answer


def _buy(seed: int, tables: list[Table], texts: list[str], folder: Path) -> int:
    """Buy each answer and show it; returns how many were bought."""
    try:
        budget = Budget(epsilon=1000, delta="1e-6")
        curator = Curator(*tables, ledger=folder / "ledger", budget=budget, least_share=0)
    except BadSchema:  # a column whose type in the file is not what the schema says
        return 0
    bought = 0
    with curator:
        for text in texts:
            try:
                release = curator.ask(text, share="0.001")
                release.to_csv(), str(release)
                bought += 1
            except Refused:
                continue
            except Exception as error:
                raise Refuted(f"seed {seed}: {type(error).__name__} after the charge: {text}") from error
    return bought


def main(seconds: float = 60.0) -> None:
    """Fuzz DuckDB for so many seconds, and print how much was tried."""
    start, seed, total = time.monotonic(), random.SystemRandom().getrandbits(40), FuzzCounts()
    while time.monotonic() - start < seconds:
        counts = fuzz(DuckDB, [seed])
        total.texts, total.questions = total.texts + counts.texts, total.questions + counts.questions
        total.measures, total.slowest = total.measures + counts.measures, max(total.slowest, counts.slowest)
        seed += 1
    print(
        f"{total.texts} texts, of which {total.questions} were asked of neighbouring tables: {total.measures} measures"
        f" within their claims; the slowest text took {total.slowest:.2f} s"
    )


if __name__ == "__main__":
    import argparse

    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--seconds", type=float, default=60.0)
    main(arguments.parse_args().seconds)
