"""Purchases that need an owner's approval."""

from __future__ import annotations

from ...core.parameters import one_of
from ...ledger.names import skeleton
from .database import StoreConflict, now, number, written
from .datasets import DataSets
from .records import DECISIONS, Approval, Decision

_COLUMNS = "id, dataset, person, digest, request, state, asked, decided, decider"
_APPROVALS = f"SELECT {_COLUMNS} FROM approvals"
_NEW = f"""
INSERT INTO approvals ({_COLUMNS})
VALUES (:id, :dataset, :person, :digest, :request, :state, :asked, :decided, :decider)
"""
_OPEN = f"""
{_APPROVALS} WHERE dataset = :dataset AND person = :person AND digest = :digest AND state IN ('pending', 'approved')
"""
_MAX_PENDING = 100  # of one person on one data set


class Approvals(DataSets):
    """What analysts want to buy and owners decide on."""

    def request_approval(self, dataset: str, person: str, request: str, digest: str) -> Approval:
        """Ask owners to approve a request, of which the digest is the identity; asked again, it is the same approval.

        The approval may have been given already: then it is to be used (`use`), once the purchase was charged.
        """
        asked = Approval(number(), dataset, person, digest, request, "pending", written(now()))
        with self.writing() as connection:
            known = connection.execute(_OPEN, vars(asked)).fetchone()
            if known is not None:
                return Approval(*known)
            waiting = (
                "SELECT COUNT(*) FROM approvals WHERE dataset = :dataset AND person = :person AND state = 'pending'"
            )
            if connection.execute(waiting, vars(asked)).fetchone()[0] >= _MAX_PENDING:
                raise StoreConflict(
                    f"{_MAX_PENDING} purchases of yours wait for approval. Wait until some are decided."
                )
            connection.execute(_NEW, vars(asked))
            self._log(connection, person, "asked for approval", f"{asked.id} on {dataset}")
        return asked

    def approvals(
        self, dataset: str | None = None, person: str | None = None, state: Decision | None = None
    ) -> list[Approval]:
        """The approvals of a data set, of a person, or in a state, oldest first."""
        if state is not None:
            one_of("state", state, DECISIONS)
        given = {"dataset": dataset, "state": state}
        wanted = {name: value for name, value in given.items() if value is not None}
        where = "".join(f" AND {name} = :{name}" for name in wanted)
        with self.reading() as connection:
            rows = connection.execute(f"{_APPROVALS} WHERE 1 = 1{where} ORDER BY asked, id", wanted)
            found = [Approval(*row) for row in rows]
        return [each for each in found if person is None or skeleton(each.person) == skeleton(person)]

    def approval(self, id: str) -> Approval | None:  # noqa: A002
        """The approval with this number, or None."""
        with self.reading() as connection:
            row = connection.execute(f"{_APPROVALS} WHERE id = :id", {"id": id}).fetchone()
        return None if row is None else Approval(*row)

    def decide(self, id: str, *, by: str, approved: bool) -> Approval:  # noqa: A002
        """Approve or deny a pending request, once."""
        state = "approved" if approved else "denied"
        with self.writing() as connection:
            row = connection.execute(f"{_APPROVALS} WHERE id = :id", {"id": id}).fetchone()
            if row is None:
                raise StoreConflict("There is no such approval. `tacit approval list` shows all of them.")
            before = Approval(*row)
            if before.state != "pending":
                raise StoreConflict(f"This request was {before.state} by {before.decider}, and stays so.")
            given = {"id": id, "state": state, "decided": written(now()), "decider": by}
            set_ = "UPDATE approvals SET state = :state, decided = :decided, decider = :decider WHERE id = :id"
            connection.execute(set_, given)
            self._log(connection, by, f"{state} the purchase", f"{id} of {before.person} on {before.dataset}")
            return Approval(*connection.execute(f"{_APPROVALS} WHERE id = :id", {"id": id}).fetchone())

    def use(self, id: str) -> bool:  # noqa: A002
        """Use an approval up; True for exactly one of all who try."""
        with self.writing() as connection:
            row = connection.execute(f"{_APPROVALS} WHERE id = :id", {"id": id}).fetchone()
            if row is None or Approval(*row).state != "approved":
                return False
            connection.execute("UPDATE approvals SET state = 'used' WHERE id = :id", {"id": id})
            return True
