"""The meaning of a question, the price that is asked for, and by what a question is identified; no data are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ..core.accounting.budget import Budget
from ..core.errors import BadParameter, BadQuestion
from ..core.parameters import rational
from ..query.plan.accuracy import public_size
from ..query.plan.buying import quotients, sells_gaussian
from ..query.plan.compiler import Compiled
from ..query.plan.estimators import Recipe
from ..query.plan.offer import BETA, Terms, reads_beta
from ..query.python.question import Question
from ..query.python.table import DeclaredTable, Table
from ..query.relation.relation import Relation, scans
from ..query.schema.public_table import PublicTable
from ..query.schema.schema import Schema
from ..query.select.query import Query
from ..query.soundness.copying import remade
from ..query.sql import parser
from ..storage import canonical, has_long_integers
from . import identity

QuestionLike = str | Question | Query
TERMS = tuple(Terms.__annotations__)


def tables_by_name(
    tables: Sequence[Table], public: Iterable[PublicTable]
) -> tuple[dict[str, Table], dict[str, PublicTable]]:
    """The private and the public tables by their names, which must differ; the private tables must be of one unit."""
    if not tables or not all(isinstance(table, Table) for table in tables):
        raise BadParameter("tables", _types(tables), "one or more of tacit.Table")
    listed: object = public
    others: list[Any] = list(listed) if isinstance(listed, Iterable) else [listed]
    if not all(isinstance(table, PublicTable) for table in others):
        raise BadParameter("public", _types(others), "a list of tacit.PublicTable")
    names = [*(table.schema.name for table in tables), *(table.name for table in others)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        wrong = f"Two tables are called {twice!r}. The tables of a curator must have different names."
        raise BadParameter("tables", names, "of different names", says=wrong)
    units = {table.schema.name: table.schema.unit or "row" for table in tables}
    if len(set(units.values())) > 1:  # a price protects one kind of them
        raise BadParameter("tables", units, 'of one unit: a column that is called the same in all, or "row" in all')
    return {table.schema.name: table for table in tables}, {table.name: table for table in others}


def _types(values: Iterable[object]) -> str:
    """The types of values that may be data, which a message does not show."""
    return ", ".join(type(each).__name__ for each in values) or "none"


def check_owned(relation: Relation, tables: Mapping[str, DeclaredTable]) -> None:
    """Refuse rows of other tables, or as another schema bounds them: prices are read off their domains."""
    for scan in scans(relation):
        own = tables[scan.table].schema.scan() if scan.table in tables else None
        if own is None or scan != own or scan.known != own.known:  # what is known is no part of ==
            raise BadQuestion(
                f"These are not rows of {', '.join(tables)} as the curator has them. Make the question of its tables."
            )


def _owned(query: Query, tables: Mapping[str, DeclaredTable]) -> Query:
    """The question, rebuilt; a question that a release could not hold would be paid for, drawn and lost: refuse it."""
    rebuilt = remade(query, (table.schema.scan() for table in tables.values()))
    check_owned(rebuilt.relation, tables)
    try:
        text = canonical(rebuilt)
    except ValueError as error:
        raise BadQuestion(f"This question cannot be stored beside its answer: {error}.") from None
    if has_long_integers(text):
        raise BadQuestion("This question has an integer of thousands of digits. Use a smaller number.")
    return rebuilt


def parse_question(
    question: QuestionLike,
    tables: Mapping[str, DeclaredTable],
    public: Mapping[str, PublicTable],
    given: Mapping[str, Any],
    parse: Callable[[str], parser.Parsed] | None = None,
) -> tuple[Query, dict[str, Any]]:
    """The meaning of a question, and its terms: the price may stand in the text or beside it.

    `parse` reads texts, if it is given; it may remember them.
    """
    terms = {"beta": BETA, **{name: value for name, value in given.items() if value is not None}}
    if unknown := terms.keys() - TERMS:
        raise BadParameter("terms", sorted(unknown), f"among {', '.join(TERMS)}")
    match question:
        case str():
            text = str.__str__(question)  # of a subclass, its plain text
            parsed = parser.parse(text, tables, public) if parse is None else parse(text)
            for name in TERMS:
                if (written := getattr(parsed.options, name, None)) is not None:
                    if name in terms and rational(name, terms[name]) != written:
                        raise BadQuestion(f"{name} is {written} in the text and {terms[name]} beside it. Give it once.")
                    terms[name] = written
            return parsed.query, terms
        case Question():
            return _owned(question.query, tables), terms
        case Query():
            return _owned(question, tables), terms
    raise BadParameter("question", type(question).__name__, "SQL, or a question made of a table, such as table.count()")


def identities(
    compiled: Compiled, terms: Mapping[str, Any], budget: Budget, schemas: Mapping[str, Schema], former: bool
) -> list[identity.Identity]:
    """The identity of a question at its terms, and, if `former`, the one before the terms of a price changed.

    Two questions are the same if they measure the same and agree in all that affects the noise.  Excluded because they
    do not affect it: a group cap that never binds, an unused delta and, usually, beta.  What is computed from the
    measures counts only where its error is asked for; the size of the table only where an error is a share of it, or
    is that of a quotient by the number of rows.
    """
    plan = compiled.nameless
    if plan.groups is not None and plan.groups >= replace(plan, groups=None).touched:
        plan = replace(plan, groups=None)
    size = list[tuple[str, int | None]]()
    if "relative" in terms:
        size.append(("size", public_size(plan.relation, schemas, of_table=True)))
    elif "error" in terms and quotients(compiled):
        size.append(("size", public_size(plan.relation, schemas)))
    aimed = {recipe for _, recipe in compiled.recipes} if terms.keys() & {"error", "relative"} else set[Recipe]()
    exact = {name: rational(name, value) for name, value in terms.items()}
    identifying = [_identifying_terms(exact, budget, plan.chosen)]
    if former:
        identifying.append(_former_identifying_terms(exact, budget, plan.chosen))
    listed = [[*sorted(each.items()), *size] for each in identifying]
    distinct = listed if listed[0] != listed[-1] else listed[:1]
    return [identity.answer(plan, compiled.choices, each, aimed) for each in distinct]


def _identifying_terms(terms: Mapping[str, Fraction], budget: Budget, chosen: bool) -> dict[str, Fraction]:
    """The terms that affect the noise, under one name where two mean the same, as in pure epsilon.

    An epsilon is called "epsilon alone" where it once was an amount of the budget, so that the two are not confused.
    """
    guaranteed, gaussian = "epsilon" in terms, sells_gaussian(budget)
    idle = {*(() if chosen or (guaranteed and gaussian) else ("delta",))}
    idle |= {*(() if reads_beta(budget, terms) else ("beta",))}
    identifying = {name: value for name, value in terms.items() if name not in idle}
    if "share" in identifying and (budget.rho or not (gaussian or chosen)):
        identifying["rho" if budget.rho else "epsilon"] = identifying.pop("share") * budget.limit
    elif guaranteed and ((gaussian and not budget.rho) or (chosen and "delta" not in terms)):
        identifying["epsilon alone"] = identifying.pop("epsilon")
    return identifying


def _former_identifying_terms(terms: Mapping[str, Fraction], budget: Budget, chosen: bool) -> dict[str, Fraction]:
    """The terms as they were when epsilon was an amount of the budget and delta what private keys may fail with."""
    identifying = dict(terms)
    if "share" in identifying:
        identifying["rho" if budget.rho else "epsilon"] = identifying.pop("share") * budget.limit
    idle = {*(() if chosen else ("delta",))}
    idle |= {"beta"} if "epsilon" in identifying and (budget.rho or not sells_gaussian(budget)) else set()
    return {name: value for name, value in identifying.items() if name not in idle}
