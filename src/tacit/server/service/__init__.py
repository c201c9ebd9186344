"""The one way from any door to a curator: authenticate, authorise, apply the policy, and then buy."""

from .service import Access, Service

__all__ = ["Access", "Service"]
