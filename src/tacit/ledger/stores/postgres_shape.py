"""The objects of a ledger in PostgreSQL, as its catalogue describes them: tables, columns, indexes, triggers, rules.

Whatever could change what a statement on the three tables does is part of the shape.  `SIGNATURE` is a short text that
differs once any of these objects was altered, added or dropped, so that each writer can afford to read it.
"""

from __future__ import annotations

from .dialect import Connection

_OURS = "ANY (ARRAY['entries', 'totals', 'sessions']::regclass[])"
_SHAPE = f"""
SELECT 'table', relname::text, CONCAT_WS(' ', relkind, relpersistence, relrowsecurity, relispartition)
    FROM pg_class WHERE oid = {_OURS}
UNION ALL SELECT 'column', CONCAT(c.relname, '.', attname),
    CONCAT_WS(' ', format_type(atttypid, atttypmod), attnotnull, atthasdef, attgenerated, attidentity)
    FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE attrelid = {_OURS} AND attnum > 0 AND NOT attisdropped
UNION ALL SELECT 'index', c.relname, CONCAT_WS(' ', SPLIT_PART(pg_get_indexdef(indexrelid), ' USING ', 2), indisunique)
    FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE indrelid = {_OURS}
UNION ALL SELECT 'constraint', conname, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE conrelid = {_OURS} AND contype <> 'n'
UNION ALL SELECT 'trigger', CONCAT(c.relname, '.', tgname), CONCAT_WS(' ', tgenabled, tgtype, tgnargs, tgqual IS NULL,
    proname, lanname, prosecdef, proconfig, prosrc)
    FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid JOIN pg_proc p ON p.oid = tgfoid
    JOIN pg_language l ON l.oid = prolang WHERE tgrelid = {_OURS} AND NOT tgisinternal
UNION ALL SELECT 'rule', rulename, pg_get_ruledef(oid) FROM pg_rewrite WHERE ev_class = {_OURS}
UNION ALL SELECT 'policy', polname, '' FROM pg_policy WHERE polrelid = {_OURS}
UNION ALL SELECT 'child', inhrelid::text, '' FROM pg_inherits WHERE inhparent = {_OURS} OR inhrelid = {_OURS}
"""
_CATALOGUES = {
    "pg_class": "oid",
    "pg_attribute": "attrelid",
    "pg_attrdef": "adrelid",
    "pg_index": "indrelid",
    "pg_constraint": "conrelid",
    "pg_trigger": "tgrelid",
    "pg_rewrite": "ev_class",
    "pg_policy": "polrelid",
    "pg_inherits": "inhparent",
}
_ROWS = [f"SELECT xmin::text AS x FROM {name} WHERE {of} = {_OURS}" for name, of in _CATALOGUES.items()]
_FUNCTIONS = "SELECT p.xmin::text AS x FROM pg_proc p JOIN pg_trigger t ON p.oid = tgfoid"
_ROWS.append(f"{_FUNCTIONS} WHERE tgrelid = {_OURS} AND NOT tgisinternal")
SIGNATURE = f"(SELECT STRING_AGG(x, ' ' ORDER BY x) FROM ({' UNION ALL '.join(_ROWS)}) AS found)"

_COLUMNS = {
    "entries": "seq! kind!text key:text draw charge step body!text data:bytea hash!text",
    "totals": "account!text part!text amounts!text relation:text",
    "sessions": "charge! step! salt!bytea state!bytea",
}
_KEYS = {"entries": "seq", "totals": "account, part", "sessions": "charge"}
_INDEXES = {"one_draw": "kind, key, draw", "one_step": "charge, step"}
_BEFORE_STATEMENT, _BEFORE_ROW = 2 + 8 + 16 + 32, 1 + 2 + 4  # bits of tgtype: DELETE, UPDATE, TRUNCATE; ROW, INSERT


def made(bodies: dict[str, str]) -> set[tuple[str, str, str]]:
    """The shape that a new ledger has, with the bodies of its trigger functions."""
    objects = {("table", name, "r p f f") for name in _COLUMNS}
    for table, columns in _COLUMNS.items():
        for column in columns.split():
            name, _, kind = column.replace("!", ":").partition(":")
            objects.add(("column", f"{table}.{name}", f"{kind or 'integer'} {'t' if '!' in column else 'f'} f  "))
    for table, key in _KEYS.items():
        objects |= {
            ("constraint", f"{table}_pkey", f"PRIMARY KEY ({key})"),
            ("index", f"{table}_pkey", f"btree ({key}) t"),
        }
    objects |= {("index", name, f"btree ({columns}) t") for name, columns in _INDEXES.items()}
    triggers = {"no_change": ("forbid", _BEFORE_STATEMENT), "only_append": ("append", _BEFORE_ROW)}
    for trigger, (function, bits) in triggers.items():
        described = f"A {bits} 0 t {function} plpgsql f {bodies[function]}"
        objects.add(("trigger", f"entries.{trigger}", described))
    return objects


def shape(connection: Connection) -> set[tuple[str, str, str]]:
    """The shape that a ledger has."""
    return {(kind, name, described) for kind, name, described in connection.execute(_SHAPE)}
