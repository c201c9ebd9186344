"""Keys under which a client repeats a request: the same request is answered again, and another one is refused."""

from __future__ import annotations

from ..errors import Conflict
from ..store import Store
from .service import Access


def check(store: Store, access: Access, key: str, digest: str) -> None:
    """Refuse a request under a key that another request of the same person had, on the same data set."""
    if store.first_use(access.about.name, access.name, key, digest) != digest:
        raise Conflict("Another request was made under this Idempotency-Key. Use a new key for a new request.")
