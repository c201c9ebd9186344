"""A backup of everything that the service must not lose: the ledgers of all data sets with their keys, and the store.

    FOLDER/NAME.ledger, NAME.ledger.key    one ledger for each data set, verified
    FOLDER/leader-boards.ledger            the ledger of leaderboards, if there is one; no data set has this name
    FOLDER/service.store                   the store, copied last, so that it knows of every revocation until then
    FOLDER/anchors                         the head of each ledger; written when all the rest is complete

Data files are not copied.  What is in PostgreSQL is backed up by PostgreSQL, and is named in `elsewhere`; of a ledger
there, the key is copied (IDENTITY.key).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import BadParameter
from ..ledger import Head, Ledger
from ..ledger.stores.sqlite import synced
from .store import Store

BOARDS = "leader-boards"


@dataclass(frozen=True)
class Backup:
    """What was copied, as the head of each ledger, and what must be backed up by its own database."""

    heads: dict[str, Head]
    elsewhere: list[str]


def backup(store: Store, folder: str | os.PathLike[str], boards: str | None = None) -> Backup:
    """Copy all ledgers and the store to a new folder, which only its owner can read, while they are in use.

    `boards` is the ledger of leaderboards.
    """
    target = Path(folder)
    try:
        target.mkdir(mode=0o700)
    except OSError:
        raise BadParameter(
            "folder", str(target), "a folder that is not there yet, in one that can be written"
        ) from None
    heads: dict[str, Head] = {}
    elsewhere = []
    places = {dataset.name: dataset.ledger for dataset in store.datasets()}
    for name, place in (places | ({} if boards is None else {BOARDS: boards})).items():
        with Ledger.open(place) as ledger:
            if "://" in place:
                elsewhere.append(f"the ledger of {name}")
                ledger.seal.copy(target / ledger.seal.path.name)
            else:
                heads[name] = ledger.backup(target / f"{name}.ledger")
    if "://" in store.place:
        elsewhere.append("the store")
    else:
        store.copy(target / "service.store")
    lines = [f"{name} {head.seq}:{head.hash}\n" for name, head in heads.items()]
    with open(os.open(target / "anchors", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    synced(target)
    return Backup(heads, elsewhere)
