"""What a newer version of tacit wrote is refused, in a sentence that says so and what to do."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit import Budget, NewerVersion, Release, storage
from tacit.core.errors import reading
from tacit.curator import Curator
from tacit.ledger import Ledger
from tacit.ledger.entries import Entry, Head
from tacit.testing._ledger import TENTH, key
from tacit.workloads import marginals

SAID = r"was written by a newer version of tacit: .*\. Update tacit to read it\."
SCHEMA = """
[table]
name = "visits"
unit = "row"
[columns.year]
type = "category"
values = ["2023", "2024"]
"""
ROWS = [{"year": "2023"}] * 30 + [{"year": "2024"}] * 20


def curator(place: Path) -> Curator:
    return Curator(tacit.Table(ROWS, SCHEMA), ledger=place, budget=Budget(epsilon=10))


def rewritten(place: Path, change: Any) -> None:
    """A ledger as a newer version would have written it: each entry is sealed again after a change."""
    raw = sqlite3.connect(place)
    names = [row[1] for row in raw.execute("PRAGMA table_info(entries)")]
    rows = [dict(zip(names, row, strict=True)) for row in raw.execute("SELECT * FROM entries ORDER BY seq")]
    triggers = raw.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        raw.execute(f"DROP TRIGGER {name}")
    previous = "0" * 64
    for row in rows:
        body, data = change(json.loads(row["body"]), row["data"])
        sealed = Entry.after(Head(body["seq"] - 1, previous), "", {}, data).body
        entry = Entry({**body, "previous": previous, "data": sealed["data"]}, data)
        previous = entry.head.hash
        known = entry.row()
        raw.execute(
            f"UPDATE entries SET {', '.join(f'{name} = :{name}' for name in known)} WHERE seq = :seq",
            known,
        )
    for _, sql in triggers:
        raw.execute(sql)
    raw.commit()
    raw.close()
    place.with_name(f"{place.name}.head").unlink(missing_ok=True)


def test_a_release(tmp_path: Path) -> None:
    with curator(tmp_path / "a.ledger") as c:
        text = c.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1).to_json().decode()
    assert Release.from_json(text).names == ("n",)
    for then, now in (
        ('"is":"Laplace"', '"is":"Levy"'),
        ('"is":"Laplace"', '"is":"Laplace","v":2'),
        ('"is":"Scan"', '"is":"Scan","v":2'),
        ('"format":2', '"format":3'),
    ):
        assert then in text
        with pytest.raises(NewerVersion, match=f"^This release {SAID}$"):
            Release.from_json(text.replace(then, now))


def test_a_text_that_cannot_be_read() -> None:
    """The message begins as a sentence does; it shows nothing of the text."""
    with (
        pytest.raises(tacit.BadParameter, match=r"^This release cannot be read: .*\.$") as refused,
        reading("this release"),
    ):
        storage.loads('{"is":"Laplace"}')
    assert refused.value.given == "'other text'"


def test_the_format_of_a_ledger(tmp_path: Path) -> None:
    place = tmp_path / "a.ledger"
    Ledger.open(place, Budget(epsilon=1)).close()

    def change(body: Any, data: Any) -> Any:
        return ({**body, "format": 3}, data) if body["kind"] == "opening" else (body, data)

    rewritten(place, change)
    with pytest.raises(tacit.LedgerUnavailable, match=r"newer version of tacit wrote it \(format 3.*update tacit"):
        Ledger.open(place)


def test_the_loss_of_a_charge(tmp_path: Path) -> None:
    place = tmp_path / "a.ledger"
    with Ledger.open(place, Budget(epsilon=1)) as ledger:
        ledger.charge(key=key("q"), loss=TENTH, analyst="ann")

    def change(body: Any, data: Any) -> Any:
        return json.loads(json.dumps(body).replace('"is": "Pure"', '"is": "Purest"')), data

    rewritten(place, change)
    with Ledger.open(place) as ledger:
        for act in (ledger.verify, ledger.spent, ledger.history, lambda: ledger.find(key("q"))):
            with pytest.raises(NewerVersion, match=f"^An entry of this ledger {SAID}$"):
                act()


@pytest.mark.parametrize("newer", [{"kind": "dream"}, {"colour": "blue"}])
def test_the_purpose_of_a_charge(tmp_path: Path, newer: dict[str, str]) -> None:
    place = tmp_path / "a.ledger"
    with Ledger.open(place, Budget(epsilon=1)) as ledger:
        ledger.charge(key=key("q"), loss=TENTH, analyst="ann")

    def change(body: Any, data: Any) -> Any:
        return ({**body, "purpose": {**body["purpose"], **newer}}, data) if body["kind"] == "charge" else (body, data)

    rewritten(place, change)
    with Ledger.open(place) as ledger:
        (charge,) = ledger.history()
        with pytest.raises(NewerVersion, match=f"^An entry of this ledger {SAID}$"):
            charge.purpose  # noqa: B018


@pytest.mark.parametrize(
    ("then", "now", "what"),
    [
        ('"is": "Laplace"', '"is": "Levy"', "This charge"),
        ('"is": "Laplace"', '"is": "Laplace", "v": 2', "This charge"),
        ('"kind": "question"', '"kind": "dream"', "An entry of this ledger"),
    ],
)
def test_a_charge_that_is_still_open(tmp_path: Path, monkeypatch: Any, then: str, now: str, what: str) -> None:
    """It is not completed, and the asker learns why, however often they ask; nothing is read."""
    place, text = tmp_path / "a.ledger", "SELECT COUNT(*) AS n FROM visits"
    with curator(place) as c:
        monkeypatch.setattr(c.ledger, "store", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            c.ask(text, epsilon=1)

    def change(body: Any, data: Any) -> Any:
        if body["kind"] != "charge" or body["purpose"]["kind"] != "question":
            return body, data
        written = json.dumps(body["purpose"])
        assert then in written
        return {**body, "purpose": json.loads(written.replace(then, now))}, data

    rewritten(place, change)
    with curator(place) as c:
        for _ in range(2):
            with pytest.raises(NewerVersion, match=f"^{what} {SAID}$"):
                c.ask(text, epsilon=1)
            assert not c._registration.registered
        (charge,) = c.history()
        assert charge.release is None and c.remaining == 9
        assert c.ask(text, epsilon=1, fresh=True).noisy and c.remaining == 8


@pytest.mark.parametrize("terms", [None, {}, {"mechanisms": [], "beta": "1/20"}])
def test_a_charge_that_does_not_say_what_it_paid_for(tmp_path: Path, monkeypatch: Any, terms: Any) -> None:
    place, text = tmp_path / "a.ledger", "SELECT COUNT(*) AS n FROM visits"
    with curator(place) as c:
        monkeypatch.setattr(c.ledger, "store", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            c.ask(text, epsilon=1)

    def change(body: Any, data: Any) -> Any:
        question = body["kind"] == "charge" and body["purpose"]["kind"] == "question"
        return ({**body, "purpose": {**body["purpose"], "terms": terms}} if question else body), data

    rewritten(place, change)
    with curator(place) as c:
        with pytest.raises(tacit.LedgerConflict, match="does not say what it paid for"):
            c.ask(text, epsilon=1)
        assert c.ask(text, epsilon=1, fresh=True).noisy and c.remaining == 8


@pytest.mark.parametrize(
    "wrong",
    [
        {"loss": {"is": "Loss", "relation": None, "terms": [[{"is": "Pure", "epsilon": {"/": "1/10"}}, -1]]}},
        {"loss": {"is": "set", "items": {"is": "range", "start": 0, "stop": 10**12, "step": 1}}},
        {"analyst": None},
    ],
)
def test_a_charge_that_is_none_is_a_corrupt_entry(tmp_path: Path, wrong: dict[str, Any]) -> None:
    place = tmp_path / "a.ledger"
    with Ledger.open(place, Budget(epsilon=1)) as ledger:
        ledger.charge(key=key("q"), loss=TENTH, analyst="ann")
    rewritten(place, lambda body, data: ({**body, **wrong}, data) if body["kind"] == "charge" else (body, data))
    with Ledger.open(place) as ledger:
        for act in (ledger.verify, ledger.spent):
            with pytest.raises(tacit.LedgerCorrupt, match="Entry 2"):
                act()


@pytest.mark.parametrize(
    "wrong", [{"budget": None}, {"least_share": "-1/2"}, {"least_share": "abc"}, {"budget": {"epsilon": "1/0"}}]
)
def test_an_opening_that_is_none_is_a_corrupt_entry(tmp_path: Path, wrong: dict[str, Any]) -> None:
    place = tmp_path / "a.ledger"
    Ledger.open(place, Budget(epsilon=1)).close()
    rewritten(place, lambda body, data: ({**body, **wrong}, data))
    with pytest.raises(tacit.LedgerCorrupt, match="opening entry cannot be read"):
        Ledger.open(place)


def test_a_workload_release(tmp_path: Path) -> None:
    place = tmp_path / "a.ledger"
    with curator(place) as c:
        c.answer(marginals(c.table.domain("year"), k=1), epsilon=1)

    def change(body: Any, data: Any) -> Any:
        newer = body["kind"] == "release" and body["form"] == "workload"
        return body, re.sub(rb'"is":"WorkloadRelease"', b'"is":"WorkloadRelease","v":2', data) if newer else data

    rewritten(place, change)
    with curator(place) as c:
        for act in (lambda w: c.answer(w, epsilon=1), c.query):
            with pytest.raises(NewerVersion, match=f"^This release {SAID}$"):
                act(marginals(c.table.domain("year"), k=1))
        bought = c.answer(marginals(c.table.domain("year"), k=1), epsilon=2)  # by which others are answered
        assert c.query(marginals(c.table.domain("year"), k=1)).answers.tolist() == bought.answers.tolist()
