"""The databases of the shadow: one for each data set, with its tables, empty; and connections of a role without rights.

The role may connect and see; it owns nothing, can write nothing, makes no temporary tables, and is read-only with a
time-out.  Each statement has a transaction of its own, which is rolled back.
"""

from __future__ import annotations

import select
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ....core.errors import EngineUnavailable
from ....core.progress import report
from ....core.safe_text import visible
from ....storage import digest
from .. import codec
from ..codec import Field
from ..errors import SqlError
from ..results import Bound
from .allowed import HARMFUL
from .cluster import Cluster

if TYPE_CHECKING:
    from psycopg.pq.abc import PGconn, PGresult

ROLE = "analyst"
_SECONDS = 5  # that a statement may take
_START_SECONDS = 30.0
_IDLE = 8  # connections that are kept
_MOST_BYTES, _MOST_ROWS = 1 << 23, 200_000  # of one result
_LOOK = 50  # milliseconds between two looks at whether a statement is cancelled
_RESERVED = ("postgres", "template0", "template1")
T = TypeVar("T")


@dataclass(frozen=True)
class EmptyTable:
    """A table of the catalogue: names and types of its columns, each with what is public about it."""

    schema: str
    name: str
    columns: tuple[tuple[str, str, str], ...]
    comment: str = ""


@dataclass(frozen=True)
class Found:
    """A result of the shadow, in the formats that were asked for."""

    fields: tuple[Field, ...]
    rows: list[tuple[bytes | None, ...]]
    tag: str


class Shadow:
    """The databases of a cluster as one process reaches them.  May be called from many threads."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._lock, self._idle = threading.Lock(), list[tuple[str, str, Any]]()
        self._made: dict[str, str] = {}  # the tables of each database, as a digest

    def describe(
        self, database: str, tables: Sequence[EmptyTable], sql: str, types: Sequence[int], settings: Mapping[str, str]
    ) -> tuple[tuple[int, ...], tuple[Field, ...]]:
        """The types of the parameters of a statement, and the columns of its result."""

        def described(connection: PGconn) -> tuple[tuple[int, ...], tuple[Field, ...]]:
            _sound(connection.prepare(b"", sql.encode(), types or None))
            found = _sound(connection.describe_prepared(b""))
            return tuple(found.param_type(i) for i in range(found.nparams)), _fields(found)

        return self._with(database, tables, settings, described)

    def run(
        self,
        database: str,
        tables: Sequence[EmptyTable],
        sql: str,
        settings: Mapping[str, str],
        bound: Bound,
    ) -> Found:
        """The result of a checked statement."""
        values, results = bound.values, bound.results
        forms = codec.spread(bound.formats, len(values))
        given = (values, bound.types or None, forms) if values else (None, None, None)

        def ran(connection: PGconn) -> Found:
            wanted = {*results} or {0}
            found = {form: _result(connection, sql, given, form) for form in sorted(wanted)}
            first = found[min(wanted)]
            if len(wanted) == 1:
                return first
            forms = codec.spread(
                results, len(first.fields)
            )  # read in text and in binary: of each column, what it wants
            rows = [
                tuple((binary if form else text)[i] for i, form in enumerate(forms))
                for text, binary in zip(found[0].rows, found[1].rows, strict=True)
            ]
            return Found(first.fields, rows, first.tag)

        return self._with(database, tables, settings, ran)

    def _with(
        self, database: str, tables: Sequence[EmptyTable], settings: Mapping[str, str], do: Callable[[PGconn], T]
    ) -> T:
        """What `do` does in a transaction that writes nothing; it is tried again if the connection was lost."""
        import psycopg
        from psycopg.pq import ConnStatus

        version = self._ready(database, tables)
        kept = ", ".join(f"set_config({_text(name)}, {_text(to)}, true)" for name, to in settings.items())
        begin = f"BEGIN READ ONLY; SELECT {kept}"
        for last in (False, True):
            connection = self._taken(database, version)
            try:
                _sound(connection.exec_(begin.encode()))
                done = do(connection)
            except (SqlError, psycopg.Error) as error:
                if connection.status == ConnStatus.OK and isinstance(error, SqlError):
                    self._give_back(database, version, connection)
                    raise
                connection.finish()
                if last:
                    raise EngineUnavailable("the catalogue", "the connection was lost") from None
            except BaseException:  # it was cancelled
                connection.get_cancel().cancel()
                connection.finish()
                raise
            else:
                self._give_back(database, version, connection)
                return done
        raise AssertionError

    def _taken(self, database: str, version: str) -> PGconn:
        with self._lock:
            for i, (name, of, connection) in enumerate(self._idle):
                if (name, of) == (database, version):
                    del self._idle[i]
                    return connection  # type: ignore[no-any-return]
        return self._connected(database, ROLE)

    def _give_back(self, database: str, version: str, connection: PGconn) -> None:
        connection.exec_(b"ROLLBACK")
        with self._lock:
            self._idle.append((database, version, connection))
            while len(self._idle) > _IDLE:
                self._idle.pop(0)[2].finish()

    def _connected(self, database: str, role: str) -> PGconn:
        from psycopg.conninfo import make_conninfo
        from psycopg.pq import ConnStatus, PGconn

        facts = {"dbname": database, "user": role, "password": self.cluster.password, "connect_timeout": 5}
        address = make_conninfo(host=str(self.cluster.folder), **facts).encode()  # type: ignore[arg-type]
        until = time.monotonic() + _START_SECONDS
        while True:
            connection = PGconn.connect(address)
            if connection.status == ConnStatus.OK:
                return connection
            connection.finish()
            if time.monotonic() > until:
                raise EngineUnavailable("the catalogue", "PostgreSQL does not start")
            time.sleep(0.05)

    def _ready(self, database: str, tables: Sequence[EmptyTable]) -> str:
        """Have a database with these tables; the digest of them."""
        version = digest(tuple((t.schema, t.name, t.comment, *t.columns) for t in tables))
        if self._made.get(database) == version:
            return version
        if database in _RESERVED:
            raise SqlError(
                "0A000", "A data set of this name has no catalogue.", "Ask its owner to give it another name."
            )
        with self._administering("template1") as run:
            run("SELECT pg_advisory_lock(1)")
            run("CREATE TABLE IF NOT EXISTS made (name text PRIMARY KEY, version text)")
            if not run(f"SELECT FROM pg_roles WHERE rolname = '{ROLE}'").ntuples:
                run(f"CREATE ROLE {ROLE} LOGIN NOINHERIT PASSWORD '{self.cluster.password}'")
                run(f"ALTER ROLE {ROLE} SET default_transaction_read_only = on")
                run(f"ALTER ROLE {ROLE} SET statement_timeout = '{_SECONDS}s'")
            if not run(f"SELECT FROM made WHERE (name, version) = ({_text(database)}, '{version}')").ntuples:
                run(f"DROP DATABASE IF EXISTS {_name(database)} WITH (FORCE)")
                run(f"CREATE DATABASE {_name(database)} TEMPLATE template0")
                run(f"REVOKE ALL ON DATABASE {_name(database)} FROM PUBLIC")
                run(f"GRANT CONNECT ON DATABASE {_name(database)} TO {ROLE}")
                self._fill(database, tables)
                run(f"DELETE FROM made WHERE name = {_text(database)}")
                run(f"INSERT INTO made VALUES ({_text(database)}, '{version}')")
        self._made[database] = version
        return version

    def _fill(self, database: str, tables: Sequence[EmptyTable]) -> None:
        with self._administering(database) as run:
            run("REVOKE ALL ON SCHEMA public FROM PUBLIC")
            run(
                "DO $$ DECLARE f regprocedure; BEGIN FOR f IN SELECT oid FROM pg_proc WHERE pronamespace ="
                f" 'pg_catalog'::regnamespace AND proname ~ '^({HARMFUL})$' LOOP"
                " EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f); END LOOP; END $$"
            )
            for schema in sorted({"public", *(table.schema for table in tables)}):
                run(f"CREATE SCHEMA IF NOT EXISTS {_name(schema)}")
                run(f"GRANT USAGE ON SCHEMA {_name(schema)} TO {ROLE}")
            for table in tables:
                full = f"{_name(table.schema)}.{_name(table.name)}"
                run(f"CREATE TABLE {full} ({', '.join(f'{_name(name)} {kind}' for name, kind, _ in table.columns)})")
                run(f"GRANT SELECT ON {full} TO {ROLE}")
                if table.comment:
                    run(f"COMMENT ON TABLE {full} IS {_text(table.comment)}")
                for name, _, comment in table.columns:
                    if comment:
                        run(f"COMMENT ON COLUMN {full}.{_name(name)} IS {_text(comment)}")

    @contextmanager
    def _administering(self, database: str) -> Iterator[Callable[[str], PGresult]]:
        connection = self._connected(database, "postgres")
        try:
            yield lambda sql: _sound(connection.exec_(sql.encode()))
        finally:
            connection.finish()

    def close(self) -> None:
        """Let go of the connections."""
        with self._lock:
            while self._idle:
                self._idle.pop()[2].finish()


def _result(connection: PGconn, sql: str, given: Any, form: int) -> Found:
    """The result of a statement in one format, row by row, so that one that is too long is noticed in time."""
    values, types, formats = given
    connection.send_query_params(sql.encode(), values, types, formats, form)
    connection.set_single_row_mode()
    rows, size, tag, failed = list[tuple[bytes | None, ...]](), 0, "", None
    fields: tuple[Field, ...] = ()
    while (part := _next(connection)) is not None:
        if failed is not None:
            continue
        try:
            _sound(part)
        except SqlError as error:
            failed = error
            continue
        fields = fields or _fields(part)
        for i in range(part.ntuples):
            row = tuple(part.get_value(i, j) for j in range(part.nfields))
            rows.append(row)
            size += sum(len(value) for value in row if value is not None)
        if size > _MOST_BYTES or len(rows) > _MOST_ROWS:
            connection.get_cancel().cancel()
            failed = SqlError("54000", "This result of the catalogue is too long.", "Ask for less of it.")
        tag = (part.command_status or b"").decode()
    if failed is not None:
        raise failed
    return Found(fields, rows, tag)


def _next(connection: PGconn) -> PGresult | None:
    """The next result, for which no other thread is kept waiting, and which a cancellation ends."""
    arrived = select.poll()
    arrived.register(connection.socket, select.POLLIN)
    while connection.is_busy():
        if arrived.poll(_LOOK):
            connection.consume_input()
        else:
            report("catalogue", 0.0)
    return connection.get_result()


def _fields(found: PGresult) -> tuple[Field, ...]:
    return tuple(
        Field(
            (found.fname(i) or b"").decode(),
            found.ftype(i),
            found.fsize(i),
            found.fmod(i),
            found.ftable(i),
            found.ftablecol(i),
        )
        for i in range(found.nfields)
    )


def _sound(found: PGresult) -> PGresult:
    """The result, or the error that it is; its text is that of a server that holds no data."""
    from psycopg.pq import DiagnosticField, ExecStatus

    if found.status in (ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE):
        state = (found.error_field(DiagnosticField.SQLSTATE) or b"58000").decode()
        words = (found.error_field(DiagnosticField.MESSAGE_PRIMARY) or b"The catalogue cannot be read.").decode()
        raise SqlError(state, visible(words))
    return found


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(words: str) -> str:
    quoted = words.replace("'", "''").replace("\\", "\\\\")
    return f"E'{quoted}'" if "\\" in words else f"'{quoted}'"
