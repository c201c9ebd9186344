"""Statements: a text is divided into statements, and what each of them is for is read off its first words.

    question    SELECT about a table of the data set, which tacit reads
    catalogue   any other SELECT, which the shadow may answer
    own         SELECT about tacit.history or tacit.offers
    explain     EXPLAIN of a question: the offer
    copy        COPY (SELECT ...) TO STDOUT
    set, show, reset, and words of transactions and of housekeeping

What is none of these is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from sqlglot import Dialect, Token, TokenType
from sqlglot.errors import SqlglotError

from .errors import SYNTAX, SqlError

POSTGRES = Dialect.get_or_raise("postgres")
_SHORT = 2000  # characters
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_BEFORE_TABLES = (TokenType.FROM, TokenType.JOIN, TokenType.COMMA, TokenType.L_PAREN)
_CATALOGUE = ("pg_catalog", "information_schema")
_FIRST = re.compile(r"\s*([A-Za-z]+)")
_TRANSACTIONS = {"begin": "begin", "start": "begin", "commit": "commit", "end": "commit"}
_TRANSACTIONS |= {"rollback": "rollback", "abort": "rollback", "savepoint": "savepoint", "release": "release"}
_WORDS = {"set": "set", "show": "show", "reset": "reset", "explain": "explain", "copy": "copy", **_TRANSACTIONS}
_WORDS |= {"discard": "discard", "deallocate": "deallocate", "unlisten": "unlisten", "close": "close"}
_READING = ("select", "with", "values", "table")
_EXPLAIN = re.compile(r"explain\s+(?:\(([^()]*)\)\s*|(?:(verbose)\s+))?(?=select|with|values)", re.IGNORECASE)
_COPY = re.compile(r"copy\s*\(", re.IGNORECASE)
_COPY_END = re.compile(r"\)\s*to\s+stdout\s*(?:(?:with\s*)?\(([^()]*)\)|(?:with\s+)?(binary|csv)?)\s*\Z", re.IGNORECASE)
_COPY_FORM = re.compile(r"\s*format\s+'?(\w+)'?\s*", re.IGNORECASE)
_ANALYZE = re.compile(r"\banaly[sz]e\b|\bformat\s+(?!text)\w", re.IGNORECASE)


@dataclass(frozen=True)
class Statement:
    """One statement: what it is for, its text, and where that begins in the text that was sent.

    Of EXPLAIN and COPY, `text` is the SELECT; `explained` and `copied` say what is done with it.
    """

    kind: str
    text: str
    start: int = 0
    explained: bool = False
    copied: str = ""  # text or binary


def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of a text as PostgreSQL has them; those of short texts are remembered."""
    return _remembered(text) if len(text) <= _SHORT else _tokens(text)


def _tokens(text: str) -> tuple[Token, ...]:
    try:
        return tuple(POSTGRES.tokenize(text))
    except (SqlglotError, RecursionError):
        raise SqlError(SYNTAX, "A quote or a comment is not closed.", position=len(text)) from None


_remembered = lru_cache(256)(_tokens)


def split(text: str, tables: Collection[str]) -> list[Statement]:
    """The statements of a text, about a data set of these tables; none if it is empty."""
    return [_read(part, start, tables) for part, start in _parts(text)]


def _parts(text: str) -> Iterator[tuple[str, int]]:
    start = end = None
    for token in (*tokens_of(text), None):
        if token is None or token.token_type == TokenType.SEMICOLON:
            if start is not None and end is not None:
                yield text[start : end + 1], start
            start = end = None
            continue
        start, end = token.start if start is None else start, token.end


def _read(text: str, start: int, tables: Collection[str]) -> Statement:
    found = _FIRST.match(text)
    word = "" if found is None else found[1].lower()
    if word in _READING or text.startswith("("):
        return Statement(_asks(text, tables), text, start)
    kind = _WORDS.get(word)
    if kind is None:
        says = "Only questions are answered here: SELECT, EXPLAIN SELECT, COPY (SELECT ...) TO STDOUT, SHOW and SET."
        raise SqlError("0A000", says, position=start + 1)
    if kind == "explain":
        return _explained(text, start, tables)
    return _copied(text, start, tables) if kind == "copy" else Statement(kind, text, start)


def _explained(text: str, start: int, tables: Collection[str]) -> Statement:
    head = _EXPLAIN.match(text)
    if head is None or _ANALYZE.search(head[0]):
        says = "EXPLAIN SELECT shows what a question costs, as text; it buys nothing, so there is nothing to analyze."
        raise SqlError("0A000", says, "Write EXPLAIN SELECT ...", start + 1)
    inner = _read(text[head.end() :], start + head.end(), tables)
    if inner.kind != "question":
        raise SqlError("0A000", "EXPLAIN is for questions about the tables of the data set.", position=start + 1)
    return replace(inner, explained=True)


def _copied(text: str, start: int, tables: Collection[str]) -> Statement:
    head, tail = _COPY.match(text), _COPY_END.search(text)
    if head is None or tail is None:
        raise SqlError("0A000", "COPY is for answers alone.", "Write COPY (SELECT ...) TO STDOUT.", start + 1)
    options = tail[1] or ""
    named = _COPY_FORM.fullmatch(options)
    form = (named[1] if named else tail[2] or "text").lower()
    if (options.strip() and not named) or form not in ("text", "binary"):
        raise SqlError("0A000", "COPY writes FORMAT text or FORMAT binary, without other options.", position=start + 1)
    inside = text[head.end() : tail.start()]
    begins = len(inside) - len(inside.lstrip())
    inner = _read(inside.strip(), start + head.end() + begins, tables)
    if inner.kind not in ("question", "catalogue", "own"):
        raise SqlError("0A000", "COPY is for answers alone.", "Write COPY (SELECT ...) TO STDOUT.", start + 1)
    return replace(inner, copied=form)


def _asks(text: str, tables: Collection[str]) -> str:
    """Whether a SELECT is about a table of the data set, about tacit's own tables, or about neither."""
    tokens = tokens_of(text)
    kind = "catalogue"
    for i, token in enumerate(tokens):
        if token.token_type == TokenType.WITH and i and tokens[i - 1].token_type == TokenType.SELECT:
            return "question"  # SELECT WITH DIFFERENTIAL_PRIVACY
        if token.token_type not in _NAMES:
            continue
        at, schema = i - 1, ""
        if at > 0 and tokens[at].token_type == TokenType.DOT:
            at, schema = at - 2, tokens[at - 1].text.lower()
        if at < 0 or tokens[at].token_type not in _BEFORE_TABLES:
            continue
        name = token.text if token.token_type == TokenType.IDENTIFIER else token.text.lower()
        if schema == "tacit":
            kind = "own"
        elif name in tables and schema not in _CATALOGUE:
            if not schema and tokens[at].token_type in (TokenType.COMMA, TokenType.L_PAREN) and not _listed(tokens, at):
                continue
            return "question"
    return kind


def _listed(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether a comma or a bracket stands in a list of tables: behind FROM, and before any other clause."""
    depth = 0
    for token in reversed(tokens[:at]):
        kind = token.token_type
        depth += (kind == TokenType.R_PAREN) - (kind == TokenType.L_PAREN)
        depth = max(depth, 0)
        if kind == TokenType.FROM and depth == 0:
            return True
        if kind in (TokenType.SELECT, TokenType.WHERE, TokenType.GROUP_BY, TokenType.ORDER_BY) and depth == 0:
            return False
    return False
