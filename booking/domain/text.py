"""Texts and instants from outside, as they may be stored: the one boundary between a request and a row (G8, R43)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from booking.domain.card_data import holds_card_data, mask_card_data
from booking.domain.errors import FieldFault, InvalidRequestError

EARLIEST_INSTANT = datetime(2000, 1, 1, tzinfo=UTC)
LATEST_INSTANT = datetime(2100, 1, 1, tzinfo=UTC)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable_texts(texts: Mapping[str, str]) -> tuple[str, ...]:
    """The texts, in their order, without card numbers and track data; `texts` maps a field's pointer to its text.

    For free text and evidence, which cannot be refused: money may depend on it.

    Raises:
        InvalidRequestError: names every field that PostgreSQL cannot store.
    """
    refuse_unstorable(texts)
    return tuple(mask_card_data(text) for text in texts.values())


def refuse_unstorable(texts: Mapping[str, str]) -> None:
    """Refuse NUL bytes and lone surrogates; `texts` maps a field's pointer to its text.

    Raises:
        InvalidRequestError: names every field that holds one.
    """
    _refuse("holds a character that cannot be stored", [at for at, text in texts.items() if not is_storable(text)])


def refuse_card_numbers(texts: Mapping[str, str]) -> None:
    """Refuse a card number where a reference belongs, before anything of it is stored (R43).

    Raises:
        InvalidRequestError: names every field that holds one, without the number.
    """
    _refuse("looks like a card number", [at for at, text in texts.items() if holds_card_data(text)])


def refuse_strange_instants(instants: Mapping[str, datetime]) -> None:
    """Refuse instants without an offset, and those before 2000 or from 2100 on: the wire promises aware UTC.

    Raises:
        InvalidRequestError: names every field that holds one.
    """
    _refuse(
        "must be an instant with an offset, from 2000 to 2099",
        [at for at, instant in instants.items() if not is_sane_instant(instant)],
    )


def is_sane_instant(instant: datetime) -> bool:
    """Whether the instant is aware, and of this century."""
    return instant.utcoffset() is not None and EARLIEST_INSTANT <= instant < LATEST_INSTANT


def is_storable(text: str) -> bool:
    """Whether the text is valid Unicode without NUL."""
    return _UNSTORABLE.search(text) is None


def _refuse(words: str, pointers: list[str]) -> None:
    if pointers:
        faults = tuple(FieldFault(pointer, words) for pointer in pointers)
        raise InvalidRequestError("A field holds what cannot be stored.", fields=faults)
