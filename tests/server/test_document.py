"""docs/service.md names every key of the configuration with its default, and every option of a policy."""

import re
import tomllib
from itertools import zip_longest
from pathlib import Path

import pytest
from typer.main import get_command

from tacit.cli.service.policies import app as policies
from tacit.server.config import SECTIONS, Oidc, Settings

PAGE = (Path(__file__).parents[2] / "docs" / "service.md").read_text("utf-8")


def described(section):
    """The keys of a section with their defaults, as a table of the page has them."""
    rows = PAGE.partition(f"| `[{section}]` |")[2].partition("\n\n")[0].splitlines()[2:]
    keys = {}
    for _, names, defaults, *_ in (row.split("|") for row in rows):
        values = re.findall(r"`([^`]+)`", defaults)
        written = [tomllib.loads(f"x = {value}")["x"] for value in values]
        keys |= dict(zip_longest(re.findall(r"`(\w+)`", names), written))
    return keys


def plain(value):
    """A value as a file would have it."""
    if isinstance(value, tuple):
        return [str(each) for each in value]
    return str(value) if isinstance(value, Path) else value


@pytest.mark.parametrize("section", ["service", "limits", "postgres"])
def test_every_key_is_described_with_its_default(section):
    default = SECTIONS[section]()
    assert described(section) == {name: plain(getattr(default, name)) for name in default.__dataclass_fields__}


def test_every_key_about_the_provider_is_named():
    part = PAGE.partition("`[oidc]` is described")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", part)) == set(Oidc.__dataclass_fields__)


@pytest.mark.parametrize("block", re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))
def test_configurations_that_it_shows_are_valid(block, tmp_path):
    (tmp_path / "service.toml").write_text(block)
    assert Settings.load(tmp_path / "service.toml", {}).service.origin


def test_the_container_is_configured_by_valid_variables():
    variables = dict(re.findall(r"(TACIT_\w+)='?([^'\s]+)'?", PAGE.partition("```dockerfile")[2].partition("```")[0]))
    settings = Settings.load("/dev/null", variables)
    assert settings.service.host == "0.0.0.0" and settings.service.roots == (Path("/srv/data"),)


def test_every_option_of_a_policy_is_described():
    options = {name for p in get_command(policies).commands["set"].params for name in p.opts if name.startswith("--")}
    named = set(re.findall(r"`(--\w+)`", PAGE.partition("## Policies")[2].partition("## TLS")[0]))
    assert named == options - {"--config"}
