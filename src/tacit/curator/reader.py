"""Reading questions: what a text or an expression means about declared tables; no data are read.

Whoever knows the public schemas can read a question: the curator itself, and a client of a service.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from functools import cached_property, lru_cache
from typing import Any

from ..core.parameters import probability
from ..query.plan.answer_schema import AnswerType, answer_schema
from ..query.plan.compiler import Compiled, compiled
from ..query.python.table import DeclaredTable
from ..query.schema.public_table import PublicTable
from ..query.schema.schema import Schema
from ..query.select.query import Query
from ..query.sql import parser
from .ask import Asked
from .questions import QuestionLike, parse_question

_MAX_REMEMBERED = 32  # questions whose meaning is remembered


class QuestionReader:
    """Reads questions about private and public tables, by their names."""

    tables: Mapping[str, DeclaredTable]
    public: Mapping[str, PublicTable]

    def read(self, question: QuestionLike, given: Mapping[str, Any]) -> tuple[Query, dict[str, Any]]:
        """The meaning of a question about these tables, and its price; reads no data."""
        today = datetime.now(UTC).date()
        return parse_question(question, self.tables, self.public, given, lambda text: self._parse(text, today))

    def answer_schema(self, question: QuestionLike) -> tuple[tuple[str, AnswerType], ...]:
        """The name and type of each column of the answer, whatever it costs; reads no data."""
        query, _ = self.read(question, {})
        return answer_schema(query, self._compiled(query).recipes)

    @cached_property
    def schemas(self) -> dict[str, Schema]:
        """The schema of each private table by its name."""
        return {name: table.schema for name, table in self.tables.items()}

    @cached_property
    def _parse(self) -> Callable[[str, date], parser.Parsed]:
        """The parser, which remembers the last texts: one question is often asked at several prices.

        A text that names the current date is another question on another day.
        """
        return lru_cache(_MAX_REMEMBERED)(lambda text, today: parser.parse(text, self.tables, self.public, today))

    @cached_property
    def _compiled(self) -> Callable[[Query], Compiled]:
        """The compiler, which remembers the plans of the last questions."""
        return lru_cache(_MAX_REMEMBERED)(lambda query: compiled(query, self.schemas))

    def _asked(self, question: QuestionLike, terms: Mapping[str, Any]) -> Asked:
        """The meaning of a question, at its terms."""
        query, priced = self.read(question, terms)
        priced["beta"] = probability("beta", priced["beta"])
        return Asked(query, self._compiled(query), priced, str.__str__(question) if isinstance(question, str) else "")
