"""Every golden value of these theorems, from one table of id patterns."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit.theory import gaussian, laplace, selection
from tacit.theory import randomized_response as rr
from tacit.theory import sparse_vector as svt
from tacit.theory import worked_examples as worked
from tacit.theory.sparse_vector import Scales

Inputs = dict[str, Any]
Formula = Callable[[Inputs, str], float]

GOLDEN = Path(__file__).parents[1] / "golden" / "golden.json"
PREFIXES = {"laplace", "seed", "staircase", "hs", "fp", "rr", "krr", "oue", "olh", "subsel", "em", "rnm"}
PREFIXES |= {"pf", "topk", "at", "sparse", "numsparse", "svt", "gauss"}
ELSEWHERE = re.compile(r"em\.ddr20\..*|hs\.(?!laplace).*")  # composition, not a theorem of one mechanism
ENTRIES = [
    entry
    for entry in json.loads(GOLDEN.read_text())["entries"]
    if entry["id"].split(".")[0] in PREFIXES and not ELSEWHERE.fullmatch(entry["id"])
]
SALE = ([1.0, 2.0, 2.5, 3.0, 4.0], [1.0, 2.0, 2.5, 3.0, 4.0], 1.0)


def at_scales(name: str, epsilon: float) -> Scales:
    variant = name.split(".")[1]
    if variant == "lsl17opt":
        return svt.optimal_scales(epsilon, 1)
    if variant == "monotone":
        return svt.optimal_scales(epsilon, 1, monotone=True)
    return svt.above_threshold_scales(epsilon)


def at_law(i: Inputs, name: str) -> float:
    outcome = name.rsplit(".", 1)[1]
    scales = Scales(i["scale_threshold"], i["scale_query"])
    law = svt.above_threshold(i["queries"], i["T"], scales, i["noise"])
    return float(law[-1] if outcome == "none" else law[int(outcome.removeprefix("stop")) - 1])


def at_loss(i: Inputs, name: str) -> float:
    noise: svt.NoiseName = "exponential" if "expnoise" in name else "laplace"
    return svt.worst_loss(i["queries"], i["T"], at_scales(name, i["eps"]), noise, monotone="monotone" in name)


def eye(i: Inputs, name: str) -> float:
    choice = worked.most_common(i["counts"], i["eps"], monotone=i["monotone"])
    colour = name.rsplit(".", 1)[1]
    return choice.exponential_mechanism[colour]


def price(i: Inputs, name: str) -> float:
    sale = worked.posted_price(i["valuations"], i["prices"], i["eps"], monotone=i["monotone"])
    at: int = i["prices"].index(float(name.rsplit(".p", 1)[1]))
    assert worked.revenue(i["prices"][at], i["valuations"]) == i["revenue"]
    return sale.probabilities[at]


def softmax(i: Inputs, name: str) -> float:
    scale = selection.noise_scale(i["eps"], i["sens"], monotone=i["monotone"])
    return float(selection.exponential_mechanism(i["votes"], scale)[int(name[-1])])


def noisy_max(i: Inputs, _: str) -> float:
    return float(selection.noisy_max(i["scores"], i["scale"], i["noise"])[i["index"]])


def gaussian_svt(i: Inputs, _: str) -> float:
    return svt.gaussian_renyi(i["alpha"], i["k"], i["sigma_threshold"], i["sigma_query"])


FORMULAS: dict[str, Formula] = {
    r"laplace\.tail\..*": lambda i, _: laplace.tail(i["t"] * 3.0, 3.0),
    r"laplace\.cdf\..*": lambda i, _: laplace.cdf(i["x"], i["b"]),
    r"laplace\.var\..*": lambda i, _: laplace.variance(i["b"]),
    r"laplace\.sample_.*": lambda i, _: laplace.sample_size(i["alpha"], i["beta"], i["k"], i["eps"]),
    r"laplace\.hist\..*(?<!exact)": lambda i, _: laplace.union_error(
        i["beta"], i["bins"], laplace.scale_for(i["eps"], i["l1_sensitivity"])
    ),
    r"laplace\.hist\..*exact": lambda i, _: laplace.simultaneous_error(
        i["beta"], i["bins"], laplace.scale_for(i["eps"])
    ),
    r"laplace\.mean_bits\.scale": lambda i, _: laplace.scale_for(i["eps"], 1 / i["n"]),
    r"laplace\.mean_bits\.err95": lambda i, _: laplace.union_error(
        i["beta"], 1, laplace.scale_for(i["eps"], 1 / i["n"])
    ),
    r"laplace\.sum_bound_css\..*": lambda i, _: laplace.sum_error_bound(i["beta"], i["m"], i["b"]),
    r"seed\.worked\.eps_per_query": lambda i, _: laplace.epsilon_per_query(i["eps"], i["k"]),
    r"seed\..*\.alpha_exact": lambda i, _: worked.counting_queries(i["k"], i["eps"], i["beta"]).exact_error,
    r"seed\.worked\.alpha_normalized.*": lambda i, _: (
        worked.counting_queries(i["k"], i["eps"], i["beta"]).union_error / i["n"]
    ),
    r"staircase\..*": lambda i, _: laplace.staircase_magnitude(i["eps"], i["sens"]),
    r"hs\.laplace\..*": lambda i, _: laplace.profile(i["eps"], i["eps0"]),
    r"fp\.smallest_laplace_spacing": lambda i, _: laplace.inverse_cdf_values(i["bits"]),
    r"rr\.p\..*": lambda i, _: rr.keep_probability(i["eps"]),
    r"rr\.eps_from_p\..*": lambda i, _: rr.epsilon_of(i["p"]),
    r"rr\.var\..*": lambda i, _: rr.variance(i["eps"]),
    r"rr\.var_mean\..*": lambda i, _: rr.variance(i["eps"], i["n"]),
    r"rr\.hoeffding\..*": lambda i, _: rr.hoeffding_error(i["beta"], i["n"], i["eps"], i["Q"]),
    r"krr\.p\..*": lambda i, _: rr.k_ary(i["k"], i["eps"]).p,
    r"krr\.var0\..*": lambda i, _: rr.k_ary(i["k"], i["eps"]).variance(),
    r"oue\.var0\..*": lambda i, _: rr.unary(i["eps"]).variance(),
    r"olh\.var0\..*": lambda i, _: rr.local_hashing(i["eps"], i["g"]).variance(),
    r"subsel\.p\..*": lambda i, _: rr.subset_selection(i["k"], i["eps"], i["omega"]).p,
    r"subsel\.var0\..*": lambda i, _: rr.subset_selection(i["k"], i["eps"], i["omega"]).variance(),
    r"em\.eye\..*": eye,
    r"em\.price\.(standard|monotone)\..*": price,
    r"em\.price\.expected_revenue": lambda i, _: worked.posted_price(*SALE).exponential_revenue,
    r"em\.vote\..*": softmax,
    r"em\.utility\..*": lambda i, _: selection.utility_bound(
        i["beta"], i["R"], selection.noise_scale(i["eps"], i["sens"])
    ),
    r"em\.maxkl\..*": lambda i, _: selection.bounded_range_kl(i["eps"]),
    r"rnm\.([ABC]|vote)\..*": noisy_max,
    r"rnm\.laplace2\..*": lambda i, _: selection.laplace_duel(i["gap"], i["scale"]),
    r"pf\..*": lambda i, _: float(
        selection.permute_and_flip(i["scores"], selection.noise_scale(i["eps"], i["sens"]))[i["index"]]
    ),
    r"topk\.gumbel\..*": lambda i, _: selection.top_k(
        i["scores"], selection.noise_scale(i["eps_per_peel"]), i["order"]
    ),
    r"at\..*\.(stop\d|none)": at_law,
    r"at\..*\.worst_loss": at_loss,
    r"sparse\.accuracy\.pure": lambda i, _: svt.sparse_error(i["beta"], i["k"], i["c"], i["eps"]),
    r"sparse\.scale\.approx": lambda i, _: svt.sparse_scales(i["eps"], i["c"], i["delta"]).threshold,
    r"numsparse\.accuracy\.approx": lambda i, _: svt.numeric_sparse_error(
        i["beta"], i["k"], i["c"], i["eps"], i["delta"]
    ),
    r"numsparse\.eps1\.pure": lambda i, _: svt.numeric_sparse_split(i["eps"])[0],
    r"svt\.split\..*": lambda i, _: svt.optimal_split(i["c"], monotone=i["monotone"]),
    r"svt\.var\..*": lambda i, _: svt.optimal_scales(i["eps"], i["c"], monotone=i["monotone"]).variance(),
    r"svt\.gauss\.rdp": gaussian_svt,
    r"gauss\.sigma\..*": lambda i, _: gaussian.sigma(i["eps"], i["delta"], i["sens"]),
    r"gauss\.classic\..*": lambda i, _: gaussian.classical_sigma(i["eps"], i["delta"]),
    r"gauss\.eps\..*": lambda i, _: gaussian.epsilon_at(i["delta"], 1 / i["sigma"]),
    r"gauss\.taildelta\..*": lambda i, _: gaussian.tail_delta(i["eps"], 1 / i["sigma"]),
}


def formulas_for(name: str) -> list[Formula]:
    return [formula for pattern, formula in FORMULAS.items() if re.fullmatch(pattern, name)]


def test_no_entry_is_left_out() -> None:
    assert [entry["id"] for entry in ENTRIES if len(formulas_for(entry["id"])) != 1] == []
    assert {entry["id"].split(".")[0] for entry in ENTRIES} == PREFIXES


def test_no_formula_is_idle() -> None:
    assert [p for p in FORMULAS if not any(re.fullmatch(p, entry["id"]) for entry in ENTRIES)] == []


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["id"])
def test_golden(entry: dict[str, Any]) -> None:
    (formula,) = formulas_for(entry["id"])
    found = formula(entry["inputs"], entry["id"])
    allowed = entry["tolerance"] * (abs(entry["value"]) if entry["tolerance_type"] == "rel" else 1)
    assert abs(found - entry["value"]) <= allowed
    if "value_wrong" in entry:
        assert abs(found - entry["value_wrong"]) > 1e3 * allowed
    if "ceil" in entry:
        assert math.ceil(found) == entry["ceil"]
    if entry["id"].startswith("at.") and "scale_query" in entry["inputs"]:
        scales = at_scales(entry["id"], entry["inputs"]["eps"])
        given = (entry["inputs"]["scale_threshold"], entry["inputs"]["scale_query"])
        assert (scales.threshold, scales.query) == pytest.approx(given, rel=1e-14)
