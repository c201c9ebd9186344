"""The privacy of a program that draws from mechanisms, by replay: exact, from two runs, without statistics.

A program reads private data and draws from mechanisms of tacit.  It is run on a table x, and every draw is recorded:
the mechanism, its exact argument and its output.  Then it is run on a neighbour y, and every draw comes out as it did
on x.  If the program is a composition of its mechanisms,

    it asks the same mechanisms in the same order, since these may depend on earlier outputs and public facts only;
    it gives the same result, since all else is post-processing;
    its loss is the sum of what each mechanism costs at the distance between its two arguments.

Whatever reads the data in another way gives another result, and noise that is too small for what it hides costs more
than was claimed.  The theorem of each mechanism, its loss at a distance, is the mechanism suite's to check.

Reference.  Dwork, Rothblum, Vadhan, FOCS 2010, on adaptive composition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..core.accounting.loss import Loss, zero
from ..core.distance import Distance, Neighbours
from ..core.interactive import Interactive
from ..core.mechanism import Mechanism
from ..mechanisms.local._frequency import FrequencyOracle
from .mechanisms import Refuted

T = TypeVar("T")
Intercept = Callable[[Any, str, tuple[Any, ...], Callable[[], Any]], Any]


class Draw(NamedTuple):
    """One draw of a run: the mechanism, how it was called, its exact argument, its output, and for a step the state."""

    mechanism: Mechanism[Any, Any]
    call: str
    value: Any
    output: Any
    state: Any = None


def recorded(run: Callable[[], T]) -> tuple[T, list[Draw]]:
    """The result of a run, and its draws."""
    draws = list[Draw]()

    def intercept(mechanism: Any, call: str, arguments: tuple[Any, ...], draw: Callable[[], Any]) -> Any:
        (state, value), output = _read(call, arguments), draw()
        # A state is kept as the object that it is: by this object its session is recognised.
        draws.append(Draw(mechanism, call, value, _copied(output) if call == "sample" else output, state))
        return output

    with _intercepted(intercept):
        return run(), draws


def replayed(run: Callable[[], T], draws: list[Draw]) -> tuple[T, list[Draw]]:
    """The result of a run whose draws come out as recorded, and the arguments that it drew on."""
    again = list[Draw]()

    def intercept(mechanism: Any, call: str, arguments: tuple[Any, ...], draw: Callable[[], Any]) -> Any:
        if len(again) == len(draws):
            raise Refuted(f"on a neighbour it draws more often than {len(draws)} times")
        before = draws[len(again)]
        if (mechanism, call) != (before.mechanism, before.call):
            raise Refuted(f"draw {len(again) + 1} is of {before.mechanism!r}, and on a neighbour of {mechanism!r}")
        state, value = _read(call, arguments)
        if state is not before.state:
            raise Refuted(f"draw {len(again) + 1} steps from another state on a neighbour")
        again.append(before._replace(value=value))
        return _copied(before.output) if call == "sample" else before.output

    with _intercepted(intercept):
        result = run()
    if len(again) < len(draws):
        raise Refuted(f"it draws {len(draws)} times, and on a neighbour {len(again)} times")
    return result, again


@dataclass
class _Session:
    """A session of an interactive mechanism: the state that its next step takes, and how far its values moved."""

    mechanism: Mechanism[Any, Any]
    state: Any
    apart: Fraction = Fraction(0)


def spent(draws: list[Draw], again: list[Draw], relation: Neighbours | None) -> Loss:
    """What the mechanisms of a run cost in all, each at the distance between its arguments on the two tables.

    The price of a session is paid once, however many steps it has.  A step belongs to the session that holds its state.
    A state that a step has left may not be used again: two sessions from one state cost the price of two.
    """
    total, sessions = zero, list[_Session]()
    for first, second in zip(draws, again, strict=True):
        if first.call == "sample":
            total += _loss(first.mechanism, first.value, second.value, relation)
        elif first.call == "begin":
            sessions.append(_Session(first.mechanism, first.output))
        else:
            apart, (state, _) = abs(_number(first.value) - _number(second.value)), first.output
            holders = [s for s in sessions if s.state is first.state and s.mechanism == first.mechanism]
            if not holders:
                raise Refuted(f"{first.mechanism!r} steps from a state that no session of this run is in")
            for session in holders:  # one, unless a mechanism gives one object as the state of several sessions
                session.state, session.apart = state, max(session.apart, apart)
    for session in sessions:
        if d := session.apart:
            total += session.mechanism.loss(Distance(d, d**2, d, 1, relation))
    return total


def _read(call: str, arguments: tuple[Any, ...]) -> tuple[Any, Any]:
    """The state, if any, and a copy of the exact argument of a call; the last argument is the source of randomness."""
    state = arguments[0] if call == "step" else None
    return state, _copied(arguments[-2]) if len(arguments) > 1 else None


def _loss(mechanism: Mechanism[Any, Any], x: Any, y: Any, relation: Neighbours | None) -> Loss:
    if isinstance(mechanism, FrequencyOracle):  # whose argument is the answers of people, in any order
        x, y = (np.bincount(np.ravel(answers), minlength=mechanism.categories) for answers in (x, y))
    if np.shape(x) != np.shape(y):
        raise Refuted(f"{mechanism!r} draws on {np.shape(x)} numbers, and on a neighbour on {np.shape(y)}")
    a, b = np.ravel(x), np.ravel(y)
    pairs = np.stack([a[a != b], b[a != b]])
    if not pairs.size:
        return zero
    moves = Counter[Fraction]()
    for (before, after), times in zip(*_distinct(pairs), strict=True):
        moves[abs(Fraction(after) - Fraction(before))] += times
    l1, squares = (sum((times * by**power for by, times in moves.items()), Fraction(0)) for power in (1, 2))
    return mechanism.loss(Distance(l1, squares, max(moves), moves.total(), relation))


def _distinct(pairs: np.ndarray[Any, Any]) -> tuple[list[list[Any]], list[int]]:
    """Pairs of numbers, and how often each occurs; of whole numbers only what lies between them matters."""
    if pairs.dtype.kind == "i":
        moved, times = np.unique(pairs[1] - pairs[0], return_counts=True)
        return [[0, by] for by in moved.tolist()], times.tolist()
    return pairs.T.tolist(), [1] * pairs.shape[1]


def _number(asked: Any) -> Fraction:
    """The private number, in counts, that a question of an interactive mechanism comes with."""
    question, steps = asked if isinstance(asked, tuple) else (None, asked)
    return Fraction(steps) * Fraction(getattr(question, "grid", 1))


def same(first: Any, second: Any) -> bool:
    """Whether two values are equal in all that they hold, bit by bit, but for what they compute once and keep."""
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        return bool(first.shape == second.shape and first.dtype == second.dtype and first.tobytes() == second.tobytes())
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, Loss | Neighbours | Mechanism) or not (is_dataclass(first) or hasattr(first, "__dict__")):
        return bool(first == second)
    return same(_held(first), _held(second))


def _held(value: Any) -> dict[str, Any]:
    if is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in fields(value)}
    computed = {k for kind in type(value).__mro__ for k, v in vars(kind).items() if isinstance(v, cached_property)}
    return {k: v for k, v in vars(value).items() if k not in computed}


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _kinds(kind: type[Any]) -> Iterator[type[Any]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)


@contextmanager
def _intercepted(intercept: Intercept) -> Iterator[None]:
    """Every draw of every mechanism goes through `intercept`; what a mechanism draws within a draw is its own."""
    within = False
    originals = list[tuple[type, str, Any]]()

    def through(kind: type, call: str) -> None:
        original = vars(kind)[call]

        def drawn(self: Any, *arguments: Any) -> Any:
            nonlocal within
            if within:
                return original(self, *arguments)
            within = True
            try:
                return intercept(self, call, arguments, lambda: original(self, *arguments))
            finally:
                within = False

        originals.append((kind, call, original))
        setattr(kind, call, drawn)

    for kind in dict.fromkeys(_kinds(Mechanism)):
        calls = ("begin", "step", "sample") if issubclass(kind, Interactive) else ("sample",)
        for call in calls:
            if call in vars(kind):
                through(kind, call)
    try:
        yield
    finally:
        for kind, call, original in originals:
            setattr(kind, call, original)
