"""What the till says and hears: builders of commands, and readers of what the terminal tells.

Positional parts (passwords, config byte) come first, then BMPs; the registration has no tag in front of its currency.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo

from app.devices.card_terminal import DayTotals
from app.devices.zvt import codes, fields
from app.devices.zvt.codec import Apdu, ZvtFormatError, decode_bcd, decode_text, encode_bcd
from app.devices.zvt.tlv import Tlv, walk
from app.devices.zvt.totals import read_totals

STATUS_INFORMATION = 0x040F
INTERMEDIATE_STATUS = 0x04FF
STATUS_ENQUIRY = 0x0501
REGISTRATION = 0x0600
AUTHORIZATION = 0x0601
COMPLETION = 0x060F
ABORT = 0x061E
REPEAT_RECEIPT = 0x0620
REVERSAL = 0x0630
REFUND = 0x0631
END_OF_DAY = 0x0650
ABORT_REQUEST = 0x06B0
PRINT_LINE = 0x06D1
PRINT_TEXT_BLOCK = 0x06D3

POSITIVE = Apdu(0x8000)
GOODS_NOT_ISSUED = Apdu(0x8466)
NOT_UNDERSTOOD = Apdu(0x8483)

_TEXT_LINE_TAG = 0x07
_PRINT_TEXTS_TAG = 0x25
_RECEIPT_TYPE_TAG = 0x1F07
_PERMITTED_TAG = 0x26
_COMMAND_TAG = 0x0A
_FILLER = 0xF


def is_positive(apdu: Apdu) -> bool:
    """`80 00`, or its alternative form `84 00`."""
    return apdu.control in {0x8000, 0x8400}


def refusal_code(apdu: Apdu) -> int | None:
    """The error code of `84 xx`, None for anything else."""
    return apdu.control & 0xFF if apdu.control >> 8 == 0x84 and apdu.control != 0x8400 else None


def register(password: int, config: int, currency: str, *, with_tlv: bool) -> Apdu:
    """06 00. `with_tlv` announces that text blocks (06 D3) are understood; some terminals refuse that (84 9A)."""
    data = encode_bcd(password, 3) + bytes([config]) + encode_bcd(codes.currency_number(currency), 2)
    data += fields.encode_fields([(fields.SERVICE, b"\x00")])
    if with_tlv:
        permitted = Tlv(_PERMITTED_TAG, Tlv(_COMMAND_TAG, PRINT_TEXT_BLOCK.to_bytes(2, "big")).encode())
        data += fields.encode_fields([(fields.TLV, permitted.encode())])
    return Apdu(REGISTRATION, data)


def authorize(amount_minor: int, currency: str) -> Apdu:
    """06 01: book a sale of `amount_minor`."""
    return Apdu(
        AUTHORIZATION,
        fields.encode_fields(
            [
                (fields.AMOUNT, encode_bcd(amount_minor, 6)),
                (fields.CURRENCY, encode_bcd(codes.currency_number(currency), 2)),
            ]
        ),
    )


def reverse(password: int, receipt_no: int) -> Apdu:
    """06 30, naming the receipt (T6)."""
    return Apdu(REVERSAL, encode_bcd(password, 3) + fields.encode_fields([(fields.RECEIPT, encode_bcd(receipt_no, 2))]))


def refund(password: int, amount_minor: int, currency: str) -> Apdu:
    """06 31: give `amount_minor` to the card that is presented."""
    money = [
        (fields.AMOUNT, encode_bcd(amount_minor, 6)),
        (fields.CURRENCY, encode_bcd(codes.currency_number(currency), 2)),
    ]
    return Apdu(REFUND, encode_bcd(password, 3) + fields.encode_fields(money))


def end_of_day(password: int) -> Apdu:
    """06 50: settle with the bank and start a new day."""
    return Apdu(END_OF_DAY, encode_bcd(password, 3))


def repeat_receipt(password: int) -> Apdu:
    """06 20: tell the last transaction again."""
    return Apdu(REPEAT_RECEIPT, encode_bcd(password, 3))


def enquire_status() -> Apdu:
    """05 01 without data, as libraries send it."""
    return Apdu(STATUS_ENQUIRY)


@dataclass(frozen=True, slots=True)
class StatusInformation:
    """04 0F, as far as the till needs it. `result_code` and `amount_minor` are None when the frame has none."""

    result_code: int | None
    amount_minor: int | None = None
    currency: str = ""
    trace: int | None = None
    original_trace: int | None = None
    receipt_no: int | None = None
    card_brand: str = ""
    card_last4: str = ""
    terminal_id: str = ""
    clock: tuple[int, int, int, int, int] | None = None
    totals: DayTotals | None = None

    @property
    def approved(self) -> bool:
        """Result code 00 with an amount: one without is not one that we could book. An end of day is no approval."""
        return self.result_code == codes.APPROVED and self.amount_minor is not None and self.totals is None


def read_status_information(data: bytes) -> StatusInformation:
    """Raises `ZvtFormatError` when a field is malformed: half-read money is worse than none."""
    told = fields.decode_fields(data)
    result = told.get(fields.RESULT)
    currency = _number(told, fields.CURRENCY)
    terminal = _number(told, fields.TERMINAL_ID)
    return StatusInformation(
        result_code=None if result is None else result[0],
        amount_minor=_number(told, fields.AMOUNT),
        currency="" if currency is None else codes.currency_name(currency),
        trace=_number(told, fields.TRACE),
        original_trace=_number(told, fields.ORIGINAL_TRACE),
        receipt_no=_number(told, fields.RECEIPT),
        card_brand=_brand(told),
        card_last4=last_four(told.get(fields.PAN) or b""),
        terminal_id="" if terminal is None else f"{terminal:08d}",
        clock=_clock(told),
        totals=read_totals(told),
    )


def booked_at(clock: tuple[int, int, int, int, int], zone: tzinfo, now: datetime) -> datetime | None:
    """Month, day, hour, minute, second of a terminal's clock in `zone` as an aware instant in UTC.

    The terminal tells no year: the one that comes nearest to `now` is taken. None when there is no such moment.
    """
    candidates = []
    for year in (now.year - 1, now.year, now.year + 1):
        try:
            candidates.append(datetime(year, *clock, tzinfo=zone).astimezone(now.tzinfo))
        except ValueError:
            continue
    return min(candidates, key=lambda moment: abs(moment - now), default=None)


def last_four(pan: bytes) -> str:
    """The last four digits of a masked card number, or nothing: more never leaves this function (R43)."""
    nibbles = [nibble for byte in pan for nibble in (byte >> 4, byte & 0xF) if nibble != _FILLER]
    tail = nibbles[-4:]
    if len(tail) < 4 or any(nibble > 9 for nibble in tail):
        return ""
    return "".join(str(nibble) for nibble in tail)


def read_print_line(data: bytes) -> str:
    """06 D1: an attribute byte, then text in the terminal's code page (T10)."""
    return decode_text(data[1:])


def read_text_block(data: bytes) -> tuple[str, ...]:
    """06 D3: the text lines of its TLV container."""
    container = fields.decode_fields(data).get(fields.TLV) or b""
    return tuple(decode_text(element.value) for element in walk(container) if element.tag == _TEXT_LINE_TAG)


def text_block(lines: tuple[bytes, ...], receipt_type: int = 1) -> Apdu:
    """06 D3 as a terminal sends it."""
    texts = Tlv(_PRINT_TEXTS_TAG, b"".join(Tlv(_TEXT_LINE_TAG, line).encode() for line in lines))
    container = Tlv(_RECEIPT_TYPE_TAG, bytes([receipt_type])).encode() + texts.encode()
    return Apdu(PRINT_TEXT_BLOCK, fields.encode_fields([(fields.TLV, container)]))


def read_terminal_status(data: bytes) -> int | None:
    """The status byte of the completion that answers 05 01, behind the software version if that is told."""
    if data and data[0] >> 4 == 0xF:
        size, at = fields.decode_decimal_length(data, 0, 3)
        data = data[at + size :]
    return data[0] if data else None


def _number(told: fields.Fields, tag: int) -> int | None:
    value = told.get(tag)
    return None if value is None else decode_bcd(value)


def _brand(told: fields.Fields) -> str:
    name = told.get(fields.CARD_NAME)
    if name:
        return decode_text(name)
    card_type = told.get(fields.CARD_TYPE)
    return codes.card_type_name(card_type[0]) if card_type else ""


def _clock(told: fields.Fields) -> tuple[int, int, int, int, int] | None:
    date, time = told.get(fields.DATE), told.get(fields.TIME)
    if date is None or time is None:
        return None
    try:
        month, day, hour, minute, second = (decode_bcd(bytes([byte])) for byte in date + time)
    except ZvtFormatError:
        return None
    return month, day, hour, minute, second
