"""What leaves the process holds no data but what was paid for: not in bodies, logs, metrics or the store."""

import io
import json
import logging
import re
import warnings

import pytest

import tacit
from tacit.server import log

from .conftest import CANARY, COUNT


@pytest.fixture
def lines(world):
    """The log, as it is written while a test runs."""
    stream = io.StringIO()
    with warnings.catch_warnings():
        log.start(stream)
    yield stream
    logging.getLogger("tacit.server").handlers = []
    logging.getLogger("tacit.server").setLevel(logging.WARNING)


def test_a_line_of_the_log_has_no_value(world, lines):
    body = {
        "sql": "SELECT COUNT(*) AS zqname FROM people WHERE note = 'zqliteral' AND age > 77",
        "terms": {"epsilon": "0.777"},
    }
    reply = world.ask("POST", world.on("/asks"), "ana", body)
    assert reply.status == 200
    world.ask("GET", "/v1/zqpath?zqquery=1", "ana")
    world.ask("POST", world.on("/asks"), "tacit_" + "z" * 43, {"sql": "zq"})
    found = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert found[0].pop("time")
    assert found[0] == {
        "event": "request",
        "request_id": reply.headers["Tacit-Request-Id"],
        "method": "POST",
        "route": "/v1/datasets/{dataset}/asks",
        "status": 200,
        "milliseconds": found[0]["milliseconds"],
        "person": "ana",
    }
    assert found[0]["milliseconds"].bit_count() == 1  # times are powers of two
    for hidden in ("zq", "777", "tacit_", "SELECT"):
        assert hidden not in re.sub(r'"(time|request_id)": "[^"]*"', "", lines.getvalue())


def test_a_mistake_of_ours_is_told_by_its_number_alone(world, lines, monkeypatch):
    def broken(*_, **__):
        raise KeyError(f"a value such as {CANARY}")

    monkeypatch.setattr("tacit.server.service.questions.ask", broken)
    reply = world.ask("POST", world.on("/asks"), "ana", COUNT)
    assert (reply.status, reply.code) == (500, "mistake")
    assert CANARY not in reply.content.decode()
    noted = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [each["event"] for each in noted] == ["mistake", "request"]
    assert noted[0]["request_id"] == reply.json()["request_id"] == noted[1]["request_id"]
    assert noted[0]["kind"] == "KeyError" and "in broken" in noted[0]["at"]
    assert CANARY not in lines.getvalue() and "Traceback" not in lines.getvalue()


def test_the_canary_appears_nowhere(world, lines, tmp_path):
    """It stands in the unit and in a text of every row, so that whatever repeats a cell shows it."""
    seen = []
    for sql in (
        "SELECT COUNT(*) FROM people WHERE note LIKE 'zqcanar%'",
        "SELECT note, COUNT(*) FROM people GROUP BY note",
        "SELECT COUNT(DISTINCT note) FROM people",
        "SELECT MAX(note) FROM people",
        "SELECT SUM(age) FROM people WHERE CAST(note AS INTEGER) = 1",
        "SELECT MEDIAN(age) FROM people",
        "SELECT person, COUNT(*) FROM people GROUP BY person",
    ):
        for form in ("json", "csv", "release"):
            for path in (world.on(f"/asks?format={form}"), world.on(f"/rehearsals?format={form}")):
                seen.append(world.ask("POST", path, "ana", {"sql": sql, "terms": {"epsilon": "0.5"}}))
    for path in ("", "/history", "/remaining", "/ledger?count=1000", "/ledger/export", "/policies"):
        seen.append(world.ask("GET", world.on(path), "owner"))
    for path in ("/health", "/metrics", "/v1/openapi.json", "/v1/acts", "/v1/users", "/v1/jobs", "/v1/datasets"):
        seen.append(world.ask("GET", path, "owner"))
    assert {reply.status for reply in seen} <= {200, 422, 403}
    for reply in seen:
        assert CANARY.encode() not in reply.content and CANARY not in str(reply.headers)
    assert CANARY not in lines.getvalue()
    folder = world.server.folder
    for place in [*folder.glob("service.store*"), *(folder / "ledgers").iterdir()]:
        text = place.read_bytes() if place.is_file() else b""
        assert CANARY.encode() not in text, place


def test_data_that_cannot_be_reached_are_the_operators_business(world, lines):
    """Of data that were moved out of the roots an analyst is told nothing, and the log tells the operator."""
    name = world.server.add(tacit.Budget(epsilon=10))
    other = world.server.add(tacit.Budget(epsilon=10))
    place = world.server.folder / "data" / name
    elsewhere = world.server.folder / "elsewhere"
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    seen = [world.ask("GET", world.on(rest, name), "ana") for rest in ("", "/remaining", "/history")]
    seen += [world.ask("POST", world.on(rest, name), "ana", COUNT) for rest in ("/offers", "/asks", "/rehearsals")]
    assert {(reply.status, reply.code) for reply in seen} == {(503, "unavailable")}
    assert {reply.headers["Retry-After"] for reply in seen} == {"5"}
    for hidden in ("root", "folder", "link", "path", name):
        assert not any(hidden in reply.content.decode() for reply in seen)
    noted = [json.loads(line) for line in lines.getvalue().splitlines()]
    (reason,) = {each["reason"] for each in noted if each["event"] == "data set unavailable"}
    assert "must lie under one of the configured roots" in reason
    assert all(each["dataset"] == name for each in noted if each["event"] == "data set unavailable")
    assert other in {each["name"] for each in world.ask("GET", "/v1/datasets", "owner").json()["datasets"]}
    bought = world.ask("POST", world.on("/asks", other), "owner", COUNT).json()
    assert world.ask("GET", f"/v1/releases/{bought['hash']}", "owner").status == 200
    assert world.ask("GET", f"/v1/releases/{'0' * 64}", "owner").status == 503  # it may be of that data set
    world.ask("DELETE", world.on("", name), "owner")
    assert world.ask("GET", f"/v1/releases/{'0' * 64}", "owner").status == 404


def test_every_answer_is_inert_and_kept_by_nobody(world):
    for reply in (
        world.ask("GET", "/health"),
        world.ask("GET", "/v1/nowhere"),
        world.ask("PUT", "/health"),
        world.ask("GET", "/v1/me"),
        world.ask("POST", world.on("/asks"), "ana", COUNT),
    ):
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["Cache-Control"] == "no-store"
        assert reply.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert reply.headers["Referrer-Policy"] == "no-referrer"
        assert re.fullmatch("[0-9a-f]{16}", reply.headers["Tacit-Request-Id"])
    assert world.ask("PUT", "/health").headers["Allow"]


def test_what_is_measured_is_told_to_owners_alone(world):
    assert world.ask("GET", "/metrics").status == 401 and world.ask("GET", "/metrics", "ana").status == 403
    told = world.ask("GET", "/metrics", "owner").content.decode()
    assert "tacit_request_seconds_bucket" in told
    assert 'tacit_requests_total{method="GET",route="/metrics",status="200"}' in told


def test_cells_of_a_file_are_no_formulas(world):
    reply = world.ask(
        "POST",
        world.on("/asks?format=csv"),
        "ana",
        {"sql": 'SELECT COUNT(*) AS "=1+1" FROM people', "terms": {"epsilon": "0.5"}},
    )
    assert reply.content.startswith(b"'=1+1,")
    history = world.ask("GET", world.on("/history?format=csv"), "ana").content.decode()
    assert history.startswith("entry,hash,time,analyst,kind,what,price")


def test_a_page_of_no_purchases_is_empty(world):
    assert world.ask("GET", world.on("/history?count=0"), "ana").status == 200
