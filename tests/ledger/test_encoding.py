"""Losses and budgets as JSON: what is read equals what was written, for every atom there is."""

import importlib
import inspect
import json
import math
import pkgutil
from dataclasses import dataclass, fields
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import BadParameter, Budget, core, mechanisms, storage
from tacit.core.accounting.atoms import GaussianNoise, LaplaceNoise
from tacit.core.accounting.listed import PoissonSample
from tacit.core.accounting.loss import Atom, Loss, Pure
from tacit.core.accounting.sampled import Sampled
from tacit.core.distance import ADD_REMOVE, SUBSTITUTE, Neighbours
from tacit.ledger.encoding import (
    canonical,
    read_amounts,
    read_budget,
    read_loss,
    write_amounts,
    write_budget,
    write_loss,
)

KINDS = {kind.name: kind.type for kind in storage.kinds() if issubclass(kind.type, Atom)}
RELATED = [None, ADD_REMOVE, SUBSTITUTE]
positive = st.fractions(min_value=Fraction(1, 10**40), max_value=10**40)
floats = st.floats(min_value=0)
losses = st.builds(lambda e, r: Loss({Pure(e): 2}, r), positive, st.sampled_from(RELATED))
MADE = {
    "Fraction": positive,
    "Loss": losses,
    "int": st.integers(1, 10**60) | st.just(7**9000),
    "tuple[tuple[float, float], ...]": st.lists(st.tuples(floats, floats), max_size=4).map(tuple),
    "tuple[float, ...]": st.lists(floats, max_size=4).map(tuple),
    "Atom": st.builds(Pure, positive),
    "Sampled | PoissonSample": st.builds(PoissonSample, positive, st.builds(Pure, positive)),
    "frozenset[Loss]": st.sets(losses).map(frozenset),
    "GaussianNoise | LaplaceNoise": st.builds(GaussianNoise, positive) | st.builds(LaplaceNoise, positive),
}


def made(kind):
    return st.builds(kind, **{f.name: MADE[f.type] for f in fields(kind)})


def through(written):
    return json.loads(canonical(written))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_atom_is_read_as_it_was_written(kind):
    @settings(max_examples=40)
    @given(made(kind), st.integers(1, 10**12), st.sampled_from(RELATED))
    def check(atom, n, relation):
        loss = Loss({atom: n, Pure(Fraction(1, 3)): 2}, relation)
        again = read_loss(through(write_loss(loss)))
        assert again == loss and again.relation is relation
        assert {type(a) for a in again.terms} == {type(a) for a in loss.terms}

    check()


def test_every_atom_of_the_package_can_be_written():
    for part in (core, mechanisms):
        for module in pkgutil.iter_modules(part.__path__, part.__name__ + "."):
            importlib.import_module(module.name)

    def finer(kind):
        return {kind}.union(*map(finer, kind.__subclasses__()))

    kinds = {kind for kind in finer(Atom) if not inspect.isabstract(kind)}
    ours = {kind for kind in kinds if kind.__module__.startswith(("tacit.core", "tacit.mechanisms"))}
    assert ours == set(KINDS.values())


@given(st.permutations([Pure(Fraction(1, n)) for n in range(1, 6)]))
def test_equal_losses_are_written_alike(atoms):
    written = canonical(write_loss(Loss(dict.fromkeys(atoms, 3))))
    assert written == canonical(write_loss(Loss({Pure(Fraction(1, n)): 3 for n in range(1, 6)})))


@dataclass(frozen=True)
class Homemade(Atom):
    epsilon: Fraction

    def group(self, k):
        return self


class Impostor(Pure):
    """Its name is not in the list, though its parent's is."""


Named = type("Pure", (Homemade,), {})


@pytest.mark.parametrize(
    "atom",
    [
        Homemade(Fraction(1)),
        Impostor(Fraction(1)),
        Named(Fraction(1)),
        Pure("1/10"),
        Pure(math.nan),
        Pure(True),
        Sampled(Fraction(1, 2), Homemade(Fraction(1))),
    ],
)
def test_what_cannot_be_written_is_refused(atom):
    with pytest.raises(BadParameter, match="atoms that a ledger can hold"):
        write_loss(Loss({atom: 1}))


def test_an_unknown_relation_is_refused():
    with pytest.raises(BadParameter, match="AddRemove or Substitute"):
        write_loss(Loss({}, Neighbours()))


@given(st.lists(st.fractions(min_value=0) | st.just(math.inf), max_size=3).map(tuple))
def test_amounts_are_exact(amounts):
    assert read_amounts(through(write_amounts(amounts))) == amounts


@pytest.mark.parametrize(
    "budget",
    [
        Budget(epsilon="0.1"),
        Budget(epsilon=1, delta="1e-9"),
        Budget(epsilon=1, delta="1e-9", slack="3e-10", renyi_order="17.3"),
        Budget(epsilon=1, delta="1e-9", slack=0),
        Budget(epsilon=1, delta="1e-9", slack="1e-9"),
        Budget(epsilon=1, renyi_order=2),
        Budget(rho="0.1"),
        Budget(rho=Fraction(1, 3), delta="1e-6"),
    ],
    ids=str,
)
def test_a_budget_keeps_all_its_fields(budget):
    assert read_budget(through(write_budget(budget))) == budget
    for name in ("epsilon", "rho", "delta", "slack"):
        changed = {**write_budget(budget), name: "2/3"}
        try:
            assert read_budget(changed) != budget or write_budget(budget)[name] == "2/3"
        except BadParameter:
            continue
