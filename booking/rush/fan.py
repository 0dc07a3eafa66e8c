"""One fan who comes through the waiting room: join, wait, the turn, look at the map, hold, fill in, pay (R16–R18).

Who a fan is (how long he looks, what he wants, whether he buys, how patient he is, what his bank says) depends on his
number alone, so that the same people come whatever the room does with them.
"""

from __future__ import annotations

import asyncio
from random import Random

import msgspec

from booking.crowd import ELSEWHERE_AFTER_S, FAN_ELSEWHERE_TRIES, FAN_PATIENT_TRIES
from booking.plain_http.message import Answer
from booking.rush.office import JOIN, LEAVE, POLL, Office, code_of
from booking.rush.popularity import SeatPicker
from booking.rush.shopper import HOLD, Shopper, read_hold

_ASK_FOR_A_TOKEN_AFTER_S = 45.0
_OUT = {"bought", "left", "over"}
_SOONEST_S = 0.5


class _Standing(msgspec.Struct):
    state: str
    availability: str
    retry_after_s: int
    admission_token: str = ""


_read_standing = msgspec.json.Decoder(_Standing)


class Fan(Shopper):
    """See the module."""

    patient_tries = FAN_PATIENT_TRIES

    def __init__(self, office: Office, picker: SeatPicker, number: int, token: str) -> None:
        rng = Random(f"{office.plan.seed_of_fans}:{number}")  # noqa: S311 - a crowd, not a secret
        super().__init__(office, picker.of(rng), rng, token)
        traffic = office.plan.traffic
        self._session = self._key()
        self._wish = self._picker.popular()
        self._looks_s = _triangle(rng, traffic.look_s)
        self._fills_in_s = _triangle(rng, traffic.form_s)
        self._buys = rng.random() < traffic.buyers
        self._leaves = rng.random() < traffic.releases
        self._declined = rng.random() < traffic.declines
        # His patience is his own, however often it is asked for before.
        self._moods = Random(rng.getrandbits(64))  # noqa: S311
        self._queue_path = f"/v1/events/{office.plan.sale.event_id}/queue"
        self._token_asked_at = 0.0

    async def come(self, due: float) -> None:
        """From joining on, which is meant to happen at `due`, to the end, which is counted by its name."""
        end = await self._live(due)
        self._office.counts[end] += 1

    async def _live(self, due: float) -> str:
        self._office.counts["came"] += 1
        if not await self._take_turn(due):
            return "turned away"
        self._office.counts["admitted"] += 1
        self._office.waits.record(asyncio.get_running_loop().time() - due)
        end = await self._shop()
        if end != "bought" and self._leaves:
            await self._at_room(LEAVE, self._after(0.0, 1.0), "DELETE")
        return end

    # ------------------------------------------------ the room

    async def _take_turn(self, due: float) -> bool:
        """Join, and ask as often as the room says, until there is a token. False: there will be none."""
        answer = await self._at_room(JOIN, due, "POST", {})
        while True:
            if answer is None or answer.status >= 500 or answer.status == 429:
                due = self._after(1.0, 2.0)
            elif answer.status not in (200, 201):
                return False
            else:
                standing = _read_standing.decode(answer.body)
                if standing.admission_token:
                    self._enter_with(standing.admission_token)
                    return True
                if standing.state in _OUT or standing.availability == "sold-out":
                    return False
                due = self._after(0.0, 0.2) + max(standing.retry_after_s, _SOONEST_S)
            if self._office.capped:
                return False
            answer = await self._at_room(POLL, due, "GET")

    def _enter_with(self, token: str) -> None:
        self._token_asked_at = asyncio.get_running_loop().time()
        self.headers = f"Admission-Token: {token}\r\nAdmission-Session: {self._session}\r\n"

    async def _refresh(self) -> None:
        """Tokens live for two minutes at most: who takes longer asks for another one."""
        loop = asyncio.get_running_loop()
        if loop.time() - self._token_asked_at < _ASK_FOR_A_TOKEN_AFTER_S:
            return
        answer = await self._at_room(POLL, loop.time(), "GET")
        if answer is not None and answer.status == 200:
            token = _read_standing.decode(answer.body).admission_token
            if token:
                self._enter_with(token)

    async def _at_room(self, kind: str, due: float, method: str, body: object = None) -> Answer | None:
        return await self._office.ask(
            kind, due, method, self._queue_path, token=self._token, body=body,
            headers=f"Admission-Session: {self._session}\r\n",
        )  # fmt: skip

    # ------------------------------------------------ the sale

    async def _shop(self) -> str:
        loop = asyncio.get_running_loop()
        due, seats = loop.time() + self._looks_s, self._wish
        for _ in range(1 + FAN_ELSEWHERE_TRIES):
            await self._refresh_by(due)
            answer = await self._hold_patiently(HOLD, due, seats, self._key())
            if answer is None or answer.status in (429, 503):
                return "gave up"
            if answer.status == 201:
                return await self._buy(answer, seats)
            if code_of(answer) != "seats-taken":
                return f"refused: {code_of(answer)}"
            due, seats = self._after(*ELSEWHERE_AFTER_S), self._picker.anywhere(len(seats))
        return "found nothing"

    async def _refresh_by(self, due: float) -> None:
        loop = asyncio.get_running_loop()
        if due > loop.time():
            await asyncio.sleep(due - loop.time())
        await self._refresh()

    async def _buy(self, answer: Answer, seats: tuple[int, ...]) -> str:
        held = read_hold(answer)
        got = sorted(seat.seat_no for seat in held.seats)
        if got != sorted(seats):
            self._office.contradict(f"hold {held.hold_id}: asked for {sorted(seats)}, got {got}")
        if not self._buys:
            await self._let_go(held.hold_id)
            return "changed his mind"
        await self._check_out(held.hold_id, got)
        if not self.bought:
            return "did not pay"
        self._office.counts["tickets"] += len(got)
        return "bought"

    def _card_declines(self) -> bool:
        return self._declined

    def _is_patient(self) -> bool:
        return self._moods.random() < self._office.plan.traffic.patience

    def _form_filled_in(self) -> float:
        return asyncio.get_running_loop().time() + self._fills_in_s


def _triangle(rng: Random, least_most_mode: tuple[float, float, float]) -> float:
    return rng.triangular(*least_most_mode)
