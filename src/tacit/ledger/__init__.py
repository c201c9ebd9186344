"""The durable ledger of a privacy budget: what was paid for, what was released, and nothing that can be undone."""

from ..core.purpose import Purpose
from .entries import Charge, Entry, Head, Request
from .ledger import Ledger
from .session import LedgerSession

__all__ = ["Charge", "Entry", "Head", "Ledger", "LedgerSession", "Purpose", "Request"]
