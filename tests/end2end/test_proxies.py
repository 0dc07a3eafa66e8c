"""The fault proxies strike at the byte they name, once, before it is delivered."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from tests.end2end.proxies import (
    Address,
    CommittedStatement,
    FaultProxy,
    HttpAnswer,
    HttpRequest,
    TerminalFrame,
    Trap,
    postgres_messages,
    zvt_commands,
)


async def no_hook() -> None:
    pass


def message(kind: bytes, body: bytes) -> bytes:
    return kind + (len(body) + 4).to_bytes(4, "big") + body


def test_answer_to_the_named_request_springs_and_other_answers_pass() -> None:
    trap = Trap(no_hook)
    tap = HttpAnswer(trap, r"POST /v1/events/\d+/holds")
    assert tap.client_sent(b"GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n") is None
    assert tap.server_sent(b"HTTP/1.1 200 OK\r\n\r\n") is None
    assert tap.client_sent(b"POST /v1/events/7/holds HTTP/1.1\r\nHost: x\r\n\r\n{}") is None
    assert tap.server_sent(b"HTTP/1.1 201 Created\r\n\r\n") is trap


def test_request_springs_before_the_server_sees_it() -> None:
    trap = Trap(no_hook)
    tap = HttpRequest(trap, r"PUT /v1/payments/[^ ]+/result")
    assert tap.client_sent(b"GET /v1/orders/1 HTTP/1.1\r\n\r\n") is None
    assert tap.client_sent(b"PUT /v1/payments/1-2/result HTTP/1.1\r\n") is trap


def test_terminal_frame_springs_when_it_is_whole_and_from_the_named_side() -> None:
    trap = Trap(no_hook)
    tap = TerminalFrame(trap, b"\x04\x0f")
    frame = b"\x04\x0f\xff\x05\x00hello"
    assert tap.client_sent(frame) is None, "the till never sends it"
    assert tap.server_sent(frame[:6]) is None
    assert tap.server_sent(frame[6:]) is trap
    assert list(zvt_commands(bytearray(b"\x80\x00\x00\x06\x0f\x01x\x04"))) == [b"\x80\x00", b"\x06\x0f"]


def test_commit_springs_only_after_the_named_statement_and_only_when_the_transaction_is_over() -> None:
    trap = Trap(no_hook)
    tap = CommittedStatement(trap, "hold_seats_batch")
    parameters = b"user\0taquilla\0\0"
    tap.client_sent((len(parameters) + 8).to_bytes(4, "big") + (3 << 16).to_bytes(4, "big") + parameters)
    parse = message(b"P", b"s1\0SELECT * FROM hold_seats_batch($1)\0\0\0") + message(b"P", b"s2\0SELECT 1\0\0\0")
    assert tap.client_sent(parse) is None
    tap.client_sent(message(b"B", b"\0s2\0") + message(b"E", b"\0\0\0\0\0"))
    assert tap.server_sent(message(b"C", b"SELECT 1\0") + message(b"Z", b"I")) is None
    tap.client_sent(message(b"B", b"\0s1\0"))
    assert tap.server_sent(message(b"C", b"SELECT 1\0") + message(b"Z", b"T")) is None, "still in its transaction"
    tap.client_sent(message(b"Q", b"COMMIT;\0"))
    half = message(b"C", b"COMMIT\0") + message(b"Z", b"I")
    assert tap.server_sent(half[:-3]) is None
    assert tap.server_sent(half[-3:]) is trap
    assert list(postgres_messages(bytearray(b"Z\0\0\0\5I"))) == [(b"Z", b"I")]


@pytest.mark.parametrize("deliver", [True, False])
async def test_hook_runs_before_the_byte_is_delivered_and_only_once(deliver: bool) -> None:
    heard: list[str] = []
    served = asyncio.Semaphore(0)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        writer.close()
        served.release()

    async def hook() -> None:
        heard.append("hook")

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    trap = Trap(hook, deliver=deliver)
    address = Address(port=server.sockets[0].getsockname()[1])
    async with FaultProxy(address, lambda: HttpAnswer(trap, "GET /")) as proxy:
        for _ in range(2):
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            answer_bytes = await reader.read(100)
            heard.append(answer_bytes.decode()[:15])
            writer.close()
            await writer.wait_closed()
    server.close()
    for _ in range(2):  # nothing of this server outlives the test
        await asyncio.wait_for(served.acquire(), 60)
    assert heard == ["hook", "HTTP/1.1 200 OK" if deliver else "", "HTTP/1.1 200 OK"]
    assert trap.sprung.is_set()
