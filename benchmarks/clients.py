"""Clients of PostgreSQL: how many questions a service answers through that door, and what a connection costs.

    python benchmarks/clients.py [--quick] [--clients 32] [--workers 2]

stored       answers that were bought before, a second, at so many connections
offers       EXPLAIN of a question, a second
fresh        small questions that nobody asked before, a second, each charged and stored durably
first        from connecting to the first answer, in milliseconds: the median of many, one after the other
idle         megabytes of all processes of the service for 500 connections that ask nothing
"""

from __future__ import annotations

import argparse
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from statistics import median
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
upper = 999999
[columns.region]
type = "category"
values = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]
"""
STORED = "SELECT region, COUNT(*) AS n FROM t WHERE age < 90 GROUP BY region"
SMALL = "SELECT COUNT(*) AS n FROM t WHERE age < {}"
IDLE = 500


class Client:
    """A connection that speaks the simple protocol."""

    def __init__(self, port: int, token: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        facts = b"user\0owner\0database\0t\0options\0-c tacit.epsilon=1\0\0"
        self._socket.sendall(struct.pack("!ii", len(facts) + 8, 3 << 16) + facts)
        self._send(b"p", token.encode())
        self._until_ready()

    def _send(self, kind: bytes, content: bytes) -> None:
        self._socket.sendall(kind + struct.pack("!i", len(content) + 5) + content + b"\0")

    def _until_ready(self) -> None:
        data = b""
        while data[-6:-1] != b"Z\0\0\0\5":
            if not (part := self._socket.recv(65536)):
                raise RuntimeError(data.decode(errors="replace"))
            data += part
        if b"SERROR\0" in data:
            raise RuntimeError(data.decode(errors="replace"))

    def ask(self, sql: str) -> None:
        self._send(b"Q", sql.encode())
        self._until_ready()

    def close(self) -> None:
        self._socket.close()


class Service:
    """`tacit serve` with both doors, in a folder of its own."""

    def __init__(self, folder: Path, workers: int) -> None:
        (folder / "data").mkdir()
        (folder / "data" / "t.toml").write_text(SCHEMA)
        rng = np.random.default_rng(1)
        columns = {"user": np.arange(10_000), "age": rng.integers(0, 120, 10_000)}
        regions = pa.array([chr(97 + i) for i in rng.integers(0, 12, 10_000)])
        pq.write_table(pa.table({**columns, "region": regions}), folder / "data" / "t.parquet")
        ports = []
        for _ in range(2):
            with socket.create_server(("127.0.0.1", 0)) as free:
                ports.append(free.getsockname()[1])
        self.port = ports[1]
        limits = "requests = 1000000\nquestions = 64\nrunning = 16"
        places = f"[service]\nport = {ports[0]}\nworkers = {workers}\nroots = ['data']"
        (folder / "service.toml").write_text(f"{places}\n[postgres]\nport = {ports[1]}\n[limits]\n{limits}\n")
        settings = Settings.load(folder / "service.toml")
        with Store.open(settings.service.store) as store:
            store.add_person("owner", "owner", by="benchmark")
            self.token = store.issue_token("owner", "token", by="benchmark").text
            source = TableSource(str(folder / "data" / "t.parquet"), str(folder / "data" / "t.toml"))
            budget = tacit.Budget(epsilon=10**4)
            register(store, settings, DataSet("t", (source,), "", budget), by="owner")
        command = [sys.executable, "-m", "tacit", "serve", "--config", str(folder / "service.toml")]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            try:
                self.client().close()
                break
            except OSError:
                time.sleep(0.05)

    def client(self) -> Client:
        return Client(self.port, self.token)

    def memory(self) -> float:
        """Megabytes that the processes of the service have for themselves."""
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, check=False)
        pids = [self.process.pid, *map(int, listed.stdout.split())]
        pages = (Path(f"/proc/{pid}/statm").read_text().split() for pid in pids if Path(f"/proc/{pid}").exists())
        return sum(int(page[1]) - int(page[2]) for page in pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def asking(at: tuple[int, str], sql: str, number: int, seconds: float, together: tuple[Any, Any]) -> None:
    """One process with one connection, which asks until the time is over."""
    (ready, counts), client, asked = together, Client(*at), 0
    try:
        ready.wait()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            client.ask(sql.format(1000 + 5000 * number + asked))
            asked += 1
    finally:
        counts.put(asked)


def rate(service: Service, sql: str, clients: int, seconds: float) -> float:
    """Statements a second at so many connections."""
    context = get_context("fork")
    ready, counts = context.Barrier(clients), context.Queue()
    at, together = (service.port, service.token), (ready, counts)
    work = [context.Process(target=asking, args=(at, sql, i, seconds, together)) for i in range(clients)]
    for process in work:
        process.start()
    asked = sum(counts.get() for _ in work)
    for process in work:
        process.join()
    return asked / seconds


def first_answer(service: Service) -> float:
    begun = time.perf_counter()
    client = service.client()
    client.ask(STORED)
    took = time.perf_counter() - begun
    client.close()
    return took * 1e3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    seconds = 3.0 if options.quick else 15.0
    shown = Shown("figure", "measured", "target", box=SIMPLE)
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder).resolve(), options.workers)
        try:
            client = service.client()
            for sql in (STORED, SMALL.format(1), f"EXPLAIN {STORED}", "SELECT 1"):
                client.ask(sql)
            figures: list[tuple[str, Callable[[], float], str]] = [
                ("stored answers a second", lambda: rate(service, STORED, options.clients, seconds), "400"),
                ("offers a second", lambda: rate(service, f"EXPLAIN {STORED}", options.clients, seconds), "300"),
                ("fresh questions a second", lambda: rate(service, SMALL, options.clients, seconds), "100"),
                ("catalogue a second", lambda: rate(service, "SELECT 1", options.clients, seconds), ""),
                ("connect to first answer, ms", lambda: median(first_answer(service) for _ in range(50)), "50"),
            ]
            for name, measured, target in figures:
                shown.add_row(name, f"{measured():.0f}", target)
            before = service.memory()
            idle = [service.client() for _ in range(IDLE)]
            shown.add_row(f"{IDLE} idle connections, MB", f"{service.memory() - before:.0f}", "100")
            for each in (client, *idle):
                each.close()
        finally:
            service.process.terminate()
            service.process.wait(60)
    Console().print(shown)


if __name__ == "__main__":
    main()
