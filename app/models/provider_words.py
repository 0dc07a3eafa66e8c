"""Payment providers in words. The booking system names them by code; support asks for the code, so it stays at hand."""

from __future__ import annotations

from typing import Final

from app.i18n import _, figures, marked

_NAMES: Final = {
    "cash": marked("Cash"),
    "sandbox": marked("Test payments"),
    "stripe": "Stripe",
    "stripe-terminal": marked("Stripe card reader"),
    "zvt": marked("Card terminal"),
}


def provider_name(code: str) -> str:
    """`Card terminal` for `zvt`; a code that is not known here goes by its own name."""
    return _(_NAMES[code]) if code in _NAMES else code


def provider_and_code(code: str) -> str:
    """`Card terminal · zvt`, for support; one of both where they are the same."""
    name = provider_name(code)
    return figures().joined((name, code)) if name != code else code
