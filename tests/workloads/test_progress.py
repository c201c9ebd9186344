"""What is told of long work, and to whom."""

import pytest

from tacit.core.progress import report, watched, with_progress
from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Histogram, Price, marginals, method


def test_each_step_is_told_to_whoever_looks_on():
    seen, other = [], []
    report("nobody", 0.5)
    with watched(lambda what, share: seen.append((what, share))):
        assert list(with_progress("counting", "abcd", 4)) == list("abcd")
        with watched(lambda what, share: other.append(share)):
            report("inside", 0.5)
    assert seen == [("counting", share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert other == [0.5]


def test_no_work_fails_for_a_watch_that_does():
    seen = []

    def watch(what, share):
        seen.append(what)
        raise ValueError

    with watched(watch):
        assert list(with_progress("counting", "abcd", 4)) == list("abcd")
    assert seen == ["counting"]


@pytest.mark.parametrize("name", ["mwem", "adaptive", "tree", "pmw"])
def test_methods_that_take_long_say_how_far_they_are(name):
    domain = Domain.of({"a": 2, "b": 3, "c": 4})
    data, seen = Histogram(domain, range(24)), []
    with watched(lambda what, share: seen.append(share)):
        method(name).release(marginals(domain, k=2), data, Price.of(epsilon=10), Seeded(1), n=276)
    assert seen and all(0 <= share <= 1 for share in seen)
