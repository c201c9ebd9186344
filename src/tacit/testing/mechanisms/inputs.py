"""How a mechanism takes bad input: it refuses, in tacit's own errors, and never shows the data.

Data are private, so an error about them may say what was expected and of which type the data were, but no value.  The
checks pass data of the wrong kind, among them the example's own data with one cell spoiled, once with each of two
secrets: the two errors must read alike, in their causes too.  Parameters are public and may be shown.
"""

from __future__ import annotations

import copy
import math
import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from ...core.errors import BadData, BadParameter, TacitError
from ...core.interactive import Interactive
from ...core.mechanism import Mechanism
from ..sources import Seeded
from .claims import AnyExample, Refuted

SECRETS = (1234567890123, 9876543210987)  # no parameter, size or type of an example has these digits
NUMBERLESS: tuple[Any, ...] = (
    math.nan, -math.inf, "nan", "inf", "", "1e", "one", b"1", 1j, object(), {}, np.array([1.0]), float, "1/0", "0x1",
)  # fmt: skip
_NAN = re.compile(r"\b(nan|inf|infinity)\b", re.IGNORECASE)


def bad_data(secret: int) -> Iterator[Any]:
    """Data that no mechanism takes, each with the secret in it or with a number that is not finite."""
    yield from (None, object(), math.nan, [-math.inf], str(secret), [secret, "x"], [[secret], [1, 2]])
    yield from (np.array([secret], object), np.array([1j * secret]), np.array([str(secret)]))
    yield from ({secret: str(secret)}, np.array([secret], "datetime64[s]"))
    yield from (np.array([float(secret), math.nan]), np.array([secret, math.inf]))


def spoiled(x: Any, secret: int) -> Iterator[Any]:
    """The data x with one number replaced by something that is not a number: shapes and sizes stay right."""
    for cell in (math.nan, math.inf, None, str(secret), secret * 1j, object()):
        if isinstance(x, Mapping):
            yield from ({**x, key: cell} for key in list(x)[:1])
        elif isinstance(x, int | float):
            yield cell
        elif isinstance(x, np.ndarray | list | tuple) and np.asarray(x).ndim == 1 and len(x):
            for at in (0, len(x) - 1):
                yield [cell if i == at else value for i, value in enumerate(np.asarray(x).tolist())]
    if isinstance(x, np.ndarray | list | tuple) and np.asarray(x).ndim == 1 and len(x):
        yield np.append(np.full(len(x) - 1, float(secret)), math.nan)


def bad_data_is_refused(case: AnyExample) -> None:
    """Bad data raise `BadData`, and no text of the error or of its causes depends on a value or says NaN."""
    for ask in _inputs(case.mechanism):
        pairs = zip(*([*bad_data(secret), *spoiled(case.x, secret)] for secret in SECRETS), strict=True)
        for first, second in pairs:
            texts = [_refusal(ask, data) for data in (first, second)]
            if texts[0] != texts[1] or any(str(secret)[:9] in text for secret in SECRETS for text in texts):
                raise Refuted("an error shows a private value")
            if any(map(_NAN.search, texts)):
                raise Refuted("an error says that the data hold NaN or an infinity")


def _inputs(mechanism: Mechanism[Any, Any]) -> Iterable[Callable[[Any], Any]]:
    """Every way in for data: all at once, and one value at a time where the mechanism is interactive."""
    yield lambda data: mechanism.sample(data, Seeded(1))
    if isinstance(mechanism, Interactive):
        yield lambda value: mechanism.step(mechanism.begin(Seeded(1)), value, Seeded(2))


def _refusal(ask: Callable[[Any], Any], data: Any) -> str:
    """All that the refusal of these data would print: its text, its arguments, and those of every error behind it."""
    try:
        ask(data)
    except BadData as refusal:
        error: BaseException | None = refusal
    except Exception as bare:
        raise Refuted(f"bad data raise {type(bare).__name__}, not BadData") from None
    else:
        raise Refuted(f"data of type {type(data).__name__} that are no finite numbers are accepted")
    texts = []
    while error is not None:
        texts += [str(error), *map(str, error.args), *map(str, vars(error).values())]
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\n".join(texts)


def bad_beta_is_refused(case: AnyExample) -> None:
    """A beta that is not strictly between 0 and 1 raises `BadParameter`, which names it."""
    for beta in (*NUMBERLESS, None, 0, 1, -1, 2, "0", "1", Fraction(-1, 2), 10**400):
        try:
            case.mechanism.error(beta=beta, **case.given)
        except BadParameter as refusal:
            if "beta" not in str(refusal):
                raise Refuted("the refusal of a bad beta does not name it") from None
        except Exception as bare:
            raise Refuted(f"a bad beta raises {type(bare).__name__}, not BadParameter") from None
        else:
            raise Refuted(f"beta={beta!r} is accepted")


def error_falls_as_beta_grows(case: AnyExample) -> None:
    """The error is a finite float at every beta, however small, and never grows with beta."""
    errors = [case.mechanism.error(beta=beta, **case.given) for beta in ("1e-300", "1e-100", "1e-30", "0.999")]
    if not all(type(error) is float and math.isfinite(error) for error in errors):
        raise Refuted("the error at some beta is not a finite float")
    if errors != sorted(errors, reverse=True):
        raise Refuted("the error grows with beta")


def refuses_bad_parameters(kind: Callable[..., Any], call: Mapping[str, Any]) -> None:
    """Replace each parameter of a right call by what no parameter may be: a `TacitError` that is a `ValueError`.

    A constructor may take its parameters in several ways, so this check is given a call instead of an example.
    """
    kind(**call)
    for name, bad in product(call, NUMBERLESS):
        try:
            kind(**{**call, name: bad})
        except TacitError as refusal:
            if not isinstance(refusal, ValueError):
                raise Refuted(f"a bad {name} raises {type(refusal).__name__}, which is no ValueError") from None
        except Exception as bare:
            raise Refuted(f"a bad {name} raises {type(bare).__name__}, not BadParameter") from None
        else:
            raise Refuted(f"{name}={bad!r} is accepted")


def a_copy_is_the_same_mechanism(case: AnyExample) -> None:
    """Pickled or copied, a mechanism and a distance are equal to the original, and so is the price."""
    for again in (_pickled, copy.deepcopy):
        mechanism, distance = again((case.mechanism, case.distance))
        if mechanism != case.mechanism or distance != case.distance:
            raise Refuted("a copy of the mechanism, or of its distance, is another")
        prices = {m.loss(d) for m in (mechanism, case.mechanism) for d in (distance, case.distance)}
        if len(prices) != 1 or again(prices) != prices:
            raise Refuted("a copy of the mechanism has another price")


def _pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


CHECKS: tuple[Callable[[AnyExample], None], ...] = (
    bad_data_is_refused,
    bad_beta_is_refused,
    error_falls_as_beta_grows,
    a_copy_is_the_same_mechanism,
)
