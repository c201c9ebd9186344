"""The description is true: it names every route, status and body, and whatever it says may be sent is answered so."""

import json
import re

import pytest

from tacit.server.http.app import all_routes

from .conftest import CANARY


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
    """Send cases that fit the description and cases that do not; count the answers by status."""
    import hypothesis
    import schemathesis
    from hypothesis import HealthCheck, settings
    from schemathesis.generation import GenerationMode

    schema = schemathesis.openapi.from_url(f"{world.server.url}/v1/openapi.json")
    schema.config.generation.modes = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
    headers = {} if who is None else {"Authorization": f"Bearer {world.tokens[who]}"}
    harmful = ("/revoke", "/v1/logout", "/v1/tokens", "/v1/users")
    seen = {}
    operations = [each.ok() for each in schema.get_all_operations()]
    operations = [
        each for each in operations if not any(word in each.path for word in harmful) and each.method != "delete"
    ]
    for operation in operations:

        @hypothesis.given(case=operation.as_strategy())
        @settings(max_examples=max(1, examples // len(operations)), deadline=None, database=None,
                  suppress_health_check=list(HealthCheck), derandomize=False)  # fmt: skip
        def check(case):
            if "dataset" in (case.path_parameters or {}):
                case.path_parameters["dataset"] = world.people
            response = case.call(base_url=world.server.url, headers=headers)
            seen[response.status_code] = seen.get(response.status_code, 0) + 1
            assert response.status_code < 500, (case.method, case.path, case.body, response.text)
            allowed = {int(status) for status in case.operation.definition.raw["responses"]} | {400, 404, 405}
            assert response.status_code in allowed, (case.method, case.path, case.body, response.text)
            text = response.content.decode("utf-8", "replace")
            assert CANARY not in text and "Traceback" not in text
            if response.status_code >= 400:
                assert {*response.json()} == {"error", "request_id"}

        check()
    return seen


@pytest.mark.parametrize(("who", "cases"), [("ana", 120), (None, 60)])
def test_no_case_of_the_description_fails(world, who, cases):
    assert sum(try_whatever_is_described(world, who, cases).values()) >= cases // 2


@pytest.mark.slow
@pytest.mark.parametrize("who", ["ana", "owner", None])
def test_no_case_of_the_description_fails_at_length(world, who):
    assert sum(try_whatever_is_described(world, who, 3500).values()) >= 3000
