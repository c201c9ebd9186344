"""Property tests take the same examples on every machine, and no machine is too slow for them."""

import gc
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported: pytest-xdist already uses every core

import shutil

import pytest
from hypothesis import settings

from tacit.testing.postgres import Server

settings.register_profile("same everywhere", deadline=None, derandomize=True, database=None)
settings.load_profile("same everywhere")


def pytest_collection_finish():
    """Keep the many thousand tests themselves out of every later search for garbage, and search less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_sessionfinish():
    """Let the tests go again, since some extension modules complain about objects that outlive them."""
    gc.unfreeze()


@pytest.fixture(autouse=True, scope="session")
def keys(tmp_path_factory):
    """The keys of ledgers in databases are kept in a folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TACIT_KEYS", str(tmp_path_factory.mktemp("keys")))
        yield


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server of this process's own."""
    with Server() as running:
        yield running


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def pytest_report_header():
    """One line for machines without a browser."""
    return None if CHROMIUM else "no Chromium is installed, so the tests of the page in a browser are skipped"


@pytest.fixture(scope="session")
def chromium():
    """The program of an installed browser."""
    return CHROMIUM or pytest.skip("no Chromium is installed")
