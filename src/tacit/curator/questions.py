"""What a question means, and which price is asked for; no data are read."""

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
from ..query.plan.query import Query
from ..query.python.question import Question
from ..query.python.table import PublicTable, Table
from ..query.relation.relation import Relation, scans
from ..query.schema.schema import Schema
from ..query.soundness.copying import remade
from ..query.sql import parser
from ..storage import canonical, has_long_integers
from . import identity

QuestionLike = str | Question | Query
TERMS = tuple(Terms.__annotations__)


def tables_by_name(
    tables: Sequence[Table], public: Iterable[PublicTable]
) -> tuple[dict[str, Table], dict[str, PublicTable]]:
    """The tables of a curator by their names, if they are different and the private ones of one unit."""
    if not tables or not all(isinstance(table, Table) for table in tables):
        raise BadParameter("tables", _types(tables), "one or more of tacit.Table")
    given: object = public
    others: list[Any] = list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(table, PublicTable) for table in others):
        raise BadParameter("public", _types(others), "a list of tacit.PublicTable")
    names = [*(table.schema.name for table in tables), *(table.name for table in others)]
    if len(set(names)) < len(names):
        raise BadParameter("tables", names, "of different names")
    units = {table.schema.name: table.schema.unit or "row" for table in tables}
    if len(set(units.values())) > 1:  # a price protects one kind of them
        raise BadParameter("tables", units, 'of one unit: a column that is called the same in all, or "row" in all')
    return {table.schema.name: table for table in tables}, {table.name: table for table in others}


def _types(given: Iterable[object]) -> str:
    """Of what may be data, what is shown."""
    return ", ".join(type(each).__name__ for each in given) or "none"


def check_owned(relation: Relation, tables: Mapping[str, Table]) -> None:
    """Refuse rows of other tables, or as another schema bounds them: prices are read off their domains."""
    for scan in scans(relation):
        own = tables[scan.table].schema.scan() if scan.table in tables else None
        if own is None or scan != own or scan.known != own.known:  # what is known is not compared with the rest
            raise BadQuestion(
                f"these are not rows of {', '.join(tables)} as the curator has them; make the question of its tables"
            )


def _owned(query: Query, tables: Mapping[str, Table]) -> Query:
    """The question made anew; refuse also what could not be written into a release: paid for, drawn, and lost."""
    made = remade(query)
    check_owned(made.relation, tables)
    try:
        text = canonical(made)
    except ValueError as error:
        raise BadQuestion(f"this question cannot be kept beside its answer: {error}") from None
    if has_long_integers(text):
        raise BadQuestion("this question cannot be kept beside its answer: it has an integer of thousands of digits")
    return made


def parse_question(
    question: QuestionLike,
    tables: Mapping[str, Table],
    public: Mapping[str, PublicTable],
    given: Mapping[str, Any],
    parse: Callable[[str], parser.Parsed] | None = None,
) -> tuple[Query, dict[str, Any]]:
    """The meaning of a question, and its terms, of which the price may be said in its text or beside it.

    Texts are read by `parse`, if it is given, which may know them already.
    """
    said = {"beta": BETA, **{name: value for name, value in given.items() if value is not None}}
    if unknown := said.keys() - TERMS:
        raise BadParameter("terms", sorted(unknown), f"among {', '.join(TERMS)}")
    match question:
        case str():
            text = str.__str__(question)  # of a subclass, its plain text
            parsed = parser.parse(text, tables, public) if parse is None else parse(text)
            for name in TERMS:
                if (told := getattr(parsed.options, name, None)) is not None:
                    if name in said and rational(name, said[name]) != told:
                        raise BadQuestion(f"{name} is {told} in the text and {said[name]} beside it")
                    said[name] = told
            return parsed.query, said
        case Question():
            return _owned(question.query, tables), said
        case Query():
            return _owned(question, tables), said
    raise BadParameter("question", type(question).__name__, "SQL, or a question made of a table, as table.count()")


Words = Mapping[str, Any]  # terms by their names


def identities(
    made: Compiled, said: Words, budget: Budget, schemas: Mapping[str, Schema], former: bool
) -> list[identity.Identity]:
    """By what a question at its terms is known, and, if `former`, by what it was before the words of a price changed.

    Two questions are the same if the same is measured, and all is the same that has a say in the noise.  Excluded are a
    cap on groups that never binds, a delta without use and, mostly, beta: the errors of one draw are known at any.
    What is computed of the measures counts only where its error is asked for, and the size of the table where that is
    a share of it, or of a quotient by the number of rows.
    """
    plan = made.nameless
    if plan.groups is not None and plan.groups >= replace(plan, groups=None).touched:
        plan = replace(plan, groups=None)
    size = list[tuple[str, int | None]]()
    if "relative" in said:
        size.append(("size", public_size(plan.relation, schemas, of_table=True)))
    elif "error" in said and quotients(made):
        size.append(("size", public_size(plan.relation, schemas)))
    aimed = {recipe for _, recipe in made.recipes} if said.keys() & {"error", "relative"} else set[Recipe]()
    exact = {name: rational(name, value) for name, value in said.items()}
    words = [_words(exact, budget, plan.chosen), *([_former_words(exact, budget, plan.chosen)] if former else [])]
    terms = [[*sorted(each.items()), *size] for each in words]
    known = terms if terms[0] != terms[-1] else terms[:1]
    return [identity.answer(plan, made.choices, each, aimed) for each in known]


def _words(said: Mapping[str, Fraction], budget: Budget, chosen: bool) -> dict[str, Fraction]:
    """The terms that have a say in the noise, by one name where two mean the same, as in pure epsilon.

    An epsilon is "epsilon alone" where it was an amount of the budget before, so that neither is taken for the other.
    """
    guaranteed, gaussian = "epsilon" in said, sells_gaussian(budget)
    idle = {*(() if chosen or (guaranteed and gaussian) else ("delta",))}
    idle |= {*(() if reads_beta(budget, said) else ("beta",))}
    found = {name: value for name, value in said.items() if name not in idle}
    if "share" in found and (budget.rho or not (gaussian or chosen)):
        found["rho" if budget.rho else "epsilon"] = found.pop("share") * budget.limit
    elif guaranteed and ((gaussian and not budget.rho) or (chosen and "delta" not in said)):
        found["epsilon alone"] = found.pop("epsilon")
    return found


def _former_words(said: Mapping[str, Fraction], budget: Budget, chosen: bool) -> dict[str, Fraction]:
    """The same where epsilon was an amount of a budget in epsilon, and delta was what private keys may fail with."""
    found = dict(said)
    if "share" in found:
        found["rho" if budget.rho else "epsilon"] = found.pop("share") * budget.limit
    idle = {*(() if chosen else ("delta",))}
    idle |= {"beta"} if "epsilon" in found and (budget.rho or not sells_gaussian(budget)) else set()
    return {name: value for name, value in found.items() if name not in idle}
