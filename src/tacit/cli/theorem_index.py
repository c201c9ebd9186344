"""The modules whose functions are theorems, which `tacit theory` lists beside mechanisms and methods."""

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
    "holdout.posterior",
    "holdout.histories",
    "holdout.monitor",
    "workloads.textbook",
    "workloads.sample_complexity",
    "workloads.methods.weights.small_db",
    "workloads.models.multiplicative_weights",
    "workloads.methods.weights.pmw",
    "workloads.methods.weights.pmw_plans",
    "testing.wrong.sparse_vector",
    "audit.attacks.reconstruction",
)
PLOTS = "theory.plots"


def module_names() -> list[str]:
    """The names of all modules of theorems, without the leading `tacit.`."""
    own = [f"{p}.{m.name}" for p in PACKAGES for m in iter_modules(import_module(f"tacit.{p}").__path__)]
    return [*(name for name in own if "._" not in name and name != PLOTS), *OTHERS]


def module_named(name: str) -> ModuleType | None:
    """The module of theorems of this name, or None if it is not in the list."""
    return import_module(f"tacit.{name}") if name in module_names() else None


def module_table() -> Table:
    """Each module of theorems, and what it is about."""
    table = Table("theorems", "what they are about", title="tacit theory THEOREMS")
    for name in module_names():
        table.add_row(name, _first_paragraph(import_module(f"tacit.{name}")))
    return table


def function_table(module: ModuleType) -> Table:
    """The functions and classes of a module, each with the first paragraph of its docstring."""
    table = Table("in Python", "what it gives", title=f"from {module.__name__} import ...")
    for name, thing in _own(module):
        table.add_row(escape(name), _first_paragraph(thing))
    return table


def _first_paragraph(thing: object) -> str:
    """The first paragraph of a docstring, as one line."""
    first, *_ = (inspect.getdoc(thing) or "").split("\n\n")
    return escape(" ".join(first.split()))


def _own(module: ModuleType) -> Iterator[tuple[str, object]]:
    """The public functions, with their parameters, and classes that a module defines."""
    for name, thing in vars(module).items():
        callable_ = inspect.isfunction(thing) or inspect.isclass(thing)
        if callable_ and thing.__module__ == module.__name__ and not name.startswith("_"):
            parameters = f"({', '.join(inspect.signature(thing).parameters)})" if inspect.isfunction(thing) else ""
            yield f"{name}{parameters}", thing
