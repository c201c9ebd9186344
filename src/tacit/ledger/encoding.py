"""Losses, budgets and amounts as JSON, exactly: what is read equals what was written.

Fraction  "3/10"          float  "0x1.8000000000000p+1", "inf"
int       3, or "0x..." if it is very long
atom      {"atom": its name, and each of its fields}
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ..core.accounting import atoms, loss
from ..core.accounting.budget import Amounts, Budget
from ..core.accounting.grouped import Grouped
from ..core.accounting.listed import FinitePair, FixedSizeSample, PoissonSample
from ..core.accounting.loss import Atom, Loss
from ..core.accounting.parallel import Worst
from ..core.accounting.sampled import Sampled
from ..core.distance import ADD_REMOVE, SUBSTITUTE, Neighbours
from ..core.errors import BadParameter
from ..mechanisms.sparse_vector.gaussian_sparse import Transcripts

Json = Any

# What a ledger can hold.  A new atom whose fields are numbers, atoms, losses, tuples or sets is one more line.
KINDS: Mapping[str, type[Atom]] = {
    kind.__name__: kind
    for kind in (
        loss.Pure,
        loss.BoundedRange,
        loss.Concentrated,
        atoms.Approximate,
        atoms.ApproximateConcentrated,
        atoms.RenyiCurve,
        atoms.KaryResponse,
        atoms.LocalReport,
        atoms.LaplaceNoise,
        atoms.DiscreteLaplaceNoise,
        atoms.GaussianNoise,
        atoms.GaussianPrivacy,
        atoms.DiscreteGaussianNoise,
        atoms.DiscreteGaussianVector,
        Sampled,
        FinitePair,
        PoissonSample,
        FixedSizeSample,
        Grouped,
        Worst,
        Transcripts,
    )
}
RELATIONS: Mapping[str, Neighbours] = {repr(relation): relation for relation in (ADD_REMOVE, SUBSTITUTE)}
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)  # made once
_LONG = 1 << 13  # bits; the decimal text of an integer beyond is slow, and Python refuses it


def canonical(value: Json) -> str:
    """One text for one value."""
    return _CANONICAL.encode(value)


def _digits(n: int) -> str:
    return str(n) if n.bit_length() <= _LONG else hex(n)


def write(value: object) -> Json:
    """A number, an atom, a loss, or a tuple or set of such."""
    match value:
        case bool():
            pass
        case int():
            return value if value.bit_length() <= _LONG else hex(value)
        case Fraction():
            return f"{_digits(value.numerator)}/{_digits(value.denominator)}"
        case float() if not math.isnan(value):
            return value.hex()
        case tuple():
            return [write(item) for item in value]
        case frozenset():
            return {"set": sorted(map(write, value), key=canonical)}
        case Loss():
            return write_loss(value)
        case Atom() if KINDS.get(type(value).__name__) is type(value):
            known = {f.name: write(getattr(value, f.name)) for f in fields(value)}  # type: ignore[arg-type]
            return {"atom": type(value).__name__, **known}
    raise BadParameter("loss", value, f"made of atoms that a ledger can hold: {', '.join(KINDS)}")


def read(written: Json) -> Any:
    """What `write` wrote."""
    match written:
        case int():
            return written
        case str() if "/" in written:
            top, bottom = written.split("/")
            return Fraction(int(top, 0), int(bottom, 0))
        case str() if "p" in written or "inf" in written:
            return float.fromhex(written)
        case str():
            return int(written, 0)
        case list():
            return tuple(map(read, written))
        case {"set": items}:
            return frozenset(map(read, items))
        case {"terms": _}:
            return read_loss(written)
    known = {name: read(value) for name, value in written.items() if name != "atom"}
    return KINDS[written["atom"]](**known)


def write_loss(loss: Loss) -> Json:
    relation = None if loss.relation is None else repr(loss.relation)
    if relation is not None and RELATIONS.get(relation) != loss.relation:
        raise BadParameter("relation", loss.relation, " or ".join(RELATIONS))
    return {"relation": relation, "terms": sorted(([n, write(atom)] for atom, n in loss.terms.items()), key=canonical)}


def read_loss(written: Json) -> Loss:
    relation = written["relation"]
    return Loss({read(atom): n for n, atom in written["terms"]}, None if relation is None else RELATIONS[relation])


def write_amounts(amounts: Amounts) -> Json:
    return write(amounts)


def read_amounts(written: Json) -> Amounts:
    return tuple(map(read, written))


def write_budget(budget: Budget) -> Json:
    """All five fields: with another order or slack it would be another filter."""
    values = {f.name: getattr(budget, f.name) for f in fields(budget)}
    return {name: None if value is None else write(value) for name, value in values.items()}


def read_budget(written: Json) -> Budget:
    return _opened(canonical(written))


@lru_cache(maxsize=256)  # a budget is a value, and to find what it means in its currencies takes a while
def _opened(text: str) -> Budget:
    written = json.loads(text)
    known = {name: read(value) for name, value in written.items() if value is not None}
    if not known["delta"]:
        del known["delta"]
    if "delta" not in known or "rho" in known:
        del known["slack"]
    budget = Budget(**known)
    if write_budget(budget) != written:
        raise BadParameter("budget", written, "one that can be opened")
    return budget
