"""Writes docs/figures.md from the table of figures: `python -m tests.contract.figures_page > docs/figures.md`."""

from __future__ import annotations

import sys

from booking.domain.alarms import RULES
from booking.domain.figures import FIGURES, Figure, Roll, Scope

_HEAD = """# Figures

Written from the tables in the code by `python -m tests.contract.figures_page > docs/figures.md`; a test holds this
page to them.

What is measured once a second, where it comes from, and when it makes an alarm. `WS /v1/ops/feed` tells it to
operators, `GET /metrics` to Prometheus, `GET /v1/ops/history` keeps it. The unit stands at the end of a name; shares
run from 0 to 1. A figure that is absent is *not known*: the database was too slow to be asked, nobody did what it
counts, or too little time has passed.

## Who measures

Every API process, worker and waiting room counts what it does itself and leaves its part in `process_figures` once a
second, over connections of its own, so that a full pool keeps nobody from telling that it is full. One of the API
processes and workers adds everything up: the one with the lease (`figures_watch`), which another one takes over 3
seconds after its last report. It reads what only the database knows, looks for alarms, and keeps the second in
`figures_seconds` (the last 16 minutes) and each minute in `figures_minutes` (90 days; by event and for the whole
system). Reports and seconds are in tables that are not logged: they cost no sync and are gone after a crash of the
database.

Counts run since a process began, so a report that is missed loses nothing; latencies are counts in buckets (1.6 %
wide) and add up over processes. A process that has not reported for 5 seconds is shown as it was, *silent*, and
belongs to no sum. One that ends in order takes its part away; one that was killed stays silent until another of its
kind (of workers: with the same tasks; of waiting rooms: with all its events), begun on the same host after it was last
heard, has its place; what is back within 5 seconds was never silent. Each takes one place. What is started again on
another host, or not at all, is missing until 10 minutes after it was last heard. Acknowledging the alarm says that it
is known.

When the database is slow, each part is asked for 0.8 s at most, the locks first: what is not answered is not known in
that second. When it is away, every API process goes on telling its own part, with `authority_away` and
`authority_heard_at`. The log has it afterwards.

Who waits for whom is read when somebody waits: `pg_blocking_pids` is called for 50 sessions at most. The kind of a
statement is told (`hold`, `checkout`, …), never its text. The section is that of the seat whose row is waited for.
Ending a session is for admins: it is named by its process number and the microsecond at which it began, has to be of
our own role or one granted to it, and is in the log with its reason before it is ended. The console names the
transaction as well: a session of a pool that has ended that one keeps nobody waiting any more and is left alone.

The console follows the feed. A program of your own that wants one look asks `GET /v1/ops/figures` for the newest
statement and `GET /v1/ops/lock-waits` for who waits at this very moment (`BookingClient.ops_figures`,
`ops_lock_waits`).

`GET /metrics` answers the machine itself when no proxy has forwarded the call, or, with `serve --metrics-token`,
whoever shows the secret `metrics-token` as a bearer token. Counters and histograms there are the process's own;
`taquilla_house_…` and `taquilla_event_…` are of the whole system, in seconds and bytes, and are left out once they are
30 seconds old (`taquilla_figures_age_seconds`); open alarms stay. Labels: kind, end, le, lane, pool, rule, severity,
and event_id (50 events at most).

## The figures

Of: *all*: the whole system alone; *process*: each process and their sum or worst; *event*: each event and their sum
or worst. A minute: the mean of its seconds, its last one, or all latencies of the minute; `peaks` has the worst second.

| figure | of | a minute | what it means | counted at |
|---|---|---|---|---|
"""
_ALARMS = """
`admission_unsteered_s` runs from when the room last did what was decided. A waiting room that ends does not say so in
`admission_rooms`, and one that has died says nothing either: 90 s after it last left its address it still counts, as
long as the event is on sale with admission tokens and neither the sale nor admission is paused, because fans wait at a
door that nobody opens. Who ends a room on purpose pauses admission or the sale, or takes the tokens off the event
(`admission`); then nobody is called.

## The alarms

Raised when the figure has been at the level, or worse, for so long without a break; ended when it has been at the
lower level, or better, for so long. What is not known neither raises nor ends one; but a minute in which there was
nothing to be measured (no hold for `hold_p99_ms`, no change of a map for `feed_lag_p99_ms`, nobody who left for
`completion_share`) ends one. Operators set levels and times (`docs/alarm-limits.md`); these are the program's own.

| rule | figure | raised at | for | ended at | for | |
|---|---|---|---|---|---|---|
"""
_OF = {Scope.HOUSE: "all", Scope.PROCESS: "process", Scope.EVENT: "event"}
_ROLLS = {Roll.MEAN: "mean", Roll.LAST: "last", Roll.LATENCIES: "all"}


def write_page() -> str:
    """The whole page."""
    rows = [
        f"| `{figure}` | {_OF[FIGURES[figure].scope]} | {_ROLLS[FIGURES[figure].roll]} | {FIGURES[figure].words} |"
        f" {FIGURES[figure].source} |"
        for figure in Figure
    ]
    alarms = [
        f"| `{rule.rule}` | `{rule.figure}` | {'≤' if rule.below else '≥'} {rule.raise_at:g} | {rule.raise_after_s} s |"
        f" {'≥' if rule.below else '≤'} {rule.clear_at:g} | {rule.clear_after_s} s | {rule.severity} |"
        for rule in RULES.values()
    ]
    return _HEAD + "\n".join(rows) + "\n" + _ALARMS + "\n".join(alarms) + "\n"


if __name__ == "__main__":
    sys.stdout.write(write_page())
