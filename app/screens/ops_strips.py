"""Which strips the charts have, and which limits are drawn into them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from app.core.ops_board import UNKNOWN_OLD, OpsBoard
from app.i18n import _
from app.screens.ops_words import figure_name, tick_words, value_words
from backend_client.wire import OpsFigure
from widgets.charts import CurveLook, Limit, StripPlan

F = OpsFigure


def strip_plans() -> list[StripPlan]:
    """The strips, in the language in use: first what people do, then what the machines feel."""
    return [
        _strip("waiting", _("Waiting room"), (_curve(F.ROOM_WAITING, "info", filled=True),), 10),
        _strip("wait", _("Wait for a turn"), (_curve(F.ROOM_WAIT_S, "info"),), 30),
        _strip(
            "admission", _("Let in a minute"),
            (
                _curve(F.ADMISSION_SET_PER_MIN, "accent", "step"),
                _curve(F.ADMISSION_MEASURED_PER_MIN, "success", "dash"),
            ),
            10,
        ),
        _strip("shoppers", _("Shoppers inside"), (_curve(F.SHOPPERS_ACTIVE, "info", filled=True),), 10),
        _strip("orders", _("Orders a minute"), (_curve(F.ORDERS_CONFIRMED_PER_MIN, "success"),), 10),
        _strip(
            "holds", _("Holds a second"),
            (_named(F.HOLD_ATTEMPTS_PER_S, _("Asked for"), "info"), _curve(F.SHED_PER_S, "danger", "dots")), 5,
        ),
        _strip("conflicts", _("Holds lost to others"), (_curve(F.HOLD_CONFLICT_SHARE, "warn"),), 0.1),
        _strip(
            "answers", _("Answers to holds"),
            (
                _named(F.HOLD_P50_MS, _("Half"), "info", "dots"), _named(F.HOLD_P99_MS, _("99 of 100"), "accent"),
                _curve(F.QUEUE_AGE_MS, "warn", "dash"),
            ),
            50,
        ),
        _strip("locks", _("Lock waits"), (_curve(F.LOCK_WAITS, "danger", "step"),), 4),
        _strip("expiry", _("Holds overdue"), (_curve(F.EXPIRY_BACKLOG, "warn", "step"),), 10),
        _strip(
            "outbox", _("Late behind the sale"),
            (
                _named(F.OUTBOX_OLDEST_S, _("Messages"), "accent"),
                _named(F.TICKETING_LAG_S, _("Tickets"), "success", "dash"),
            ),
            5,
        ),
        _strip("payments", _("Payments that fail"), (_curve(F.PAYMENT_ERROR_SHARE, "danger"),), 0.1),
        _strip(
            "unknown", _("Unclear payments"),
            (_named(F.PAYMENTS_UNKNOWN, _("All"), "warn", "step"), _curve(UNKNOWN_OLD, "danger", "dots")), 4,
        ),
        _strip("feed", _("Maps that follow"), (_curve(F.FEED_CLIENTS, "info"),), 10),
    ]  # fmt: skip


def limits_of(board: OpsBoard) -> dict[str, tuple[Limit, ...]]:
    """Limits by strip: where an alarm is raised, and what operators allow of admission."""
    found: dict[str, tuple[Limit, ...]] = {}
    for key, names in _FIGURES.items():
        limits = []
        for name in names:
            rule = board.rule_of(name)
            if rule is not None and not rule.below and _unit(name) == _unit(names[0]):
                words = _("alarm from {value}").format(value=value_words(name, rule.raise_at))
                limits.append(Limit(rule.raise_at, words))
        found[key] = tuple(limits)
    if board.control is not None:
        settings = board.control.settings
        found["admission"] += (_cap(F.ADMISSION_SET_PER_MIN, settings.cap_per_minute),)
        found["shoppers"] += (_cap(F.SHOPPERS_ACTIVE, settings.total_active_users),)
    return found


def strip_of(figure: str) -> str:
    """The strip that shows a figure; empty for none."""
    return next((key for key, names in _FIGURES.items() if figure in names), "")


def _cap(name: str, value: float) -> Limit:
    return Limit(value, _("at most {value}").format(value=value_words(name, value)), alarms=False)


def _unit(name: str) -> str:
    """`share`, `ms`, `s`, or nothing for what is counted."""
    last = name.rsplit("_", 1)[-1]
    return last if last in {"share", "ms"} or (last == "s" and not name.endswith("_per_s")) else ""


def _curve(name: str, tone: str, line: str = "solid", *, filled: bool = False) -> CurveLook:
    return CurveLook(str(name), figure_name(name), tone, line, filled)


def _named(name: str, words: str, tone: str, line: str = "solid") -> CurveLook:
    return CurveLook(str(name), words, tone, line)


def _strip(key: str, title: str, curves: tuple[CurveLook, ...], least_top: float) -> StripPlan:
    unit = curves[0].key
    write: Callable[[float], str] = partial(value_words, unit)
    return StripPlan(key, title, curves, write, partial(tick_words, unit), least_top, is_time=_unit(unit) == "s")


_FIGURES: dict[str, tuple[str, ...]] = {
    "waiting": (F.ROOM_WAITING,), "wait": (F.ROOM_WAIT_S,),
    "admission": (F.ADMISSION_SET_PER_MIN, F.ADMISSION_MEASURED_PER_MIN), "shoppers": (F.SHOPPERS_ACTIVE,),
    "orders": (F.ORDERS_CONFIRMED_PER_MIN,), "holds": (F.HOLD_ATTEMPTS_PER_S, F.SHED_PER_S),
    "conflicts": (F.HOLD_CONFLICT_SHARE,), "answers": (F.HOLD_P99_MS, F.HOLD_P50_MS, F.QUEUE_AGE_MS),
    "locks": (F.LOCK_WAITS, F.LOCK_WAIT_OLDEST_S), "expiry": (F.EXPIRY_BACKLOG, F.EXPIRY_OLDEST_S),
    "outbox": (F.OUTBOX_OLDEST_S, F.TICKETING_LAG_S, F.OUTBOX_LAG), "payments": (F.PAYMENT_ERROR_SHARE,),
    "unknown": (F.PAYMENTS_UNKNOWN, UNKNOWN_OLD, F.PAYMENTS_UNKNOWN_OLDEST_S), "feed": (F.FEED_CLIENTS,),
}  # fmt: skip
