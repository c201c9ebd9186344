"""What statements do: each is described and run for whoever the token of a connection was issued to.

Everything here is called on a thread.  Each statement authenticates and authorises anew, so that a token that is
revoked, or a policy that is changed, holds from then on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..access import Action
from ..errors import Unauthenticated
from ..service import Access, Service
from ..service.texts import public_words
from ..store import DataSet
from . import questions, records, values
from .codec import Field, spread
from .errors import SqlError
from .layouts import Layout
from .parameters import Filled, Parameters
from .results import Bound, Result, columns, table
from .session import SHADOWED, Session
from .shadow import Shadow, checked
from .statements import Statement

_SETTING = re.compile(r"[a-z_][a-z0-9_.]*")
_PLAN = columns([("QUERY PLAN", "text")])
_LITERALS = {values.TEXT: "''", values.BOOL: "TRUE", values.DATE: "DATE '2000-01-01'"}
_LITERALS |= {
    values.TIMESTAMP: "TIMESTAMP '2000-01-01 00:00:00'",
    values.TIMESTAMPTZ: "TIMESTAMP '2000-01-01 00:00:00'",
}
_LITERALS |= {values.VARCHAR: "''", values.UNKNOWN: "''", values.NAME: "''", values.BPCHAR: "''"}


@dataclass(frozen=True)
class Who:
    """Who asks, by a token, and about which data set."""

    token: str
    dataset: str


class Desk:
    """Describes statements and runs them."""

    def __init__(self, service: Service, shadow: Shadow) -> None:
        self.service, self.shadow = service, shadow
        self._layouts: dict[DataSet, Layout] = {}

    def access(self, who: Who, action: Action) -> Access:
        """Let somebody in to do something."""
        login = self.service.authenticate(who.token)
        if login is None:
            raise Unauthenticated
        return self.service.authorise(login.person, action, who.dataset)

    def public_words(self, who: Who) -> frozenset[str]:
        """The words that an error may use to who asks."""
        access = self.access(who, Action.SCHEMA)
        return self.service.curators.public_words(access.about) | public_words((access.name,))

    def layout(self, access: Access) -> Layout:
        """What is public about a data set."""
        found = self._layouts.get(access.about)
        if found is None:
            found = Layout.of(self.service.curator(access))
            self._layouts = {access.about: found, **dict(list(self._layouts.items())[:99])}
        return found

    def describe(
        self, who: Who, statement: Statement, given: Sequence[int], session: Session
    ) -> tuple[tuple[int, ...], tuple[Field, ...]]:
        """The types of the parameters of a statement, and the columns of its result, if it has any."""
        access = self.access(who, Action.OFFER)
        layout = self.layout(access)
        match statement.kind:
            case "catalogue":
                sql = checked(statement.text, layout.names)
                facts = access.about.name, layout.tables
                types, found = self.shadow.describe(*facts, sql, given, _shadowed(session))
                return types, () if statement.copied else found
            case "question":
                parameters = Parameters(statement.text, layout.columns)
                types = parameters.types(given)
                filled = parameters.fill(_samples(parameters, types, layout))
                found = _PLAN if statement.explained else self._fields(access, statement, filled)
                return types, () if statement.copied else found
            case "own":
                return (), () if statement.copied else records.fields_of(statement.text)
            case "show":
                return (), columns([(session.shown(statement.text)[0], "text")])
        return (), ()

    def _fields(self, access: Access, statement: Statement, filled: Filled) -> tuple[Field, ...]:
        try:
            return questions.fields_of(self.service.curator(access), filled.text)
        except Exception as error:
            raise _placed(error, statement, filled) from None

    def run(self, who: Who, statement: Statement, bound: Bound, session: Session) -> Result:
        """The result of a statement."""
        match statement.kind:
            case "catalogue":
                return self._catalogue(self.access(who, Action.SCHEMA), statement, bound, session)
            case "own":
                access = self.access(who, Action.HISTORY)
                return records.select(self.service, access, statement.text, session, _formats(statement, bound))
            case "show":
                return self._show(self.access(who, Action.SCHEMA), statement.text, bound, session)
        return self._question(who, statement, bound, session)

    def _question(self, who: Who, statement: Statement, bound: Bound, session: Session) -> Result:
        access = self.access(who, Action.OFFER if statement.explained else Action.BUY)
        parameters = Parameters(statement.text, self.layout(access).columns)
        types, formats = parameters.types(bound.types), spread(bound.formats, len(bound.values))
        given = zip(bound.values, types, formats, strict=False)
        filled = parameters.fill([values.literal(*each) for each in given])
        do = questions.explain if statement.explained else questions.ask
        try:
            return do(self.service, access, filled.text, session, _formats(statement, bound))
        except Exception as error:
            raise _placed(error, statement, filled) from None

    def _catalogue(self, access: Access, statement: Statement, bound: Bound, session: Session) -> Result:
        layout = self.layout(access)
        sql, formats = checked(statement.text, layout.names), _formats(statement, bound)
        facts = access.about.name, layout.tables, sql, _shadowed(session)
        found = self.shadow.run(*facts, replace(bound, results=formats))
        return Result(found.tag, found.fields, found.rows)

    def _show(self, access: Access, text: str, bound: Bound, session: Session) -> Result:
        name, value = session.shown(text)
        if name == "tacit.remaining":
            curator = self.service.curator(access).seen_by(access.name)
            value = f"{float(curator.remaining):.6g} of {curator.budget}"
        if value is not None:
            return _tagged(table(columns([(name, "text")]), [[value]], bound.results))
        if not _SETTING.fullmatch(name):
            raise SqlError("42704", "There is no such setting.")
        facts = access.about.name, self.layout(access).tables
        found = self.shadow.run(*facts, f"SHOW {name}", _shadowed(session), bound)
        return Result("SHOW", found.fields, found.rows)


class Placed(Exception):
    """An error, and how to find its place in the text that was sent."""

    def __init__(self, error: Exception, statement: Statement, filled: Filled) -> None:
        super().__init__()
        self.error, self._statement, self._filled = error, statement, filled

    def place(self, position: tuple[int, int]) -> int:
        """The character at a line and a column of the question, from 1 in the whole text."""
        return self._filled.origin(position) + self._statement.start


def _placed(error: Exception, statement: Statement, filled: Filled) -> Exception:
    return Placed(error, statement, filled)


def _tagged(result: Result) -> Result:
    return Result("SHOW", result.fields, result.rows)


def _formats(statement: Statement, bound: Bound) -> tuple[int, ...]:
    """The formats of a result: a copy has its own."""
    return ((1,) if statement.copied == "binary" else (0,)) if statement.copied else bound.results


def _shadowed(session: Session) -> dict[str, str]:
    return {name: session.settings[name] for name in SHADOWED}


def _samples(parameters: Parameters, types: Sequence[int], layout: Layout) -> list[str]:
    """Literals that stand for parameters which are not known yet."""
    samples = [_LITERALS.get(oid, "1") for oid in types]
    for place in parameters.places:
        if (label := layout.samples.get(place.column or "")) is not None:
            samples[place.number - 1] = label
    return samples
