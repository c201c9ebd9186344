"""The routing table: every request that is answered, as data.

From these records come the routes of Starlette, the OpenAPI description, and the tests of who may do what.  A record
cannot be made without an action of `access.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..access import NOBODY, Action
from .call import Answer, Call

Handler = Callable[[Call], Answer] | Answer  # an answer is given at once, whatever else is under way


@dataclass(frozen=True)
class Route:
    """A method and a path, the action that it takes, who handles it, and the types of what comes and goes.

    `answers` are the bodies by status; for a body that is no JSON, its media types.  `refuses` are the statuses of
    errors beyond those that every route has.
    """

    method: str
    path: str
    action: Action
    handler: Handler
    summary: str
    body: type[Any] | None = None
    answers: Mapping[int, type[Any] | tuple[str, ...]] = field(default_factory=dict)
    media: tuple[str, ...] = ()  # of the answer, beside JSON
    refuses: tuple[int, ...] = ()
    query: tuple[str, ...] = ()  # names of parameters after the question mark
    keyed: bool = False  # whether an Idempotency-Key names a fresh draw

    def __post_init__(self) -> None:
        if not isinstance(self.action, Action):
            raise TypeError(f"{self.method} {self.path} names no action")
        object.__setattr__(self, "decoder", None if self.body is None else msgspec.json.Decoder(self.body))

    decoder: msgspec.json.Decoder[Any] | None = field(default=None, init=False)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names in the path."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))

    @property
    def statuses(self) -> frozenset[int]:
        """Every status that an answer may have."""
        always = {429, 500, 503, *self.answers, *self.refuses}
        always |= set() if self.action.open_to(NOBODY) else {401, 403}
        always |= {404} if self.parameters else set()
        always |= {400, 408, 413, 415, 422} if self.body is not None else set()
        return frozenset(always)
