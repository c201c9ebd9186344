"""A place for a store: one for each kind of database."""

import itertools
import uuid

import pytest

from tacit.ledger.stores.store import DIALECTS
from tacit.server.store import Store


@pytest.fixture(params=DIALECTS)
def place(request, tmp_path):
    """A place where there is no store yet."""
    if request.param == "postgresql":
        return request.getfixturevalue("server").url(schema=f'{uuid.uuid4().hex} "s"')
    return str(tmp_path / "service.store")


@pytest.fixture
def store(place):
    """A store with the owner Ann and the analyst bob."""
    with Store.open(place) as store:
        store.add_person("Ann", "owner", by="test")
        store.add_person("bob", "analyst", by="Ann")
        yield store


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets: call it with a timedelta to go on."""
    from tacit.server.store import approvals, database, datasets, jobs, people

    time = database.now()

    def go(by):
        nonlocal time
        time += by

    for module in (approvals, database, datasets, jobs, people):
        monkeypatch.setattr(module, "now", lambda: time)
    return go


@pytest.fixture
def fresh(tmp_path):
    """Makes paths at which there is nothing yet."""
    count = itertools.count()
    return lambda: str(tmp_path / f"{next(count)}.store")
