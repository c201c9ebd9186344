"""A real server for tests: uvicorn on a thread, with data sets, people and tokens that tests add."""

import socket
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet
import uvicorn

from tacit.client import connect
from tacit.ledger import Ledger
from tacit.server.config import Limits, Settings
from tacit.server.config import Service as Places
from tacit.server.http import application
from tacit.server.policy import Policy
from tacit.server.registration import register
from tacit.server.service import Service
from tacit.server.store import DataSet, Store, TableSource
from tacit.testing.curators import people

ALL = Policy(fresh=True, streams=True, workloads=True, synthetic=True)


class Server:
    """A server on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("data", "ledgers"):
            (folder / name).mkdir()
        places = Places(
            store=str(folder / "service.store"), ledgers=folder / "ledgers", roots=(folder / "data",), port=0
        )
        self.settings = Settings(service=places, limits=Limits(requests=1_000_000, questions=64, running=64))
        self.store = Store.open(self.settings.service.store, create=True)
        self.service = Service(self.store, self.settings)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        protocol = "tacit.server.http.protocol:Protocol"
        config = uvicorn.Config(
            application(self.service), http=protocol, log_config=None, lifespan="on", access_log=False
        )
        self._server, self._made = uvicorn.Server(config), 0
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        self.tokens = {}
        self.token("owner", "owner")

    def token(self, name: str, role: str = "analyst") -> str:
        """The token of a person, who is added if need be."""
        if name not in self.tokens:
            self.store.add_person(name, role, by="tests")
            self.tokens[name] = self.store.issue_token(name, "token", by="tests").text
        return self.tokens[name]

    def add(self, budget, *tables, public=(), allowances=None, policy=ALL) -> str:
        """The name of a new data set of these tables, which every analyst may ask."""
        self._made += 1
        name = f"set{self._made}"
        folder = self.folder / "data" / name
        folder.mkdir()
        sources = []
        for table in tables or (people(),):
            place = folder / f"{table.schema.name}.parquet"
            pyarrow.parquet.write_table(table.data, place)
            place.with_suffix(".toml").write_text(table.schema.dumps())
            sources.append(TableSource(str(place), str(place.with_suffix(".toml"))))
        others = []
        for table in public:
            pyarrow.parquet.write_table(table.data, folder / f"{table.name}.parquet")
            others.append((table.name, str(folder / f"{table.name}.parquet")))
        ledger = self.folder / "ledgers" / f"{name}.ledger"
        with Ledger.open(ledger, budget, (tables or (people(),))[0].schema.name) as opened:
            for analyst, allowance in (allowances or {}).items():
                opened.allow(analyst, allowance)
        register(self.store, self.settings, DataSet(name, tuple(sources), str(ledger), None, tuple(others)), by="owner")
        self.store.set_policy(name, "role:analyst", policy, by="owner")
        return name

    def seen_by(self, analyst: str, dataset: str):
        """The curator of a data set as an analyst reaches it."""
        return connect(self.url, self.token(analyst), dataset)

    @contextmanager
    def place(self, budget, *tables, **more):
        """A place of the suite for curators."""
        name, opened = self.add(budget, *tables, **more), {}

        def seen_by(analyst):
            opened[analyst] = opened.get(analyst) or self.seen_by(analyst, name)
            return opened[analyst]

        try:
            yield seen_by
        finally:
            for curator in opened.values():
                curator.close()

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)
        self._socket.close()
