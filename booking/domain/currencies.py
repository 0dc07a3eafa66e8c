"""Minor units of currencies and prices typed by people (ISO 4217; cases P21, P23).

Amounts are whole minor units everywhere; a decimal number of major units exists only where a person types a price. How
a payment provider counts is the provider's own table, not this one.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from booking.domain.errors import FieldFault, InvalidRequestError
from booking.domain.model import MAX_AMOUNT_MINOR

_TWO_DECIMALS = (
    "AED ARS AUD BGN BRL CAD CHF CNY COP CZK DKK EGP EUR GBP GEL HKD HUF IDR ILS INR KES MAD MXN MYR NGN NOK NZD "
    "PEN PHP PKR PLN QAR RON RSD SAR SEK SGD THB TRY TWD UAH USD UYU ZAR"
)
_NO_DECIMALS = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
_THREE_DECIMALS = "BHD IQD JOD KWD LYD OMR TND"
EXPONENTS: dict[str, int] = {
    **dict.fromkeys(_TWO_DECIMALS.split(), 2),
    **dict.fromkeys(_NO_DECIMALS.split(), 0),
    **dict.fromkeys(_THREE_DECIMALS.split(), 3),
}
# Card networks settle three-decimal currencies in steps of ten minor units; a price they cannot charge is no price.
_THREE_DECIMAL_STEP = 10


def exponent_of(currency: str, *, pointer: str = "/currency") -> int:
    """How many decimals the currency has.

    Raises:
        InvalidRequestError: The currency is not in the table; a guess would be wrong by a factor of ten or more.
    """
    exponent = EXPONENTS.get(currency)
    if exponent is None:
        fault = FieldFault(pointer, f'"{currency}" is no currency that can be sold in')
        raise InvalidRequestError("The currency is not known.", fields=(fault,))
    return exponent


def minor_amount(major: str | int | Decimal, currency: str, *, pointer: str = "/prices") -> int:
    """The minor units of an amount that a person typed: ("7.5", KWD) → 7500, ("80", JPY) → 80, ("0.29", EUR) → 29.

    Raises:
        TypeError: `major` is a float: it has already lost what was typed (P23).
        InvalidRequestError: No number, too many decimals, negative, too large, or not chargeable (P21).
    """
    if isinstance(major, bool) or not isinstance(major, (str, int, Decimal)):
        raise TypeError(f"an amount of money is a text, an int or a Decimal, not {type(major).__name__}")
    exponent = exponent_of(currency)
    try:
        scaled = Decimal(major).scaleb(exponent)
    except InvalidOperation as error:
        raise _refusal(pointer, f'"{major}" is no amount') from error
    if not scaled.is_finite() or scaled != scaled.to_integral_value():
        raise _refusal(pointer, f"{major} {currency}: the currency has {exponent} decimals")
    amount = int(scaled)
    check_price(amount, currency, pointer=pointer)
    return amount


def check_price(amount_minor: int, currency: str, *, pointer: str) -> None:
    """Refuse a price that is out of range, or that no card can be charged exactly (P21).

    Raises:
        TypeError: `amount_minor` is not an int (P23).
        InvalidRequestError: See above.
    """
    if isinstance(amount_minor, bool) or not isinstance(amount_minor, int):
        raise TypeError(f"a price is a whole number of minor units, not {type(amount_minor).__name__}")
    if not 0 <= amount_minor <= MAX_AMOUNT_MINOR:
        raise _refusal(pointer, f"{amount_minor} is not between 0 and {MAX_AMOUNT_MINOR}")
    if exponent_of(currency) == 3 and amount_minor % _THREE_DECIMAL_STEP:
        raise _refusal(pointer, f"cards are charged in {currency} with a last decimal of 0; {amount_minor} has another")


def _refusal(pointer: str, message: str) -> InvalidRequestError:
    return InvalidRequestError("The price cannot be used.", fields=(FieldFault(pointer, message),))
