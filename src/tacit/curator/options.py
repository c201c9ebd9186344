"""Signatures that name every option: `help`, completion and notebooks show what a TypedDict of terms lists."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def name_options(terms: type, *methods: Callable[..., Any]) -> None:
    """Have the signatures of methods list the keys of the terms that they take as keywords.

    An option without a None among its values is shown with a default of `...`: the docstring says which.
    """
    for method in methods:
        _name_options(method, terms)


def _name_options(method: Callable[..., Any], terms: type) -> None:
    signature = inspect.signature(method)
    given = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    more: dict[str, Any] = terms.__annotations__  # of a TypedDict, with those that it inherits
    known = {p.name for p in given}
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_default(hint), annotation=_hint(hint))
        for name, hint in more.items()
        if name not in known
    ]
    method.__signature__ = signature.replace(parameters=[*given, *named])  # type: ignore[attr-defined]


def _hint(hint: Any) -> str:
    """An annotation as its text, which reads better than the union behind it."""
    return getattr(hint, "__forward_arg__", None) or str(hint)


def _default(hint: Any) -> Any:
    return None if "None" in _hint(hint) else ...
