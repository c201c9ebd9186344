"""One service for all tests of its HTTP door: two data sets, an owner, analysts with and without a policy, a canary."""

import http.client
import json
import time
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

import tacit
from server.serving import Server
from tacit.holdout import Leaderboard
from tacit.ledger import Ledger
from tacit.server.policy import Policy, Price

CANARY = "zqcanary"  # within private values, and nowhere else
SCHEMA = """
[table]
name = "people"
unit = "person"
rows = 2
size = 400
[columns.age]
type = "integer"
lower = 0
upper = 99
[columns.region]
type = "category"
values = ["north", "south"]
[columns.note]
type = "text"
"""
SOLUTION = {f"row {i}": f"{CANARY}{i % 2}" for i in range(600)}  # of a leaderboard
COUNT = {"sql": "SELECT region, COUNT(*) AS n FROM people GROUP BY region", "terms": {"epsilon": "0.5"}}


class Reply:
    """An answer as it came."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status, self.headers, self.content = response.status, response.headers, response.read()

    def json(self):
        return json.loads(self.content)

    @property
    def code(self):
        """The code of an error."""
        return self.json()["error"]["code"]


class World:
    """A server, and requests to it as anybody."""

    def __init__(self, folder) -> None:
        self.server = Server(folder, boards=folder / "boards.ledger")
        with Ledger.open(folder / "boards.ledger", tacit.Budget(epsilon=1)) as ledger:
            teams = {"teams": {"red": 5, "ana": 2}, "members": {"ana": "red", "carl": "red"}}
            Leaderboard.open(ledger, SOLUTION, {key: i % 2 > 0 for i, key in enumerate(SOLUTION)}, **teams)
        self.store, self.service = self.server.store, self.server.service
        rows = [
            {
                "person": f"{CANARY}{i // 2}",
                "age": i % 90,
                "region": "north" if i % 3 else "south",
                "note": f"{CANARY} {i}",
            }
            for i in range(400)
        ]
        self.table = table = tacit.Table(pa.Table.from_pylist(rows), SCHEMA)
        self.people = self.server.add(tacit.Budget(epsilon=2000), table)
        self.other = self.server.add(tacit.Budget(epsilon=10), table)
        self.tokens = {"owner": self.server.token("owner"), **{n: self.server.token(n) for n in ("ana", "bob", "carl")}}
        for dataset in (self.people, self.other):
            self.store.remove_policy(dataset, "role:analyst", by="tests")
        rules = Policy(Price.read({"error": "50"}), fresh=True, streams=True, workloads=True, synthetic=True)
        self.store.set_policy(self.people, "person:ana", rules, by="tests")
        self.store.set_policy(self.other, "person:bob", Policy(approval=Fraction(0)), by="tests")
        self.store.set_policy(self.people, "person:carl", Policy(approval=Fraction(0)), by="tests")
        revoked = self.store.issue_token("ana", "token", by="tests")
        self.store.revoke_token(revoked.info.id, by="tests")
        soon = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=2)
        expired = self.store.issue_token("ana", "token", expires=soon, by="tests")
        self.expired_at = soon
        self.bad = {"wrong": "tacit_" + "a" * 43, "revoked": revoked.text, "expired": expired.text, "short": "x"}

    def wait_for_expiry(self) -> None:
        while datetime.now(UTC) <= self.expired_at + timedelta(seconds=1):
            time.sleep(0.1)

    def ask(self, method, path, who=None, body=None, *, raw=None, **headers) -> Reply:
        """One request, as somebody, on a connection of its own."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if who is not None:
            sent["Authorization"] = f"Bearer {self.tokens.get(who, who)}"
        content = raw
        if body is not None:
            content = json.dumps(body).encode()
        if content is not None:
            sent.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection(urlsplit(self.server.url).netloc, timeout=60)
        try:
            connection.request(method, path, content, sent)
            return Reply(connection.getresponse())
        finally:
            connection.close()

    def on(self, rest: str, dataset=None) -> str:
        return f"/v1/datasets/{dataset or self.people}{rest}"

    def job_done(self, number: str, who: str = "ana"):
        """The job once it is over."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            job = self.ask("GET", f"/v1/jobs/{number}", who).json()
            if job["state"] in ("done", "failed", "cancelled"):
                return job
            time.sleep(0.05)
        raise AssertionError(job)


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("http"))
    yield made
    made.server.close()
