"""The errors are drawn as they are."""

import re

from tacit.core import errors
from tacit.core.errors import TacitError
from tacit.holdout import Spent  # the one that is not in the file


def drawn(text):
    """Each name with the one it stands under, by how far to the right it stands."""
    found, above = {}, {}
    for indent, name in re.findall(r"^((?:[│├└─ ]{3})*)(\w+)", text[text.index("TacitError") :], re.MULTILINE):
        depth = len(indent) // 3
        above[depth] = name
        found[name] = above.get(depth - 1)
    return found


def kinds(root):
    """The errors below one; those of the service are drawn in `tacit.server.errors`."""
    for kind in root.__subclasses__():
        if kind.__module__.startswith("tacit.") and not kind.__module__.startswith(("tacit.server.", "tacit.client.")):
            yield kind.__name__, root.__name__
            yield from kinds(kind)


def test_the_drawing_is_the_tree_of_classes():
    assert drawn(errors.__doc__) == {"TacitError": None, **dict(kinds(TacitError))}
    assert issubclass(Spent, errors.Exhausted)


def test_what_an_error_is_drawn_with_are_its_fields():
    for name, fields in re.findall(r"(\w+) +\(([a-z, ]+)\)", errors.__doc__):
        kind = getattr(errors, name)
        code = kind.__init__.__code__
        assert list(code.co_varnames[1 : code.co_argcount]) == fields.split(", "), name
