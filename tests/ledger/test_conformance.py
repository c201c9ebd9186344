"""Every store, every check, and a model that every store must agree with."""

import pytest

from tacit.testing.ledgers import CHECKS


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
def test_store(places, check):
    check(places())
