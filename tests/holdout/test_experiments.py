"""The Monitor and the classic experiment, in small; the pictures made of them."""

import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tacit.cli import app
from tacit.composition import bernstein_inverse, hoeffding_inverse
from tacit.core.errors import BadParameter
from tacit.core.law import DiscreteLaplaceLaw, max_divergence
from tacit.holdout import (
    Experiment,
    GuessAndCheck,
    Monitor,
    experiment,
    monitor,
    overfit,
    plots,
    simulate_monitor,
    transfer,
)
from tacit.holdout.experiment import PLAIN, Agreements
from tacit.holdout.planning import METHODS
from tacit.holdout.ranking import FRESH
from tacit.holdout.rules.rule import shown
from tacit.testing.sources import Seeded

RULES = ("reusable holdout", "guess and check")
RANKED = (*RULES, "Ladder", "parameter-free Ladder", FRESH)


@pytest.fixture(scope="module")
def small() -> Experiment:
    return overfit(1000, 3000, voters=(1, 11, 31, 101, 201), source=Seeded(1))


def test_the_plain_holdout_reports_what_is_not_there(small: Experiment) -> None:
    assert small.false_accuracy(PLAIN) > 0.6
    assert small.worst(PLAIN) > 0.1


@pytest.mark.parametrize("method", RULES)
def test_behind_a_rule_reports_stay_within_the_promise(small: Experiment, method: str) -> None:
    output, points = small.statements[method], [p for p in small.points if p.method == method]
    assert all(p.reported is not None for p in points)
    assert small.worst(method) <= output.width < 0.4
    last = [p for p in points if p.voters == 201 and not p.signal]
    assert last[0].train > 0.6 and abs((last[0].reported or 0) - 0.5) < 0.08
    asked, spoke = small.asked[method]
    assert 3000 < asked <= 3005 and 0 < spoke <= 9


def test_signal_is_found(small: Experiment) -> None:
    found = [p for p in small.points if p.signal and p.voters == 11]
    assert len(found) == 3
    assert all(p.truth > 0.6 and (p.reported or 0) > 0.55 for p in found)


def test_the_truth_of_a_vote() -> None:
    p = float(experiment.agreement(400))
    for right, wrong, blind in ((1, 0, 0), (2, 1, 0), (1, 1, 3), (0, 2, 1)):
        chances = [p] * right + [1 - p] * wrong + [0.5] * blind
        exact = sum(
            math.prod(c if vote else 1 - c for c, vote in zip(chances, votes, strict=True))
            for votes in product((0, 1), repeat=len(chances))
            if 2 * sum(votes) > len(chances)
        )
        assert experiment.truth(400, right, wrong, blind) == pytest.approx(exact, rel=1e-12)
    assert experiment.truth(10_000, 0, 0, 501) == pytest.approx(0.5, rel=1e-10)


@pytest.mark.parametrize("n", [64, 100, 129])
def test_agreements(n: int) -> None:
    data = Agreements(n, 70, 3, Seeded(2))
    columns = np.array([data.column(i) for i in range(70)])
    assert np.array_equal(data.means(), columns.mean(axis=1))
    rows = np.unpackbits(data.records(), axis=1, count=70)
    assert np.array_equal(rows, columns.T)
    signs = np.where(np.arange(70) % 2 == 0, 1, -1)
    votes = (signs[[0, 1, 2], None] * (2 * columns[:3].astype(int) - 1)).sum(axis=0) > 0
    assert np.array_equal(data.votes([0, 1, 2], signs), votes)


def test_a_summary_can_be_read(small: Experiment) -> None:
    *lines, advice = str(small).splitlines()
    assert "There are few records" in advice
    assert [line.split("  ")[0] for line in lines] == [PLAIN, *RULES]
    assert lines[0].endswith("nothing promised")
    assert shown(small.statements[RULES[0]].width) in lines[1]


def test_a_holdout_too_small_for_the_experiment_is_refused() -> None:
    with pytest.raises(BadParameter, match=r"rule must be one with a promise below 1/2: \d+ records would do|larger"):
        overfit(64, 3000)


def test_the_analyst_goes_on_without_a_spent_holdout() -> None:
    """Variables are then taken as the training set shows them, and votes are not reported."""
    train, holdout = (Agreements(400, 40, 0, Seeded(seed)) for seed in (4, 5))
    rule = GuessAndCheck(n=400, width="0.15", grid=1)
    desk, wrong = rule.open(holdout.records()), np.zeros(400, np.bool_)
    while not rule.over(desk.state):
        desk.ask((0.9, wrong))
    points = experiment._analyse("spent", False, train, holdout, desk, informative=0, voters=(1, 3))
    assert [p.reported for p in points] == [None, None]
    result = Experiment(tuple(points), {}, {})
    assert result.worst("spent") == 0
    assert len(plots.rows(result)) == 4
    nothing = Agreements(400, 0, 0, Seeded(6))
    assert experiment._analyse("nothing", False, nothing, nothing, None, informative=0, voters=(1,)) == []


def test_a_vote_may_not_tie() -> None:
    with pytest.raises(BadParameter, match="odd"):
        overfit(100, 10, voters=(2,))


def test_the_monitor() -> None:
    private, plain = simulate_monitor(1500, source=Seeded(3))
    assert private.bound == plain.bound == transfer.expected(Fraction(1, 10))
    assert private.kept is True and private.chosen < 0.05 and private.overfit == 0
    assert plain.kept is False and plain.chosen > 0.55 and plain.overfit == 1
    for seen in (private, plain):  # the other half of the argument
        assert seen.chosen >= seen.largest - seen.shortfall - 2 * seen.margin
        assert seen.largest >= seen.claimed - seen.margin and seen.claimed >= seen.alpha * seen.overfit
    assert "is exceeded" in str(plain) and "holds" in str(private)
    assert Monitor().loss().epsilon() == pytest.approx(0.1)


def test_the_margin_of_the_monitor_is_that_of_its_scores() -> None:
    """Scores of +-1/2 in turn, of sample variance n / (4 (n - 1)), and of numbers in [0, 1] a quarter of it."""
    half, n = Fraction(monitor.DOUBT) / 2, 100_000
    result = monitor._margin([0.5, -0.5] * (n // 2))
    assert result == pytest.approx(2 * bernstein_inverse(n, Fraction(n, 16 * (n - 1)), half))
    assert result < 2 * hoeffding_inverse(n, half)
    assert monitor._margin([0.0] * 10) == 2 * hoeffding_inverse(10, half)
    seen = Monitor(universe=4, size=40).run(50, private=False, source=Seeded(2))
    assert seen.margin == 2 * hoeffding_inverse(50, half)


def test_the_monitor_says_what_too_few_runs_cannot_tell() -> None:
    """One that takes half of what it has seen scores 0.3, three times the bound, within Hoeffding's margin of it."""

    class Half(Monitor):
        def chosen_set(self, counts, private, source):
            taken = counts >= 1
            taken[len(taken) // 2 :] = False
            return taken

    assert Half().run(1000, private=False, source=Seeded(1)).kept is False
    few = Half().run(100, private=False, source=Seeded(1))
    assert few.kept is None and "is undecided" in str(few)
    assert Monitor().run(1, source=Seeded(1)).margin > 4


def test_what_the_monitor_watches_is_private() -> None:
    """Two cells move by one each when a record is substituted; at epsilon/2 each."""
    scale = Monitor(epsilon="0.5").histogram.scale
    assert scale == 4
    both = 2 * max_divergence(DiscreteLaplaceLaw(scale, 0), DiscreteLaplaceLaw(scale, 1))
    assert both == pytest.approx(0.5, rel=1e-6)
    assert Monitor().selection.loss().epsilon() == 0.05


def test_bad_parameters_of_the_monitor() -> None:
    for given in ({"epsilon": 0}, {"choice": -1}, {"samples": 0}, {"size": 0}, {"universe": 1.5}):
        with pytest.raises(BadParameter):
            Monitor(**given)  # type: ignore[arg-type]
    with pytest.raises(BadParameter):
        Monitor().run(0)


def test_pictures(small: Experiment) -> None:
    rows = plots.rows(small)
    assert {row["line"] for row in rows} == {"training set", "reported", "truth"}
    assert len(rows) == 3 * len(small.points)
    assert "voters" in plots.overfitting(small).to_json()
    drawn = plots.widths(10_000, [10, 30]).to_dict()
    (lines, points) = (drawn["datasets"][layer["data"]["name"]] if "name" in layer["data"] else layer["data"]["values"]
                       for layer in drawn["layer"])  # fmt: skip
    assert {row["method"] for row in lines} == {*METHODS, *RANKED} - {FRESH}
    assert {row["questions"] for row in points} == {10, 30}
    assert (min(row["questions"] for row in lines), max(row["questions"] for row in lines)) == (10, 30)


def test_the_plot_obeys_what_is_said_about_the_use() -> None:
    plain, sharp = (plots.widths(2000, [50, 51], beta="0.1", **use).to_dict() for use in ({}, {"accuracy": "0.95"}))
    assert "beta = 0.1" in str(plain) and "accuracy 0.95" in str(sharp)
    first, second = (
        {(row["method"], row["questions"]): row["width"] for row in chart["layer"][0]["data"]["values"]}
        for chart in (plain, sharp)
    )
    assert second["asked beforehand", 50] < 0.7 * first["asked beforehand", 50]


def test_the_command_plots_what_it_was_asked(tmp_path: Path) -> None:
    path = tmp_path / "plan.html"
    words = [
        "holdout",
        "plan",
        "2000",
        "20",
        "22",
        "--rounds",
        "5",
        "--wrong",
        "2",
        "--beta",
        "0.2",
        "--plot",
        str(path),
    ]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0 and "2 wrong guesses" in result.output
    drawn = path.read_text()
    assert (
        "rounds 5" in drawn
        and "beta = 0.2" in drawn
        and '"questions": 22' in drawn.replace('":', '": ').replace("  ", " ")
    )


def test_few_records_are_refused_where_no_width_lasts() -> None:
    """The least that lasts has fewer than 500 thousandths: wider answers say nothing."""
    rule = experiment.rules(400, 600, len(experiment.VOTERS))["guess and check"]
    assert isinstance(rule, GuessAndCheck) and Fraction(300, 1000) <= rule.width <= Fraction(499, 1000)
    with pytest.raises(BadParameter, match="larger"):
        experiment.rules(100, 600, len(experiment.VOTERS))


@pytest.mark.slow
def test_the_classic_experiment_in_full() -> None:
    """10,000 records and as many variables, with fresh randomness; within a minute and far from 4 GB."""
    seen = overfit()
    assert seen.false_accuracy(PLAIN) > 0.6
    for method in RULES:
        assert seen.false_accuracy(method) < 0.6
        assert seen.worst(method) <= seen.statements[method].width < 0.15
