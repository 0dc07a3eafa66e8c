"""What operators read and set of admission: versions, bounds, the look ahead, the log (R20)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import msgspec
import pytest

from backend_client import wire
from booking.domain.caller import Role
from booking.store import admission_queries
from booking.store.database import Database
from tests.server.box_office import make_event
from tests.server.web_api import Api, api_over


@pytest.fixture
async def api(database: Database) -> AsyncIterator[Api]:
    async with api_over(database) as api:
        yield api


async def read(api: Api, event: int, token: str) -> wire.AdmissionControl:
    answer = await api.call("GET", f"/v1/events/{event}/admission", token=token)
    assert answer.status_code == 200, answer.text
    return msgspec.json.decode(answer.content, type=wire.AdmissionControl)


async def put(api: Api, event: int, token: str, expected: int, key: str | None = None, **change: Any) -> Any:
    body = {"expected_version": expected, "reason": "a test", **change}
    return await api.call("PUT", f"/v1/events/{event}/admission", body, token=token, key=key)


async def test_an_event_that_nobody_has_set_has_version_0_and_is_not_steered(api: Api, database: Database) -> None:
    event = await make_event(database)
    found = await read(api, event, await api.staff(Role.OPS))
    assert (found.settings.version, found.settings.mode, found.is_steered) == (0, wire.AdmissionMode.MANUAL, False)
    assert (found.room, found.figures, found.per_minute) == (None, None, 0.0)


async def test_settings_are_changed_from_the_version_that_was_seen(api: Api, database: Database) -> None:
    """Two operators never overwrite each other unseen; who, from, to and why are in the log and in the audit log."""
    event, ops, other = await make_event(database), await api.staff(Role.OPS), await api.staff(Role.SUPERVISOR)
    key = str(uuid4())
    wish = {"mode": "automatic", "cap_per_minute": 1_200, "targets": {"lock_waits": 4}}
    done = await put(api, event, ops, 0, key, **wish)
    assert done.status_code == 200, done.text
    again = await put(api, event, ops, 0, key, **wish)
    assert again.headers["Idempotent-Replayed"] == "true"
    late = await put(api, event, other, 0, cap_per_minute=9)
    assert late.json()["code"] == "settings-changed"
    found = (await read(api, event, other)).settings
    assert (found.version, found.mode, found.cap_per_minute) == (1, wire.AdmissionMode.AUTOMATIC, 1_200)
    assert (found.targets.lock_waits, found.targets.hold_p99_ms) == (4.0, 300.0)
    assert found.changed_by == "Some ops"
    log = await api.call("GET", f"/v1/events/{event}/admission/changes", token=ops)
    (line,) = msgspec.json.decode(log.content, type=wire.AdmissionChangeList).changes
    assert (line.reason, line.words, line.by_name) == (wire.AdmissionReason.SET_BY_OPS, "a test", "Some ops")
    assert line.by.startswith("staff:")
    assert line.numbers["cap_per_minute"] == 1_200
    audited = await database.fetch("SELECT * FROM audit_log WHERE action = 'admission-settings-changed'")
    assert [(row["subject"], row["reason"]) for row in audited] == [(f"event:{event}", "a test")]


async def test_what_was_set_again_meanwhile_answers_by_its_key_and_by_its_version(api: Api, database: Database) -> None:
    """100 a minute lies above the newer cap: that is no fault of a wish that was made before."""
    event, ops, other = await make_event(database), await api.staff(Role.OPS), await api.staff(Role.SUPERVISOR)
    key = str(uuid4())
    assert (await put(api, event, ops, 0, key, manual_per_minute=100)).status_code == 200
    assert (await put(api, event, other, 1, cap_per_minute=50, manual_per_minute=20)).status_code == 200
    replay = await put(api, event, ops, 0, key, manual_per_minute=100)
    assert replay.headers["Idempotent-Replayed"] == "true"
    assert replay.json()["settings"]["version"] == 2
    late = await put(api, event, ops, 0, manual_per_minute=100)
    assert late.json()["code"] == "settings-changed"


async def test_a_pause_remembers_what_it_was_made_from(api: Api, database: Database) -> None:
    event, ops = await make_event(database), await api.staff(Role.OPS)
    await admission_queries.announce_rooms(database, [event], "http://127.0.0.1:1")
    await put(api, event, ops, 0, mode="automatic")
    await put(api, event, ops, 1, mode="paused")
    await put(api, event, ops, 2, cap_per_minute=90)
    settings = (await read(api, event, ops)).settings
    assert (settings.mode, settings.mode_before_pause) == (wire.AdmissionMode.PAUSED, wire.AdmissionMode.AUTOMATIC)


async def test_a_pause_where_there_is_no_room_is_refused_since_it_would_stop_nobody(
    api: Api, database: Database
) -> None:
    """Fans go on buying: an operator who is told that the room is paused would not pause the sale."""
    event, ops, key = await make_event(database), await api.staff(Role.OPS), str(uuid4())
    assert (await put(api, event, ops, 0, mode="automatic", cap_per_minute=60)).status_code == 200, "set beforehand"
    refused = await put(api, event, ops, 1, key, mode="paused")
    assert refused.status_code == 409, refused.text
    assert refused.json()["code"] == "event-has-no-room"
    assert "Pause its sale" in refused.json()["detail"]
    found = (await read(api, event, ops)).settings
    assert (found.version, found.mode) == (1, wire.AdmissionMode.AUTOMATIC)
    log = await api.call("GET", f"/v1/events/{event}/admission/changes", token=ops)
    assert len(msgspec.json.decode(log.content, type=wire.AdmissionChangeList).changes) == 1
    await admission_queries.announce_rooms(database, [event], "http://127.0.0.1:1")
    assert (await put(api, event, ops, 1, key, mode="paused")).status_code == 200, "the refusal spent no key"
    await database.fetch("DELETE FROM admission_rooms WHERE event_id = $1", event)
    assert (await put(api, event, ops, 2, cap_per_minute=90)).status_code == 200, "it is paused already"
    assert (await put(api, event, ops, 3, mode="manual")).status_code == 200, "and may be resumed"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"cap_per_minute": 100, "manual_per_minute": 101}, "/manual_per_minute"),
        ({"cap_per_minute": 5}, "/least_per_minute"),
        ({"cap_per_minute": -1}, "/cap_per_minute"),
        ({"mode": "fast"}, "/mode"),
        ({"targets": {"lock_waits": 0}}, "/targets/lock_waits"),
        ({"targets": {"completion_share": 1.5}}, "/targets/completion_share"),
        ({}, ""),
    ],
)
async def test_what_cannot_be_set_is_named_and_changes_nothing(
    api: Api, database: Database, change: dict[str, Any], field: str
) -> None:
    event, ops = await make_event(database), await api.staff(Role.OPS)
    answer = await put(api, event, ops, 0, **change)
    assert answer.status_code == 422, answer.text
    assert [one["pointer"] for one in answer.json()["fields"]] == [field]
    assert (await read(api, event, ops)).settings.version == 0


async def test_only_operators_read_and_set(api: Api, database: Database) -> None:
    event = await make_event(database)
    for role in (None, Role.FAN, Role.CLERK):
        token = await api.token_of(role)
        answers = [
            await api.call("GET", f"/v1/events/{event}/admission", token=token),
            await api.call("PUT", f"/v1/events/{event}/admission", {"expected_version": 0, "reason": "x"}, token=token),
        ]
        assert {one.status_code for one in answers} == {401 if role is None else 403}
    ops = await api.staff(Role.OPS)
    for missing in (event + 999, 2**40):
        answer = await api.call("GET", f"/v1/events/{missing}/admission", token=ops)
        assert answer.status_code in (404, 422)


async def test_the_look_ahead_runs_the_law_and_changes_nothing(api: Api, database: Database) -> None:
    """600 wait, the cap is 1,200 a minute: it rises as the law does, and all are in half a minute later."""
    event, ops = await make_event(database), await api.staff(Role.OPS)
    await admission_queries.announce_rooms(database, [event], "http://127.0.0.1:1")
    holder = uuid4()
    now, leads = await admission_queries.lead(database, holder, 60)
    assert leads
    state = {
        "per_minute": 100.0, "law": {"rate": 100.0, "good": 1_200.0}, "reason": "probing", "words": "calm",
        "decided_at": now, "measured_at": now, "figures": {"measured_at": now, "strains": {}, "queue_age_ms": 4.0},
        "room": {"url": "http://127.0.0.1:1", "is_there": True, "waiting": 600, "new_users_per_minute": 100},
        "cause": {"code": "of-a-newer-release", "numbers": {"share": 0.5}},
    }  # fmt: skip
    assert (await read(api, event, ops)).room == wire.AdmissionRoom(
        url="http://127.0.0.1:1", is_there=False, problem="the controller has not asked it yet",
        problem_cause=wire.Cause(code="room-not-asked"),
    )  # fmt: skip
    assert await admission_queries.keep_state(database, holder, event, state, [])
    assert (await read(api, event, ops)).cause == wire.Cause(code="of-a-newer-release", numbers={"share": 0.5})
    wish = {"mode": "automatic", "cap_per_minute": 1_200}
    answer = await api.call("POST", f"/v1/events/{event}/admission/preview", wish, token=ops)
    found = msgspec.json.decode(answer.content, type=wire.AdmissionPreview)
    rates = [point.per_minute for point in found.rates]
    assert (found.per_minute, found.at_most_per_minute, found.waiting) == (100.0, 1_200.0, 600)
    assert rates == sorted(rates)
    assert rates[-1] == pytest.approx(1_200, rel=0.05)
    assert found.all_in_after_s is not None
    assert 30 < found.all_in_after_s < 60
    paused = await api.call("POST", f"/v1/events/{event}/admission/preview", {"mode": "paused"}, token=ops)
    stopped = msgspec.json.decode(paused.content, type=wire.AdmissionPreview)
    assert (stopped.at_most_per_minute, stopped.all_in_after_s) == (0.0, None)
    assert (await read(api, event, ops)).settings.version == 0


async def test_of_all_controllers_one_leads_until_it_no_longer_says_so(database: Database) -> None:
    first, second = uuid4(), uuid4()
    event = await make_event(database)
    assert (await admission_queries.lead(database, first, 60))[1]
    now, leads = await admission_queries.lead(database, second, 60)
    assert not leads
    state = {"per_minute": 1.0, "law": {}, "reason": "manual", "words": "", "decided_at": now, "measured_at": now,
             "figures": {}, "room": {}}  # fmt: skip
    assert not await admission_queries.keep_state(database, second, event, state, [])
    await admission_queries.resign(database, first)
    assert (await admission_queries.lead(database, second, 60))[1]
    assert await admission_queries.keep_state(database, second, event, state, [])
