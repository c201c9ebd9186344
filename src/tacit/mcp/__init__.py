"""Questions of language-model agents, by the Model Context Protocol: `tacit mcp`, and /mcp of a service."""

from .desk import Desk, RemoteDesk
from .tools import server

__all__ = ["Desk", "RemoteDesk", "server"]
