"""How far long work has come, for whoever looks on; the work itself does not depend on it.

Only what is known beforehand is told, and nothing that was drawn: a draw may yet be lost, and drawn again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Watch = Callable[[str, float], None]  # what is being done, and the share of it that is

_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Tell `watch` how far long work has come, as long as the block lasts."""
    before = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(before)


def tell(what: str, share: float) -> None:
    """Say how far it is; a watch that fails is not asked again, since no work may fail for it."""
    if (watch := _watch.get()) is not None:
        try:
            watch(what, share)
        except Exception:
            _watch.set(None)


def with_progress(what: str, items: Iterable[T], count: int) -> Iterator[T]:
    """The items, as they come; each is said when it is done with."""
    for i, item in enumerate(items):
        tell(what, i / count)
        yield item
    tell(what, 1.0)
