"""The index of the lectures is complete, and every name in it is there."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

import tacit
from tacit import plots
from tacit.cli import app
from tacit.core.errors import BadParameter
from tacit.theory import notes

ROOT = Path(__file__).parents[2]

# What each lecture has, by its own numbers and headings, listed from the lectures and not from the index.
HAS = {
    "waterloo-4": (
        "Definition 1", "Definition 2", "Figure 1", "Definition 3", "Theorem 4", "Fact 5", "Theorem 6", "Theorem 7",
        "Theorem 8", "footnote 1", "running example", "Counting queries", "Counting queries, k of them",
        "Counting queries, reconstruction", "Histograms", "Histograms, all cells",
    ),
    "cummings-2": (
        "section 1, quality score", "Definition 1", "Definition 2", "Example 1", "Example 2", "Theorem 3", "Theorem 4",
        "Theorem 5", "Theorem 6", "Theorem 7", "Theorem 8", "Corollary 9",
    ),
    "ucsb-3": (
        "3.1", "3.2", "3.3, distribution", "3.3, utility", "3.3.1", "3.3.2, steps 1 and 2", "3.3.2, step 3",
        "3.3.2, step 4", "3.4, estimator", "3.4, range", "3.4, error", "3.4, many queries", "3.4, comparison",
        "3.5, release", "3.5, error", "3.6, AboveThreshold", "3.6, SparseVector",
    ),
    "ucsb-5": (
        "Recap, sparse vector", "Recap, multiplicative weights", "Summary of query release",
        "Recap, exponential mechanism", "Instances, randomized response", "Instances, Laplace", "Two types",
        "Theorem 3.11", "Algorithm 4", "SmallDB, sensitivity", "SmallDB, existence", "SmallDB, error", "Checkpoint",
        "ReportNoisyMax", "ReportNoisyMax, privacy", "ReportNoisyMax, remark 1", "ReportNoisyMax, remark 2",
        "Voting, one vote", "Voting, approval", "Definition 2.4", "Advanced composition",
        "Linear queries at a delta, Laplace", "Linear queries at a delta, multiplicative weights",
        "Privacy loss random variable", "Lemma 1", "Privacy loss, mean", "Privacy loss, composition", "Proof idea",
        "Martingale", "Martingale, example", "Azuma-Hoeffding", "Proof of advanced composition", "Pinsker",
        "Pinsker, corollary", "Bounding the KL divergence",
    ),
    "sorrell-18": (
        "Algorithm 1", "Theorem 0.1", "Theorem 0.2", "Algorithm 2", "Proof plan, step 1", "Claim 0.3", "Lemma 0.4",
        "Definition 0.5", "Lemma 0.6", "Step 4",
    ),
}  # fmt: skip
ITEMS = [(lecture.key, item) for lecture in notes.LECTURES for item in lecture.items]
SUITES = {"test_conformance.py", "mechanisms/test_sparse_variants.py", "workloads/test_per_query.py"}
ENTRIES = [*(item for _, item in ITEMS), *notes.SLIPS]


def resolved(name: str) -> Any:
    """What a name below `tacit` stands for: the longest module that is there, and attributes of it."""
    assert not any(part.startswith("_") for part in name.split(".")), f"{name} is private"
    if name.split(".", maxsplit=1)[0] not in ("holdout", "testing"):
        assert name.split(".", maxsplit=1)[0] in tacit.__all__, f"{name} is not below a public name"
    thing: Any = tacit
    for i, part in enumerate(parts := name.split(".")):
        if isinstance(thing, ModuleType) and not hasattr(thing, part):
            thing = importlib.import_module(".".join(["tacit", *parts[: i + 1]]))
        else:
            thing = getattr(thing, part)
    return thing


@cache
def defined_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / path).read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_item_of_every_lecture_has_an_entry() -> None:
    assert [lecture.key for lecture in notes.LECTURES] == list(HAS)
    for key, numbers in HAS.items():
        listed = [item.number for item in notes.items(key)]
        assert set(numbers) <= set(listed), key
        assert len(listed) == len(set(listed)), key


def test_every_function_that_is_named_is_there_and_public() -> None:
    for entry in ENTRIES:
        assert entry.functions
        for name in entry.functions:
            thing = resolved(name)
            assert callable(thing) or isinstance(thing, tacit.ADD_REMOVE.__class__.__mro__[1]), name
            assert not isinstance(thing, ModuleType), name


def test_every_plot_that_is_named_is_there() -> None:
    drawn = {name for _, item in ITEMS for name in item.plots}
    assert {"plots.noise_laws", "plots.martingale", "plots.composition", "plots.concentration"} <= drawn
    for name in drawn:
        assert callable(resolved(name)) and getattr(plots, name.removeprefix("plots."))


def test_every_test_that_is_named_is_there() -> None:
    for entry in ENTRIES:
        assert entry.tests
        for test in entry.tests:
            path, name = test.split("::")
            assert name.startswith("test_") and name in defined_in(path), test


def test_the_tests_that_are_named_are_about_what_is_named() -> None:
    """Some function of each entry stands in the file of one of its tests, or that file runs over all that there is."""
    for entry in ENTRIES:
        files = {test.split("::")[0] for test in entry.tests}
        text = "".join((ROOT / "tests" / path).read_text("utf-8") for path in files)
        words = {name.rpartition(".")[2] for name in entry.functions}
        assert files & SUITES or words & set(re.findall(r"\w+", text)), entry


def test_all_slips_are_listed_with_what_is_done_instead() -> None:
    assert [slip.number for slip in notes.SLIPS] == list(range(1, 24))
    assert all(slip.where and slip.printed and slip.instead for slip in notes.SLIPS)
    assert "true as printed" in notes.SLIPS[18].instead


def test_the_page_is_made_of_the_table() -> None:
    """Write it anew with: python -c "from tacit.theory import notes; print(notes.page(), end='')" > docs/notes.md"""
    assert (ROOT / "docs" / "notes.md").read_text("utf-8") == notes.page()


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["theory", *words], terminal_width=200)


def test_the_command_line_prints_the_table() -> None:
    whole = run("notes")
    assert whole.exit_code == 0
    for _, item in ITEMS:
        assert f"{item.number}  {item.title}" in whole.output
        assert all(f"tests/{test}" in whole.output for test in item.tests)
        assert ", ".join((*item.functions, *item.plots)) in whole.output
    for slip in notes.SLIPS:
        assert slip.printed in whole.output and slip.instead in whole.output
    one, slips = run("notes", "waterloo-4").output, run("notes", "slips").output
    assert "Fact 5" in one and "Claim 0.3" not in one and "Slips" not in one
    assert "Slips of the lectures" in slips and "Fact 5" not in slips
    assert "notes must be one of waterloo-4" in run("notes", "berkeley").output


def test_a_lecture_is_named_by_its_key() -> None:
    with pytest.raises(BadParameter, match="lecture must be one of"):
        notes.items("waterloo")
