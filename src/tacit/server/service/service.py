"""The service: who asks, what they may do, and the curator that they do it with.

Every door goes the same way:

    authenticate   the text of a token -> who bears it, or nobody
    authorise      who, what action, which data set -> `Access`; what one may not see does not exist
    do             functions of this package take an `Access`, and so cannot be called without one

Nothing here knows of HTTP.  All of it may be called from many threads.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...curator import Curator
from ..access import NOBODY, OWNER, Action
from ..config import Settings
from ..custody import settle
from ..errors import Forbidden, NotFound, Unauthenticated
from ..policy import Policy, effective
from ..store import DataSet, Login, Person, Store
from ..store.records import Kind
from .boards import Boards
from .curators import Curators
from .sessions_at_hand import Sessions
from .verdicts import Verdicts

MAX_NAME = 64  # characters of a name that are looked for: one more than a data set may have


@dataclass(frozen=True)
class Access:
    """Somebody who was let in to do something: `person` is None for nobody, `dataset` is None for the service."""

    action: Action
    person: Person | None
    dataset: DataSet | None = None
    policy: Policy | None = None

    @property
    def name(self) -> str:
        """The name of who asks."""
        assert self.person is not None, self.action
        return self.person.name

    @property
    def owner(self) -> bool:
        """Whether an owner asks."""
        return self.person is not None and self.person.role == OWNER

    @property
    def about(self) -> DataSet:
        """The data set."""
        assert self.dataset is not None, self.action
        return self.dataset

    @property
    def rules(self) -> Policy:
        """The policy for who asks."""
        assert self.policy is not None, self.action
        return self.policy


class Service:
    """Data sets, the people who may ask about them, and what they may ask."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings, self.sessions, self.verdicts = store, settings, Sessions(), Verdicts()
        self.curators, self.boards = Curators(settings), Boards(settings)

    def authenticate(self, text: str | None, kind: Kind = "token") -> Login | None:
        """Who bears this token, or this session; None for none, and for one that is unknown, expired or revoked."""
        return self.store.authenticate(text or "", (kind,))

    def authorise(self, person: Person | None, action: Action, dataset: str | None = None) -> Access:
        """Let somebody in to do something, or refuse.

        Roles are looked at before names, so that a refusal for a role says nothing about which data sets there are.
        """
        role = NOBODY if person is None else person.role
        if not action.open_to(role):
            raise Unauthenticated if person is None else Forbidden(action.does)
        if dataset is None:
            return Access(action, person)
        if person is None:
            raise Unauthenticated
        name = dataset[:MAX_NAME]
        known, policy = self.store.dataset(name), effective(self.store.policies(name), person)  # the same work for all
        if known is None or policy is None:
            raise NotFound("data set")
        return Access(action, person, known, policy)

    def visible(self, person: Person) -> list[tuple[DataSet, Policy]]:
        """The data sets that somebody may see, each with the policy for them."""
        policies = ((each, effective(self.store.policies(each.name), person)) for each in self.store.datasets())
        return [(dataset, policy) for dataset, policy in policies if policy is not None]

    def curator(self, access: Access) -> Curator:
        """The curator of a data set."""
        return self.curators.of(access.about)

    def buyer(self, access: Access) -> Curator:
        """The curator of a data set, for a purchase: the allowance that the policy sets is the ledger's by then."""
        curator = self.curator(access)
        assert access.person is not None
        settle(curator.ledger, access.rules, access.person)
        return curator

    def close(self) -> None:
        """Let go of the tables, the ledgers and the store."""
        self.curators.close()
        self.boards.close()
        self.store.close()
