"""What is stored, and what identifies a question: one codec, with names, versions and fields of its own.

Types register where they are defined (`registry.py`).  Values are written as canonical JSON (`codec.py`), which stays
readable when modules, classes and attributes are renamed.  `former.py` reads and spells what earlier versions wrote.
"""

from __future__ import annotations

from . import plain_types  # noqa: F401 - which registers them
from .codec import (
    canonical,
    canonical_members,
    digest,
    has_long_integers,
    is_stored,
    loads,
    members,
    read,
    read_members,
    write,
)
from .errors import Unreadable, Unwritable, WrittenLater
from .registry import bare, kinds, stored, stored_name

__all__ = [
    "Unreadable",
    "Unwritable",
    "WrittenLater",
    "bare",
    "canonical",
    "canonical_members",
    "digest",
    "has_long_integers",
    "is_stored",
    "kinds",
    "loads",
    "members",
    "read",
    "read_members",
    "stored",
    "stored_name",
    "write",
]
