r"""Which records were held out before: a keyed mark of each, kept where the sessions are kept.

A new split of old records renews no holdout set: the answers of the first session tell of the records that both sets
share.  So each keeper has a register, a private state with a sketch of the records of every session, and a set that
shares records with another session's is refused.

Marks.  The mark of a record is 64 bits of BLAKE2 under the keeper's secret: of its identifier, where the caller has
identifiers, or of its values.  Numbers of one value have one mark, whatever their type, and order does not matter.
    A sketch is the `LIMIT` smallest marks of a set.  The marks below a bound are a random sample of the values, the
same sample of every set: up to `LIMIT` records a comparison is complete, beyond that it is of this sample.

Sharing.  Identifiers are shared if any is.  Values may coincide by chance, and then they also coincide within a set.
Take the values that occur exactly twice in both sets together.  If both sets were drawn alike, of N = a + b records,
such a pair lies across the sets with probability 2 a b / (N (N - 1)).  Records are shared if so many pairs lie across
that as many have probability below `DOUBT` (a binomial tail).  Where values hardly ever repeat, 20 shared records of
sets of one size are noticed; where they repeat often, only identifiers tell records apart.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from ..core.errors import BadData, Refused, reading
from ..core.purpose import Purpose
from ..core.randomness import SYSTEM
from ..core.session import Session, answer_once, free_session, private_value
from .keeper import Keeper
from .questions import arrays, written

Marks = NDArray[np.uint64]

LIMIT = 1 << 14
DOUBT = 1e-6
_EXACT = 1 << 53  # whole numbers up to here are floats
_SECRET = hashlib.sha256(b"the secret of holdouts").hexdigest()
_REGISTER = hashlib.sha256(b"the records of holdouts").hexdigest()
SHARED = (
    "Some of these records are in the holdout set of another session. Its answers tell of them, so no promise would "
    "hold. Open that set again, or hold out records that are in no other set: see `tacit docs holdout`."
)


def secret(keeper: Keeper) -> bytes:
    """The keeper's secret: 32 random bytes that are drawn once and kept as long as its sessions."""
    drawn = SYSTEM.words(4).tobytes()
    return private_value(keeper, key=_SECRET, first=drawn, analyst="holdout", name="the secret of holdouts")


def row_marks(data: object, key: bytes) -> Marks:
    """A mark of 64 bits for each record, equal for equal records; without the key it tells nothing."""
    parts = [_bytes(part) for part in arrays("data", data)]
    return np.fromiter(
        (
            int.from_bytes(hashlib.blake2b(b"".join(row), digest_size=8, key=key[:64]).digest(), "little")
            for row in zip(*parts, strict=True)
        ),
        np.uint64,
        len(parts[0]),
    )


def _bytes(part: NDArray[Any]) -> list[bytes]:
    """The bytes of each row; numbers as floats of 64 bits, where these are exact."""
    if part.dtype.names or part.dtype.kind not in "biuf" or part.dtype.char in "gG":
        return [_text(row).encode() for row in part.tolist()]
    rows = part.reshape(len(part), -1)
    if part.dtype.kind in "iu" and rows.size and max(int(rows.max()), -int(rows.min())) > _EXACT:
        return [_text(row).encode() for row in rows.tolist()]
    plain = np.ascontiguousarray(rows, np.float64) + 0.0  # no -0.0
    plain[np.isnan(plain)] = np.nan
    width, whole = 8 * plain.shape[1], plain.tobytes()
    return [whole[i * width : (i + 1) * width] for i in range(len(part))]


def _text(value: object) -> str:
    """A row as text: a number of one value has one text, whatever its type."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and abs(value) <= _EXACT:
        value = float(value)
    return written(value + 0.0 if isinstance(value, float) else value)  # no -0.0


@dataclass(frozen=True)
class Sketch:
    """The smallest marks of a set, in their order; `complete` if these are all."""

    marks: Marks
    complete: bool = True
    identified: bool = False  # marks of identifiers, not of values

    @classmethod
    def of(cls, marks: Marks, identified: bool = False) -> Sketch:
        """The sketch of a set."""
        return cls(np.sort(marks)[:LIMIT], len(marks) <= LIMIT, identified)

    def below(self, bound: int) -> Marks:
        """The marks below a bound."""
        return self.marks[: np.searchsorted(self.marks, np.uint64(bound))]

    @property
    def bound(self) -> int:
        """The sketch has every mark below this."""
        return (1 << 64) - 1 if self.complete else int(self.marks[-1])

    def shares(self, other: Sketch) -> bool:
        """Whether two sets share more records than chance explains."""
        if self.identified != other.identified:
            return False  # an identifier and values are not comparable
        bound = min(self.bound, other.bound)
        mine, theirs = self.below(bound), other.below(bound)
        if self.identified:
            return bool(np.isin(mine, theirs).any())
        values, counts = np.unique(np.concatenate([mine, theirs]), return_counts=True)
        pairs, total = values[counts == 2], len(mine) + len(theirs)
        across = int(np.isin(pairs, mine).astype(int) @ np.isin(pairs, theirs).astype(int))
        if not across:
            return False
        chance = 2 * len(mine) * len(theirs) / (total * (total - 1))
        return bool(bdtrc(across - 1, len(pairs), chance) < DOUBT)

    def write(self) -> dict[str, Any]:
        """As JSON."""
        text = base64.b64encode(self.marks.astype("<u8").tobytes()).decode()
        return {"marks": text, "complete": self.complete, "identified": self.identified}

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> Sketch:
        """From JSON."""
        marks = np.frombuffer(base64.b64decode(written["marks"]), "<u8").astype(np.uint64)
        return cls(marks, bool(written["complete"]), bool(written["identified"]))


def sketch(keeper: Keeper, data: object, ids: object = None) -> Sketch:
    """The sketch of a set, by the keeper's secret: of identifiers, or else of the records' values."""
    marks = row_marks(data if ids is None else ids, secret(keeper))
    if ids is not None:
        if len(marks) != len(arrays("data", data)[0]):
            raise BadData("ids", f"{len(marks)} identifiers", "one for each record")
        if len(np.unique(marks)) != len(marks):
            raise BadData("ids", "some of them twice", "identifiers of records, all of them different")
    return Sketch.of(marks, ids is not None)


def unknown(keeper: Keeper, key: str, data: object, ids: object = None) -> Sketch | None:
    """The sketch of a set that has no session yet, for `enter`; refused if another session has some of its records."""
    register = _register(keeper)
    if register.find(key) is not None:
        return None
    found = sketch(keeper, data, ids)
    _refuse(register.read()[1], key, found)
    return found


def enter(keeper: Keeper, key: str, records: Sketch) -> None:
    """Write the records of a session into the register, once."""

    def step(state: bytes) -> tuple[bytes, bytes]:
        _refuse(state, key, records)
        sketches = json.loads(state)
        sketches[key] = records.write()
        return json.dumps(sketches).encode(), b""

    answer_once(_register(keeper), key, step)


def _register(keeper: Keeper) -> Session:
    purpose = Purpose("private value", "the records of holdouts")
    return free_session(keeper, key=_REGISTER, first=b"{}", analyst="holdout", purpose=purpose)


def _refuse(state: bytes, key: str, records: Sketch) -> None:
    with reading("the register of holdout records"):
        sketches = {name: Sketch.read(found) for name, found in json.loads(state).items()}
    if any(records.shares(other) for name, other in sketches.items() if name != key):
        raise Refused(SHARED)
