"""A schema cannot make a client hand its user's password to a host of the schema's choosing."""

import contextlib
import socket
import struct
import threading

import psycopg
import pytest

from tacit import Table
from tacit.core.errors import BadSchema, EngineUnavailable
from tacit.engines.postgres.engine import Postgres
from tacit.query.schema.databases import Database

SECRET = "hunter2-of-the-custodian"
FIELDS = {"table": {"name": "people", "unit": "row"}, "columns": {"age": {"type": "integer", "lower": 0, "upper": 99}}}


class Fake:
    """A server that asks for a password in clear, and records whatever it is sent."""

    def __init__(self):
        self.heard, self._socket = b"", socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            with client:
                client.settimeout(5)
                with contextlib.suppress(OSError):
                    self._speak(client)

    def _speak(self, client):
        while True:
            message = client.recv(4096)
            self.heard += message
            if len(message) == 8 and struct.unpack("!II", message)[1] in (80877103, 80877104):
                client.sendall(b"N")  # neither TLS nor GSS
                continue
            break
        client.sendall(b"R" + struct.pack("!II", 8, 3))
        self.heard += client.recv(4096)

    def close(self):
        self._socket.close()


@pytest.fixture
def fake():
    server = Fake()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def surroundings(tmp_path, monkeypatch):
    """Every place where the client finds a password by itself."""
    for name in ("PGHOST", "PGHOSTADDR", "PGPORT", "PGUSER", "PGDATABASE", "PGSERVICE", "PGPASSWORD", "PGPASSFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("PGSSLMODE", "PGSSLROOTCERT", "PGREQUIRESSL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "pass").write_text(f"*:*:*:*:{SECRET}\n")
    (tmp_path / "pass").chmod(0o600)
    (tmp_path / "service").write_text(f"[mine]\npassword={SECRET}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "service"))
    return tmp_path


AMBIENT = {"PGPASSWORD": SECRET, "PGPASSFILE": "pass", "PGSERVICE": "mine"}


def reached(table):
    with pytest.raises(EngineUnavailable) as refused:
        Postgres().register(table, "0" * 32)
    return str(refused.value)


@pytest.mark.parametrize("name", AMBIENT)
@pytest.mark.parametrize(
    "form", ["postgresql://u@127.0.0.1:{}/d?table=people", "postgresql:///d?host=127.0.0.1&port={}&user=u&table=people"]
)
def test_a_host_that_a_schema_names_is_sent_no_password(fake, surroundings, monkeypatch, name, form):
    value = str(surroundings / "pass") if name == "PGPASSFILE" else AMBIENT[name]
    monkeypatch.setenv(name, value)
    address = form.format(fake.port)
    source = {**FIELDS, "table": {**FIELDS["table"], "source": address}}
    message = reached(Table(None, source))
    assert fake.heard and SECRET.encode() not in fake.heard
    assert "no password" in message and SECRET not in message
    reached(Table(address, FIELDS))  # who gives the address trusts it
    assert SECRET.encode() in fake.heard


@pytest.mark.parametrize("port", [True, False])
def test_a_host_that_the_user_named_too_is_sent_it(fake, monkeypatch, port):
    monkeypatch.setenv("PGPASSWORD", SECRET)
    monkeypatch.setenv("PGHOST", "127.0.0.1")
    if port:
        monkeypatch.setenv("PGPORT", str(fake.port))
    source = {**FIELDS["table"], "source": f"postgresql://u@127.0.0.1:{fake.port}/d?table=people"}
    reached(Table(None, {**FIELDS, "table": source}))
    assert (SECRET.encode() in fake.heard) == port  # another port may be another's server


def test_where_a_schema_names_no_host_the_users_own_is_asked(fake, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", SECRET)
    monkeypatch.setenv("PGHOST", "127.0.0.1")
    monkeypatch.setenv("PGPORT", str(fake.port))
    source = {**FIELDS["table"], "source": "postgresql://u@/d?table=people"}
    reached(Table(None, {**FIELDS, "table": source}))
    assert SECRET.encode() in fake.heard


@pytest.mark.parametrize(
    "query",
    [
        "service=mine",
        "passfile=/x",
        "hostaddr=127.0.0.1",
        "sslkey=/x",
        "sslcert=/x",
        "options=-c%20x",
        "require_auth=none",
        "sslmode=disable",
        "sslmode=prefer",
        "%70assfile=/x",
        "gssencmode=require",
        "krbsrvname=x",
        "sslrootcert=/x",
    ],
)
def test_an_address_in_a_schema_says_only_where(query):
    source = {**FIELDS["table"], "source": f"postgresql://u@127.0.0.1:1/d?table=people&{query}"}
    with pytest.raises(BadSchema, match="source"):
        Table(None, {**FIELDS, "table": source})
    Table(source["source"], FIELDS)  # the custodian's own word


def test_encryption_may_be_asked_for():
    address = "postgresql://u@h/d?table=people&sslmode=verify-full"
    assert Database.read(address).from_file().in_file


MODES = ("require", "verify-ca", "verify-full")


def used(monkeypatch, table):
    """The parameters with which a client would connect."""
    found = {}

    def connect(**parameters):
        found.update(parameters)
        raise psycopg.OperationalError

    monkeypatch.setattr(psycopg, "connect", connect)
    reached(table)
    return found


def source(query=""):
    return {**FIELDS, "table": {**FIELDS["table"], "source": f"postgresql://u@h/d?table=people{query}"}}


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize("in_file", MODES)
@pytest.mark.parametrize("own", [None, "disable", "prefer", *MODES])
def test_a_schema_checks_a_server_no_less_than_its_user_does(monkeypatch, trusted, in_file, own):
    if own is not None:
        monkeypatch.setenv("PGSSLMODE", own)
    if trusted:
        monkeypatch.setenv("PGHOST", "h")
    stricter = max(in_file, own or "", key=("", "disable", "prefer", *MODES).index)
    assert used(monkeypatch, Table(None, source(f"&sslmode={in_file}")))["sslmode"] == stricter
    by_the_user = Table(f"postgresql://u@h/d?table=people&sslmode={in_file}", FIELDS)
    assert used(monkeypatch, by_the_user)["sslmode"] == in_file
    assert "sslmode" not in used(monkeypatch, Table(None, source()))  # so the client takes its user's


@pytest.mark.parametrize("name", ["service", "system"])
def test_wherever_the_user_demands_it(monkeypatch, tmp_path, name):
    if name == "service":
        (tmp_path / "services").write_text("[mine]\nsslmode=verify-full\n")
        monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
        monkeypatch.setenv("PGSERVICE", "mine")
    elif psycopg.pq.version() < 160000:
        pytest.skip("this client knows no certificates of the system")
    else:
        monkeypatch.setenv("PGSSLROOTCERT", "system")
    assert used(monkeypatch, Table(None, source("&sslmode=require")))["sslmode"] == "verify-full"


def test_a_demand_that_no_client_knows_is_left_to_the_client(monkeypatch):
    monkeypatch.setenv("PGSSLMODE", "verify-fully")
    assert used(monkeypatch, Table(None, source("&sslmode=require")))["sslmode"] == "verify-fully"
