"""Cells that are written in ways of their own: what they mean, what is refused, and what stays as it was."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import BadSchema
from tacit.query.schema.schema import Schema
from tacit.query.values.cells import steps, unit_text
from tacit.query.values.column_types import read_column
from tacit.query.values.reading import date_form

TABLE = '[table]\nname = "t"\nunit = "who"\nrows = 2\n'
MEANINGS = [
    ({"type": "integer", "missing": ["NA", "-999"]}, {"NA": None, "-999": None, -999.0: None, "na": None, "7": 7}),
    (
        {"type": "real", "grid": "0.25", "decimal": ","},
        {"1,5": 6, "1.5": None, "1.234,5": None, ",5": 2, "1,5e1": 60, 1.5: 6},
    ),
    (
        {"type": "boolean", "true": ["Y", "1"], "false": ["N", "2"]},
        {"Y": 1, "N": 0, "y": None, "yes": None, 2: 0, 1: 1},
    ),
    ({"type": "category", "values": ["a"], "missing": [""]}, {"a": 0, "": None, "b": None}),
    (
        {"type": "date", "format": "%d.%m.%Y"},
        {"31.12.1970": 364, "1.1.1970": 0, "30.02.1970": None, "1970-01-01": None, "1.1.70": None},
    ),
    ({"type": "date", "format": "%Y%m%d"}, {"19700102": 1, "1970012": None, datetime.date(1970, 1, 3): 2}),
    (
        {"type": "timestamp", "format": "%m/%d/%Y %H:%M"},
        {"1/2/1970 1:01": 86400 + 3660, "1/2/1970 24:00": None, "1/2/1970": None},
    ),
    ({"type": "text", "missing": ["-"]}, {"-": None, " -": " -"}),
]


@pytest.mark.parametrize(("facts", "cells"), MEANINGS, ids=lambda each: each.get("type", ""))
def test_a_cell_means_what_its_column_says(facts, cells):
    column = read_column("x", facts)
    assert {cell: steps(cell, column) for cell in cells} == cells


def test_words_are_text_and_whole_numbers():
    column = read_column("x", {"type": "boolean", "true": ["1"], "false": ["2"]})
    assert [steps(cell, column) for cell in (True, False, 1, 2, 1.0, 2.0, "true")] == [1, 0, 1, 0, None, None, None]


def test_units_that_are_missing_belong_to_nobody():
    assert [unit_text(cell, ("NA", "99")) for cell in ("NA", 99, 99.0, "99", "na", 7)] == [None] * 4 + ["na", "7"]


@given(st.text(max_size=12))
def test_a_form_of_dates_is_total_and_gives_iso_text(text):
    plain = date_form("%d.%m.%Y").plain(text)
    assert plain is None or (len(plain) == 10 and plain[4] == plain[7] == "-")


REFUSED = [
    ("true = ['Y']", "both `true` and `false`"),
    ("true = ['Y']\nfalse = ['Y']", "cannot be both true and false"),
    ("missing = ['Y']\ntrue = ['Y']\nfalse = ['N']", "cannot be both missing and true or false"),
    ("missing = [1]", "in quotes"),
    ("missing = 7", "a list of at most"),
    ("decimal = ';'", '"." or ","'),
    ("delimiter = ':'", "which is a tab"),
    ("encoding = 'morse'", "one of utf-8"),
    (
        "[columns.c]\ntype = 'category'\nvalues = ['NA']\nmissing = ['NA']",
        "give the column a list `missing` of its own",
    ),
    ("missing = ['NA']\n[columns.c]\ntype = 'category'\nvalues = ['NA', 'EU']", "the label 'NA' cannot also be"),
    ("[columns.d]\ntype = 'date'\nformat = '%d.%m.%y'", "four digits"),
    ("[columns.d]\ntype = 'date'\nformat = '%d.%m'", "once each"),
    ("[columns.d]\ntype = 'date'\nformat = '%d.%m.%Y %M'", "once each"),
    ("[columns.d]\ntype = 'date'\nformat = '%d(%m)%Y'", "between them"),
    ("[columns.d]\ntype = 'text'\nformat = '%d.%m.%Y'", "has no key 'format'"),
    ("[columns.d]\ntype = 'date'\nlower = 'yesterday'\nupper = 2020-01-01", "a date, such as"),
]


@pytest.mark.parametrize(("text", "says"), REFUSED)
def test_what_cannot_be_meant_is_refused_with_a_sentence(text, says):
    with pytest.raises(BadSchema, match=says.replace("(", r"\(")):
        Schema.load(TABLE + text)


def test_quoted_dates_are_the_same_bounds():
    plain, quoted = (
        Schema.load(f"{TABLE}[columns.d]\ntype = 'date'\nlower = {q}2015-01-01{q}\nupper = 2016-01-01\n")
        for q in ("", "'")
    )
    assert plain == quoted and plain.digest == quoted.digest


def test_what_a_table_says_holds_for_its_columns_and_its_unit():
    text = "missing = ['NA', '']\n[columns.x]\ntype = 'integer'\n[columns.y]\ntype = 'integer'\nmissing = []\n"
    schema = Schema.load(TABLE + text)
    assert (
        schema.missing == ("", "NA") and schema["x"].reading.missing == ("", "NA") and not schema["y"].reading.missing
    )
    own = Schema.load(f"{TABLE}{text}[columns.who]\ntype = 'text'\nmissing = ['?']\n")
    assert own.missing == ("?",)
    for each in (schema, own):
        assert Schema.load(each.dumps()) == each and Schema.load(each.dumps()).digest == each.digest


def test_a_schema_without_the_new_keys_is_what_it_was_and_one_with_them_asks_new_questions():
    column = "[columns.x]\ntype = 'integer'\nlower = 0\nupper = 9\n"
    plain = Schema.load(TABLE + column)
    assert (
        plain.dumps()
        == '[table]\nname = "t"\nunit = "who"\nrows = 2\n\n[columns."x"]\ntype = "integer"\nlower = 0\nupper = 9\n'
    )
    assert plain.scan().digest == "3ec00be105e9904b925b52b34ae63dea128a7a5804d609e2ce19611013e55414"
    assert plain.digest == "81a3a32da30a75ae5366c9d5597ff0747b89e1973f93abdb0820bb09b0914f5e"
    others = [
        Schema.load(f"{TABLE}{more}{column}{of}")
        for more, of in (("missing = ['NA']\n", ""), ("", "missing = ['0']\n"))
    ]
    assert len({schema.scan().digest for schema in (plain, *others)}) == 3
    stored = Schema.load(f"{TABLE}delimiter = ';'\nencoding = 'cp1252'\n{column}")
    assert stored.scan() == plain.scan() and stored.digest == plain.digest  # where the rows are is not what they mean
