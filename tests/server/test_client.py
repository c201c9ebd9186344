"""The suite for curators through a real server, and what a client of a service does besides."""

import pytest

from server.serving import Server
from tacit.testing.curators import CHECKS


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("service"))
    yield server
    server.close()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_curator_behind_a_service(server, check):
    check(server.place)
