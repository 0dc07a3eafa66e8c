"""A kind of call that goes through lanes where there are lanes, and alone where there are none (workers, tools)."""

from __future__ import annotations

from typing import Generic, TypeVar

from booking.store.micro_batches import BatchWork, LaneFigures, MicroBatches

Request = TypeVar("Request")
Result = TypeVar("Result")


class Lane(Generic[Request, Result]):
    """Decides requests of one kind, many at a time once it is started."""

    def __init__(self, work: BatchWork[Request, Result], name: str, lanes: int = 1) -> None:
        self._work = work
        self._name = name
        self._lanes = lanes
        self._batches: MicroBatches[Request, Result] | None = None

    def start(self) -> None:
        """Begin to batch, in the running loop."""
        self._batches = MicroBatches(self._work, self._name, self._lanes)
        self._batches.start()

    async def close(self) -> None:
        """Finish what is under way, refuse what waits."""
        if self._batches is not None:
            await self._batches.close()

    async def decide(self, request: Request) -> Result:
        """Have a request decided: together with those that wait beside it, or alone.

        Raises:
            BusyError: too much is waiting, or a lock was not given in time.
            AuthorityAwayError: the outcome is not known; the same key will tell.
        """
        if self._batches is None:
            return await self._work.run_alone(request)
        return await self._batches.submit(request)

    @property
    def batches(self) -> MicroBatches[Request, Result] | None:
        """The queue and its lanes; None where each request goes alone."""
        return self._batches

    @property
    def figures(self) -> LaneFigures:
        """What the lane has done; all zero where there is none."""
        return LaneFigures() if self._batches is None else self._batches.figures

    @property
    def queue_age_s(self) -> float:
        """How long the oldest waiting request has waited."""
        return 0.0 if self._batches is None else self._batches.queue_age_s
