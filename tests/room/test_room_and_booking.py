"""Room and booking together: real room process, real API, real PostgreSQL (R16, R18, W3, W4, W7)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import monotonic
from uuid import uuid4

import msgspec
import pytest

from backend_client import wire
from booking.domain.caller import Role
from booking.domain.model import OperationResult, ResultOutcome
from booking.domain.states import OperationKind, OperationStatus
from booking.figures.collector import Collector
from booking.figures.meter import Meter
from booking.figures.model import ProcessKind, Second
from booking.figures.watch import Watch
from booking.room.booking_link import BookingLink
from booking.room.key_ring import KeyRing
from booking.room.log_post import Entry
from booking.services.sign_in import AccountSession, create_account
from booking.store.database import Database
from tests.room.gate_house import Shopper
from tests.room.room_process import Room, Visitor, refused, room_running, status_of
from tests.server.box_office import Desk, make_event, released, reported, till
from tests.server.web_api import Api, api_over

SESSION = "the-secret-of-a-browser"


async def eventually(room: Room, staff: Visitor, event: int, **wanted: object) -> None:
    """Wait until the room's figures say so."""
    found: dict[str, object] = {}
    until = monotonic() + 60
    while monotonic() < until:
        figures = msgspec.json.decode((await staff.call("GET", f"/v1/rooms/{event}")).content, type=wire.RoomFigures)
        found = {name: getattr(figures, name) for name in wanted}
        if found == wanted:
            return
        await asyncio.sleep(0.05)
    pytest.fail(f"{found}, not {wanted}, of the room at {room.process.url}")


def visitor(room: Room, session: AccountSession) -> Visitor:
    return Visitor(room.client, session.access_token, SESSION)


def shopper(api: Api, session: AccountSession, event: int) -> Shopper:
    return Shopper(api, KeyRing(), event, session.account_id, session.access_token)


async def open_room(room: Room, staff: Visitor, event: int, **settings: object) -> None:
    opening = {"opens_at": "2026-01-01T00:00:00Z", "reason": "test", "queueing": "fifo"}
    assert (await staff.call("PUT", f"/v1/rooms/{event}", opening)).status_code == 201
    change = {"expected_version": 1, "reason": "test", "new_users_per_minute": 60_000, **settings}
    assert (await staff.call("PUT", f"/v1/rooms/{event}/settings", change)).status_code == 200


async def test_from_the_queue_to_the_ticket(database: Database, dsn: str, tmp_path: Path) -> None:
    """One slot, two fans: the first is let in, holds and buys; her slot is free at once and his turn comes (W3, W4)."""
    event = await make_event(database, 40, admission=True)
    fans = [await create_account(database) for _ in range(2)]
    async with api_over(database) as api, room_running(tmp_path / "data", "--dsn", dsn) as room:
        staff = Visitor(room.client, await api.staff(Role.OPS))
        await open_room(room, staff, event, total_active_users=1)
        she, he = (visitor(room, one) for one in fans)
        for one in (she, he):
            await one.join(event)
        turn = await her_turn(she, event)
        waiting = status_of(await he.look(event))
        assert (waiting.state, waiting.ahead, waiting.admission_token) == (wire.QueueState.WAITING, 0, "")
        buyer = shopper(api, fans[0], event)
        hold = await buyer.hold(1, turn.admission_token, SESSION)
        await eventually(room, staff, event, active=1, waiting=1)
        await buyer.buy(hold)
        his = await her_turn(he, event)
        await eventually(room, staff, event, active=1, waiting=0)
        assert status_of(await she.look(event)).state is wire.QueueState.BOUGHT
        spent = await buyer.hold(2, turn.admission_token, SESSION)
        assert spent.status_code == 403
        assert (await shopper(api, fans[1], event).hold(2, his.admission_token, SESSION)).status_code == 201


async def her_turn(who: Visitor, event: int) -> wire.QueueStatus:
    """Wait for the turn in a queue of any event."""
    async with asyncio.timeout(60):
        while not (status := status_of(await who.look(event))).admission_token:
            await asyncio.sleep(0.2)
    return status


async def test_operators_see_who_waits_and_who_is_inside_among_the_figures_of_all(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    """The room tells its figures where every process does; whoever adds up shows them (R20, R32)."""
    event = await make_event(database, 40, admission=True)
    watch = Watch(database, Collector(ProcessKind.WORKER, Meter()))
    async with api_over(database) as api, room_running(tmp_path / "data", "--dsn", dsn) as room:
        staff = Visitor(room.client, await api.staff(Role.OPS))
        await open_room(room, staff, event, total_active_users=1)
        fans = [visitor(room, await create_account(database)) for _ in range(3)]
        for fan in fans:
            await fan.join(event)
        await eventually(room, staff, event, active=1, waiting=2)
        wanted = {"room_waiting": 2, "room_inside": 1, "room_away": 0, "admission_set_per_min": 60_000}
        async with asyncio.timeout(60):
            second = await next_second(watch)
            while not wanted.items() <= second.events[event].figures.items():
                await asyncio.sleep(0.1)
                second = await next_second(watch)
        rooms = [one.pid for one in second.processes if one.kind is ProcessKind.ROOM]
        assert rooms == [room.process.process.pid]
        assert second.house["room_waiting"] == 2


async def test_what_people_change_in_the_room_is_in_the_log_that_operators_read(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    """R20: one log, whichever program it was done in; each entry once, with a name and from and to."""
    event = await make_event(database, 40, admission=True)
    async with api_over(database) as api, room_running(tmp_path / "data", "--dsn", dsn) as room:
        ops = await api.staff(Role.OPS)
        staff = Visitor(room.client, ops)
        await open_room(room, staff, event, total_active_users=7)
        leader = Visitor(room.client, await api.staff(Role.SUPERVISOR))
        codes = {"codes": ["first-code", "second-code"], "reason": "sent out"}
        assert (await leader.call("POST", f"/v1/rooms/{event}/codes", codes)).status_code == 200
        entries: list[wire.OpsLogEntry] = []
        async with asyncio.timeout(60):
            while len(entries) < 3:
                await asyncio.sleep(0.1)
                answer = await api.call("GET", f"/v1/ops/log?kind=admission&event_id={event}", token=ops)
                entries = list(msgspec.json.decode(answer.content, type=wire.OpsLog).entries)
    shown = [(one.action, one.who, one.subject, one.reason) for one in entries]
    assert shown == [
        ("room-codes-added", "Some supervisor", f"event:{event}", "sent out"),
        ("room-settings", "Some ops", f"event:{event}", "test"),
        ("room-made", "Some ops", f"event:{event}", "test"),
    ]
    assert entries[0].changes == (wire.OpsLogChange(name="", was="", now="2"),)
    assert set(entries[1].changes) == {
        wire.OpsLogChange(name="new_users_per_minute", was="120", now="60000"),
        wire.OpsLogChange(name="total_active_users", was="200", now="7"),
    }
    assert wire.OpsLogChange(name="queueing", was="", now="fifo") in entries[2].changes
    link = BookingLink(dsn)
    try:
        await link.hear((), "", {}, frozenset())
        number, key_id = uuid4(), "a new key"
        entry = Entry(
            entry_id=number, at=1_796_000_000.25, who="someone", event_id=0, what="keys-rotated", was="", now=key_id,
            reason="stolen",
        )  # fmt: skip
        await link.post([entry])
        await link.post([entry])
    finally:
        await link.close()
    rows = await database.fetch("SELECT entry_id, at, principal FROM room_changes WHERE event_id = 0")
    assert [(row["entry_id"], row["at"].timestamp(), row["principal"]) for row in rows] == [
        (number, entry.at, "someone")
    ]


async def next_second(watch: Watch) -> Second:
    """One more, now."""
    await watch.once()
    assert watch.standing.second is not None
    return watch.standing.second


async def test_what_is_left_is_told_as_it_is(database: Database, dsn: str, tmp_path: Path) -> None:
    """W7: all in holds → may come back; released → it goes on; sold → sold out, told to who waits."""
    event = await make_event(database, 5, admission=True)
    async with api_over(database) as api, room_running(tmp_path / "data", "--dsn", dsn) as room:
        staff = Visitor(room.client, await api.staff(Role.OPS))
        await open_room(room, staff, event, total_active_users=0)
        fan = visitor(room, await create_account(database))
        await fan.join(event)
        desk = Desk(database, till(), event)
        hold = await desk.hold(*range(5))
        await eventually(room, staff, event, availability=wire.RoomAvailability.MAY_COME_BACK, is_letting_in=False)
        await released(database, desk.caller, hold.hold_id)
        await eventually(room, staff, event, availability=wire.RoomAvailability.AVAILABLE, is_letting_in=True)
        hold = await desk.hold(*range(5))
        await eventually(room, staff, event, availability=wire.RoomAvailability.MAY_COME_BACK, is_letting_in=False)
        hearing = asyncio.create_task(fan.next_news(await fan.settled_tag(event), event))
        step = await desk.pay(await desk.check_out(hold), OperationKind.CASH)
        paid = OperationResult(ResultOutcome.SUCCEEDED, step.order.amount_minor)
        if step.operation.status is not OperationStatus.SUCCEEDED:
            await reported(database, desk.caller, step.operation.operation_id, paid)
        told = status_of(await asyncio.wait_for(hearing, 60))
        assert told.availability is wire.RoomAvailability.SOLD_OUT
        refused(await visitor(room, await create_account(database)).join(event), wire.ErrorCode.QUEUE_CLOSED)


async def test_a_sale_of_which_nothing_is_left_is_looked_at_less_often(database: Database, dsn: str) -> None:
    """It costs a look at every seat: 33 ms for a sold-out stadium, every two seconds, for as long as the room ran."""
    sold, free = await make_event(database, 2), await make_event(database, 2)
    desk = Desk(database, till(), sold)
    await desk.sell(0, 1)
    link, now = BookingLink(dsn), 100.0
    looked: list[tuple[float, int]] = []
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("booking.room.booking_link.monotonic", lambda: now)
            for _ in range(45):
                news = await link.hear((sold, free), "", {}, frozenset())
                looked += [(now, sale.event_id) for sale in news.sales]
                now += 0.5
    finally:
        await link.close()
    assert [at for at, event in looked if event == sold] == [100.0, 110.0, 120.0]
    assert [at for at, event in looked if event == free] == [100.0 + 2 * step for step in range(12)]


async def test_the_room_goes_on_while_booking_is_down(database: Database, dsn: str, tmp_path: Path) -> None:
    """R16: keys that were heard once are kept; people join and wait, nobody is let in."""
    event = await make_event(database, 40, admission=True)
    known, later = await create_account(database), await create_account(database)
    async with api_over(database) as api:
        ops = await api.staff(Role.OPS)
    folder = tmp_path / "data"
    async with room_running(folder, "--dsn", dsn) as room:
        await open_room(room, Visitor(room.client, ops), event, paused=True)
        await visitor(room, known).join(event)
        assert await room.process.end() == 0
    nowhere = "postgresql://nobody@127.0.0.1:1/nowhere"
    async with room_running(folder, "--dsn", nowhere) as room:
        staff = Visitor(room.client, ops)
        change = {"expected_version": 2, "reason": "go", "paused": False}
        assert (await staff.call("PUT", f"/v1/rooms/{event}/settings", change)).status_code == 200
        assert status_of(await visitor(room, known).join(event)).ahead == 0
        assert status_of(await visitor(room, later).join(event)).ahead == 1
        await eventually(room, staff, event, authority_is_there=False, active=0, waiting=2, is_letting_in=False)
    async with room_running(folder, "--dsn", dsn) as room:
        assert (await her_turn(visitor(room, known), event)).state is wire.QueueState.ADMITTED
