"""What a statement is for, by its words."""

import pytest

from tacit.server.postgres.statements import split

TABLES = frozenset({"people"})


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SELECT COUNT(*) FROM people", "question"),
        ('select count(*) from "people" AS p', "question"),
        ("SELECT COUNT(*) FROM public.people", "question"),
        ("SELECT COUNT(*) FROM set1.people", "question"),
        ("SELECT COUNT(*) FROM (SELECT * FROM people) q", "question"),
        ("SELECT 1 FROM pg_class, people", "question"),
        ("WITH x AS (SELECT age FROM people) SELECT COUNT(*) FROM x", "question"),
        ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) COUNT(*) FROM nothing", "question"),
        ("SELECT 'people' FROM pg_class WHERE relname = 'people'", "catalogue"),
        ("SELECT a, people FROM pg_class", "catalogue"),
        ("SELECT f(people) FROM pg_class", "catalogue"),
        ("SELECT * FROM pg_catalog.people", "catalogue"),
        ("SELECT 1", "catalogue"),
        ("SELECT * FROM tacit.history", "own"),
        ("BEGIN ISOLATION LEVEL SERIALIZABLE", "begin"),
        ("/* a */ show all", "show"),
        ("SET x = 'a;b'", "set"),
    ],
)
def test_each_is_recognised(text, kind):
    assert [statement.kind for statement in split(text, TABLES)] == [kind]


def test_a_text_is_divided_where_statements_end():
    text = "SELECT ';', E'\\';', $$;$$ -- ;\n; /* ; */ ; SHOW x;COMMIT"
    parts = split(text, TABLES)
    assert [part.kind for part in parts] == ["catalogue", "show", "commit"]
    assert all(text[part.start :].startswith(part.text) for part in parts)
