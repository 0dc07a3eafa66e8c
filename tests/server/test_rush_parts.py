"""The parts of the load tool: histogram, arrivals, popularity, HTTP answers, counts, charts."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from xml.etree import ElementTree as ET

import msgspec
import pytest

from booking import charts, histogram
from booking.histogram import Histogram
from booking.plain_http.message import LARGEST_HEAD, Answer, AnswerReader, BrokenAnswerError, request_bytes
from booking.rush.arrivals import BURST_SHARE, BURSTS, POISSON, arrivals
from booking.rush.office import code_of
from booking.rush.plan import Server
from booking.rush.popularity import SeatPicker
from booking.rush.shopper import retry_after_s
from booking.rush.tally import KindCounts, Tally

# ---------------------------------------------------------------- histogram


def test_every_value_has_one_bucket_and_buckets_have_no_gaps() -> None:
    for bucket in range(histogram.BUCKETS - 1):
        assert histogram.bucket_of(histogram.largest_of(bucket)) == bucket
        assert histogram.bucket_of(histogram.largest_of(bucket) + 1) == bucket + 1
    assert histogram.bucket_of(0) == 0
    assert histogram.largest_of(histogram.BUCKETS - 1) == histogram.LARGEST_US
    assert histogram.BUCKETS < 2_000  # flat, whatever comes


@pytest.mark.parametrize("scale", [1e-5, 1e-3, 1.0])
def test_quantiles_are_within_one_part_in_64_of_the_truth(scale: float) -> None:
    rng = Random(5)
    values = sorted(rng.lognormvariate(0, 1.5) * scale for _ in range(5_000))
    measured = Histogram()
    for value in values:
        measured.record(value)
    for share in (0.01, 0.5, 0.9, 0.99, 0.999, 1.0):
        truth = values[max(0, -(-int(share * 1_000 * len(values)) // 1_000) - 1)] * 1_000
        assert measured.quantile_ms(share) == pytest.approx(truth, rel=1 / 60, abs=0.002)


def test_merged_histograms_are_one() -> None:
    apart, together = [Histogram(), Histogram()], Histogram()
    rng = Random(6)
    for number in range(1_000):
        value = rng.expovariate(10)
        apart[number % 2].record(value)
        together.record(value)
    sum_of_both = Histogram()
    for part in apart:
        sum_of_both.merge(part)
    assert (sum_of_both.sparse(), sum_of_both.total, sum_of_both.largest_us) == (
        together.sparse(), 1_000, together.largest_us,
    )  # fmt: skip


def test_values_out_of_range_are_counted_at_its_ends() -> None:
    measured = Histogram()
    assert measured.quantile_ms(0.5) == 0
    measured.record(-1)
    measured.record(1e9)
    assert measured.quantile_ms(0.5) == 0
    assert measured.quantile_ms(1) == histogram.LARGEST_US / 1000


# ---------------------------------------------------------------- arrivals and wishes


@pytest.mark.parametrize("shape", [POISSON, BURSTS])
def test_arrivals_are_in_order_within_the_time_and_as_many_as_asked_for(shape: str) -> None:
    at = list(arrivals(shape, Random(1), 500, 20))
    assert at == sorted(at)
    assert at[0] >= 0
    assert at[-1] < 20
    assert len(at) == pytest.approx(10_000, rel=0.05)
    assert list(arrivals(shape, Random(1), 0, 20)) == []


def test_bursts_come_at_one_instant_and_single_visitors_do_not() -> None:
    at = list(arrivals(BURSTS, Random(1), 500, 20))
    together = sum(1 for one, other in pairwise(at) if one == other)
    assert together == pytest.approx(len(at) * BURST_SHARE, rel=0.1)
    alone = list(arrivals(POISSON, Random(1), 500, 20))
    assert sum(1 for one, other in pairwise(alone) if one == other) == 0


def test_wishes_are_one_to_six_neighbours_and_the_front_is_wanted_most() -> None:
    picker = SeatPicker(1_000, 0.8, Random(2))
    wishes = [picker.popular() for _ in range(4_000)]
    assert {len(wish) for wish in wishes} == {1, 2, 3, 4, 5, 6}
    for wish in wishes:
        assert wish == tuple(range(wish[0], wish[0] + len(wish)))
        assert 0 <= wish[0] <= wish[-1] < 1_000
    front = sum(wish[0] < 100 for wish in wishes)
    assert front > 2 * 400  # evenly it would be about 400
    even = SeatPicker(1_000, 0.0, Random(2))
    assert sum(even.popular()[0] < 100 for _ in range(4_000)) == pytest.approx(400, rel=0.25)


def test_friends_want_seats_that_overlap_in_mixed_order() -> None:
    picker = SeatPicker(100, 0.5, Random(3))
    groups = [picker.friends() for _ in range(500)]
    assert {len(group) for group in groups} == {2, 3, 4}
    assert all(set(group[0]) & set(group[1]) for group in groups if len(group[0]) > 1)
    assert any(list(wish) != sorted(wish) for group in groups for wish in group)
    for group in groups:
        assert all(0 <= seat < 100 for wish in group for seat in wish)


def test_a_hall_of_six_seats_is_enough_for_everybody() -> None:
    picker = SeatPicker(6, 1.0, Random(3))
    assert all(set(wish) <= set(range(6)) for _ in range(200) for wish in picker.friends())
    assert picker.anywhere(6) == (0, 1, 2, 3, 4, 5)


# ---------------------------------------------------------------- HTTP


SIZED = b"HTTP/1.1 201 Created\r\nContent-Length: 5\r\nRetry-After:  3\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n"
BODILESS = b'HTTP/1.1 304 Not Modified\r\nETag: "7"\r\n\r\n'


@pytest.mark.parametrize(
    ("raw", "status", "body"), [(SIZED, 201, b"hello"), (CHUNKED, 200, b"hello"), (BODILESS, 304, b"")]
)
def test_an_answer_is_whole_only_with_its_last_byte(raw: bytes, status: int, body: bytes) -> None:
    for size in (1, 2, 7, len(raw)):
        reader = AnswerReader()
        pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
        answers = [reader.feed(piece) for piece in pieces]
        assert answers[:-1] == [None] * (len(pieces) - 1)
        assert answers[-1] is not None
        assert (answers[-1].status, answers[-1].body) == (status, body)
        assert not reader.closing


def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    reader = AnswerReader()
    assert reader.feed(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhel") is None
    assert reader.feed(b"lo") is None
    assert reader.closing
    assert reader.ended().body == b"hello"


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        SIZED + b"more", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"x" * (LARGEST_HEAD + 1),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_refused(raw: bytes) -> None:
    with pytest.raises(BrokenAnswerError):
        AnswerReader().feed(raw)


@pytest.mark.parametrize("raw", [b"", b"HTTP/1.1 20", SIZED[:-1], CHUNKED[:-4]])
def test_an_answer_that_is_cut_off_is_none(raw: bytes) -> None:
    reader = AnswerReader()
    reader.feed(raw)
    with pytest.raises(BrokenAnswerError):
        reader.ended()


def test_a_request_says_what_it_must() -> None:
    raw = request_bytes("POST", "/v1/x", "h:1", token="t", key="k", body=b"{}", headers="A: b\r\n")
    head, _, body = raw.partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[0] == b"POST /v1/x HTTP/1.1"
    assert {b"Host: h:1", b"Authorization: Bearer t", b"Idempotency-Key: k", b"Content-Length: 2", b"A: b"} <= set(
        head.split(b"\r\n")
    )
    assert body == b"{}"
    assert b"Content-Length: 0" in request_bytes("DELETE", "/v1/x", "h:1")
    assert b"Content-Length" not in request_bytes("GET", "/v1/x", "h:1")


@pytest.mark.parametrize(
    ("status", "told", "expected"),
    [(503, b"2", 2.0), (429, b"1", 1.0), (503, b"", None), (503, b"soon", None), (409, b"2", None)],
)
def test_only_shed_load_is_asked_to_come_back(status: int, told: bytes, expected: float | None) -> None:
    assert retry_after_s(Answer(status, {b"retry-after": told}, b"")) == expected
    assert retry_after_s(None) is None


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [(201, b'{"code": "x"}', ""), (409, b'{"code": "seats-taken"}', "seats-taken"), (502, b"<html>", "no-problem")],
)
def test_refusals_are_counted_by_their_code(status: int, body: bytes, code: str) -> None:
    assert code_of(Answer(status, {}, body)) == code


@pytest.mark.parametrize(
    ("url", "host", "port", "tls"),
    [
        ("http://127.0.0.1:8080", "127.0.0.1", 8080, False), ("https://a.example", "a.example", 443, True),
        ("http://[::1]:7/", "::1", 7, False), ("http://localhost", "localhost", 80, False),
    ],
)  # fmt: skip
def test_addresses_of_servers(url: str, host: str, port: int, tls: bool) -> None:
    assert Server.of_url(url) == Server(host=host, port=port, tls=tls)
    assert Server.of_url(Server.of_url(url).url) == Server.of_url(url)


# ---------------------------------------------------------------- counts


def test_every_request_ends_in_exactly_one_way() -> None:
    tally = Tally()
    tally.offered = 8
    for status in (201, 409, 422, 503, 429, 500, 502):
        tally.answered(status, "", 0.001)
    assert tally.unanswered == 1
    tally.broken("timeout", 10.0)
    assert (tally.done, tally.shed, tally.failed, tally.unanswered) == (3, 2, 3, 0)
    # Shed load is answered at once and would flatter the latencies; who gave up has waited that long.
    assert tally.latency.total == 4
    assert tally.latency.largest_us == 10_000_000


def test_counts_survive_the_way_to_the_conductor() -> None:
    tally, sum_of_all = Tally(), Tally()
    tally.offered = 2
    tally.answered(201, "", 0.002)
    sent = msgspec.json.encode(tally.take())
    assert (tally.offered, tally.done, tally.latency.total, dict(tally.answers)) == (0, 0, 0, {})
    tally.answered(409, "seats-taken", 0.004)
    for line in (sent, msgspec.json.encode(tally.take())):
        sum_of_all.add(msgspec.json.decode(line, type=KindCounts))
    assert (sum_of_all.offered, sum_of_all.done, sum_of_all.unanswered) == (2, 2, 0)
    assert dict(sum_of_all.answers) == {"201": 1, "409 seats-taken": 1}
    assert sum_of_all.latency.quantile_ms(1) == pytest.approx(4, rel=0.02)


# ---------------------------------------------------------------- charts


def test_a_chart_is_well_formed_and_keeps_its_lines_within_itself() -> None:
    lines = [
        charts.Line("a < b & c", [(0, 0.0), (1, 50.0), (2, 1_234.5)]),
        charts.Line("flat", [(0, 0.0), (1, 0.0), (2, 0.0)]),
    ]
    for logarithmic in (False, True):
        svg = ET.fromstring(charts.time_chart("Title <&>", "ms", lines, logarithmic=logarithmic))
        drawn = [node.attrib["points"] for node in svg.iter() if node.tag.endswith("polyline")]
        assert len(drawn) == 2
        for points in drawn:
            for point in points.split():
                x, y = map(float, point.split(","))
                assert 0 <= x <= charts.WIDTH
                assert 0 <= y <= charts.HEIGHT
        assert "a < b & c" in [node.text for node in svg.iter() if node.tag.endswith("text")]


def test_a_chart_of_nothing_is_still_a_chart() -> None:
    svg = ET.fromstring(charts.time_chart("Nothing", "ms", [charts.Line("none", [])]))
    assert svg.tag.endswith("svg")


@pytest.mark.parametrize("largest", [0.0, 0.3, 1, 7, 99.9, 100, 12_345])
def test_axes_reach_above_the_largest_value_with_few_round_ticks(largest: float) -> None:
    axis = charts.linear_axis("n", largest, 0, 100)
    assert axis.ticks[-1][0] >= largest
    assert 2 <= len(axis.ticks) <= 7
    assert axis.place(largest) <= 100.001
