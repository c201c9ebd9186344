"""Statements that may reach the shadow: a SELECT over the catalogue, in words that are on a list.

A statement is parsed into a tree.  Every node must be of a kind, every table of the catalogue, and every function of a
name that are listed here; what is sent is written anew from that tree.  So no text of a client reaches the shadow, and
a construct that nobody thought of is refused.

pg_database shows the one database of the data set: the names of others are not for everybody.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ..errors import SYNTAX, UNKNOWN_TABLE, SqlError
from ..session import DEFAULTS
from ..statements import POSTGRES, tokens_of
from .allowed import FIELDS, FUNCTIONS, HARMFUL, NODES, PARSED_FUNCTIONS, TABLES

_LONGEST = 1 << 15  # characters
_DEEPEST = 100  # brackets within one another
_PLAIN = re.compile(r"[A-Za-z_\u0080-\uffff][\w$]*")
_ESCAPED = re.compile(r"(?:[^\\']|\\[nt])*")  # of a text with escapes: lines and tabs alone
_OPERATOR = re.compile(r"(pg_catalog\.)?[-+*/<>=~!@#%^&|`?]+")
_HARMFUL = re.compile(HARMFUL, re.IGNORECASE)
_SCHEMAS = ("pg_catalog", "information_schema")
_HERE = "(SELECT * FROM pg_catalog.pg_database WHERE datname = current_database())"


@lru_cache(128)
def checked(text: str, tables: frozenset[str] = frozenset()) -> str:
    """The statement to send, if it is a SELECT over the catalogue; `tables` are named where one is not known."""
    tree = _parsed(text)
    defined = {cte.alias for cte in tree.find_all(exp.CTE)}
    for node in tree.walk():
        if isinstance(node, exp.Column | exp.Dot):
            _field(node)
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            _table(node, defined, tables)
        elif isinstance(node, exp.Anonymous):
            _function(node, str(node.this).lower(), FUNCTIONS)
        elif isinstance(node, exp.Func):
            _function(node, node.sql_name().lower(), PARSED_FUNCTIONS | FUNCTIONS)
        elif isinstance(node, exp.ByteString):
            if not _ESCAPED.fullmatch(str(node.this)):
                raise _refused(node)
        elif isinstance(node, exp.Identifier):
            if not node.args.get("quoted") and not _PLAIN.fullmatch(node.name):
                raise _refused(node)
        elif type(node).__name__ not in NODES or (
            isinstance(node, exp.Operator) and not _OPERATOR.fullmatch(str(node.args.get("operator")))
        ):
            raise _refused(node)
    return _only_here(tree).sql(dialect=POSTGRES, comments=False)


def _parsed(text: str) -> exp.Expr:
    if len(text) > _LONGEST:
        raise SqlError("54000", f"A statement over the catalogue may have at most {_LONGEST} characters.")
    depth = 0
    for token in tokens_of(text):
        depth += (token.text == "(") - (token.text == ")")
        if depth > _DEEPEST:
            raise SqlError("54001", f"Brackets may be nested at most {_DEEPEST} deep.", position=token.start + 1)
    try:
        trees = [tree for tree in POSTGRES.parse(text) if tree is not None]
    except (SqlglotError, RecursionError):
        raise SqlError(SYNTAX, "This SQL cannot be parsed.") from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query | exp.Values):
        raise SqlError("0A000", "Only SELECT is answered here.")
    return trees[0]


def _table(node: exp.Table, defined: set[str], tables: frozenset[str]) -> None:
    schema, name = node.db.lower(), node.name.lower()
    if (not schema and node.name in defined) or schema == "information_schema":
        return
    if schema in ("", "pg_catalog") and name in TABLES:
        return
    hint = f"The tables of this data set are {', '.join(sorted(tables))}." if tables else ""
    raise SqlError(UNKNOWN_TABLE, "There is no such table here.", hint, _at(node))


def _function(node: exp.Expr, name: str, known: frozenset[str]) -> None:
    if name not in known:
        says = "This function is not answered here, where there are no data."
        raise SqlError("42883", says, "Functions of questions need a table of the data set behind FROM.", _at(node))
    if name == "set_config":
        setting = node.expressions[0] if node.expressions else None
        if not isinstance(setting, exp.Literal) or setting.name.lower() not in DEFAULTS:
            raise _refused(node)


def _field(node: exp.Column | exp.Dot) -> None:
    """Refuse what could be a function in the notation of a field."""
    last = node.this if isinstance(node, exp.Column) else node.expression
    if not isinstance(last, exp.Identifier):
        return
    of_schema = isinstance(node, exp.Dot) and not (isinstance(node.this, exp.Identifier) and node.this.name in _SCHEMAS)
    if _HARMFUL.fullmatch(last.name) or (of_schema and last.name.lower() not in FIELDS):
        raise _refused(node)


def _refused(node: exp.Expr) -> SqlError:
    return SqlError("0A000", "This is not understood in a statement over the catalogue.", position=_at(node))


def _at(node: exp.Expr) -> int | None:
    starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
    return min(starts) + 1 if starts else None


def _only_here(tree: exp.Expr) -> exp.Expr:
    """The tree with the one database in place of all of them."""
    for node in list(tree.find_all(exp.Table)):
        if node.name.lower() == "pg_database" and isinstance(node.this, exp.Identifier):
            alias = node.alias or "pg_database"
            here = POSTGRES.parse(f"SELECT * FROM {_HERE} AS x")[0]
            assert here is not None
            subquery = here.find(exp.Subquery)
            assert subquery is not None
            subquery.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
            node.replace(subquery)
    for column in tree.find_all(exp.Column):
        if column.table.lower() == "pg_database":
            column.set("db", None)
    return tree
