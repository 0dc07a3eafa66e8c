"""What operators do about alarms: see them, say that they know, set when there is one (R32)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from booking.domain.alarms import AlarmRule, Severity
from booking.domain.caller import Caller
from booking.domain.errors import AlarmNotFoundError, FieldFault, InvalidRequestError
from booking.domain.replay import Outcome
from booking.domain.text import storable_texts
from booking.figures.alarm_keeper import alarm_of, read_rules
from booking.figures.model import AlarmPart
from booking.services.refusals import key_use, raise_refusal, stale
from booking.store import figures_calls
from booking.store.database import Database

SHOWN = 200


@dataclass(frozen=True, slots=True)
class RuleWish:
    """What is to be another one; None stays."""

    raise_at: float | None = None
    clear_at: float | None = None
    raise_after_s: int | None = None
    clear_after_s: int | None = None
    severity: Severity | None = None
    enabled: bool | None = None

    def given(self) -> dict[str, object]:
        """The members that are given."""
        return {name: getattr(self, name) for name in self.__slots__ if getattr(self, name) is not None}


async def list_alarms(db: Database) -> Sequence[AlarmPart]:
    """The open ones first, then those that ended, the newest first; `SHOWN` at most."""
    return [alarm_of(row) for row in await figures_calls.list_alarms(db, SHOWN)]


async def acknowledge(
    db: Database, caller: Caller, alarm_id: UUID, note: str, *, key: str, digest: bytes
) -> Outcome[AlarmPart]:
    """Say that somebody knows. Who said so first stays; the alarm goes on until its figure is well.

    Raises:
        AlarmNotFoundError, KeyReusedError, BusyError, AuthorityAwayError: as they say.
    """
    use = key_use(key, digest)
    (note,) = storable_texts({"/note": note})
    answer = await figures_calls.acknowledge_alarm(db, caller, alarm_id, note, use)
    await raise_refusal(db, answer, None)
    row = await figures_calls.read_alarm(db, alarm_id)
    if row is None:
        raise AlarmNotFoundError("There is no such alarm.")
    return Outcome(alarm_of(row), answer.replayed)


async def list_rules(db: Database) -> Sequence[AlarmRule]:
    """Every rule as it is set now."""
    return list((await read_rules(db)).values())


async def change_rule(
    db: Database, caller: Caller, rule: str, expected: int, wish: RuleWish, reason: str, *, key: str, digest: bytes
) -> Outcome[AlarmRule]:
    """Set a rule from the version that was seen; audited. It holds within two seconds.

    Raises:
        AlarmNotFoundError: there is no such rule.
        InvalidRequestError: nothing is given, or the levels are the wrong way round.
        SettingsChangedError: somebody changed it meanwhile.
        KeyReusedError, BusyError, AuthorityAwayError: as they say.
    """
    use = key_use(key, digest)
    (reason,) = storable_texts({"/reason": reason})
    before = (await read_rules(db)).get(rule)
    if before is None:
        raise AlarmNotFoundError("There is no such rule.")
    is_seen = before.version == expected
    # A wish is merged with what it was made from alone: anything else the key answers, or the version refuses.
    after = _wished(before, wish) if is_seen else before
    answer = await figures_calls.change_alarm_rule(
        db, caller, rule, expected if is_seen else stale(expected), _stored(before), _stored(after), reason, use
    )
    await raise_refusal(db, answer, None)
    return Outcome((await read_rules(db))[rule], answer.replayed)


def _wished(before: AlarmRule, wish: RuleWish) -> AlarmRule:
    given = wish.given()
    if not given:
        raise InvalidRequestError("Nothing is to be changed.", fields=(FieldFault("", "name one setting at least"),))
    try:
        return replace(before, **given)  # type: ignore[arg-type]
    except ValueError as error:
        field, _, words = str(error).partition(": ")
        raise InvalidRequestError("The rule cannot be like this.", fields=(FieldFault(f"/{field}", words),)) from error


def _stored(rule: AlarmRule) -> dict[str, object]:
    return {
        "raise_at": rule.raise_at, "clear_at": rule.clear_at, "raise_after_s": rule.raise_after_s,
        "clear_after_s": rule.clear_after_s, "severity": rule.severity, "enabled": rule.enabled,
    }  # fmt: skip
