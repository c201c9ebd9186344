"""Theorems as functions, by the modules that have them: what `tacit theory` lists beside mechanisms and methods."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from rich.markup import escape
from rich.table import Table

PACKAGES = ("composition", "theory")
OTHERS = (
    "laws",
    "losses",
    "holdout.transfer",
    "holdout.monitor",
    "workloads.textbook",
    "workloads.sample_complexity",
    "workloads.methods.weights.small_db",
    "workloads.models.multiplicative_weights",
    "workloads.methods.weights.pmw",
    "workloads.methods.weights.pmw_plans",
    "testing.wrong_sparse",
    "audit.attacks.reconstruction",
)
PICTURES = "theory.plots"


def names() -> list[str]:
    """Of all these modules."""
    own = [f"{p}.{m.name}" for p in PACKAGES for m in iter_modules(import_module(f"tacit.{p}").__path__)]
    return [*(name for name in own if "._" not in name and name != PICTURES), *OTHERS]


def module(name: str) -> ModuleType | None:
    """That of a name in the list."""
    return import_module(f"tacit.{name}") if name in names() else None


def listed() -> Table:
    """Each module, and what it is about."""
    table = Table("theorems", "what they are about", title="tacit theory THEOREMS")
    for name in names():
        table.add_row(name, _first(import_module(f"tacit.{name}")))
    return table


def functions(of: ModuleType) -> Table:
    """The functions of a module, and its classes, each with what it says of itself."""
    table = Table("in Python", "what it gives", title=f"from {of.__name__} import ...")
    for name, thing in _own(of):
        table.add_row(escape(name), _first(thing))
    return table


def _first(thing: object) -> str:
    """The first paragraph of what it says of itself."""
    first, *_ = (inspect.getdoc(thing) or "").split("\n\n")
    return escape(" ".join(first.split()))


def _own(of: ModuleType) -> Iterator[tuple[str, object]]:
    for name, thing in vars(of).items():
        called = inspect.isfunction(thing) or inspect.isclass(thing)
        if called and thing.__module__ == of.__name__ and not name.startswith("_"):
            given = f"({', '.join(inspect.signature(thing).parameters)})" if inspect.isfunction(thing) else ""
            yield f"{name}{given}", thing
