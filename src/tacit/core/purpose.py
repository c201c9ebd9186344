"""What a charge is for: its kind, a description for people, and what completes a charge that is still open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import BadParameter

KINDS = ("question", "workload", "bounds", "publication", "stream", "online", "holdout", "private value", "other")
MAX_DESCRIPTION = 1000  # characters


@dataclass(frozen=True)
class Purpose:
    """What a charge is for.

    `kind` is one of `KINDS`.  `description` is for people.  `terms` is JSON: for a question, the mechanisms and the
    beta that were paid for, by which an open charge is completed, and for a publication, those of each of its answers;
    None where the question itself says all of it.
    """

    kind: str = "other"
    description: str = ""
    terms: Mapping[str, Any] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BadParameter("kind", self.kind, f"one of {', '.join(KINDS)}")
        if not isinstance(self.description, str):
            raise BadParameter("description", type(self.description).__name__, "text")
        if len(self.description) > MAX_DESCRIPTION:
            object.__setattr__(self, "description", f"{self.description[: MAX_DESCRIPTION - 3]}...")

    def __str__(self) -> str:
        return self.description or self.kind


UNSTATED = Purpose()
