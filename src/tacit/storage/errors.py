"""Why a value cannot be written, or a text cannot be read.

These are plain `ValueError`s, as this package stands below all others; `core.errors.reading` turns them into errors of
tacit where they would reach a user.
"""

from __future__ import annotations


class Unwritable(ValueError):
    """The value is of no stored type, or holds something that its stored fields do not say."""


class Unreadable(ValueError):
    """The text is not one that tacit writes."""


class WrittenLater(Unreadable):
    """The text names a type or a version that this version of tacit does not know: a newer one wrote it."""
