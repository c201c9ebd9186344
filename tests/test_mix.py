"""Mixes in words: what they mean, and where exactly a wrong one is wrong."""

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import ADD_REMOVE, SUBSTITUTE, BadParameter, MixedRelations, RandomizedResponse
from tacit.core.accounting.atoms import (
    Approximate,
    ApproximateConcentrated,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    GaussianNoise,
    KaryResponse,
    LaplaceNoise,
)
from tacit.core.accounting.listed import PoissonSample
from tacit.core.accounting.loss import BoundedRange, Concentrated, Loss, Pure
from tacit.core.accounting.sampled import Sampled
from tacit.mix import KINDS, mix

TENTH = Fraction(1, 10)
ONE = {
    "laplace eps=0.1": LaplaceNoise(TENTH),
    "laplace scale=10": LaplaceNoise(TENTH),
    "Laplace EPSILON=1/10": LaplaceNoise(TENTH),
    "discrete-laplace eps = 1e-1": DiscreteLaplaceNoise(TENTH, 1),
    "discrete-laplace scale=10": DiscreteLaplaceNoise(TENTH, 1),
    "gaussian rho=0.1": GaussianNoise(Fraction(1, 5)),
    "gaussian sigma=2": GaussianNoise(Fraction(1, 4)),
    "gaussian mu=.5": GaussianNoise(Fraction(1, 4)),
    "discrete-gaussian sigma=2": DiscreteGaussianNoise(Fraction(1, 8), 1, Fraction(4)),
    "response eps=1": KaryResponse(Fraction(1), 2),
    "response categories=5 eps=1": KaryResponse(Fraction(1), 5),
    "coin eps=1": Pure(Fraction(1)),
    "pure eps=1": Pure(Fraction(1)),
    "exponential eps=1": BoundedRange(Fraction(1)),
    "approximate eps=1 delta=1e-6": Approximate(Fraction(1), Fraction(1, 10**6)),
    "zcdp rho=0.1": Concentrated(TENTH),
    "zcdp rho=0.1 delta=1e-9": ApproximateConcentrated(TENTH, Fraction(1, 10**9)),
    "sampled 0.1 gaussian sigma=2": Sampled(TENTH, GaussianNoise(Fraction(1, 4))),
    "sampled 1/10 laplace eps=0.1": Sampled(TENTH, LaplaceNoise(TENTH)),
    "sampled 0.1 discrete-laplace eps=0.1": PoissonSample(TENTH, DiscreteLaplaceNoise(TENTH, 1)),
    "sampled 0.1 exponential eps=1": PoissonSample(TENTH, BoundedRange(Fraction(1))),
}


@pytest.mark.parametrize(("text", "atom"), ONE.items(), ids=ONE)
def test_each_name_has_its_meaning(text, atom):
    assert mix(text).terms == {atom: 1}
    assert mix(f"  7x {text} ").terms == {atom: 7}
    assert mix(f"2 x {text}, 3 * {text}").terms == {atom: 5}


def test_every_name_is_tried_above():
    assert {word for text in ONE for word in text.lower().split()} >= KINDS.keys()


def test_a_mix_is_a_sum():
    assert mix("100 x laplace eps=0.1, 5 x gaussian rho=0.01") == Loss(
        {LaplaceNoise(TENTH): 100, GaussianNoise(Fraction(1, 50)): 5}
    )
    assert mix("laplace eps=1, sampled 0.5 laplace eps=1").relation is ADD_REMOVE


def test_responses_are_reports_of_people_who_are_substituted():
    assert mix("3 x response eps=1 categories=5") == 3 * RandomizedResponse(epsilon=1, categories=5).loss()
    assert mix("response eps=1, laplace eps=1").relation is SUBSTITUTE
    with pytest.raises(MixedRelations):
        mix("response eps=1, sampled 0.5 laplace eps=1")


WRONG = {  # text: the place of what is wrong, counted from 1, and what is said of it
    "": (1, "a mechanism: laplace, discrete-laplace, .*; got 'the end'"),
    "   ": (4, "a mechanism"),
    "laplac eps=1": (1, "a mechanism: .* got 'laplac'"),
    "x laplace eps=1": (1, "a mechanism"),
    "100 x": (6, "a mechanism: .*got 'the end'"),
    "100 laplace eps=1": (5, "x after the count; got 'laplace'"),
    "0 x laplace eps=1": (1, "a whole count"),
    "1.5 x laplace eps=1": (1, "a whole count .* got '1.5'"),
    "9999999999 x laplace eps=1": (1, "a whole count"),
    "laplace": (8, "all of laplace eps= or scale=; got 'the end'"),
    "laplace, coin eps=1": (8, "all of laplace eps= or scale=; got ','"),
    "laplace eps": (12, "= after eps; got 'the end'"),
    "laplace eps 1": (13, "= after eps; got '1'"),
    "laplace eps=": (13, "a number for eps; got 'the end'"),
    "laplace eps=abc": (13, "a number for eps, such as"),
    "laplace eps=1e9999": (13, "a number for eps, such as"),
    "laplace eps=1_0": (13, "a number for eps, such as"),
    "laplace eps=nan": (13, "a number for eps, such as"),
    "laplace eps=-1": (13, "positive; got '-1'"),
    "laplace eps=0": (13, "positive"),
    "laplace eps=1/0": (13, "finite"),
    "laplace eps=1e300": (13, "between 1e-06 and 1e.06"),
    "laplace eps=1 scale=1": (15, "laplace eps= or scale=, each given once; got 'scale=1'"),
    "laplace eps=1 eps=1": (15, "each given once"),
    "laplace eps=1 rho=1": (15, "each given once"),
    "laplace eps=1 !": (15, "laplace eps= or scale=; got '!'"),
    "laplace eps=1,": (15, "a mechanism"),
    "laplace eps=1, , coin eps=1": (16, "a mechanism: .*got ','"),
    "laplace eps=1; coin eps=1": (13, "a number for eps, such as .*got '1;'"),
    "coin eps=1, 5 x gaussian tau=1": (26, "gaussian rho= or sigma= or mu=, each given once; got 'tau=1'"),
    "approximate eps=1": (18, "all of approximate eps= delta="),
    "approximate eps=1 delta=1": (25, "strictly between 0 and 1"),
    "response eps=1 categories=1": (27, "whole and at least 2"),
    "response eps=1 categories=2.5": (27, "whole and at least 2"),
    "sampled gaussian sigma=1": (9, "a number for the rate, such as"),
    "sampled 2 gaussian sigma=1": (9, "a number for the rate that is strictly between 0 and 1"),
    "sampled 0.5 zcdp rho=1": (13, "a mechanism: laplace, discrete-laplace, gaussian, .*; got 'zcdp'"),
    "sampled 0.5 response eps=1": (13, "a mechanism: laplace, discrete-laplace, gaussian, .*; got 'response'"),
}


@pytest.mark.parametrize(("text", "place", "said"), [(t, *p) for t, p in WRONG.items()], ids=list(WRONG))
def test_what_is_wrong_is_said_with_its_place(text, place, said):
    with pytest.raises(BadParameter, match=said) as caught:
        mix(text)
    assert caught.value.name == f"mix, at character {place}"
    assert f"at character {place}: expected " in str(caught.value)


@given(st.text(alphabet="laplcegusinorh x=0.1,/*-sd\t", max_size=40))
def test_no_text_breaks_the_reader(text):
    with contextlib.suppress(BadParameter):
        assert isinstance(mix(text), Loss)


@pytest.mark.parametrize("text", [None, 3, b"coin eps=1"])
def test_only_text_is_read(text):
    with pytest.raises(BadParameter, match="text such as"):
        mix(text)
