"""The sale of each event, second by second: who shops, who left, who of them bought (R20, R42).

Who left is what had come and is no longer there: holds made since a minute ago, less the rise of open holds. So a hold
that runs out counts at its instant, whether or not anybody sweeps (R5).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from booking.domain.figures import Figure
from booking.figures.house import HouseReading, SaleChanges, WatchedEvent
from booking.figures.model import EventPart, SeatCounts
from booking.figures.sums import Summed

WINDOW_S = 60
KNOWN_AFTER_S = 5
"""Before so many seconds nothing is said about a minute."""

_NOTHING = SaleChanges(0, 0, 0)
_ADDED = (
    Figure.SHOPPERS_ACTIVE, Figure.HOLDS_MADE_PER_S, Figure.SEATS_FREE, Figure.SEATS_HELD, Figure.SEATS_SOLD,
    Figure.ROOM_WAITING, Figure.ROOM_AWAY, Figure.ROOM_INSIDE, Figure.ADMISSION_SET_PER_MIN,
    Figure.ADMISSION_MEASURED_PER_MIN, Figure.ORDERS_CONFIRMED_PER_MIN, Figure.DEPARTURES_PER_MIN,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Moment:
    second: int
    shoppers: int
    changes: SaleChanges


class _EventTrack:
    """One event's last minute."""

    def __init__(self) -> None:
        self.moments: deque[_Moment] = deque()

    def put(self, moment: _Moment) -> None:
        self.moments.append(moment)
        while self.moments[0].second < moment.second - WINDOW_S:
            self.moments.popleft()

    @property
    def shoppers(self) -> int | None:
        """How many there were last; None before anything is known."""
        return self.moments[-1].shoppers if self.moments else None

    def seconds_to(self, second: int) -> int:
        """Since the last moment: changes are of that time."""
        return max(1, second - self.moments[-1].second) if self.moments else 1

    @property
    def age_s(self) -> int:
        return self.moments[-1].second - self.moments[0].second

    def since_then(self) -> tuple[int, int, int]:
        """(held, released, confirmed) after the first moment of the window."""
        after = [moment.changes for moment in list(self.moments)[1:]]
        return sum(one.held for one in after), sum(one.released for one in after), sum(one.confirmed for one in after)

    @property
    def departures(self) -> int:
        held, _, _ = self.since_then()
        return max(0, held - (self.moments[-1].shoppers - self.moments[0].shoppers))


class Sales:
    """See the module. `add` is called once a second."""

    def __init__(self) -> None:
        self._tracks: dict[int, _EventTrack] = {}

    def add(self, reading: HouseReading, summed: Summed, second: int) -> dict[int, EventPart]:
        """Each watched event in this second."""
        self._tracks = {one.event_id: self._tracks.get(one.event_id, _EventTrack()) for one in reading.events}
        return {one.event_id: self._part(one, reading, summed, second) for one in reading.events}

    def _part(self, event: WatchedEvent, reading: HouseReading, summed: Summed, second: int) -> EventPart:
        figures: dict[str, float] = dict(summed.events.get(event.event_id, {}))
        figures |= _seat_figures(event, summed.seats.get(event.event_id) or reading.counted.get(event.event_id))
        if reading.unknown_by_event is not None:
            figures[Figure.PAYMENTS_UNKNOWN] = reading.unknown_by_event.get(event.event_id, 0)
        if event.event_id in (reading.unsteered or {}):
            figures[Figure.ADMISSION_UNSTEERED_S] = (reading.unsteered or {})[event.event_id]
        track = self._tracks[event.event_id]
        shoppers = track.shoppers if reading.shoppers is None else reading.shoppers.get(event.event_id, 0)
        if reading.shoppers is not None:
            figures[Figure.SHOPPERS_ACTIVE] = reading.shoppers.get(event.event_id, 0)
        if reading.changes is not None and shoppers is not None:
            changes = reading.changes.get(event.event_id, _NOTHING)
            figures[Figure.HOLDS_MADE_PER_S] = changes.held / track.seconds_to(second)
            track.put(_Moment(second, shoppers, changes))
        elif shoppers is not None and not track.moments:
            track.put(_Moment(second, shoppers, _NOTHING))  # from here on it is counted
        if track.moments and track.age_s >= KNOWN_AFTER_S:
            figures |= _minute_figures(track)
        return EventPart(
            event_id=event.event_id, name=event.name, status=event.status,
            figures={str(name): value for name, value in figures.items()},
        )  # fmt: skip

    def house(self, parts: Mapping[int, EventPart]) -> dict[str, float]:
        """The figures of all events together."""
        found = {name: sum(values) for name in _ADDED if (values := _values(parts.values(), name))}
        waits = _values(parts.values(), Figure.ROOM_WAIT_S)
        if waits:
            found[Figure.ROOM_WAIT_S] = max(waits)
        tracks = [track for track in self._tracks.values() if track.moments and track.age_s >= KNOWN_AFTER_S]
        return {str(name): value for name, value in found.items()} | _shares(tracks)


def _values(parts: Iterable[EventPart], name: str) -> list[float]:
    return [part.figures[name] for part in parts if name in part.figures]


def _seat_figures(event: WatchedEvent, seats: SeatCounts | None) -> dict[str, float]:
    if seats is None:
        return {}
    places = event.places
    return {
        Figure.SEATS_FREE: seats.free + places.free,
        Figure.SEATS_HELD: seats.held + places.held,
        Figure.SEATS_SOLD: seats.sold + places.sold,
    }


def _minute_figures(track: _EventTrack) -> dict[str, float]:
    held_released_confirmed = track.since_then()
    scale = WINDOW_S / track.age_s
    return {
        Figure.ORDERS_CONFIRMED_PER_MIN: held_released_confirmed[2] * scale,
        Figure.DEPARTURES_PER_MIN: track.departures * scale,
        **_shares([track]),
    }


def _shares(tracks: Iterable[_EventTrack]) -> dict[str, float]:
    tracks = list(tracks)
    left = sum(track.departures for track in tracks)
    if not left:
        return {}
    released = sum(track.since_then()[1] for track in tracks)
    confirmed = sum(track.since_then()[2] for track in tracks)
    return {
        Figure.COMPLETION_SHARE: min(1.0, confirmed / left),
        Figure.HOLD_EXPIRY_SHARE: min(1.0, max(0, left - released - confirmed) / left),
    }
