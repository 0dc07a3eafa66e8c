"""Tests wait as long as a busy machine needs, and give up soon only what will never be answered, or not in time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from booking.payments.sandbox_client import SandboxProvider
from booking.payments.sandbox_faults import METHODS, Fault

HASTE_S, SLOW_S = 1.0, 2.0
"""How long an answer is waited for that will not come; a sandbox that is to be slow takes longer (`slow_s`)."""
_KEPT_BACK = frozenset({Fault.HANG_BEFORE, Fault.HANG_AFTER, Fault.SLOW})


@contextmanager
def haste(provider: SandboxProvider, fault: Fault | None) -> Iterator[None]:
    """Wait for `HASTE_S` in here when the fault keeps an answer back."""
    patience_s = provider._answer_timeout_s
    if fault in _KEPT_BACK:
        provider._answer_timeout_s = HASTE_S
    yield
    provider._answer_timeout_s = patience_s


def fault_of(payment_method: str) -> Fault | None:
    """What goes wrong with the first authorization of a payment method."""
    return METHODS[payment_method].fault
