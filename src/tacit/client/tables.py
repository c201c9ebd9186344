"""Tables behind a service: private ones are known by their schemas, public ones are fetched when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ..query.python.table import DeclaredTable
from ..query.schema.public_table import PublicTable
from ..query.schema.schema import Schema


@dataclass(frozen=True, eq=False, repr=False)
class RemoteTable(DeclaredTable):
    """A private table that a service holds: questions are made of it, and its data are elsewhere."""

    schema: Schema

    def __repr__(self) -> str:
        return f"RemoteTable({self.schema.name!r})"


class RemotePublicTables(Mapping[str, PublicTable]):
    """Public tables by their names, each of which is fetched once."""

    def __init__(self, names: list[str], fetch: Callable[[str], bytes]) -> None:
        self._names, self._fetch, self._known = names, fetch, dict[str, PublicTable]()

    def __getitem__(self, name: str) -> PublicTable:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._known:
            import pyarrow as pa

            with pa.ipc.open_stream(self._fetch(name)) as stream:
                self._known[name] = PublicTable(stream.read_all(), name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
