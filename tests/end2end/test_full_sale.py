"""From an empty folder to tickets that a gate can scan: the demo as anybody starts it, looked at from outside."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from PIL import Image

from backend_client.seat_frames import PublicState, decode_snapshot
from tests.end2end.console import codes_in
from tests.end2end.http_client import Buyer, client
from tests.end2end.processes import Demo, StackFacts, check_invariants, demo_folder, lives, until


@dataclass(frozen=True)
class Evening:
    """The stack, still up, after the demo's own tour sold five seats."""

    demo: Demo
    stack: StackFacts
    report: dict[str, Any]
    pictures: Path


@pytest.fixture
async def evening() -> AsyncIterator[Evening]:
    folder = demo_folder()
    pictures = folder / "pictures of the tour"
    demo = Demo(folder, "--headless", "--pictures", str(pictures), "--terminal-delay", "0.3")
    try:
        stack = await demo.is_up()
        await until(lambda: "staying until standard input ends" in demo.words() or not demo.running, 150, "the tour")
        assert demo.running, demo.words()
        yield Evening(demo, stack, json.loads((folder / "tour-report.json").read_text(encoding="utf-8")), pictures)
    finally:
        await demo.end()
        shutil.rmtree(folder.parent, ignore_errors=True)


@pytest.mark.timeout(300)
async def test_demo_sells_three_seats_by_card_and_two_for_cash_and_their_codes_scan(evening: Evening) -> None:
    report, stack = evening.report, evening.stack
    assert report["problems"] == []
    assert [(sale["kind"], len(sale["seats"]), sale["state"]) for sale in report["sales"]] == [
        ("card", 3, "DONE"),
        ("cash", 2, "DONE"),
    ]
    async with client(stack.api_url) as http:
        supervisor = await Buyer.staff(http, "sofia", stack.passwords["sofia"])
        for sale in report["sales"]:
            await compare_with_the_api(supervisor, sale)
        await second_client_is_refused(http, report)
    assert await check_invariants(stack.dsn) == []
    look_at_pictures(evening)
    assert nothing_listens_beyond_loopback(stack) == []
    assert await evening.demo.stop() == 0, evening.demo.words()
    assert [name for name, pid in stack.pids.items() if lives(pid)] == []
    assert f"pictures: {evening.pictures}" in evening.demo.words()


async def compare_with_the_api(supervisor: Buyer, sale: dict[str, Any]) -> None:
    """What the console printed is what the booking system sold."""
    order = (await supervisor.get(f"/v1/orders/{sale['order_id']}")).json()
    assert order["status"] == "CONFIRMED"
    assert order["number"] == sale["order_number"]
    assert [line["seat"]["seat_no"] for line in order["lines"]] == [seat["seat_no"] for seat in sale["seats"]]
    assert sum(line["amount_minor"] for line in order["lines"]) == order["amount_minor"] == sale["amount_minor"]
    kind = {"card": "sale", "cash": "cash"}[sale["kind"]]
    assert [(paid["kind"], paid["status"]) for paid in order["operations"]] == [(kind, "SUCCEEDED")]
    assert order["operations"][0]["amount_minor"] == order["amount_minor"]
    tickets = (await supervisor.get(f"/v1/orders/{sale['order_id']}/tickets")).json()
    assert tickets["complete"]
    issued = [ticket["code"] for ticket in tickets["tickets"]]
    assert len(set(issued)) == len(sale["seats"])
    assert sorted(codes_in(Path(sale["pdf"]))) == sorted(issued)
    assert {ticket["status"] for ticket in tickets["tickets"]} == {"PRINTED"}


async def second_client_is_refused(http: Any, report: dict[str, Any]) -> None:
    """A fan sees the seats taken on the map, and is told all of them by name when trying."""
    seats = [seat["seat_no"] for sale in report["sales"] for seat in sale["seats"]]
    snapshot = decode_snapshot((await http.get(f"/v1/events/{report['event_id']}/seats")).content)
    assert {int(snapshot.states[seat]) for seat in seats} == {PublicState.SOLD}
    fan = await Buyer.new_fan(http)
    answer = await fan.hold(report["event_id"], seats)
    assert (answer.status_code, answer.json()["code"]) == (409, "seats-taken")
    assert sorted(lost["seat_no"] for lost in answer.json()["seats"]) == sorted(seats)


def look_at_pictures(evening: Evening) -> None:
    """One picture of each step, each of a window with something in it."""
    names = evening.report["pictures"]
    assert {"sign-in", "events", "counter", "card-held", "card-done", "cash-done"} <= {name[3:-4] for name in names}
    for name in names:
        with Image.open(evening.pictures / name) as picture:
            colours = picture.convert("RGB").getcolors(maxcolors=1 << 24)
            assert colours is not None
            assert len(colours) > 20, f"{name} is empty"


def nothing_listens_beyond_loopback(stack: StackFacts) -> list[str]:
    """Addresses of the stack's processes that another machine could reach."""
    processes = [(name, psutil.Process(pid)) for name, pid in stack.pids.items()]
    processes += [(name, child) for name, process in processes for child in process.children(recursive=True)]
    return [
        f"{name} {link.laddr}"
        for name, process in processes
        for link in process.net_connections("inet")
        if link.status == psutil.CONN_LISTEN and link.laddr.ip not in {"127.0.0.1", "::1"}
    ]
