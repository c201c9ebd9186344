"""Publications: a plan as code, bought by one charge, as a folder for a web server."""

from .folder import Published, dry_run, price_of, publish
from .plan import ReleasePlan

__all__ = ["Published", "ReleasePlan", "dry_run", "price_of", "publish"]
