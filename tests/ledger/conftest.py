"""A place for a ledger: one for each store that the suites are run on."""

import itertools
import os
import tempfile
import uuid
from functools import partial
from pathlib import Path

import pytest

from tacit.ledger import Ledger
from tacit.ledger.stores.store import DIALECTS


@pytest.fixture
def path(tmp_path):
    return tmp_path / "people.ledger"


@pytest.fixture(params=DIALECTS)
def places(request, tmp_path):
    """Makes places where there is no ledger yet."""
    fresh = itertools.count()
    if request.param == "postgresql":
        server, name = request.getfixturevalue("server"), uuid.uuid4().hex
        return lambda: partial(Ledger.open, server.url(schema=f'{name} "{next(fresh)}"'))
    if request.param == "sqlite":
        return lambda: partial(Ledger.open, tmp_path / f"{next(fresh)}.ledger")
    return lambda: partial(Ledger.open, f"{request.param}://{tmp_path}/{next(fresh)}.ledger")


@pytest.fixture
def memory():
    """A directory in memory, where there is one: what a killed process wrote is the system's, disk or no disk."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
        yield Path(name)
