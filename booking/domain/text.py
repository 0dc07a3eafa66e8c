"""Texts from outside: what PostgreSQL cannot store is refused by name, before it gets there (G8)."""

from __future__ import annotations

from booking.domain.errors import FieldFault, InvalidRequestError


def refuse_unstorable(texts: dict[str, str]) -> None:
    """Refuse NUL bytes and lone surrogates; `texts` maps a field's pointer to its text.

    Raises:
        InvalidRequestError: names every field that holds one.
    """
    faults = tuple(
        FieldFault(pointer, "holds a character that cannot be stored")
        for pointer, text in texts.items()
        if not is_storable(text)
    )
    if faults:
        raise InvalidRequestError("A text holds a character that cannot be stored.", fields=faults)


def is_storable(text: str) -> bool:
    """Whether the text is valid Unicode without NUL."""
    return "\x00" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
