"""OpenAPI 3.1, made from the table of routes and the wire's messages; served at `/v1/openapi.json`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec
from starlette.responses import Response

from backend_client import wire
from booking.web.calls import Answer, Call, KeyRule, Route

Json = dict[str, Any]

_PATH_VALUE = re.compile(r"\{(\w+)\}")
_OTHERS_IN_PATHS: Json = {
    "event_id": {"type": "integer", "minimum": 1},
    "seat_no": {"type": "integer", "minimum": 0},
    "tier_id": {"type": "integer", "minimum": 0},
    "provider": {"type": "string", "minLength": 1},
}
_SCHEMA_AT = "#/components/schemas/{name}"


async def openapi(_: Call) -> Response:
    """This API, described."""
    from booking.web.routes import ROUTES

    return Response(document_bytes(ROUTES), media_type="application/json")


@cache
def document_bytes(routes: tuple[Route, ...]) -> bytes:
    """The description as JSON."""
    return msgspec.json.encode(document(routes))


def document(routes: Iterable[Route]) -> Json:
    """The description of these routes."""
    routes = tuple(routes)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Taquilla booking API",
            "version": _version(),
            "description": "Errors are application/problem+json with a stable `code`. Money is integer minor units.",
        },
        "paths": _paths(routes),
        "components": {
            "schemas": _schemas(routes),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "responses": {"Problem": _problem_response()},
        },
    }


def _version() -> str:
    try:
        return version("taquilla")
    except PackageNotFoundError:
        return "0"


def _paths(routes: tuple[Route, ...]) -> Json:
    paths: Json = {}
    for route in routes:
        # A WebSocket begins as a GET; OpenAPI has no other word for it.
        method = "get" if route.method == "WS" else route.method.lower()
        paths.setdefault(route.path, {})[method] = _operation(route)
    return paths


def _operation(route: Route) -> Json:
    operation: Json = {
        "operationId": _operation_id(route),
        "summary": route.words,
        "parameters": [*_path_parameters(route), *_query_parameters(route), *_header_parameters(route)],
        "responses": {str(one.status): _response(one) for one in route.answers}
        | {"default": {"$ref": "#/components/responses/Problem"}},
        "security": _security(route),
        "x-roles": sorted("anonymous" if role is None else str(role) for role in route.who),
        "x-idempotency-key": route.key.value,
    }
    if route.body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": _ref(route.body)}}}
    return operation


def _operation_id(route: Route) -> str:
    return f"{route.handler.__module__.rpartition('.')[2]}.{route.handler.__name__}"


def _security(route: Route) -> list[Json]:
    needed: list[Json] = [{"bearer": []}]
    return [{}, *needed] if None in route.who else needed


def _path_parameters(route: Route) -> Iterable[Json]:
    for name in _PATH_VALUE.findall(route.path):
        schema = _OTHERS_IN_PATHS.get(name) or {"type": "string", "format": "uuid"}
        yield {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameters(route: Route) -> Iterable[Json]:
    for one in route.query:
        yield {"name": one.name, "in": "query", "schema": {"type": one.kind}, "description": one.words}


def _header_parameters(route: Route) -> Iterable[Json]:
    if route.key is KeyRule.REQUIRED:
        schema = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"}
        yield {"name": wire.IDEMPOTENCY_KEY_HEADER, "in": "header", "required": True, "schema": schema}


def _response(one: Answer) -> Json:
    if one.message is not None:
        return {"description": one.words, "content": {one.media_type: {"schema": _ref(one.message)}}}
    if one.status == 200:
        schema: Json = {} if one.media_type != "application/json" else {"type": "object"}
        return {"description": one.words, "content": {one.media_type: {"schema": schema}}}
    return {"description": one.words}


def _problem_response() -> Json:
    return {
        "description": "What went wrong, by `code`",
        "content": {wire.PROBLEM_MEDIA_TYPE: {"schema": _ref(wire.Problem)}},
    }


def _ref(message: type[msgspec.Struct]) -> Json:
    return {"$ref": _SCHEMA_AT.format(name=message.__name__)}


def _schemas(routes: tuple[Route, ...]) -> Json:
    messages: dict[type[msgspec.Struct], None] = {wire.Problem: None}
    for route in routes:
        messages |= dict.fromkeys(one.message for one in route.answers if one.message is not None)
        if route.body is not None:
            messages[route.body] = None
    for frame in (wire.FeedHello, wire.FeedBeat, wire.FeedResync, wire.FeedDelta):
        messages[frame] = None
    _, components = msgspec.json.schema_components(list(messages), ref_template=_SCHEMA_AT)
    return dict(components)
