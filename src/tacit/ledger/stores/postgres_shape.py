"""The objects of a layout in PostgreSQL, as its catalogue describes them: tables, columns, indexes, triggers, rules.

Whatever could change what a statement on the tables does is part of the shape.  The signature is a short text
that differs once any of these objects was altered, added or dropped, so that each writer can afford to read it.
"""

from __future__ import annotations

from .dialect import Connection
from .layout import Layout

_SHAPE = """
SELECT 'table', relname::text, CONCAT_WS(' ', relkind, relpersistence, relrowsecurity, relispartition)
    FROM pg_class WHERE oid = {ours}
UNION ALL SELECT 'column', CONCAT(c.relname, '.', attname),
    CONCAT_WS(' ', format_type(atttypid, atttypmod), attnotnull, atthasdef, attgenerated, attidentity)
    FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE attrelid = {ours} AND attnum > 0 AND NOT attisdropped
UNION ALL SELECT 'index', c.relname, CONCAT_WS(' ', SPLIT_PART(pg_get_indexdef(indexrelid), ' USING ', 2), indisunique)
    FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE indrelid = {ours}
UNION ALL SELECT 'constraint', conname, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE conrelid = {ours} AND contype <> 'n'
UNION ALL SELECT 'trigger', CONCAT(c.relname, '.', tgname), CONCAT_WS(' ', tgenabled, tgtype, tgnargs, tgqual IS NULL,
    proname, lanname, prosecdef, proconfig, prosrc)
    FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid JOIN pg_proc p ON p.oid = tgfoid
    JOIN pg_language l ON l.oid = prolang WHERE tgrelid = {ours} AND NOT tgisinternal
UNION ALL SELECT 'rule', rulename, pg_get_ruledef(oid) FROM pg_rewrite WHERE ev_class = {ours}
UNION ALL SELECT 'policy', polname, '' FROM pg_policy WHERE polrelid = {ours}
UNION ALL SELECT 'child', inhrelid::text, '' FROM pg_inherits WHERE inhparent = {ours} OR inhrelid = {ours}
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
_FUNCTIONS = "SELECT p.xmin::text AS x FROM pg_proc p JOIN pg_trigger t ON p.oid = tgfoid"
_TYPES = {"INTEGER": "integer", "TEXT": "text", "{octets}": "bytea"}
_BEFORE_STATEMENT, _BEFORE_ROW = 2 + 8 + 16 + 32, 1 + 2 + 4  # bits of tgtype: DELETE, UPDATE, TRUNCATE; ROW, INSERT


class Shape:
    """What the catalogue says of the tables of a layout, and what it should say."""

    def __init__(self, layout: Layout) -> None:
        ours = f"ANY (ARRAY[{', '.join(map(repr, layout.tables))}]::regclass[])"
        rows = [f"SELECT xmin::text AS x FROM {name} WHERE {of} = {ours}" for name, of in _CATALOGUES.items()]
        rows.append(f"{_FUNCTIONS} WHERE tgrelid = {ours} AND NOT tgisinternal")
        self._layout, self._query = layout, _SHAPE.format(ours=ours)
        self._signature = f"SELECT STRING_AGG(x, ' ' ORDER BY x) FROM ({' UNION ALL '.join(rows)}) AS found"

    def signature(self, connection: Connection) -> str:
        """A text that differs once any of the objects has changed."""
        (text,) = connection.execute(self._signature).fetchone()
        return str(text)

    def found(self, connection: Connection) -> set[tuple[str, str, str]]:
        """The shape that the tables have."""
        return {(kind, name, described) for kind, name, described in connection.execute(self._query)}

    def made(self, bodies: dict[str, str]) -> set[tuple[str, str, str]]:
        """The shape that new tables have, with the bodies of their trigger functions."""
        objects = {("table", name, "r p f f") for name in self._layout.tables}
        for name, table in self._layout.tables.items():
            for column, (kind, required) in table.columns.items():
                objects.add(("column", f"{name}.{column}", f"{_TYPES[kind]} {'t' if required else 'f'} f  "))
            objects |= {
                ("constraint", f"{name}_pkey", f"PRIMARY KEY ({table.key})"),
                ("index", f"{name}_pkey", f"btree ({table.key}) t"),
            }
        objects |= {("index", name, f"btree ({columns}) t") for name, columns in self._layout.indexes.items()}
        triggers = {"no_change": ("forbid", _BEFORE_STATEMENT), "only_append": ("append", _BEFORE_ROW)}
        for trigger, (function, bits) in triggers.items():
            described = f"A {bits} 0 t {function} plpgsql f {bodies[function]}"
            objects.add(("trigger", f"entries.{trigger}", described))
        return objects
