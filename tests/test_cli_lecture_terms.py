"""`tacit theory` understands the words of lectures, and suggests."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from tacit.cli import app
from tacit.cli.lecture_terms import TERMS, name_of_term, nearest, simplified
from tacit.cli.theory import is_listed


def run(*words):
    return CliRunner().invoke(app, ["theory", *words], terminal_width=200)


def output(*words):
    """What is printed, without line breaks."""
    return " ".join(run(*words).output.split())


@pytest.mark.parametrize("target", sorted(set(TERMS.values())))
def test_every_word_leads_to_something_that_is_there(target):
    assert is_listed(target)


def test_no_word_hides_a_name():
    assert not [term for term in TERMS if is_listed(term)]


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["svt"], "The sparse vector technique works"),
        (["sparse", "vector"], "The sparse vector technique works"),
        (["report", "noisy", "max"], "ReportNoisyMax"),
        (["Report-Noisy-Max"], "ReportNoisyMax"),
        (["advanced", "composition"], "from tacit.composition.basic_and_advanced import"),
        (["post-processing"], "through(law, channel)"),
        (["group", "privacy"], "group_zcdp(rho, k)"),
        (["transfer"], "from tacit.holdout.transfer import"),
        (["exponential", "mechanism"], "McSherry"),
        (["multiplicative", "weights"], "from tacit.workloads.models.multiplicative_weights import"),
        (["PMW"], "Private multiplicative weights"),
        (["small", "db"], "SmallDB"),
        (["randomized", "response"], "Warner"),
        (["randomised", "response"], "Warner"),
        (["amplification"], "poisson_sample(loss, rate)"),
        (["martingale"], "coin_tosses(k, walks, source)"),
    ],
)
def test_words_of_a_lecture(words, printed):
    result = run(*words)
    assert result.exit_code == 0 and printed in result.output


def test_parameters_follow_a_name_of_several_words():
    result, same = (
        run("report", "noisy", "max", "epsilon=1", "candidates=3"),
        run("noisymax", "epsilon=1", "candidates=3"),
    )
    assert result.exit_code == 0 and "epsilon = 1" in result.output and result.output == same.output


@pytest.mark.parametrize(
    ("given", "meant_"),
    [
        ("laplce", "'Laplace'"),
        ("spars vector", "'sparse vector'"),
        ("advnaced composition", "'advanced composition'"),
        ("postprocesing", "'post-processing'"),
        ("expontial mechanism", "'exponential mechanism'"),
        ("grup privacy", "'group privacy'"),
        ("multiplicative", "'multiplicative weights'"),
        ("note", "'notes'"),
    ],
)
def test_near_misses_are_suggested(given, meant_):
    assert run(given).exit_code == 2
    assert f"Did you mean {meant_}" in output(given)


def test_what_is_like_nothing_is_refused_in_words():
    assert run("wibblewobble").exit_code == 2
    assert output("wibblewobble").endswith(
        "'wibblewobble' is not a name that `tacit theory` lists, nor a term of the lectures."
    )
    assert run(" ").exit_code == 2 and run("=").exit_code == 2
    assert run("x" * 10_000).exit_code == 2 and len(run("x" * 10_000).output) < 1000


def test_simplified_names():
    assert simplified("Post-Processing") == simplified("post processing") == "postprocessing"
    assert name_of_term("SVT") == "Sparse" and name_of_term("unknown") == "unknown"
    assert nearest("", ["Laplace"]) == []
