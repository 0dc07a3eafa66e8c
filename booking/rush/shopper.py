"""What one buyer does: hold, try again elsewhere, check out, pay, look whether it is done."""

from __future__ import annotations

import asyncio
from random import Random
from uuid import UUID

import msgspec

from booking.crowd import ELSEWHERE_AFTER_S, ELSEWHERE_TRIES, FORM_S, RELEASE_AFTER_S
from booking.plain_http.message import Answer
from booking.rush.office import JOIN, LEAVE, POLL, Office, code_of
from booking.rush.popularity import SeatPicker

HOLD, AGAIN, RELEASE = "hold", "sent again", "release"
CHECKOUT, PAY, STATUS, MAP = "checkout", "pay", "order status", "map"
KINDS = (JOIN, POLL, HOLD, AGAIN, RELEASE, CHECKOUT, PAY, STATUS, MAP, LEAVE)

_PATIENT_TRIES = 2
_STATUS_POLLS = 4
_POLL_EVERY_S = 0.5
_DOUBLE_CLICK_S = 0.05
_SETTLED = {"CONFIRMED", "CANCELLED", "EXPIRED"}


class _Seat(msgspec.Struct):
    seat_no: int


class _Held(msgspec.Struct):
    hold_id: UUID
    seats: tuple[_Seat, ...]


class _Ordered(msgspec.Struct):
    order_id: UUID
    status: str
    amount_minor: int


_read_hold = msgspec.json.Decoder(_Held)
_read_order = msgspec.json.Decoder(_Ordered)


def read_hold(answer: Answer) -> _Held:
    """A hold that was won."""
    return _read_hold.decode(answer.body)


class Shopper:
    """One buyer with an account. `headers` go with each request."""

    headers = ""
    patient_tries = _PATIENT_TRIES

    def __init__(self, office: Office, picker: SeatPicker, rng: Random, token: str) -> None:
        self._office = office
        self._picker = picker
        self._rng = rng
        self._token = token
        self.bought = False
        self._holds_path = f"/v1/events/{office.plan.sale.event_id}/holds"

    async def buy(self, due: float, seats: tuple[int, ...]) -> None:
        """Everything from the click on, which is meant to happen at `due`."""
        for attempt in range(1 + ELSEWHERE_TRIES):
            answer = await self._hold(due, seats)
            if answer is None or answer.status != 201:
                if answer is None or code_of(answer) != "seats-taken" or attempt == ELSEWHERE_TRIES:
                    return
                due = self._after(*ELSEWHERE_AFTER_S)
                seats = self._picker.anywhere(len(seats))
                continue
            held = _read_hold.decode(answer.body)
            got = sorted(seat.seat_no for seat in held.seats)
            if got != sorted(seats):
                self._office.contradict(f"hold {held.hold_id}: asked for {sorted(seats)}, got {got}")
            await self._after_hold(held.hold_id, got)
            return

    async def _hold(self, due: float, seats: tuple[int, ...]) -> Answer | None:
        key = self._key()
        if self._rng.random() >= self._office.plan.traffic.double_clicks:
            return await self._hold_patiently(HOLD, due, seats, key)
        first, second = await asyncio.gather(
            self._hold_patiently(HOLD, due, seats, key),
            self._hold_patiently(AGAIN, due + self._rng.random() * _DOUBLE_CLICK_S, seats, key),
        )
        if first is not None and second is not None and first.status == second.status == 201:
            ids = {_read_hold.decode(answer.body).hold_id for answer in (first, second)}
            if len(ids) > 1:
                self._office.contradict(f"key {key}: two holds, {' and '.join(sorted(map(str, ids)))}")
        return first if first is not None and first.status == 201 else second

    async def _hold_patiently(self, kind: str, due: float, seats: tuple[int, ...], key: str) -> Answer | None:
        return await self._ask(kind, due, "POST", self._holds_path, {"seats": list(seats)}, key=key)

    async def _after_hold(self, hold_id: UUID, seats: list[int]) -> None:
        traffic = self._office.plan.traffic
        if self._rng.random() < traffic.buyers:
            await self._check_out(hold_id, seats)
        else:
            await self._let_go(hold_id)

    async def _let_go(self, hold_id: UUID) -> None:
        traffic = self._office.plan.traffic
        if self._rng.random() < traffic.releases:
            await self._ask(RELEASE, self._after(*RELEASE_AFTER_S), "DELETE", f"/v1/holds/{hold_id}")

    async def _check_out(self, hold_id: UUID, seats: list[int]) -> None:
        sale = self._office.plan.sale
        body = {
            "lines": [{"seat_no": seat, "price_type_id": sale.price_type_id} for seat in seats],
            "shown_total_minor": sum(sale.prices[seat] for seat in seats),
        }
        answer = await self._ask(CHECKOUT, self._form_filled_in(), "POST", f"/v1/holds/{hold_id}/checkout", body)
        if answer is None or answer.status != 201:
            return
        order = _read_order.decode(answer.body)
        declined = self._card_declines()
        payment = {
            "kind": "authorize", "provider": "sandbox", "amount_minor": order.amount_minor,
            "payment_method": "card-decline" if declined else "card-approve",
        }  # fmt: skip
        answer = await self._ask(PAY, self._after(0.1, 0.6), "POST", f"/v1/orders/{order.order_id}/payments", payment)
        if answer is not None and answer.status == 201 and not declined:
            await self._look(order.order_id)

    async def _look(self, order_id: UUID) -> None:
        """Ask for the order until it is settled, a few times."""
        due = self._after(0.0, 0.1)
        for _ in range(_STATUS_POLLS):
            answer = await self._office.ask(STATUS, due, "GET", f"/v1/orders/{order_id}", token=self._token)
            if answer is not None and answer.status == 200:
                order = _read_order.decode(answer.body)
                self._office.confirmed += order.status == "CONFIRMED"
                self.bought = self.bought or order.status == "CONFIRMED"
                if order.status in _SETTLED:
                    return
            due = self._after(_POLL_EVERY_S, _POLL_EVERY_S * 1.5)

    async def _ask(
        self, kind: str, due: float, method: str, path: str, body: object = None, *, key: str = ""
    ) -> Answer | None:
        """Ask, and when told to come back later, do so with the same key, if this client is one that does."""
        key = key or self._key()
        answer = await self._office.ask(
            kind, due, method, path, token=self._token, key=key, body=body, headers=self.headers
        )
        for _ in range(self.patient_tries):
            wait_s = retry_after_s(answer)
            if wait_s is None or not self._is_patient():
                break
            due = self._after(wait_s, wait_s + 1)
            answer = await self._office.ask(
                AGAIN, due, method, path, token=self._token, key=key, body=body, headers=self.headers
            )
        return answer

    def _card_declines(self) -> bool:
        """Whether the bank refuses."""
        return self._rng.random() < self._office.plan.traffic.declines

    def _is_patient(self) -> bool:
        """Whether this buyer does as Retry-After says, this time."""
        return self._rng.random() < self._office.plan.traffic.patience

    def _form_filled_in(self) -> float:
        """When the form is filled in."""
        return self._after(*FORM_S)

    def _after(self, least_s: float, most_s: float) -> float:
        """An instant that this buyer means to act at, from now on."""
        return asyncio.get_running_loop().time() + self._rng.uniform(least_s, most_s)

    def _key(self) -> str:
        return f"{self._rng.getrandbits(128):032x}"


def retry_after_s(answer: Answer | None) -> float | None:
    """How long an answer asks to wait before the same request; None when it does not."""
    if answer is None or answer.status not in {429, 503}:
        return None
    told = answer.headers.get(b"retry-after", b"")
    return float(told) if told.isdigit() else None
