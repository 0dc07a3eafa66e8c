"""Keeps alarms as the rules say: the watcher asks once a second, the database remembers (R32)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from time import monotonic
from uuid import UUID

import msgspec
from uuid_utils.compat import uuid7

from booking import sql
from booking.domain.alarms import RULES, AlarmRule, AlarmState, Move, Severity, is_idle, step
from booking.figures.model import AlarmPart
from booking.store.connection import Record
from booking.store.database import Database

RULES_EVERY_S = 2.0

log = logging.getLogger(__name__)


async def read_rules(db: Database) -> dict[str, AlarmRule]:
    """Every rule as it is set now."""
    rows = await db.fetch(sql.query("list_alarm_rules"))
    return dict(RULES) | {row["rule"]: rule_of(row, RULES[row["rule"]]) for row in rows if row["rule"] in RULES}


def rule_of(row: Record, known: AlarmRule) -> AlarmRule:
    """A rule as operators have set it."""
    return replace(
        known, severity=Severity(row["severity"]), raise_at=row["raise_at"], clear_at=row["clear_at"],
        raise_after_s=row["raise_after_s"], clear_after_s=row["clear_after_s"], enabled=row["enabled"],
        version=row["version"],
    )  # fmt: skip


def alarm_of(row: Record) -> AlarmPart:
    """An alarm out of its row."""
    return msgspec.convert(dict(row), AlarmPart)


class AlarmKeeper:
    """For one watcher. What is open is the database's word, so that another one can go on."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._rules: Mapping[str, AlarmRule] = RULES
        self._rules_at = float("-inf")
        self._states: dict[str, AlarmState] = {}
        self._worst: dict[UUID, float] = {}

    def restart(self, seen: Iterable[AlarmPart] = ()) -> None:
        """Another process has watched meanwhile; `seen`: what it showed last, with the worst that it saw."""
        self._states, self._rules_at = {}, float("-inf")
        self._worst = {alarm.alarm_id: alarm.worst for alarm in seen}

    async def look(self, house: Mapping[str, float], at_s: float) -> tuple[AlarmPart, ...]:
        """Raise and clear by the figures of now; the alarms that are open then, each with the worst seen here.

        Raises:
            BusyError, AuthorityAwayError: no answer in time; the next second looks again.
        """
        now = monotonic()
        if now >= self._rules_at + RULES_EVERY_S:
            self._rules, self._rules_at = await read_rules(self._db), now
        open_alarms = {alarm.rule: alarm for alarm in map(alarm_of, await self._open_rows())}
        moved = False
        for rule in self._rules.values():
            moved = await self._step(rule, house, at_s, open_alarms.get(rule.rule)) or moved
        for alarm in open_alarms.values():
            if alarm.rule not in self._rules:  # of another release: nobody would ever look whether its figure is well
                await self._db.call(sql.query("clear_alarm"), alarm.alarm_id, alarm.value, alarm.worst)
                moved = True
        if moved:
            open_alarms = {alarm.rule: alarm for alarm in map(alarm_of, await self._open_rows())}
        return tuple(self._shown(alarm) for alarm in open_alarms.values())

    async def _open_rows(self) -> list[Record]:
        return await self._db.fetch(sql.query("list_open_alarms"))

    async def _step(self, rule: AlarmRule, house: Mapping[str, float], at_s: float, known: AlarmPart | None) -> bool:
        state = self._states.get(rule.rule, AlarmState())
        if state.raised != (known is not None):
            state = AlarmState() if known is None else AlarmState(raised=True, worst=self._worst_of(rule, known))
        value = house.get(rule.figure)
        state, move = step(state, rule, value, at_s, idle=is_idle(rule.figure, house))
        if move is Move.CLEAR and known is not None:
            before = self._states.get(rule.rule, AlarmState())
            worst = before.worst if before.raised else self._worst_of(rule, known)
            last = known.value if value is None else value
            await self._db.call(sql.query("clear_alarm"), known.alarm_id, last, rule.worse(worst, last))
        elif move is Move.RAISE and value is not None:
            await self._db.call(
                sql.query("raise_alarm"), uuid7(), rule.rule, rule.figure, rule.severity, value, rule.raise_at,
                rule.clear_at,
            )  # fmt: skip
            log.warning("alarm %s: %s is %g", rule.rule, rule.figure, value)
        self._states[rule.rule] = state
        return move is not Move.NONE

    def _worst_of(self, rule: AlarmRule, known: AlarmPart) -> float:
        """The worst that the database knows of, or that the watcher before this one has seen."""
        return rule.worse(known.worst, self._worst.get(known.alarm_id, known.worst))

    def _shown(self, alarm: AlarmPart) -> AlarmPart:
        state = self._states.get(alarm.rule)
        return msgspec.structs.replace(alarm, worst=state.worst) if state is not None and state.raised else alarm
