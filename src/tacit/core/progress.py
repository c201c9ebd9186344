"""Reports of progress on long computations, which do not depend on whether anyone listens.

Reports hold only what is known beforehand and nothing that was drawn: a draw may be lost and drawn again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Watch = Callable[[str, float], None]  # takes the name of the work and the share of it that is done

_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Report progress to `watch` within the block."""
    before = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(before)


def report(what: str, share: float) -> None:
    """Report that this share of the work is done; a watch that fails is dropped, as no work may fail for it."""
    if (watch := _watch.get()) is not None:
        try:
            watch(what, share)
        except Exception:
            _watch.set(None)


def with_progress(what: str, items: Iterable[T], count: int) -> Iterator[T]:
    """The items, one by one; reports after each of them."""
    for i, item in enumerate(items):
        report(what, i / count)
        yield item
    report(what, 1.0)
