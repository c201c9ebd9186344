"""The tables of the store.  Times are UTC, as texts that sort: 2026-11-03T09:00:00Z.

entries    the log of acts, append-only, which every change of who may do what adds to; so its last number tells whether
           anything that was read before may have changed.  The first entry holds the format of the store
people     by the skeleton of their name (`ledger/names.py`), since a ledger has one account for names that look alike
repeats    by which key a person may repeat a request, and the digest of the first request under that key
tokens     of which only the SHA-256 is kept; a link is used once, and a session belongs to a browser
"""

from __future__ import annotations

from ...ledger.stores.layout import Layout

FORMAT = 1
STORE = Layout(
    """
CREATE TABLE entries (
    seq INTEGER NOT NULL,
    time TEXT NOT NULL,
    actor TEXT NOT NULL,
    act TEXT NOT NULL,
    subject TEXT NOT NULL,
    PRIMARY KEY (seq)
);
CREATE TABLE people (
    skeleton TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    added TEXT NOT NULL,
    revoked TEXT,
    PRIMARY KEY (skeleton)
);
CREATE TABLE tokens (
    id TEXT NOT NULL,
    digest TEXT NOT NULL,
    person TEXT NOT NULL,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    parent TEXT,
    created TEXT NOT NULL,
    expires TEXT NOT NULL,
    used TEXT,
    revoked TEXT,
    PRIMARY KEY (id)
);
CREATE UNIQUE INDEX one_digest ON tokens (digest);
CREATE TABLE datasets (
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (name)
);
CREATE TABLE policies (
    dataset TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (dataset, subject)
);
CREATE TABLE approvals (
    id TEXT NOT NULL,
    dataset TEXT NOT NULL,
    person TEXT NOT NULL,
    digest TEXT NOT NULL,
    request TEXT NOT NULL,
    state TEXT NOT NULL,
    asked TEXT NOT NULL,
    decided TEXT,
    decider TEXT,
    PRIMARY KEY (id)
);
CREATE TABLE jobs (
    id TEXT NOT NULL,
    dataset TEXT NOT NULL,
    person TEXT NOT NULL,
    kind TEXT NOT NULL,
    request TEXT NOT NULL,
    state TEXT NOT NULL,
    thousandths INTEGER NOT NULL,
    error TEXT,
    result TEXT,
    worker TEXT,
    created TEXT NOT NULL,
    changed TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE repeats (
    dataset TEXT NOT NULL,
    person TEXT NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (dataset, person, name)
);
CREATE TABLE releases (
    hash TEXT NOT NULL,
    dataset TEXT NOT NULL,
    publisher TEXT NOT NULL,
    published TEXT NOT NULL,
    PRIMARY KEY (hash)
)
""",
    schema="tacit_service",
)
