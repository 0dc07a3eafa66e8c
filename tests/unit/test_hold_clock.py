"""Which clock counts at a counter: the booking system's; this machine's own only until that is known (R4)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from app.core.hold_clock import ServerClock


def test_the_time_of_the_booking_system_counts_and_the_machines_own_only_before_it() -> None:
    steady = [100.0]
    clock = ServerClock(lambda: steady[0])
    own = datetime.now(UTC)
    assert abs(clock.now_here() - own) < timedelta(minutes=1)
    server = own + timedelta(minutes=10)  # or this machine is ten minutes late
    clock.observe(server, 100.0, 100.2)
    steady[0] = 130.0
    assert clock.now_here() == server + timedelta(seconds=30)
