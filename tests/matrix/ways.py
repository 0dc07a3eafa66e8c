"""How each operation that a provider does comes about: what is there before, the call that asks for it, and its end.

A call drives what it opens when the API has the provider; what the quiet API opens, the worker sends.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from uuid_utils.compat import uuid7

from booking.domain.caller import Role
from booking.domain.model import OperationResult, ResultOutcome
from booking.domain.states import OperationKind
from booking.services import drive_operation, take_payment
from tests.matrix.house import House, one_person_is_enough
from tests.matrix.table import Operation
from tests.server.box_office import ADULT_PRICE

TOTAL = 2 * ADULT_PRICE
PART = 1_000


@dataclass
class Case:
    """One sale on its way into a cell. `path`, `body`, `token` and `key` are the call that asks for the operation."""

    house: House
    token: str
    order: dict[str, Any]
    path: str = ""
    body: dict[str, Any] = field(default_factory=dict)
    key: str = field(default_factory=lambda: str(uuid4()))

    @property
    def order_id(self) -> str:
        return str(self.order["order_id"])

    def asks(self, path: str, **body: Any) -> Case:
        self.path, self.body = path, body
        return self


@dataclass(frozen=True, slots=True)
class End:
    """How it all ends: the order, what stayed of its money, the items that have to be there."""

    order: str
    stayed: int
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Way:
    """`kind` is the operation's, there and here. `leave` opens it so that a worker sends it.

    `at_once`: the API sends it in the call that asks for it. `declines` has the provider decline it, before it is
    asked. `opened_by` names what commits it, where the API opens it and sends nothing.
    """

    kind: str
    prepare: Callable[[House], Awaitable[Case]]
    leave: Callable[[Case], Awaitable[None]]
    declines: Callable[[Case], Awaitable[None]]
    done: End
    declined: End
    at_once: bool = True
    opened_by: str = ""
    after_decline: Callable[[Case], Awaitable[None]] | None = None


# ------------------------------------------------------------ authorize


async def _unpaid(house: House) -> Case:
    token = await house.quiet.fan()
    case = Case(house, token, await house.ordered(token))
    return case.asks(
        f"/v1/orders/{case.order_id}/payments", kind="authorize", provider="sandbox", amount_minor=TOTAL,
        payment_method="card-approve",
    )  # fmt: skip


async def _part_paid_in_cash(house: House) -> Case:
    token = await house.staff(Role.CLERK)
    case = Case(house, token, await house.ordered(token))
    path = f"/v1/orders/{case.order_id}/payments"
    await house.post(house.quiet, path, _cash(PART, in_parts=True), token)
    return case.asks(
        path, kind="authorize", provider="sandbox", amount_minor=TOTAL - PART, payment_method="card-approve",
        in_parts=True,
    )  # fmt: skip


def _cash(amount: int, **more: Any) -> dict[str, Any]:
    return {"kind": "cash", "provider": "drawer", "amount_minor": amount, "tendered_minor": amount, **more}


async def _ask_quietly(case: Case) -> None:
    await case.house.post(case.house.quiet, case.path, case.body, case.token, case.key)


async def _bad_card(case: Case) -> None:
    case.body["payment_method"] = "card-decline"


async def _rest_in_cash(case: Case) -> None:
    path = f"/v1/orders/{case.order_id}/payments"
    await case.house.post(case.house.quiet, path, _cash(TOTAL - PART), case.token)


# ------------------------------------------------------------ capture


async def _granted_and_not_captured(case: Case) -> None:
    await _ask_quietly(case)
    operation = await case.house.operation(case.order_id, OperationKind.AUTHORIZE)
    assert await drive_operation.authorize(case.house.db, case.house.provider, operation) is not None


async def _authorization_ran_out(case: Case) -> None:
    await case.house.sandbox.tell("clock", days=8)


# ------------------------------------------------------------ void


async def _paid_in_cash_instead(house: House) -> Case:
    """The card was granted, nobody heard of it, and cash was taken instead: its success can only be voided."""
    token = await house.staff(Role.CLERK)
    case = Case(house, token, await house.ordered(token))
    path = f"/v1/orders/{case.order_id}/payments"
    card = {"kind": "authorize", "provider": "sandbox", "amount_minor": TOTAL, "payment_method": "card-approve"}
    await house.post(house.quiet, path, card, token)
    operation = await house.operation(case.order_id, OperationKind.AUTHORIZE)
    assert await take_payment.mark_sent(house.db, operation.operation_id)
    await house.provider.authorize(operation)
    unheard = OperationResult(ResultOutcome.UNKNOWN, 0)
    await take_payment.record_result(house.db, operation.operation_id, unheard, source="provider:sandbox")
    await house.post(house.quiet, path, _cash(TOTAL, instead_of=str(operation.operation_id)), token)
    return case.asks(f"/v1/payments/{operation.operation_id}/withdraw")


async def _leave_to_the_worker(_case: Case) -> None:
    """A worker asks about the card by itself."""


async def _voided_by_hand(case: Case) -> None:
    (charge,) = case.house.sandbox.books().charges
    await case.house.sandbox.tell("by-hand", kind="void", charge=charge)


# ------------------------------------------------------------ refund


async def _sold(house: House) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """An order that is paid by card and captured, and its tickets."""
    case = await _unpaid(house)
    await house.post(house.api, case.path, case.body, case.token)
    await house.round()
    answer = await house.quiet.call("GET", f"/v1/orders/{case.order_id}/tickets", token=case.token)
    tickets: list[dict[str, Any]] = answer.json()["tickets"]
    assert len(tickets) == 2
    return case.order, tickets


async def _refund_of(house: House, count: int) -> Case:
    order, tickets = await _sold(house)
    case = Case(house, await house.staff(Role.SUPERVISOR), order)
    return case.asks(
        f"/v1/orders/{case.order_id}/refunds", ticket_ids=[one["ticket_id"] for one in tickets[:count]], way="same",
        expected_minor=ADULT_PRICE * count, seats_to_sale=True, reason="the customer asked",
    )  # fmt: skip


async def _whole(house: House) -> Case:
    return await _refund_of(house, 2)


async def _part(house: House) -> Case:
    return await _refund_of(house, 1)


async def _refunded_by_hand(case: Case) -> None:
    (charge,) = case.house.sandbox.books().charges
    await case.house.sandbox.tell("by-hand", kind="refund", charge=charge, amount=TOTAL)


# ------------------------------------------------------------ a supervisor's


async def _decline_here(house: House, order_id: str, kind: OperationKind) -> None:
    """It was declined for a while: this is known here, and the provider keeps no book of it."""
    operation = await house.operation(order_id, kind)
    declined = OperationResult(ResultOutcome.DECLINED, 0, decline_code="try-later")
    await take_payment.record_result(house.db, operation.operation_id, declined, source="provider:sandbox")


async def _act(case: Case, action: str, **more: Any) -> Case:
    """What a supervisor wants of the one item that is open."""
    await one_person_is_enough(case.house.db)
    item = await case.house.item()
    case.token = await case.house.staff(Role.SUPERVISOR)
    return case.asks(
        f"/v1/reconciliation/items/{item['item_id']}/actions", action=action, version=item["version"],
        reason="seen with the bank", **more,
    )  # fmt: skip


async def _capture_refused(house: House) -> Case:
    case = await _unpaid(house)
    await _granted_and_not_captured(case)
    await _decline_here(house, case.order_id, OperationKind.CAPTURE)
    case.key = str(uuid4())
    return await _act(case, "capture")


async def _void_refused(house: House) -> Case:
    case = await _paid_in_cash_instead(house)
    operation = await house.operation(case.order_id, OperationKind.AUTHORIZE)
    await drive_operation.enquire(house.db, house.provider, operation)
    await _decline_here(house, case.order_id, OperationKind.VOID)
    return await _act(case, "void")


async def _stray_charge(house: House) -> Case:
    """Somebody has charged at the provider by hand; it was found, and attached to an order that is paid already."""
    order, _ = await _sold(house)
    charge = (await house.sandbox.tell("by-hand", kind="authorize", amount=TOTAL, currency="EUR"))["charge"]
    await house.sandbox.tell("by-hand", kind="capture", charge=charge)
    await house.db.fetch(
        "SELECT open_item_about($1, 'provider-only', 'sandbox:' || $2::text, NULL, NULL, NULL, 'sandbox', $3::bigint,"
        " 'EUR',"
        " jsonb_build_object('provider_ref', $2::text, 'authorized_minor', $3::bigint, 'captured_minor', $3::bigint),"
        " booking_now())",
        uuid7(), charge, TOTAL,
    )  # fmt: skip
    case = await _act(Case(house, "", order), "attach", order_id=order["order_id"])
    await _ask_quietly(case)
    case.key = str(uuid4())
    return await _act(case, "refund")


async def _stray_refunded_by_hand(case: Case) -> None:
    charge = list(case.house.sandbox.books().charges)[-1]
    await case.house.sandbox.tell("by-hand", kind="refund", charge=charge, amount=TOTAL)


WAYS: Final[Mapping[Operation, Way]] = {
    Operation.AUTHORIZE: Way(
        "authorize", _unpaid, _ask_quietly, _bad_card, End("CONFIRMED", TOTAL), End("EXPIRED", 0)
    ),
    Operation.AUTHORIZE_PART: Way(
        "authorize", _part_paid_in_cash, _ask_quietly, _bad_card, End("CONFIRMED", TOTAL), End("CONFIRMED", TOTAL),
        after_decline=_rest_in_cash,
    ),
    Operation.CAPTURE: Way(
        "capture", _unpaid, _granted_and_not_captured, _authorization_ran_out, End("CONFIRMED", TOTAL),
        End("CONFIRMED", 0, ("capture-failed",)),
    ),
    Operation.VOID: Way(
        "void", _paid_in_cash_instead, _leave_to_the_worker, _voided_by_hand, End("CONFIRMED", TOTAL),
        End("CONFIRMED", TOTAL, ("void-failed",)),
    ),
    Operation.REFUND_WHOLE: Way(
        "refund", _whole, _ask_quietly, _refunded_by_hand, End("REFUNDED", 0),
        End("CONFIRMED", TOTAL, ("refund-failed",)),
    ),
    Operation.REFUND_PART: Way(
        "refund", _part, _ask_quietly, _refunded_by_hand, End("PARTLY_REFUNDED", ADULT_PRICE),
        End("CONFIRMED", TOTAL, ("refund-failed",)),
    ),
    Operation.SUPERVISOR_CAPTURE: Way(
        "capture", _capture_refused, _ask_quietly, _authorization_ran_out, End("CONFIRMED", TOTAL),
        End("CONFIRMED", 0, ("capture-failed",)), at_once=False, opened_by="act",
    ),
    Operation.SUPERVISOR_VOID: Way(
        "void", _void_refused, _ask_quietly, _voided_by_hand, End("CONFIRMED", TOTAL),
        End("CONFIRMED", TOTAL, ("void-failed",)), at_once=False, opened_by="act",
    ),
    Operation.SUPERVISOR_REFUND: Way(
        "refund", _stray_charge, _ask_quietly, _stray_refunded_by_hand, End("CONFIRMED", TOTAL),
        End("CONFIRMED", 2 * TOTAL, ("provider-only", "refund-failed")), at_once=False, opened_by="act",
    ),
}  # fmt: skip
