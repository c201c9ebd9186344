from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from tacit.composition import azuma
from tacit.core.errors import BadParameter
from tacit.testing.sources import Seeded
from tacit.theory import martingale


def rising(past: Sequence[float]) -> float:
    """An analyst who asks more boldly after each loss that went against the person."""
    return 0.2 + 0.3 * sum(loss > 0 for loss in past) / 8


CHOICES = {"fixed": lambda past: 0.5, "rising": rising, "last": lambda past: 0.1 if past and past[-1] < 0 else 0.7}


@pytest.mark.parametrize("choose", CHOICES.values(), ids=CHOICES)
def test_the_next_step_is_nothing_on_average_given_the_past(choose: martingale.Choose) -> None:
    """By all outcomes: the mean of S_{i+1} over those that share the first i losses is S_i."""
    leaves = martingale.tree(choose, 8)
    assert len(leaves) == 2**8 and math.fsum(leaf.chance for leaf in leaves) == pytest.approx(1, abs=1e-14)
    for i in range(8):
        groups: dict[tuple[float, ...], list[martingale.Branch]] = {}
        for leaf in leaves:
            groups.setdefault(leaf.losses[:i], []).append(leaf)
        for shared in groups.values():
            chance = math.fsum(leaf.chance for leaf in shared)
            after = math.fsum(leaf.chance * leaf.path[i + 1] for leaf in shared) / chance
            assert after == pytest.approx(shared[0].path[i], abs=1e-13)


def test_the_losses_themselves_are_no_martingale() -> None:
    leaves = martingale.tree(CHOICES["fixed"], 4)
    assert math.fsum(leaf.chance * sum(leaf.losses) for leaf in leaves) == pytest.approx(4 * 0.5 * math.tanh(0.25))


@pytest.mark.parametrize("choose", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("t", [0.2, 0.7, 1.5, 3.0])
def test_azuma_holds_exactly_though_the_analyst_adapts(choose: martingale.Choose, t: float) -> None:
    leaves = martingale.tree(choose, 10)
    largest = max(abs(loss) for leaf in leaves for loss in leaf.losses)
    assert math.fsum(leaf.chance for leaf in leaves if leaf.path[-1] >= t) <= azuma(10, largest, t)


@pytest.mark.parametrize("pair", ["coin", "laplace", "gaussian"])
def test_walks_stay_within_azuma(pair: str) -> None:
    """5000 walks at beta = 0.05: by Hoeffding the share above strays by 0.046 with probability below 1e-9."""
    walks = martingale.privacy_walk(pair, 0.2, 40, 5000, Seeded(3))
    assert walks.paths.shape == (5000, 41) and walks.steps == 40
    assert float((walks.paths[:, -1] > walks.azuma(0.05)[-1]).mean()) <= 0.05 + 0.046
    deviation = float(walks.paths[:, -1].std())
    assert abs(float(walks.paths[:, -1].mean())) < 7 * deviation / math.sqrt(5000)


def test_coin_tosses_are_a_random_walk() -> None:
    walks = martingale.coin_tosses(30, 500, Seeded(5))
    assert set(np.diff(walks.paths, axis=1).ravel()) == {-1.0, 1.0} and not walks.paths[:, 0].any()
    assert walks.azuma(0.1)[30] == pytest.approx(math.sqrt(60 * math.log(10)))


def test_an_adaptive_walk_has_the_law_of_its_tree() -> None:
    """4000 walks of 6 steps: the share of paths above 0 is within 0.052 of the truth but for 1e-9 (Hoeffding)."""
    walks = martingale.adaptive_walk(rising, 6, 4000, Seeded(7))
    truth = math.fsum(leaf.chance for leaf in martingale.tree(rising, 6) if leaf.path[-1] > 0)
    assert abs(float((walks.paths[:, -1] > 0).mean()) - truth) < 0.052


def test_what_is_refused() -> None:
    with pytest.raises(BadParameter, match="at most 16"):
        martingale.tree(CHOICES["fixed"], 17)
    with pytest.raises(BadParameter, match="epsilon must be positive"):
        martingale.tree(lambda past: -1, 2)
