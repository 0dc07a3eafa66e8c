"""Numbers of ZVT and their names: currencies, result codes, intermediate statuses, card types."""

from __future__ import annotations

from app.devices.card_terminal import Progress, UnsupportedCurrencyError

# ISO 4217 numeric codes of the currencies that events are sold in.
_CURRENCY_NUMBERS = {
    "AED": 784, "AUD": 36, "BHD": 48, "BRL": 986, "CAD": 124, "CHF": 756, "CZK": 203, "DKK": 208, "EGP": 818,
    "EUR": 978, "GBP": 826, "HUF": 348, "ILS": 376, "INR": 356, "ISK": 352, "JOD": 400, "JPY": 392, "KRW": 410,
    "KWD": 414, "MAD": 504, "MXN": 484, "NOK": 578, "NZD": 554, "OMR": 512, "PLN": 985, "QAR": 634, "RON": 946,
    "SAR": 682, "SEK": 752, "SGD": 702, "TND": 788, "TRY": 949, "UGX": 800, "USD": 840, "VND": 704, "XAF": 950,
    "ZAR": 710,
}  # fmt: skip
_CURRENCY_NAMES = {number: name for name, number in _CURRENCY_NUMBERS.items()}

APPROVED = 0x00
DECLINED_BY_HOST = 0x05
ABORTED = 0x6C
NOT_POSSIBLE = 0x83
PROTOCOL_ERROR = 0x9A
BUSY = 0x9C
ALREADY_REVERSED = 0xB4
REVERSAL_NOT_POSSIBLE = 0xB5

_RESULT_NAMES = {
    DECLINED_BY_HOST: "declined-by-host",
    0x64: "card-not-readable",
    0x65: "card-data-missing",
    0x66: "processing-error",
    0x6B: "terminal-not-registered",
    ABORTED: "cancelled-at-terminal",
    0x6E: "card-blocked",
    0x6F: "wrong-currency",
    0x78: "card-expired",
    0x79: "card-not-yet-valid",
    0x7A: "card-unknown",
    NOT_POSSIBLE: "not-possible",
    PROTOCOL_ERROR: "terminal-protocol-error",
    0x9B: "host-unreachable",
    BUSY: "terminal-busy",
    0xA0: "terminal-not-ready",
    0xA1: "host-silent",
    0xA3: "host-unreachable",
    ALREADY_REVERSED: "already-reversed",
    REVERSAL_NOT_POSSIBLE: "reversal-not-possible",
}

INSERT_CARD = 0x0A
ENTER_PIN = 0x01
WAITING_FOR_HOST = 0x04
PLEASE_WAIT = 0x0E
SHOWS_APPROVED = 0x1C
SHOWS_DECLINED = 0x1D

_PROGRESS = {
    0x00: Progress.PLEASE_WAIT,
    ENTER_PIN: Progress.ENTER_PIN,
    WAITING_FOR_HOST: Progress.ASKING_HOST,
    INSERT_CARD: Progress.PRESENT_CARD,
    0x0B: Progress.REMOVE_CARD,
    PLEASE_WAIT: Progress.PLEASE_WAIT,
    SHOWS_APPROVED: Progress.APPROVED,
    SHOWS_DECLINED: Progress.DECLINED,
}

_CARD_TYPES = {
    0x05: "girocard", 0x06: "Mastercard", 0x08: "American Express", 0x0A: "Visa", 0x0C: "Diners", 0x0D: "V PAY",
    0x0E: "JCB", 0x2E: "Maestro",
}  # fmt: skip


def currency_number(currency: str) -> int:
    """ISO 4217 numeric code. Raises `UnsupportedCurrencyError` for one that is not in the table."""
    try:
        return _CURRENCY_NUMBERS[currency]
    except KeyError:
        raise UnsupportedCurrencyError(f"no ISO 4217 number for {currency!r}") from None


def currency_name(number: int) -> str:
    """ISO 4217 letters, or the number as three digits when it is not in the table (which then matches nothing)."""
    return _CURRENCY_NAMES.get(number, f"{number:03d}")


def result_name(code: int) -> str:
    """Kebab-case name of a result, abort or error code; below 64 hex the host's own code in decimal."""
    if code in _RESULT_NAMES:
        return _RESULT_NAMES[code]
    return f"host-code-{code:02d}" if code < 0x64 else f"terminal-code-{code:02x}"


def progress_of(code: int) -> Progress:
    """What an intermediate status means for the clerk; unknown ones ask to wait."""
    return _PROGRESS.get(code, Progress.PLEASE_WAIT)


def card_type_name(card_type: int) -> str:
    """Brand of a ZVT card type, empty when unknown."""
    return _CARD_TYPES.get(card_type, "")
