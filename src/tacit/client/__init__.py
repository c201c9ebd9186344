"""A curator behind a service: `tacit.connect` has the methods of a curator in this process."""

from .connection import Connection
from .curator import RemoteCurator
from .service import Remote, connect

__all__ = ["Connection", "Remote", "RemoteCurator", "connect"]
