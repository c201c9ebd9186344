"""The entry of a publication in the OpenDP registry of deployments, as YAML.

The registry asks for basic facts, which the custodian states in the plan, and for the guarantee, the model and the
implementation, which follow from the charge.  Texts are written in double quotes, as JSON is, which YAML reads.

References.  github.com/opendp/deployments-registry-data, schemas/deployments-schema.yaml (2026).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..core.errors import BadParameter
from ..core.safe_text import lines

CURATORS = ("Government", "Industry", "Nonprofit")
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
_TEXTS = ("curator", "curator_type", "use", "region")


@dataclass(frozen=True)
class Registry:
    """What only the custodian knows: who publishes, for which use and region, and who wrote the entry."""

    curator: str
    curator_type: str
    use: str
    region: str
    authors: tuple[str, ...]
    sector: str | None = None
    justification: str = ""


def registry_facts(facts: object) -> Registry:
    """The facts in the table [registry] of a plan."""
    if not isinstance(facts, Mapping):
        raise BadParameter("registry", type(facts).__name__, "a table")
    names = {*_TEXTS, "authors", "sector", "justification"}
    if unknown := sorted(facts.keys() - names):
        raise BadParameter("registry", unknown[0], f"of the keys {', '.join(sorted(names))}")
    for name in _TEXTS:
        if not isinstance(facts.get(name), str) or not facts[name]:
            raise BadParameter(f"registry.{name}", facts.get(name), "text")
    if facts["curator_type"] not in CURATORS:
        raise BadParameter("registry.curator_type", facts["curator_type"], f"one of {', '.join(CURATORS)}")
    if facts.get("sector") not in (None, *SECTORS):
        raise BadParameter("registry.sector", facts["sector"], f"one of {', '.join(SECTORS)}")
    authors = facts.get("authors")
    if not isinstance(authors, list) or not authors or not all(isinstance(each, str) and each for each in authors):
        raise BadParameter("registry.authors", authors, 'names, as ["Ada"]')
    justification = facts.get("justification", "")
    if not isinstance(justification, str):
        raise BadParameter("registry.justification", type(justification).__name__, "text")
    stated = {name: facts[name] for name in _TEXTS}
    return Registry(**stated, authors=tuple(authors), sector=facts.get("sector"), justification=justification)


def slug(title: str) -> str:
    """A title as a part of an address."""
    return re.sub("[^a-z0-9]+", "-", title.lower()).strip("-")[:80] or "publication"


def entry(registry: Registry, card: Mapping[str, Any]) -> str:
    """The entry, from the card of a publication."""
    privacy, units = card["privacy"], ", ".join(card["privacy"]["unit"].values())
    synthetic = all(answer["kind"] == "synthetic" for answer in card["answers"])
    curators = [{"data_curator_name": registry.curator, "data_curator_type": registry.curator_type}]
    basic: dict[str, Any] = {"name": card["title"], "data_curators": curators}
    basic |= {"description": card["description"] or card["title"], "intended_use": registry.use}
    basic |= {"data_product_type": "Synthetic data" if synthetic else "Summary statistics"}
    basic |= {"data_product_region": registry.region}
    basic |= {"data_product_sector": registry.sector} if registry.sector else {}
    basic |= {"publication_date": card["date"][:10]}
    versions = ", ".join(f"{name} {version}" for name, version in card["implementation"].items())
    deployment = {
        "basic": basic,
        "dp_variant": {
            "variant_name": privacy["variant"],
            "data_domain": f"Tables as the public schema of {', '.join(privacy['unit'])} describes them.",
            "unprotected_quantities": "None. The schema, with its bounds, labels and approximate size, is public.",
        },
        "privacy_loss": {
            "privacy_unit": units,
            "privacy_unit_details": privacy["neighbours"],
            "privacy_parameters": privacy["parameters"],
            "privacy_parameters_details": privacy["sentence"],
        },
        "deployment_model": {
            "model_name": "Central",
            "trust_assumptions": "The curator holds the data and adds the noise; readers need not be trusted.",
            "release_type": "One release",
            "release_type_details": f"One of the releases within {card['ledger']['budget']}, which a ledger enforces.",
            "data_source_type": "Static",
            "access_type": "Non-interactive",
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": "Rows of each unit are bounded and values are clamped, by the "
            "public schema. Noise was allocated from public facts alone.",
            "mechanisms": f"{', '.join(card['mechanisms'])}; sampled exactly, on integers ({versions}).",
            "composition": privacy["composition"],
            "post_processing": "Means, ratios and intervals are computed from noisy counts and sums.",
            "justification": registry.justification or "Errors or weights of all answers were declared in the plan.",
            "utility": "; ".join(_utility(card)),
        },
        "administrative": {"status": "Draft", "registry_authors": list(registry.authors), "tier": 3},
    }
    return "".join(_yaml({"url_slug": slug(card["title"]), "deployment": deployment}))


def _utility(card: Mapping[str, Any]) -> Iterator[str]:
    for answer in card["answers"]:
        yield f"{answer['name']}: " + ", ".join(f"{e['column']} {e['error']}" for e in answer["errors"])


def _yaml(value: Any, depth: int = 0) -> Iterator[str]:
    """The lines of a mapping of texts, numbers, lists and mappings."""
    margin = "  " * depth
    for name, each in value.items():
        match each:
            case Mapping():
                yield f"{margin}{name}:\n"
                yield from _yaml(each, depth + 1)
            case list():
                yield f"{margin}{name}:\n"
                for item in each:
                    if isinstance(item, Mapping):
                        first, *rest = _yaml(item, depth + 2)
                        yield f"{margin}  - {first.lstrip()}"
                        yield from rest
                    else:
                        yield f"{margin}  - {_scalar(item)}\n"
            case _:
                yield f"{margin}{name}: {_scalar(each)}\n"


def _scalar(value: str | float | int) -> str:
    """A scalar; a float has a point, without which YAML 1.1 takes an exponent for text."""
    if isinstance(value, str):
        return json.dumps(lines(value), ensure_ascii=False)
    text = repr(value)
    return text.replace("e", ".0e", 1) if isinstance(value, float) and "e" in text and "." not in text else text
