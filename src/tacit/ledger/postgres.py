"""A ledger in a PostgreSQL database: all that is particular to PostgreSQL.

    postgresql://user@host/database?schema=people      a ledger has a schema of its own, "tacit" unless told

With synchronous_commit=on a commit is told once its log is synced, and with fsync and full_page_writes what was synced
survives a power cut; each transaction that writes sets the first, reads all of them, and is refused if they differ.
Writers exclude one another by a lock that belongs to the transaction and is taken before anything is read: it is gone
with its holder, however that ends.  A writer is read-committed, since its view must be of a moment after that.
"""

from __future__ import annotations

import hashlib

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from ..core.errors import LedgerCorrupt, LedgerError, LedgerUnavailable, Missing

PATIENCE = "60s"  # to wait for other writers
DURABLE = {"synchronous_commit": "on", "fsync": "on", "full_page_writes": "on", "server_encoding": "UTF8"}
_RAISE = "RAISE EXCEPTION 'entries are only ever appended'"
FUNCTIONS = {
    "forbid": f"BEGIN {_RAISE}; END",
    "append": "BEGIN IF NEW.seq <> (SELECT COALESCE(MAX(seq), 0) + 1 FROM entries)"
    f" THEN {_RAISE}; END IF; RETURN NEW; END",
}
TRIGGERS = {
    "no_change": "BEFORE DELETE OR UPDATE OR TRUNCATE ON {} FOR EACH STATEMENT EXECUTE FUNCTION forbid()",
    "only_append": "BEFORE INSERT ON {} FOR EACH ROW EXECUTE FUNCTION append()",
}
_KNOWN = """
SELECT tgname, pg_get_triggerdef(t.oid), prosrc, tgenabled::text, relpersistence::text
FROM pg_trigger t JOIN pg_proc p ON p.oid = tgfoid JOIN pg_class c ON c.oid = tgrelid
WHERE tgrelid = to_regclass('entries') AND NOT tgisinternal
"""
_REASONS = {
    "42501": "the user may not do that; it must own the schema, or be allowed to CREATE one",
    "55P03": f"another writer held it for {PATIENCE}",
    "25006": "the server is a replica, or read-only",
    "53300": "the server has no more connections",
    "53100": "the disk of the server is full",
    "57P01": "the server is shutting down",
    "57P03": "the server is starting up",
}


class Postgres:
    """How PostgreSQL is opened, how it begins to write, and what it can check of itself."""

    def engine(self, url: URL, create: bool) -> Engine:
        schema = url.query.get("schema", "tacit")
        if not isinstance(schema, str) or not 0 < len(schema.encode()) < 64 or not schema.isprintable():
            raise LedgerUnavailable(shown(url), "it must name one schema, of at most 63 bytes")
        address = url.set(drivername="postgresql+psycopg").difference_update_query(["schema"])
        try:
            engine = create_engine(address, hide_parameters=True, pool_size=1, max_overflow=0, pool_pre_ping=True)
        except ModuleNotFoundError:
            raise Missing("a ledger in PostgreSQL needs its driver; pip install 'tacit[postgres]'") from None
        event.listen(engine, "begin", lambda connection: _begin(connection, shown(url), schema))
        if create:
            self._place(engine, url, schema)
        return engine

    def install(self, connection: Connection) -> None:
        """Forbid what is never done, to replicas and superusers too."""
        for name, body in FUNCTIONS.items():
            connection.exec_driver_sql(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $${body}$$")
        for name, rule in TRIGGERS.items():
            connection.exec_driver_sql(f"CREATE TRIGGER {name} {rule.format('entries')}")
            connection.exec_driver_sql(f"ALTER TABLE entries ENABLE ALWAYS TRIGGER {name}")

    def check(self, connection: Connection) -> None:
        """The triggers are there, and the table is one that is logged."""
        found = connection.exec_driver_sql(_KNOWN).all()
        known = {name: (rule.replace(_qualified(rule), "{}"), body, *rest) for name, rule, body, *rest in found}
        bodies = zip(TRIGGERS.items(), FUNCTIONS.values(), strict=True)
        made = {name: (f"CREATE TRIGGER {name} {rule}", body, "A", "p") for (name, rule), body in bodies}
        if known != made:
            raise LedgerCorrupt(0, "the triggers that forbid changes are not those it was made with")

    def error(self, place: object, error: BaseException | None) -> LedgerError:
        """The same in our words; of PostgreSQL's only the class of the error."""
        state = getattr(error, "sqlstate", None)
        if state is None and type(error).__name__ != "OperationalError":
            return LedgerUnavailable(place, type(error).__name__)
        if state is None:
            return LedgerUnavailable(place, "there is no connection; is the server up, are address and user right?")
        if state.startswith("XX"):
            return LedgerCorrupt(0, f"PostgreSQL reports {state}")
        return LedgerUnavailable(place, _REASONS.get(state, f"PostgreSQL reports {state} ({type(error).__name__})"))

    def fatal(self, error: BaseException | None) -> bool:
        """Never: a server whose disk fails ends, and recovers from its log before it is asked again."""
        return False

    def _place(self, engine: Engine, url: URL, schema: str) -> None:
        """The schema, made if there is none."""
        try:
            with engine.connect() as connection, connection.execution_options(writes=True).begin():
                there = "SELECT count(*) FROM pg_namespace WHERE nspname = %s"
                if not connection.exec_driver_sql(there, (schema,)).scalar():
                    connection.exec_driver_sql(f"CREATE SCHEMA {quoted(schema)}".replace("%", "%%"))
                return
        except DBAPIError as error:
            failed: LedgerError = self.error(shown(url), error.orig)
        except LedgerUnavailable as error:
            failed = error
        engine.dispose()
        raise failed


def _begin(connection: Connection, place: str, schema: str) -> None:
    """One writer at a time, from its first look on, so that nothing comes between check and charge."""
    writes = connection.get_execution_options().get("writes", False)
    level = "READ COMMITTED READ WRITE" if writes else "REPEATABLE READ READ ONLY"
    connection.exec_driver_sql(f"SET TRANSACTION ISOLATION LEVEL {level}")
    local = {"search_path": f"{quoted(schema)}, pg_temp", "lock_timeout": PATIENCE, "synchronous_commit": "on"}
    given = tuple(part for setting in local.items() for part in setting)
    connection.exec_driver_sql(f"SELECT {', '.join(['set_config(%s, %s, true)'] * len(local))}", given)
    if not writes:
        return
    settings = ", ".join(f"current_setting('{name}')" for name in DURABLE)
    lock = int.from_bytes(hashlib.sha256(f"tacit ledger {schema}".encode()).digest()[:8], signed=True)
    *found, _ = connection.exec_driver_sql(f"SELECT {settings}, pg_advisory_xact_lock(%s)", (lock,)).one()
    if found != list(DURABLE.values()):
        told = ", ".join(f"{name}={value}" for name, value in zip(DURABLE, found, strict=True))
        raise LedgerUnavailable(place, f"it is not durable: {told}")


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def shown(url: URL) -> str:
    """An address without its password."""
    return url.render_as_string(hide_password=True)


def _qualified(rule: str) -> str:
    """The name of the table in what PostgreSQL says of a trigger."""
    return rule.partition(" ON ")[2].partition(" FOR EACH ")[0]
