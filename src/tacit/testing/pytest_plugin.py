"""Privacy claims as tests: `@private(epsilon=1)` audits the function below it with pytest.

    from tacit.testing.pytest_plugin import private

    @private(epsilon=1, pairs=[([3, 5], [3, 5, 10])])
    def test_the_mean_is_private(x):
        return noisy_mean(x)

The test fails if samples refute the claim; a true claim fails once in 10^9 runs.  Nothing needs to be registered.
With `pytest_plugins = ["tacit.testing.pytest_plugin"]` in the top conftest.py, pytest also has the option
`--audit-samples`, and lists what every audit proved.  The plugin is no entry point of pytest, which would import this
package in every test run of whoever has installed it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from ..audit.claims import CONFIDENCE, check
from ..audit.pair_search import Pair
from ..core.errors import BadParameter
from ..core.parameters import Number, exactly_one, function
from .mechanisms import Refuted

if TYPE_CHECKING:
    import pytest

SAMPLES = 20_000
_OPTION = "--audit-samples"
_wanted: list[int] = []  # runs on each input that the command line asks for
_proved: list[str] = []  # of this run of pytest, a line for each audit


def private(
    *,
    pairs: Iterable[Pair],
    epsilon: Number | None = None,
    delta: Number = 0,
    mu: Number | None = None,
    samples: int = SAMPLES,
    confidence: Number = CONFIDENCE,
    last_bits: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Turn a function of an input `x` into a test of its claim, as `tacit.audit.check` does.

    If the function has a parameter `n` as well, it is to give n outputs at once, which is faster.  Other parameters
    are fixtures.
    """
    exactly_one(epsilon=epsilon, mu=mu)
    listed = list(pairs)

    def decorate(run: Callable[..., Any]) -> Callable[..., None]:
        parameters = inspect.signature(function("run", run, "a function of x")).parameters
        if "x" not in parameters:
            raise BadParameter("run", run.__name__, "a function with a parameter x, the input")
        batch = "n" in parameters

        def test(*args: Any, **fixtures: Any) -> None:
            __tracebackhide__ = True
            program = partial(run, *args, **fixtures)
            verdict = check(
                (lambda x, n: program(x=x, n=n)) if batch else (lambda x: program(x=x)),
                listed,
                epsilon=epsilon,
                delta=delta,
                mu=mu,
                samples=_wanted[-1] if _wanted else samples,
                confidence=confidence,
                batch=batch,
                last_bits=last_bits,
            )
            _proved.append(f"{run.__module__}::{run.__qualname__}: {verdict}")
            if not verdict.holds:
                raise Refuted(str(verdict))

        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(test, name, getattr(run, name))
        others = [p for name, p in parameters.items() if name not in ("x", "n")]
        vars(test)["__signature__"] = inspect.Signature(others)  # by which pytest finds fixtures
        vars(test)["pytestmark"] = getattr(run, "pytestmark", [])
        return test

    return decorate


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option --audit-samples."""
    parser.addoption(_OPTION, type=int, default=None, help="runs on each input, for all tests with @private")


def pytest_configure(config: pytest.Config) -> None:
    """Take up the option, and forget what earlier runs proved."""
    _proved.clear()
    _wanted[:] = [config.getoption(_OPTION)] if config.getoption(_OPTION) else []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List what every audit of this process proved."""
    if _proved:
        terminalreporter.section("audits of privacy")
        for line in _proved:
            terminalreporter.line(line)
