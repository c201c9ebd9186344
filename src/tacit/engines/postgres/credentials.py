"""Which credentials of its user a client may send: to a host of a schema's choosing, none.

PostgreSQL's client takes what an address leaves out from its surroundings: PGPASSWORD, ~/.pgpass, PGSERVICE, a
certificate in ~/.postgresql, a ticket of Kerberos.  To a host that only a file names, each of these is switched off.
To any host, the client checks the server's certificate as its user demands, also where a file would have it check less.
"""

from __future__ import annotations

import os
from typing import Any

import psycopg

from ...query.schema.databases import Database

_NOWHERE = "/dev/null/none"  # no file can be there
_NOTHING: dict[str, Any] = {
    "password": "",
    "passfile": _NOWHERE,
    "sslcert": _NOWHERE,
    "sslkey": _NOWHERE,
    "sslpassword": "",
    "gssencmode": "disable",
}
_SINCE_16 = {"sslcertmode": "disable", "require_auth": "!gss,!sspi", "gssdelegation": "0"}
_PORT = "5432"
_STRICTER = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")  # values of sslmode, in this order


def trusted(place: Database) -> bool:
    """Whether whoever runs this named the host, as an argument or by the client's own settings."""
    given = psycopg.conninfo.conninfo_to_dict(place.url)
    host, port = given.get("host"), given.get("port")
    same_host = host is None or host == os.environ.get("PGHOST")
    return not place.in_file or (same_host and port in (None, os.environ.get("PGPORT", _PORT)))


def withheld(place: Database) -> dict[str, Any]:
    """What a client is told beyond the address, so that it sends nothing of its user's to others."""
    if trusted(place):
        return {}
    return _NOTHING | (_SINCE_16 if psycopg.pq.version() >= 160000 else {})


def demanded(place: Database) -> dict[str, str]:
    """The stricter of a file's sslmode and the user's own: of PGSSLMODE, a service, or PGSSLROOTCERT=system."""
    in_file = psycopg.conninfo.conninfo_to_dict(place.url).get("sslmode")
    if not place.in_file or in_file is None:
        return {}
    (own,) = (option.val for option in psycopg.pq.Conninfo.get_defaults() if option.keyword == b"sslmode")
    user = own.decode() if own else "prefer"
    if user not in _STRICTER:  # which the client refuses, with its own words
        return {"sslmode": user}
    return {"sslmode": max(str(in_file), user, key=_STRICTER.index)}


def unsent(place: Database) -> str:
    """What to do, where credentials were withheld."""
    if trusted(place):
        return ""
    told = "its host is named by the schema alone, so no password, certificate or ticket was sent"
    return f" ({told}; set PGHOST and PGPORT to it, or give its address yourself, if you trust it)"
