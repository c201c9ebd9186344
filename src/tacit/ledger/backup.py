"""Copies of a ledger: its entries as JSON lines, and a whole ledger, verified, with its key beside it."""

from __future__ import annotations

import base64
import os
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ..core.errors import BadParameter, TacitError
from .encoding import canonical
from .entries import Head
from .stores.sqlite import synced

if TYPE_CHECKING:
    from .ledger import Ledger


def export(ledger: Ledger, target: str | os.PathLike[str] | IO[str], last: int | None = None) -> None:
    """Write all entries, or those up to the `last`, as JSON lines; private states are not written."""
    if isinstance(target, str | os.PathLike):
        try:
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise BadParameter("target", os.fspath(target), "a file that is not there yet, and is then made") from None
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            export(ledger, file, last)
        return
    for entry in ledger.entries():
        if last is not None and entry.seq > last:
            return
        data = None if entry.data is None else base64.b64encode(entry.data).decode()
        target.write(canonical({"entry": dict(entry.body), "hash": entry.head.hash, "data": data}) + "\n")


def backup(ledger: Ledger, target: str | os.PathLike[str]) -> Head:
    """Copy a ledger and its key to new files, of which the ledger's appears last."""
    if not isinstance(target, str | os.PathLike):
        raise BadParameter("target", target, "a path")
    place = os.fspath(target)
    try:
        path = Path(place).absolute()
        key = path.with_name(f"{path.name}.key")
        with tempfile.TemporaryDirectory(prefix=".backup-", dir=path.parent) as private:
            draft = Path(private) / "ledger"
            with ledger.database.reading() as connection:
                ledger.database.dialect.backup(connection, draft)
            with type(ledger).open(draft) as copy:
                head = copy.verify()
            if os.path.lexists(path):
                raise FileExistsError
            ledger.seal.copy(key)
            try:
                os.link(draft, path)  # which overwrites nothing
            except OSError:
                key.unlink(missing_ok=True)
                raise
        synced(path.parent)
        return head
    except FileExistsError:
        raise BadParameter("target", place, "a file that is not there yet") from None
    except (OSError, ValueError) as error:
        if isinstance(error, TacitError):
            raise
        raise BadParameter("target", place, "a place for a new file, in a folder that can be written") from None
