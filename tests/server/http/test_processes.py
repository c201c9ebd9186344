"""The service as processes: how it starts, ends, dies and goes on."""

import gc
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet
import pytest

import tacit
from tacit.ledger import Ledger
from tacit.server import serving
from tacit.server.config import Settings
from tacit.server.policy import Policy
from tacit.server.registration import register
from tacit.server.store import DataSet, Store, TableSource

SCHEMA = '[table]\nname = "people"\nunit = "person"\nrows = 1\n[columns.age]\ntype = "integer"\nlower = 0\nupper = 99\n'


class Process:
    """`tacit serve` in a folder, with one data set."""

    def __init__(self, folder, workers=1) -> None:
        self.folder = folder
        (folder / "data").mkdir()
        (folder / "data" / "people.toml").write_text(SCHEMA)
        pyarrow.parquet.write_table(
            pa.table({"person": range(100), "age": [i % 90 for i in range(100)]}), folder / "data" / "people.parquet"
        )
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        text = f"[service]\nport = {self.port}\nworkers = {workers}\nroots = ['data']\n"
        text += "[limits]\nquestions = 64\nrequests = 100000\n"
        (folder / "service.toml").write_text(text)
        settings = Settings.load(folder / "service.toml")
        with Store.open(settings.service.store) as store:
            store.add_person("owner", "owner", by="tests")
            self.token = store.issue_token("owner", "token", by="tests").text
            source = TableSource(str(folder / "data" / "people.parquet"), str(folder / "data" / "people.toml"))
            added = register(store, settings, DataSet("people", (source,), "", tacit.Budget(epsilon=100)), by="owner")
            self.ledger = added.ledger
            store.set_policy("people", "role:analyst", Policy(), by="owner")

    def start(self, *program):
        """Start the service, or another program of it."""
        serve = ("-m", "tacit", "serve", "--config", str(self.folder / "service.toml"))
        command = [sys.executable, *(program or serve)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while time.monotonic() < until and self.process.poll() is None:
            try:
                if self.ask("GET", "/health")[0] == 200:
                    return self
            except OSError:
                time.sleep(0.02)
        raise AssertionError(self.process.communicate(timeout=10))

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **headers}
            connection.request(method, path, None if body is None else json.dumps(body), sent)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        finally:
            connection.close()

    def count(self, epsilon="1", **more):
        headers = more.pop("headers", {})
        body = {"sql": "SELECT COUNT(*) AS n FROM people", "terms": {"epsilon": epsilon}, **more}
        return self.ask("POST", "/v1/datasets/people/asks", body, **headers)

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        _, errors = self.process.communicate(timeout=60)
        return errors

    def charges(self):
        with Ledger.open(self.ledger) as ledger:
            ledger.verify()
            return [charge for charge in ledger.history() if charge.loss.terms]


@pytest.fixture
def running(tmp_path):
    made = Process(tmp_path).start()
    yield made
    if made.process.poll() is None:
        made.end(signal.SIGKILL)


def test_a_draw_with_a_key_is_bought_once_however_the_service_ends(running):
    key = {"Idempotency-Key": "draw 1"}
    status, first = running.count(fresh=True, headers=key)
    assert status == 200 and not first["free"]
    running.end(signal.SIGKILL)
    running.start()
    status, again = running.count(fresh=True, headers=key)
    assert (status, again["free"], again["hash"]) == (200, True, first["hash"])
    assert again["columns"] == first["columns"]
    assert running.count("2", fresh=True, headers=key)[0] == 409
    assert len(running.charges()) == 1
    log = running.end()
    assert running.process.returncode in (0, -signal.SIGTERM)
    assert all(json.loads(line)["event"] == "request" for line in log.splitlines())
    assert "Traceback" not in log


DYING = """
import os, signal, sys
from tacit.ledger import Ledger
from tacit.server.config import Settings
from tacit.server.serving import run

config, name = sys.argv[1:]
real = getattr(Ledger, name)

def dies(self, *given, **named):
    done = real(self, *given, **named)
    if (named["loss"] if name == "charge" else given[0].loss).terms:
        os.kill(os.getpid(), signal.SIGKILL)
    return done

setattr(Ledger, name, dies)
run(Settings.load(config), lambda _: None)
"""


def test_a_draw_with_a_key_is_bought_once_wherever_the_service_dies(tmp_path):
    """After its charge, and after its answer was stored: asked again under its key, it is the same draw, and free."""
    made, kept, places = Process(tmp_path), [], ("charge", "store")
    try:
        for name in places:
            made.start("-c", DYING, str(made.folder / "service.toml"), name)
            with pytest.raises((OSError, http.client.HTTPException)):
                made.count(fresh=True, headers={"Idempotency-Key": name})
            made.process.communicate(timeout=20)
            kept.append([charge.release is not None for charge in made.charges()])
        assert kept == [[False], [False, True]]
        made.start()
        asked = [[made.count(fresh=True, headers={"Idempotency-Key": name}) for _ in range(2)] for name in places]
        for (status, first), (repeated, again) in asked:
            assert status == repeated == 200 and first["free"] and again["free"]
            assert (again["hash"], again["columns"]) == (first["hash"], first["columns"])
        assert len({first[1]["hash"] for first, _ in asked}) == len(made.charges()) == 2
        assert made.count("2", fresh=True, headers={"Idempotency-Key": "charge"})[0] == 409
    finally:
        if made.process.poll() is None:
            made.end(signal.SIGKILL)


def test_several_processes_sell_one_budget_and_are_replaced(tmp_path):
    made = Process(tmp_path, workers=2).start()
    try:
        assert made.count()[0] == 200
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(made.process.pid)], capture_output=True, text=True, check=True
        )
        workers = [int(text) for text in children.stdout.split()]
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        bodies = [made.count()[1] for _ in range(10)]
        assert len({body["hash"] for body in bodies}) == 1 and all(body["free"] for body in bodies)
        until = time.monotonic() + 20
        while time.monotonic() < until:
            found = subprocess.run(
                ["ps", "-o", "pid=", "--ppid", str(made.process.pid)], capture_output=True, text=True, check=True
            )
            if len({int(text) for text in found.stdout.split()} - {workers[0]}) == 2:
                break
            time.sleep(0.1)
        assert len(made.charges()) == 1
        made.end()
        assert made.process.returncode in (0, -signal.SIGTERM)
    finally:
        if made.process.poll() is None:
            made.end(signal.SIGKILL)


def test_a_free_port_is_told(tmp_path):
    made = Process(tmp_path)
    command = [sys.executable, "-m", "tacit", "serve", "--config", str(tmp_path / "service.toml"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            said = process.stdout.readline()
            made.port = int(re.search(r"http://127\.0\.0\.1:(\d+)\.", said)[1])
            assert made.port and made.ask("GET", "/health")[0] == 200
        finally:
            process.terminate()


def test_garbage_is_collected_however_the_service_was_started(tmp_path, monkeypatch):
    """The command line, whose processes are short, collects none; a service would grow by it."""
    settings, found = Settings.load(Process(tmp_path).folder / "service.toml"), []
    monkeypatch.setattr(serving.log, "start", lambda: None)

    def serve(_, listening, second):
        listening.close()
        found.append((gc.get_threshold(), gc.get_freeze_count() > 10_000))

    monkeypatch.setattr(serving, "_serve", serve)
    before = gc.get_threshold()
    gc.set_threshold(250_000)
    try:
        serving.run(settings, lambda _: None)
    finally:
        gc.set_threshold(*before)
    assert found == [((700, 10, 10), True)]


def test_it_listens_elsewhere_only_with_tls_or_when_told(tmp_path):
    made = Process(tmp_path)
    command = [
        sys.executable,
        "-m",
        "tacit",
        "serve",
        "--config",
        str(made.folder / "service.toml"),
        "--host",
        "0.0.0.0",
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode and "without TLS" in " ".join(ended.stderr.split() + ended.stdout.split())
