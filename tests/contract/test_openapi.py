"""The description that the API gives of itself is valid, and tells of every route."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from openapi_spec_validator import validate

from booking.web.calls import KeyRule, Route
from booking.web.describe import document, document_bytes
from booking.web.routes import ROUTES


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    decoded: dict[str, Any] = msgspec.json.decode(document_bytes(ROUTES))
    return decoded


def operation(description: dict[str, Any], route: Route) -> dict[str, Any]:
    found: dict[str, Any] = description["paths"][route.path]["get" if route.method == "WS" else route.method.lower()]
    return found


def test_the_description_is_valid_openapi(description: dict[str, Any]) -> None:
    validate(description)
    assert description["openapi"].startswith("3.1")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_each_route_is_described(description: dict[str, Any], route: Route) -> None:
    found = operation(description, route)

    assert {str(one.status) for one in route.answers} | {"default"} == set(found["responses"])
    assert found["x-roles"] == sorted("anonymous" if role is None else role for role in route.who)
    assert ("requestBody" in found) == (route.body is not None)
    needs_key = any(one["name"] == "Idempotency-Key" and one["required"] for one in found["parameters"])
    assert needs_key == (route.key is KeyRule.REQUIRED)


def test_nothing_is_described_that_is_no_route(description: dict[str, Any]) -> None:
    described = {(path, method) for path, methods in description["paths"].items() for method in methods}
    assert described == {(route.path, "get" if route.method == "WS" else route.method.lower()) for route in ROUTES}


def test_each_operation_has_a_name_of_its_own(description: dict[str, Any]) -> None:
    names = [operation(description, route)["operationId"] for route in ROUTES]
    assert len(set(names)) == len(names)


def test_each_mutating_route_needs_a_key_or_says_why_not() -> None:
    for route in ROUTES:
        if route.method in {"GET", "WS"}:
            assert route.key is KeyRule.READS
        else:
            assert route.key is not KeyRule.READS
            assert route.key is KeyRule.REQUIRED or route.key.value.startswith("none: ")


def test_schemas_carry_the_bounds_of_the_wire(description: dict[str, Any]) -> None:
    seats = document(ROUTES)["components"]["schemas"]["HoldRequest"]["properties"]["seats"]
    assert seats["maxItems"] == 6
    assert seats["items"]["minimum"] == 0
