"""The seal encrypts private states: whoever can read a ledger's file, but not its key, learns nothing from them.

A state (a noisy threshold, a secret that chooses rows) is stored as

    MAGIC | first 8 bytes of SHA-256(key) | nonce | AES-256-GCM of the state

with the ledger's identity, the session and the step as associated data: a state that was moved to another session,
step or ledger does not open.  Entries commit to the sealed bytes, so a ledger verifies without its key.  A state that
was stored before there were keys is read as it stands and sealed when its session is next written.

The key stands in a file of its own, readable by its owner alone: people.ledger.key beside people.ledger, and for a
ledger in a database IDENTITY.key in the folder that TACIT_KEYS names, or else ~/.config/tacit/keys.  The file appears
under its name complete and synced, before any state is sealed, so all first users agree on one key and no crash can
leave a sealed state whose key was lost.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ..core.errors import LedgerCorrupt, LedgerUnavailable
from ..core.randomness import SYSTEM

MAGIC = b"tacit sealed 1\n"
_NONCE, _NAME = 12, 8
_HEADER = len(MAGIC) + _NAME + _NONCE
_FILE = re.compile(rb"tacit ledger key 1\n([0-9a-f]{64})\n")


def keys_folder() -> Path:
    """The folder with the keys of ledgers in databases."""
    if given := os.environ.get("TACIT_KEYS"):
        return Path(given)
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "tacit" / "keys"


class Seal:
    """Seals the states of one ledger under the key in a file, which is made when a state is first sealed."""

    def __init__(self, path: Path, identity: str) -> None:
        self.path, self._identity = path, identity
        self._known: bytes | None = None

    def seal(self, state: bytes, charge: int, step: int, *, sealed_before: Callable[[], bool]) -> bytes:
        """The sealed bytes to store.  A missing key is made, unless there are states that were sealed under it."""
        key = self._known or self._read()
        if key is None:
            if sealed_before():
                raise self._missing()
            create_key(self.path)
            key = self._read()
        assert key is not None
        self._known, nonce = key, SYSTEM.words(2).tobytes()[:_NONCE]
        return MAGIC + _name(key) + nonce + AESGCM(key).encrypt(nonce, state, self._about(charge, step))

    def open(self, stored: bytes, charge: int, step: int) -> bytes:
        """The state, from the bytes that were stored."""
        if not stored.startswith(MAGIC):
            return stored
        key = self._known or self._read()
        if key is None:
            raise self._missing()
        if stored[len(MAGIC) : len(MAGIC) + _NAME] != _name(key):
            reason = f"the key file {self.path} is not the one that the private states were sealed with"
            raise LedgerUnavailable(self.path.stem, f"{reason}; restore the right one")
        self._known = key
        try:
            return AESGCM(key).decrypt(stored[_HEADER - _NONCE : _HEADER], stored[_HEADER:], self._about(charge, step))
        except InvalidTag:
            raise LedgerCorrupt(charge, "the state was sealed for another session, step or ledger") from None

    def copy(self, target: Path) -> None:
        """Write the key, if there is one, to a new file."""
        if (key := self._read()) is not None:
            _write(target, key)

    def _about(self, charge: int, step: int) -> bytes:
        return f"{self._identity} {charge} {step}".encode()

    def _missing(self) -> LedgerUnavailable:
        reason = f"its private states are sealed, and the key file {self.path} is not there"
        return LedgerUnavailable(self.path.stem, f"{reason}; put it back from a backup, or pass its path as key=")

    def _read(self) -> bytes | None:
        try:
            file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(os.strerror(error.errno or 0)) from None
        try:
            status, text = os.fstat(file), os.read(file, 200)
        finally:
            os.close(file)
        if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o077:
            raise self._unusable("a key file must be a regular file that only its owner can read; chmod 600 it")
        if (match := _FILE.fullmatch(text)) is None:
            raise self._unusable("there is no key in it; restore it from a backup")
        return bytes.fromhex(match[1].decode())

    def _unusable(self, why: str) -> LedgerUnavailable:
        return LedgerUnavailable(self.path.stem, f"its key file {self.path} cannot be used: {why}")


def create_key(path: Path) -> None:
    """Make a key file, unless there is one."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(path, SYSTEM.words(4).tobytes())
    except FileExistsError:
        pass  # another process made it, just now
    except OSError as error:
        reason = f"its key file {path} cannot be made: {os.strerror(error.errno or 0)}"
        raise LedgerUnavailable(path.stem, reason) from None


def _write(path: Path, key: bytes) -> None:
    """Write a key to a new file, which gets its name only once it is complete and synced."""
    draft = path.with_name(f".{path.name}.{SYSTEM.words(1).tobytes().hex()}")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        try:
            os.write(file, f"tacit ledger key 1\n{key.hex()}\n".encode())
            os.fsync(file)
        finally:
            os.close(file)
        os.link(draft, path)  # which overwrites nothing
    finally:
        os.unlink(draft)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _name(key: bytes) -> bytes:
    """The short digest by which a sealed state names its key."""
    return hashlib.sha256(key).digest()[:_NAME]
