"""The service as a PostgreSQL server: any of its clients may ask.

door         connections, TLS, who asks, cancellation
connection   the simple and the extended protocol
statements   what a statement is for
session      settings, prices, transactions
desk         what statements do, through the one way to a curator
shadow       a PostgreSQL with empty tables, which answers for the catalogue
codec        messages as bytes
"""

from .door import Door
from .shadow import Cluster

__all__ = ["Cluster", "Door"]
