"""`python -m tacit` is `tacit`."""

from .cli import app

app()
