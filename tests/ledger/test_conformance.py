"""Every store, every check, and a model that every store must agree with."""

from functools import partial

import pytest

from tacit.core.errors import BudgetExceeded
from tacit.ledger import Ledger
from tacit.testing.ledgers import CHECKS, conform
from tacit.testing.mechanisms import Refuted


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
def test_store(places, check):
    check(places())


class Generous(Ledger):
    """Admits what the budget does not cover, and writes nothing down."""

    def charge(self, **request):
        found = self.find(request["key"])
        try:
            return super().charge(**request)
        except BudgetExceeded:
            return found


def test_the_suite_refutes(tmp_path):
    places = iter(range(100))
    with pytest.raises(Refuted, match="without end"):
        conform(lambda: partial(Generous.open, tmp_path / f"{next(places)}.ledger"))
