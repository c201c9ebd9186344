"""The text of a question: its tokens, and the position of each part for errors.

The parser tries several readings of some constructs in turn, which takes time exponential in their nesting.  So the
names of types are plain names except where a type can stand, brackets of arrays and structs are refused before they are
parsed, and the parser may take a fixed number of steps for each token.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import ClassVar

from sqlglot import Dialect, ParseError, Parser, Token, TokenType, exp
from sqlglot.errors import SqlglotError

from ...core.errors import BadQuestion, Missing
from .options import CLOSING, OPENING, Options, taken

LONGEST = 1 << 16  # bytes of a question
DEEPEST = 64  # brackets within one another
MOST_LOOKED_UP = 200_000  # labels and periods, in all functions of a question
STEPS = 8  # of the parser, for each token
NOT_UNDERSTOOD = (TokenType.L_BRACKET, TokenType.R_BRACKET, TokenType.L_BRACE, TokenType.R_BRACE)
CLAUSES = (TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.ORDER_BY)
ENDING = (None, TokenType.COMMA, TokenType.R_PAREN, *CLAUSES)  # what ends a list, and so follows no comma
TYPES = Parser.TYPE_TOKENS - {TokenType.NULL, TokenType.INTERVAL, TokenType.UNION, TokenType.RANGE}  # more than types
TYPED = (TokenType.ALIAS, TokenType.DCOLON)  # what a type follows
BRANCHES = (TokenType.WHEN, TokenType.THEN, TokenType.ELSE)
PARTING = (TokenType.AND, TokenType.OR, TokenType.COMMA, TokenType.SELECT, TokenType.JOIN, TokenType.ON)
EQUALITIES = (TokenType.EQ, TokenType.NEQ, TokenType.NULLSAFE_EQ)
COMPARING = {*EQUALITIES, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE}
COMPARING |= {TokenType.IN, TokenType.LIKE, TokenType.ILIKE, TokenType.RLIKE, TokenType.TILDE, TokenType.BETWEEN}
BEING = {TokenType.IS, TokenType.ISNULL, TokenType.NOTNULL}
_WORDS = re.compile("(?<=[a-z])(?=[A-Z])")  # where the parser puts two words together
_UNREADABLE = re.compile("[\0\ud800-\udfff]")
SIGNS = {
    **{"dpipe": "||", "intdiv": "DIV"},
    **{"bitwiseand": "&", "bitwiseor": "|", "bitwisexor": "^", "bitwisenot": "~"},
    **{"bitwiseleftshift": "<<", "bitwiserightshift": ">>"},
}  # how operators are written for which the parser has a word of its own
KEPT = (
    "ARRAY_AGG",
    "COALESCE",
    "COUNT",
    "GREATEST",
    "IFNULL",
    "LEAST",
    "LIKE",
    "LOWER",
    "MOD",
    "NVL",
    "UNNEST",
    "UPPER",
)
UNREADABLE = "This SQL cannot be parsed."
BAD_CAST = "CAST needs INTEGER, DOUBLE, BOOLEAN, DATE, TIMESTAMP or VARCHAR as its type."


class _TooManySteps(Exception):
    """The parser went back and forth too often."""


class _Parser(Dialect.parser_class):  # type: ignore[misc, valid-type]  # a class that sqlglot keeps in a variable
    """A parser that takes at most `STEPS` steps for each token, forward or back.

    Some of its functions put an argument in several places of the tree, which then grows exponentially with nesting;
    only those are known here that keep their arguments as they are.

    sqlglot has no public hook for a step of its parser: `_advance` is a private method, and a test checks that every
    token passes through it.
    """

    FUNCTIONS: ClassVar = {
        name: made for name, made in Parser.FUNCTIONS.items() if inspect.ismethod(made) or name in KEPT
    }
    steps = 0
    most = 0

    def parse(self, raw_tokens: list[Token], sql: str) -> list[exp.Expr | None]:
        self.steps, self.most = 0, STEPS * (len(raw_tokens) + 10)
        trees: list[exp.Expr | None] = super().parse(raw_tokens, sql)
        return trees

    def _advance(self, times: int = 1) -> None:
        self.steps += 1
        if self.steps > self.most:
            raise _TooManySteps
        super()._advance(times)


class _Dialect(Dialect):
    """Plain SQL, where missing values stand last in every order."""

    NULL_ORDERING = "nulls_are_last"
    parser_class = _Parser


def _parser(dialect: Dialect) -> Parser:
    try:
        return dialect.parser()
    except TypeError:
        raise Missing(
            "tacit limits the steps of sqlglot's parser, which the compiled parser of sqlglotc does not allow; "
            "pip uninstall sqlglotc"
        ) from None


class Text:
    """The text of one statement; `today` is what CURRENT_DATE means in it, by default today's date in UTC."""

    def __init__(self, text: str, today: date | None = None) -> None:
        if not isinstance(text, str):
            raise BadQuestion("A question in SQL must be text.")
        if len(text) > LONGEST or len(text.encode(errors="replace")) > LONGEST:
            raise BadQuestion(f"A question may have at most {LONGEST} bytes.", (1, 1))
        self.text, self.looked_up, self.today = text, 0, today or datetime.now(UTC).date()
        if unreadable := _UNREADABLE.search(text):
            raise BadQuestion("A question must not contain NUL or surrogates.", self.place(unreadable.start()))

    def place(self, offset: int) -> tuple[int, int]:
        """The line and the column of a character, both counted from 1."""
        before = self.text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

    def at(self, node: exp.Expr) -> tuple[int, int]:
        """Where a part of the question begins, or the smallest part around it whose position the parser recorded."""
        place: exp.Expr | None = node
        while place is not None:
            starts = [n.meta["start"] for n in place.walk() if "start" in n.meta]
            if starts:
                return self.place(min(starts))
            place = place.parent
        return 1, 1

    def word(self, node: exp.Expr) -> str:
        """The text of a part of the question, or else the parser's name for it."""
        start, end = node.meta.get("start"), node.meta.get("end")
        if start is not None and end is not None:
            written = self.text[start : end + 1]
        else:
            named = node.sql_name() if isinstance(node, exp.Func) else _WORDS.sub(" ", type(node).__name__)
            written = SIGNS.get(node.key, named)
        return written.upper()[:40]

    def bad(self, node: exp.Expr, reason: str) -> BadQuestion:
        """A refusal at the position of a part of the question, or of the constant in it that the reason quotes."""
        about = reason.partition(" is not one of ")[0], reason.rpartition("; got ")[2].rstrip(".")
        constants = (part for part in node.find_all(exp.Literal) if repr(part.this[:40]) in about)
        return BadQuestion(reason, self.at(next(constants, node)))

    def looks_up(self, entries: int) -> None:
        """Count labels or periods that a function lists, and refuse more of them than one question may list."""
        self.looked_up += entries
        if self.looked_up > MOST_LOOKED_UP:
            raise BadQuestion(
                f"The functions of this question go through more than {MOST_LOOKED_UP} labels and periods (LIKE, LOWER,"
                " UPPER and CAST through each label, DATE_TRUNC, WEEK and DOY through each period). Use fewer of them,"
                " or ask several questions."
            )

    def read(self) -> tuple[exp.Expr, Options]:
        """The parser's tree of the statement, and its options."""
        dialect = _Dialect()
        parser = _parser(dialect)
        try:
            tokens = list(dialect.tokenize(self.text))
        except SqlglotError:
            raise BadQuestion("A quote or a comment is not closed.", self.place(len(self.text))) from None
        while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
            tokens.pop()
        self._check(tokens)
        tokens, options = taken(self, [*_named(_joined(tokens))])
        try:
            trees = [tree for tree in parser.parse(tokens, self.text) if tree is not None]
        except ParseError as error:
            raise self._unreadable(error, tokens) from None
        except RecursionError:
            raise
        except _TooManySteps:
            raise BadQuestion("This takes too long to parse. Write it with less nesting.", (1, 1)) from None
        except Exception:  # the parser may raise anything on a text that it cannot parse
            raise BadQuestion(UNREADABLE, (1, 1)) from None
        if len(trees) != 1:
            raise BadQuestion("A question must be one SELECT.", (1, 1))
        return trees[0], options

    def _check(self, tokens: list[Token]) -> None:
        if not tokens or tokens[0].token_type not in (TokenType.SELECT, TokenType.WITH):
            raise BadQuestion(
                "A question must begin with SELECT or WITH.", self.place(tokens[0].start if tokens else 0)
            )
        depth = 0
        for token in tokens:
            if token.token_type == TokenType.SEMICOLON:
                raise BadQuestion("A question must be a single statement.", self.place(token.start))
            if token.token_type in NOT_UNDERSTOOD:
                raise BadQuestion("Arrays, maps and structs are not supported.", self.place(token.start))
            depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
            if depth > DEEPEST:
                raise BadQuestion(f"Brackets may be nested at most {DEEPEST} deep.", self.place(token.start))
        kinds = [None, *(token.token_type for token in tokens), None]
        for token, before, kind, after in zip(tokens, kinds, kinds[1:], kinds[2:], strict=False):
            if kind in Parser.NESTED_TYPE_TOKENS and before in TYPED and after == TokenType.LT:
                raise BadQuestion(
                    "CAST needs INTEGER, DOUBLE, BOOLEAN, DATE, TIMESTAMP or VARCHAR as its type.",
                    self.place(token.start),
                )
            if kind == TokenType.COMMA and (before in (TokenType.SELECT, TokenType.L_PAREN) or after in ENDING):
                raise BadQuestion("A comma must stand between two values.", self.place(token.start))
        self._bracketed(tokens)

    def _bracketed(self, tokens: list[Token]) -> None:
        """Refuse a = b IS NULL without brackets: SQL reads it as (a = b) IS NULL, the parser as a = (b IS NULL)."""
        levels: list[set[TokenType]] = [set()]  # in each open bracket, what there is since the last AND, OR or clause
        for before, token in zip((None, *tokens), tokens, strict=False):
            kind, here = token.token_type, levels[-1]
            if before is not None and before.token_type == TokenType.DISTINCT and kind == TokenType.FROM:
                continue  # of IS DISTINCT FROM
            if kind in OPENING:
                levels.append(set())
            elif kind in CLOSING:
                levels = levels[:-1] or [set()]
            elif kind == TokenType.AND and TokenType.BETWEEN in here:
                here.remove(TokenType.BETWEEN)
            elif kind in (*PARTING, *CLAUSES, *BRANCHES):
                here.clear()
            else:
                here.add(kind)
                if here & COMPARING and here & BEING:
                    raise BadQuestion(
                        "A comparison and IS stand side by side. Put one of them in brackets.", self.place(token.start)
                    )

    def _unreadable(self, error: ParseError, tokens: list[Token]) -> BadQuestion:
        first_error = error.errors[0] if error.errors else {}
        at = (token for token in tokens if (token.line, token.col) == (first_error.get("line"), first_error.get("col")))
        token = next(at, tokens[-1])
        word = token.text[:40]
        reserved = token.token_type == _Dialect.tokenizer_class.KEYWORDS.get(word.upper()) and word.isalpha()
        hint = f' It is a reserved word: write "{word}" in double quotes if it is a column.'
        hint = hint if reserved and token.token_type not in CLAUSES else ""
        hint = (
            " Write x DIV y for the whole quotient." if self.text[token.start - 1 : token.start + 1] == "//" else hint
        )
        return BadQuestion(f"This SQL cannot be parsed near {word!r}.{hint}", self.place(token.start))


def _joined(tokens: list[Token]) -> list[Token]:
    """The tokens, with PostgreSQL's ~, ~*, !~ and !~* and its types WITH TIME ZONE as the parser knows them."""
    joined: list[Token] = []
    for token in tokens:
        last, text = joined[-1] if joined else None, token.text.upper()
        touches = last is not None and last.end + 1 == token.start
        if token.token_type == TokenType.TILDE:
            if touches and last is not None and last.text == "!":
                joined[-1] = _as(last, TokenType.NOT)
            joined.append(_as(token, TokenType.RLIKE))
        elif touches and last is not None and last.token_type == TokenType.RLIKE and last.text == "~" and text == "*":
            joined[-1] = _as(last, TokenType.IRLIKE)
        else:
            joined.append(token)
            zone = [each.text.upper() for each in joined[-4:]]
            if zone[1:] in (["WITH", "TIME", "ZONE"], ["WITHOUT", "TIME", "ZONE"]) and zone[0] == "TIMESTAMP":
                joined[-4:] = joined[-4:-3]
    return joined


def _as(token: Token, kind: TokenType) -> Token:
    return Token(kind, token.text, token.line, token.col, token.start, token.end, token.comments)


def _named(tokens: list[Token]) -> Iterator[Token]:
    """The tokens, with names of types as plain names unless a type can stand there: CAST(x AS DATE), x::DATE.

    Before text such a name is the type of a constant: DATE '2020-12-31'.
    """
    kinds = [None, *(token.token_type for token in tokens), None]
    for token, before, after in zip(tokens, kinds, kinds[2:], strict=False):
        typed = before in TYPED or after == TokenType.STRING
        if typed or token.token_type not in TYPES:
            yield token
        else:
            yield _as(token, TokenType.VAR)
