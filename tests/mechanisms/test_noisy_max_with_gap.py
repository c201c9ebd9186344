"""The lead of a noisy maximum: what it is, that it tells who leads, and that it costs nothing."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tacit import BadData, NoisyMax, NoisyMaxWithGap
from tacit.core.law import hockey_stick
from tacit.testing.sources import Seeded

SCORES = [5, 3, 5, 0]


def test_the_index_alone_is_that_of_noisy_max():
    law, plain = NoisyMaxWithGap(epsilon=1).law(SCORES), NoisyMax(epsilon=1).law(SCORES)
    found = np.zeros(4)
    for i, lead in law.support(1e-13):
        found[i] += law.mass((i, lead))
    assert found == pytest.approx([plain.mass(i) for i in range(4)], abs=1e-12)


def test_a_lead_is_of_the_winner_over_those_before_it_strictly():
    """By all noises of a few steps, each weighed: the law is that of its definition."""
    mechanism = NoisyMaxWithGap(epsilon=6, candidates=2)
    q, law = math.exp(-float(mechanism.unit)), mechanism.law([1, 1])
    noise = {k: (1 - q) / (1 + q) * q ** abs(k) for k in range(-9, 10)}
    found = {}
    for a, p in noise.items():
        for b, r in noise.items():
            y = (0, a - b) if a >= b else (1, b - a - 1)
            found[y] = found.get(y, 0.0) + p * r
    assert all(law.mass(y) == pytest.approx(mass, abs=1e-9) for y, mass in found.items() if y[1] < 5)
    assert law.mass((0, -1)) == law.mass((2, 0)) == law.mass((0, 0.5)) == 0


@pytest.mark.parametrize(("x", "y"), [([4, 4, 4], [5, 3, 3]), ([4, 4], [3, 5]), ([0, 3, 9], [1, 2, 8])])
def test_the_lead_is_free(x, y):
    mechanism = NoisyMaxWithGap(epsilon=1)
    assert mechanism.loss() == NoisyMax(epsilon=1).loss()
    for p, q in ((x, y), (y, x)):
        assert hockey_stick(mechanism.law(p), mechanism.law(q), 1.0) <= 1e-12


def test_a_lead_beyond_the_error_is_of_the_best():
    mechanism, source = NoisyMaxWithGap(epsilon=2, candidates=3), Seeded(5)
    wide = mechanism.error(beta="0.001")
    leads = [mechanism.sample([40, 10, 0], source) for _ in range(300)]
    assert all(i == 0 for i, lead in leads if lead > wide) and any(lead > wide for _, lead in leads)
    assert np.mean([lead for _, lead in leads]) == pytest.approx(30, abs=1)


def test_nobody_leads_alone():
    with pytest.raises(BadData, match="scores must be two scores or more; got one score"):
        NoisyMaxWithGap(epsilon=1).release([3])


@pytest.mark.parametrize("bits", [50, 57, 60])
def test_a_lead_does_not_wrap_however_wide_the_noise(bits):
    mechanism, source = NoisyMaxWithGap(epsilon=Fraction(2, 1 << bits)), Seeded(3)
    far = [mechanism.sample([-(2**60), 0, 2**60], source)[1] for _ in range(500)]
    assert min(far) >= 0 and max(far) > 1 << bits
