"""What the service adds to the library: CPU time, throughput, tail, start and memory, in the same run.

python benchmarks/server.py [--quick] [--clients 32] [--workers 2]

CPU          of one request, in milliseconds of all processes of the service, beside the same call of the library;
             the client is one process that waits for each answer
throughput   of so many clients, beside as many processes that each call the library on the same ledger.  If a call
             of the library takes c ms, a service that adds all of 1.5 ms reaches c / (c + 1.5) of it on the same
             cores: 0.3 for a stored answer.  So 0.7 asks for more than +1.5 does
tail         the 99th percentile of the time of a stored answer, over its median, at so many clients
start        until the first answer, in seconds
memory       of the service after 10,000 requests, over what it was after 1,000
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table as Shown

import tacit
from tacit.server.config import Settings
from tacit.server.registration import register
from tacit.server.store import DataSet, Store, TableSource

SCHEMA = """
[table]
name = "t"
unit = "user"
rows = 1
[columns.age]
type = "integer"
lower = 0
upper = 120
[columns.region]
type = "category"
values = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]
"""
SQL = "SELECT region, COUNT(*) AS n FROM t WHERE age < 90 GROUP BY region"
TERMS = {"epsilon": "1"}
BUDGET = tacit.Budget(epsilon=10**4)
TICK = os.sysconf("SC_CLK_TCK")


class Client:
    """A connection that is kept, and one request on it at a time."""

    def __init__(self, port: int, token: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._head = f"Host: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"

    def ask(self, rest: str, **body: Any) -> bytes:
        content = json.dumps({"sql": SQL, "terms": TERMS, **body})
        head = f"POST /v1/datasets/t/{rest} HTTP/1.1\r\n{self._head}Content-Length: {len(content)}\r\n\r\n"
        self._socket.sendall((head + content).encode())
        return self._answer()

    def _answer(self) -> bytes:
        data = b""
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self._received()
        head = data[:end].lower()
        if not head.startswith(b"http/1.1 200"):
            raise RuntimeError(data.decode())
        left = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0]) - len(data) + end + 4
        while left > 0:
            part = self._received()
            left -= len(part)
            data += part
        return data[end + 4 :]

    def _received(self) -> bytes:
        part = self._socket.recv(65536)
        if not part:
            raise ConnectionError("the service has closed the connection")
        return part


class Service:
    """`tacit serve` in a folder of its own."""

    def __init__(self, folder: Path, workers: int) -> None:
        (folder / "data").mkdir()
        (folder / "data" / "t.toml").write_text(SCHEMA)
        rng = np.random.default_rng(1)
        columns = {"user": np.arange(10_000), "age": rng.integers(0, 120, 10_000)}
        regions = pa.array([chr(97 + i) for i in rng.integers(0, 12, 10_000)])
        pq.write_table(pa.table({**columns, "region": regions}), folder / "data" / "t.parquet")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        limits = "requests = 1000000\nquestions = 64\nrunning = 16"
        text = f"[service]\nport = {self.port}\nworkers = {workers}\nroots = ['data']\n[limits]\n{limits}\n"
        (folder / "service.toml").write_text(text)
        settings = Settings.load(folder / "service.toml")
        with Store.open(settings.service.store) as store:
            store.add_person("owner", "owner", by="benchmark")
            self.token = store.issue_token("owner", "token", by="benchmark").text
            source = TableSource(str(folder / "data" / "t.parquet"), str(folder / "data" / "t.toml"))
            self.ledger = register(store, settings, DataSet("t", (source,), "", BUDGET), by="owner").ledger
        self.table, begun = tacit.Table(folder / "data" / "t.parquet"), time.perf_counter()
        command = [sys.executable, "-m", "tacit", "serve", "--config", str(folder / "service.toml")]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except OSError:
                time.sleep(0.005)
        self.start = time.perf_counter() - begun

    def client(self) -> Client:
        return Client(self.port, self.token)

    def _processes(self) -> list[int]:
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, check=False)
        return [self.process.pid, *map(int, listed.stdout.split())]

    def cpu(self) -> float:
        """CPU seconds of all processes so far."""
        stats = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in self._processes())
        return sum(int(stat[11]) + int(stat[12]) for stat in stats) / TICK

    def memory(self) -> int:
        """Bytes that all processes have for themselves."""
        pages = (Path(f"/proc/{pid}/statm").read_text().split() for pid in self._processes())
        return sum(int(page[1]) - int(page[2]) for page in pages) * os.sysconf("SC_PAGE_SIZE")


def library_cpu(call: Callable[[], Any], count: int) -> float:
    """CPU milliseconds of one call."""
    call()
    begun = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - begun) / count * 1e3


def service_cpu(service: Service, call: Callable[[], Any], count: int) -> float:
    """CPU milliseconds of one request."""
    for _ in range(20):
        call()
    begun = service.cpu()
    for _ in range(count):
        call()
    return (service.cpu() - begun) / count * 1e3


def asking(port: int, token: str, fresh: bool, seconds: float) -> list[float]:
    """How long each request of one client took; it connects once all are ready, as the service does not wait long."""
    _ready[0].wait()
    client = Client(port, token)
    return repeated(lambda: client.ask("asks", fresh=fresh), seconds)


def calling(ledger: str, table: tacit.Table, fresh: bool, seconds: float) -> list[float]:
    """How long each call of one process took that uses the library."""
    with tacit.Curator(table, ledger=ledger) as curator:
        curator.ask(SQL, **TERMS)
        _ready[0].wait()
        return repeated(lambda: curator.ask(SQL, fresh=fresh, **TERMS).columns, seconds)


def repeated(call: Callable[[], Any], seconds: float) -> list[float]:
    took, until = list[float](), time.perf_counter() + seconds
    while (begun := time.perf_counter()) < until:
        call()
        took.append(time.perf_counter() - begun)
    return took


_ready: list[Any] = []  # in a process of a turn: where it waits for the others


def together(what: Callable[..., list[float]], *given: Any, count: int) -> list[float]:
    """The times of all calls of so many processes, which begin together; forked before an engine runs in this one."""
    context = get_context("fork")
    ready = context.Barrier(count, timeout=120)
    with ProcessPoolExecutor(count, context, _ready.append, (ready,)) as pool:
        turns = [pool.submit(what, *given) for _ in range(count)]
        return [each for turn in turns for each in turn.result()]


def throughput(service: Service, clients: int, rounds: int, seconds: float, fresh: bool) -> Iterator[tuple[str, ...]]:
    """Both in turns, as the machine may have other things to do; the medians of all turns."""
    by, name = (fresh, seconds), "charged questions" if fresh else "stored answers"
    rates, waits = list[tuple[float, float]](), list[list[float]]()
    for _ in range(rounds):
        waits.append(together(asking, service.port, service.token, *by, count=clients))
        theirs = together(calling, service.ledger, service.table, *by, count=clients)
        rates.append((len(theirs) / seconds, len(waits[-1]) / seconds))
    library, own = (median(rate) for rate in zip(*rates, strict=True))
    ratio = median(mine / theirs for theirs, mine in rates)
    yield f"{name} a second", f"{library:.0f}", f"{own:.0f}", f"x{ratio:.2f}", "x0.7"
    if not fresh:
        tails = [(quantiles(each, n=100)[98] * 1e3, median(each) * 1e3) for each in waits]
        tail, middle = sorted(tails, key=lambda both: both[0] / both[1])[len(tails) // 2]
        yield "99 % and median, ms", "", f"{tail:.1f}, {middle:.1f}", f"x{tail / middle:.1f}", "x5"


def cpu(service: Service, client: Client, count: int) -> Iterator[tuple[str, ...]]:
    """The least of several alternated turns."""
    with tacit.Curator(service.table, ledger=service.ledger) as curator:
        rows: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = [
            ("offer", lambda: curator.offer(SQL, **TERMS).errors, lambda: client.ask("offers")),
            ("stored answer", lambda: curator.ask(SQL, **TERMS).columns, lambda: client.ask("asks")),
            (
                "charged question",
                lambda: curator.ask(SQL, fresh=True, **TERMS).columns,
                lambda: client.ask("asks", fresh=True),
            ),
        ]
        for name, called, asked in rows:
            turns = [(library_cpu(called, count), service_cpu(service, asked, count)) for _ in range(5)]
            own, over = (min(turn) for turn in zip(*turns, strict=True))
            yield f"CPU, {name}, ms", f"{own:.2f}", f"{over:.2f}", f"+{over - own:.2f}", "+1.5"


def memory(service: Service, client: Client, more: int) -> tuple[str, ...]:
    sizes = []
    for requests in (1000, more):
        for _ in range(requests):
            client.ask("asks")
        sizes.append(service.memory())
    grown = f"{sizes[0] >> 20}, {sizes[1] >> 20}", f"{100 * (sizes[1] / sizes[0] - 1):+.1f} %"
    return "memory, MiB", "", *grown, "+5 %"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    count, rounds, seconds, more = (40, 2, 2.0, 1000) if options.quick else (200, 3, 5.0, 9000)
    shown = Shown("figure", "library", "service", "", "target", box=SIMPLE)
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder).resolve(), options.workers)
        try:
            service.client().ask("asks")
            for fresh in (False, True):
                for row in throughput(service, options.clients, rounds, seconds, fresh):
                    shown.add_row(*row)
            client = service.client()
            for row in cpu(service, client, count):
                shown.add_row(*row)
            shown.add_row(*memory(service, client, more))
            shown.add_row("start, s", "", f"{service.start:.2f}", "", "2")
        finally:
            service.process.terminate()
            service.process.wait(60)
    Console().print(shown)


if __name__ == "__main__":
    main()
