"""Strict request bodies, paths and queries: B18, G8, P2, without a server."""

from __future__ import annotations

import pytest
from starlette.types import Message, Receive, Scope

from backend_client import wire
from booking.domain.errors import InvalidRequestError
from booking.web import addresses
from booking.web.bodies import decode_body, digest_of, read_body
from booking.web.problems import BodyTooLargeError, UnsupportedMediaTypeError

LOGIN = b'{"name":%s,"password":"x","device_id":"01a22a11-e276-757e-982a-000000000001","device_name":"Till"}'


def refused(raw: bytes, kind: type[wire.RequestMessage] = wire.HoldRequest) -> str:
    with pytest.raises(InvalidRequestError) as caught:
        decode_body(raw, kind)
    (field,) = caught.value.fields
    return field.pointer


@pytest.mark.parametrize(
    "value", ["-1", "1.5", '"1"', "true", "null", "1e9", "9223372036854775808", "[1]", "16777216", "1.0", "{}"]
)
def test_b18_a_seat_number_of_the_wrong_kind_is_refused_by_name(value: str) -> None:
    assert refused(b'{"seats":[0,%s]}' % value.encode()) == "/seats/1"


@pytest.mark.parametrize("value", ["-1", "1.5", '"1"', "true", "null", "1e9", "9223372036854775808"])
def test_b18_an_amount_of_the_wrong_kind_is_refused_by_name(value: str) -> None:
    raw = b'{"lines":[{"seat_no":1,"price_type_id":1}],"shown_total_minor":%s}' % value.encode()
    assert refused(raw, wire.CheckoutRequest) == "/shown_total_minor"


@pytest.mark.parametrize(
    ("raw", "pointer"),
    [
        (b'{"seats":[1,2,3,4,5,6,7]}', "/seats"),
        (b'{"seats":null}', "/seats"),
        (b'{"tiers":[{"tier_id":1,"quantity":0}]}', "/tiers/0/quantity"),
        (b'{"best_available":{"count":7}}', "/best_available/count"),
        (b'{"best_available":{}}', "/best_available/count"),
        (b'{"seats":[1],"seat":2}', "/seat"),
        (b"[1]", ""),
        (b"", ""),
        (b'{"seats":[1]} {}', ""),
        (b'{"seats":[1}', ""),
        (b'{"seats":[NaN]}', ""),
        (b"[" * 60_000, ""),
    ],
)
def test_what_is_no_hold_request_is_refused_where_it_is_wrong(raw: bytes, pointer: str) -> None:
    assert refused(raw) == pointer


def test_a_fault_deep_in_a_list_is_pointed_at() -> None:
    raw = b'{"lines":[{"seat_no":1,"price_type_id":1},{"seat_no":2,"kind":1}],"shown_total_minor":1}'
    assert refused(raw, wire.CheckoutRequest) == "/lines/1/kind"


@pytest.mark.parametrize(
    "text",
    [b'"A\\u0000B"', b'"A\x00B"', b'"\\ud800"', b'"a\\udfff"', b'"\\ud800\\u0041"', b'"\xed\xa0\x80"', b'"\xff"'],
)
def test_g8_text_with_nul_or_half_a_surrogate_pair_is_refused_by_name(text: bytes) -> None:
    assert refused(LOGIN % text, wire.LoginRequest) == "/name"


def test_g8_text_of_any_language_passes() -> None:
    for text in ('"\\ud83d\\ude00 \\u0641"', '"東京 فيروز São"'):
        assert decode_body(LOGIN % text.encode(), wire.LoginRequest).name


def test_p2_member_order_and_spaces_do_not_change_the_digest_and_a_value_does() -> None:
    first = digest_of("POST", "/v1/x", b'{"a":1,"b":[1,2]}')
    assert first == digest_of("POST", "/v1/x", b' { "b" : [ 1,2 ],\n"a":1 }')
    assert first != digest_of("POST", "/v1/x", b'{"a":1,"b":[2,1]}')
    assert first != digest_of("POST", "/v1/y", b'{"a":1,"b":[1,2]}')
    assert len(first) == 32


@pytest.mark.parametrize(
    ("raw", "pointer"),
    [
        (b'{"seats":[1],"seats":[2]}', "/seats"),
        (b'{"seats" :[1] , "seats": [2]}', "/seats"),
        (b'{"a":"\\u003a","b":1,"b":2}', "/b"),
        (b'{"a":"x:y","a":"x:y"}', "/a"),
        (b'{"lines":[{"k":1},{"k":1,"n":2,"k":3}]}', "/lines/1/k"),
        (b'{"o/p":{"~":1,"~":2}}', "/o~1p/~0"),
        (b'{"a":{"b":1},"a":{"c":2}}', "/a"),
    ],
)
def test_p2_a_member_that_stands_twice_is_refused_by_name(raw: bytes, pointer: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        digest_of("POST", "/v1/x", raw)
    assert [field.pointer for field in caught.value.fields] == [pointer]


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":"\\u003a\\u003A","b":":::"}',
        b'{"a":"\\"b\\":1","b":{"a":[{"a":1},{"a":1}]}}',
        b'{"a":{"a":{"a":"\\u0061"}}}',
        b'[{"a":1},{"a":1}]',
        b'"a:a"',
    ],
)
def test_members_of_one_name_in_different_objects_and_colons_in_texts_are_no_repetition(raw: bytes) -> None:
    assert len(digest_of("POST", "/v1/x", raw)) == 32


def request_with(headers: dict[str, str], *chunks: bytes) -> tuple[Scope, Receive]:
    messages = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    messages.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> Message:
        return messages.pop(0)

    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": "POST", "path": "/", "headers": raw, "query_string": b""}, receive


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=UTF-8", 'application/json;charset="utf-8"']
)
async def test_json_in_utf8_is_read_whole(kind: str) -> None:
    assert await read_body(*request_with({"Content-Type": kind}, b"ab", b"cd"), 4) == b"abcd"


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1"]
)
async def test_other_media_types_are_refused(kind: str) -> None:
    with pytest.raises(UnsupportedMediaTypeError):
        await read_body(*request_with({"Content-Type": kind}, b"{}"), 100)


async def test_a_body_that_is_too_large_is_refused_announced_or_not() -> None:
    with pytest.raises(BodyTooLargeError):
        await read_body(*request_with({"Content-Type": "application/json", "Content-Length": "5"}), 4)
    with pytest.raises(BodyTooLargeError):
        await read_body(*request_with({"Content-Type": "application/json"}, b"abc", b"de"), 4)


@pytest.mark.parametrize(
    ("query", "pointer"), [(b"since=%00", "query:since"), (b"since=%ED%A0%80", "query:since"), (b"%00=1", "query")]
)
def test_g8_a_query_with_nul_or_half_a_surrogate_pair_is_refused_by_name(query: bytes, pointer: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        addresses.parse_query(query)
    assert caught.value.fields[0].pointer == pointer


def test_a_query_is_decoded() -> None:
    assert addresses.parse_query(b"a=1&b=x+y%20z&c=&a=2&&d") == {"a": "2", "b": "x y z", "c": "", "d": ""}


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "x", "", "２", "2147483648", "99999999999999999999", "1\x00"])
def test_an_event_id_of_the_wrong_kind_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        addresses.event_id_of({"event_id": text})
    assert caught.value.fields[0].pointer == "path:event_id"


@pytest.mark.parametrize(
    "text", ["x", "", "01a22a11e276757e982a000000000001", "{01a22a11-e276-757e-982a-000000000001}"]
)
def test_an_id_in_another_form_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        addresses.uuid_of({"hold_id": text}, "hold_id")
    assert caught.value.fields[0].pointer == "path:hold_id"


@pytest.mark.parametrize(("path", "raw"), [("/v1/a\x00", b"/v1/a%00"), ("/v1/\ufffd", b"/v1/%ED%A0%80")])
def test_g8_a_path_with_nul_or_half_a_surrogate_pair_is_refused(path: str, raw: bytes) -> None:
    with pytest.raises(InvalidRequestError):
        addresses.check_path(path, raw)
