"""Framing, numbers, fields and TLV of ZVT: exact bytes, and round trips for everything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.devices.zvt import fields
from app.devices.zvt.codec import Apdu, FrameReader, ZvtFormatError, decode_bcd, decode_text, encode_bcd, encode_text
from app.devices.zvt.tlv import Tlv, decode_length, decode_tlvs, encode_length, walk

apdus = st.builds(Apdu, st.integers(0, 0xFFFF), st.binary(max_size=600))


@pytest.mark.parametrize(
    ("apdu", "wire"),
    [
        (Apdu(0x8000), "80 00 00"),
        (Apdu(0x0620, bytes.fromhex("123456")), "06 20 03 12 34 56"),
        (Apdu(0x04FF, b"\x0a"), "04 FF 01 0A"),
        (Apdu(0x06D3, bytes(254)), "06 D3 FE" + "00" * 254),
        (Apdu(0x06D3, bytes(255)), "06 D3 FF FF 00" + "00" * 255),
        (Apdu(0x06D3, bytes(300)), "06 D3 FF 2C 01" + "00" * 300),
    ],
)
def test_frames_have_exactly_these_bytes(apdu: Apdu, wire: str) -> None:
    assert apdu.encode() == bytes.fromhex(wire)
    assert FrameReader().feed(bytes.fromhex(wire)) == [apdu]


def test_a_frame_above_65535_bytes_is_refused() -> None:
    with pytest.raises(ZvtFormatError):
        Apdu(0x06D3, bytes(0x10000)).encode()


@given(st.lists(apdus, max_size=6), st.data())
def test_split_and_glued_frames_come_out_whole_and_in_order(sent: list[Apdu], data: st.DataObject) -> None:
    stream = b"".join(apdu.encode() for apdu in sent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    reader = FrameReader()
    received = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        received += reader.feed(stream[start:end])
    assert received == sent
    assert reader.pending == 0


def test_half_a_frame_is_kept_until_the_rest_comes() -> None:
    reader = FrameReader()
    assert reader.feed(bytes.fromhex("04 FF")) == []
    assert reader.pending == 2
    assert reader.feed(bytes.fromhex("01 0A 80")) == [Apdu(0x04FF, b"\x0a")]
    assert reader.pending == 1


@given(st.integers(0, 10**12 - 1))
def test_amounts_survive_packed_decimal(amount: int) -> None:
    packed = encode_bcd(amount, 6)
    assert len(packed) == 6
    assert decode_bcd(packed) == amount


def test_packed_decimals_have_exactly_these_bytes() -> None:
    assert encode_bcd(1250, 6).hex() == "000000001250"
    assert encode_bcd(978, 2).hex() == "0978"


@pytest.mark.parametrize(("number", "size"), [(10**12, 6), (-1, 6), (1000, 1)])
def test_a_number_that_does_not_fit_is_refused(number: int, size: int) -> None:
    with pytest.raises(ZvtFormatError):
        encode_bcd(number, size)


@pytest.mark.parametrize("raw", ["1a", "f0", ""])
def test_nibbles_above_nine_are_no_number(raw: str) -> None:
    with pytest.raises(ZvtFormatError):
        decode_bcd(bytes.fromhex(raw))


def test_t10_receipt_text_keeps_its_umlauts() -> None:
    assert decode_text(bytes.fromhex("4b 94 6c 6e 20 81 62 65 72 20 47 72 94 e1 65")) == "Köln über Größe"
    assert encode_text("Bitte für Rückfragen") == b"Bitte f\x81r R\x81ckfragen"
    assert encode_text("漢") == b"?"


def test_padding_of_text_is_dropped() -> None:
    assert decode_text(b"Visa\x00\x00") == "Visa"


def test_fields_have_exactly_these_bytes() -> None:
    encoded = fields.encode_fields(
        [
            (fields.RESULT, b"\x00"),
            (fields.AMOUNT, encode_bcd(1250, 6)),
            (fields.PAN, bytes.fromhex("476173eeeeee1111")),
            (fields.CURRENCY, bytes.fromhex("0978")),
            (fields.CARD_NAME, b"Visa\x00"),
        ]
    )
    assert encoded.hex(" ") == (
        "27 00 04 00 00 00 00 12 50 22 f0 f8 47 61 73 ee ee ee 11 11 49 09 78 8b f0 f5 56 69 73 61 00"
    )


_FIXED_SIZES = {
    fields.AMOUNT: 6,
    fields.TRACE: 3,
    fields.TIME: 3,
    fields.DATE: 2,
    fields.RESULT: 1,
    fields.CONTRACT: 15,
}
_TAGS = [*_FIXED_SIZES, fields.PAN, fields.CARD_NAME, fields.TEXT, fields.TOTALS, fields.TLV]


@given(st.lists(st.sampled_from(_TAGS), unique=True), st.data())
def test_fields_survive_a_round_trip(tags: list[int], data: st.DataObject) -> None:
    values = {}
    for tag in tags:
        size = _FIXED_SIZES.get(tag)
        smallest, largest = (size, size) if size is not None else (0, 99)
        values[tag] = data.draw(st.binary(min_size=smallest, max_size=largest))
    told = fields.decode_fields(fields.encode_fields(values.items()))
    assert told.values == values
    assert told.unread == b""


def test_an_unknown_tag_ends_the_reading_and_keeps_what_was_read() -> None:
    told = fields.decode_fields(bytes.fromhex("27 00 FE 01 02"))
    assert told.values == {fields.RESULT: b"\x00"}
    assert told.unread == bytes.fromhex("FE 01 02")


@pytest.mark.parametrize("raw", ["04 00 00 00", "22 f1", "22 18 00", "22 f0 f9 00", "06 05 00", "06 84 00", "06"])
def test_a_field_that_is_cut_short_is_malformed(raw: str) -> None:
    with pytest.raises(ZvtFormatError):
        fields.decode_fields(bytes.fromhex(raw))


@pytest.mark.parametrize(("tag", "value"), [(fields.AMOUNT, bytes(5)), (0xFE, b""), (fields.PAN, bytes(100))])
def test_a_field_that_cannot_be_written_is_refused(tag: int, value: bytes) -> None:
    with pytest.raises(ZvtFormatError):
        fields.encode_fields([(tag, value)])


@given(st.binary(max_size=80))
def test_any_bytes_are_fields_or_malformed_never_another_error(raw: bytes) -> None:
    try:
        told = fields.decode_fields(raw)
    except ZvtFormatError:
        return
    assert raw.endswith(told.unread)


@pytest.mark.parametrize(("size", "wire"), [(0, "00"), (127, "7f"), (128, "8180"), (255, "81ff"), (256, "820100")])
def test_tlv_lengths_have_exactly_these_bytes(size: int, wire: str) -> None:
    assert encode_length(size).hex() == wire
    assert decode_length(bytes.fromhex(wire) + bytes(1), 0)[0] == size


@given(st.lists(st.builds(Tlv, st.sampled_from([0x07, 0x09, 0x1F07, 0x1F8101]), st.binary(max_size=300)), max_size=5))
def test_tlvs_survive_a_round_trip_nested_and_side_by_side(inner: list[Tlv]) -> None:
    body = b"".join(element.encode() for element in inner)
    assert decode_tlvs(body) == inner
    nested = Tlv(0x25, body)
    assert nested.constructed
    assert list(walk(nested.encode())) == inner


@given(st.binary(max_size=60))
def test_any_bytes_are_tlvs_or_malformed_never_another_error(raw: bytes) -> None:
    try:
        elements = list(walk(raw))
    except ZvtFormatError:
        return
    assert sum(len(element.value) for element in elements) <= len(raw)
