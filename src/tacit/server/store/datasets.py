"""Data sets, the policies on them, and releases that were published."""

from __future__ import annotations

import json
import re
from typing import Any

from ...core.errors import BadParameter
from ...core.parameters import rational
from ...ledger.encoding import canonical
from ...ledger.names import skeleton
from ...ledger.stores.dialect import Connection
from .. import policy as policies
from ..numbers import read_budget, write_budget, write_number
from ..person import Person
from ..policy import Policy, read_policy, write_policy
from .database import StoreConflict, now, written
from .people import People
from .records import DataSet, Publication, TableSource

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_PUBLISHED = "SELECT hash, dataset, publisher, published FROM releases WHERE hash = :hash"
_PUBLISH = """
INSERT INTO releases (hash, dataset, publisher, published) VALUES (:hash, :dataset, :publisher, :published)
"""


def dataset_name(name: str) -> str:
    """The checked name of a data set."""
    if not _NAME.fullmatch(name):
        raise BadParameter(
            "name", name, "1 to 63 small letters, digits and underscores, of which the first is a letter"
        )
    return name


class DataSets(People):
    """Which data sets there are, and who may buy what from them."""

    def datasets(self) -> list[DataSet]:
        """All data sets, by name."""
        return list(self._known(("datasets",), _datasets).values())

    def dataset(self, name: str) -> DataSet | None:
        """The data set of this name, or None."""
        return self._known(("datasets",), _datasets).get(name)

    def add_dataset(self, dataset: DataSet, *, by: str) -> None:
        """Add a data set, whose paths were checked (`server/registration.py`)."""
        row = {"name": dataset_name(dataset.name), "body": canonical(_write(dataset))}
        with self.writing() as connection:
            known = _datasets(connection)
            if dataset.name in known:
                raise StoreConflict(f"There is already a data set called {dataset.name!r}. Remove it first.")
            for other in known.values():
                if other.ledger == dataset.ledger:
                    raise StoreConflict(f"This ledger already belongs to the data set {other.name!r}. Choose another.")
            connection.execute("INSERT INTO datasets (name, body) VALUES (:name, :body)", row)
            self._log(connection, by, "added the data set", dataset.name)

    def remove_dataset(self, name: str, *, by: str) -> None:
        """Serve a data set no longer, and forget its policies; its files and its ledger stay where they are."""
        with self.writing() as connection:
            _existing(connection, name)
            connection.execute("DELETE FROM policies WHERE dataset = :name", {"name": name})
            connection.execute("DELETE FROM datasets WHERE name = :name", {"name": name})
            self._log(connection, by, "removed the data set", name)

    def policies(self, dataset: str) -> dict[str, Policy]:
        """The policies on a data set by their subjects: role:analyst, role:owner, person:NAME."""
        return dict(self._known(("policies", dataset), lambda connection: _policies(connection, dataset)))

    def set_policy(self, dataset: str, subject: str, policy: Policy, *, by: str) -> None:
        """Set the policy on a data set for a role or a person, instead of the one there was."""
        row = {"dataset": dataset, "subject": policies.subject(subject), "body": canonical(write_policy(policy))}
        with self.writing() as connection:
            _existing(connection, dataset)
            _drop_policy(connection, row)
            connection.execute("INSERT INTO policies (dataset, subject, body) VALUES (:dataset, :subject, :body)", row)
            self._log(connection, by, "set a policy", f"{row['subject']} on {dataset}")

    def remove_policy(self, dataset: str, subject: str, *, by: str) -> None:
        """Remove the policy of a role or a person; what they bought stays bought."""
        row = {"dataset": dataset, "subject": policies.subject(subject)}
        with self.writing() as connection:
            if row["subject"] not in _policies(connection, dataset):
                raise StoreConflict(f"There is no policy for {subject} on {dataset!r}. `tacit policy show` shows all.")
            _drop_policy(connection, row)
            self._log(connection, by, "removed a policy", f"{row['subject']} on {dataset}")

    def effective(self, dataset: str, person: Person) -> Policy | None:
        """The policy of a person on a data set; None if the data set does not exist for them."""
        known = ("effective", dataset, person.role, skeleton(person.name))
        return self._known(known, lambda connection: _effective(connection, dataset, person))

    def publish(self, hash: str, dataset: str, *, by: str) -> Publication:  # noqa: A002
        """Let anybody read a release, for good."""
        with self.writing() as connection:
            row = connection.execute(_PUBLISHED, {"hash": hash}).fetchone()
            if row is None:
                row = (hash, dataset, by, written(now()))
                connection.execute(_PUBLISH, dict(zip(("hash", "dataset", "publisher", "published"), row, strict=True)))
                self._log(connection, by, "published the release", f"{hash} of {dataset}")
        return Publication(*row)

    def published(self, hash: str) -> Publication | None:  # noqa: A002
        """The publication of a release, or None if it was not published."""
        with self.reading() as connection:
            row = connection.execute(_PUBLISHED, {"hash": hash}).fetchone()
        return None if row is None else Publication(*row)


def _datasets(connection: Connection) -> dict[str, DataSet]:
    rows = connection.execute("SELECT name, body FROM datasets ORDER BY name")
    return {name: _read(name, json.loads(body)) for name, body in rows}


def _existing(connection: Connection, name: str) -> None:
    if connection.execute("SELECT name FROM datasets WHERE name = :name", {"name": name}).fetchone() is None:
        raise StoreConflict(f"There is no data set called {name!r}. `tacit dataset list` shows all of them.")


def _policies(connection: Connection, dataset: str) -> dict[str, Policy]:
    rows = connection.execute(
        "SELECT subject, body FROM policies WHERE dataset = :dataset ORDER BY subject", {"dataset": dataset}
    )
    return {subject: read_policy(json.loads(body)) for subject, body in rows}


def _drop_policy(connection: Connection, row: dict[str, str]) -> None:
    given = {name: row[name] for name in ("dataset", "subject")}
    connection.execute("DELETE FROM policies WHERE dataset = :dataset AND subject = :subject", given)


def _effective(connection: Connection, dataset: str, person: Person) -> Policy | None:
    if dataset not in _datasets(connection):
        return None
    return policies.effective(_policies(connection, dataset), person)


def _write(dataset: DataSet) -> dict[str, Any]:
    budget, time_grid, deadline = dataset.budget, dataset.time_grid, dataset.deadline
    return {
        "tables": [{"data": table.data, "schema": table.schema} for table in dataset.tables],
        "ledger": dataset.ledger,
        "budget": None if budget is None else write_budget(budget),
        "public": dict(dataset.public),
        "engine": dataset.engine,
        "time_grid": None if time_grid is None else write_number(time_grid),
        "deadline": None if deadline is None else write_number(deadline),
    }


def _read(name: str, facts: dict[str, Any]) -> DataSet:
    tables = tuple(TableSource(table["data"], table["schema"]) for table in facts["tables"])
    budget = None if facts["budget"] is None else read_budget(facts["budget"])
    seconds = {key: None if (x := facts[key]) is None else rational(key, x) for key in ("time_grid", "deadline")}
    public = tuple(sorted(facts["public"].items()))
    return DataSet(name, tables, facts["ledger"], budget, public, facts["engine"], **seconds)
