"""The plan of a publication: which answers, how accurate, within which budget; a TOML file beside the data.

title, description, data, schema, ledger, analyst, share, beta
[budget]          opens the ledger, if there is none
[[question]]      sql, and error or weight
[[workload]]      columns, workload ("marginals 2"), method, and error or weight
[[synthetic]]     columns, workload, rows, and error or weight
[[bounds]]        column, and error (values beyond) or weight
[registry]        what a registry of deployments asks of the custodian
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..core.accounting.budget import Budget
from ..core.errors import BadParameter
from ..core.parameters import positive, probability
from ..curator import Curator
from ..curator.bounds import bounds_plan
from ..curator.items import BoundsItem, Item, QuestionItem, WorkloadItem
from ..curator.workloads import checked_workload
from ..query.plan.accuracy import public_size
from ..query.python.table import Table
from ..query.relation.relation import Where
from ..query.schema.data import beside
from ..workloads import Domain, Workload, marginals, prefixes, ranges
from .registry import Registry, registry_facts

_TOP = {"title", "description", "data", "schema", "ledger", "analyst", "engine", "share", "beta", "budget", "registry"}
_KINDS: dict[str, set[str]] = {
    "question": {"sql"},
    "workload": {"columns", "workload", "method"},
    "synthetic": {"columns", "workload", "method", "rows"},
    "bounds": {"column"},
}
_COMMON = {"name", "title", "error", "weight"}
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_TITLE = 200


@dataclass(frozen=True)
class ReleasePlan:
    """A plan: where the data, schema and ledger are, what is asked, and the text that it was read from."""

    text: str
    title: str
    description: str
    table: Table
    ledger: str
    budget: Budget | None
    analyst: str
    share: Fraction | None
    beta: Fraction
    asked: tuple[tuple[str, Mapping[str, Any]], ...] = field(repr=False)
    registry: Registry | None = None

    @classmethod
    def load(cls, path: str | Path) -> ReleasePlan:
        """The plan in a file; paths in it are relative to its folder."""
        place = Path(path)
        if not place.is_file():
            raise BadParameter("plan", str(path), "a .toml file")
        text = place.read_text("utf-8")
        try:
            facts = tomllib.loads(text, parse_float=Decimal)
        except tomllib.TOMLDecodeError as error:
            raise BadParameter("plan", str(path), "TOML", says=f"The plan is not TOML: {error}.") from None
        return cls.read(facts, text, place.parent)

    @classmethod
    def read(cls, facts: Mapping[str, Any], text: str, folder: Path) -> ReleasePlan:
        """The plan of these facts."""
        known(facts, {*_TOP, *_KINDS}, "the plan")
        title = _text(facts, "title")
        if not 0 < len(title) <= _TITLE:
            raise BadParameter("title", title, f"from 1 to {_TITLE} characters")
        data = _text(facts, "data")
        where = data if "://" in data else str(folder / data)
        schema = folder / _text(facts, "schema") if "schema" in facts else _beside(where, ".toml", "schema")
        ledger = _text(facts, "ledger") if "ledger" in facts else str(_beside(where, ".ledger", "ledger"))
        budget = facts.get("budget")
        return cls(
            text=text,
            title=title,
            description=_text(facts, "description", ""),
            table=Table(where, schema, engine=facts.get("engine")),
            ledger=ledger if "://" in ledger or "ledger" not in facts else str(folder / ledger),
            budget=None if budget is None else _budget(budget),
            analyst=_text(facts, "analyst", "publisher"),
            share=None if "share" not in facts else positive("share", facts["share"]),
            beta=probability("beta", facts.get("beta", "0.05")),
            asked=tuple(_asked(facts)),
            registry=None if "registry" not in facts else registry_facts(facts["registry"]),
        )

    def curator(self) -> Curator:
        """A curator of the table; with a budget, and no ledger yet, one is opened."""
        return Curator(self.table, ledger=self.ledger, budget=self.budget, analyst=self.analyst)

    def items(self, curator: Curator) -> list[Item]:
        """What is asked, as it is bought; what public facts refuse is refused."""
        return [self._item(curator, kind, facts) for kind, facts in self.asked]

    def _item(self, curator: Curator, kind: str, facts: Mapping[str, Any]) -> Item:
        common: dict[str, Any] = {"name": facts["name"], "title": facts.get("title", ""), "beta": self.beta}
        common |= {each: positive(each, facts[each]) for each in ("error", "weight") if each in facts}
        match kind:
            case "question":
                asked = curator._asked(_text(facts, "sql"), {"beta": self.beta})
                return QuestionItem(**common, asked=asked, schemas=curator.schemas)
            case "bounds":
                column = _text(facts, "column")
                return BoundsItem(**common, column=column, plan=bounds_plan(curator, column))
        domain = curator.table.domain(*_columns(facts))
        workload = checked_workload(curator.tables, _workload(domain, _text(facts, "workload", "marginals")))
        rows = _rows(facts) if kind == "synthetic" else 0
        read = domain.relation.source if isinstance(domain.relation, Where) else domain.relation
        about = public_size(read, curator.schemas)
        return WorkloadItem(**common, workload=workload, method=_text(facts, "method", "auto"), rows=rows, about=about)


def known(facts: object, names: set[str], where: str) -> Mapping[str, Any]:
    """The facts of a table of the plan, if all of their names are known."""
    if not isinstance(facts, Mapping):
        raise BadParameter(where, type(facts).__name__, "a table")
    if unknown := sorted(facts.keys() - names):
        says = f"{where[0].upper()}{where[1:]} has no key {unknown[0]!r}. Its keys are {', '.join(sorted(names))}."
        raise BadParameter("plan", unknown[0], f"one of {', '.join(sorted(names))}", says=says)
    return facts


def _asked(facts: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each answer of the plan by its kind, with a name."""
    for kind, own in _KINDS.items():
        listed = facts.get(kind, [])
        if not isinstance(listed, list):
            raise BadParameter(kind, type(listed).__name__, f"tables, each begun by [[{kind}]]")
        for number, each in enumerate(listed, 1):
            answer = dict(known(each, own | _COMMON, f"a [[{kind}]]"))
            name = answer.setdefault("name", f"{kind}{number}")
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                raise BadParameter("name", name, "up to 60 small letters, digits, - and _: files are named after it")
            if "error" in answer and "weight" in answer:
                says = f"{name} has an error and a weight. Give one of them."
                raise BadParameter("error", name, "given without a weight", says=says)
            yield kind, answer


def _text(facts: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = facts.get(name, default)
    if not isinstance(value, str):
        raise BadParameter(name, value, "text" if name in facts else f"given, as {name} = ...")
    return value


def _budget(facts: object) -> Budget:
    """The budget; all of its delta is for batches, unless a slack is given."""
    given = dict(known(facts, {"epsilon", "delta", "rho", "slack", "renyi_order"}, "[budget]"))
    if "epsilon" in given and "delta" in given and "renyi_order" not in given:
        given.setdefault("slack", 0)
    return Budget(**given)


def _beside(data: str, suffix: str, name: str) -> Path:
    place = None if "://" in data else beside(data, suffix)
    if place is None:
        raise BadParameter(name, "nothing", f"given, as {name} = ...")
    return place


def _columns(facts: Mapping[str, Any]) -> list[str]:
    columns = facts.get("columns")
    if not isinstance(columns, list) or not columns or not all(isinstance(each, str) for each in columns):
        raise BadParameter("columns", columns, 'names of columns, as ["region", "sex"]')
    return columns


def _rows(facts: Mapping[str, Any]) -> int:
    rows = facts.get("rows")
    if type(rows) is not int or rows < 1:
        raise BadParameter("rows", rows, "how many synthetic rows to draw, as rows = 1000")
    return rows


def _workload(domain: Domain, text: str) -> Workload:
    """The workload that a text such as "marginals 2" describes."""
    kind, _, rest = text.partition(" ")
    match kind, rest:
        case "marginals", "":
            return marginals(domain, k=min(2, len(domain.names)))
        case "marginals", k if k.isdecimal() and len(k) < 3:
            return marginals(domain, k=int(k))
        case "prefixes", "":
            return prefixes(domain, domain.names[0])
        case "ranges", "":
            return ranges(domain, domain.names[0])
    raise BadParameter("workload", text, "marginals K, prefixes or ranges")
