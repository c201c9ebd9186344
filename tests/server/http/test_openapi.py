"""The description is true: it names every route, status and body, and whatever it says may be sent is answered so."""

import json
import re
from collections import Counter
from collections.abc import Mapping

import pytest

from tacit.server.http.app import all_routes
from tacit.server.service.texts import own_words, public_words

from .conftest import CANARY

PEOPLE = ("owner", "ana", "bob", "carl")


@pytest.fixture(scope="module")
def description(world):
    return world.ask("GET", "/v1/openapi.json").json()


@pytest.fixture(scope="module")
def routes(world):
    return all_routes(world.server._server.config.app.state.door, {})


def test_every_route_is_described_and_no_other(description, routes):
    described = {(method.upper(), path) for path, methods in description["paths"].items() for method in methods}
    assert described == {(route.method, route.path) for route in routes}
    for route in routes:
        operation = description["paths"][route.path][route.method.lower()]
        assert {int(status) for status in operation["responses"]} == route.statuses
        assert ("requestBody" in operation) == (route.body is not None)
        in_path = {p["name"] for p in operation["parameters"] if p["in"] == "path"}
        assert in_path == {*route.parameters} == {*re.findall(r"{(\w+)}", route.path)}


def test_every_reference_leads_somewhere(description):
    text = json.dumps(description)
    wanted = {*re.findall(r'"#/components/schemas/([^"]+)"', text)}
    assert wanted == {*description["components"]["schemas"]}
    assert len(description["components"]["schemas"]) > 50


def try_whatever_is_described(world, who, examples):
    """Send cases that fit the description and cases that do not, to every operation; count the answers by status."""
    import hypothesis
    import schemathesis
    from hypothesis import HealthCheck, settings
    from schemathesis.generation import GenerationMode

    schema = schemathesis.openapi.from_url(f"{world.server.url}/v1/openapi.json")
    schema.config.generation.modes = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
    headers = {} if who is None else {"Authorization": f"Bearer {world.tokens[who]}"}
    seen, tried = Counter(), set()
    operations = [each.ok() for each in schema.get_all_operations()]
    for operation in operations:

        @hypothesis.given(case=operation.as_strategy())
        @settings(max_examples=-(-examples // len(operations)), deadline=None, database=None,
                  suppress_health_check=list(HealthCheck), derandomize=False)  # fmt: skip
        def check(case):
            removes = (case.method.lower(), case.path) == ("delete", "/v1/datasets/{dataset}")
            if "dataset" in (case.path_parameters or {}) and not removes:
                case.path_parameters["dataset"] = world.people
            response = case.call(base_url=world.server.url, headers=headers)
            seen[response.status_code] += 1
            tried.add((case.method, case.path))
            assert response.status_code < 500, (case.method, case.path, case.body, response.text)
            allowed = {int(status) for status in case.operation.definition.raw["responses"]} | {400, 404, 405}
            assert response.status_code in allowed, (case.method, case.path, case.body, response.text)
            text = response.content.decode("utf-8", "replace")
            assert CANARY not in text and "Traceback" not in text
            if response.status_code >= 400:
                assert {*response.json()} == {"error", "request_id"}
                repeated = words_of(response.json()["error"]) & sent_words(case)
                assert not repeated, (case.method, case.path, case.body, response.text)

        check()
    assert len(tried) == len(operations)
    return seen


KNOWN = own_words() | public_words(("people", "person", "age", "region", "note", "north", "south", *PEOPLE))
WORD, NUMBER = re.compile(r"\w+"), re.compile(r"[0-9]{1,20}(e[0-9]{0,3})?")


def words_of(value):
    """All words of the texts in a value, at whatever depth."""
    match value:
        case str():
            return {word.lower() for word in WORD.findall(value)}
        case Mapping():
            return {word for pair in value.items() for each in pair for word in words_of(each)}
        case list() | tuple():
            return {word for each in value for word in words_of(each)}
    return set()


def sent_words(case):
    """The words of a request that a refusal can have from nowhere else: not tacit's own, not public, no numbers."""
    parts = (case.body, case.path_parameters, case.query, case.headers, case.cookies)
    found = {word for part in parts for word in words_of(part)}
    return {word for word in found if word not in KNOWN and not NUMBER.fullmatch(word)}


@pytest.mark.parametrize(("who", "cases"), [("ana", 120), ("owner", 60), (None, 60)])
def test_no_case_of_the_description_fails(world, who, cases):
    assert try_whatever_is_described(world, who, cases).total() >= cases // 2


@pytest.mark.slow
@pytest.mark.parametrize("who", ["ana", "owner", None])
def test_no_case_of_the_description_fails_at_length(world, who):
    assert try_whatever_is_described(world, who, 4000).total() >= 3400
