"""The HTTP door: routes as data, strict bodies, one way to refuse, limits, and logs without values."""

from .app import application

__all__ = ["application"]
