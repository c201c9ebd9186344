"""The user's credentials that a client may send: none to a host that only a schema names.

PostgreSQL's client takes what an address leaves out from its environment: PGPASSWORD, ~/.pgpass, PGSERVICE, a
certificate in ~/.postgresql, a Kerberos ticket.  For a host that only a file names, each of these is switched off.  The
client always checks the server's certificate as strictly as its user demands, even if a file asks for less.
"""

from __future__ import annotations

import os
from typing import Any

import psycopg

from ...query.schema.databases import Database

_NO_FILE = "/dev/null/none"  # no file can be there
_NO_CREDENTIALS: dict[str, Any] = {
    "password": "",
    "passfile": _NO_FILE,
    "sslcert": _NO_FILE,
    "sslkey": _NO_FILE,
    "sslpassword": "",
    "gssencmode": "disable",
}
_SINCE_16 = {"sslcertmode": "disable", "require_auth": "!gss,!sspi", "gssdelegation": "0"}
_PORT = "5432"
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")  # from the least strict on


def trusted(place: Database) -> bool:
    """Whether the user named the host, as an argument or by the client's own settings."""
    address = psycopg.conninfo.conninfo_to_dict(place.url)
    host, port = address.get("host"), address.get("port")
    same_host = host is None or host == os.environ.get("PGHOST")
    return not place.in_file or (same_host and port in (None, os.environ.get("PGPORT", _PORT)))


def withheld(place: Database) -> dict[str, Any]:
    """Connection options that keep the user's credentials from a host that the user did not name."""
    if trusted(place):
        return {}
    return _NO_CREDENTIALS | (_SINCE_16 if psycopg.pq.version() >= 160000 else {})


def demanded(place: Database) -> dict[str, str]:
    """The stricter of a file's sslmode and the user's own (PGSSLMODE, a service, or PGSSLROOTCERT=system)."""
    in_file = psycopg.conninfo.conninfo_to_dict(place.url).get("sslmode")
    if not place.in_file or in_file is None:
        return {}
    (own,) = (option.val for option in psycopg.pq.Conninfo.get_defaults() if option.keyword == b"sslmode")
    user = own.decode() if own else "prefer"
    if user not in _SSL_MODES:  # the client refuses it, with its own message
        return {"sslmode": user}
    return {"sslmode": max(str(in_file), user, key=_SSL_MODES.index)}


def unsent(place: Database) -> str:
    """Advice for the user if credentials were withheld, else nothing."""
    if trusted(place):
        return ""
    reason = "only the schema names its host, so no password, certificate or ticket was sent"
    return f" ({reason}; if you trust the host, set PGHOST and PGPORT to it, or pass its address yourself)"
