"""What the log and the list of alarms read does not grow with all that was ever written (R20, R32)."""

from __future__ import annotations

import json
from typing import Any

import asyncpg
import pytest

from booking import sql
from booking.services.alarms import list_alarms
from booking.services.operations_log import LogKind, read_log
from booking.store.database import Database
from tests.server.box_office import Clock

ENTRIES = 20_000
BLOCKS = 200
"""Of 8 kB: a page of the log and its indexes, by far not the log."""
_FILL = """
INSERT INTO audit_log (at, principal, action, subject, reason, detail)
SELECT booking_now() - make_interval(secs => g), 'alarms',
       CASE g % 2 WHEN 0 THEN 'alarm-raised' ELSE 'alarm-cleared' END, 'holds-slow', '',
       '{"from": {"state": "calm"}, "to": {"state": "warning"}}'
  FROM generate_series(1, $1) g
"""
_OLDER = """
INSERT INTO audit_log (at, principal, action, subject, reason, detail)
SELECT booking_now() - interval '1 day' - make_interval(secs => g), 'staff', action, subject, 'why', '{}'
  FROM generate_series(1, 3) g
 CROSS JOIN (VALUES ('event-status-changed', 'event:7'), ('session-end-asked', 'session:12')) AS e (action, subject)
"""
_STEERED = """
INSERT INTO admission_changes
SELECT event_id, change_no, at, 'controller', '', 'automatic', 10, 20, 'strain', 'w', '{}'::jsonb
  FROM (SELECT 100 + g % 50, g / 50 + 1, booking_now() - make_interval(secs => g) FROM generate_series(1, $1) g
        UNION ALL
        SELECT 7, g, booking_now() - interval '1 day' + make_interval(secs => g) FROM generate_series(1, 3) g
       ) AS c (event_id, change_no, at)
"""
_ALARMS = """
INSERT INTO alarms
SELECT gen_random_uuid(), 'holds-slow', 'hold_p99_ms', 'warning', booking_now() - make_interval(secs => g), 1, 1, 1, 0,
       CASE WHEN g > 1 THEN booking_now() - make_interval(secs => g - 1) END
  FROM generate_series(1, $1) g
"""


@pytest.fixture
async def long_log(sound_database: Database, clock: Clock) -> Database:
    await clock.stand_at(await clock.now())
    connection = await asyncpg.connect(sound_database.dsn)
    for statement, arguments in ((_FILL, (ENTRIES,)), (_OLDER, ()), (_STEERED, (ENTRIES,)), (_ALARMS, (ENTRIES,))):
        await connection.execute(statement, *arguments)
    for table in ("audit_log", "admission_changes", "alarms", "room_changes"):
        await connection.execute(f"VACUUM ANALYZE {table}")
    await connection.close()
    return sound_database


async def blocks_read(db: Database, name: str, *arguments: object) -> int:
    """How many blocks a query reads."""
    row = await db.fetchrow(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql.query(name)}", *arguments)
    assert row is not None
    plan: dict[str, Any] = json.loads(row[0])[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


async def test_one_page_of_the_log_reads_a_page(long_log: Database, clock: Clock) -> None:
    now = await clock.now()
    of_event = await read_log(long_log, now, event_id=7)
    assert [entry.action for entry in of_event.entries] == [*["admission-steered"] * 3, *["event-status-changed"] * 3]
    of_kind = await read_log(long_log, now, kind=LogKind.SESSION)
    assert [entry.action for entry in of_kind.entries] == ["session-end-asked"] * 3
    assert len((await read_log(long_log, now)).entries) == 100
    for event_id, kind in ((None, None), (7, None), (None, "session"), (None, "authority"), (7, "admission")):
        read = await blocks_read(long_log, "list_operations_log", now, event_id, kind, 101)
        assert read < BLOCKS, (event_id, kind, read)


async def test_the_last_alarms_are_read_without_all_that_there_were(long_log: Database) -> None:
    found = await list_alarms(long_log)
    assert len(found) == 200
    assert [alarm.cleared_at is None for alarm in found[:3]] == [True, False, False]
    assert [alarm.raised_at for alarm in found[1:]] == sorted((alarm.raised_at for alarm in found[1:]), reverse=True)
    assert await blocks_read(long_log, "list_alarms", 200) < BLOCKS
