"""What a connection remembers: its settings, the price of its questions, its transaction and its offers.

A price is said by `SET tacit.share`, `tacit.epsilon` (perhaps with `tacit.delta`), `tacit.rho`, `tacit.error` or
`tacit.relative`; the last one counts.  It holds for questions that name none in their text.  Nothing is written here,
so a transaction is only a state that clients expect.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from .errors import FAILED_TRANSACTION, SqlError

PRICES = ("share", "epsilon", "rho", "error", "relative")
TERMS = (*PRICES, "delta", "beta")
REPORTED = ("client_encoding", "DateStyle", "TimeZone", "application_name", "standard_conforming_strings")
_REPORTED = {name.lower(): name for name in REPORTED}
DEFAULTS = {
    "application_name": "",
    "bytea_output": "hex",
    "client_encoding": "UTF8",
    "client_min_messages": "notice",
    "datestyle": "ISO, MDY",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "on",
    "extra_float_digits": "1",
    "geqo": "on",
    "idle_in_transaction_session_timeout": "0",
    "intervalstyle": "postgres",
    "jit": "off",
    "lock_timeout": "0",
    "row_security": "on",
    "search_path": '"$user", public',
    "standard_conforming_strings": "on",
    "statement_timeout": "0",
    "synchronize_seqscans": "on",
    "timezone": "UTC",
    "transaction_isolation": "read committed",
    "transaction_read_only": "on",
    "xmloption": "content",
}
SHADOWED = ("bytea_output", "datestyle", "extra_float_digits", "intervalstyle", "search_path", "timezone")
_QUIET = ("warning", "error", "fatal", "panic")  # levels of client_min_messages above a notice
_UNSIGNED = {ord(sign): None for sign in "-_'\""}
_MOST_OFFERS = 100
_LONGEST = 1000  # characters of a setting
_SET = re.compile(
    r'set\s+(?:(?:session|local)\s+)?("?[\w.]+"?|time\s+zone)\s*(?:=|\sto\s|(?<=zone))\s*(.+)\Z',
    re.IGNORECASE | re.DOTALL,
)
_NO_EFFECT = re.compile(
    r"set\s+(?:(?:session|local)\s+)?(?:transaction\b|session\s+characteristics\b|characteristics\b|constraints\b)",
    re.I,
)
_IDENTITY = re.compile(r"set\s+(?:(?:session|local)\s+)?(?:role\b|session\s+authorization\b|authorization\b)", re.I)
_NAMED = re.compile(r'\w+\s+("?[\w.]+"?|transaction\s+isolation\s+level|time\s+zone)\s*\Z', re.I)
_OPTION = re.compile(r"(?:-c\s*|--)([\w.-]+)=((?:\\.|[^\s\\])*)")
_TIMES = {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000, "us": 0.001}


class Session:
    """The state of one connection."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        self._initial = dict(DEFAULTS)
        self.settings: dict[str, str] = self._initial
        self.terms: dict[str, str] = {}
        self.state = b"I"  # idle, in a transaction (T), or in one that failed (E)
        self.offers: deque[tuple[Any, ...]] = deque(maxlen=_MOST_OFFERS)
        for name, value in _given(parameters):
            self.set(name, value)
        self._initial, self._first_terms = dict(self.settings), dict(self.terms)

    def set(self, name: str, value: str) -> tuple[str, str] | None:
        """Keep a setting; the name and value that the client is told of, if it wants to be."""
        name = _name(name)
        if len(value) > _LONGEST or not value.isprintable():
            raise SqlError("22023", f"A setting may have at most {_LONGEST} printable characters.")
        if name.startswith("tacit."):
            self._price(name.removeprefix("tacit."), value)
            return None
        if name not in DEFAULTS:
            hint = "Settings that change no answer here are " + ", ".join(DEFAULTS) + "."
            raise SqlError("42704", "There is no such setting here.", hint)
        self.settings[name] = _checked(name, value)
        return (_REPORTED[name], self.settings[name]) if name in _REPORTED else None

    def _price(self, name: str, value: str) -> None:
        if name not in TERMS:
            raise SqlError("42704", f"There is no such setting. A price is set by tacit.{', tacit.'.join(TERMS)}.")
        if name in PRICES:
            self.terms = {term: said for term, said in self.terms.items() if term not in PRICES}
        if value:
            self.terms[name] = value
        else:
            self.terms.pop(name, None)

    def run_set(self, text: str) -> tuple[str, str] | None:
        """SET name = value."""
        if _NO_EFFECT.match(text):
            return None
        if _IDENTITY.match(text):
            raise SqlError("42501", "Who asks is who the token was issued to, and nobody else.")
        found = _SET.match(text)
        if found is None:
            raise SqlError("42601", "Write SET name = value.")
        name, value = found[1].strip('"'), _value(found[2])
        if value.lower() == "default":
            return self.reset(name)
        return self.set("timezone" if name.lower().startswith("time") and " " in name else name, value)

    def run_reset(self, text: str) -> list[tuple[str, str]]:
        """RESET name, or RESET ALL."""
        found = _NAMED.match(text)
        if found is None:
            raise SqlError("42601", "Write RESET name or RESET ALL.")
        if found[1].lower() == "all":
            return self.reset_all()
        reported = self.reset(found[1].strip('"'))
        return [] if reported is None else [reported]

    def reset(self, name: str) -> tuple[str, str] | None:
        """Set a setting as it was when the connection began."""
        name = _name(name)
        term = name.removeprefix("tacit.")
        value = self._first_terms.get(term, "") if name.startswith("tacit.") else self._initial.get(name, "")
        return self.set(name, value)

    def reset_all(self) -> list[tuple[str, str]]:
        """Set every setting as it was when the connection began."""
        self.settings, self.terms = dict(self._initial), dict(self._first_terms)
        return [(_REPORTED[name], self.settings[name]) for name in _REPORTED]

    def shown(self, text: str) -> tuple[str, str | None]:
        """The name that SHOW asks for, and its value if it is kept here."""
        found = _NAMED.match(text)
        if found is None:
            raise SqlError("42601", "Write SHOW name.")
        words = " ".join(found[1].strip('"').lower().split())
        name = {"transaction isolation level": "transaction_isolation", "time zone": "timezone"}.get(words, words)
        if name.startswith("tacit.") and (term := name.removeprefix("tacit.")) in TERMS:
            return name, self.terms.get(term, "")
        return name, self.settings.get(name)

    @property
    def reported(self) -> Iterator[tuple[str, str]]:
        """The settings that a client is told of when it connects."""
        return ((name, self.settings[key]) for key, name in _REPORTED.items())

    @property
    def quiet(self) -> bool:
        """Whether the client wants no notices."""
        return self.settings["client_min_messages"] in _QUIET

    @property
    def seconds(self) -> float | None:
        """How long a statement may take, if the client says so."""
        found = re.fullmatch(r"([0-9]+)\s*([a-z]*)", self.settings["statement_timeout"])
        milliseconds = int(found[1]) * _TIMES.get(found[2] or "ms", 1) if found else 0
        return milliseconds / 1000 or None

    def enter(self, kind: str) -> None:
        """Refuse a statement in a transaction that failed, unless it ends that."""
        if self.state == b"E" and kind not in ("commit", "rollback"):
            raise SqlError(FAILED_TRANSACTION, "This transaction failed; statements are ignored until it ends.")

    def fail(self) -> None:
        """Note that a statement failed."""
        self.state = b"E" if self.state == b"T" else self.state

    def transaction(self, kind: str, text: str) -> str:
        """Begin or end a transaction; the words that a client is told."""
        failed, words = self.state == b"E", text.lower().split()
        match kind:
            case "begin":
                self.state = b"T"
                return "BEGIN" if words[0] == "begin" else "START TRANSACTION"
            case "commit":
                self.state = b"I"
                return "ROLLBACK" if failed else "COMMIT"
            case "rollback":
                self.state = b"T" if "to" in words else b"I"
                return "ROLLBACK"
        if self.state != b"T":
            raise SqlError("25P01", f"{kind.upper()} is for a transaction. Write BEGIN first.")
        return kind.upper()


def _given(parameters: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The settings among the parameters of a connection, also those of `options=-c name=value`."""
    for name, value in parameters.items():
        if name == "options":
            for found in _OPTION.finditer(value):
                yield found[1].replace("-", "_"), re.sub(r"\\(.)", r"\1", found[2])
        elif name not in ("user", "database", "replication") and not name.startswith("_pq_."):
            yield name, value


def _name(name: str) -> str:
    return name.lower()


def _value(text: str) -> str:
    """The value of SET: words, numbers, and quoted texts in a list."""
    parts = [part.strip() for part in re.findall(r"(?:'(?:[^']|'')*'|\"[^\"]*\"|[^,'\"])+", text)]
    plain = [
        part[1:-1].replace("''", "'") if part[:1] == part[-1:] == "'" and len(part) > 1 else part for part in parts
    ]
    return ", ".join(plain)


def _checked(name: str, value: str) -> str:
    """A value that this door can keep to."""
    plain = value.lower().translate(_UNSIGNED)
    if name == "client_encoding":
        if plain not in ("utf8", "unicode"):
            raise SqlError("22023", "Texts are sent in UTF-8 here.", "Leave client_encoding at UTF8.")
        return "UTF8"
    if name == "datestyle" and not plain.startswith("iso"):
        raise SqlError("22023", "Dates are written by ISO 8601 here.", "Leave DateStyle at ISO.")
    if name == "standard_conforming_strings" and plain not in ("on", "true", "yes", "1"):
        raise SqlError("22023", "A backslash in a text is a backslash here.")
    if name == "datestyle" and "," not in value:
        return f"{value}, MDY"
    return value
