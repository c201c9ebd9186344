"""Keys, losses and refusals, for the checks of a ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from hashlib import sha256

from ..core.accounting.loss import Loss, Pure
from ..core.errors import BudgetExceeded, TacitError
from ..ledger import Ledger
from .mechanisms import Refuted

Place = Callable[..., Ledger]
TENTH = Loss({Pure(Fraction(1, 10)): 1})


def key(*question: object) -> str:
    """The digest of a question."""
    return sha256(repr(question).encode()).hexdigest()


def pure(epsilon: int | str | Fraction) -> Loss:
    """A loss of pure epsilon."""
    return Loss({Pure(Fraction(epsilon)): 1})


@contextmanager
def refused(kind: type[TacitError]) -> Iterator[None]:
    """The block raises an error of this kind."""
    try:
        yield
    except kind:
        return
    raise Refuted(f"the ledger does not raise {kind.__name__}")


def fills(ledger: Ledger, loss: Loss, **who: object) -> int:
    """How many charges of this loss the ledger admits."""
    for count in range(10_000):
        try:
            ledger.charge(key=key("fill", ledger.head()), loss=loss, **{"analyst": "ann", **who})  # type: ignore[arg-type]
        except BudgetExceeded:
            return count
    raise Refuted("the ledger admits charges without end")
