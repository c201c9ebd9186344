"""Losses, amounts and budgets as the entries of a ledger have them, exactly: what is read equals what was written.

loss      as `tacit.storage` writes it; entries of earlier versions have another spelling, which is read, too
amount    "3/10", or of a float "0x1.8p+1" or "inf"; an integer that is very long is "0x..."
budget    its five fields, each an amount or null
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from .. import mechanisms, storage  # noqa: F401 - mechanisms have atoms, too
from ..core.accounting import every_atom  # noqa: F401
from ..core.accounting.budget import Amounts, Budget
from ..core.accounting.currency import Amount
from ..core.accounting.loss import Atom, Loss
from ..core.distance import ADD_REMOVE, SUBSTITUTE
from ..core.errors import BadParameter, NewerVersion

Json = Any

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)  # made once
_MAX_BITS = 1 << 13  # the decimal text of a longer integer is slow, and Python refuses it
_PLAIN = frozenset((int, Fraction))
_FIELDS = ("epsilon", "rho", "delta", "slack", "renyi_order")  # of a budget


def canonical(value: Json) -> str:
    """The one text of a JSON value."""
    return _CANONICAL.encode(value)


@lru_cache(maxsize=256, typed=True)  # a loss is a value, and the same prices are charged again and again
def write_loss(loss: Loss) -> Json:
    """A loss as JSON; it must be made of stored atoms, whose fields are numbers, losses and atoms."""
    if loss.relation not in (None, ADD_REMOVE, SUBSTITUTE):
        raise BadParameter("relation", loss.relation, f"{ADD_REMOVE} or {SUBSTITUTE}")
    for atom in loss.terms:
        if not storage.is_stored(atom) or not _PLAIN.issuperset(map(type, storage.members(atom).values())):
            _check(atom)
    return storage.write(loss)


def _check(value: object) -> None:
    parts: Iterable[object] = ()
    match value:
        case int() | float() | Fraction() if not isinstance(value, bool) and value == value:  # noqa: PLR0124 - no NaN
            pass
        case tuple() | frozenset():
            parts = value
        case Loss():
            parts = value.terms
        case Atom() if storage.is_stored(value):
            parts = storage.members(value).values()
        case _:
            raise BadParameter("loss", value, "made of atoms that a ledger can hold, which are those of tacit")
    for part in parts:
        _check(part)


def read_loss(written: Json) -> Loss:
    """The loss that JSON was written from."""
    return _loss(canonical(written))


@lru_cache(maxsize=4096)  # a loss is a value, and most charges of a ledger are of a few
def _loss(text: str) -> Loss:
    try:
        loss: Loss = storage.loads(text)
    except storage.WrittenLater as error:
        raise NewerVersion("an entry of this ledger", str(error)) from None
    if type(loss) is not Loss:
        raise BadParameter("loss", type(loss).__name__, "a Loss")
    return loss


def write_amount(amount: Amount) -> Json:
    """An amount as JSON."""
    match amount:
        case int():
            return amount if amount.bit_length() <= _MAX_BITS else hex(amount)
        case Fraction():
            return f"{_digits(amount.numerator)}/{_digits(amount.denominator)}"
        case float() if not math.isnan(amount):
            return amount.hex()
    raise BadParameter("amount", amount, "a number")


def _digits(n: int) -> str:
    return str(n) if n.bit_length() <= _MAX_BITS else hex(n)


def read_amount(written: Json) -> Any:
    """The amount that JSON was written from."""
    match written:
        case int():
            return written
        case str() if "/" in written:
            top, bottom = written.split("/")
            return Fraction(int(top, 0), int(bottom, 0))
        case str() if "p" in written or "inf" in written:
            return float.fromhex(written)
    return int(written, 0)


def write_amounts(amounts: Amounts) -> Json:
    """The amounts of all currencies of a budget."""
    return [write_amount(amount) for amount in amounts]


def read_amounts(written: Json) -> Amounts:
    """The amounts that JSON was written from."""
    return tuple(map(read_amount, written))


def write_budget(budget: Budget) -> Json:
    """All five fields: with another order or slack it would be another filter."""
    fields = {name: getattr(budget, name) for name in _FIELDS}
    return {name: None if value is None else write_amount(value) for name, value in fields.items()}


def read_budget(written: Json) -> Budget:
    """The budget that JSON was written from."""
    return _budget(canonical(written))


@lru_cache(maxsize=256)  # a budget is a value, and to find what it means in its currencies takes a while
def _budget(text: str) -> Budget:
    written = json.loads(text)
    fields = {name: read_amount(value) for name, value in written.items() if value is not None}
    if not fields["delta"]:
        del fields["delta"]
    if "delta" not in fields or "rho" in fields:
        del fields["slack"]
    budget = Budget(**fields)
    if write_budget(budget) != written:
        raise BadParameter("budget", written, "one that can be opened")
    return budget
