"""What a service refuses, beside what a curator does, and what its clients raise.

TacitError
├─ Unauthenticated                     nobody, or nobody that is known, asks
├─ NotFound                            there is no such thing, or not for who asks
├─ Refused
│  ├─ Forbidden                        the role of who asks does not allow it
│  └─ ApprovalNeeded  (approval)       an owner has to approve of a purchase first
├─ Conflict                            another request stands in the way
├─ BadRequest         (status)         the request cannot be read
├─ Overloaded         (status, after)  too much is asked at once; ask again after some seconds
└─ Unreachable        (place, reason)  the service does not answer
"""

from __future__ import annotations

from ..core.errors import Refused, TacitError


class Unauthenticated(TacitError):
    """Nobody, or nobody that is known, asks."""

    def __init__(self) -> None:
        super().__init__("Sign in: send a valid token as `Authorization: Bearer ...`, or open a new login link.")


class NotFound(TacitError):
    """There is no such thing, or not for who asks; which of the two is not said."""

    def __init__(self, what: str) -> None:
        super().__init__(f"There is no such {what}, or you may not see it.")


class Forbidden(Refused):
    """The role of who asks does not allow it."""

    def __init__(self, does: str) -> None:
        super().__init__(f"Only an owner may {does}. Ask an owner of this service.")


class ApprovalNeeded(Refused):
    """A purchase waits for an owner; asked again once it is approved, it is bought."""

    def __init__(self, approval: object) -> None:
        super().__init__("An owner has to approve of this purchase. Ask again once it is approved.")
        self.approval = approval


class Conflict(TacitError):
    """Another request stands in the way."""


class BadRequest(TacitError):
    """The request cannot be read; `status` is 400, or what HTTP has for this in particular."""

    def __init__(self, says: str, status: int = 400) -> None:
        super().__init__(says)
        self.status = status


class Overloaded(TacitError):
    """Too much is asked at once: by one person (429), or of the service (503)."""

    def __init__(self, says: str, *, after: int, status: int = 503) -> None:
        super().__init__(says)
        self.status, self.after = status, after


class Unreachable(TacitError):
    """The service does not answer, or not as tacit does."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"The service at {place} cannot be reached: {reason}. If something was charged, it is kept.")
        self.place, self.reason = place, reason
