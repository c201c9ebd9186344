"""A ledger of an earlier version: amounts off the grid, two spellings of a name, states in clear, no digests of totals.

`old_ledger.sql` was written by the version before these; it opens, verifies, answers as before, and goes on.
"""

import sqlite3
from pathlib import Path

import pytest

from tacit import Budget
from tacit.core.errors import BudgetExceeded, LedgerCorrupt
from tacit.ledger import Ledger
from tacit.ledger.seal import MAGIC
from tacit.testing._ledger import TENTH, key, pure

DUMP = Path(__file__).with_name("old_ledger.sql").read_text()


@pytest.fixture
def old(path):
    path.touch(0o600)
    raw = sqlite3.connect(path)
    raw.executescript(DUMP)
    raw.close()
    return path


def test_it_opens_verifies_and_answers_as_before(old):
    with Ledger.open(old) as ledger:
        assert ledger.verify() == ledger.head() and ledger.only_allowed is False
        assert ledger.find(key("odd", 1)).release == b"1"
        head = ledger.head()
        assert ledger.charge(key=key("odd", 3), loss=TENTH, analyst="eve").release == b"3" and ledger.head() == head
        assert ledger.allowances() == {"Ann": Budget(epsilon=5), "ann": Budget(epsilon=4)}


def test_it_goes_on_and_still_verifies(old):
    with Ledger.open(old) as ledger:
        ledger.charge(key=key("new"), loss=TENTH, analyst="ANN")
        ledger.charge(key=key("other"), loss=TENTH, analyst="eve", parts=["north"])
        ledger.verify()
        with pytest.raises(BudgetExceeded):  # either spelling's account must admit it
            ledger.charge(key=key("much"), loss=pure("3.9"), analyst="Ann")
        ledger.allow("Ann", Budget(epsilon=6))
        assert ledger.allowance("ann") == Budget(epsilon=6)
        ledger.charge(key=key("much"), loss=pure("3.9"), analyst="ann")
        assert ledger.spent("ANN") == ledger.spent("ann")
        ledger.verify()
    with Ledger.open(old) as ledger:
        ledger.verify()


def test_its_states_are_read_as_they_are_and_sealed_at_the_next_step(old):
    with Ledger.open(old) as ledger:
        kept = ledger.start(key=key("kept"), loss=0 * TENTH, state=b"another", analyst="curator")
        assert kept.read() == (0, b"the secret of rows")
        stream = ledger.start(key=key("stream"), loss=TENTH, state=b"another", analyst="ann")
        assert stream.read() == (1, b'{"threshold": 18}') and stream.find(key("q")) == b"false"
        stream.step(1, key("r"), b'{"threshold": 19}', b"true")
        with ledger.database.reading() as connection:
            (stored,) = connection.execute(f"SELECT state FROM sessions WHERE charge = {stream.charge.seq}").fetchone()
        assert stored.startswith(MAGIC) and stream.read() == (2, b'{"threshold": 19}')
        ledger.verify()


def test_once_it_has_gone_on_its_totals_are_looked_at_too(old):
    with Ledger.open(old) as ledger:
        ledger.charge(key=key("new"), loss=TENTH, analyst="eve")
    raw = sqlite3.connect(old)
    raw.execute("UPDATE totals SET amounts = '[\"0/1\",\"0/1\"]' WHERE account = 'Ann'")
    raw.commit()
    raw.close()
    with pytest.raises(LedgerCorrupt, match="totals"):
        Ledger.open(old)
