"""Bounded tables on disk, for the next process: private data, in folders and files that only their owner can open.

Each table has a folder of its name.  The name of a copy holds hashes of the table's key, of the inputs it was made
from, and of its own content; one rename puts it in place.  So a copy is complete, or is seen not to be and made again.
Once a copy is used, copies under the same key that were made from other inputs are deleted.
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

FORMAT = "4"  # of bounded tables; copies of another format are made again
_ENDING = ".duckdb"
_DRAFT = "draft-"


class Copies:
    """A folder of bounded copies of tables."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder.resolve()
        if not self.folder.is_dir() or stat.S_IMODE(self.folder.stat().st_mode) & 0o077:
            raise BadParameter("copies", str(folder), "a folder that only its owner can open (run chmod 700)")

    @contextmanager
    def copy(self, fingerprint: str, schema: Schema, key: str, make: Callable[[Path], None]) -> Iterator[Path]:
        """The existing copy of a table, or a new one; no other process deletes it within this context."""
        folder = self.folder / schema.name
        folder.mkdir(mode=0o700, exist_ok=True)
        of_key = _hash(key)[:16]
        made_from = f"{of_key}-{_hash(FORMAT, fingerprint, schema.digest, key)}"
        with _locked(folder):
            for draft in folder.glob(f"{_DRAFT}*"):  # nobody else holds the lock: its maker is dead
                shutil.rmtree(draft, ignore_errors=True)
            path = _existing(folder, made_from) or _new(folder, made_from, make)
            yield path
            for other in folder.glob(f"{of_key}-*{_ENDING}"):
                if other != path:
                    other.unlink(missing_ok=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """An exclusive lock on a folder, among threads and processes; it ends with the process."""
    import fcntl  # exists only on systems with POSIX permissions

    place = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)


def _existing(folder: Path, made_from: str) -> Path | None:
    for path in folder.glob(f"{made_from}-*{_ENDING}"):
        if path.name == f"{made_from}-{_hashed(path)}{_ENDING}":
            return path
        path.unlink(missing_ok=True)
    return None


def _new(folder: Path, made_from: str, make: Callable[[Path], None]) -> Path:
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
