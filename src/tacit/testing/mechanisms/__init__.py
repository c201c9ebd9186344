"""The conformance suite for mechanisms.

    for example in Mine.examples():
        conform(example)

Nothing here is about one mechanism: `CHECKS` are run on every example of every mechanism of the package, and may be run
on yours.  `claims` holds what a mechanism states against its own law; `inputs` passes bad data and bad parameters.  A
check that fails raises `Refuted`.
"""

from __future__ import annotations

from collections.abc import Callable

from . import claims, inputs
from .claims import (
    FALSE_ALARM,
    AnyExample,
    Refuted,
    error_bound_holds,
    farther_is_dearer,
    file_states_its_theorems,
    fit,
    loss_covers_law,
    loss_states_its_relation,
    outcome,
    renyi_covers_law,
    rows_follow_law,
    sampler_follows_law,
    steps_follow_law,
)
from .inputs import (
    a_copy_is_the_same_mechanism,
    bad_beta_is_refused,
    bad_data_is_refused,
    error_falls_as_beta_grows,
    refuses_bad_parameters,
)

CHECKS: tuple[Callable[[AnyExample], None], ...] = (*claims.CHECKS, *inputs.CHECKS)

__all__ = [
    "CHECKS",
    "FALSE_ALARM",
    "AnyExample",
    "Refuted",
    "a_copy_is_the_same_mechanism",
    "bad_beta_is_refused",
    "bad_data_is_refused",
    "conform",
    "error_bound_holds",
    "error_falls_as_beta_grows",
    "farther_is_dearer",
    "file_states_its_theorems",
    "fit",
    "loss_covers_law",
    "loss_states_its_relation",
    "outcome",
    "refuses_bad_parameters",
    "renyi_covers_law",
    "rows_follow_law",
    "sampler_follows_law",
    "steps_follow_law",
]


def conform(case: AnyExample) -> None:
    """Run every check on one example of a mechanism."""
    for check in CHECKS:
        check(case)
