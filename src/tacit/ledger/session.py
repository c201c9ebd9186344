"""Sessions: mechanisms that answer one question after another from a state, such as sparse vector or online weights.

The price is paid on opening.  A step replaces the state and stores the answer in one transaction, and only if nobody
else has taken that step meanwhile: each state is stepped from once, whatever crashes and whoever shares it.  The state
holds noise that nobody has seen.  Only the last state is kept, sealed under the ledger's key (`seal.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ..core.accounting.loss import Loss
from ..core.errors import LedgerConflict, LedgerCorrupt
from .book import Book, following, read
from .encoding import write_loss
from .entries import Charge, digest
from .parameters import as_bytes, question_key
from .stores.statements import ASKED, STATE

if TYPE_CHECKING:
    from .ledger import Ledger


class LedgerSession:
    """A session, which may go on in any process that opens the ledger."""

    def __init__(self, ledger: Ledger, charge: Charge) -> None:
        self._ledger, self.charge = ledger, charge

    def read(self) -> tuple[int, bytes]:
        """How many steps were taken, and the state after them."""
        with self._ledger.database.reading() as connection:
            row = connection.execute(STATE, {"charge": self.charge.seq}).fetchone()
            step, salt, state, last = row or (-1, b"", b"", None)
            entry = following(connection, self.charge.seq, step) if step == last else None
        try:
            if entry is not None and entry.body["state"] == digest(salt + state):
                return step, self._ledger.seal.open(bytes(state), self.charge.seq, step)
        except TypeError:  # no bytes at all
            pass
        raise LedgerCorrupt(self.charge.seq, "the state of this session is not the one after its last step")

    def find(self, key: str) -> bytes | None:
        """The last answer to a question in this session, or None if it was not asked."""
        with self._ledger.database.reading() as connection:
            entry = read(connection, ASKED, key=question_key(key), charge=self.charge.seq)
        return None if entry is None else entry.data

    def step(self, after: int, key: str, state: bytes, answer: bytes, loss: Loss | None = None) -> bytes:
        """Take step number `after` + 1 and return the answer to hand out.

        If another process took that step first with the same question, its answer is returned and this one forgotten;
        with another question, `LedgerConflict` says to `read` again.  A `loss` beyond the price of the session is
        admitted here or refused.
        """
        key, state, answer = question_key(key), as_bytes("state", state), as_bytes("answer", answer)

        def take(book: Book) -> bytes | None:
            taken = following(book.connection, self.charge.seq, after + 1)
            if taken is not None:
                return taken.data if taken.body["key"] == key else None
            if following(book.connection, self.charge.seq, after) is None:
                return None
            paid = {} if loss is None else book.pay(self.charge.analyst, self.charge.parts, loss)
            facts = {"key": key, "loss": None if loss is None else write_loss(loss), "paid": paid}
            return book.step(self.charge, after + 1, state, answer, facts).data

        stored = self._ledger.write(take)
        if stored is None:
            raise LedgerConflict(f"Step {after + 1} is not the next of this session. Read its state again.")
        return stored

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("A session cannot be copied or pickled. Start it again with the same key, which is free.")
