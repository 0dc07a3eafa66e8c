"""The tour: real events along a plan, a report that an outside test can follow, and a code that says how it went."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QPixmap

from app.core.sale import SaleState
from app.devices.fake_terminal import Decline, LoseLine
from app.main import DONE, FOUND_WRONG
from app.screens.bindings import Credentials
from app.screens.main_window import MainWindow
from app.settings import Settings
from app.showcase import PASSWORD, Showcase, make_showcase
from app.tour import Tour
from app.tour_plan import PlanError, TourStep, read_plan
from backend_client.testing import FakeBookingServer
from tests.gui.conftest import QLoop
from widgets.theme import Theme

CARLA = Credentials("carla", PASSWORD)


async def walk(
    folder: Path, plan: str, *scenes: Any, server: FakeBookingServer | None = None, credentials: Credentials = CARLA
) -> tuple[int, dict[str, Any], Showcase]:
    showcase = make_showcase(folder, Settings(), server=server)
    showcase.terminal.play(*scenes)
    report = folder / "report.json"
    try:
        showcase.console.window.show()
        showcase.console.bindings.start()
        code = await Tour(read_plan(plan), credentials, folder / "pictures", report).drive(showcase.console)
    finally:
        await showcase.close()
    return code, json.loads(report.read_text("utf-8")), showcase


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("sale", (TourStep("card", 3), TourStep("cash", 2))),
        ("card:1, cash:6", (TourStep("card", 1), TourStep("cash", 6))),
        ("resume", (TourStep("resume"),)),
    ],
)
def test_plans_are_read(text: str, steps: tuple[TourStep, ...]) -> None:
    assert read_plan(text) == steps


@pytest.mark.parametrize(
    "text", ["", "card", "card:0", "card:7", "fly:1", "unknown:1,cash:1", "resume,cash:1", "card:x"]
)
def test_a_plan_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(PlanError):
        read_plan(text)


def test_a_tour_sells_by_card_and_cash_and_reports_every_ticket(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    code, report, showcase = qloop.run(walk(tmp_path, "card:3,cash:2"), 60)
    assert (code, report["problems"], report["done"]) == (DONE, [], True)
    assert [(sale["kind"], sale["state"], len(sale["seats"]), sale["tickets"]) for sale in report["sales"]] == [
        ("card", "DONE", 3, 3),
        ("cash", "DONE", 2, 2),
    ]
    orders = {str(order.order_id): order for order in showcase.server.house.orders.values()}
    for sale in report["sales"]:
        assert sale["amount_minor"] == orders[sale["order_id"]].amount_minor
        assert sale["order_number"] == orders[sale["order_id"]].number
        assert Path(sale["pdf"]).stat().st_size > 1000
    assert report["sales"][1]["change_minor"] > 0
    pictures = sorted(path.name for path in (tmp_path / "pictures").glob("*.png"))
    assert pictures == report["pictures"]
    assert {"01-sign-in.png", "02-events.png", "03-counter.png"} <= set(pictures)
    assert len(pictures) >= 10


def test_a_picture_shows_what_its_step_says(
    qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every seat is listed when the window is grabbed, and the cash dialog lies over the whole window."""
    listed: list[int] = []
    plain = MainWindow.grab

    def grab(window: MainWindow) -> QPixmap:
        lines = window.screens.counter.panel.sale_page.lines
        listed.append(sum(line.isVisible() and line.height() > 20 for line in lines))
        return plain(window)

    monkeypatch.setattr(MainWindow, "grab", grab)
    _code, report, _showcase = qloop.run(walk(tmp_path, "card:3,cash:2"), 60)
    seen = {name[3:-4]: count for name, count in zip(report["pictures"], listed, strict=True)}
    assert {name: seen[name] for name in ("card-picked", "card-held", "cash-picked", "cash-held")} == {
        "card-picked": 3, "card-held": 3, "cash-picked": 2, "cash-held": 2,
    }  # fmt: skip
    sizes = {QPixmap(str(tmp_path / "pictures" / name)).size().toTuple() for name in report["pictures"]}
    assert sizes == {(1280, 800)}


def test_a_declined_card_keeps_the_seats_and_cash_pays_for_them(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    code, report, _showcase = qloop.run(walk(tmp_path, "decline:2", Decline()), 60)
    assert (code, report["problems"]) == (DONE, [])
    assert [(sale["state"], sale["tickets"]) for sale in report["sales"]] == [("DONE", 2)]


def test_an_unclear_payment_is_parked_and_a_later_start_resolves_it(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> tuple[int, dict[str, Any], int, dict[str, Any], int]:
        first_code, first, showcase = await walk(tmp_path, "unknown:2", LoseLine(booked=False))
        code, second, _again = await walk(tmp_path, "resume", server=showcase.server)
        return first_code, first, code, second, showcase.terminal.payments_asked

    first_code, first, code, second, asked = qloop.run(scene(), 60)
    assert (first_code, first["problems"], asked) == (DONE, [], 1)
    assert first["sales"][0]["state"] == "UNKNOWN"
    assert (code, second["problems"]) == (DONE, [])
    assert [line["sale_id"] for line in second["resumed"]] == [first["sales"][0]["sale_id"]]


def test_a_tour_that_goes_otherwise_says_so_and_fails(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    code, report, _showcase = qloop.run(walk(tmp_path, "card:1", Decline("card-expired")), 60)
    assert code == FOUND_WRONG
    assert report["sales"][0]["state"] == SaleState.DECLINED
    assert report["done"]
    assert len(report["problems"]) == 1
    assert report["pictures"][-1].endswith("-problem.png")
