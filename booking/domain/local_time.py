"""From what a clock on the wall of a venue shows to an instant (cases W8–W10).

A local time that the clocks show twice, or skip, is never guessed: the caller says which one, or is refused.
"""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from booking.domain.errors import FieldFault, InvalidRequestError


def zone_of(name: str, *, pointer: str = "/zone") -> ZoneInfo:
    """The time zone of that IANA name.

    Raises:
        InvalidRequestError: There is no such zone.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        fault = FieldFault(pointer, f'"{name}" is no time zone; a name such as Europe/Lisbon is expected')
        raise InvalidRequestError("The time zone is not known.", fields=(fault,)) from error


def instant_of(local: datetime, zone: str, *, fold: int | None = None, pointer: str = "/starts_at") -> datetime:
    """The instant at which clocks in `zone` show `local`, in UTC.

    `fold` 0 or 1 picks the first or second of two instants when the clocks go back; it is ignored elsewhere.

    Raises:
        InvalidRequestError: Unknown zone; `local` carries an offset; the clocks skip it; or they show it twice and
            `fold` does not say which is meant (W10).
    """
    if local.tzinfo is not None:
        raise _refusal(pointer, f"{local.isoformat()} carries an offset; a local time of the venue is expected")
    clock = zone_of(zone)
    first, second = (local.replace(tzinfo=clock, fold=which).astimezone(UTC) for which in (0, 1))
    shown = local.replace(fold=0)
    if first.astimezone(clock).replace(tzinfo=None, fold=0) != shown:
        raise _refusal(pointer, f"{local.isoformat(' ', 'minutes')} does not exist in {zone}: the clocks skip it")
    if first == second:
        return first
    if fold is None:
        times = f"{first:%H:%M} or {second:%H:%M} UTC"
        message = f"{local.isoformat(' ', 'minutes')} comes twice in {zone} ({times}); say which is meant"
        raise _refusal(pointer, message)
    return second if fold else first


def _refusal(pointer: str, message: str) -> InvalidRequestError:
    return InvalidRequestError("The local time is not one instant.", fields=(FieldFault(pointer, message),))
