"""Bodies that no honest client sends are refused before they mean anything, and no answer repeats a word of them."""

import json

import pytest

from tacit.server.service.texts import own_words, shown

from .conftest import COUNT

WORD = "qwxzjv"  # which stands in no text of tacit's
SQL = f"SELECT COUNT(*) FROM people WHERE note = '{WORD}'"
RAW = {
    "twice": b'{"sql": "a", "sql": "b"}',
    "twice, deep": b'{"sql": "a", "terms": {"epsilon": "1", "epsilon": "2"}}',
    "twice, by escapes": b'{"sql": "a", "\\u0073ql": "b"}',
    "NaN": b'{"sql": "a", "terms": {"epsilon": NaN}}',
    "infinity": b'{"sql": "a", "terms": {"epsilon": Infinity}}',
    "too large": b'{"sql": "a", "terms": {"epsilon": 1e999}}',
    "a float": b'{"sql": "a", "terms": {"epsilon": 0.1}}',
    "mark": b'\xef\xbb\xbf{"sql": "a"}',
    "UTF-16": '{"sql": "a"}'.encode("utf-16"),
    "no UTF-8": b'{"sql": "\xff"}',
    "surrogate": b'{"sql": "\\ud800"}',
    "deep lists": b'{"query": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    "deep objects": b'{"query": ' + b'{"a":' * 5000 + b"1" + b"}" * 5001,
    "deep behind text": b'{"sql": "' + b"[" * 50 + b'", "query": ' + b"[" * 40 + b"]" * 40 + b"}",
    "many digits": b'{"sql": "a", "terms": {"epsilon": ' + b"9" * 400 + b"}}",
    "many digits in text": b'{"sql": "a", "terms": {"epsilon": "' + b"9" * 400 + b'"}}',
    "unknown member": json.dumps({WORD: 1}).encode(),
    "unknown member, deep": json.dumps({"sql": "a", "terms": {WORD: "1"}}).encode(),
    "a list": b"[]",
    "null": b"null",
    "nothing": b"",
    "two values": b'{"sql": "a"} {"sql": "b"}',
    "a comment": b'{"sql": "a" /* b */}',
    "single quotes": b"{'sql': 'a'}",
    "trailing comma": b'{"sql": "a",}',
    "a number for text": b'{"sql": 1}',
    "text for a flag": json.dumps({"sql": "a", "fresh": {"a": WORD}}).encode(),
    "a control": b'{"sql": "a\x00"}',
}


@pytest.mark.parametrize("name", RAW)
def test_a_body_that_means_two_things_or_none_is_refused(world, name):
    reply = world.ask("POST", world.on("/asks"), "ana", raw=RAW[name])
    assert reply.status in (400, 422) and reply.code == "bad_request"
    assert WORD not in reply.content.decode()
    assert reply.headers["Content-Type"] == "application/json"


def test_brackets_within_text_are_no_nesting(world):
    question = {"sql": "SELECT COUNT(*) FROM people WHERE note = '" + "[{" * 100 + "'", "terms": {"epsilon": "1"}}
    assert world.ask("POST", world.on("/offers"), "ana", question).status == 200


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/json"]
)
def test_only_json_is_read(world, kind):
    """A form of another site can send these, and nothing else, without a browser asking first."""
    reply = world.ask("POST", world.on("/asks"), "ana", raw=b"{}", Content_Type=kind)
    assert (reply.status, reply.code) == (415, "bad_request")


def test_a_large_body_is_not_read(world):
    reply = world.ask("POST", world.on("/asks"), "ana", raw=b" " * 65_537)
    assert reply.status == 413 and reply.headers["Connection"] == "close"
    assert world.ask("POST", world.on("/asks"), "ana", raw=json.dumps(COUNT).encode().ljust(65_536)).status == 200


REFUSED = [
    {"sql": SQL.replace("note", WORD)},
    {"sql": f"SELECT {WORD}(*) FROM people"},
    {"sql": f"SELECT COUNT(*) FROM {WORD}"},
    {"sql": f"SELECT COUNT(*) FROM people WHERE region = '{WORD}'"},
    {"sql": f"SELECT COUNT(*) AS {WORD}, SUM(age) AS {WORD} FROM people"},
    {"sql": f"SELECT COUNT(*) FROM people WHERE age > '{WORD}'"},
    {"sql": f"SELECT COUNT(*) FROM people GROUP BY {WORD}"},
    {"sql": f"{WORD}"},
    {"sql": f"SELECT '{WORD}"},
    {"sql": f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({WORD} = 1) COUNT(*) FROM people"},
    {"sql": f"SELECT COUNT(*) FROM people -- {WORD} \n WHERE"},
    {"query": {"is": WORD}},
    {"query": {"is": "Query", WORD: 1}},
    {"query": {"is": "Query", "relation": {"is": WORD}}},
    {"sql": SQL, "terms": {"epsilon": "1", "share": "0.1"}},
    {"sql": SQL, "terms": {"epsilon": "5e"}},
    {"sql": SQL, "terms": {"epsilon": "-1"}},
]


@pytest.mark.parametrize("body", REFUSED, ids=str)
def test_no_refusal_repeats_the_request(world, body):
    for rest in ("/offers", "/asks", "/rehearsals"):
        reply = world.ask("POST", world.on(rest), "ana", {"terms": {"epsilon": "1"}, **body})
        assert reply.status in (400, 403, 422), reply.content
        assert WORD not in reply.content.decode()


def test_names_elsewhere_are_not_repeated_either(world):
    for method, path, body in (
        ("POST", world.on("/bounds"), {"column": WORD, "terms": {"epsilon": "1"}}),
        ("POST", world.on("/answers"), {"attributes": [WORD], "terms": {"epsilon": "1"}}),
        ("POST", world.on("/plans"), {"attributes": ["region"], "terms": {"epsilon": WORD}}),
        ("POST", world.on("/online"), {"attributes": ["region"], "name": WORD, "terms": {"epsilon": "0.0001"}}),
        ("POST", world.on(f"/streams/{WORD}/asks"), {"sql": SQL}),
        ("GET", f"/v1/jobs/{WORD}", None),
        ("GET", f"/v1/releases/{WORD}", None),
        ("GET", world.on(f"/history?format={WORD}"), None),
        ("GET", world.on(f"/history?before={WORD}"), None),
        ("GET", f"/v1/{WORD}", None),
        ("GET", world.on("", WORD), None),
    ):
        reply = world.ask(method, path, "ana", body)
        assert 400 <= reply.status < 500, (path, reply.content)
        assert WORD not in reply.content.decode(), path
    for who, path, body in (
        ("owner", "/v1/users", {"name": f"{WORD}\u200b"}),
        ("owner", "/v1/datasets", {"name": "more", "tables": [{"data": f"/etc/{WORD}.parquet"}]}),
        ("owner", "/v1/datasets", {"name": WORD.upper(), "tables": [{"data": "/etc/passwd"}]}),
        ("owner", f"/v1/users/{WORD}/tokens", {}),
    ):
        reply = world.ask("POST", path, who, body)
        assert 400 <= reply.status < 500, reply.content
        assert WORD not in reply.content.decode()


def test_an_error_says_its_own_words_and_public_names_alone():
    public = frozenset(("north", "people"))
    assert shown("There is no column 'secret'; the columns are age and north of people.", public) == (
        "There is no column '...'; the columns are age and north of people."
    )
    assert shown("got 'sk-12345' at line 3, column 14") == "got '...-...' at line 3, column 14"
    assert shown(f"a {WORD} b") == "a ... b"
    assert len(shown(f"'{WORD}' " * 10_000)) < 2000
    assert {"column", "epsilon", "budget"} <= own_words() and WORD not in own_words()


def test_positions_and_remedies_are_told(world):
    reply = world.ask("POST", world.on("/offers"), "ana", {"sql": f"SELECT COUNT(*)\nFROM people WHERE {WORD} = 1"})
    error = reply.json()["error"]
    assert (reply.status, error["code"], error["position"]) == (422, "bad_question", [2, 19])
    assert "age" in error["message"]  # the columns that there are
    assert reply.json()["request_id"] == reply.headers["Tacit-Request-Id"]
