"""`tacit serve` as processes that can be killed, a crowd of clients, and a record of all that they were told."""

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from contextlib import closing, contextmanager

import pyarrow as pa
import pyarrow.parquet

import tacit
from tacit.ledger import Ledger
from tacit.release import Release
from tacit.server.config import Settings
from tacit.server.http.handlers.formats import OWN
from tacit.server.policy import Policy
from tacit.server.registration import register
from tacit.server.store import DataSet, Store, TableSource

ANALYSTS = ("ana", "bob", "carl", "dora")
SCHEMA = """
[table]
name = "people"
unit = "person"
rows = 1
[columns.age]
type = "integer"
lower = 0
upper = 99
[columns.region]
type = "category"
values = ["north", "south"]
"""
CONFIG = """
[service]
port = {port}
workers = {workers}
roots = ["data"]
[limits]
questions = 64
running = 6
requests = 1_000_000
"""
PARTS = [(i, j) for j in range(100) for i in range(j)]  # ages, in pairs: 4950 questions of one price
AWAY = (OSError, http.client.HTTPException)  # what a client sees of a server that dies
IDLE = 5.0  # seconds, a third of those after which the service closes a connection on which nobody asks
MARKED = 8  # of so many questions, one is a draw with a key


class Served:
    """A service in a folder: two data sets over the same rows, `people` with a cap and `tables` with plenty."""

    def __init__(self, folder, epsilon, workers=2) -> None:
        self.folder, self.process = folder, None
        data = folder / "data"
        data.mkdir()
        (data / "people.toml").write_text(SCHEMA)
        rows = {"person": range(100), "age": range(100), "region": ["north", "south"] * 50}
        pyarrow.parquet.write_table(pa.table(rows), data / "people.parquet")
        self.port = _free_port()
        (folder / "service.toml").write_text(CONFIG.format(port=self.port, workers=workers))
        self.settings = Settings.load(folder / "service.toml")
        self.tokens, self.ledgers = {}, {}
        with self.store() as store:
            for name, role in (("owner", "owner"), *((name, "analyst") for name in ANALYSTS)):
                store.add_person(name, role, by="tests")
                self.tokens[name] = store.issue_token(name, "token", by="tests").text
            source = TableSource(str(data / "people.parquet"), str(data / "people.toml"))
            for name, limit in (("people", epsilon), ("tables", 100_000)):
                dataset = DataSet(name, (source,), "", tacit.Budget(epsilon=limit))
                self.ledgers[name] = register(store, self.settings, dataset, by="owner").ledger
                store.set_policy(name, "role:analyst", Policy(fresh=True, workloads=True), by="owner")

    def store(self):
        return Store.open(self.settings.service.store)

    def start(self) -> None:
        """Start it, as a group of processes of its own, and wait until it answers."""
        command = [sys.executable, "-m", "tacit", "serve", "--config", str(self.folder / "service.toml")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True)
        until = time.monotonic() + 60
        while time.monotonic() < until and self.process.poll() is None:
            try:
                with closing(Client(self, "owner")) as client:
                    client.ask("GET", "/health")  # a service that is busy answers 503
                    return
            except AWAY:
                time.sleep(0.02)
        raise AssertionError(self.log()[-2000:])

    def kill(self) -> None:
        """Kill all of its processes at once, as a machine that loses its power would."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(20)

    def end(self) -> int:
        """End it in order."""
        self.process.terminate()
        return self.process.wait(60)

    def log(self) -> str:
        return (self.folder / "log").read_text()

    def memory(self) -> int:
        """The kilobytes of the process that was started, which answers itself where it is the only one."""
        listed = ["ps", "-o", "rss=", "-p", str(self.process.pid)]
        return int(subprocess.run(listed, capture_output=True, text=True, check=True).stdout)

    @contextmanager
    def running(self):
        self.start()
        try:
            yield self
        finally:
            self.kill()


def _free_port() -> int:
    """A port that the system gives to no client, so that none of the crowd holds it while the server is away."""
    for port in random.sample(range(20_000, 32_000), 50):
        with socket.socket() as tried:
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")


class Client:
    """One connection of one analyst."""

    def __init__(self, served, name) -> None:
        self.name, self.token = name, served.tokens[name]
        self._connection, self._used = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60), 0.0

    def ask(self, method, path, body=None, **headers):
        """Status, headers and content; the connection is made anew after one that broke, or that the service closes."""
        if time.monotonic() > self._used + IDLE:
            self._connection.close()
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            self._connection.request(method, path, None if body is None else json.dumps(body), sent)
            reply = self._connection.getresponse()
            self._used = time.monotonic()
            return reply.status, reply.headers, reply.read()
        except AWAY:
            self._connection.close()
            raise

    def buy(self, number):
        """Ask question `number`, of which some are draws that only one analyst knows the key of."""
        i, j = PARTS[number]
        sql = f"SELECT COUNT(*) AS n FROM people WHERE age >= {i} AND age < {j}"
        body, headers = {"sql": sql, "terms": {"epsilon": "1"}}, {"Accept": OWN}
        if number % MARKED == 0:
            body["fresh"], headers["Idempotency-Key"] = True, f"draw {number}"
        return self.ask("POST", "/v1/datasets/people/asks", body, **headers)

    def close(self) -> None:
        self._connection.close()


def asker(number: int, name: str) -> str:
    """Who asks question `number` where `name` would: a draw with a key is one analyst's."""
    return ANALYSTS[number // MARKED % len(ANALYSTS)] if number % MARKED == 0 else name


class Crowd:
    """Threads that buy questions until they are told to stop, and all that they were told."""

    def __init__(self, served, clients, choose) -> None:
        self.served, self._choose = served, choose
        self.answers = defaultdict(set)  # of each question: the hash of its entry, and the bytes of its release
        self.statuses, self.wrong, self.away = Counter(), [], 0
        self._stop, self._lock = threading.Event(), threading.Lock()
        self._threads = [threading.Thread(target=self._run, args=(i,), daemon=True) for i in range(clients)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self.wait(90)

    def wait(self, seconds) -> None:
        """Wait until there is nothing left to ask."""
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0, until - time.monotonic()))
        assert not any(thread.is_alive() for thread in self._threads)

    def _run(self, seed) -> None:
        chance = random.Random(seed)
        clients = {name: Client(self.served, name) for name in ANALYSTS}
        mine = ANALYSTS[seed % len(ANALYSTS)]
        try:
            while not self._stop.is_set() and (number := self._choose(chance)) is not None:
                self.buy(clients[asker(number, mine)], number)
        except Exception as error:
            self.wrong.append(repr(error))
        finally:
            for client in clients.values():
                client.close()

    def buy(self, client, number) -> None:
        """Buy a question, however often that takes, unless the crowd is told to stop."""
        while True:
            try:
                status, headers, content = client.buy(number)
            except AWAY:
                with self._lock:
                    self.away += 1
                pause = 0.1
            else:
                self._note(number, status, headers, content)
                if status not in (429, 503):
                    return
                pause = min(float(headers["Retry-After"] or 0), 0.2)
            if self._stop.wait(pause):
                return

    def _note(self, number, status, headers, content) -> None:
        with self._lock:
            self.statuses[status] += 1
            if status == 200:
                self.answers[number].add((headers["Tacit-Entry"], content))
            elif status in (429, 503):
                if headers["Retry-After"] is None:
                    self.wrong.append((status, content))
            elif status != 403 or json.loads(content)["error"]["code"] != "budget_exceeded":
                self.wrong.append((status, content))


def audit(served, crowd) -> dict[str, bytes | None]:
    """Hold all that the crowd was told against the ledger; return its releases by the hashes of their charges."""
    assert not crowd.wrong, crowd.wrong[:5]
    twice = [number for number, told in crowd.answers.items() if len(told) != 1]
    assert not twice, f"questions with several answers: {twice}"
    with Ledger.open(served.ledgers["people"]) as ledger:
        ledger.verify()
        limit, left = ledger.budget.limit, ledger.remaining()
        charges = [ledger.charge_of(charge.hash) for charge in ledger.history() if charge.loss.terms]
    assert left == limit - len(charges) >= 0  # each takes an epsilon of 1
    assert len({(charge.key, charge.draw) for charge in charges}) == len(charges)
    kept = {charge.hash: charge.release for charge in charges}
    for ((entry, content),) in crowd.answers.values():
        assert Release.from_json(kept[entry]).to_json() == content
    assert len({entry for ((entry, _),) in crowd.answers.values()}) == len(crowd.answers)  # each was bought by itself
    assert {json.loads(line)["event"] for line in served.log().splitlines()} <= {"request"}
    return kept
