"""What can go wrong on command between us and the sandbox, and the payment methods that make it so.

Each fault says whether the thing is done before the answer goes wrong. Faults of a payment method strike its first
request only, so that asking again converges; faults set over the control calls strike as often as they say.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256


class Fault(StrEnum):
    HANG_BEFORE = "hang-before"
    HANG_AFTER = "hang-after"
    DROP_BEFORE = "drop-before"
    DROP_AFTER = "drop-after"
    BROKEN_ANSWER = "broken-answer"
    STATUS_429 = "status-429"
    STATUS_500 = "status-500"
    STATUS_500_AFTER = "status-500-after"
    STATUS_503 = "status-503"
    SLOW = "slow"


class WebhookFault(StrEnum):
    """What can go wrong with an event that the sandbox tells of by itself."""

    SLOW = "webhook-slow"
    DUPLICATE = "webhook-duplicate"
    REORDER = "webhook-reorder"
    LOST = "webhook-lost"


WEBHOOK = "webhook"
LIST = "list"
AnyFault = Fault | WebhookFault


def fault_named(name: str) -> AnyFault:
    """Raises ValueError: there is no such fault."""
    return WebhookFault(name) if name.startswith(f"{WEBHOOK}-") else Fault(name)


DONE_BEFORE_ANSWER = {
    Fault.HANG_AFTER, Fault.DROP_AFTER, Fault.BROKEN_ANSWER, Fault.STATUS_500_AFTER, Fault.SLOW,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Method:
    """What a magic payment method does to its authorization."""

    decline_code: str = ""
    needs_action: bool = False
    fault: Fault | None = None


METHODS = {
    "card-approve": Method(),
    "card-decline": Method(decline_code="card-declined"),
    "card-no-funds": Method(decline_code="insufficient-funds"),
    "card-3ds": Method(needs_action=True),
    "card-hang": Method(fault=Fault.HANG_BEFORE),
    "card-hang-after": Method(fault=Fault.HANG_AFTER),
    "card-answer-lost": Method(fault=Fault.DROP_AFTER),
    "card-500": Method(fault=Fault.STATUS_500),
    "card-429": Method(fault=Fault.STATUS_429),
    "card-slow": Method(fault=Fault.SLOW),
}


def method_of(payment_method: str) -> str:
    """`card-approve` of `card-approve:anna`: what comes behind the colon only tells cards apart."""
    return payment_method.partition(":")[0]


def fingerprint_of(payment_method: str) -> str:
    """The provider's name for the card of `card-approve:anna`, whatever the method; none for a card without a name."""
    card = payment_method.partition(":")[2]
    return f"fp_{sha256(card.encode()).hexdigest()[:24]}" if card else ""


SCENARIOS = {"approve", "decline", *(fault.value for fault in Fault), *(fault.value for fault in WebhookFault)}


@dataclass(slots=True)
class Planned:
    """A fault set by a control call: for `on` (a kind of operation, `enquire`, `list`, `webhook`, or `any` call),
    `times` more times.
    """

    on: str
    fault: AnyFault
    times: int


class FaultPlan:
    """Which fault strikes now; `fired` counts those that did, by `kind:fault`."""

    def __init__(self) -> None:
        self.planned: list[Planned] = []
        self.standing: Fault | None = None
        self.standing_webhook: WebhookFault | None = None
        self.fired: dict[str, int] = {}
        self._struck: set[str] = set()

    def strike(self, on: str, method: Method, operation_id: str) -> Fault | None:
        """The fault of this request, counted; None for most."""
        fault = self._planned_for(on) or self.standing
        if fault is None and method.fault is not None and operation_id not in self._struck:
            self._struck.add(operation_id)
            fault = method.fault
        if not isinstance(fault, Fault):
            return None
        self._count(on, fault)
        return fault

    def strike_webhook(self) -> WebhookFault | None:
        """The fault of the event that is to be sent now, counted."""
        fault = self._planned_for(WEBHOOK) or self.standing_webhook
        if not isinstance(fault, WebhookFault):
            return None
        self._count(WEBHOOK, fault)
        return fault

    def _count(self, on: str, fault: AnyFault) -> None:
        name = f"{on}:{fault.value}"
        self.fired[name] = self.fired.get(name, 0) + 1

    def _planned_for(self, on: str) -> AnyFault | None:
        for planned in self.planned:
            if (planned.on == on or (planned.on == "any" and on != WEBHOOK)) and planned.times > 0:
                planned.times -= 1
                if planned.times == 0:
                    self.planned.remove(planned)
                return planned.fault
        return None
