"""What is seen when a ledger is opened, or at its next transaction: objects added or altered, totals edited, entries
that were acknowledged and are gone.  Opening does not go through the entries.
"""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tacit import Budget
from tacit.core.errors import BudgetExceeded, LedgerCorrupt, LedgerError
from tacit.ledger import Ledger, Request
from tacit.ledger.stores.witness import LedgerCopied
from tacit.testing._ledger import TENTH, key, pure

ONE = Budget(epsilon=1)
REFUND = 'CREATE TRIGGER refund AFTER {} BEGIN UPDATE totals SET amounts = \'["0/1","0/1"]\'; END'
ADDED = [
    REFUND.format("INSERT ON entries"),
    REFUND.format('UPDATE ON totals WHEN NEW.amounts <> \'["0/1","0/1"]\''),
    "CREATE TRIGGER keep BEFORE UPDATE ON totals BEGIN SELECT RAISE(IGNORE); END",
    "CREATE TRIGGER keep BEFORE UPDATE ON sessions BEGIN SELECT RAISE(IGNORE); END",
    "DROP TRIGGER only_append",
    "CREATE VIEW everything AS SELECT * FROM entries",
    "CREATE TABLE more (x)",
    "CREATE INDEX odd ON totals (length(amounts))",
    "DROP INDEX one_step",
    "ALTER TABLE totals ADD COLUMN note TEXT DEFAULT 'x'",
    "ALTER TABLE totals RENAME TO old; CREATE VIEW totals AS SELECT * FROM old",
    "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = replace(sql, 'TEXT NOT NULL', 'TEXT')"
    " WHERE name = 'totals'",
    "PRAGMA writable_schema=ON; INSERT INTO sqlite_master SELECT type, 'sqlite_x', tbl_name, rootpage,"
    " replace(sql, 'no_delete', 'sqlite_x') FROM sqlite_master WHERE name = 'no_delete'",
]


def run(path, script):
    raw = sqlite3.connect(path)
    raw.executescript(script)
    raw.close()


@pytest.mark.parametrize("script", ADDED)
def test_an_object_that_was_added_or_altered_is_seen_on_opening(path, script):
    with Ledger.open(path, ONE) as ledger:
        ledger.charge(key=key(0), loss=TENTH, analyst="ann")
    run(path, script)
    with pytest.raises(LedgerError, match=r"triggers|not a ledger"):
        Ledger.open(path)


@pytest.mark.parametrize("script", ADDED[:9])
def test_an_object_that_is_added_while_the_ledger_is_open_is_seen_at_the_next_charge(path, script):
    with Ledger.open(path, ONE) as ledger:
        ledger.charge(key=key(0), loss=TENTH, analyst="ann")
        run(path, script)
        with pytest.raises(LedgerCorrupt, match="triggers"):
            ledger.charge(key=key(1), loss=TENTH, analyst="ann")


def test_a_trigger_cannot_sell_a_budget_ten_times(path):
    Ledger.open(path, ONE).close()
    run(path, REFUND.format("INSERT ON entries"))
    with pytest.raises(LedgerCorrupt):
        Ledger.open(path)


def test_what_sqlite_itself_adds_is_no_change(path):
    with Ledger.open(path, ONE) as ledger:
        ledger.charge(key=key(0), loss=TENTH, analyst="ann")
    run(path, "ANALYZE; VACUUM")
    with Ledger.open(path) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        ledger.verify()


@pytest.mark.parametrize(
    "script",
    [
        "UPDATE totals SET amounts = '[\"0/1\",\"1/100\"]' WHERE account = ''",
        "UPDATE totals SET amounts = '[\"0/1\",\"0/1\"]' WHERE part = 'north'",
        "UPDATE totals SET amounts = '[\"0/1\",\"0/1\"]' WHERE account = 'ann'",
        "UPDATE totals SET relation = 'Substitute'",
        "DELETE FROM totals WHERE part = 'north'",
        "DELETE FROM totals",
        "INSERT INTO totals VALUES ('eve', '', '[\"0/1\",\"0/1\"]', NULL)",
        "UPDATE totals SET amounts = CAST(amounts AS BLOB)",
    ],
)
def test_a_total_that_was_edited_is_seen_on_opening(path, script):
    with Ledger.open(path, ONE) as ledger:
        ledger.allow("ann", ONE)
        ledger.charge(key=key(0), loss=TENTH, analyst="ann", parts=["north"])
        ledger.store(ledger.charge(key=key(1), loss=TENTH, analyst="ann"), b"released")
    run(path, script)
    with pytest.raises(LedgerCorrupt, match="totals"):
        Ledger.open(path)


def test_opening_takes_as_long_however_many_entries_there_are(path):
    def opened():
        start = time.process_time()
        Ledger.open(path).close()
        return time.process_time() - start

    with Ledger.open(path, Budget(epsilon=10**6)) as ledger:
        ledger.charge(key=key("first"), loss=TENTH, analyst="ann")
    few = min(opened() for _ in range(5))
    with Ledger.open(path) as ledger:
        ledger.charge_many(Request(key(i), TENTH, "ann") for i in range(5000))
    assert min(opened() for _ in range(5)) < 3 * few + 0.005


CRASH = """
import os, sys
from tacit.ledger import Ledger
from tacit.testing._ledger import TENTH, key
ledger = Ledger.open(sys.argv[1])
for i in range(5):
    ledger.charge(key=key(i), loss=TENTH, analyst="ann")
os._exit(0)
"""


def test_a_log_that_was_deleted_after_a_crash_is_seen(path):
    Ledger.open(path, ONE).close()
    subprocess.run([sys.executable, "-c", CRASH, str(path)], check=True)
    log, index = Path(f"{path}-wal"), Path(f"{path}-shm")
    assert log.stat().st_size
    log.unlink()
    index.unlink()
    with pytest.raises(LedgerCorrupt, match="log was deleted"):
        Ledger.open(path)


def test_a_log_that_is_there_after_a_crash_is_used(path):
    Ledger.open(path, ONE).close()
    subprocess.run([sys.executable, "-c", CRASH, str(path)], check=True)
    with Ledger.open(path) as ledger:
        assert ledger.spent() == 5 * TENTH


def test_an_older_copy_in_its_place_is_seen(path):
    with Ledger.open(path, ONE) as ledger:
        ledger.charge(key=key(0), loss=TENTH, analyst="ann")
    older = path.read_bytes()
    with Ledger.open(path) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
    path.write_bytes(older)
    with pytest.raises(LedgerCorrupt, match=f"older copy .*remove {path}.head"):
        Ledger.open(path)
    Path(f"{path}.head").unlink()  # on purpose
    with Ledger.open(path) as ledger:
        assert ledger.spent() == TENTH


def test_a_copy_of_ledger_and_witness_is_told_once(path):
    with Ledger.open(path, ONE) as ledger:
        ledger.charge(key=key(0), loss=TENTH, analyst="ann")
    elsewhere = path.with_name("copy.ledger")
    shutil.copy(path, elsewhere)
    shutil.copy(f"{path}.head", f"{elsewhere}.head")
    with pytest.warns(LedgerCopied, match="both sell one budget"):
        ledger = Ledger.open(elsewhere)
    ledger.charge(key=key(1), loss=TENTH, analyst="ann")
    ledger.close()
    Ledger.open(elsewhere).close()
    Ledger.open(path).close()


@pytest.mark.parametrize("torn", ["", "tacit ledger head 1 5", "\0" * 200, "nonsense\n"])
def test_a_witness_that_was_torn_says_nothing(path, torn):
    with Ledger.open(path, ONE) as ledger:
        ledger.charge(key=key(0), loss=TENTH, analyst="ann")
    Path(f"{path}.head").write_text(torn)
    Ledger.open(path).close()


def test_a_witness_that_cannot_be_written_stops_nothing(path):
    os.mkdir(f"{path}.head")
    with Ledger.open(path, ONE) as ledger:
        ledger.charge(key=key(0), loss=pure(1), analyst="ann")
        with pytest.raises(BudgetExceeded):
            ledger.charge(key=key(1), loss=TENTH, analyst="ann")


@pytest.mark.parametrize("lost", ["log", "moved without its log", "truncated", "removed"])
def test_an_emptied_ledger_is_not_opened_anew_beside_its_witness(path, lost):
    """Until the first checkpoint all of a ledger is in its log: without it, the file is empty, and no new budget."""
    start = CRASH.replace("sys.argv[1])", "sys.argv[1], Budget(epsilon=1))")
    subprocess.run([sys.executable, "-c", "from tacit import Budget\n" + start, str(path)], check=True)
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    if lost == "truncated":
        Path(path).write_bytes(b"")
    if lost == "removed":
        Path(path).unlink()
    if lost == "moved without its log":
        folder = Path(path).parent / "other"
        folder.mkdir()
        for suffix in ("", ".head", ".key"):
            if Path(f"{path}{suffix}").exists():
                shutil.move(f"{path}{suffix}", folder)
        path = folder / Path(path).name
    with pytest.raises(LedgerCorrupt, match="log was deleted"):
        Ledger.open(path, ONE)
