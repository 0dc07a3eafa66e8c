"""What a test or a person tells the sandbox to do.

    POST   /control/faults    {on, fault, times}: `on` authorize|capture|void|refund|withdraw|enquire|list|any|webhook
    DELETE /control/faults    no more faults
    GET    /control/faults    {planned, fired}
    POST   /control/actions   {operation_id, approve}: the buyer did what a 3-D Secure challenge asked
    POST   /control/by-hand   {kind, charge, amount, currency}: done at the provider itself, by no caller
    POST   /control/clock     {days, seconds}: the provider's own time moves on
    POST   /control/webhooks  {url}: where events are sent to from now on, "" for nowhere
    GET    /control/ledger    {operations, charges}

What cannot be done is refused with 400, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from booking.payments.sandbox_faults import LIST, WEBHOOK, FaultPlan, Planned, WebhookFault, fault_named
from booking.payments.sandbox_http import BadRequestError, Call, Reply
from booking.payments.sandbox_ledger import DAY_S, Kind, Operation, SandboxLedger, Status
from booking.payments.sandbox_webhooks import WebhookSender

_ON = {*Kind, "enquire", "withdraw", "any", LIST, WEBHOOK}


class Controls:
    """See the module. `tell` is what a caller is told of an operation."""

    def __init__(
        self,
        ledger: SandboxLedger,
        faults: FaultPlan,
        webhooks: WebhookSender,
        tell: Callable[[Operation], dict[str, Any]],
    ) -> None:
        self._ledger, self._faults, self._webhooks, self._tell = ledger, faults, webhooks, tell
        self._calls: dict[tuple[str, str], Callable[[Call], Reply]] = {
            ("POST", "/control/faults"): self._plan_fault,
            ("DELETE", "/control/faults"): self._forget_faults,
            ("GET", "/control/faults"): self._tell_faults,
            ("POST", "/control/actions"): self._complete_action,
            ("POST", "/control/by-hand"): self._act_by_hand,
            ("POST", "/control/clock"): self._move_clock,
            ("POST", "/control/webhooks"): self._send_events_to,
            ("GET", "/control/ledger"): self._tell_ledger,
        }

    def find(self, call: Call) -> Callable[[Call], Reply] | None:
        """What serves a control call; None for every other call."""
        return self._calls.get((call.method, call.path))

    def _plan_fault(self, call: Call) -> Reply:
        asked = call.json()
        planned = Planned(str(asked.get("on", "any")), fault_named(asked["fault"]), int(asked.get("times", 1)))
        if planned.on not in _ON or planned.times < 1:
            raise BadRequestError("on or times")
        if (planned.on == WEBHOOK) is not isinstance(planned.fault, WebhookFault):
            raise BadRequestError(f"{planned.fault.value} cannot strike {planned.on}")
        self._faults.planned.append(planned)
        return Reply(200)

    def _forget_faults(self, _call: Call) -> Reply:
        self._faults.planned.clear()
        self._faults.standing = self._faults.standing_webhook = None
        return Reply(200)

    def _tell_faults(self, _call: Call) -> Reply:
        planned = [{"on": p.on, "fault": p.fault.value, "times": p.times} for p in self._faults.planned]
        return Reply(200, {"planned": planned, "fired": self._faults.fired})

    def _complete_action(self, call: Call) -> Reply:
        asked = call.json()
        return self._told(self._ledger.complete_action(str(asked["operation_id"]), approve=bool(asked["approve"])))

    def _act_by_hand(self, call: Call) -> Reply:
        asked = call.json()
        amount = asked.get("amount", 0)
        if isinstance(amount, bool) or not isinstance(amount, int) or amount < 0:
            raise BadRequestError("amount must be a whole number of minor units")
        return self._told(
            self._ledger.by_hand(
                Kind(asked["kind"]),
                charge=str(asked.get("charge", "")),
                amount=amount,
                currency=str(asked.get("currency", "")),
            )
        )

    def _told(self, operation: Operation) -> Reply:
        return Reply(402 if operation.status is Status.DECLINED else 200, self._tell(operation))

    def _move_clock(self, call: Call) -> Reply:
        asked = call.json()
        self._ledger.ahead_s += float(asked.get("days", 0)) * DAY_S + float(asked.get("seconds", 0))
        return Reply(200, {"now": self._ledger.now})

    def _send_events_to(self, call: Call) -> Reply:
        url = str(call.json()["url"])
        if url and not url.startswith("http://"):
            raise BadRequestError("url")
        self._webhooks.url = url
        return Reply(200)

    def _tell_ledger(self, _call: Call) -> Reply:
        operations = [asdict(operation) for operation in self._ledger.operations.values()]
        return Reply(200, {"operations": operations, "charges": [asdict(c) for c in self._ledger.charges.values()]})
