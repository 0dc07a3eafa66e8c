"""Run the machine against one database, for as many histories as asked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter

from hypothesis import HealthCheck, Phase, reject, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test

from tests.oracle.history import PEOPLE, DisagreementError, History, Tally
from tests.oracle.machine import OracleMachine
from tests.oracle.real_office import RealOffice
from tests.oracle.records import Rules

# A test that is still at it when its time is up says nothing of what it has found.
SHORTENED_FOR_S = 45

_labels = count(1)


@dataclass
class OracleRun:
    """An open box office, and what the histories on it have gone through."""

    loop: asyncio.AbstractEventLoop
    office: RealOffice
    tally: Tally = field(default_factory=Tally)
    seconds: float = 0.0
    caught: list[DisagreementError] = field(default_factory=list)

    def histories(
        self, number: int, steps: int, *, checked_every: int, explain: bool = True, fixed: bool = False
    ) -> None:
        """Run `number` histories of up to `steps` rules; the invariants are checked after every `checked_every`th.

        `fixed` takes the same histories each time, `explain` looks for a short one that fails, for `SHORTENED_FOR_S`.

        Raises:
            DisagreementError: a difference, with the shortest history seen that leads to it.
        """
        run = self
        until = float("inf")

        def begin(rules: Rules) -> History:
            nonlocal until
            if run.caught:
                until = min(until, perf_counter() + SHORTENED_FOR_S)
                if perf_counter() > until:
                    reject()
            return History(run.loop, run.office, run.tally, rules, label=f"run{next(_labels)}", caught=run.caught)

        def finish(history: History) -> None:
            if run.tally.histories % checked_every == 0:
                history.check_invariants()

        machine = type("Machine", (OracleMachine,), {"begin": staticmethod(begin), "finish": staticmethod(finish)})
        started = perf_counter()
        try:
            run_state_machine_as_test(
                machine,
                settings=settings(
                    max_examples=number,
                    stateful_step_count=steps,
                    deadline=None,
                    database=None,
                    derandomize=fixed,
                    print_blob=True,
                    report_multiple_bugs=False,
                    suppress_health_check=list(HealthCheck),
                    phases=(Phase.generate, Phase.shrink) if explain else (Phase.generate,),
                ),
            )
        except (Flaky, DisagreementError) as error:
            # Two requests at once need not meet in the same way again: what was seen once was seen.
            if not self.caught:
                raise
            raise min(self.caught, key=lambda caught: len(caught.story)) from error
        finally:
            self.seconds += perf_counter() - started


@contextmanager
def oracle_on(dsn: str) -> Iterator[OracleRun]:
    """The box office of the database at `dsn`, under a clock that stands still."""
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        stack = AsyncExitStack()
        try:
            yield OracleRun(loop, loop.run_until_complete(RealOffice.open(dsn, PEOPLE, stack)))
        finally:
            loop.run_until_complete(stack.aclose())
