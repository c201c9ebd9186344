"""Claims of other people's programs: the worst pair, without last bits, by mu, on the command line and in pytest.

All draws are seeded, or confidences such that a test fails by chance with probability below 1e-9.
"""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from typer.testing import CliRunner

from tacit import BadParameter, Gaussian, audit
from tacit.audit import claims, gaussian
from tacit.cli import app
from tacit.core.distance import SUBSTITUTE
from tacit.losses import approximate
from tacit.losses import gaussian as gaussian_loss
from tacit.testing.mechanisms import Refuted
from tacit.testing.pytest_plugin import private

SURE = "0.9999999999"


def normal(seed, sigma=1.0):
    rng = np.random.default_rng(seed)
    return lambda x, n: rng.normal(x, sigma, n)


def laplace(seed, scale=1.0):
    rng = np.random.default_rng(seed)
    return lambda x, n: rng.laplace(x, scale, n)


def test_mu_comes_near_the_truth_where_epsilon_does_not():
    """A Gaussian of mu = 1, whose epsilon at delta 1e-5 is 4.38."""
    how = {"samples": 400_000, "batch": True, "last_bits": False}
    found = audit.estimate_mu(normal(1), 0.0, 1.0, **how)
    truth = gaussian_loss(1).epsilon("1e-5")
    assert 4.37 < truth < 4.38
    assert 0.96 < found.mu <= 1
    assert 0.95 * truth < found.epsilon("1e-5") <= truth
    assert audit.estimate(normal(1), 0.0, 1.0, delta="1e-5", **how).epsilon < 3
    assert found.refutes("0.95") and not found.refutes(1)
    assert found.refutes(gaussian_loss("0.9")) and not found.refutes(gaussian_loss(1))
    assert found.refutes(Gaussian(sigma="1.2").loss()) and not found.refutes(approximate(truth, "1e-5"))


@pytest.mark.parametrize("runs", [150])
def test_mu_errs_no_oftener_than_it_says(runs):
    """At confidence 0.8: the number of bounds above the truth is at most binomial with 0.2."""
    run = normal(2)
    wrong = sum(audit.estimate_mu(run, 0.0, 1.0, 200, confidence="0.8", batch=True).mu > 1 for _ in range(runs))
    assert wrong <= 75  # P[Binomial(150, 0.2) > 75] < 1e-15


def test_mu_of_what_is_always_the_same_is_zero():
    found = audit.estimate_mu(lambda x: 7, 0, 1, 100)
    assert found.mu == 0 and found.epsilon("1e-5") == 0 and not found.refutes(gaussian_loss("0.01"))
    apart = audit.estimate_mu(lambda x: x, 0, 1, 100)
    assert 1 < apart.mu < np.inf
    assert gaussian._bound(1e-9)(0, 0, 10) == 0 and gaussian._bound(1e-9)(10, 10, 10) == 0


def test_without_last_bits_the_algorithm_itself_is_seen():
    how = {"samples": 100_000, "batch": True, "confidence": SURE}
    assert audit.estimate(laplace(3), 0.0, 1.0, **how).epsilon > 5
    own = audit.estimate(laplace(3), 0.0, 1.0, **how, last_bits=False)
    assert 0.85 < own.epsilon <= 1
    vectors = np.random.default_rng(4)
    pairs = audit.estimate(lambda x, n: vectors.laplace(x, 1, (n, 2)), (0.0, 0.0), (1.0, 0.0), **how, last_bits=False)
    assert 0.5 < pairs.epsilon <= 1
    naive = audit.check(laplace(5), [(0.0, 1.0)], epsilon=1, samples=20_000, batch=True)
    assert not naive.holds and "last bits of floating-point noise" in str(naive)


def test_odd_outputs_survive_without_last_bits():
    for odd in (np.nan, np.inf, -np.inf, 0.0):
        values = [odd, 1.5, 2.5, odd]
        rng = np.random.default_rng(5)
        found = audit.estimate(lambda x: values[rng.integers(4)], 0, 1, 400, last_bits=False)  # noqa: B023
        assert found.epsilon == 0
    assert audit.estimate(lambda x: "yes", 0, 1, 100, last_bits=False).epsilon == 0


def test_the_worst_pair_is_found():
    rng = np.random.default_rng(6)

    def total(records):
        return sum(records) + rng.laplace(0, 5)

    pairs = audit.neighbours([1, 2, 5], [0, 10])
    assert pairs == [([1, 2, 5], t) for t in ([2, 5], [1, 5], [1, 2], [1, 2, 5, 0], [1, 2, 5, 10])]
    assert audit.worst_pair(total, pairs, 4000, last_bits=False) == ([1, 2, 5], [1, 2, 5, 10])
    verdict = audit.check(total, pairs, epsilon=1, samples=4000, last_bits=False)
    assert not verdict.holds and verdict.pair[1] == [1, 2, 5, 10] and "epsilon = 1 is FALSE" in str(verdict)
    assert audit.check(total, pairs, epsilon=2, samples=4000, last_bits=False).holds
    assert audit.neighbours([1, 2], [7], SUBSTITUTE) == [([1, 2], [7, 2]), ([1, 2], [1, 7])]


def test_what_is_no_claim_is_refused():
    run = laplace(7)
    for wrong in ({}, {"epsilon": 1, "mu": 1}, {"epsilon": 0}, {"mu": -1}, {"epsilon": 1, "delta": 2}):
        with pytest.raises(BadParameter):
            audit.check(run, [(0, 1)], batch=True, **wrong)
    for pairs in ([], [0, 1], [(0, 1, 2)]):
        with pytest.raises(BadParameter, match="pairs"):
            audit.check(run, pairs, epsilon=1, batch=True)
    with pytest.raises(BadParameter, match="relation"):
        audit.neighbours([1], [2], "substitute")


def test_a_decorated_function_is_a_test():
    @private(epsilon=1, pairs=[(0.0, 1.0)], samples=4000, last_bits=False)
    def good(x, n):
        return laplace(8)(x, n)

    @private(epsilon=1, pairs=[(0.0, 1.0)], samples=4000, last_bits=False)
    def bad(x, scale):
        return laplace(None, scale)(x, 1)[0]

    good()
    bad(scale=1.0)
    with pytest.raises(Refuted, match="epsilon = 1 is FALSE"):
        bad(scale=0.3)
    with pytest.raises(BadParameter, match="parameter x"):
        private(epsilon=1, pairs=[(0, 1)])(lambda y: y)
    with pytest.raises(BadParameter, match="exactly one"):
        private(pairs=[(0, 1)])


def test_the_plugin_in_pytest_itself(tmp_path):
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tacit.testing.pytest_plugin"]\n')
    (tmp_path / "test_it.py").write_text(
        textwrap.dedent("""
        import numpy as np, pytest
        from tacit.testing.pytest_plugin import private

        @pytest.fixture
        def rng():
            return np.random.default_rng(1)

        @private(epsilon=1, pairs=[(0.0, 1.0)], last_bits=False)
        def test_good(rng, x, n):
            return rng.laplace(x, 1, n)

        class TestBad:
            @private(mu="0.5", pairs=[(0.0, 1.0)], last_bits=False)
            def test_bad(self, x, n, rng):
                return rng.normal(x, 1, n)
        """)
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--audit-samples", "9000", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1 and "1 failed, 1 passed" in done.stdout
    assert "audits of privacy" in done.stdout and "The claim mu = 0.5 is FALSE" in done.stdout
    assert "4500 runs on each input prove only" in done.stdout


def test_functions_on_the_command_line(tmp_path, monkeypatch):
    (tmp_path / "noise_for_tests.py").write_text(
        "import numpy as np\nrng = np.random.default_rng(1)\n"
        "def laplace(x, n): return rng.laplace(x, 1, n)\n"
        "def total(records): return sum(records) + float(rng.laplace(0, 5))\n"
        "number = 3\n"
        "def broken(x): raise KeyError(x)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def run(*arguments):
        result = CliRunner().invoke(app, ["audit", *arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result.exit_code, " ".join(result.output.split())

    few = ("--batch", "--samples", "8000", "--pair", "0,1")
    assert run("noise_for_tests:laplace", *few, "--claim", "1", "--no-last-bits")[0] == 0
    code, output = run("noise_for_tests.py:laplace", *few, "--claim", "0.2")
    assert code == 1 and "The claim epsilon = 0.2 is FALSE" in output
    code, output = run("noise_for_tests:laplace", *few, "--claim", "mu=0.1", "--no-last-bits")
    assert code == 1 and "The claim mu = 0.1 is FALSE" in output
    around = ("--around", "[1,2,5]", "--values", "0,10", "--claim", "1", "--samples", "4000", "--no-last-bits")
    code, output = run("noise_for_tests:total", *around)
    assert code == 1 and "The worst of 5 pairs: [1, 2, 5] and [1, 2, 5, 10]" in output
    for wrong, said in [
        (("noise_for_tests:nothing", *few, "--claim", "1"), "noise_for_tests:nothing cannot be found"),
        (("no_such_module:f", *few, "--claim", "1"), "no_such_module:f cannot be found"),
        (("noise_for_tests:number", *few, "--claim", "1"), "must be a function"),
        (("noise_for_tests:broken", "--pair", "0,1", "--claim", "1"), "broken failed with KeyError"),
        (("noise_for_tests:laplace", "--pair", "0,1", "--claim", "1"), "with --batch, with an input and a number"),
        (("noise_for_tests:laplace", "--claim", "1"), "give --claim and --pair"),
        (("noise_for_tests:laplace", "--pair", "0", "--claim", "1"), "two JSON values"),
        (("noise_for_tests:laplace", "--pair", "a,b", "--claim", "1"), "JSON values"),
        (("noise_for_tests:laplace", *few, "--claim", "rho=1"), "epsilon, mu"),
        (("noise_for_tests:total", "--around", "3", "--claim", "1"), "a list of records"),
        (("laplace", "--claim", "1"), "MODULE:FUNCTION"),
    ]:
        code, output = run(*wrong)
        assert (code, said in output) == (2, True), output


def test_a_verdict_is_rarely_wrong_about_a_true_claim():
    assert claims.CONFIDENCE == "0.999999999"
