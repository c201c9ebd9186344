"""Who asks: a name and a role."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Role = Literal["owner", "analyst"]
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True)
class Person:
    """Somebody who may log in.  Owners are custodians: they see every data set and administer the service."""

    name: str
    role: Role
    added: str = ""
    revoked: str | None = None
