"""A shift at the counter and one at the figures: driven windows that nothing stops, and reports that are true (R20)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import time
from typing import Any

import pytest
from PySide6.QtGui import QPixmap

from app.core.sale import SaleState
from app.main import DONE, FOUND_WRONG
from app.screens.bindings import Credentials
from app.settings import THEME, Settings
from app.shift import counter, operations
from app.shift.counter import ClerkShift
from app.shift.joining import JoinError, JoinFile, Joining
from app.shift.operations import AFTER, AT_DESK, AT_WALL, BEFORE, DURING, OpsShift, due_phase
from app.shift.shift import Shift
from app.showcase import PASSWORD, Showcase, make_showcase
from app.showcase_ops import play_evening
from backend_client.seat_frames import HolderKind, StaffStatus, staff_state
from backend_client.testing import Fault
from backend_client.testing_house import RefusalError
from backend_client.wire import ErrorCode, Hold, HoldRequest, OrderStatus
from tests.gui.conftest import QLoop, until
from widgets.theme import Theme


@pytest.fixture(autouse=True)
def nobody_dawdles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counter, "BUYER_EVERY_S", 0.0)
    monkeypatch.setattr(operations, "FRESH_S", 0.05)


class Way:
    """The file that says how to join."""

    def __init__(self, folder: Path, showcase: Showcase) -> None:
        self.path = folder / "join.json"
        people = {"clerk": "carla", "ops": "omar"}
        self.facts: dict[str, Any] = {
            "api_url": "http://127.0.0.1:1",
            "event_id": showcase.server.house.event_id,
            "people": {role: {"name": name, "password": PASSWORD} for role, name in people.items()},
        }

    def tell(self, **facts: object) -> None:
        self.facts.update(facts)
        self.path.write_text(json.dumps(self.facts), encoding="utf-8")
        self.path.chmod(0o600)


class Stage:
    """A console in memory with a shift at it; made within the loop."""

    def __init__(self, folder: Path, role: str = "clerk", *, dark: bool = False) -> None:
        self.folder = folder
        settings = Settings()
        settings.set(THEME, "dark" if dark else "light", keep=False)
        self.showcase = make_showcase(folder / "data", settings)
        self.way = Way(folder, self.showcase)
        join = JoinFile(self.way.path, role)
        report = folder / "report.json"
        looks = AT_WALL if dark else AT_DESK
        self.shift: Shift = (
            ClerkShift(join, report) if role == "clerk" else OpsShift(join, report, folder / "pictures", looks)
        )

    @property
    def told(self) -> dict[str, Any]:
        path = self.folder / "report.json"
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"step": "starting"}
        return told

    @property
    def sales(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.told.get("sales", [])
        return found

    @property
    def done(self) -> dict[str, tuple[list[int], int]]:
        """What the report calls sold."""
        return {sale["number"]: (sale["seats"], sale["amount_minor"]) for sale in self.sales if sale["state"] == "DONE"}

    @property
    def really(self) -> dict[str, tuple[list[int], int]]:
        """What the booking system has sold here."""
        return {
            order.number: (sorted(line.seat.seat_no for line in order.lines), order.amount_minor)
            for order in self.showcase.server.house.orders.values()
            if order.status is OrderStatus.CONFIRMED
        }

    async def sold(self, count: int) -> None:
        await until(lambda: len(self.done) >= count, f"{count} sales", 40)

    async def refused(self, code: str) -> None:
        await until(lambda: any(code in sale["refusals"] for sale in self.sales), f"a refusal {code}", 40)


Scene = Callable[[Stage], Coroutine[Any, Any, None]]


async def play(stage: Stage, scene: Scene) -> int:
    """As `run_console` does: the shift, and the scene once it is ready; then it is over. Returns the shift's code."""
    stage.way.tell()
    stage.showcase.console.window.show()
    stage.showcase.console.bindings.start()
    task = asyncio.get_running_loop().create_task(stage.shift.drive(stage.showcase.console), name="shift")
    try:
        await until(lambda: stage.told["step"] != "starting" or task.done(), "the shift to be ready", 30)
        await scene(stage)
        stage.way.tell(over=True)
        return await asyncio.wait_for(task, 40)
    finally:
        await stage.showcase.close()


def test_a_clerk_sells_from_the_map_and_the_best_until_it_is_over(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        assert (stage.told["step"], stage.sales) == ("ready", [])
        stage.way.tell(starts_at=time())
        await stage.sold(2)

    async def whole() -> None:
        stage = Stage(tmp_path)
        assert await play(stage, scene) == DONE
        assert (stage.told["step"], stage.told["done"], stage.told["problems"]) == ("end", True, [])
        assert stage.done == stage.really
        assert {sale["how"] for sale in stage.sales} == {"map", "best"}
        for sale in stage.sales:
            assert (len(sale["seats"]), sale["refusals"]) == (2, [])
            assert 0 < sale["hold_ms"] < sale["ticket_ms"]

    qloop.run(whole(), 90)


def test_no_refusal_ends_a_shift(qloop: QLoop, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seats that are lost at the hold, a limit that is reached, a lost answer to cash: the next buyer comes."""
    taken: list[int] = []

    def refuse(_request: HoldRequest) -> Hold:
        raise RefusalError(ErrorCode.CARD_LIMIT)

    def snatch(stage: Stage, step: str) -> None:
        """Somebody is faster, once."""
        sale = stage.showcase.console.desk.store.sale
        if step == "sent" and not taken and sale is not None and sale.state is SaleState.HOLDING:
            taken.extend(sorted(sale.seats))
            stage.showcase.server.house.set_seats(tuple(taken), staff_state(StaffStatus.SOLD, HolderKind.FAN))

    async def scene(stage: Stage) -> None:
        server = stage.showcase.server
        server.on_step = partial(snatch, stage)
        stage.way.tell(starts_at=time())
        await stage.refused("seats-taken")
        with monkeypatch.context() as limited:
            limited.setattr(server.house, "hold", refuse)
            await stage.refused("card-limit")
        desk = stage.showcase.console.desk
        desk.patience = replace(desk.patience, ask_first_s=0.1, ask_longest_s=0.2)
        server.fail(Fault.ANSWER_LOST, "/payments", times=5)
        await until(lambda: any(sale["was_parked"] for sale in stage.sales), "a payment put aside", 40)
        server.heal()
        await stage.sold(len(stage.done) + 1)

    async def whole() -> None:
        stage = Stage(tmp_path)
        assert await play(stage, scene) == DONE, stage.told["problems"]
        assert stage.done == stage.really
        assert "seats-taken" in stage.sales[0]["refusals"]
        parked = [sale for sale in stage.sales if sale["was_parked"]]
        assert [sale["state"] for sale in parked] == ["DONE"] * len(parked)

    qloop.run(whole(), 120)


@pytest.mark.long
def test_seats_whose_hold_has_no_answer_are_let_go(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    """The same seats are asked for twice; then the buyer goes, and the next one is served."""

    async def scene(stage: Stage) -> None:
        server = stage.showcase.server
        server.fail(Fault.ANSWER_LOST, "/holds", times=10)
        stage.way.tell(starts_at=time())
        await until(lambda: any(sale["state"] == "REFUSED" for sale in stage.sales), "a buyer to go", 60)
        server.heal()
        await stage.sold(1)

    async def whole() -> None:
        stage = Stage(tmp_path)
        assert await play(stage, scene) == DONE, stage.told["problems"]
        assert stage.done == stage.really
        assert len(stage.sales[0]["refusals"]) == 2
        assert stage.showcase.console.desk.store.sale is None

    qloop.run(whole(), 120)


def test_a_house_that_is_gone_ends_the_shift(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        stage.way.path.unlink()
        await until(lambda: stage.told["step"] == "end", "the end", 30)

    async def whole() -> None:
        stage = Stage(tmp_path)
        assert await play(stage, scene) == DONE
        assert (stage.told["done"], stage.sales) == (True, [])

    qloop.run(whole(), 60)


def test_an_event_that_is_not_listed_is_a_fault(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def nothing(_stage: Stage) -> None:
        pass

    async def whole() -> None:
        stage = Stage(tmp_path)
        stage.way.facts["event_id"] = 4_711
        assert await play(stage, nothing) == FOUND_WRONG
        assert "event 4711 is not listed" in stage.told["problems"][0]

    qloop.run(whole(), 60)


@pytest.mark.parametrize(("dark", "looks", "extra"), [(False, [""], ["blockers"]), (True, ["dark", "large"], [])])
def test_an_operator_takes_pictures_of_every_phase(
    qloop: QLoop, theme: Theme, tmp_path: Path, dark: bool, looks: list[str], extra: list[str]
) -> None:
    usual, during = len(looks), len(looks) + len(extra)

    async def scene(stage: Stage) -> None:
        now = time()
        stage.way.tell(starts_at=now, slow_begins_at=now + 5, slow_ends_at=now + 5.5)
        await until(lambda: len(stage.told["pictures"]) == usual, "pictures before", 40)
        stage.way.tell(slow_from=time() - 1)
        await until(lambda: len(stage.told["pictures"]) == usual + during, "pictures during", 40)
        stage.way.tell(slow_until=time() + 60)

    async def whole() -> None:
        stage = Stage(tmp_path, "ops", dark=dark)
        play_evening(stage.showcase.server)
        assert await play(stage, scene) == DONE, stage.told["problems"]
        pictures = stage.told["pictures"]
        assert [(one["phase"], one["look"]) for one in pictures] == [
            *((BEFORE, look) for look in looks),
            *((DURING, look) for look in (*looks, *extra)),
            *((AFTER, look) for look in looks),
        ]
        files = {one["file"] for one in pictures}
        assert files == {path.name for path in (tmp_path / "pictures").glob("*.png")}
        assert not any(QPixmap(str(tmp_path / "pictures" / name)).isNull() for name in files)
        assert all(one["figures"]["hold_p99_ms"] is not None for one in pictures)
        assert {"ops-before-dark.png" if dark else "ops-before.png"} <= files

    qloop.run(whole(), 120)


CREDENTIALS = {"people": {"clerk": {"name": "c", "password": "p"}}, "api_url": "u", "event_id": 1}


@pytest.mark.parametrize(
    ("text", "mode", "words"),
    [
        (json.dumps(CREDENTIALS), 0o640, "others can read it"),
        ("{", 0o600, "does not say how to join as clerk"),
        (json.dumps({**CREDENTIALS, "people": {}}), 0o600, "does not say how to join as clerk"),
        (json.dumps({**CREDENTIALS, "starts_at": "now"}), 0o600, "no time in seconds"),
        (json.dumps([]), 0o600, "does not say how to join as clerk"),
    ],
)
def test_a_join_file_that_cannot_be_trusted_or_read_is_refused(
    tmp_path: Path, text: str, mode: int, words: str
) -> None:
    path = tmp_path / "join.json"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    with pytest.raises(JoinError, match=words):
        JoinFile(path, "clerk").read()
    assert JoinFile(path, "clerk").now() is None


def test_a_join_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JoinError, match="cannot be read"):
        JoinFile(tmp_path / "none.json", "clerk").read()


@pytest.mark.parametrize(
    ("now", "since", "until_s", "taken", "expected"),
    [
        (93.9, None, None, "", None),
        (94.0, None, None, "", BEFORE),
        (95.0, None, None, "before", None),
        (100.0, None, None, "", None),
        (109.9, 100.0, None, "", None),
        (110.0, 100.0, None, "", DURING),
        (112.0, 102.5, None, "", None),
        (121.0, 101.0, 120.5, "", None),
        (150.4, 101.0, 120.5, "before during", None),
        (150.5, 101.0, 120.5, "before during", AFTER),
        (200.0, 101.0, 120.5, "before during after", None),
    ],
)
def test_pictures_are_due_around_what_really_happened(
    now: float, since: float | None, until_s: float | None, taken: str, expected: str | None
) -> None:
    """Meant from 100 to 120; pictures begin 6 s before, after half of it, and once half as long again has passed."""
    joining = Joining(
        "u", 1, Credentials("c", "p"), slow_begins_at=100.0, slow_ends_at=120.0, slow_from=since, slow_until=until_s
    )
    assert due_phase(joining, now, set(taken.split())) == expected


def test_without_a_slowness_pictures_are_due_at_the_end_alone() -> None:
    assert due_phase(Joining("u", 1, Credentials("c", "p"), starts_at=1.0), 50.0, set()) is None
