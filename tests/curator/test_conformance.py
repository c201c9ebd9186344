"""One suite for all curators: here in this process; `tests/server` has it through a real server."""

from contextlib import contextmanager

import pytest

from tacit.curator import Curator
from tacit.testing.curators import CHECKS, people


@pytest.fixture
def local(tmp_path):
    """A place that makes curators in this process."""

    @contextmanager
    def place(budget, *tables, public=(), allowances=None, made=[0]):  # noqa: B006 - counts the ledgers
        made[0] += 1
        ledger = tmp_path / f"{made[0]}.ledger"
        with Curator(*(tables or (people(),)), ledger=ledger, budget=budget, public=public) as curator:
            for analyst, allowance in (allowances or {}).items():
                curator.ledger.allow(analyst, allowance)
            yield curator.seen_by

    return place


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_curator_in_this_process(local, check):
    check(local)
