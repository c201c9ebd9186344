"""The shadow: a PostgreSQL of our own that holds the public schemas as empty tables, and answers for the catalogue.

catalogue   which statements may reach it: parsed, on an allow-list, and written anew from the tree
databases   one database for each data set, a role without rights, and connections to them
cluster     the server itself, in a folder of its own, which ends with the service
"""

from .catalogue import checked
from .cluster import Cluster
from .databases import Shadow

__all__ = ["Cluster", "Shadow", "checked"]
