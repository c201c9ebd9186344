"""What a question means, and which price is asked for; no data are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..core.errors import BadParameter, BadQuestion
from ..core.exact import rational
from ..tables import sql
from ..tables.door import Question
from ..tables.price import BETA, Terms
from ..tables.query import Query
from ..tables.relation import Relation, scans
from ..tables.table import PublicTable, Table

Asked = str | Question | Query
TERMS = tuple(Terms.__annotations__)


def owned(relation: Relation, tables: Mapping[str, Table]) -> None:
    """Refuse rows of other tables, or of a table as another schema bounds it: prices are read off the relation."""
    for scan in scans(relation):
        if scan.table not in tables or tables[scan.table].schema.scan() != scan:
            known = ", ".join(tables)
            raise BadQuestion(f"these are not rows of {known} as the curator has them; make the question of its tables")


def asked(
    question: Asked,
    tables: Mapping[str, Table],
    public: Mapping[str, PublicTable],
    given: Mapping[str, Any],
    parse: Callable[[str], sql.Parsed] | None = None,
) -> tuple[Query, dict[str, Any]]:
    """The meaning of a question, and its terms, of which the price may be said in its text or beside it.

    Texts are read by `parse`, if it is given, which may know them already.
    """
    said = {"beta": BETA, **{name: value for name, value in given.items() if value is not None}}
    if unknown := said.keys() - TERMS:
        raise BadParameter("terms", sorted(unknown), f"among {', '.join(TERMS)}")
    match question:
        case str():
            parsed = sql.parse(question, tables, public) if parse is None else parse(question)
            for name in TERMS:
                if (told := getattr(parsed.options, name, None)) is not None:
                    if name in said and rational(name, said[name]) != told:
                        raise BadQuestion(f"{name} is {told} in the text and {said[name]} beside it")
                    said[name] = told
            return parsed.query, said
        case Question():
            owned(question.query.relation, tables)
            return question.query, said
        case Query():
            owned(question.relation, tables)
            return question, said
    raise BadParameter("question", type(question).__name__, "SQL, or a question made of a table, as table.count()")
