"""Every function that SQL understands is in the corpus and in the documentation."""

import re
from pathlib import Path

import pytest
from sqlglot import exp

from tacit.query.sql import aggregates, functions, row_expressions
from tacit.query.sql.functions import understood, used
from tacit.query.sql.lexer import Text

from .test_sql import ACCEPTED

ROOT = Path(__file__).parent.parent.parent


def not_in_the_corpus() -> set[str]:
    seen = set[str]().union(*(used(Text(sql).read()[0]) for sql, _ in ACCEPTED))
    return set(understood()) - seen


def not_in_the_docs() -> set[str]:
    text = (ROOT / "docs" / "tables.md").read_text("utf-8")
    (section,) = re.findall(r"^## What SQL is understood\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    code = " ".join(re.findall(r"`([^`]+)`", section))
    named = {name: [re.escape(way) for way in ways] for name, ways in understood().items() if ways}
    return {
        name for name, ways in named.items() if not any(re.search(rf"(?<![\w]){way}(?![\w])", code) for way in ways)
    }


def test_every_function_is_in_the_corpus():
    assert not_in_the_corpus() == set()


def test_every_function_is_in_the_docs():
    assert not_in_the_docs() == set()


PLANTED = [
    (row_expressions.UNARY, exp.Soundex, "Soundex"),
    (row_expressions.NAMED, "SOUNDS_LIKE", "SOUNDS_LIKE"),
    (aggregates.SIMPLE, exp.Skewness, "Skewness"),
    (aggregates.NAMED, "HARMONIC_MEAN", "HARMONIC_MEAN"),
]


@pytest.mark.parametrize(("table", "key", "name"), PLANTED)
def test_a_function_that_is_nowhere_is_named(monkeypatch, table, key, name):
    monkeypatch.setitem(table, key, None)
    assert not_in_the_corpus() == not_in_the_docs() == {name}


def test_an_operator_says_how_it_is_written(monkeypatch):
    monkeypatch.setitem(row_expressions.BINARY, exp.BitwiseAnd, None)
    with pytest.raises(LookupError, match="BitwiseAnd"):
        understood()


def test_what_is_no_function_has_a_word_of_its_own():
    assert all(functions.WRITTEN[kind] or kind in (exp.Column, exp.Literal, exp.Paren) for kind in functions.WRITTEN)
