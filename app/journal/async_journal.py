"""The journal as coroutines await it, whichever thread it lives on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from app.core.sale import Sale
from app.journal.journal import Journal
from app.journal.terminal_record import CashReturn, DayRecord, Reversal, TerminalRecord, TerminalWord
from backend_client.wire import OperationId, OrderId, TerminalTotalsReport

Call = Callable[..., Awaitable[Any]]
"""`await call(function, *arguments)` runs `function` on the journal's thread and returns its answer."""


async def call_here(function: Callable[..., Any], *arguments: object) -> object:
    """A `Call` for a journal that lives on the caller's own thread."""
    return function(*arguments)


class AsyncJournal:
    """`Journal` with every method awaited. `call` reaches the thread on which the journal was opened."""

    def __init__(self, journal: Journal, call: Call = call_here) -> None:
        self._journal = journal
        self._call = call

    async def save_sale(self, sale: Sale) -> None:
        """See `Journal.save_sale`."""
        await self._call(self._journal.save_sale, sale)

    async def open_sales(self) -> tuple[Sale, ...]:
        """See `Journal.open_sales`."""
        sales: tuple[Sale, ...] = await self._call(self._journal.open_sales)
        return sales

    async def unreadable_sales(self) -> int:
        """See `Journal.unreadable_sales`."""
        count: int = await self._call(self._journal.unreadable_sales)
        return count

    async def has_history(self) -> bool:
        """See `Journal.has_history`."""
        found: bool = await self._call(self._journal.has_history)
        return found

    async def begin_terminal_attempt(self, record: TerminalRecord) -> None:
        """See `Journal.begin_terminal_attempt`."""
        await self._call(self._journal.begin_terminal_attempt, record)

    async def forget_terminal_attempt(self, operation_id: OperationId) -> None:
        """See `Journal.forget_terminal_attempt`."""
        await self._call(self._journal.forget_terminal_attempt, operation_id)

    async def begin_day(self, record: DayRecord) -> None:
        """See `Journal.begin_day`."""
        await self._call(self._journal.begin_day, record)

    async def record_day(self, day_id: str, report: TerminalTotalsReport) -> None:
        """See `Journal.record_day`."""
        await self._call(self._journal.record_day, day_id, report)

    async def close_day(self, day_id: str, *, reported: bool) -> None:
        """See `Journal.close_day`."""
        await self._call(partial(self._journal.close_day, day_id, reported=reported))

    async def open_days(self) -> tuple[DayRecord, ...]:
        """See `Journal.open_days`."""
        days: tuple[DayRecord, ...] = await self._call(self._journal.open_days)
        return days

    async def record_terminal_result(self, operation_id: OperationId, word: TerminalWord) -> None:
        """See `Journal.record_terminal_result`."""
        await self._call(self._journal.record_terminal_result, operation_id, word)

    async def acknowledge_terminal_result(self, operation_id: OperationId) -> None:
        """See `Journal.acknowledge_terminal_result`."""
        await self._call(self._journal.acknowledge_terminal_result, operation_id)

    async def mark_reversal(self, operation_id: OperationId, reversal: Reversal) -> None:
        """See `Journal.mark_reversal`."""
        await self._call(self._journal.mark_reversal, operation_id, reversal)

    async def terminal_attempt(self, operation_id: OperationId) -> TerminalRecord | None:
        """See `Journal.terminal_attempt`."""
        record: TerminalRecord | None = await self._call(self._journal.terminal_attempt, operation_id)
        return record

    async def unsettled_attempts(self) -> tuple[TerminalRecord, ...]:
        """See `Journal.unsettled_attempts`."""
        records: tuple[TerminalRecord, ...] = await self._call(self._journal.unsettled_attempts)
        return records

    async def newest_attempt(self) -> TerminalRecord | None:
        """See `Journal.newest_attempt`."""
        record: TerminalRecord | None = await self._call(self._journal.newest_attempt)
        return record

    async def last_trace(self) -> int | None:
        """See `Journal.last_trace`."""
        trace: int | None = await self._call(self._journal.last_trace)
        return trace

    async def begin_cash_return(self, record: CashReturn) -> None:
        """See `Journal.begin_cash_return`."""
        await self._call(self._journal.begin_cash_return, record)

    async def end_cash_return(self, operation_id: OperationId, *, taken: bool) -> None:
        """See `Journal.end_cash_return`."""
        await self._call(partial(self._journal.end_cash_return, operation_id, taken=taken))

    async def compare_cash_return(self, operation_id: OperationId, by: str) -> None:
        """See `Journal.compare_cash_return`."""
        await self._call(self._journal.compare_cash_return, operation_id, by)

    async def cash_returns(self) -> tuple[CashReturn, ...]:
        """See `Journal.cash_returns`."""
        records: tuple[CashReturn, ...] = await self._call(self._journal.cash_returns)
        return records

    async def let_order_go(self, order_id: OrderId) -> None:
        """See `Journal.let_order_go`."""
        await self._call(self._journal.let_order_go, order_id)

    async def orders_let_go(self) -> tuple[OrderId, ...]:
        """See `Journal.orders_let_go`."""
        orders: tuple[OrderId, ...] = await self._call(self._journal.orders_let_go)
        return orders

    async def forget_order(self, order_id: OrderId) -> None:
        """See `Journal.forget_order`."""
        await self._call(self._journal.forget_order, order_id)

    async def close(self) -> None:
        """See `Journal.close`."""
        await self._call(self._journal.close)
