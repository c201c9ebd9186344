"""Every statement that both databases are given, each in one place.  A parameter is written `:name`.

entries    the facts, append-only; `seq` counts from 1 without gaps, and a release is step 0 of its charge
totals     sums of amounts by account and part, which the entries imply: `verify` adds them up again, and each entry
           holds a digest of all of them, which is looked at when a ledger is opened.  The relation of all losses so
           far is kept where account and part are those of all
sessions   the last state of each session, which is as private as the data, sealed (`seal.py`); entries hold a
           commitment to it
"""

from __future__ import annotations

from ..entries import COLUMNS
from .layout import Layout

CREATE = """
CREATE TABLE entries (
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    "key" TEXT,
    draw INTEGER,
    charge INTEGER,
    step INTEGER,
    body TEXT NOT NULL,
    data {octets},
    hash TEXT NOT NULL,
    PRIMARY KEY (seq)
);
CREATE UNIQUE INDEX one_draw ON entries (kind, "key", draw);
CREATE UNIQUE INDEX one_step ON entries (charge, step);
CREATE TABLE totals (
    account TEXT NOT NULL,
    part TEXT NOT NULL,
    amounts TEXT NOT NULL,
    relation TEXT,
    PRIMARY KEY (account, part)
);
CREATE TABLE sessions (
    charge INTEGER NOT NULL,
    step INTEGER NOT NULL,
    salt {octets} NOT NULL,
    state {octets} NOT NULL,
    PRIMARY KEY (charge)
)
"""
LEDGER = Layout(CREATE, schema="tacit")

_ENTRY = f"SELECT {', '.join(COLUMNS)} FROM entries"
ENTRIES = f"{_ENTRY} ORDER BY seq"
PAGE = f"{_ENTRY} WHERE seq > :seq ORDER BY seq LIMIT :count"
CHARGED = f"{_ENTRY} WHERE seq > :seq AND kind <> 'release' ORDER BY seq"  # which costs nothing more, and may be large
AT = f"{_ENTRY} WHERE seq = :seq"
CHARGES = "SELECT seq, hash FROM entries WHERE kind = 'charge' AND seq > :seq ORDER BY seq"
CHARGES_BEFORE = f"{_ENTRY} WHERE kind = 'charge' AND seq < :seq ORDER BY seq DESC LIMIT :count"
RELEASED_SINCE = "SELECT charge FROM entries WHERE kind = 'release' AND charge >= :seq AND charge < :before"
DRAW = f"{_ENTRY} WHERE kind = 'charge' AND key = :key ORDER BY draw DESC LIMIT 1"
FOLLOWING = f"{_ENTRY} WHERE charge = :charge AND step = :step"
ALLOWANCE = f"{_ENTRY} WHERE kind = 'allowance' AND key = :analyst ORDER BY seq DESC LIMIT 1"
ALLOWED = "SELECT DISTINCT key FROM entries WHERE kind = 'allowance'"
ANY_ALLOWANCE = "SELECT seq FROM entries WHERE kind = 'allowance' LIMIT 1"
ASKED = f"{_ENTRY} WHERE kind = 'step' AND key = :key AND charge = :charge ORDER BY seq DESC LIMIT 1"
HEAD = "SELECT seq, hash, body FROM entries ORDER BY seq DESC LIMIT 1"
APPEND = f"INSERT INTO entries ({', '.join(COLUMNS)}) VALUES ({', '.join(f':{column}' for column in COLUMNS)})"

TOTALS = "SELECT account, part, amounts, relation FROM totals"
OF_ACCOUNT = "SELECT part, amounts, relation FROM totals WHERE account = :account"
OF_PART = f"{OF_ACCOUNT} AND part = :part"
NEW_TOTAL = "INSERT INTO totals (account, part, amounts, relation) VALUES (:account, :part, :amounts, :relation)"
CHANGE_TOTAL = "UPDATE totals SET amounts = :amounts, relation = :relation WHERE account = :account AND part = :part"

STATES = "SELECT charge, step, salt, state FROM sessions"
_LAST_STEP = "(SELECT MAX(step) FROM entries WHERE charge = :charge)"
STATE = f"SELECT step, salt, state, {_LAST_STEP} FROM sessions WHERE charge = :charge"
SEALED = "SELECT COUNT(*) FROM sessions WHERE SUBSTR(state, 1, :length) = :magic"
NEW_STATE = "INSERT INTO sessions (charge, step, salt, state) VALUES (:charge, :step, :salt, :state)"
CHANGE_STATE = "UPDATE sessions SET step = :step, salt = :salt, state = :state WHERE charge = :charge"
