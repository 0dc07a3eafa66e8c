"""Payment providers have words wherever they are shown, in each language; their codes stay at hand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Final
from uuid import UUID

import pytest
from PySide6.QtCore import QModelIndex, Qt

from app.core.inbox_filter import SortBy
from app.core.refund import OrderStep
from app.i18n import use_language
from app.models.item_table import COLUMNS, ItemCells, ItemTableModel
from app.models.provider_words import provider_and_code
from app.screens.inbox_filters import _named
from app.screens.inbox_page import InboxPage, row_of
from app.screens.item_words import operation_line
from app.screens.ops_words import change_words
from app.screens.order_page import OrderPage
from app.screens.reconciliation_runs import RunsPage
from app.screens.refund_words import charge_line
from app.screens.timeline_words import evidence_lines, order_lines
from backend_client.wire import (
    ItemId,
    ItemState,
    OperationId,
    OperationKind,
    OperationStatus,
    OpsLogChange,
    OrderId,
    PaymentOperation,
    ReconciliationItem,
    ReconciliationRun,
    RefundableCharge,
    RunId,
    RunState,
    TimelineEntry,
    TimelineKind,
)
from tests.gui.conftest import QLoop, rest, until
from tests.gui.money_stage import inbox_of, open_item, reconciliation
from widgets.theme import Theme

NOW: Final = datetime(2027, 3, 5, 20, 0, tzinfo=UTC)
CODES: Final = ("zvt", "stripe", "stripe-terminal", "sandbox", "acme-pay")
WORDS: Final = {
    "en": ("Card terminal", "Stripe", "Stripe card reader", "Test payments", "acme-pay"),
    "ar": ("جهاز البطاقات", "Stripe", "قارئ بطاقات Stripe", "مدفوعات تجريبية", "acme-pay"),
    "ja": ("カード端末", "Stripe", "Stripe カードリーダー", "テスト決済", "acme-pay"),
    "pt": ("Terminal de cartão", "Stripe", "Leitor de cartões Stripe", "Pagamentos de teste", "acme-pay"),
}


def operation(code: str) -> PaymentOperation:
    return PaymentOperation(
        operation_id=OperationId(UUID(int=1)), order_id=OrderId(UUID(int=2)), part=1, kind=OperationKind.SALE,
        status=OperationStatus.UNKNOWN, provider=code, amount_minor=3_850, currency="EUR", created_at=NOW,
        updated_at=NOW,
    )  # fmt: skip


def item(code: str) -> ReconciliationItem:
    return ReconciliationItem(
        item_id=ItemId(UUID(int=3)), kind="no-result", state=ItemState.OPEN, version=1, opened_at=NOW, provider=code
    )


def run(code: str) -> ReconciliationRun:
    return ReconciliationRun(
        run_id=RunId(UUID(int=4)), provider=code, day=date(2027, 3, 5), state=RunState.DONE, started_at=NOW
    )


def charge(code: str) -> RefundableCharge:
    return RefundableCharge(
        operation_id=OperationId(UUID(int=1)), kind=OperationKind.SALE, provider=code, charged_minor=3_850,
        refunded_minor=0, pending_minor=0, refundable_minor=3_850,
    )  # fmt: skip


def entry(kind: TimelineKind, source: str) -> str:
    return evidence_lines([TimelineEntry(at=NOW, kind=kind, title="answer-received", source=source)], "UTC")[0].more


SURFACES: Final[dict[str, Callable[[str], str]]] = {
    "row of the inbox": lambda code: InboxPage._text(SimpleNamespace(), row_of(item(code)), SortBy.PROVIDER),  # type: ignore[arg-type]
    "choice of the inbox": lambda code: _named([code])[0][0],
    "payment of an item": lambda code: operation_line(operation(code)),
    "we asked": lambda code: entry(TimelineKind.REQUEST, code),
    "answer": lambda code: entry(TimelineKind.ANSWER, code),
    "reported by itself": lambda code: entry(TimelineKind.WEBHOOK, f"webhook:{code}"),
    "comparison": lambda code: entry(TimelineKind.COMPARISON, code),
    "day that was compared": lambda code: RunsPage._row(SimpleNamespace(), run(code)).cells[1].text,  # type: ignore[arg-type]
    "payment of an order": lambda code: OrderPage._payment_row(operation(code)).cells[1].text,
    "past of an order": lambda code: order_lines([OrderStep(NOW, "opened", operation(code))], "UTC")[0].more,
    "charge that goes back": lambda code: charge_line(charge(code), "EUR"),
    "log of operations": lambda code: change_words(OpsLogChange(name="", was='["other"]', now=f'["{code}","other"]')),
}
TIPS: Final[dict[str, Callable[[str], str]]] = {
    "day that was compared": lambda code: RunsPage._row(SimpleNamespace(), run(code)).cells[1].tip,  # type: ignore[arg-type]
    "payment of an order": lambda code: OrderPage._payment_row(operation(code)).cells[1].tip,
    "item": provider_and_code,
}


@pytest.mark.parametrize("language", WORDS)
def test_a_provider_has_its_words_wherever_it_is_shown_and_its_code_beside_them(language: str) -> None:
    use_language(language)
    for code, words in zip(CODES, WORDS[language], strict=True):
        for surface, text in SURFACES.items():
            assert words in text(code), (surface, code, text(code))
            assert words == code or code not in text(code).split(), (surface, code, text(code))
        for surface, tip in TIPS.items():
            assert words in tip(code), (surface, code)
            assert code in tip(code), (surface, code)
    assert provider_and_code("acme-pay") == "acme-pay"


def test_the_inbox_is_sorted_and_searched_by_the_words_and_by_the_codes() -> None:
    rows = [row_of(item(code)) for code in CODES]
    model = ItemTableModel(ItemCells(lambda row, _name: row.provider_words, lambda *_: "", lambda *_: ""))
    model.show_rows(rows[:1])
    cell = model.index(0, COLUMNS.index(SortBy.PROVIDER), QModelIndex())
    assert model.data(cell) == "Card terminal"
    assert model.data(cell, Qt.ItemDataRole.ToolTipRole) == "Card terminal · zvt"
    assert "card terminal" in rows[0].searched
    assert "zvt" in rows[0].searched


def test_an_item_says_words_and_code_and_days_are_compared_by_code(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with inbox_of(tmp_path) as (showcase, items):
            screen = reconciliation(showcase)
            filters = screen.inbox.filters
            assert filters.provider.itemText(filters.provider.findData("zvt")) == "Card terminal"
            filters.provider.setCurrentIndex(filters.provider.findData("zvt"))
            await rest(showcase)
            assert {line.item.provider for line in screen.inbox.shown} == {"zvt"}
            filters.provider.setCurrentIndex(0)
            await open_item(showcase, items[0])
            assert dict(screen.item.facts.facts)["Provider"] in {"Stripe · stripe", "Card terminal · zvt"}
            screen.show_tab(1)
            box = screen.runs.provider
            await until(lambda: box.findData("stripe-terminal") >= 0, "the choice")
            assert all(box.minimumWidth() >= box.width_of(box.itemText(place)) for place in range(box.count()))
            box.setCurrentIndex(box.findText("Stripe card reader"))
            assert box.currentData() == "stripe-terminal"
            assert (
                box.itemData(box.currentIndex(), Qt.ItemDataRole.ToolTipRole) == "Stripe card reader · stripe-terminal"
            )

    qloop.run(scene())
