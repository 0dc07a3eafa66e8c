"""How items are dealt with: what needs a second person, when a day is compared, when silence becomes an item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from booking.domain.caller import Caller
from booking.domain.currencies import EXPONENTS
from booking.domain.errors import FieldFault, InvalidRequestError
from booking.domain.items import ReconciliationSettings
from booking.domain.local_time import zone_of
from booking.domain.model import MAX_AMOUNT_MINOR
from booking.domain.replay import Outcome
from booking.domain.text import storable_texts
from booking.services.refusals import key_use, raise_refusal
from booking.store import reconciliation_queries
from booking.store.database import Database


@dataclass(frozen=True, slots=True)
class SettingsWish:
    """All settings anew."""

    second_person_above_minor: int | None
    run_at_hour: int
    zone: str
    unknown_after_s: int
    limits_by_currency: Mapping[str, int | None] = field(default_factory=dict)


async def read_settings(db: Database) -> ReconciliationSettings:
    """The settings, with the version that a change names."""
    row = await reconciliation_queries.read_settings(db)
    limits = msgspec.json.decode(row["limits"], type=dict[str, int | None])
    return ReconciliationSettings(
        version=row["version"],
        second_person_above_minor=row["second_person_above_minor"],
        run_at_hour=row["run_at_hour"],
        zone=row["zone"],
        unknown_after_s=row["unknown_after_s"],
        server_time=row["server_time"],
        limits_by_currency=limits,
    )


async def change_settings(
    db: Database, caller: Caller, expected: int, wish: SettingsWish, reason: str, *, key: str, digest: bytes
) -> Outcome[ReconciliationSettings]:
    """Put new settings in the place of version `expected`; audited.

    Raises:
        InvalidRequestError: naming the setting that is out of bounds.
        SettingsChangedError: somebody changed them meanwhile.
        KeyReusedError, BusyError: as they say.
    """
    use = key_use(key, digest)
    (reason,) = storable_texts({"/reason": reason})
    _check(wish)
    settings: dict[str, object] = {
        "second_person_above_minor": wish.second_person_above_minor, "run_at_hour": wish.run_at_hour,
        "zone": wish.zone, "unknown_after_s": wish.unknown_after_s,
        "limits_by_currency": dict(wish.limits_by_currency),
    }  # fmt: skip
    answer = await reconciliation_queries.change_settings(db, caller, expected, settings, reason, use)
    await raise_refusal(db, answer, None)
    return Outcome(await read_settings(db), answer.replayed)


def _check(wish: SettingsWish) -> None:
    zone_of(wish.zone)
    amounts = {"/second_person_above_minor": wish.second_person_above_minor} | {
        f"/limits_by_currency/{currency}": limit for currency, limit in wish.limits_by_currency.items()
    }
    faults = [
        FieldFault(at, f"an integer from 0 to {MAX_AMOUNT_MINOR}, or null")
        for at, amount in amounts.items()
        if amount is not None and not 0 <= amount <= MAX_AMOUNT_MINOR
    ]
    faults += [
        FieldFault(f"/limits_by_currency/{currency}", "is no currency that can be sold in")
        for currency in wish.limits_by_currency
        if currency not in EXPONENTS
    ]
    if not 0 <= wish.run_at_hour <= 23:
        faults.append(FieldFault("/run_at_hour", "an hour from 0 to 23"))
    if not 60 <= wish.unknown_after_s <= 86_400:
        faults.append(FieldFault("/unknown_after_s", "seconds from 60 to 86,400"))
    if faults:
        raise InvalidRequestError("The settings cannot be like this.", fields=tuple(faults))
