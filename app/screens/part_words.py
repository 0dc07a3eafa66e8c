"""What people read of a sale that is paid in parts."""

from __future__ import annotations

from app.core.sale import Sale
from app.core.settlement import paid_parts
from app.i18n import _, figures
from backend_client.wire import OperationKind, PaymentOperation


def paid_parts_words(sale: Sale) -> str:
    """Paid so far, part by part; a part in cash with the change that goes back."""
    if sale.order is None:
        return ""
    parts = [_part_words(part) for part in paid_parts(sale.order)]
    return _("Paid so far: {parts}").format(parts=figures().joined(parts))


def all_parts_words(sale: Sale) -> str:
    """How a sale was paid that was paid in more than one part; empty otherwise."""
    if sale.order is None:
        return ""
    parts = paid_parts(sale.order)
    return figures().joined([_part_words(part) for part in parts]) if len(parts) > 1 else ""


def _part_words(part: PaymentOperation) -> str:
    amount = figures().money(part.amount_minor, part.currency)
    if part.kind is not OperationKind.CASH:
        return _("{amount} by card").format(amount=amount)
    if part.change_minor:
        change = figures().money(part.change_minor, part.currency)
        return _("{amount} in cash, {change} change").format(amount=amount, change=change)
    return _("{amount} in cash").format(amount=amount)
