"""The terms that lectures use, the names that `tacit theory` has for them, and suggestions for near misses."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

TERMS: dict[str, str] = {
    # selection
    "exponential mechanism": "Exponential",
    "gumbel": "Exponential",
    "report noisy max": "NoisyMax",
    "rnm": "NoisyMax",
    "private selection": "theory.selection",
    "utility": "theory.selection",
    "quality score": "theory.scores",
    "score function": "theory.scores",
    "utility function": "theory.scores",
    "sensitivity": "theory.scores",
    "score sensitivity": "theory.scores",
    "pricing": "PostedPrice",
    "auction": "PostedPrice",
    "median": "Quantiles",
    # noise
    "laplace mechanism": "Laplace",
    "geometric mechanism": "Laplace",
    "laplace distribution": "theory.laplace",
    "gaussian mechanism": "Gaussian",
    "analytic gaussian": "theory.gaussian",
    "noise": "theory.noise_laws",
    "noise laws": "theory.noise_laws",
    # sparse vector
    "svt": "Sparse",
    "sparse vector": "Sparse",
    "sparse vector technique": "Sparse",
    "wrong sparse vectors": "testing.wrong.sparse_vector",
    # local
    "rr": "RandomizedResponse",
    "randomised response": "RandomizedResponse",
    "warner": "RandomizedResponse",
    "local privacy": "RandomizedResponse",
    "ldp": "RandomizedResponse",
    # composition and accounting
    "composition": "composition.basic_and_advanced",
    "basic composition": "composition.basic_and_advanced",
    "simple composition": "composition.basic_and_advanced",
    "advanced composition": "composition.basic_and_advanced",
    "optimal composition": "composition.optimum",
    "parallel composition": "composition.parts",
    "adaptive composition": "theory.martingale",
    "group privacy": "composition.groups",
    "group": "composition.groups",
    "renyi": "composition.conversions",
    "rdp": "composition.conversions",
    "zcdp": "composition.conversions",
    "cdp": "composition.conversions",
    "filter": "composition.filters",
    "azuma": "composition.concentration",
    "hoeffding": "composition.concentration",
    "pinsker": "composition.concentration",
    "chebyshev": "theory.laplace",
    "privacy loss": "theory.concentration",
    "privacy loss random variable": "theory.concentration",
    "plrv": "theory.concentration",
    "martingale": "theory.martingale",
    "random walk": "theory.martingale",
    # laws and losses
    "post-processing": "laws",
    "post processing": "laws",
    "hockey stick": "laws",
    "divergence": "laws",
    "kl divergence": "laws",
    "renyi divergence": "laws",
    "total variation": "laws",
    "indistinguishability": "laws",
    "indistinguishable": "laws",
    "differential privacy": "laws",
    "pure dp": "losses",
    "approximate dp": "losses",
    "subsampling": "losses",
    "amplification": "losses",
    "privacy amplification": "losses",
    "poisson sampling": "losses",
    "dominating pair": "losses",
    "renyi curve": "losses",
    "side information": "theory.side_information",
    "auxiliary information": "theory.side_information",
    # linear queries
    "linear queries": "workloads.textbook",
    "query release": "workloads.textbook",
    "sample complexity": "workloads.sample_complexity",
    "blr": "small_db",
    "small database": "small_db",
    "multiplicative weights": "workloads.models.multiplicative_weights",
    "mw": "workloads.models.multiplicative_weights",
    "private multiplicative weights": "pmw",
    # examples and adaptive analysis
    "counting queries": "theory.worked_examples",
    "voting": "theory.worked_examples",
    "election": "theory.worked_examples",
    "eye colour": "theory.worked_examples",
    "eye color": "theory.worked_examples",
    "mean of bits": "theory.worked_examples",
    "transfer": "holdout.transfer",
    "transfer theorem": "holdout.transfer",
    "generalization": "holdout.transfer",
    "adaptive data analysis": "holdout.transfer",
    "monitor": "holdout.monitor",
    "reconstruction": "audit.attacks.reconstruction",
    "dinur nissim": "audit.attacks.reconstruction",
}


def simplified(name: str) -> str:
    """A name in lower case, without spaces, hyphens and underscores."""
    return "".join(letter for letter in name.lower() if letter not in " -_")


_NAMES = {simplified(term): name for term, name in TERMS.items()}


def name_of_term(term: str) -> str:
    """The name in tacit of a lecture's term; any other text unchanged."""
    return _NAMES.get(simplified(term), term)


def nearest(name: str, names: Iterable[str], most: int = 5) -> list[str]:
    """The names and terms that resemble this one, or that contain it."""
    candidates = {simplified(text): text for text in reversed([*names, *TERMS])}  # of two that are alike, the first
    short = simplified(name)[:64]
    similar = get_close_matches(short, candidates, most, 0.6)
    containing = sorted((text for text in candidates if short and short in text), key=len)
    return [candidates[text] for text in dict.fromkeys([*similar, *containing])][:most]
