"""Whatever is changed in the tables is found, and named by the first entry that is not as it was written."""

import json
import random
import sqlite3
from fractions import Fraction

import pytest

from tacit import Budget
from tacit.core.errors import LedgerCorrupt, LedgerUnavailable
from tacit.ledger import Ledger, verification
from tacit.ledger.encoding import write_amounts, write_budget, write_loss
from tacit.ledger.entries import COLUMNS, START, Entry, Head
from tacit.ledger.stores.sqlite import TRIGGERS
from tacit.ledger.stores.statements import APPEND
from tacit.testing._ledger import TENTH, key, pure

FLIPS, EDITS, PAGES = 2500, 500, 150


@pytest.fixture
def ledger(path):
    """A few of each kind, and a release at the end."""
    with Ledger.open(path, Budget(epsilon=10), only_allowed=False) as ledger:
        ledger.allow("ann", Budget(epsilon=4))
        session = ledger.start(key=key("sparse"), loss=TENTH, state=b"noise", analyst="ann", parts=["north"])
        for i in range(5):
            charge = ledger.charge(key=key(i), loss=TENTH, analyst="ann", parts=["north", "south"][: i % 3] or None)
            ledger.store(charge, b"answer %d" % i)
            session.step(i, key(i), b"noise %d" % i, b"below", loss=TENTH if i % 2 else None)
        ledger.store(ledger.charge(key=key("last"), loss=TENTH, analyst="ben"), b"last")
        yield ledger


class Undo(Exception):
    """So that the next edit begins from the same tables."""


def found(ledger, edit, anchor=START):
    """The first bad entry once `edit` was made without the triggers, or None if none was seen."""
    try:
        with ledger.database.writing() as connection:
            for name in TRIGGERS:
                connection.execute(f"DROP TRIGGER {name}")
            edit(connection)
            for sql in TRIGGERS.values():
                connection.execute(sql)
            try:
                verification.verify(connection, anchor)
            except LedgerCorrupt as corrupt:
                raise Undo(corrupt.seq) from None
            raise Undo(None)
    except Undo as undo:
        return undo.args[0]


def test_the_ledger_itself_is_sound(ledger):
    assert found(ledger, lambda _: None) is None
    assert ledger.verify().seq == ledger.head().seq


def flipped(cell, rng):
    """A cell with one bit changed, of the same type."""
    if isinstance(cell, int):
        return cell ^ 1 << rng.randrange(8)
    raw = bytearray(cell if isinstance(cell, bytes) else cell.encode())
    raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    return bytes(raw)


def test_a_flipped_bit_in_any_cell_is_found(ledger):
    rng = random.Random(1)
    with ledger.database.reading() as connection:
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in connection.execute("SELECT * FROM entries")]
    for _ in range(FLIPS):
        row = rng.choice(rows)
        column = rng.choices([c for c in row if row[c] is not None], k=1)[0]
        value = flipped(row[column], rng)
        cast = "CAST(? AS TEXT)" if isinstance(row[column], str) else "?"
        sql = f"UPDATE OR IGNORE entries SET {column} = {cast} WHERE seq = {row['seq']}"
        taken = column in ("seq", "key", "charge", "step", "draw")  # an index may forbid this very flip

        def edit(connection, sql=sql, value=value, taken=taken):
            done = connection.execute(sql, (value,)).rowcount
            assert done == 1 or taken
            if not done:
                connection.execute("UPDATE entries SET hash = '' WHERE seq = 1")

        seq = found(ledger, edit)
        assert seq is not None, (column, row["seq"])
        assert seq in (row["seq"], 1) or column == "seq"


def edits(rng, count):
    """Statements that an intruder may try."""
    for _ in range(EDITS):
        n, m = rng.sample(range(1, count + 1), 2)
        yield rng.choice(
            [
                f"DELETE FROM entries WHERE seq = {n}",
                f"DELETE FROM entries WHERE seq >= {n}",
                f"UPDATE entries SET body = (SELECT body FROM entries WHERE seq = {m}) WHERE seq = {n}",
                f"UPDATE entries SET (body, hash) = (SELECT body, hash FROM entries WHERE seq = {m}) WHERE seq = {n}",
                f"UPDATE entries SET data = x'00' WHERE seq = {n}",
                f"UPDATE entries SET hash = upper(hash) || ' ' WHERE seq = {n}",
                f"UPDATE entries SET body = body || ' ' WHERE seq = {n}",
                f"UPDATE entries SET body = CAST(body AS BLOB) WHERE seq = {n}",
                f"UPDATE entries SET body = replace(body, '1/10', '1/100') || char({32 + n}) WHERE seq = {n}",
                f"UPDATE entries SET seq = seq + {count} WHERE seq = {n}",
                f"INSERT INTO entries SELECT {count + 1}, kind, NULL, NULL, NULL, NULL, body, data, hash FROM entries "
                f"WHERE seq = {n}",
                f"INSERT INTO entries VALUES ({count + 1}, 'note', NULL, NULL, NULL, NULL, '{{}}', NULL, '')",
                f"INSERT INTO entries VALUES ({-n}, 'note', NULL, NULL, NULL, NULL, '[]', NULL, '')",
                "UPDATE totals SET amounts = '[\"0/1\",\"1/99\"]' WHERE part = 'south'",
                "UPDATE totals SET relation = 'Substitute'",
                "DELETE FROM totals WHERE account = 'ann'",
                "INSERT INTO totals VALUES ('eve', '', '[\"0/1\",\"1/10\"]', NULL)",
                "UPDATE sessions SET state = x'00'",
                "UPDATE sessions SET step = step - 1",
                "DELETE FROM sessions",
            ]
        )


def test_every_edit_is_found_by_an_anchor(ledger):
    anchor = ledger.head()
    for sql in edits(random.Random(2), anchor.seq):
        assert found(ledger, lambda connection, sql=sql: connection.execute(sql), anchor) is not None, sql


def test_a_tail_that_was_cut_off_is_found_only_by_an_anchor(ledger):
    head = ledger.head()

    def cut(connection):
        connection.execute(f"DELETE FROM entries WHERE seq = {head.seq}")

    assert found(ledger, cut) is None  # the release of a charge that is open again
    assert found(ledger, cut, head) == 0
    with pytest.raises(LedgerCorrupt, match=f"ends at entry {head.seq}, and the anchor is of entry 99: it was rolled"):
        ledger.verify(Head(99, head.hash))


def forged(ledger, kind, facts, data=None):
    """An entry with a true hash, so that only its meaning can give it away."""

    head = ledger.head()

    def edit(connection):
        connection.execute(APPEND, Entry.after(head, kind, facts, data).row())

    return found(ledger, edit) == head.seq + 1


def test_an_entry_that_was_sealed_anew_is_found_by_the_next(ledger):
    for entry in list(ledger.entries())[:-1]:
        row = Entry({**entry.body, "time": "1970-01-01T00:00:00.000000+00:00"}, entry.data).row()

        def edit(connection, row=row):
            changes = ", ".join(f"{column} = :{column}" for column in COLUMNS)
            assert connection.execute(f"UPDATE entries SET {changes} WHERE seq = :seq", row).rowcount == 1

        assert found(ledger, edit) == entry.seq + 1


def test_a_well_sealed_lie_is_found(ledger):
    def charge(loss, paid, who="ben", parts=None):
        amounts = {account: write_amounts((Fraction(0), Fraction(epsilon))) for account, epsilon in paid.items()}
        facts = {"key": key("forged"), "draw": 1, "analyst": who, "parts": parts, "plan": "", "session": False}
        return {**facts, "loss": write_loss(loss), "paid": amounts}

    unanswered = ledger.charge(key=key("open"), loss=TENTH, analyst="ben")
    renewed = dict.fromkeys(("", "north", "south"), write_amounts((Fraction(0), Fraction(0))))
    step = {"charge": 3, "key": key("q"), "loss": None, "paid": {}, "state": "0" * 64}
    lies = [
        ("charge", charge(TENTH, {"": "0.09"})),
        ("charge", charge(pure(10), {"": 10})),
        ("charge", charge(pure(4), {"": 4, "ann": 4}, "ann", ["north"])),
        ("charge", charge(TENTH, {"": "0.1"}, "ann")),
        ("charge", charge(TENTH, {}, "ben")),
        ("release", {"charge": 3, "step": 77, "form": "release"}),
        ("release", {"charge": 1, "step": 0, "form": "release"}),
        ("release", {"charge": 999, "step": 0, "form": "release"}),
        ("step", {**step, "step": 99}),
        ("step", {**step, "charge": 999, "step": 1}),
        ("allowance", {"key": "ben", "budget": write_budget(Budget(epsilon=1)), "spent": {}}),
        ("opening", {"format": 1}),
        ("covers", {}),
        ("charge", charge(TENTH, {"": "0.1", "ann": "0.1"})),  # ben's question, on ann's account
        ("allowance", {"key": "ann", "budget": write_budget(Budget(epsilon=4)), "spent": renewed}),
        ("release", {"charge": unanswered.seq, "step": 7, "form": "release"}),
    ]
    for kind, facts in lies:
        assert forged(ledger, kind, facts, b"x"), (kind, facts)
    assert forged(ledger, "release", {"charge": unanswered.seq, "step": 0, "form": "release"}, None)


def test_a_rewritten_history_is_found_by_an_anchor(path, tmp_path):
    with Ledger.open(path, Budget(epsilon=10)) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        anchor = ledger.head()
    with Ledger.open(tmp_path / "other", Budget(epsilon=10)) as other:
        other.charge(key=key(1), loss=TENTH, analyst="ben")
        other.verify()
        with pytest.raises(LedgerCorrupt, match="Entry 2"):
            other.verify(anchor)


@pytest.mark.parametrize("name", TRIGGERS)
def test_a_missing_trigger_is_found(ledger, path, name):
    with sqlite3.connect(path) as raw:
        raw.execute(f"DROP TRIGGER {name}")
    raw.close()
    with pytest.raises(LedgerCorrupt, match="triggers"):
        ledger.verify()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE entries SET hash = '' WHERE seq = 1",
        "DELETE FROM entries WHERE seq = 3",
        "INSERT OR REPLACE INTO entries VALUES (2, 'note', NULL, NULL, NULL, NULL, '{}', NULL, '')",
        "INSERT INTO entries VALUES (0, 'note', NULL, NULL, NULL, NULL, '{}', NULL, '')",
    ],
)
def test_triggers_forbid_changes(ledger, path, sql):
    raw = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="appended"):
        raw.execute(sql)
    raw.close()
    ledger.verify()


def test_a_charge_is_not_replaced_by_another_of_its_key(ledger):
    """An index that is unique would let REPLACE delete it, and the total with it, unless triggers see that too."""
    known = ledger.find(key(0))
    row = (ledger.head().seq + 1, "charge", known.key, known.draw, None, None, "{}", None, "")
    replaced = "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    with pytest.raises(Exception, match="appended"), ledger.database.writing() as connection:
        connection.execute(replaced, row)
    assert ledger.find(key(0)) == known
    ledger.verify()


def test_a_flipped_bit_in_the_file_is_found(ledger, path):
    bodies = [json.dumps(dict(e.body), sort_keys=True, separators=(",", ":")).encode() for e in ledger.entries()]
    ledger.close()
    whole, rng, copy = path.read_bytes(), random.Random(3), path.with_name("copy")
    places = [(at, len(body)) for body in bodies if (at := whole.find(body)) >= 0]
    assert len(places) > len(bodies) / 2  # the others are broken across pages
    for _ in range(PAGES):
        start, length = rng.choice(places)
        raw = bytearray(whole)
        raw[start + rng.randrange(length)] ^= 1 << rng.randrange(8)
        copy.write_bytes(raw)
        copy.chmod(0o600)
        with pytest.raises((LedgerCorrupt, LedgerUnavailable)), Ledger.open(copy) as again:
            again.verify()


def test_a_changed_release_is_never_handed_out(ledger, path):
    raw = sqlite3.connect(path)
    raw.executescript("DROP TRIGGER no_update; UPDATE entries SET data = 'answer 9' WHERE data = 'answer 1'")
    raw.execute("UPDATE entries SET data = x'39' WHERE kind = 'release'")
    raw.execute(TRIGGERS["no_update"])
    raw.commit()
    raw.close()
    with pytest.raises(LedgerCorrupt, match="hash"):
        ledger.find(key(1))


@pytest.mark.parametrize("total", ["", "{}", '["1/0"]', '["x", "y"]', "[[]]"])
def test_a_total_that_cannot_be_read_admits_nothing(ledger, path, total):
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE totals SET amounts = ?", (total,))
    raw.close()
    with pytest.raises(LedgerCorrupt):
        ledger.charge(key=key("new"), loss=TENTH, analyst="ben")


@pytest.mark.parametrize("state", ["less noise", b"less noise"])
def test_a_changed_state_is_never_gone_on_from(ledger, path, state):
    session = ledger.start(key=key("sparse"), loss=TENTH, state=b"", analyst="ann", parts=["north"])
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE sessions SET state = ?", (state,))
    raw.close()
    with pytest.raises(LedgerCorrupt, match="state"):
        session.read()
