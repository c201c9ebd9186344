"""A mix of mechanisms, described as text: "100 x laplace eps=0.1, 5 x gaussian rho=0.01".

    mix     =  part { "," part }
    part    =  [ COUNT "x" ] [ "sampled" RATE ] NAME { KEY "=" NUMBER }

`sampled` takes a Poisson sample, each record with probability RATE, before a mechanism whose privacy profile is known.
A `response` is the report of one person, which is private where people are substituted but not where they are added or
removed; so a response is neither sampled nor added to a sampled mechanism.  Sensitivities are 1.  Numbers are read
exactly as written: 0.1, 1e-6, 1/3.  A text that cannot be read is refused with the position of the error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from .core.accounting.atoms import (
    Approximate,
    ApproximateConcentrated,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    GaussianNoise,
    KaryResponse,
    LaplaceNoise,
)
from .core.accounting.listed import poisson_sample
from .core.accounting.loss import Atom, BoundedRange, Concentrated, Loss, Pure, zero
from .core.distance import ADD_REMOVE, SUBSTITUTE
from .core.errors import BadParameter
from .core.parameters import positive, probability, rational

Values = Mapping[str, Fraction]


@dataclass(frozen=True)
class Kind:
    """One kind of mechanism: the `ways` to set its noise, the keys it `needs` or `takes`, and how to make its atom."""

    ways: tuple[str, ...]
    make: Callable[[Values], Atom]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """The keys that may follow the name."""
        one = " or ".join(f"{way}=" for way in self.ways)
        return " ".join([one, *(f"{key}=" for key in self.needs), *(f"[{key}=]" for key in self.takes)])


def _epsilon(values: Values) -> Fraction:
    return values["eps"] if "eps" in values else 1 / values["scale"]


def _mu_squared(values: Values) -> Fraction:
    if "rho" in values:
        return 2 * values["rho"]
    return values["mu"] ** 2 if "mu" in values else 1 / values["sigma"] ** 2


def _discrete_gaussian(values: Values) -> Atom:
    return DiscreteGaussianNoise(_mu_squared(values) / 2, 1, 1 / _mu_squared(values))


def _response(values: Values) -> Atom:
    return KaryResponse(values["eps"], int(values.get("categories", 2)))


def _zcdp(values: Values) -> Atom:
    return ApproximateConcentrated(values["rho"], values["delta"]) if "delta" in values else Concentrated(values["rho"])


KINDS: dict[str, Kind] = {
    "laplace": Kind(("eps", "scale"), lambda v: LaplaceNoise(_epsilon(v))),
    "discrete-laplace": Kind(("eps", "scale"), lambda v: DiscreteLaplaceNoise(_epsilon(v), 1)),
    "gaussian": Kind(("rho", "sigma", "mu"), lambda v: GaussianNoise(_mu_squared(v))),
    "discrete-gaussian": Kind(("rho", "sigma", "mu"), _discrete_gaussian),
    "response": Kind(("eps",), _response, takes=("categories",)),
    "coin": Kind(("eps",), lambda v: Pure(v["eps"])),
    "pure": Kind(("eps",), lambda v: Pure(v["eps"])),
    "exponential": Kind(("eps",), lambda v: BoundedRange(v["eps"])),
    "approximate": Kind(("eps",), lambda v: Approximate(v["eps"], v["delta"]), needs=("delta",)),
    "zcdp": Kind(("rho",), _zcdp, takes=("delta",)),
}
MAY_BE_SAMPLED = tuple(
    name for name in KINDS if name not in ("response", "zcdp")
)  # a local report, and a loss known by Renyi alone
USAGE = "; ".join([*(f"{name} {kind.usage}" for name, kind in KINDS.items()), "sampled RATE any but response and zcdp"])
MAX_VALUE = Fraction(10**6)  # and the least is its inverse
NUMBER = re.compile(r"-?(\d{1,30}/\d{1,30}|(\d{1,30}\.?\d{0,30}|\.\d{1,30})([eE][-+]?\d{1,3})?)")
COUNT = re.compile(r"[1-9]\d{0,8}")


def mix(text: str) -> Loss:
    """The loss of a mix of mechanisms that is described as text."""
    if not isinstance(text, str):
        raise BadParameter("mix", text, 'text such as "100 x laplace eps=0.1, 5 x gaussian rho=0.01"')
    reader, total = _Reader(text), zero
    while True:
        total += reader.part()
        if reader.at_end():
            return total
        reader.take(r",", "a comma, or the end")


class _Reader:
    """A parser of a mix: a place in the text, and methods that read on from there."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0
        self._skip()

    def _skip(self) -> None:
        while self.place < len(self.text) and self.text[self.place].isspace():
            self.place += 1

    def at_end(self) -> bool:
        return self.place == len(self.text)

    def optional(self, pattern: str) -> str | None:
        """The text that matches here, or None; moves on to the next word."""
        match = re.compile(pattern).match(self.text, self.place)
        if match is None:
            return None
        self.place = match.end()
        self._skip()
        return match[0]

    def take(self, pattern: str, allowed: str) -> str:
        match = self.optional(pattern)
        return self.refuse(self.place, allowed) if match is None else match

    def refuse(self, place: int, allowed: str) -> NoReturn:
        match = re.compile(r"[^\s,]+|,|$").search(self.text, place)
        word = match[0] if match and match[0] else "the end"
        raise BadParameter(
            f"mix, at character {place + 1}",
            word,
            allowed,
            says=f"The mix cannot be read at character {place + 1}: expected {allowed}; got {word!r}.",
        )

    def number(self, name: str, read: Callable[[str, str], Fraction]) -> Fraction:
        place = self.place
        word = self.take(r"[^\s,=]+", f"a number for {name}")
        if not NUMBER.fullmatch(word):
            self.refuse(place, f"a number for {name}, such as 0.1, 1e-6 or 1/3")
        try:
            return read(name, word)
        except BadParameter as error:
            self.refuse(place, f"a number for {name} that is {error.allowed}")

    def count(self) -> int:
        place, word = self.place, self.optional(r"\d[^\s,x*]*")
        if word is None:
            return 1
        if not COUNT.fullmatch(word):
            self.refuse(place, "a whole count from 1 to 999999999")
        self.take(r"[x*](?![\w-])", "x after the count")
        return int(word)

    def part(self) -> Loss:
        count = self.count()
        rate = self.number("the rate", probability) if self.optional(r"(?i:sampled)(?=\s)") else None
        place, name = self.place, (self.optional(r"[A-Za-z][\w-]*") or "").lower()
        allowed = KINDS if rate is None else MAY_BE_SAMPLED
        if name not in allowed:
            sampled = ", or sampled RATE and such a name" if rate is None else ""
            self.refuse(place, f"a mechanism: {', '.join(allowed)}{sampled}")
        atom = KINDS[name].make(self._values(name, KINDS[name]))
        if rate is None:
            return Loss({atom: count}, SUBSTITUTE if name == "response" else None)
        return Loss({poisson_sample(atom, rate): count}, ADD_REMOVE)

    def _values(self, name: str, kind: Kind) -> Values:
        values: dict[str, Fraction] = {}
        keys, usage = (*kind.ways, *kind.needs, *kind.takes), f"{name} {kind.usage}"
        while not self.at_end() and not self.text.startswith(",", self.place):
            place = self.place
            key = self.take(r"[A-Za-z]+", usage).lower().replace("epsilon", "eps")
            taken = key in values or (key in kind.ways and any(way in values for way in kind.ways))
            if key not in keys or taken:
                self.refuse(place, f"{usage}, each given once")
            self.take(r"=", f"= after {key}")
            values[key] = self.number(key, READ.get(key, _positive))
        if not any(way in values for way in kind.ways) or any(key not in values for key in kind.needs):
            self.refuse(self.place, f"all of {usage}")
        return values


def _positive(name: str, text: str) -> Fraction:
    return positive(name, text, within=MAX_VALUE)


def _categories(name: str, text: str) -> Fraction:
    x = rational(name, text)
    if x.denominator > 1 or not 2 <= x <= MAX_VALUE:
        raise BadParameter(name, text, "whole and at least 2")
    return x


READ: dict[str, Callable[[str, str], Fraction]] = {"delta": probability, "categories": _categories}
