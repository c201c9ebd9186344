"""Bounded tables that are kept: private data, in a folder and in files that only their owner can open.

A copy is named by what it was made from and by what it holds, both as SHA-256, and put in place by one rename: so a
copy is whole, or is seen not to be, and is then made again.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..core.errors import BadParameter
from ..tables.schema import Schema

FORMAT = "1"  # of bounded tables: what it is made from has one copy for each
_ENDING = ".duckdb"


class Copies:
    """A folder of bounded tables."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder.resolve()
        if not self.folder.is_dir() or stat.S_IMODE(self.folder.stat().st_mode) & 0o077:
            raise BadParameter("copies", str(folder), "a folder that only its owner can open (chmod 700)")

    def copy(self, fingerprint: str, schema: Schema, key: str, make: Callable[[Path], None]) -> Path:
        """The copy of a table that was made before and is whole, or a new one."""
        made_from = hashlib.sha256("\n".join((FORMAT, fingerprint, schema.digest, key)).encode()).hexdigest()
        for path in self.folder.glob(f"{made_from}-*{_ENDING}"):
            if path.name == f"{made_from}-{_hashed(path)}{_ENDING}":
                return path
            path.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            draft = Path(place) / "draft"
            make(draft)
            draft.chmod(0o600)
            with draft.open("rb") as file:
                os.fsync(file.fileno())
            return draft.rename(self.folder / f"{made_from}-{_hashed(draft)}{_ENDING}")


def _hashed(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
