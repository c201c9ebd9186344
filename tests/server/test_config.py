"""The configuration: one file and the environment; whatever is wrong is refused with a sentence."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.server.config import SECTIONS, BadConfig, Settings, loopback


def load(tmp_path, text, **variables):
    file = tmp_path / "service.toml"
    file.write_text(text)
    return Settings.load(file, variables)


def test_every_key_has_a_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = Settings.load(None, {})
    assert settings.file is None and settings.service.store == str(tmp_path / "service.store")
    assert settings.service.roots == (tmp_path / "data",) and loopback(settings.service.host)
    assert settings.limits.body == 65536 and settings.oidc.issuer is None
    (tmp_path / "service.toml").write_text("[limits]\nbody = 2048\n")
    assert Settings.load(None, {}).limits.body == 2048
    other = tmp_path / "other.toml"
    other.write_text("[limits]\nbody = 4096\n")
    assert Settings.load(None, {"TACIT_CONFIG": str(other)}).limits.body == 4096


def test_paths_are_relative_to_the_file(tmp_path):
    settings = load(tmp_path, '[service]\nstore = "a/b.store"\nroots = ["x", "/y"]\n')
    assert settings.service.store == str(tmp_path / "a" / "b.store")
    assert settings.service.roots == (tmp_path / "x", Path("/y"))
    assert load(tmp_path, '[service]\nstore = "postgresql://h/d"').service.store == "postgresql://h/d"


def test_the_environment_overrides_the_file(tmp_path):
    text = '[service]\nport = 1\nhost = "::1"\n[limits]\nbody = 2048\n'
    variables = {
        "TACIT_SERVICE_PORT": "2",
        "TACIT_SERVICE_HOST": "127.0.0.2",
        "TACIT_SERVICE_ROOTS": '["a", "b"]',
        "TACIT_SERVICE_PLAIN": "true",
        "TACIT_OIDC_CLIENT_SECRET": "hunter2",
        "TACIT_OIDC_PEOPLE": '{ "ann@example.org" = "Ann" }',
        "TACIT_URL": "not ours",
    }
    settings = load(tmp_path, text, **variables)
    service = settings.service
    assert (service.port, service.host, service.plain) == (2, "127.0.0.2", True)
    assert service.roots == (tmp_path / "a", tmp_path / "b") and settings.limits.body == 2048
    assert settings.oidc.people == {"ann@example.org": "Ann"}
    assert settings.oidc.client_secret == "hunter2" and "hunter2" not in repr(settings)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[servise]", "The configuration has no section 'servise'. Did you mean 'service'?"),
        ("[service]\nprot = 1", "The configuration has no key 'service.prot'. Did you mean 'service.port'?"),
        ("[limits]\nqqqq = 1", "The configuration has no key 'limits.qqqq'. It may have limits.body"),
        ("service = 1", "[service] must be a section of the configuration, not a value."),
        ("[service]\nport = '1'", "service.port must be a whole number from 0 to 65535."),
        ("[service]\nport = true", "service.port must be a whole number"),
        ("[service]\nport = 70000", "service.port must be a whole number"),
        ("[service]\nroots = '/'", "service.roots must be a list of paths."),
        ("[service]\nroots = [1]", "service.roots must be a list of paths."),
        ("[service]\nstore = ''", "service.store must be a text."),
        ("[service]\nplain = 1", "service.plain must be true or false."),
        ("[service]\norigin = 'example.org'", "service.origin must be an address without a path"),
        ("[service]\norigin = 'https://e.org/x'", "service.origin must be an address without a path"),
        ("[service]\ncertificate = 'c'", "service.certificate and service.private_key belong together."),
        ("[service]\nhost = '0.0.0.0'", "The service would listen on 0.0.0.0 without TLS"),
        ("[oidc]\nissuer = 'http://e.org'", "oidc.issuer must be an https:// address"),
        ("[oidc]\nissuer = 'https://e.org'", "oidc.issuer and oidc.client_id belong together."),
        ("[oidc]\nissuer = 'https://e.org'\nclient_id = 'x'", "set service.origin"),
        ("[oidc]\npeople = ['a']", "oidc.people must be a table"),
        ("[service\n", "is not TOML"),
        ("[service]\nport = 1\nport = 2", "is not TOML"),
    ],
)
def test_what_is_wrong_is_refused_with_a_sentence(tmp_path, text, sentence):
    with pytest.raises(BadConfig) as refused:
        load(tmp_path, text)
    assert any(sentence in problem for problem in refused.value.problems), refused.value.problems
    assert all(problem[0].isupper() or problem[0] in "[so" for problem in refused.value.problems)
    assert all(problem.endswith((".", "?")) for problem in refused.value.problems)


def test_everything_that_is_wrong_is_said_at_once_and_no_value_is_shown(tmp_path):
    with pytest.raises(BadConfig) as refused:
        load(tmp_path, "[service]\nport = 'hunter2'\nhots = 'x'\n[limits]\nbody = 'hunter2'", TACIT_LIMITS_BODI="1")
    assert len(refused.value.problems) == 4 and "hunter2" not in str(refused.value)
    assert "no variable 'TACIT_LIMITS_BODI'. Did you mean 'TACIT_LIMITS_BODY'?" in str(refused.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(BadConfig, match="There is no configuration at"):
        Settings.load(tmp_path / "none.toml", {})
    with pytest.raises(BadConfig, match="cannot be read"):
        Settings.load(tmp_path, {})
    (tmp_path / "latin.toml").write_bytes(b"x = '\xff'")
    with pytest.raises(BadConfig, match="is not text in UTF-8"):
        Settings.load(tmp_path / "latin.toml", {})


@given(
    st.sampled_from([(section, key) for section, kind in SECTIONS.items() for key in kind.__dataclass_fields__]),
    st.text(max_size=30),
)
def test_no_variable_raises_anything_else(key, text):
    """Whatever a variable holds, it is taken or refused with a sentence."""
    section, name = key
    with suppress(BadConfig):
        Settings.load("/dev/null", {f"TACIT_{section}_{name}".upper(): text})


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("[::1]", True), ("localhost", True), ("0.0.0.0", False),
     ("::", False), ("10.0.0.1", False), ("example.org", False), ("localhost.example.org", False), ("", False)],
)  # fmt: skip
def test_loopback(host, local):
    assert loopback(host) is local


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("", "http://127.0.0.1:8765"),
        ("[service]\nhost = '::1'", "http://[::1]:8765"),
        ("[service]\ncertificate = 'c'\nprivate_key = 'k'\nhost = '10.0.0.1'", "https://10.0.0.1:8765"),
        ("[service]\norigin = 'https://tacit.example.org/'", "https://tacit.example.org"),
    ],
)
def test_the_address_in_a_browser(tmp_path, text, address):
    settings = load(tmp_path, text)
    assert settings.address == address and settings.login_link("tacit_x") == f"{address}/login#tacit_x"
