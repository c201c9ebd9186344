"""The checks of the keyed hash at more seeds, for engines whose other checks take few."""

from tacit.testing.engines import names_units_as_the_reference, orders_equal_hashes_by_content


def units_are_named_alike(factory):
    """Numbers, and text that may be one, under two keys."""
    for seed in range(4):
        names_units_as_the_reference(factory, seed)


def content_decides_where_hashes_are_equal(factory, seeds):
    """All that a unit has has one hash."""
    for seed in seeds:
        orders_equal_hashes_by_content(factory, seed)
