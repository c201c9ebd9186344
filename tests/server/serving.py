"""A real server for tests: uvicorn on a thread, with data sets, people and tokens that tests add."""

import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pyarrow.parquet
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tacit.client import connect
from tacit.ledger import Ledger
from tacit.server.config import Limits, Settings
from tacit.server.config import Service as Places
from tacit.server.http import application
from tacit.server.policy import Policy
from tacit.server.registration import register
from tacit.server.service import Service
from tacit.server.serving import SecondDoor
from tacit.server.store import DataSet, Store, TableSource
from tacit.testing.curators import people

PLENTY = Limits(requests=1_000_000, questions=64, running=64)
DAY = timedelta(days=1)
ALL = Policy(fresh=True, streams=True, workloads=True, synthetic=True)


class Server:
    """A server on this machine."""

    def __init__(
        self,
        folder: Path,
        *,
        boards: Path | None = None,
        postgres: bool = False,
        limits: Limits = PLENTY,
        **tls: Path,
    ) -> None:
        self.folder = folder
        for name in ("data", "ledgers"):
            (folder / name).mkdir()
        places = Places(
            store=str(folder / "service.store"),
            ledgers=folder / "ledgers",
            roots=(folder / "data",),
            boards=None if boards is None else str(boards),
            port=0,
        )
        if tls:
            places = replace(places, certificate=tls["ssl_certfile"], private_key=tls["ssl_keyfile"])
        self.settings = Settings(service=places, limits=limits)
        self.store = Store.open(self.settings.service.store, create=True)
        self.service = Service(self.store, self.settings)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._socket.getsockname()[1]}"
        more = {"http": "tacit.server.http.protocol:Protocol", "log_config": None, "access_log": False, **tls}
        self.second = SecondDoor(socket.create_server(("127.0.0.1", 0))) if postgres else None
        beside = [] if self.second is None else [self.second.of]
        config = uvicorn.Config(application(self.service, (), {}, *beside), lifespan="on", **more)
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
        if self.second is not None:
            self.second.listening.close()
            self.second.cluster.close()

    def postgres(self, analyst: str, dataset: str) -> dict[str, str]:
        """How an analyst connects as to a PostgreSQL server, in libpq's words."""
        port = self.second.listening.getsockname()[1]
        return {
            "host": "127.0.0.1",
            "port": str(port),
            "user": analyst,
            "password": self.token(analyst),
            "dbname": dataset,
        }


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine that nobody vouches for, and its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    now, here = datetime.now(UTC), x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    built = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - DAY, now + DAY)
    built = built.add_extension(here, critical=False)
    places = folder / "certificate.pem", folder / "key.pem"
    places[0].write_bytes(built.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    places[1].write_bytes(key.private_bytes(*form))
    return places
