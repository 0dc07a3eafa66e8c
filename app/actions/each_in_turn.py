"""Telling the API of several things: what keeps us from one of them does not keep us from the next (P32)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from backend_client.errors import (
    AnswerUnknownError,
    AnswerUnreadableError,
    BookingClientError,
    ForbiddenError,
)

_OF_ONE = (AnswerUnknownError, AnswerUnreadableError, ForbiddenError)
"""May be about this one alone, and be so again and again; what else it can say it says to all."""


async def each_in_turn(steps: Iterable[Callable[[], Awaitable[bool]]]) -> int:
    """Take each step; how many of them have settled nothing (they answer False).

    Raises:
        BookingClientError: the first trouble with one of them, once all had their turn; or at once where the others
            would meet the same (nobody answers, nobody is signed in).
    """
    left = 0
    trouble: BookingClientError | None = None
    for step in steps:
        try:
            left += not await step()
        except _OF_ONE as error:
            trouble = trouble or error
    if trouble is not None:
        raise trouble
    return left
