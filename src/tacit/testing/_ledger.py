"""What the checks of a ledger are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from hashlib import sha256

from ..core.accounting.loss import Loss, Pure
from ..core.errors import BudgetExceeded, TacitError
from ..ledger import Ledger

Place = Callable[..., Ledger]
TENTH = Loss({Pure(Fraction(1, 10)): 1})


def key(*question: object) -> str:
    """The digest of a question."""
    return sha256(repr(question).encode()).hexdigest()


def pure(epsilon: int | str | Fraction) -> Loss:
    return Loss({Pure(Fraction(epsilon)): 1})


@contextmanager
def refused(kind: type[TacitError]) -> Iterator[None]:
    """It raises this, and nothing else."""
    try:
        yield
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was to be raised")


def fills(ledger: Ledger, loss: Loss, **who: object) -> int:
    """How many such charges are admitted."""
    for count in range(10_000):
        try:
            ledger.charge(key=key("fill", ledger.head()), loss=loss, **{"analyst": "ann", **who})  # type: ignore[arg-type]
        except BudgetExceeded:
            return count
    raise AssertionError("the budget has no end")
