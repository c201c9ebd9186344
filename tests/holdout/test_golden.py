"""Every golden value of transfer, Thresholdout and the inequalities they rest on, from one table of id patterns."""

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tacit.composition import azuma, azuma_inverse, hoeffding
from tacit.holdout import transfer

GOLDEN = Path(__file__).parents[1] / "golden" / "golden.json"
PREFIXES = {"transfer", "thresholdout", "monitor", "hoeffding", "azuma"}
ENTRIES = [e for e in json.loads(GOLDEN.read_text())["entries"] if e["id"].split(".")[0] in PREFIXES]


def jung(i: dict[str, Any]) -> float:
    return transfer.jung(i["eps"], "1e-9", alpha=i["alpha"], beta="1e-9", c=i["c"], d=i["d"]).width


def width(i: dict[str, Any]) -> float:
    return transfer.notes_as_printed(i["eps"], 0, 10**6).width


def fixed(i: dict[str, Any]) -> float:
    """The printed proof put right, which costs a factor 2; the theorem is proved without it, and more."""
    given = i["eps"], i["delta"], i["m"]
    e, (sharp, printed) = (
        Fraction(str(i["eps"])),
        (f(*given).failure for f in (transfer.notes, transfer.notes_as_printed)),
    )
    found = max(printed, hoeffding(i["m"], e / 4))
    assert sharp <= printed <= found
    return found


def slack(i: dict[str, Any]) -> float:
    c, d = transfer.jung_slack(i["beta"], i["delta"], i["beta_target"])
    return c + 2 * d


def thresholdout_epsilon(i: dict[str, Any]) -> float:
    return transfer.thresholdout(i["tau"], i["m"], i["B"], i["beta"], i["n"]).epsilon


FORMULAS: dict[str, Callable[[dict[str, Any]], float]] = {
    r"transfer\.seed\.prob\..*": lambda i: transfer.notes_as_printed(i["eps"], i["delta"], i["m"]).failure,
    r"transfer\.fixed\.prob\..*": fixed,
    r"transfer\.seed\.width\..*": width,
    r"transfer\.expgen\..*": lambda i: transfer.expected(i["eps"], i["delta"], i["T"]),
    r"transfer\.jung\.alpha\..*": jung,
    r"transfer\.jung\.opt_slack": slack,
    r"thresholdout\.T": lambda i: transfer.thresholdout(i["tau"], 1000, 1, "0.05", 1000).threshold,
    r"thresholdout\.eps\.pure": thresholdout_epsilon,
    r"hoeffding\.two\..*": lambda i: hoeffding(i["n"], i["t"]),
    r"azuma\.pl\..*": lambda i: azuma(i["k"], i["eps"], i["t"]),
    r"azuma\.inverse\..*": lambda i: azuma_inverse(i["k"], i["eps"], i["delta"]),
}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["id"])
def test_golden(entry: dict[str, Any]) -> None:
    (formula,) = [f for pattern, f in FORMULAS.items() if re.fullmatch(pattern, entry["id"])]
    found, exact = formula(entry["inputs"]), Fraction(entry["value_str"])
    assert abs(Fraction(found) - exact) <= Fraction(entry["tolerance"]) * exact
    if entry["kind"] == "upper-bound":
        assert found >= exact * (1 - Fraction(1, 10**24))  # its text is rounded, too


def test_no_formula_is_idle() -> None:
    assert [p for p in FORMULAS if not any(re.fullmatch(p, entry["id"]) for entry in ENTRIES)] == []
