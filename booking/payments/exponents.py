"""How each provider counts each currency: a table, and no guess for what is not in it (P20–P22).

The order's amounts are in ISO 4217 minor units. A provider may count in other steps: the exponent belongs to the pair.
A provider may also take only multiples of a step: what does not fit is refused, never rounded.

Stripe: docs.stripe.com/currencies. ISK and UGX have no decimals left, but are still counted in hundredths there
("special cases"); amounts of three decimals must end in 0.
"""

from __future__ import annotations

from booking.domain.currencies import EXPONENTS

_TWO = "AED AUD BRL CAD CHF CZK DKK EGP EUR GBP HUF ILS INR MAD MXN NOK NZD PLN QAR RON SAR SEK SGD TRY USD ZAR"
_NONE = "CLP ISK JPY KRW UGX VND XAF"
_THREE = "BHD JOD KWD OMR TND"
_SANDBOX = {
    **dict.fromkeys(_TWO.split(), 2),
    **dict.fromkeys(_NONE.split(), 0),
    **dict.fromkeys(_THREE.split(), 3),
}
_STRIPE = {
    **dict.fromkeys(_TWO.split(), 2),
    **dict.fromkeys(["CLP", "JPY", "KRW", "VND", "XAF"], 0),
    **dict.fromkeys(["ISK", "UGX"], 2),
    **dict.fromkeys(_THREE.split(), 3),
}
PROVIDER_EXPONENTS: dict[tuple[str, str], int] = {
    **{("sandbox", currency): exponent for currency, exponent in _SANDBOX.items()},
    **{("stripe", currency): exponent for currency, exponent in _STRIPE.items()},
    **{("stripe-terminal", currency): exponent for currency, exponent in _STRIPE.items()},
}
PROVIDER_STEPS: dict[tuple[str, str], int] = {
    **{("stripe", currency): 10 for currency in _THREE.split()},
    **{("stripe-terminal", currency): 10 for currency in _THREE.split()},
}
"""Amounts, as the provider counts, are multiples of this; 1 where nothing is said."""
PROVIDERS = frozenset(provider for provider, _ in PROVIDER_EXPONENTS)


class UnknownExponentError(ValueError):
    """The provider's way of counting this currency is not in the table: a guess would be wrong by a factor of ten."""

    code = "unknown-exponent"


class InexactAmountError(ValueError):
    """The amount has no exact form in the provider's steps."""

    code = "inexact-amount"


def provider_amount(provider: str, currency: str, amount_minor: int) -> int:
    """`amount_minor` (ISO minor units) as the provider counts.

    Raises `UnknownExponentError`, `InexactAmountError`, and `TypeError` for anything but an int (P23).
    """
    amount = _shifted(amount_minor, _more_decimals(provider, currency))
    step = PROVIDER_STEPS.get((provider, currency), 1)
    if amount % step:
        raise InexactAmountError(f"{provider} takes {currency} in steps of {step}: {amount} is none of them")
    return amount


def ledger_amount(provider: str, currency: str, amount: int) -> int:
    """What the provider counted, in ISO minor units. Raises as `provider_amount`."""
    return _shifted(amount, -_more_decimals(provider, currency))


def _more_decimals(provider: str, currency: str) -> int:
    """How many decimals more than ISO 4217 the provider counts; negative when fewer."""
    exponent = PROVIDER_EXPONENTS.get((provider, currency))
    if exponent is None or currency not in EXPONENTS:
        raise UnknownExponentError(f"how {provider!r} counts {currency!r} is not known")
    return exponent - EXPONENTS[currency]


def _shifted(amount: int, shift: int) -> int:
    if isinstance(amount, bool) or not isinstance(amount, int):
        raise TypeError(f"an amount is a whole number of minor units, not {type(amount).__name__}")
    factor: int = 10 ** abs(shift)
    if shift >= 0:
        return amount * factor
    quotient, rest = divmod(amount, factor)
    if rest:
        raise InexactAmountError(f"{amount} has no exact form with {-shift} decimals less")
    return quotient
