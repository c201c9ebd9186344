"""The configuration of the service: one TOML file, and environment variables that override it.

    [service]
    store = "service.store"            TACIT_SERVICE_STORE, and so on: TACIT_ with section and key
    roots = ["/srv/data"]
    [limits]
    questions = 4

Every key has a default.  Paths are relative to the folder of the file; without a file, to the working directory.  What
is misspelt or out of range is refused with a sentence; nothing is guessed.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, get_type_hints
from urllib.parse import urlsplit

from ..core.errors import TacitError

DEFAULT_FILE = "service.toml"


class BadConfig(TacitError, ValueError):
    """The configuration cannot be used; `problems` are sentences, one for each thing that is wrong."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


Reader = Callable[[Any, Path], Any]  # value and folder -> value; raises ValueError with what is expected


def _text(value: Any, _: Path) -> str:
    if not isinstance(value, str) or not value or not value.isprintable():
        raise ValueError("a text")
    return value


def _flag(value: Any, _: Path) -> bool:
    if type(value) is not bool:
        raise ValueError("true or false")
    return value


def _whole(least: int, most: int) -> Reader:
    def read(value: Any, _: Path) -> int:
        if type(value) is not int or not least <= value <= most:
            raise ValueError(f"a whole number from {least} to {most}")
        return value

    return read


def _path(value: Any, folder: Path) -> Path:
    return folder / (value if isinstance(value, Path) else _text(value, folder))


def _place(value: Any, folder: Path) -> str:
    """A path or the URL of a database."""
    text = _text(value, folder)
    return text if "://" in text else str(folder / text)


def _texts(value: Any, folder: Path) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise ValueError("a list of texts")
    return tuple(_text(each, folder) for each in value)


def _paths(value: Any, folder: Path) -> tuple[Path, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str | Path) for each in value):
        raise ValueError("a list of paths")
    return tuple(_path(each, folder) for each in value)


def _origin(value: Any, folder: Path) -> str:
    text = _text(value, folder).rstrip("/")
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query or parts.username:
        raise ValueError("an address without a path, such as https://tacit.example.org")
    return text


def _issuer(value: Any, folder: Path) -> str:
    text = _text(value, folder)
    parts = urlsplit(text)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname and loopback(parts.hostname)):
        raise ValueError("an https:// address, such as https://login.example.org")
    return text


def _people(value: Any, folder: Path) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        raise ValueError("a table of claims and names of people")
    return {_text(claim, folder): _text(name, folder) for claim, name in value.items()}


@dataclass(frozen=True)
class Service:
    """Where the service keeps things, and where it listens."""

    store: Annotated[str, _place] = "service.store"
    ledgers: Annotated[Path, _path] = Path("ledgers")  # the folder of new ledgers
    roots: Annotated[tuple[Path, ...], _paths] = (Path("data"),)  # folders under which the files of data sets may lie
    boards: Annotated[str | None, _place] = None  # the ledger of leaderboards
    databases: Annotated[tuple[str, ...], _texts] = ()  # databases in which tables and ledgers may be
    host: Annotated[str, _text] = "127.0.0.1"
    port: Annotated[int, _whole(0, 65535)] = 8765
    certificate: Annotated[Path | None, _path] = None
    private_key: Annotated[Path | None, _path] = None
    plain: Annotated[bool, _flag] = False  # whether to listen without TLS on other than loopback
    origin: Annotated[str | None, _origin] = None  # the address in browsers, behind a proxy
    proxies: Annotated[tuple[str, ...], _texts] = ()  # addresses of proxies whose X-Forwarded headers are believed
    workers: Annotated[int, _whole(1, 64)] = 1
    session_hours: Annotated[int, _whole(1, 24 * 30)] = 12


@dataclass(frozen=True)
class Limits:
    """What one request and one token may take."""

    body: Annotated[int, _whole(1024, 1 << 24)] = 65536  # bytes of a request
    depth: Annotated[int, _whole(4, 256)] = 32  # of JSON
    sql: Annotated[int, _whole(100, 1 << 20)] = 20_000  # characters of a question
    requests: Annotated[int, _whole(1, 1 << 20)] = 1200  # a token's requests a minute
    questions: Annotated[int, _whole(1, 1024)] = 4  # a token's questions at once
    running: Annotated[int, _whole(1, 1024)] = 16  # questions at once, of everybody, in one process
    seconds: Annotated[int, _whole(1, 86_400)] = 120  # that a question may take
    jobs: Annotated[int, _whole(1, 64)] = 1  # background jobs at once, in one process


@dataclass(frozen=True)
class Postgres:
    """The PostgreSQL door, at the host of the service and with its certificate; without a port it stays shut."""

    port: Annotated[int | None, _whole(0, 65535)] = None


@dataclass(frozen=True)
class Oidc:
    """An OpenID provider through which people log in to the page."""

    issuer: Annotated[str | None, _issuer] = None
    client_id: Annotated[str | None, _text] = None
    client_secret: Annotated[str | None, _text] = field(default=None, repr=False)
    claim: Annotated[str, _text] = "email"
    people: Annotated[Mapping[str, str], _people] = field(default_factory=dict)  # claims and the people they stand for
    create: Annotated[bool, _flag] = False  # whether an unknown person becomes an analyst


SECTIONS: dict[str, type[Any]] = {"service": Service, "limits": Limits, "postgres": Postgres, "oidc": Oidc}


@dataclass(frozen=True)
class Settings:
    """The whole configuration; `file` is where it was read, None if from nowhere but the environment."""

    service: Service = Service()
    limits: Limits = Limits()
    postgres: Postgres = Postgres()
    oidc: Oidc = field(default_factory=Oidc)
    file: Path | None = None

    @classmethod
    def load(cls, file: str | os.PathLike[str] | None = None, environment: Mapping[str, str] | None = None) -> Settings:
        """Read the file, by default the one that TACIT_CONFIG names, or service.toml if there is one."""
        variables = os.environ if environment is None else environment
        path = _chosen(file, variables)
        folder = (Path() if path is None else path.parent).absolute()
        written = {} if path is None else _parsed(path)
        problems = [_unknown("section", name, SECTIONS) for name in written if name not in SECTIONS]
        given: dict[str, Any] = {}
        for section, kind in SECTIONS.items():
            table = written.get(section, {})
            if not isinstance(table, dict):
                problems.append(f"[{section}] must be a section of the configuration, not a value.")
                continue
            values = table | _from_environment(section, kind, variables, problems)
            given[section] = _section(section, kind, values, folder, problems)
        if not problems:
            problems = _contradictions(given["service"], given["oidc"])
        if problems:
            raise BadConfig(problems)
        return cls(**given, file=path)

    @property
    def address(self) -> str:
        """The address of the service in a browser."""
        service = self.service
        scheme = "http" if service.certificate is None else "https"
        host = f"[{service.host}]" if ":" in service.host else service.host
        return service.origin or f"{scheme}://{host}:{service.port}"

    def login_link(self, text: str) -> str:
        """The address that redeems a one-time link; what follows # is sent to no server and stands in no log."""
        return f"{self.address}/login#{text}"


def loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _chosen(file: str | os.PathLike[str] | None, variables: Mapping[str, str]) -> Path | None:
    named = file or variables.get("TACIT_CONFIG")
    if named:
        return Path(named)
    return Path(DEFAULT_FILE) if Path(DEFAULT_FILE).exists() else None


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise BadConfig([f"There is no configuration at {path}. Check the path, or write that file."]) from None
    except OSError as error:
        raise BadConfig([f"The configuration {path} cannot be read: {os.strerror(error.errno or 0)}."]) from None
    except UnicodeDecodeError:
        raise BadConfig([f"The configuration {path} is not text in UTF-8."]) from None
    except tomllib.TOMLDecodeError as error:
        raise BadConfig([f"The configuration {path} is not TOML: {error}."]) from None


def _unknown(what: str, name: str, known: Iterable[str], prefix: str = "") -> str:
    like = difflib.get_close_matches(name, [*known], 1)
    advice = (
        f"Did you mean {prefix + like[0]!r}?" if like else f"It may have {', '.join(prefix + key for key in known)}."
    )
    return f"The configuration has no {what} {prefix + name!r}. {advice}"


def _from_environment(
    section: str, kind: type[Any], variables: Mapping[str, str], problems: list[str]
) -> dict[str, Any]:
    """The values that variables such as TACIT_LIMITS_BODY give; whatever is no text is written as in the file."""
    prefix, values = f"TACIT_{section.upper()}_", dict[str, Any]()
    readers = {key.upper(): (key, reader) for key, reader in _readers(kind).items()}
    for name in sorted(each.removeprefix(prefix) for each in variables if each.startswith(prefix)):
        if name not in readers:
            problems.append(_unknown("variable", name, readers, prefix))
            continue
        (key, reader), text = readers[name], variables[prefix + name]
        values[key] = text if reader in (_text, _path, _place, _origin, _issuer) else _toml(text)
    return values


def _readers(kind: type[Any]) -> dict[str, Reader]:
    hints = get_type_hints(kind, include_extras=True)
    return {key: hint.__metadata__[0] for key, hint in hints.items()}


def _toml(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return parsed["value"] if parsed.keys() == {"value"} else text


def _section(section: str, kind: type[Any], values: Mapping[str, Any], folder: Path, problems: list[str]) -> Any:
    readers, default = _readers(kind), kind()
    problems += [_unknown("key", name, readers, f"{section}.") for name in values if name not in readers]
    read = {}
    for name, reader in readers.items():
        value = values.get(name, getattr(default, name))
        try:
            read[name] = None if value is None else reader(value, folder)
        except ValueError as error:
            problems.append(f"{section}.{name} must be {error}.")  # not what it is: it may be a secret
    return None if problems else kind(**read)


def _contradictions(service: Service, oidc: Oidc) -> list[str]:
    """What each key allows by itself, and all of them together do not."""
    problems = []
    if (service.certificate is None) != (service.private_key is None):
        problems.append("service.certificate and service.private_key belong together. Give both, or neither.")
    if not loopback(service.host) and service.certificate is None and not service.plain:
        allow = "or set service.plain = true if a proxy on a private network ends TLS"
        problems.append(
            f"The service would listen on {service.host} without TLS, where tokens and answers could be read. Give "
            f"service.certificate and service.private_key, listen on 127.0.0.1 behind a proxy, {allow}."
        )
    if (oidc.issuer is None) != (oidc.client_id is None):
        problems.append("oidc.issuer and oidc.client_id belong together. Give both, or neither.")
    if oidc.issuer is not None and service.origin is None:
        problems.append("With oidc.issuer, set service.origin to the address of the page, to which people come back.")
    return problems
