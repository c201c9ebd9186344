"""Registering a data set: which files and databases the service may read, and how its curator is opened.

A path is resolved once, and must then lie under one of the configured roots; it is resolved again whenever the data set
is opened, and must lead to the same place.  So neither a traversal, nor a link, nor a folder that was replaced since,
leads out of the roots.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from ..core.errors import BadParameter, LedgerUnavailable
from ..ledger import Ledger
from ..ledger.stores.address import Address
from ..query.schema.data import TABLES, regular
from ..query.schema.databases import Database
from .config import Settings
from .store.database import StoreConflict
from .store.datasets import dataset_name
from .store.records import DataSet, TableSource
from .store.store import Store

if TYPE_CHECKING:
    from ..curator import Curator
    from ..query.python.table import Table

_SYSTEM = ("/proc", "/sys", "/dev")
_WITHIN = ("table", "schema", "user", "password")  # parameters that name no other database
_MAX_TABLES = 100
_MAX_PATH = 4096


def register(store: Store, settings: Settings, dataset: DataSet, *, by: str) -> DataSet:
    """Check a data set, open its ledger (with a budget: make it), and add it to the store."""
    safe = checked(dataset, settings)
    if store.dataset(safe.name) is not None:  # before a ledger is made
        raise StoreConflict(f"There is already a data set called {safe.name!r}. Remove it first.")
    tables = declared(safe, settings)
    if "://" not in safe.ledger and Path(safe.ledger).parent == settings.service.ledgers.resolve():
        Path(safe.ledger).parent.mkdir(mode=0o700, exist_ok=True)
    only_allowed = None if safe.budget is None or _is_ledger(safe.ledger) else False  # policies say who may buy
    with Ledger.open(safe.ledger, safe.budget, tables[0].schema.name, only_allowed) as ledger:
        safe = replace(safe, budget=ledger.budget)
    store.add_dataset(safe, by=by)
    return safe


def _is_ledger(place: str) -> bool:
    try:
        Ledger.open(place).close()
    except LedgerUnavailable:
        return False
    return True


def open_curator(dataset: DataSet, settings: Settings, **more: Any) -> Curator:
    """The curator of a data set, whose paths are checked again; `more` goes to `Curator`."""
    from ..curator import Curator
    from ..query.schema.public_table import PublicTable

    tables = tables_of(dataset, settings)
    public = [PublicTable(path, name) for name, path in dataset.public]
    options: dict[str, Any] = {"engine": dataset.engine, "time_grid": dataset.time_grid, "deadline": dataset.deadline}
    return Curator(*tables, ledger=dataset.ledger, public=public, **options, **more)


def tables_of(dataset: DataSet, settings: Settings) -> list[Table]:
    """The tables of a registered data set, whose paths must lead where they led when it was registered."""
    if checked(dataset, settings) != dataset:
        says = f"The files of the data set {dataset.name!r} are not where they were registered: a folder or a link on"
        raise BadParameter("dataset", dataset.name, "unchanged", says=f"{says} their way was changed. Add it anew.")
    return declared(dataset, settings)


def checked(dataset: DataSet, settings: Settings) -> DataSet:
    """The data set with its real paths, all of which the configuration admits; nothing is opened."""
    dataset_name(dataset.name)
    if not 0 < len(dataset.tables) <= _MAX_TABLES or len(dataset.public) > _MAX_TABLES:
        raise BadParameter("tables", len(dataset.tables), f"1 to {_MAX_TABLES} tables")
    tables = tuple(_table(table, settings) for table in dataset.tables)
    public = tuple((name, str(_file("public", path, TABLES, settings))) for name, path in dataset.public)
    return replace(dataset, tables=tables, public=public, ledger=_ledger(dataset, settings))


def declared(dataset: DataSet, settings: Settings) -> list[Table]:
    """The tables of a checked data set with their schemas; where a schema names the data, that is checked, too."""
    from ..query.python.table import Table

    tables = [Table(table.data, Path(table.schema), engine=dataset.engine) for table in dataset.tables]
    for table in tables:
        if isinstance(table.data, Path):
            _file("source", str(table.data), TABLES, settings)
        elif isinstance(table.data, Database):
            _database("source", table.data.url, settings)
    return tables


def _table(table: TableSource, settings: Settings) -> TableSource:
    schema = _file("schema", table.schema, (".toml",), settings)
    data = table.data
    if data is None:
        return TableSource(None, str(schema))
    if "://" in data:
        _database("data", Database.read(data).url, settings)
        return TableSource(data, str(schema))
    return TableSource(str(_file("data", data, TABLES, settings)), str(schema))


def _file(name: str, path: str, endings: tuple[str, ...], settings: Settings) -> Path:
    """The real path of a regular file under one of the roots."""
    if not 0 < len(path) <= _MAX_PATH:
        raise BadParameter(name, "a path of this length", f"a path of 1 to {_MAX_PATH} characters")
    if not _inside(Path(path), settings):  # before anything says whether the file exists
        raise _outside(name)
    return regular(name, path, endings)


def _inside(path: Path, settings: Settings, *more: Path) -> bool:
    """Whether a path, once all links are followed, lies under one of the roots and not in a view of the system."""
    try:
        real = path.resolve()
        roots = [root.resolve() for root in (*settings.service.roots, *more)]
    except (OSError, RuntimeError, ValueError):  # loops of links, or what no system can name
        return False
    return any(map(real.is_relative_to, roots)) and not any(map(real.is_relative_to, _SYSTEM))


def _outside(name: str) -> BadParameter:
    says = f"The {name} of a data set must lie under one of the configured roots, after all links are followed. Move it"
    return BadParameter(name, "a path elsewhere", "under service.roots", says=f"{says} there, or extend service.roots.")


def _database(name: str, url: str, settings: Settings) -> None:
    """Refuse databases that the configuration does not name: an owner must not make this machine call any host."""
    if _where(url) not in map(_where, settings.service.databases):
        says = f"The {name} is in a database that service.databases does not name. Add scheme://host/database there."
        raise BadParameter(name, "a database elsewhere", "one of service.databases", says=says)


def _where(url: str) -> tuple[object, ...]:
    """Which database a URL is about, whoever asks there and for whichever table."""
    parts = urlsplit(url)
    query = frozenset((name, value) for name, value in parse_qsl(parts.query) if name not in _WITHIN)
    return parts.scheme, parts.netloc.rpartition("@")[2], parts.path.strip("/"), query


def _ledger(dataset: DataSet, settings: Settings) -> str:
    """The place of the ledger: a database that is configured, or a file under the roots or among the ledgers."""
    place = dataset.ledger or str(settings.service.ledgers / f"{dataset.name}.ledger")
    if "://" in place:
        Address.read(place)
        _database("ledger", place, settings)
        return place
    path = Path(place)
    if len(place) > _MAX_PATH or any(ord(c) < 32 for c in place) or path.name in ("", ".", ".."):
        raise BadParameter("ledger", "a path of another form", f"a path of plain text, at most {_MAX_PATH} characters")
    real = Path(os.path.realpath(path.parent)) / path.name
    if path.is_symlink() or not _inside(real, settings, settings.service.ledgers):
        raise _outside("ledger")
    if os.path.lexists(real) and not real.is_file():
        raise BadParameter("ledger", "no regular file", "a regular file, or a place for one")
    return str(real)
