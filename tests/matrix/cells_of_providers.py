"""Play one cell of an operation that a provider does, and look at both ledgers afterwards."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from typing import Final
from uuid import UUID

import httpx

from backend_client import wire
from booking.services.orders import order_as_it_stands
from tests.matrix import books
from tests.matrix.deaths import Step, times_fired
from tests.matrix.house import PATIENT_S, House
from tests.matrix.processes import Started
from tests.matrix.table import API_DEATHS, RESTARTS, WEBHOOKS, WORKER_DEATHS, Fault, Operation
from tests.matrix.ways import WAYS, Case, End, Way

NAMES: Final[Mapping[Fault, str]] = {
    Fault.LOST_BEFORE: "drop-before",
    Fault.LOST_AFTER: "drop-after",
    Fault.HANG_BEFORE: "hang-before",
    Fault.HANG_AFTER: "hang-after",
    Fault.ERROR_BEFORE: "status-500",
    Fault.ERROR_AFTER: "status-500-after",
    Fault.TURNED_AWAY: "status-429",
    Fault.BROKEN: "broken-answer",
    Fault.SLOW: "slow",
    Fault.RESTART_BEFORE: "hang-before",
    Fault.RESTART_AFTER: "hang-after",
    Fault.WEBHOOK_DUPLICATE: "webhook-duplicate",
    Fault.WEBHOOK_REORDER: "webhook-reorder",
    Fault.WEBHOOK_SLOW: "webhook-slow",
    Fault.WEBHOOK_LOST: "webhook-lost",
}
"""What the sandbox calls them."""
STEPS: Final[Mapping[Fault, Step]] = {
    Fault.API_DIES_SENT: Step.SENT,
    Fault.API_DIES_ANSWERED: Step.ANSWERED,
    Fault.API_DIES_RECORDED: Step.RECORDED,
    Fault.WORKER_DIES_SENT: Step.SENT,
    Fault.WORKER_DIES_ANSWERED: Step.ANSWERED,
    Fault.WORKER_DIES_RECORDED: Step.RECORDED,
}
HANGS_S = 2.0
"""The call that hangs is given up after so long; whatever is answered, however slowly, is waited for."""
Play = Callable[[Way, Case, Fault], Awaitable[None]]


async def play(house: House, operation: Operation, fault: Fault) -> None:
    """The whole cell: before, the fault, the rest, and the verdict."""
    way = WAYS[operation]
    case = await way.prepare(house)
    await _player(fault)(way, case, fault)
    if fault is Fault.DECLINE and way.after_decline is not None:
        await way.after_decline(case)
    await house.rest()
    await judge(house, case, way.declined if fault is Fault.DECLINE else way.done)


def _player(fault: Fault) -> Play:
    for group, player in (
        (RESTARTS, _restart),
        (WEBHOOKS, _event),
        (API_DEATHS, _api_dies),
        (WORKER_DEATHS, _worker_dies),
    ):
        if fault in group:
            return player
    return _decline if fault is Fault.DECLINE else _answer


async def judge(house: House, case: Case, end: End) -> None:
    """(b) to (e) of the matrix."""
    operations = await books.all_operations(house.db)
    books.all_definite(operations)
    there = house.sandbox.books()
    books.same_as_provider(there, operations)
    books.one_charge_at_provider(there, operations)
    stayed = books.one_charge_each(operations)
    order = await order_as_it_stands(house.db, UUID(case.order_id))
    assert (order.status.value, stayed.get(order.order_id, 0)) == (end.order, end.stayed)
    assert await books.open_items(house.db) == list(end.items)
    await books.nothing_broken(house.dsn)


# ------------------------------------------------------------ asking for it


async def _ask(way: Way, case: Case) -> None:
    """By the API when it sends it in the call; else by a worker, after somebody has asked for it."""
    house = case.house
    answer = await house.api.call("POST", case.path, case.body or None, token=case.token, key=case.key)
    assert answer.status_code in {200, 201}, answer.text
    if not way.at_once:
        await house.all_due()
        await house.worker.work_once()


# ------------------------------------------------------------ what goes wrong


async def _answer(way: Way, case: Case, fault: Fault) -> None:
    sandbox = case.house.sandbox
    await sandbox.plan(way.kind, NAMES[fault])
    if fault in (Fault.HANG_BEFORE, Fault.HANG_AFTER):
        case.house.provider._answer_timeout_s = HANGS_S
    await _ask(way, case)
    case.house.provider._answer_timeout_s = PATIENT_S
    assert await sandbox.fired() == {f"{way.kind}:{NAMES[fault]}": 1}


async def _restart(way: Way, case: Case, fault: Fault) -> None:
    """It dies with the request in its hands."""
    sandbox, name = case.house.sandbox, f"{way.kind}:{NAMES[fault]}"
    await sandbox.plan(way.kind, NAMES[fault])
    asking = asyncio.create_task(_ask(way, case))
    async with asyncio.timeout(60):
        while await sandbox.fired() != {name: 1}:
            await asyncio.sleep(0.005)
    assert not asking.done()
    await sandbox.kill_and_restart()
    await asking
    assert await sandbox.fired() == {name: 1}


async def _event(way: Way, case: Case, fault: Fault) -> None:
    """The answer is lost as well, so that what happened comes by its event, or by being asked about."""
    house, sandbox = case.house, case.house.sandbox
    before = len(sandbox.books().operations)
    await house.listen()
    if way.kind == "authorize" or not way.at_once or case.path.endswith("/refunds"):
        await sandbox.plan("webhook", NAMES[fault])
    else:
        # A capture or a void follows from an authorization in the same call; the fault is for its own event.
        await _authorization_alone(way, case)
        await sandbox.plan("webhook", NAMES[fault])
    await sandbox.plan(way.kind, "drop-after")
    await _ask_once_more(way, case)
    events = len(sandbox.books().operations) - before
    lost, twice = fault is Fault.WEBHOOK_LOST, fault is Fault.WEBHOOK_DUPLICATE
    if fault is Fault.WEBHOOK_REORDER and events == 1 and way.kind == "authorize":
        await house.round()  # its successor is the event of the capture
        events = len(sandbox.books().operations) - before
    await house.heard_all(events - lost + twice)
    assert await sandbox.fired() == {f"{way.kind}:drop-after": 1, f"webhook:{NAMES[fault]}": 1}


async def _authorization_alone(way: Way, case: Case) -> None:
    """Up to the operation of the cell, which is then opened, and sent by a worker."""
    if way.kind == "capture":
        await way.leave(case)
        await case.house.heard_all(1)


async def _ask_once_more(way: Way, case: Case) -> None:
    if way.kind == "capture" and way.at_once:
        await case.house.all_due()
        await case.house.worker.work_once()
        return
    await _ask(way, case)


async def _decline(way: Way, case: Case, _fault: Fault) -> None:
    """Every other thing at the provider that makes it decline what it is asked for next."""
    house = case.house
    if way.kind == "authorize":
        await way.declines(case)
        await _ask(way, case)
    else:
        if way.kind == "capture" and way.at_once:
            await way.leave(case)
        await way.declines(case)
        await _ask_once_more(way, case)
    refused = [
        one for one in house.sandbox.books().operations.values()
        if one.request.kind.value == way.kind and one.status.value == "declined"
    ]  # fmt: skip
    assert len(refused) == 1


async def _api_dies(way: Way, case: Case, fault: Fault) -> None:
    """The API of the call is a process of its own. Asked again under the same key, another one answers."""
    house, step = case.house, STEPS[fault]
    mark = house.folder / "died"
    ready = house.folder / "api.json"
    kind = way.opened_by or way.kind
    death = {"step": (Step.OPENED if way.opened_by else step).value, "kind": kind, "mark": str(mark)}
    api = Started(
        "api", house.folder, anew=house.anew, ready_file=str(ready), dsn=house.dsn, parent=os.getpid(),
        sandbox_url=house.sandbox.url, death=death,
    )  # fmt: skip
    url = (await api.ready(ready))["url"]
    headers = {"Authorization": f"Bearer {case.token}", wire.IDEMPOTENCY_KEY_HEADER: case.key}
    async with httpx.AsyncClient(base_url=url, timeout=30, verify=False) as http:
        try:
            answer = await http.post(case.path, json=case.body or None, headers=headers)
        except httpx.TransportError:
            answer = None
    assert answer is None, "the API answered: it did not die"
    assert (await api.ended(), times_fired(mark)) == (-signal.SIGKILL, 1)
    again = await house.api.call("POST", case.path, case.body or None, token=case.token, key=case.key)
    assert again.status_code in {200, 201}, again.text


async def _worker_dies(way: Way, case: Case, fault: Fault) -> None:
    house = case.house
    mark = house.folder / "died"
    await way.leave(case)
    await house.all_due()
    death = {"step": STEPS[fault].value, "kind": way.kind, "mark": str(mark)}
    worker = Started(
        "worker_round", house.folder, anew=house.anew, dsn=house.dsn, sandbox_url=house.sandbox.url, death=death
    )
    assert (await worker.ended(), times_fired(mark)) == (-signal.SIGKILL, 1), worker.words()
