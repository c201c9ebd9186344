"""Policies: what the custodian allows a person or a role to buy from a data set.  Nothing here reads or writes.

A policy that names a person takes the place of the policy of their role; the two are not added up.  Owners who are
named by no policy may buy everything; analysts who are named by none do not see the data set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from ..core.accounting.budget import Budget
from ..core.accounting.currency import Amount
from ..core.errors import BadParameter, Refused
from ..core.parameters import Number, failure, one_of, positive, rational
from ..ledger.names import analyst_name, skeleton
from .numbers import read_budget, write_budget, write_number
from .person import ROLES, Person

Purchase = Literal["question", "bounds", "stream", "workload", "synthetic"]
PURCHASES: tuple[Purchase, ...] = get_args(Purchase)
PRICES = ("error", "relative", "epsilon", "share", "rho")
SWITCHES = ("fresh", "streams", "workloads", "synthetic")
_SWITCH: dict[Purchase, str] = {"stream": "streams", "workload": "workloads", "synthetic": "synthetic"}
_SOLD = {"stream": "streams and online queries", "workload": "workloads", "synthetic": "synthetic data"}


class PolicyRefused(Refused):
    """The custodian does not sell this to who asks."""


@dataclass(frozen=True)
class Price:
    """The price of a question that names none: one of error, relative, epsilon (with or without delta), share, rho."""

    name: str
    amount: Fraction
    delta: Fraction | None = None

    def __post_init__(self) -> None:
        one_of("price", self.name, PRICES)
        object.__setattr__(self, "amount", positive(self.name, self.amount))
        if self.name in ("share", "relative") and self.amount > 1:
            raise BadParameter(self.name, self.amount, "at most 1")
        if self.delta is not None:
            object.__setattr__(self, "delta", failure("delta", self.delta))
            if self.name != "epsilon":
                raise BadParameter("delta", self.delta, "given with epsilon alone")

    @property
    def terms(self) -> dict[str, Fraction]:
        """The price as arguments of `Curator.offer` and `Curator.ask`."""
        return {self.name: self.amount} | ({} if self.delta is None else {"delta": self.delta})

    @classmethod
    def read(cls, terms: Mapping[str, Number]) -> Price:
        """The price that terms such as {"error": "50"} name."""
        named = [name for name in terms if name != "delta"]
        if len(named) != 1 or named[0] not in PRICES:
            given, allowed = " and ".join(terms) or "nothing", f"one of {', '.join(PRICES)}, epsilon perhaps with delta"
            raise BadParameter("price", given, allowed, says=f"A default price is {allowed}. Got {given}.")
        delta = rational("delta", terms["delta"]) if "delta" in terms else None
        return cls(named[0], rational(named[0], terms[named[0]]), delta)


@dataclass(frozen=True)
class Policy:
    """What a person or a role may buy; shares are of the budget of the data set.

    price       what a question costs that names no price; without one, each question must name its own
    most        the largest share that one purchase may take
    allowance   what each of them may spend in all, which the ledger enforces
    fresh       whether an answer may be drawn again, at its price
    streams     whether sparse-vector streams and online queries may be opened; likewise `workloads`, `synthetic`
    approval    the share above which a purchase needs an owner's approval; 0 is all of them, None is none
    """

    price: Price | None = None
    most: Fraction | None = None
    allowance: Budget | None = None
    fresh: bool = False
    streams: bool = False
    workloads: bool = False
    synthetic: bool = False
    approval: Fraction | None = None

    def __post_init__(self) -> None:
        for name in ("most", "approval"):
            if (given := getattr(self, name)) is not None:
                share = rational(name, given)
                if not 0 <= share <= 1:
                    raise BadParameter(name, given, "a share of the budget, at least 0 and at most 1")
                object.__setattr__(self, name, share)
        for name in SWITCHES:
            if type(getattr(self, name)) is not bool:
                raise BadParameter(name, getattr(self, name), "true or false")
        if not isinstance(self.allowance, Budget | None):
            raise BadParameter("allowance", self.allowance, "a Budget")
        if not isinstance(self.price, Price | None):
            raise BadParameter("price", self.price, "a Price")


OWNERS = Policy(fresh=True, streams=True, workloads=True, synthetic=True)  # of owners whom no policy names


@dataclass(frozen=True)
class Allowed:
    """The policy sells this."""


@dataclass(frozen=True)
class NeedsApproval:
    """The policy sells this once an owner has approved it."""

    reason: str


def decide(policy: Policy, kind: Purchase, price_share: Amount, fresh: bool = False) -> Allowed | NeedsApproval:
    """Whether a policy sells a purchase at this share of the budget; raises `PolicyRefused` if it does not.

    What was bought before is free and needs no decision, unless it is drawn afresh.
    """
    one_of("kind", kind, PURCHASES)
    if fresh and not policy.fresh:
        advice = "Ask without fresh: the answer that was drawn before is free."
        raise PolicyRefused(f"The custodian of this data set does not sell fresh draws to you. {advice}")
    switch = _SWITCH.get(kind)
    if switch is not None and not getattr(policy, switch):
        advice = "Ask single questions instead, or ask an owner to allow it."
        raise PolicyRefused(f"The custodian of this data set does not sell {_SOLD[kind]} to you. {advice}")
    if policy.most is not None and price_share > policy.most:
        dear = f"This takes {_percent(price_share)} of the budget, and one purchase of yours may take"
        raise PolicyRefused(f"{dear} {_percent(policy.most)}. Ask at a lower price, or for a larger error.")
    if policy.approval is not None and (price_share > policy.approval or policy.approval == 0):
        above = "Every purchase" if policy.approval == 0 else f"A purchase of more than {_percent(policy.approval)}"
        advice = "Ask again once an owner has approved it."
        return NeedsApproval(f"{above} of the budget of this data set needs an owner's approval. {advice}")
    return Allowed()


def _percent(share: Amount) -> str:
    return f"{100 * float(share):.3g} %"


def subject(text: str) -> str:
    """The checked subject of a policy: role:analyst, role:owner or person:NAME, in the form in which it is stored."""
    kind, _, name = text.partition(":")
    if kind == "role" and name in ROLES:
        return text
    if kind == "person" and name:
        return f"person:{skeleton(analyst_name(name))}"
    raise BadParameter("subject", text, "role:analyst, role:owner or person:NAME")


def effective(policies: Mapping[str, Policy], person: Person) -> Policy | None:
    """The policy of a person, by name, else by role; None if the data set does not exist for them."""
    own = policies.get(f"person:{skeleton(person.name)}")
    of_role = policies.get(f"role:{person.role}")
    return own or of_role or (OWNERS if person.role == "owner" else None)


def write_policy(policy: Policy) -> dict[str, Any]:
    """A policy as JSON, with exact numbers as texts."""
    price, allowance = policy.price, policy.allowance
    facts: dict[str, Any] = {name: getattr(policy, name) for name in SWITCHES}
    facts |= {"price": None if price is None else {name: write_number(x) for name, x in price.terms.items()}}
    facts |= {"allowance": None if allowance is None else write_budget(allowance)}
    shares = {name: getattr(policy, name) for name in ("most", "approval")}
    return facts | {name: None if share is None else write_number(share) for name, share in shares.items()}


def read_policy(facts: Mapping[str, Any]) -> Policy:
    """The policy that JSON describes; what is left out has its default."""
    unknown = sorted(facts.keys() - Policy.__dataclass_fields__.keys())
    if unknown:
        allowed = ", ".join(Policy.__dataclass_fields__)
        raise BadParameter("policy", unknown[0], allowed, says=f"A policy has no {unknown[0]!r}. It has {allowed}.")
    price, allowance = facts.get("price"), facts.get("allowance")
    for name, given in (("price", price), ("allowance", allowance)):
        if not isinstance(given, Mapping | None):
            raise BadParameter(name, given, "an object of names and numbers")
    read: dict[str, Any] = {**facts}
    read |= {"price": None if price is None else Price.read(price)}
    read |= {"allowance": None if allowance is None else read_budget(allowance)}
    return Policy(**read)
