"""What a terminal says: the frames of the simulator, from its ledger."""

from __future__ import annotations

from app.devices.zvt import codes, fields, messages
from app.devices.zvt.codec import Apdu, encode_bcd, encode_text
from app.devices.zvt.simulator.ledger import REFUND, SCHEME, Booking, Closing
from app.devices.zvt.totals import write_totals

TERMINAL_ID = 52500041
_CONTRACT = b"TAQUILLA DEMO  "
_CARD = bytes.fromhex("476173eeeeee1111")
_CARD_NAME = SCHEME.encode() + b"\x00"
_CARD_TYPE = b"\x0a"
_FRACTION_DIGITS = {"JPY": 0, "KRW": 0, "VND": 0, "XAF": 0, "KWD": 3, "BHD": 3, "OMR": 3, "JOD": 3, "TND": 3}


def progress(code: int) -> Apdu:
    """04 FF."""
    return Apdu(messages.INTERMEDIATE_STATUS, bytes([code]))


def aborted(code: int) -> Apdu:
    """06 1E."""
    return Apdu(messages.ABORT, bytes([code]))


def refused(code: int) -> Apdu:
    """84 xx."""
    return Apdu(0x8400 | code)


def registered(currency: bytes) -> Apdu:
    """The completion of a registration: ready, who we are, our currency."""
    return Apdu(
        messages.COMPLETION,
        fields.encode_fields(
            [
                (fields.PAYMENT_TYPE, b"\x00"),
                (fields.TERMINAL_ID, encode_bcd(TERMINAL_ID, 4)),
                (fields.CURRENCY, currency),
            ]
        ),
    )


def ready() -> Apdu:
    """The completion of a status enquiry: software version, then status 00."""
    version = b"SIM-1.0"
    return Apdu(messages.COMPLETION, fields.encode_decimal_length(len(version), 3) + version + b"\x00")


def booked(booking: Booking, amount_minor: int | None = None) -> Apdu:
    """04 0F of a stored transaction; `amount_minor` tells another amount than was booked."""
    at = booking.clock
    amount = booking.amount_minor if amount_minor is None else amount_minor
    values = [
        (fields.RESULT, b"\x00"),
        (fields.AMOUNT, encode_bcd(amount, 6)),
        (fields.TRACE, encode_bcd(booking.trace, 3)),
    ]
    if booking.original_trace is not None:
        values.append((fields.ORIGINAL_TRACE, encode_bcd(booking.original_trace, 3)))
    values += [
        (fields.TIME, bytes.fromhex(at.strftime("%H%M%S"))),
        (fields.DATE, bytes.fromhex(at.strftime("%m%d"))),
        (fields.PAN, _CARD),
        (fields.TERMINAL_ID, encode_bcd(TERMINAL_ID, 4)),
        (fields.CONTRACT, _CONTRACT),
        (fields.CURRENCY, encode_bcd(codes.currency_number(booking.currency), 2)),
        (fields.RECEIPT, encode_bcd(booking.receipt_no, 2)),
        (fields.CARD_TYPE, _CARD_TYPE),
        (fields.CARD_NAME, _CARD_NAME),
    ]
    return Apdu(messages.STATUS_INFORMATION, fields.encode_fields(values))


def closed(closing: Closing) -> Apdu:
    """04 0F of an end of day."""
    at = closing.clock
    values = [
        (fields.RESULT, b"\x00"),
        (fields.AMOUNT, encode_bcd(closing.total_minor, 6)),
        (fields.TIME, bytes.fromhex(at.strftime("%H%M%S"))),
        (fields.DATE, bytes.fromhex(at.strftime("%m%d"))),
        (fields.TERMINAL_ID, encode_bcd(TERMINAL_ID, 4)),
        (fields.CURRENCY, encode_bcd(codes.currency_number(closing.currency), 2)),
        (fields.TOTALS, write_totals(closing.totals)),
    ]
    return Apdu(messages.STATUS_INFORMATION, fields.encode_fields(values))


def declined(result_code: int, trace: int) -> Apdu:
    """04 0F of an attempt that the host refused: nothing was booked."""
    values = [
        (fields.RESULT, bytes([result_code])),
        (fields.TRACE, encode_bcd(trace, 3)),
        (fields.TERMINAL_ID, encode_bcd(TERMINAL_ID, 4)),
    ]
    return Apdu(messages.STATUS_INFORMATION, fields.encode_fields(values))


def receipt(booking: Booking) -> tuple[str, ...]:
    """The customer's receipt, with the letters that code pages get wrong (T10)."""
    amount = _figure(booking.amount_minor, booking.currency)
    head = "Gutschrift" if booking.kind == REFUND else "Kartenzahlung"
    head = "Storno" if booking.original_trace is not None else head
    return (
        "K U N D E N B E L E G",
        f"{head} kontaktlos",
        f"Beleg-Nr. {booking.receipt_no:04d}  Trace {booking.trace:06d}",
        f"Betrag {booking.currency} {amount}",
        "Visa ############1111",
        "Bitte für Rückfragen aufbewahren",
        "Straße der Künste 7, Köln",
    )


def day_receipt(closing: Closing) -> tuple[str, ...]:
    """The strip of an end of day."""
    return (
        "K A S S E N S C H N I T T",
        f"Belege {closing.first_receipt:04d} bis {closing.last_receipt:04d}",
        f"Zahlungen {closing.payments}, Gutschriften {closing.refunds}",
        f"Umsätze {closing.currency} {_figure(closing.total_minor, closing.currency)}",
    )


def _figure(amount_minor: int, currency: str) -> str:
    digits = _FRACTION_DIGITS.get(currency, 2)
    whole, rest = divmod(amount_minor, 10**digits)
    return f"{whole},{rest:0{digits}d}" if digits else str(whole)


def print_line(text: str) -> Apdu:
    """06 D1."""
    return Apdu(messages.PRINT_LINE, b"\x00" + encode_text(text))


def print_block(lines: tuple[str, ...]) -> Apdu:
    """06 D3."""
    return messages.text_block(tuple(encode_text(line) for line in lines))
