"""The machine-readable card of a release: the facts that registries of deployments and NIST SP 800-226 ask for.

References.  Near, Darais, Lefkovitz, Howarth, NIST SP 800-226 (2025), on evaluating guarantees; Dwork, Kohli,
Mulligan, J. Privacy and Confidentiality 9 (2019), on a registry of epsilons.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .. import storage
from ..core.accounting.accountants import failures
from ..core.accounting.currency import Rho
from ..core.accounting.loss import Loss
from ..core.exact import up
from ..core.mechanism import Mechanism
from ..query.relation.relation import Relation
from ..query.values.domain import Label
from .export import clamped, clamped_sums
from .provenance import REHEARSAL

if TYPE_CHECKING:
    from .provenance import Provenance
    from .release import Release

EACH = "for each value separately, with this confidence"
DELTAS = ("1e-6", "1e-9", "1e-12")
_SEEDED = "seeded, for tests only: not private"
_ERROR_UNITS = {"count": "rows", "units": "units", "distinct": "different values", "quantile": "ranks", "top": "rows"}
_ERROR_UNITS |= {"variance": "squared values"}


def card(release: Release) -> dict[str, Any]:
    """The card of a release; everything in it is public."""
    relation, errors = release.query.relation, release.error(release.beta)
    return {
        **heading(release.provenance, release.loss, release.price, relation, release.query.groups),
        "mechanisms": [{**mechanism(m), **_role(release, i)} for i, m in enumerate(release.mechanisms)],
        "accuracy": {
            "confidence": float(1 - release.beta),
            "largest_error": {name: _finite(error) for name, error in errors.items()},
            "of": {name: _measured_in(release, name) for name in errors},
            "clamped": _written(clamped(release)),
            "clamped_by_unit": _written(clamped_sums(release)),
            "holds": EACH,
            "covers": "the noise; not sampling, the bounding of each unit's rows or the clamping of values"
            + (", nor the selection of the rows shown by noisy values" if release.picked_by_noise else ""),
        },
        "post_processing": sorted({f"{name}: {why}" for name, why, _ in release.revised}),
    }


def heading(p: Provenance, loss: Loss, price: Fraction, of: Relation, groups: int | None = None) -> dict[str, Any]:
    """The first entries of every card: question, privacy guarantee, trust model, price, randomness and software.

    Two releases have equal `rows_digest` if they are about the same rows of the same tables, under equal conditions.
    """
    rho = Rho().total(loss)
    return {
        **({"rehearsal": REHEARSAL} if p.rehearsal else {}),
        "question": p.question,
        "rows_digest": storage.digest(of),
        "release_date": p.time,
        "privacy": {
            "definition": _definition(loss),
            "epsilon": _finite(loss.epsilon()),
            "rho": float(rho) if rho < math.inf else None,
            "failure_delta": up(failures(loss)),
            "epsilon_at_delta": {delta: _finite(loss.epsilon(delta)) for delta in DELTAS},
            "unit": [{"table": name, "unit": unit} for name, unit, _ in p.tables],
            "rows_per_unit": of.rows,
            "groups_per_unit": groups,
            "relation": repr(loss.relation) if loss.relation else None,
        },
        "trust_model": "central: a curator holds the data and adds the noise",
        "interactive": p.together is None,
        "accounting": {"budget": p.budget, "price": float(price), "entry": p.entry, **_sealed(p), **_shared(p)},
        "randomness": _SEEDED if p.seeded else "a keystream cipher keyed by the operating system",
        "schemas": {name: digest for name, _, digest in p.tables},
        "implementation": dict(p.versions),
    }


def mechanism(m: Mechanism[Any, Any]) -> dict[str, Any]:
    """The name, noise and sensitivity of a mechanism."""
    parts = {name: mechanism(part) if isinstance(part, Mechanism) else part for name, part in m.described().items()}
    entry: dict[str, Any] = {"name": type(m).__name__, **parts}
    moves = getattr(m, "sensitivity", None)
    if moves is not None:
        entry["sensitivity"] = {"l1": float(moves.l1), "l2": math.sqrt(moves.l2_squared), "linf": float(moves.linf)}
    return entry


def _role(release: Release, place: int) -> dict[str, Any]:
    """The aggregates that a mechanism serves, and the size of one step of its noise in their units."""
    parts = ((name, *part) for name, r in release.recipes for part in zip(r.parts, r.steps, strict=True))
    own = {name: float(step) for name, at, step in parts if at % len(release.noisy) == place}
    return {"of": list(own), "step": next(iter(own.values()), 1.0)}


def _written(bounds: Mapping[str, tuple[Label, Label]]) -> dict[str, list[Label]]:
    """Bounds for JSON, with dates as text."""
    return {name: [end.isoformat() if isinstance(end, date) else end for end in ends] for name, ends in bounds.items()}


def _sealed(p: Provenance) -> dict[str, str]:
    """The hash of the ledger entry, if it is known."""
    return {} if p.entry_hash is None else {"hash": p.entry_hash}


def _shared(p: Provenance) -> dict[str, int]:
    """How many answers were bought together for the price, if several were."""
    return {} if p.together is None else {"answers_for_this_price": p.together[1]}


def _measured_in(release: Release, name: str) -> str:
    """The unit of a column's error: rows, units, ranks, or else that of its own values."""
    recipe = dict(release.recipes).get(release.lineage.columns[name].column or "")
    return "values" if recipe is None else _ERROR_UNITS.get(recipe.kind, "values")


def _definition(loss: Loss) -> str:
    failing = failures(loss)
    if loss.epsilon(failing) < math.inf:
        return f"{'approximate' if failing else 'pure'} differential privacy"
    concentrated = "zero-concentrated " if Rho().total(loss) < math.inf else ""
    return f"{'approximate ' if failing or not concentrated else ''}{concentrated}differential privacy"


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None
