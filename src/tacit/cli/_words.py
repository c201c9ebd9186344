"""The words of lectures, and what `tacit theory` knows them as; near misses are suggested."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

WORDS: dict[str, str] = {
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
    "wrong sparse vectors": "testing.wrong_sparse",
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


def plain(name: str) -> str:
    """A name without case, spaces, hyphens and underscores."""
    return "".join(letter for letter in name.lower() if letter not in " -_")


_PLAIN = {plain(word): target for word, target in WORDS.items()}


def meant(name: str) -> str:
    """What a lecture's word is known as here; any other name is itself."""
    return _PLAIN.get(plain(name), name)


def nearest(name: str, known: Iterable[str], most: int = 5) -> list[str]:
    """The names and words that are most like this one, or that contain it."""
    words = {plain(word): word for word in reversed([*known, *WORDS])}  # of two that are alike, the first
    short = plain(name)[:64]
    near = get_close_matches(short, words, most, 0.6)
    held = sorted((word for word in words if short and short in word), key=len)
    return [words[word] for word in dict.fromkeys([*near, *held])][:most]
