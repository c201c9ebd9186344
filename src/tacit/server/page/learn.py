"""Figures for the page `/learn`: mechanisms, composition and attacks, computed by the library itself.

`TOPICS` lists all figures by name.  Their parameters come from short menus and each is computed once, so that no
visitor can keep the service busy.  Nothing here touches a data set: the attacks run on generated people.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any

from ... import mechanisms
from ...core.accounting.best_bound import VIEWS
from ...core.mechanism import Mechanism
from ...core.randomness import SYSTEM

DELTA, BETA = "1e-6", "0.05"
EPSILONS = ("0.05", "0.1", "0.2", "0.5", "1", "2", "4")
COPIES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500, 800, 1000)
VOTES = (30, 28, 24, 12, 5)  # scores of five candidates; a voter more or less moves each by at most 1
OTHER_VOTES = (29, 29, 25, 11, 6)
SPAN = 2.6  # errors of a noise that its law is drawn to, on either side

_BUILD: dict[str, Callable[[str], Mechanism[Any, Any]]] = {
    "laplace": lambda epsilon: mechanisms.Laplace(epsilon=epsilon),
    "gaussian": lambda epsilon: mechanisms.Gaussian(epsilon=epsilon, delta=DELTA),
    "randomized_response": lambda epsilon: mechanisms.RandomizedResponse(epsilon=epsilon, categories=2),
    "exponential": lambda epsilon: mechanisms.Exponential(epsilon=epsilon, sensitivity=1, candidates=len(VOTES)),
    "permute_and_flip": lambda epsilon: mechanisms.PermuteAndFlip(epsilon=epsilon, candidates=len(VOTES)),
}
MECHANISMS, NOISES = tuple(_BUILD), ("laplace", "gaussian", "randomized_response")
ATTACKS = ("reconstruction", "differencing", "averaging", "membership", "floating_point", "timing")
_SAYS = {
    "laplace": "Adds noise with tails e^(-epsilon |z|) to a count. The two curves are the answers with and without one"
    " person: nowhere is one more than e^epsilon times the other.",
    "gaussian": "Adds noise with lighter tails. Far out the curves part by more than e^epsilon, which happens with"
    f" probability at most delta = {DELTA}; in exchange many answers add up more cheaply.",
    "randomized_response": "Each person tells the truth with probability e^epsilon / (1 + e^epsilon), and else lies,"
    " before anyone collects anything.",
    "exponential": "Names one of five candidates, with a chance that grows with its votes: 30, 28, 24, 12 and 5.",
    "permute_and_flip": "Names one of five candidates, as the exponential mechanism does, and on average never worse.",
}
_MEASURES = {
    "randomized_response": "probability of a lie",
    "exponential": "votes behind the winner, at most, with probability 0.95",
    "permute_and_flip": "votes behind the winner, at most, with probability 0.95",
}
_lock = Lock()


@cache
def mechanism(name: str, epsilon: str) -> dict[str, Any]:
    """The law of a mechanism on two neighbouring inputs, its loss, and its error against epsilon."""
    built = {each: _BUILD[name](each) for each in EPSILONS}
    chosen = built[epsilon]
    loss = chosen.loss()
    return {
        "name": name,
        "epsilon": epsilon,
        "says": _SAYS[name],
        "law": _law(name, chosen),
        "loss": {"epsilon": _finite(loss.epsilon()), "at_delta": loss.epsilon(DELTA), "delta": DELTA},
        "error": _error(name, chosen),
        "errors": [{"epsilon": float(each), "error": _error(name, m)} for each, m in built.items()],
        "measure": _MEASURES.get(name, "error in rows, at most, with probability 0.95"),
    }


def _error(name: str, m: Mechanism[Any, Any]) -> float:
    return float(m.law(0).mass(1) if name == "randomized_response" else m.error(beta=BETA))


def _law(name: str, m: Mechanism[Any, Any]) -> list[dict[str, Any]]:
    """The probability of every output that is likely, with one person and without."""
    neighbours: tuple[Any, Any]
    if name in ("exponential", "permute_and_flip"):
        outputs, neighbours = list(range(len(VOTES))), (list(VOTES), list(OTHER_VOTES))
    elif name == "randomized_response":
        outputs, neighbours = [0, 1], (0, 1)
    else:
        far = math.ceil(SPAN * m.error(beta=BETA))
        step = max(1, far // 60)
        outputs, neighbours = list(range(-far, far + 2, step)), (0, 1)
    laws = [(who, m.law(x)) for who, x in zip(("without the person", "with the person"), neighbours, strict=True)]
    return [{"output": y, "probability": float(law.mass(y)), "input": who} for who, law in laws for y in outputs]


@cache
def composition(name: str, epsilon: str) -> dict[str, Any]:
    """Epsilon of k copies of a mechanism, as each accountant proves it."""
    loss, rows = _BUILD[name](epsilon).loss(), []
    for view in VIEWS:
        proved = [(k, view.epsilon(k * loss, float(DELTA))) for k in COPIES]
        finite = [{"k": k, "epsilon": e, "accountant": view.name} for k, e in proved if 0 < e < math.inf]
        rows += finite if len(finite) > 1 else []
    return {"name": name, "epsilon": epsilon, "delta": DELTA, "curves": rows}


@cache
def attack(name: str) -> dict[str, Any]:
    """An attack on the naive system that it breaks, and on a curator with a budget and a ledger as its control."""
    from ...audit import attacks
    from ...testing.attacks import curator

    chosen = next(each for each in attacks.ALL if each.name == name.replace("_", " "))
    runs = ((chosen.breaks, chosen.on_naive(SYSTEM)), (chosen.control, chosen.on_system(curator, SYSTEM)))
    shown = [
        {
            "against": against,
            "right": outcome.share,
            "guesses": outcome.guesses,
            "claim": _finite(outcome.claim),
            "limit": outcome.limit,
            "proves": outcome.epsilon(),
        }
        for against, outcome in runs
    ]
    return {"name": name, "naive": shown[0], "control": shown[1]}


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _once(compute: Callable[..., dict[str, Any]], *chosen: str) -> Callable[[], dict[str, Any]]:
    """The figure for a choice: computed when it is first wanted, one figure at a time."""

    def figure() -> dict[str, Any]:
        with _lock:
            return compute(*chosen)

    return figure


def _menus() -> dict[str, Any]:
    return {"mechanisms": MECHANISMS, "noises": NOISES, "epsilons": EPSILONS, "attacks": ATTACKS}


TOPICS: dict[str, Callable[[], dict[str, Any]]] = {
    "menus": _menus,
    **{f"mechanism.{n}.{e}": _once(mechanism, n, e) for n in MECHANISMS for e in EPSILONS},
    **{f"composition.{n}.{e}": _once(composition, n, e) for n in NOISES for e in EPSILONS},
    **{f"attack.{n}": _once(attack, n) for n in ATTACKS},
}
