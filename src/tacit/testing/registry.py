"""Completeness: nothing of the package escapes its suite.

A suite runs on what a list names.  These functions look for what the lists should name, in the code itself, and return
what is missing; `gaps` is empty where every mechanism, method, engine, ledger store, attack and check is listed.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from ..audit import attacks
from ..core.mechanism import Mechanism
from ..engines.base import Engine
from ..engines.rows.reference import Reference
from ..ledger.stores.dialect import LedgerDialect
from ..ledger.stores.store import DIALECTS
from ..mechanisms import ALL as MECHANISMS
from ..query.schema.databases import ENGINES
from ..workloads import METHODS, Method
from . import engines, ledger_sessions, ledgers, workloads
from . import mechanisms as mechanism_suite
from .mechanisms import claims, inputs
from .wrong import engines as wrong_engines
from .wrong import ledgers as wrong_ledgers
from .wrong import mechanisms as wrong_mechanisms
from .wrong import methods as wrong_methods

LISTS: Mapping[ModuleType, Collection[Any]] = {
    claims: mechanism_suite.CHECKS,
    inputs: mechanism_suite.CHECKS,
    workloads: workloads.CHECKS,
    engines: engines.CHECKS,
    ledgers: ledgers.CHECKS,
    ledger_sessions: ledgers.CHECKS,
}


def modules(package: str) -> Iterator[ModuleType]:
    """Every module of a package, imported."""
    root = import_module(package)
    yield root
    for found in pkgutil.walk_packages(root.__path__, f"{package}."):
        yield import_module(found.name)


def concrete(package: str, base: type) -> set[type]:
    """Every class that a package defines, that has this base, and of which there can be instances."""
    kinds = {kind for module in modules(package) for kind in vars(module).values() if isinstance(kind, type)}
    own = {kind for kind in kinds if issubclass(kind, base) and kind.__module__.startswith(package)}
    return {kind for kind in own if not inspect.isabstract(kind) and not kind.__name__.startswith("_")}


def stores() -> set[type]:
    """Every class of the ledger that has all that a `LedgerDialect` of a store must have."""
    needed = {name for name in vars(LedgerDialect) if not name.startswith("_")} | set(LedgerDialect.__annotations__)
    kinds = {kind for module in modules("tacit.ledger") for kind in vars(module).values() if isinstance(kind, type)}
    return {kind for kind in kinds - {LedgerDialect} if needed <= {*dir(kind), *getattr(kind, "__annotations__", ())}}


def unlisted_checks(module: ModuleType, listed: Collection[Any]) -> set[str]:
    """Functions of a suite that take what its checks take, and that its list leaves out."""
    shapes = {_parameters(check) for check in listed}
    functions = {f for f in vars(module).values() if inspect.isfunction(f) and f.__module__ == module.__name__}
    public = {f for f in functions if not f.__name__.startswith("_") and f.__name__ not in ("conform", "fit")}
    return {f.__name__ for f in public if _parameters(f) in shapes and f not in listed}


def _parameters(function: Any) -> tuple[str, ...]:
    return tuple(str(p.annotation) for p in inspect.signature(function).parameters.values())


def gaps() -> dict[str, set[str]]:
    """What no suite runs on, by kind; empty if nothing escapes."""
    kinds = concrete("tacit.mechanisms", Mechanism)
    readers = {import_module(f"tacit.engines.{name}.engine").ENGINE for name in ENGINES}
    defined = {value for module in modules("tacit.audit.attacks") for value in vars(module).values()
               if isinstance(value, attacks.Attack)}  # fmt: skip
    by_kind = {
        "mechanisms": {kind.__name__ for kind in kinds ^ set(MECHANISMS)},
        "mechanisms without examples": {kind.__name__ for kind in MECHANISMS if not list(kind.examples())},
        "methods": {kind.__name__ for kind in concrete("tacit.workloads", Method) ^ {type(m) for m in METHODS}},
        "engines": {kind.__name__ for kind in concrete("tacit.engines", Engine) ^ {*readers, Reference}},
        "stores": {kind.__name__ for kind in stores() ^ {*DIALECTS.values()}},
        "attacks": {attack.name for attack in defined ^ set(attacks.ALL)},
        "checks": {name for module, listed in LISTS.items() for name in unlisted_checks(module, listed)},
        "checks of mechanisms that refute nothing": {
            check.__name__ for check in set(mechanism_suite.CHECKS) - {kind.refuted_by for kind in wrong_mechanisms.ALL}
        },
        "checks of methods that refute nothing": {
            check.__name__ for check in set(workloads.CHECKS) - {kind.refuted_by for kind in wrong_methods.ALL}
        },
        "checks of engines that refute nothing": {
            check.__name__ for check in set(engines.CHECKS) - {kind.refuted_by for kind in wrong_engines.ALL}
        },
        "checks of ledgers that refute nothing": {
            check.__name__ for check in set(ledgers.CHECKS) - {kind.refuted_by for kind in wrong_ledgers.ALL}
        },
    }
    return {kind: missing for kind, missing in by_kind.items() if missing}
