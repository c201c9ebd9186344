"""The store of the service."""

from __future__ import annotations

from .datasets import DataSets


class Store(DataSets):
    """People, tokens, data sets, policies, approvals and jobs, in one durable place that several processes share."""
