"""One service for all tests of its PostgreSQL door, and how its clients connect."""

import os
import subprocess
from fractions import Fraction

import pytest

import tacit
from server.serving import ALL, Server
from tacit.server.policy import Policy, Price


class World:
    """A server with a data set that has a price, and one that has none."""

    def __init__(self, folder) -> None:
        self.server = Server(folder, postgres=True)
        half = Price("epsilon", Fraction(1, 2))
        self.people = self.server.add(tacit.Budget(epsilon=1000), policy=Policy(price=half))
        self.other = self.server.add(tacit.Budget(epsilon=100), policy=ALL)
        self.hidden = self.server.add(tacit.Budget(epsilon=1), policy=ALL)
        self.server.store.remove_policy(self.hidden, "role:analyst", by="owner")

    @property
    def address(self):
        """How ana connects, in libpq's words."""
        return self.server.postgres("ana", self.people)

    @property
    def url(self):
        a = self.address
        return f"{a['user']}:{a['password']}@{a['host']}:{a['port']}/{a['dbname']}"

    @property
    def port(self):
        return int(self.address["port"])

    def psql(self, *commands, **facts):
        """What psql prints, and what it complains of."""
        names = {"dbname": "PGDATABASE", "sslmode": "PGSSLMODE", "options": "PGOPTIONS"}
        given = {names.get(key, f"PG{key.upper()}"): value for key, value in {**self.address, **facts}.items()}
        flags = [part for command in commands for part in ("-c", command)]
        done = subprocess.run(
            ["psql", "-XAtw", *flags],
            env={**os.environ, **given},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.stdout, done.stderr


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("postgres"))
    yield made
    made.server.close()
