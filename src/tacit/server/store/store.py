"""The store of the service."""

from __future__ import annotations

from .jobs import Jobs


class Store(Jobs):
    """People, tokens, data sets, policies, approvals and jobs, in one durable place that several processes share."""
