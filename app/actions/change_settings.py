"""Settings of an event and of the house: read, and changed from the version that the person saw.

Who changed them meanwhile is not overwritten: nothing is done, they are read again, and what differs is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from msgspec.structs import asdict

from app.actions.desk import Desk
from app.core.errors import SettingsNotReadError
from app.core.session import Permission, require
from app.core.setting_specs import GENERAL_LIMIT, LIMIT_OF, Value, event_specs, house_specs
from app.core.settings_desk import HOUSE, Seen, Subject, subject_of
from backend_client.errors import AnswerUnknownError, BookingClientError, BookingRefusedError
from backend_client.wire import (
    ErrorCode,
    EventId,
    EventSettings,
    EventSettingsChange,
    OrphanRule,
    ReconciliationSettings,
    ReconciliationSettingsChange,
)

_READ_AGAIN = frozenset({ErrorCode.SETTINGS_CHANGED, ErrorCode.EVENT_STATE_CONFLICT})


async def load_event_settings(desk: Desk, event_id: EventId) -> None:
    """Read what is set for an event. Trouble is kept with it; what was read before stays.

    Raises:
        NotAllowedError: the role may not read settings here.
        BookingClientError: they cannot be read.
    """
    require(desk.store.session, Permission.READ_SETTINGS)
    name = subject_of(event_id)
    try:
        answer = await desk.client.event_settings(event_id)
        currency = await _currency_of(desk, event_id)
    except BookingClientError as error:
        desk.store.settings_desk.put_trouble(name, error.code)
        raise
    desk.store.settings_desk.put_seen(name, _seen_of_event(answer, currency))


async def load_house_settings(desk: Desk) -> None:
    """Read what is set for the whole house. Raises as `load_event_settings`."""
    require(desk.store.session, Permission.READ_SETTINGS)
    try:
        answer = await desk.client.reconciliation_settings()
    except BookingClientError as error:
        desk.store.settings_desk.put_trouble(HOUSE, error.code)
        raise
    desk.store.settings_desk.put_seen(HOUSE, _seen_of_house(desk, answer))


async def save_event_settings(desk: Desk, event_id: EventId, values: Mapping[str, Value]) -> None:
    """Set what is in `values`; the rest stays. What was typed stays too until it is known to be done.

    Raises:
        NotAllowedError: the role may not.
        SettingsNotReadError: what stands there was not read yet.
        AnswerUnknownError: nobody knows whether it took effect; the same change again is made once.
        BookingRefusedError: `settings-changed`: nothing was done, they were read again; `invalid-request`: the fields
            are with the subject; …
        ServiceUnavailableError: the booking system is away, nothing was done.
    """
    needed = {Permission.SET_CLERK_REFUNDS if key == "max_refund_by_clerk_minor" else Permission.SET_EVENTS
              for key in values}  # fmt: skip
    for permission in needed:
        require(desk.store.session, permission)
    name = subject_of(event_id)
    subject, seen = _read_before(desk, name)
    given: dict[str, Any] = dict(values)
    if "orphan_rule" in given:
        given["orphan_rule"] = OrphanRule(str(given["orphan_rule"]))
    request = EventSettingsChange(expected_version=seen.version, reason=subject.reason.strip(), **given)
    key = subject.key_for(request, desk.new_key)
    try:
        answer = await desk.client.change_event_settings(event_id, request, key=key)
    except BookingClientError as error:
        await _after_trouble(desk, name, error, event_id)
        if _took_effect(desk, name, error, seen, values):
            return
        raise
    currency = next((spec.currency for spec in seen.specs if spec.currency), "")
    desk.store.settings_desk.note_done(name, _seen_of_event(answer, currency), frozenset(values))


async def save_house_settings(desk: Desk, values: Mapping[str, Value], dropped: frozenset[str] = frozenset()) -> None:
    """Set what is in `values`, and let the limits of `dropped` have no value of their own. Raises as the above."""
    require(desk.store.session, Permission.ADMINISTER)
    subject, seen = _read_before(desk, HOUSE)
    wanted = {key: value for key, value in {**seen.values, **values}.items() if key not in dropped}
    limits = {
        key.removeprefix(LIMIT_OF): cast("int | None", value) for key, value in wanted.items() if _is_limit_of(key)
    }
    request = ReconciliationSettingsChange(
        expected_version=seen.version,
        second_person_above_minor=cast("int | None", wanted[GENERAL_LIMIT]),
        limits_by_currency=limits,
        run_at_hour=cast("int", wanted["run_at_hour"]),
        zone=str(wanted["zone"]),
        unknown_after_s=cast("int", wanted["unknown_after_s"]),
        reason=subject.reason.strip(),
    )
    key = subject.key_for(request, desk.new_key)
    try:
        answer = await desk.client.change_reconciliation_settings(request, key=key)
    except BookingClientError as error:
        await _after_trouble(desk, HOUSE, error, None)
        if _took_effect(desk, HOUSE, error, seen, values, dropped):
            return
        raise
    desk.store.settings_desk.note_done(HOUSE, _seen_of_house(desk, answer), frozenset(values) | dropped)


def _read_before(desk: Desk, name: str) -> tuple[Subject, Seen]:
    subject = desk.store.settings_desk.of(name)
    if subject.seen is None:
        raise SettingsNotReadError(name)
    return subject, subject.seen


async def _after_trouble(desk: Desk, name: str, error: BookingClientError, event_id: EventId | None) -> None:
    """What was refused is settled, and its fields are shown; what may have changed is read again."""
    subject = desk.store.settings_desk.of(name)
    if isinstance(error, BookingRefusedError):
        subject.sent = None
        if error.problem.code is ErrorCode.INVALID_REQUEST:
            fields = [field.pointer.removeprefix("/") for field in error.problem.fields]
            desk.store.settings_desk.put_faults(name, dict.fromkeys(fields, "setting-refused"))
        if error.problem.code not in _READ_AGAIN:
            return
    elif not isinstance(error, AnswerUnknownError):
        return
    try:
        if event_id is None:
            await load_house_settings(desk)
        else:
            await load_event_settings(desk, event_id)
    except BookingClientError:
        return  # kept as trouble with the subject


def _took_effect(
    desk: Desk, name: str, error: BookingClientError, before: Seen, values: Mapping[str, Value],
    dropped: frozenset[str] = frozenset(),
) -> bool:  # fmt: skip
    """Whether a change whose answer was lost is there, as it was read again: then it is done, and is kept as ours."""
    subject = desk.store.settings_desk.of(name)
    now = subject.seen
    if not isinstance(error, AnswerUnknownError) or now is None or now.version == before.version:
        return False
    if dropped & set(now.values) or any(now.values.get(key) != value for key, value in values.items()):
        return False
    subject.seen = before
    desk.store.settings_desk.note_done(name, now, frozenset(values) | dropped)
    return True


async def _currency_of(desk: Desk, event_id: EventId) -> str:
    known = next((event.currency for event in desk.store.events if event.event_id == event_id), "")
    return known or (await desk.client.event(event_id)).currency


def _seen_of_event(answer: EventSettings, currency: str) -> Seen:
    values: dict[str, Value] = {
        key: value for key, value in asdict(answer).items() if key not in {"event_id", "version"}
    }
    return Seen(event_specs(currency), values, answer.version)


def _seen_of_house(desk: Desk, answer: ReconciliationSettings) -> Seen:
    """A limit is offered for every currency that something is sold in, and for those that have one."""
    values: dict[str, Value] = {
        GENERAL_LIMIT: answer.second_person_above_minor,
        "run_at_hour": answer.run_at_hour,
        "zone": answer.zone,
        "unknown_after_s": answer.unknown_after_s,
        **{f"{LIMIT_OF}{currency}": limit for currency, limit in answer.limits_by_currency.items()},
    }
    currencies = {*answer.limits_by_currency, *(event.currency for event in desk.store.events)}
    return Seen(house_specs(currencies), values, answer.version)


def _is_limit_of(key: str) -> bool:
    return key.startswith(LIMIT_OF)
