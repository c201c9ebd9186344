"""Every store, every check, and a model that every store must agree with."""

from functools import partial

import pytest

from tacit.testing.ledgers import CHECKS, conform
from tacit.testing.mechanisms import Refuted
from tacit.testing.wrong import ledgers


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
def test_store(places, check):
    check(places())


@pytest.mark.parametrize("wrong", ledgers.ALL, ids=lambda wrong: wrong.__name__)
def test_every_wrong_ledger_is_refuted(tmp_path, wrong):
    with pytest.raises(AssertionError):  # of which `Refuted` is one
        wrong.refuted_by(partial(wrong.open, tmp_path / "wrong.ledger"))


def test_the_suite_refutes(tmp_path):
    places = iter(range(100))
    with pytest.raises(Refuted, match="without end"):
        conform(lambda: partial(ledgers.Generous.open, tmp_path / f"{next(places)}.ledger"))
