"""Bounded tables that are kept: private data, in folders and in files that only their owner can open.

A table has a folder of its name.  A copy is named by the key of its table, by what it was made from and by what it
holds, each hashed, and put in place by one rename: so a copy is whole, or is seen not to be, and is then made again.
Once a copy is used, those of the same key that were made from anything else are deleted.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ...core.errors import BadParameter
from ...query.schema.schema import Schema

FORMAT = "4"  # of bounded tables: what it is made from has one copy for each
_ENDING = ".duckdb"
_DRAFT = "draft-"


class Copies:
    """A folder of bounded tables."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder.resolve()
        if not self.folder.is_dir() or stat.S_IMODE(self.folder.stat().st_mode) & 0o077:
            raise BadParameter("copies", str(folder), "a folder that only its owner can open (chmod 700)")

    @contextmanager
    def copy(self, fingerprint: str, schema: Schema, key: str, make: Callable[[Path], None]) -> Iterator[Path]:
        """The copy of a table that was made before and is whole, or a new one; nobody deletes it in this context."""
        folder = self.folder / schema.name
        folder.mkdir(mode=0o700, exist_ok=True)
        of_key = _hash(key)[:16]
        made_from = f"{of_key}-{_hash(FORMAT, fingerprint, schema.digest, key)}"
        with _alone(folder):
            for draft in folder.glob(f"{_DRAFT}*"):  # nobody else is at work: its maker is dead
                shutil.rmtree(draft, ignore_errors=True)
            path = _found(folder, made_from) or _made(folder, made_from, make)
            yield path
            for other in folder.glob(f"{of_key}-*{_ENDING}"):
                if other != path:
                    other.unlink(missing_ok=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """While no other process, nor thread, is in here for the same folder; it ends with the process."""
    import fcntl  # which only systems have on which a folder can be its owner's alone

    place = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)


def _found(folder: Path, made_from: str) -> Path | None:
    for path in folder.glob(f"{made_from}-*{_ENDING}"):
        if path.name == f"{made_from}-{_hashed(path)}{_ENDING}":
            return path
        path.unlink(missing_ok=True)
    return None


def _made(folder: Path, made_from: str, make: Callable[[Path], None]) -> Path:
    with tempfile.TemporaryDirectory(prefix=_DRAFT, dir=folder) as place:
        draft = Path(place) / "draft"
        make(draft)
        draft.chmod(0o600)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        return draft.rename(folder / f"{made_from}-{_hashed(draft)}{_ENDING}")


def _hash(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _hashed(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
