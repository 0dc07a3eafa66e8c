"""Sale steps and order reads as lanes: how many requests become one statement, and its rows become answers.

Checkout, the opening of a payment, its mark as sent and the recording of a result have a lane each: `check_out_batch`
and its like lock what all requests need, leave out what somebody else has, and call the one function of the step for
each request. Reads of orders are coalesced into one read. What is answered brings the order as it stands: nothing is
asked again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass
from uuid import UUID

import msgspec

from booking.sql import query
from booking.store.connection import Record

SLOW = "slow"

Fetch = Callable[..., Awaitable[list[Record]]]


@dataclass(frozen=True, slots=True)
class SaleAnswer:
    """`code` is '' or an error code, explained by `seats` and `detail`; `result_id` is what was made or found.

    `picture` is the order as it stands at the end of the step, as JSON; None after a refusal, and where no order is
    spoken of.
    """

    code: str
    result_id: UUID | None
    replayed: bool
    detail: str
    seats: tuple[int, ...]
    picture: str | None = None

    @classmethod
    def of(cls, rows: Sequence[Record]) -> SaleAnswer:
        """The one row with which the database answers a step that is called alone."""
        row = rows[0]
        replayed, detail, seats = row["replayed"] or False, row["detail"] or "", tuple(row["seats"] or ())
        return cls(row["code"], row["result_id"], replayed, detail, seats)


@dataclass(frozen=True, slots=True)
class SaleAsk:
    """One request: `arguments` is the JSON object that the step's batch function reads, `subject` what it is about.

    `makes` becomes the id of what the step makes, unless the key has made one already.
    """

    subject: UUID
    arguments: bytes
    makes: UUID | None = None


def sale_ask(
    subject: UUID, arguments: dict[str, object], *, digest: bytes | None, makes: UUID | None = None
) -> SaleAsk:
    """A request out of the arguments of its step, by name.

    Raises:
        UnicodeEncodeError: a text cannot be stored.
    """
    arguments["digest"] = None if digest is None else f"\\x{digest.hex()}"
    return SaleAsk(subject, msgspec.json.encode(arguments), makes)


class SaleWork:
    """Decides requests of one kind: in batches on the lane's connection, alone on the sale pool."""

    def __init__(self, statement: str, on_lane: Fetch, alone: Fetch) -> None:
        self._statement = statement
        self._on_lane = on_lane
        self._alone = alone

    def claims(self, request: SaleAsk) -> frozenset[Hashable]:
        """What it is about: a second request for the same waits for the first, here and not at a lock.

        The account is none: the steps of a batch run one after the other, each sees what those before it did.
        """
        return frozenset((request.subject,))

    async def run(self, requests: Sequence[SaleAsk]) -> list[SaleAnswer | None]:
        rows = await self._on_lane(query(self._statement), _joined(requests), False)
        return [_answer_of(row, ask) for row, ask in zip(rows, requests, strict=True)]

    async def run_alone(self, request: SaleAsk) -> SaleAnswer:
        """Wait for the locks."""
        rows = await self._alone(query(self._statement), _joined([request]), True)
        answer = _answer_of(rows[0], request)
        if answer is None:
            raise RuntimeError(f"{self._statement} put off a request that waits")
        return answer

    async def look(self, requests: Sequence[SaleAsk]) -> list[SaleAnswer | None]:
        return [None] * len(requests)

    def lost_to_others(self, request: SaleAsk, result: SaleAnswer) -> frozenset[Hashable]:  # noqa: ARG002 - BatchWork
        """Nothing: whoever waits is answered by its own key, or by the state that it finds."""
        return frozenset()


def _joined(requests: Sequence[SaleAsk]) -> str:
    return (b"[" + b",".join([ask.arguments for ask in requests]) + b"]").decode()


def _answer_of(row: Record, ask: SaleAsk) -> SaleAnswer | None:
    """A row of a batch function; None when the request has to wait for a lock.

    A "replay" of the id that this very request brought is its own first success: the answer was lost on the way.
    """
    code, result_id, replayed, detail, seats, picture = row
    if code == SLOW:
        return None
    own = result_id is not None and result_id == ask.makes
    return SaleAnswer(code, result_id, replayed and not own, detail, tuple(seats or ()), picture)


class SendingWork:
    """Marks operations as sent, many in one commit. Each is written before its provider is asked, as alone.

    A mark is not for repeating: said a second time it is false. So a batch whose answer was lost may leave an
    operation marked and nobody asking; it is due again by itself, like that of a driver who died.
    """

    def __init__(self, on_lane: Fetch, alone: Fetch) -> None:
        self._on_lane = on_lane
        self._alone = alone

    def claims(self, request: UUID) -> frozenset[Hashable]:
        """The operation: of two drivers in one process one asks the database first."""
        return frozenset((request,))

    async def run(self, requests: Sequence[UUID]) -> list[bool | None]:
        rows = await self._on_lane(query("mark_sent_batch"), list(requests))
        marked = {row["operation_id"]: row["sent"] for row in rows}
        return [marked.get(operation_id) for operation_id in requests]

    async def run_alone(self, request: UUID) -> bool:
        rows = await self._alone(query("mark_sent"), request)
        sent: bool = rows[0]["sent"]
        return sent

    async def look(self, requests: Sequence[UUID]) -> list[bool | None]:
        return [None] * len(requests)

    def lost_to_others(self, request: UUID, result: bool) -> frozenset[Hashable]:  # noqa: ARG002 - BatchWork
        return frozenset()


@dataclass(frozen=True, slots=True)
class OrderPicture:
    """An order as JSON and the principal it belongs to; both None when there is no such order."""

    principal: str | None
    picture: str | None


class OrderReads:
    """Coalesces reads of single orders."""

    def __init__(self, on_lane: Fetch, alone: Fetch) -> None:
        self._on_lane = on_lane
        self._alone = alone

    def claims(self, request: UUID) -> frozenset[Hashable]:  # noqa: ARG002 - BatchWork
        """Nothing: reads are in nobody's way."""
        return frozenset()

    async def run(self, requests: Sequence[UUID]) -> list[OrderPicture | None]:
        rows = await self._on_lane(query("read_orders"), list(dict.fromkeys(requests)))
        found = {row[0]: OrderPicture(row[1], row[2]) for row in rows}
        return [found.get(order_id, _NO_ORDER) for order_id in requests]

    async def run_alone(self, request: UUID) -> OrderPicture:
        rows = await self._alone(query("read_orders"), [request])
        return OrderPicture(rows[0][1], rows[0][2]) if rows else _NO_ORDER

    async def look(self, requests: Sequence[UUID]) -> list[OrderPicture | None]:
        return [None] * len(requests)

    def lost_to_others(self, request: UUID, result: OrderPicture) -> frozenset[Hashable]:  # noqa: ARG002 - BatchWork
        return frozenset()


_NO_ORDER = OrderPicture(None, None)
