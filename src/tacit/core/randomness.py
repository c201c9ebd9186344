"""The only source of randomness: a keystream cipher, keyed by the operating system.

Every thread of every process has a keystream of its own (AES-256 in counter mode, key and counter from
`os.urandom`), made on first use, discarded in a forked child, and rekeyed after each 64 MiB, so that no two processes,
threads or revived snapshots share more than 64 MiB.  Nothing here can be seeded, copied or pickled.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from typing import NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from .exact import Real

Words = NDArray[np.uint64]

_CHUNK = 1 << 15  # words enciphered in one call; 256 KiB stays in a core's second-level cache
_POOL = 512  # words kept ready for scalar draws
_WORDS_PER_KEY = 1 << 23
_ZEROS = memoryview(bytes(8 * _CHUNK))


def process() -> int:
    """The id of this process; keystreams and sessions remember it, since they must not go on in a forked copy."""
    return os.getpid()


class Source(ABC):
    """Independent uniform words of `width` bits: 64 in service, fewer when a test enumerates them all."""

    width: int
    seeded = True  # not fit for releases, unless a source says otherwise

    @abstractmethod
    def words(self, n: int) -> Words:
        """The next n words."""

    @abstractmethod
    def word(self) -> int:
        """The next word."""

    def integer(self, n: int, spare: int = 0) -> int:
        """A uniform integer in [0, n): the words form one long number; those of the incomplete last round are rejected.

        With `spare` extra words a rejection happens less than once in 2^(spare width), whatever n is: where n is
        private, the number of words drawn must not depend on it.
        """
        count = -(-n.bit_length() // self.width) + spare
        whole = 1 << count * self.width
        while True:
            u = 0
            for _ in range(count):
                u = u << self.width | self.word()
            if u < whole - whole % n:
                return u % n

    def below(self, real: Real, prefix: int = 0, bits: int = 0) -> bool:
        """Whether a uniform number that begins with these bits is below `real`; draws more bits until decided."""
        while True:
            low, high = real(bits)
            if prefix < low:
                return True
            if prefix >= high:
                return False
            prefix, bits = prefix << self.width | self.word(), bits + self.width


class _Stream:
    """The keystream of one thread."""

    def __init__(self) -> None:
        self.owner = process()
        self.pool: list[int] = []
        self._rekey()

    def _rekey(self) -> None:
        self.left = _WORDS_PER_KEY
        self.cipher: CipherContext = Cipher(algorithms.AES256(os.urandom(32)), modes.CTR(os.urandom(16))).encryptor()

    def words(self, n: int) -> Words:
        out = np.empty(n + 2, np.uint64)  # the cipher asks for one block more than it writes
        view = out.view(np.uint8).data
        for start in range(0, n, _CHUNK):
            count = min(_CHUNK, n - start)
            if self.left < count:
                self._rekey()
            self.left -= count
            self.cipher.update_into(_ZEROS[: 8 * count], view[8 * start :])
        return out[:n]


class _OperatingSystem(Source):
    """The `Source` for releases."""

    width, seeded = 64, False

    def __init__(self) -> None:
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._local = threading.local()

    def _stream(self) -> _Stream:
        stream: _Stream | None = getattr(self._local, "stream", None)
        if stream is None or stream.owner != process():  # a fork made outside Python is seen by its pid
            stream = self._local.stream = _Stream()
        return stream

    def words(self, n: int) -> Words:
        return self._stream().words(n)

    def word(self) -> int:
        stream = self._stream()
        if not stream.pool:
            stream.pool = stream.words(_POOL).tolist()
        return stream.pool.pop()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("A source of randomness cannot be copied or pickled: two holders would draw the same noise.")


SYSTEM: Source = _OperatingSystem()
