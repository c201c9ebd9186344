"""The store of the service."""

from __future__ import annotations

from ...core.errors import BadParameter
from ...ledger.names import analyst_name, skeleton
from .jobs import Jobs

_FIRST = "SELECT digest FROM repeats WHERE dataset = :dataset AND person = :person AND name = :name"
_NEW = "INSERT INTO repeats (dataset, person, name, digest) VALUES (:dataset, :person, :name, :digest)"
_MAX_KEY = 200  # characters


class Store(Jobs):
    """People, tokens, data sets, policies, approvals and jobs, in one durable place that several processes share."""

    def first_use(self, dataset: str, person: str, key: str, digest: str) -> str:
        """The digest of the first request that a person made under an idempotency key; it is this one if none was."""
        if not 0 < len(key) <= _MAX_KEY or not key.isascii() or not key.isprintable():
            raise BadParameter("key", "a text of another form", f"1 to {_MAX_KEY} printable ASCII characters")
        given = {"dataset": dataset, "person": skeleton(analyst_name(person)), "name": key, "digest": digest}
        with self.writing() as connection:
            first = connection.execute(_FIRST, given).fetchone()
            if first is not None:
                return str(first[0])
            connection.execute(_NEW, given)
            return digest
