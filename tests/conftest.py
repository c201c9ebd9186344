"""Property tests take the same examples on every machine, and no machine is too slow for them."""

from hypothesis import settings

settings.register_profile("same everywhere", deadline=None, derandomize=True, database=None)
settings.load_profile("same everywhere")
