"""What this counter has done, and the API has not heard yet: cash paid out, and orders that nobody wants any more."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from app.journal.terminal_record import CashReturn
from app.journal.transactions import Transactions
from backend_client.wire import OperationId, OrderId


class UntoldTables(Transactions):
    """A part of `Journal`."""

    def begin_cash_return(self, record: CashReturn) -> None:
        """The clerk has paid it out. The same again changes nothing."""
        row = (
            str(record.operation_id), str(record.order_id), record.amount_minor, record.currency,
            record.paid_at.isoformat(), record.order_number,
        )  # fmt: skip
        with self._writing() as write:
            write.execute(
                "INSERT INTO cash_returns (operation_id, order_id, amount_minor, currency, paid_at, order_number)"
                " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (operation_id) DO NOTHING",
                row,
            )

    def end_cash_return(self, operation_id: OperationId, *, taken: bool) -> None:
        """The API has taken the word, or (False) refused it for good: it is not told again."""
        told = "taken" if taken else "refused"
        with self._writing() as write:
            write.execute("UPDATE cash_returns SET told = ? WHERE operation_id = ?", (told, str(operation_id)))

    def compare_cash_return(self, operation_id: OperationId, by: str) -> None:
        """Somebody, by name, has compared what the API refused: it waits for nobody any more."""
        with self._writing() as write:
            write.execute(
                "UPDATE cash_returns SET compared_by = ? WHERE operation_id = ? AND told = 'refused'",
                (by, str(operation_id)),
            )

    def cash_returns(self) -> tuple[CashReturn, ...]:
        """Cash that was paid out, and that the API does not show as back; the first one first."""
        query = (
            "SELECT operation_id, order_id, amount_minor, currency, paid_at, told, order_number, compared_by"
            " FROM cash_returns WHERE told <> 'taken' ORDER BY paid_at, operation_id"
        )
        return tuple(
            CashReturn(
                OperationId(UUID(str(operation_id))),
                OrderId(UUID(str(order_id))),
                int(str(amount_minor)),
                str(currency),
                datetime.fromisoformat(str(paid_at)),
                refused=told == "refused",
                order_number=str(number),
                compared_by=str(compared_by),
            )
            for operation_id, order_id, amount_minor, currency, paid_at, told, number, compared_by in self._reading(
                query
            )
        )

    def let_order_go(self, order_id: OrderId) -> None:
        """The buyer is gone, and the API may have a payment of it open that was never asked for."""
        with self._writing() as write:
            write.execute(
                "INSERT INTO orders_let_go (order_id) VALUES (?) ON CONFLICT (order_id) DO NOTHING", (str(order_id),)
            )

    def orders_let_go(self) -> tuple[OrderId, ...]:
        """Orders about which the API is still to be told that."""
        rows = self._reading("SELECT order_id FROM orders_let_go ORDER BY order_id")
        return tuple(OrderId(UUID(str(order_id))) for (order_id,) in rows)

    def forget_order(self, order_id: OrderId) -> None:
        """The API knows."""
        with self._writing() as write:
            write.execute("DELETE FROM orders_let_go WHERE order_id = ?", (str(order_id),))
