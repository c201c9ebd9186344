"""Stored names: every type that can reach a ledger has one, a change to any is seen, and a wrong declaration fails.

`golden/stored_types.json` lists all names, versions and fields.  What is in it is in people's ledgers, so nothing of it
changes: a field that is added is optional, and any other change is a new version with an upgrade.  To add a type, run
this file as a program.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import tacit
from tacit import storage
from tacit.core.accounting.loss import Atom
from tacit.core.distance import Neighbours
from tacit.core.mechanism import Mechanism
from tacit.holdout.rules.rule import Rule
from tacit.query.relation.relation import Relation
from tacit.query.select.outputs import Output
from tacit.query.values.nodes import Expression
from tacit.storage import registry, stored
from tacit.workloads import Method, Workload
from tacit.workloads.models.model import Model

GOLDEN = Path(__file__).parents[1] / "golden" / "stored_types.json"
ROOTS = (Atom, Expression, Mechanism, Method, Model, Neighbours, Output, Relation, Rule, Workload)
# Mechanisms that nothing bought through a curator is drawn from, and a model that is made when a release is read.
NEVER = {
    "AboveThreshold", "Exponential", "GaussianSparse", "NoisyMax", "NoisyMaxWithGap", "NumericSparse", "PermuteAndFlip",
    "Points", "PostedPrice", "PrivateMultiplicativeWeights", "RestartedSparse", "Sparse", "UnaryEncoding",
}  # fmt: skip


def package() -> None:
    for module in pkgutil.walk_packages(tacit.__path__, "tacit."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def finer(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from finer(each)


def listed() -> dict[str, Any]:
    package()
    return {
        kind.name: {"version": kind.version, "fields": list(kind.attributes), "optional": sorted(kind.optional)}
        for kind in storage.kinds()
        if kind.type.__module__.partition(".")[0] in ("tacit", "builtins", "datetime", "numpy", "scipy")
    }


def test_nothing_of_what_is_stored_has_changed() -> None:
    assert listed() == json.loads(GOLDEN.read_text())


def test_every_class_that_can_reach_a_ledger_is_stored() -> None:
    package()
    kinds = {kind for root in ROOTS for kind in finer(root) if not inspect.isabstract(kind)}
    ours = {kind for kind in kinds if kind.__module__.startswith("tacit.") and not kind.__name__.startswith("_")}
    ours = {kind for kind in ours if not kind.__module__.startswith(("tacit.testing", "tacit.audit"))}
    assert {kind.__name__ for kind in ours if kind not in registry.BY_TYPE} == NEVER


@pytest.mark.parametrize(
    ("module", "needed"),
    [
        ("tacit.ledger", (Atom, Neighbours)),
        ("tacit.release", (Atom, Neighbours, Expression, Output, Relation)),
        ("tacit.curator.workloads", (Atom, Neighbours, Expression, Output, Relation, Method, Model, Workload)),
        ("tacit.holdout", (Rule,)),
    ],
)
def test_who_reads_values_has_imported_their_types(module: str, needed: tuple[type, ...]) -> None:
    """Else a type that nobody imported yet would be taken for one of a newer version."""
    package()
    names = sorted(kind.name for kind in storage.kinds() if issubclass(kind.type, needed))
    known = f"import {module}; from tacit.storage import registry; print(sorted({names!r} - registry.BY_NAME.keys()))"
    known = known.replace(f"{names!r}", f"set({names!r})")
    done = subprocess.run([sys.executable, "-c", known], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def apart() -> Iterator[None]:
    """What is registered in a test is forgotten after it."""
    before = [(known, dict(known)) for known in (registry.BY_TYPE, registry.BY_NAME)]
    yield
    for known, then in before:
        known.clear()
        known.update(then)


@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


@pytest.mark.parametrize(
    ("fields", "terms", "said"),
    [
        (("x", "z"), {}, "no attribute 'z'. If it was renamed, map the stored name to the new one"),
        (("y",), {}, "field 'x' has no default: add the field to `fields`, or to `omit`"),
        ({"x": "_x"}, {}, "store public attributes alone"),
        (("is", "x"), {}, "no field is called 'is' or 'v'"),
        (("x",), {"optional": {"z": 1}}, "every field in `optional` must be in `fields`"),
        (("x",), {"version": 2}, "needs an upgrade from every version before it"),
        (("x", "__doc__"), {}, "store public attributes alone"),
    ],
)
def test_a_wrong_declaration_fails_at_import(fields: Any, terms: Any, said: str) -> None:
    with pytest.raises(TypeError) as raised:
        stored("Point", fields, **terms)(Point)
    assert said in str(raised.value) and "@stored('Point') on Point" in str(raised.value)


def test_a_name_and_a_type_are_stored_once() -> None:
    with pytest.raises(TypeError, match="stored already"):
        stored("Laplace", ("x",))(Point)
    assert registry.BY_NAME["Laplace"].type is tacit.Laplace and Point not in registry.BY_TYPE


class Circle:
    """Not a dataclass."""

    def __init__(self, radius: int, colour: str = "red") -> None:
        self.size, self.colour = radius, colour

    @property
    def area(self) -> int:
        return 3 * self.size**2


class Pair(NamedTuple):
    first: int
    second: int = 2


@pytest.mark.usefixtures("apart")
def test_types_that_are_no_dataclasses() -> None:
    stored("Circle", {"radius": "size"})(Circle)
    stored("Pair", ("first", "second"), optional={"second": 2})(Pair)
    assert storage.canonical(Circle(3)) == '{"is":"Circle","radius":3}'
    assert storage.loads('{"is":"Circle","radius":3}').area == 27
    assert storage.canonical((Pair(1), Pair(1, 3))) == '[{"first":1,"is":"Pair"},{"first":1,"is":"Pair","second":3}]'
    assert storage.loads('[{"first":1,"is":"Pair"},{"first":1,"is":"Pair","second":3}]') == (Pair(1), Pair(1, 3))
    with pytest.raises(TypeError, match="no attribute 'radius'"):
        stored("Other", ("radius",))(type("Other", (Circle,), {}))
    with pytest.raises(TypeError, match="does not take area; give `make`"):
        stored("Other", ("area",))(type("Other", (Circle,), {}))


@pytest.mark.usefixtures("apart")
def test_a_field_that_was_added_changes_no_text_until_it_says_something() -> None:
    stored("Point", ("x",))(Point)
    assert storage.canonical(Point(3)) == '{"is":"Point","x":3}' and storage.loads('{"is":"Point","x":3}') == Point(3)
    with pytest.raises(storage.Unwritable, match="'y' that is not stored and differs from its default"):
        storage.canonical(Point(3, 4))
    with pytest.raises(storage.Unwritable):
        storage.write(Point(3, 4))


@pytest.mark.usefixtures("apart")
def test_an_attribute_that_is_renamed_keeps_its_stored_name() -> None:
    @stored("Point", {"x": "across", "y": "up"}, optional={"y": 0})
    @dataclass(frozen=True)
    class Moved:
        across: int
        up: int = 0

    assert storage.canonical(Moved(3)) == '{"is":"Point","x":3}'
    assert storage.loads('{"is":"Point","x":3,"y":4}') == Moved(3, 4)


@pytest.mark.usefixtures("apart")
def test_older_versions_are_upgraded_step_by_step() -> None:
    def second(members: dict[str, Any]) -> dict[str, Any]:
        return {"x": members["x"], "y": members.pop("height", 0)}

    def third(members: dict[str, Any]) -> dict[str, Any]:
        return {"x": [members["x"], members["y"]]}

    @stored("Point", ("x",), version=3, upgrades={1: second, 2: third})
    @dataclass(frozen=True)
    class Later:
        x: tuple[int, int]

    assert storage.canonical(Later((3, 4))) == '{"is":"Point","v":3,"x":[3,4]}'
    assert storage.write(Later((3, 4))) == {"is": "Point", "v": 3, "x": [3, 4]}
    for text in (
        '{"is":"Point","v":3,"x":[3,4]}',
        '{"is":"Point","v":2,"x":3,"y":4}',
        '{"is":"Point","x":3,"height":4}',
        '{"is":"Point","v":1,"x":3,"height":4}',
    ):
        assert storage.loads(text) == Later((3, 4))
    with pytest.raises(storage.WrittenLater, match="'Point' is of version 4, and this one knows 3"):
        storage.loads('{"is":"Point","v":4,"x":[3,4]}')
    for version in ("0", "-1", "true", '"2"', "1.0"):
        with pytest.raises(storage.Unreadable):
            storage.loads(f'{{"is":"Point","v":{version},"x":[3,4]}}')


@pytest.mark.usefixtures("apart")
def test_without_a_constructor_defaults_are_set_too() -> None:
    @stored("Point", ("x",), make=storage.bare)
    @dataclass(frozen=True, init=False)
    class Bare:
        x: int
        y: list[int] = field(default_factory=list)

        def __init__(self, everything: int) -> None:
            object.__setattr__(self, "x", everything)
            object.__setattr__(self, "y", [])

    assert storage.loads(storage.canonical(Bare(3))) == Bare(3)


if __name__ == "__main__":
    known = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    GOLDEN.write_text(json.dumps(listed() | known, indent=1, sort_keys=True) + "\n")
