"""What is old or not known is not shown as if it were of now on the operators' screen."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from app.screens.ops_screen import ALARMS, BLOCKERS
from backend_client.wire import AdmissionMode, Cause, OpsFigure
from tests.gui.conftest import QLoop, rest, until
from tests.gui.ops_stage import board_of, ops_of, screen_of
from tests.gui.test_ops_acts import alarm_of
from widgets.theme import Theme

UNKNOWN, NOBODY = "It is not known who waits now.", "Nobody waits for a lock."


def test_who_waits_is_not_known_while_it_was_not_read(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    """A database that is too busy to say who waits is no database where nobody does."""

    async def scene() -> None:
        async with ops_of(tmp_path) as showcase:
            screen, board, ops = screen_of(showcase), board_of(showcase), showcase.server.ops
            page = screen.blockers
            screen.show_page(BLOCKERS)
            await rest(showcase)
            assert page._empty.text() == NOBODY
            showcase.server.pass_time(1)
            house = {name: value for name, value in ops.told[-1].house.items() if name != OpsFigure.LOCK_WAITS}
            ops.tell(house, ops.told[-1].events[0].figures)
            await until(lambda: board.figures == ops.told[-1], "the second in which it was not read")
            await rest(showcase)
            assert page._empty.text() == UNKNOWN
            assert board.heard_at is not None
            showcase.server.pass_time(1)
            ops.tell({**house, OpsFigure.LOCK_WAITS: 0.0}, ops.told[-1].events[0].figures)
            await until(lambda: board.figures == ops.told[-1], "the next second")
            await rest(showcase)
            assert page._empty.text() == NOBODY
            board.heard_at -= 60
            screen.show_time()
            assert page._empty.text() == UNKNOWN

    qloop.run(scene())


def test_waits_that_have_grown_old_say_so(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, trouble_at=40) as showcase:
            screen, board = screen_of(showcase), board_of(showcase)
            screen.show_page(BLOCKERS)
            await rest(showcase)
            before = screen.blockers._count.text()
            assert "Old" not in before
            assert board.heard_at is not None
            board.heard_at -= 60
            screen.show_time()
            assert screen.blockers._count.text().startswith(before)
            assert screen.blockers._count.text().endswith("Old")

    qloop.run(scene())


def test_all_who_wait_are_counted_not_those_alone_that_are_listed(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path, trouble_at=40) as showcase:
            screen, board, ops = screen_of(showcase), board_of(showcase), showcase.server.ops
            screen.show_page(BLOCKERS)
            showcase.server.pass_time(1)
            last = ops.told[-1]
            ops.tell({**last.house, OpsFigure.LOCK_WAITS: 312.0}, last.events[0].figures, lock_waits=last.lock_waits)
            await until(lambda: board.figures == ops.told[-1], "the second")
            await rest(showcase)
            assert screen.blockers._count.text() == "312 sessions wait"
            assert screen.tabs.tabText(BLOCKERS) == "Blockers (312)"

    qloop.run(scene())


def test_that_every_figure_keeps_its_limit_is_not_said_of_old_ones(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path) as showcase:
            screen, board = screen_of(showcase), board_of(showcase)
            screen.show_page(ALARMS)
            await rest(showcase)
            assert screen.alarms._calm.isVisible()
            assert board.heard_at is not None
            board.heard_at -= 60
            screen.show_time()
            assert not screen.alarms._calm.isVisible()

    qloop.run(scene())


def test_an_alarm_stands_with_the_figure_of_now(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path) as showcase:
            screen, board, ops = screen_of(showcase), board_of(showcase), showcase.server.ops
            ops.alarms = (alarm_of(showcase.server, 7),)
            screen.show_page(ALARMS)
            for waits in (9.0, 31.0):
                showcase.server.pass_time(1)
                ops.tell({**ops.told[-1].house, OpsFigure.LOCK_WAITS: waits}, ops.told[-1].events[0].figures)
                await until(lambda: board.figures == ops.told[-1], "the second")
                await rest(showcase)
                assert screen.alarms.model.index(0, 2).data() == f"{waits:.0f}"
            assert screen.state.detail.text().startswith("Sessions waiting for locks: 31, limit 8")

    qloop.run(scene())


def test_the_wall_calls_its_figures_old_although_nothing_comes_to_say_so(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path) as showcase:
            screen, board = screen_of(showcase), board_of(showcase)
            screen.show_large(True)
            await rest(showcase)
            assert "Old" not in {figure.word for figure in screen.wall.figures}
            assert board.heard_at is not None
            board.heard_at -= 60
            screen.show_time()
            assert {figure.word for figure in screen.wall.figures} == {"Old"}

    qloop.run(scene())


def test_a_room_that_does_something_else_is_not_shown_as_it_was_set(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with ops_of(tmp_path) as showcase:
            panel, board = screen_of(showcase).admission, board_of(showcase)
            control = board.control
            assert control is not None
            assert control.room is not None
            assert panel._room_state.text() == "Letting people in"
            cause = Cause(code="room-refused", numbers={"status": 403.0})
            board.put_control(
                replace(control, room=replace(control.room, problem="it answered 403", problem_cause=cause))
            )
            await rest(showcase)
            assert panel._room_state.text().startswith("The room does not do as it is told")
            assert "403" in panel._room_state.text()
            paused = replace(control.settings, mode=AdmissionMode.PAUSED, version=2)
            board.put_control(replace(control, settings=paused, is_steered=False))
            await rest(showcase)
            assert panel._room_state.text() == "Letting people in", "nobody has carried the pause out"
            assert panel._reason.text() == "No controller is at work: the room keeps its rate."
            stopped = replace(control.room, is_letting_in=False, is_paused=True)
            board.put_control(replace(control, settings=paused, room=stopped))
            await rest(showcase)
            assert panel._room_state.text() == "Paused: nobody is let in"

    qloop.run(scene())
