"""Who may do what: one table, from actions to the roles that may take them.

    nobody    has not said who they are
    analyst   may act on a data set for which there is a policy for them
    owner     may act on every data set, and administers the service

Every way into the service names its action.  A data set that a person may not see does not exist for them: they get the
same answer, after the same work, as for a name that nobody gave.  What an analyst may *buy* is said by policies
(`policy.py`), not here.
"""

from __future__ import annotations

from enum import Enum

NOBODY, ANALYST, OWNER = "nobody", "analyst", "owner"
_EVERYBODY = frozenset((NOBODY, ANALYST, OWNER))
_PEOPLE = frozenset((ANALYST, OWNER))
_OWNERS = frozenset((OWNER,))


class Action(Enum):
    """What can be done: a name, and the roles that may do it."""

    HEALTH = "look whether the service is well", _EVERYBODY
    DESCRIPTION = "read what the service answers", _EVERYBODY
    SIGN_IN = "sign in and out", _EVERYBODY
    LEARN = "look at public theory", _EVERYBODY
    PUBLISHED = "read a release, which others than its readers may if it is published", _EVERYBODY
    SELF = "look at oneself", _PEOPLE
    LIST = "list the data sets that one may see", _PEOPLE
    SCHEMA = "read the public facts of a data set", _PEOPLE
    OFFER = "ask what something costs", _PEOPLE
    BUY = "buy something", _PEOPLE
    HISTORY = "look at what was bought", _PEOPLE
    JOBS = "follow one's own jobs", _PEOPLE
    APPROVALS = "look at requests for approval, one's own or, as an owner, everybody's", _PEOPLE
    BOARD = "take part in a leaderboard", _PEOPLE
    CLOSE_BOARD = "close a leaderboard", _OWNERS
    APPROVE = "decide on a request for approval", _OWNERS
    METRICS = "look at how much the service is used", _OWNERS
    LEDGER = "read, verify and export a ledger", _OWNERS
    POLICIES = "set what may be bought", _OWNERS
    PEOPLE = "administer people and their tokens", _OWNERS
    DATASETS = "add and remove data sets", _OWNERS
    PUBLISH = "publish a release", _OWNERS

    def __init__(self, does: str, roles: frozenset[str]) -> None:
        self.does, self.roles = does, roles

    def open_to(self, role: str) -> bool:
        """Whether this role may take the action at all."""
        return role in self.roles
