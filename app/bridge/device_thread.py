"""A thread with an asyncio loop of its own for devices and the journal: a window frozen for ten seconds loses no
terminal frame, and a synced write never stalls the picture. Callers await thin proxies and know nothing of it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from app.devices.card_terminal import (
    CardTerminal,
    Progress,
    ProgressCallback,
    ResultCallback,
    TerminalResult,
    TerminalStatus,
    Verdict,
)

Answer = TypeVar("Answer")

STOP_GRACE_S: Final = 5.0


class DeviceThread:
    """Runs coroutines on its own loop. Start once, stop once."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="taquilla-devices", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    async def run(self, coroutine: Coroutine[Any, Any, Answer]) -> Answer:
        """Run `coroutine` over there and await its result here. Cancelling here cancels it there."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))

    async def call(self, function: Callable[..., Answer], *arguments: object) -> Answer:
        """Call a plain function over there and await its result here."""

        async def run_it() -> Answer:
            return function(*arguments)

        return await self.run(run_it())

    def stop(self) -> None:
        """Cancel what runs, stop the loop, wait for the thread."""
        if not self._thread.is_alive():
            if not self._loop.is_closed():
                self._loop.close()
            return
        asyncio.run_coroutine_threadsafe(self._cancel_all(), self._loop)
        self._thread.join(STOP_GRACE_S)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            asyncio.set_event_loop(None)
            self._loop.close()

    async def _cancel_all(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=STOP_GRACE_S / 2)
        self._loop.call_soon(self._loop.stop)


class TerminalOnThread:
    """A `CardTerminal` that lives on the device thread; progress and the question for the verdict come back here.

    Commands take turns, so that a status enquiry never makes a payment meet a busy terminal; an abort cuts in.
    """

    def __init__(self, terminal: CardTerminal, thread: DeviceThread) -> None:
        self._terminal = terminal
        self._thread = thread
        self._turn = asyncio.Lock()

    @property
    def provider(self) -> str:
        return self._terminal.provider

    async def pay(
        self, amount_minor: int, currency: str, *, on_progress: ProgressCallback, on_result: ResultCallback
    ) -> TerminalResult:
        """See `CardTerminal.pay`."""
        here = asyncio.get_running_loop()

        def tell_progress(progress: Progress) -> None:
            here.call_soon_threadsafe(on_progress, progress)

        async def ask_verdict(result: TerminalResult) -> Verdict:
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_verdict(on_result, result), here))

        async with self._turn:
            return await self._thread.run(
                self._terminal.pay(amount_minor, currency, on_progress=tell_progress, on_result=ask_verdict)
            )

    async def abort(self) -> None:
        """See `CardTerminal.abort`."""
        await self._thread.run(self._terminal.abort())

    async def last_transaction(self) -> TerminalResult | None:
        """See `CardTerminal.last_transaction`."""
        async with self._turn:
            return await self._thread.run(self._terminal.last_transaction())

    async def reverse(
        self, receipt_no: int, *, amount_minor: int | None = None, original_trace: int | None = None
    ) -> TerminalResult:
        """See `CardTerminal.reverse`."""
        async with self._turn:
            return await self._thread.run(
                self._terminal.reverse(receipt_no, amount_minor=amount_minor, original_trace=original_trace)
            )

    async def refund(self, amount_minor: int, currency: str, *, on_progress: ProgressCallback) -> TerminalResult:
        """See `CardTerminal.refund`."""
        here = asyncio.get_running_loop()

        def tell_progress(progress: Progress) -> None:
            here.call_soon_threadsafe(on_progress, progress)

        async with self._turn:
            return await self._thread.run(self._terminal.refund(amount_minor, currency, on_progress=tell_progress))

    async def end_of_day(self) -> TerminalResult:
        """See `CardTerminal.end_of_day`."""
        async with self._turn:
            return await self._thread.run(self._terminal.end_of_day())

    async def status(self) -> TerminalStatus:
        """See `CardTerminal.status`."""
        async with self._turn:
            return await self._thread.run(self._terminal.status())

    async def close(self) -> None:
        """See `CardTerminal.close`."""
        await self._thread.run(self._terminal.close())


async def _verdict(on_result: ResultCallback, result: TerminalResult) -> Verdict:
    return await on_result(result)
