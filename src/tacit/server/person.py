"""Who asks: a name and a role."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from ..core.errors import BadParameter
from ..ledger.names import analyst_name, skeleton

Role = Literal["owner", "analyst"]
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True)
class Person:
    """Somebody who may log in.  Owners are custodians: they see every data set and administer the service."""

    name: str
    role: Role
    added: str = ""
    revoked: str | None = None


ANOTHER = "another"  # in place of the name of somebody whose purchases one may not see
OPERATOR, PROVIDER = "the operator", "the provider"  # who act without a name of their own, in the log of acts
_RESERVED = re.compile(rf"{ANOTHER}|nobody|tacit|({OPERATOR}|{PROVIDER})( .*)?")
_APART = re.compile(r"[/\\:]")  # which part an address, a path, or the subject of a policy


def person_name(name: str) -> str:
    """The checked name of somebody new, which stands for nobody else in a ledger, a policy, a log or an address."""
    checked = analyst_name(name)
    if not checked[0].isalnum() or _APART.search(checked):
        raise BadParameter("name", name, "a name that begins with a letter or a digit, without any of / \\ :")
    if _RESERVED.fullmatch(skeleton(checked)):
        says = f"The service uses the name {checked!r} itself. Choose another name."
        raise BadParameter("name", name, "a name of their own", says=says)
    return checked
