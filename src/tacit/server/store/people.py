"""People, and the tokens by which they are known.

A token is 256 random bits, and only its SHA-256 is kept: who reads the store cannot log in.  A token that is unknown,
expired or revoked is looked for by the same search and found by none, so that nothing tells one from another.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from ...core.errors import BadParameter
from ...core.parameters import one_of
from ...core.randomness import SYSTEM
from ...ledger.names import analyst_name, skeleton
from ...ledger.stores.dialect import Connection
from ..person import ROLES, Person, Role, person_name
from .database import Database, StoreConflict, StoreUnavailable, now, number, written
from .records import KINDS, Issued, Kind, Login, TokenInfo

PREFIX = "tacit_"
LIFETIME = {"token": timedelta(days=90), "link": timedelta(days=1), "session": timedelta(hours=12)}
MAX_LIFETIME = timedelta(days=366)
FORGOTTEN = timedelta(days=30)  # after a token expired; the log of acts goes on to name it
_BEARERS: tuple[Kind, ...] = ("token",)
_LENGTH = len(PREFIX) + 43  # 256 bits in base64url
_MAX_LABEL = 200  # characters

_PERSON = "SELECT name, role, added, revoked FROM people"
_TOKEN = "t.id, p.name, t.kind, t.label, t.created, t.expires, t.used, t.revoked"
_TOKENS = f"SELECT {_TOKEN} FROM tokens t JOIN people p ON p.skeleton = t.person"
_VALID = f"""
SELECT t.digest, p.name, p.role, p.added, p.revoked, {_TOKEN} FROM tokens t JOIN people p ON p.skeleton = t.person
WHERE t.digest = :digest AND t.revoked IS NULL AND p.revoked IS NULL AND t.expires > :now
"""
_NEW_TOKEN = """
INSERT INTO tokens (id, digest, person, kind, label, parent, created, expires)
VALUES (:id, :digest, :person, :kind, :label, :parent, :created, :expires)
"""


class People(Database):
    """Who may log in, and by which tokens."""

    def people(self) -> list[Person]:
        """Everybody, those who were revoked too."""
        with self.reading() as connection:
            return [Person(*row) for row in connection.execute(f"{_PERSON} ORDER BY skeleton")]

    def person(self, name: str) -> Person | None:
        """The person of this name, or of one that looks like it; None if there is none, or they were revoked."""
        with self.reading() as connection:
            found = _person(connection, name)
        return None if found is None or found.revoked else found

    def add_person(self, name: str, role: Role, *, by: str) -> Person:
        """Add a person, or let one who was revoked in again, under the same name but without any earlier token."""
        one_of("role", role, ROLES)
        person = Person(person_name(name), role, written(now()))
        row = {"skeleton": skeleton(person.name), "name": person.name, "role": role, "added": person.added}
        with self.writing() as connection:
            known = _person(connection, name)
            if known is not None and not known.revoked:
                like = "" if known.name == person.name else f", whose name looks like {person.name!r}"
                raise StoreConflict(f"There is already a person called {known.name!r}{like}. Choose another name.")
            if known is not None:
                connection.execute("DELETE FROM people WHERE skeleton = :skeleton", {"skeleton": row["skeleton"]})
            statement = "INSERT INTO people (skeleton, name, role, added) VALUES (:skeleton, :name, :role, :added)"
            connection.execute(statement, row)
            self._log(connection, by, f"added the {role}", person.name)
        return person

    def revoke_person(self, name: str, *, by: str) -> None:
        """Shut a person out, at once and with all tokens; their purchases stay in the ledgers."""
        with self.writing() as connection:
            known = _existing(connection, name)
            if known.role == "owner":
                rest = "SELECT COUNT(*) FROM people WHERE role = 'owner' AND revoked IS NULL"
                if connection.execute(rest).fetchone() == (1,):
                    raise StoreConflict(f"{known.name!r} is the last owner. Add another owner first.")
            given = {"person": skeleton(name), "now": written(now())}
            connection.execute("UPDATE people SET revoked = :now WHERE skeleton = :person", given)
            connection.execute("UPDATE tokens SET revoked = :now WHERE person = :person AND revoked IS NULL", given)
            self._log(connection, by, "revoked the person", known.name)

    def issue_token(
        self, name: str, kind: Kind, label: str = "", expires: datetime | None = None, *, by: str, parent: str = ""
    ) -> Issued:
        """A new token for a person, whose text is shown this once.

        By default a token lasts 90 days, a link one day and a session 12 hours.  Who revokes the token `parent` revokes
        the new one with it.
        """
        one_of("kind", kind, KINDS)
        until = _until(kind, expires)
        if len(label) > _MAX_LABEL or not label.isprintable():
            raise BadParameter("label", label, f"at most {_MAX_LABEL} printable characters")
        with self.writing() as connection:
            who = _existing(connection, name).name
            info = TokenInfo(number(), who, kind, label, written(now()), until)
            return self._issue(connection, info, parent, by)

    def _issue(self, connection: Connection, info: TokenInfo, parent: str, by: str) -> Issued:
        text = PREFIX + base64.urlsafe_b64encode(SYSTEM.words(4).tobytes()).decode().rstrip("=")
        row = {name: getattr(info, name) for name in ("id", "kind", "label", "created", "expires")}
        row |= {"digest": _digest(text), "person": skeleton(info.person), "parent": parent or None}
        connection.execute("DELETE FROM tokens WHERE expires < :then", {"then": written(now() - FORGOTTEN)})
        connection.execute(_NEW_TOKEN, row)
        self._log(connection, by, f"issued the {info.kind}", f"{info.id} of {info.person}")
        return Issued(text, info)

    def authenticate(self, text: str, kinds: Collection[Kind] = _BEARERS) -> Login | None:
        """Who bears a token of one of these kinds; None if it is unknown, expired or revoked, whichever it is."""
        digest, time = _digest(text), written(now())
        login = self._known(("token", digest), lambda connection: _valid(connection, digest, time))
        if login is None or login.token.kind not in kinds or login.token.expires <= time:
            return None
        if login.token.used != time[:10]:
            login = self._note_use(digest, login, time[:10])
        return login

    def _note_use(self, digest: str, login: Login, day: str) -> Login:
        """Note the day on which a token was last used, which is no act, and lets nobody in or out."""
        with suppress(StoreUnavailable), self.writing() as connection:
            given = {"day": day, "id": login.token.id}
            connection.execute("UPDATE tokens SET used = :day WHERE id = :id AND revoked IS NULL", given)
        noted = Login(login.person, replace(login.token, used=day))
        version, known = self._remembered.get(("token", digest), (0, None))
        if known is login:
            self._remembered["token", digest] = version, noted
        return noted

    def redeem_link(self, text: str, expires: datetime | None = None) -> Issued | None:
        """The session that a login link opens, once; None if the link is unknown, expired, revoked or was used."""
        digest, time, until = _digest(text), written(now()), _until("session", expires)
        with self.writing() as connection:
            login = _valid(connection, digest, time)
            if login is None or login.token.kind != "link":
                return None
            given = {"now": time, "day": time[:10], "id": login.token.id}
            connection.execute("UPDATE tokens SET revoked = :now, used = :day WHERE id = :id", given)
            session = TokenInfo(number(), login.person.name, "session", "", time, until)
            return self._issue(connection, session, login.token.id, login.person.name)

    def tokens(self, name: str | None = None) -> list[TokenInfo]:
        """The tokens, links and sessions of a person, or of everybody."""
        of = "" if name is None else " WHERE t.person = :person"
        with self.reading() as connection:
            given = {} if name is None else {"person": skeleton(analyst_name(name))}
            return [TokenInfo(*row) for row in connection.execute(f"{_TOKENS}{of} ORDER BY t.created, t.id", given)]

    def revoke_token(self, id: str, *, by: str) -> None:  # noqa: A002
        """End a token, link or session, at once, with the sessions that were opened by it."""
        with self.writing() as connection:
            row = connection.execute(f"{_TOKENS} WHERE t.id = :id", {"id": id}).fetchone()
            if row is None:
                raise StoreConflict("There is no token with this number. `tacit user list --tokens` shows all of them.")
            info, given = TokenInfo(*row), {"id": id, "now": written(now())}
            ended = "UPDATE tokens SET revoked = :now WHERE (id = :id OR parent = :id) AND revoked IS NULL"
            connection.execute(ended, given)
            self._log(connection, by, f"revoked the {info.kind}", f"{info.id} of {info.person}")


def _digest(text: str) -> str:
    """The SHA-256 of a token; a text of another length is no token, and is hashed as the empty text."""
    token = text if len(text) == _LENGTH and text.isascii() else ""
    return hashlib.sha256(token.encode()).hexdigest()


def _valid(connection: Connection, digest: str, time: str) -> Login | None:
    row = connection.execute(_VALID, {"digest": digest, "now": time}).fetchone()
    found = row[0] if row else "0" * 64
    if not hmac.compare_digest(found, digest):
        return None
    return Login(Person(*row[1:5]), TokenInfo(*row[5:]))


def _until(kind: Kind, expires: datetime | None) -> str:
    until = now() + LIFETIME[kind] if expires is None else expires
    if until.tzinfo is None or not written(now()) < written(until) <= written(now() + MAX_LIFETIME):
        allowed = f"a time in the future, with a zone, at most {MAX_LIFETIME.days} days from now"
        raise BadParameter("expires", until, allowed)
    return written(until)


def _person(connection: Connection, name: str) -> Person | None:
    given = {"skeleton": skeleton(analyst_name(name))}
    row = connection.execute(f"{_PERSON} WHERE skeleton = :skeleton", given).fetchone()
    return None if row is None else Person(*row)


def _existing(connection: Connection, name: str) -> Person:
    found = _person(connection, name)
    if found is None or found.revoked:
        raise StoreConflict(f"There is no person called {name!r}. `tacit user list` shows everybody.")
    return found
