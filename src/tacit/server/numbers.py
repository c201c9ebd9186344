"""Exact numbers and budgets as texts: 0.05, 1/3, {"epsilon": "1", "delta": "0.000000001"}."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ..core.accounting.budget import Budget
from ..core.errors import BadParameter
from ..core.parameters import Number

_TERMS = ("epsilon", "rho", "delta", "slack", "renyi_order")
_MAX_PLACES = 40  # of a decimal


def write_number(x: Fraction) -> str:
    """A number as text: a decimal if it has a short one, else a fraction."""
    places = next((n for n in range(_MAX_PLACES + 1) if 10**n % x.denominator == 0), None)
    if not places:
        return str(x)
    digits = str(abs(x.numerator) * 10**places // x.denominator).rjust(places + 1, "0")
    return f"{'-' if x < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def write_budget(budget: Budget) -> dict[str, str]:
    """The arguments that make an equal budget; slack and order only where they are not the default."""
    fields = {name: x for name in _TERMS if (x := getattr(budget, name)) or (name == "slack" and x is not None)}
    base = {name: fields[name] for name in ("epsilon", "rho", "delta") if name in fields}
    for more in ((), ("renyi_order",), ("slack",), ("slack", "renyi_order")):
        if {*more} <= fields.keys():
            terms = base | {name: fields[name] for name in more}
            if _equal(terms, budget):
                return {name: write_number(x) for name, x in terms.items()}
    raise AssertionError(budget)


def _equal(terms: Mapping[str, Fraction], budget: Budget) -> bool:
    try:
        return Budget(**terms) == budget
    except BadParameter:
        return False


def read_budget(terms: Mapping[str, Number]) -> Budget:
    """The budget that terms such as {"epsilon": "1", "delta": "1e-9"} name."""
    unknown = sorted(terms.keys() - {*_TERMS})
    if unknown:
        allowed = f"made of {', '.join(_TERMS)}"
        raise BadParameter("budget", unknown[0], allowed, says=f"A budget has no {unknown[0]!r}. It is {allowed}.")
    return Budget(**terms)
