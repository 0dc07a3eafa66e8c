"""Headers of a call, straight from its ASGI scope: a call reads a handful of them, and needs no mapping for that."""

from __future__ import annotations

from starlette.types import Scope


def header(scope: Scope, name: bytes) -> str | None:
    """The first header of this name (in lower case, as ASGI gives it); None without one."""
    for given, value in scope["headers"]:
        if given == name:
            text: str = value.decode("latin-1")
            return text
    return None
