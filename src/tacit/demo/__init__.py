"""The command `tacit demo`: a shop's purchases, a budget, and a dozen questions from easy to refused."""

from .story import run

__all__ = ["run"]
