"""The answer of a call that carries an idempotency key (R6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """`replayed` tells that the key was seen before: nothing was done this time, nothing was extended."""

    value: T
    replayed: bool
