"""Every scene of the simulator, driven by the driver, as Wireshark's ZVT dissector reads it (T1, T3, T6, T7, T9).

One capture holds all conversations: recorded between driver and simulator, written as packets, decoded by tshark. What
it reads must be what driver and simulator say; nothing may be malformed, nothing worth a warning.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections import Counter as Tally
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which

import pytest

from app.devices.card_terminal import (
    Progress,
    TerminalError,
    TerminalOutcome,
    TerminalResult,
    Verdict,
)
from app.devices.zvt import codes, messages
from app.devices.zvt.codec import FrameReader
from app.devices.zvt.driver import ZvtSettings, ZvtTerminal
from app.devices.zvt.simulator.ledger import Booking, Closing
from app.devices.zvt.simulator.machine import Machine
from app.devices.zvt.simulator.scenes import DayFault, Delays, FrameMode, ReversalFault, Scene, SceneName, Script
from app.devices.zvt.simulator.server import SimulatedTerminal
from tests.unit.devices.wire_recording import TERMINAL_PORT, Recording, recording_proxy, write_capture
from tests.unit.devices.zvt_referee import Reading, read_capture, tshark

EUR = 0x978
NOT_IN_THE_DISSECTOR = {messages.REPEAT_RECEIPT, messages.STATUS_ENQUIRY, messages.ABORT_REQUEST}
"""Commands of ours that this version of it does not name; their answers it reads."""
FAST = ZvtSettings("127.0.0.1", connect_s=2, t3_s=1.5, t4_s=1.5, busy_limit_s=8, verdict_s=4)


@dataclass
class Conversation:
    """A scene that was played: what the driver said of it, what the terminal stored, what passed on the wire."""

    name: str
    results: list[TerminalResult] = field(default_factory=list)
    asked_minor: list[int] = field(default_factory=list)
    bookings: list[Booking] = field(default_factory=list)
    closings: list[Closing] = field(default_factory=list)
    recording: Recording = field(default_factory=Recording)
    readings: list[Reading] = field(default_factory=list)

    @property
    def told_minor(self) -> list[int]:
        """Amounts that the terminal told, as the dissector reads them."""
        return [amount for reading in self.readings for from_till, amount in reading.amounts if not from_till]


@dataclass
class Stage:
    """Driver and machine of one conversation."""

    driver: ZvtTerminal
    machine: Machine
    talk: Conversation
    verdict: Verdict = Verdict.ACCEPT

    async def pay(self, amount_minor: int = 1250, currency: str = "EUR", *, abort: bool = False) -> TerminalResult:
        async def decide(_result: TerminalResult) -> Verdict:
            return self.verdict

        def follow(progress: Progress) -> None:
            if abort and progress is Progress.PRESENT_CARD:
                aborts.append(asyncio.ensure_future(self.driver.abort()))

        aborts: list[asyncio.Future[None]] = []
        self.talk.asked_minor.append(amount_minor)
        result = await self.driver.pay(amount_minor, currency, on_progress=follow, on_result=decide)
        await asyncio.gather(*aborts)
        self.talk.results.append(result)
        return result

    async def keep(self, asked: Awaitable[TerminalResult | None]) -> None:
        """A result that is told, or an error that says that nothing was done."""
        try:
            result = await asked
        except TerminalError:
            return
        if result is not None:
            self.talk.results.append(result)


Play = Callable[[Stage], Awaitable[object]]


def scene(name: SceneName, **options: object) -> Play:
    """Pay once in this scene, and ask for the last transaction afterwards, as a till does that lost sight of one."""

    async def play(stage: Stage) -> None:
        stage.machine.script.queue(Scene(name, **options), 1)  # type: ignore[arg-type]
        abort = name in {SceneName.ABORT_CROSSING_APPROVAL, SceneName.CUSTOMER_TIMEOUT}
        await stage.pay(abort=abort)
        await stage.keep(stage.driver.last_transaction())

    return play


def frames(mode: FrameMode) -> Play:
    async def play(stage: Stage) -> None:
        stage.machine.frame_mode = mode
        await stage.pay()
        await stage.keep(stage.driver.last_transaction())
        await stage.driver.status()

    return play


async def aborted_by_the_till(stage: Stage) -> None:
    stage.machine.card_gate.clear()
    await stage.pay(abort=True)


async def hold_lost(stage: Stage) -> None:
    stage.verdict = Verdict.REVERSE
    await stage.pay()


async def reversed_by_receipt(stage: Stage) -> None:
    """By receipt, again (already reversed), and one that does not exist."""
    paid = await stage.pay()
    for receipt_no in (paid.receipt_no or 0, paid.receipt_no or 0, 77):
        await stage.keep(stage.driver.reverse(receipt_no, amount_minor=1250, original_trace=paid.trace))


async def reverses_the_last(stage: Stage) -> None:
    first = await stage.pay(1250)
    await stage.pay(3000)
    stage.machine.reverses_last = True
    await stage.keep(stage.driver.reverse(first.receipt_no or 0, amount_minor=1250, original_trace=first.trace))


def reversal(fault: ReversalFault) -> Play:
    async def play(stage: Stage) -> None:
        paid = await stage.pay()
        stage.machine.reversal_fault = fault
        await stage.keep(stage.driver.reverse(paid.receipt_no or 0, amount_minor=1250))

    return play


async def refunded(stage: Stage) -> None:
    stage.talk.asked_minor.append(900)
    await stage.keep(stage.driver.refund(900, "EUR", on_progress=lambda _: None))


async def refund_declined(stage: Stage) -> None:
    stage.talk.asked_minor.append(900)
    stage.machine.script.queue(Scene(SceneName.DECLINE), 1)
    await stage.keep(stage.driver.refund(900, "EUR", on_progress=lambda _: None))


def day(fault: DayFault) -> Play:
    async def play(stage: Stage) -> None:
        await stage.pay(1250)
        await stage.pay(2000)
        stage.machine.day_fault = fault
        await stage.keep(stage.driver.end_of_day())
        await stage.keep(stage.driver.last_transaction())

    return play


async def forgets_receipts(stage: Stage) -> None:
    stage.machine.forgets_receipts = True
    await stage.pay()
    await stage.keep(stage.driver.last_transaction())


async def refuses_tlv(stage: Stage) -> None:
    stage.machine.refuses_tlv = True
    await stage.pay()


async def restarted(stage: Stage) -> None:
    """T4: the power goes after the approval; what was stored is told to the next question."""
    stage.machine.script.queue(Scene(SceneName.LINE_LOST_AFTER_RESULT), 1)
    await stage.pay()
    stage.machine.drop_lines()
    await stage.keep(stage.driver.last_transaction())


PLAYS: dict[str, Play] = {
    **{name.value: scene(name) for name in SceneName},
    "partial-approval-named": scene(SceneName.PARTIAL_APPROVAL, amount_minor=1000),
    "line-lost-and-auto-reversed": scene(SceneName.LINE_LOST_AFTER_RESULT, auto_reverse=True),
    **{f"frames-{mode.value}": frames(mode) for mode in FrameMode},
    "aborted-by-the-till": aborted_by_the_till,
    "hold-lost": hold_lost,
    "reversed-by-receipt": reversed_by_receipt,
    "reverses-the-last": reverses_the_last,
    **{f"reversal-{fault.value}": reversal(fault) for fault in ReversalFault},
    "refund": refunded,
    "refund-declined": refund_declined,
    **{f"end-of-day-{fault.value}": day(fault) for fault in DayFault},
    "forgets-receipts": forgets_receipts,
    "refuses-tlv": refuses_tlv,
    "restarted": restarted,
}


async def _play_one(name: str, play: Play) -> Conversation:
    talk = Conversation(name)
    machine = Machine(delays=Delays(0, 0, 0), script=Script(Scene()))
    simulated = SimulatedTerminal(machine)
    await simulated.start()
    try:
        async with recording_proxy(simulated.port, talk.recording) as port:
            driver = ZvtTerminal(ZvtSettings(
                "127.0.0.1", port, connect_s=FAST.connect_s, t3_s=FAST.t3_s, t4_s=FAST.t4_s,
                busy_limit_s=FAST.busy_limit_s, verdict_s=FAST.verdict_s,
            ))  # fmt: skip
            await play(Stage(driver, machine, talk))
    finally:
        await simulated.close()
    talk.bookings, talk.closings = list(machine.ledger.bookings), list(machine.ledger.closings)
    return talk


async def _play_all() -> list[Conversation]:
    return await asyncio.gather(*(_play_one(name, play) for name, play in PLAYS.items()))


@pytest.fixture(scope="module")
def conversations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Conversation]:
    tshark()
    talks = asyncio.run(_play_all())
    path = tmp_path_factory.mktemp("zvt") / "all.pcap"
    ports = write_capture(path, [talk.recording for talk in talks])
    readings = read_capture(path, TERMINAL_PORT)
    for port, (place, _number) in ports.items():
        talks[place].readings.append(readings[port])
    return {talk.name: talk for talk in talks}


@pytest.fixture(params=PLAYS)
def talk(request: pytest.FixtureRequest, conversations: dict[str, Conversation]) -> Conversation:
    return conversations[request.param]


def _our_frames(talk: Conversation) -> Iterator[Tally[tuple[bool, int]]]:
    """The same connections as our own reader takes them apart; answers by their class, as the dissector has them."""
    for number in range(talk.recording.connections):
        tally: Tally[tuple[bool, int]] = Tally()
        for from_till in (True, False):
            for apdu in FrameReader().feed(talk.recording.heard(number, from_till=from_till)):
                if apdu.control in NOT_IN_THE_DISSECTOR:
                    continue
                answer = apdu.control >> 8 in {0x80, 0x84}
                tally[from_till, apdu.control & 0xFF00 if answer else apdu.control] += 1
        yield tally


def test_no_frame_is_malformed_or_worth_a_warning(talk: Conversation) -> None:
    assert talk.readings
    assert [complaint for reading in talk.readings for complaint in reading.complaints] == []


def test_the_referee_sees_the_frames_that_we_see(talk: Conversation) -> None:
    for reading, ours in zip(talk.readings, _our_frames(talk), strict=True):
        assert Tally(reading.controls) == ours


def test_what_is_asked_is_what_the_till_wanted(talk: Conversation) -> None:
    """The amount of each payment and refund, once, in its currency."""
    asked = [amount for reading in talk.readings for from_till, amount in reading.amounts if from_till]
    assert asked == talk.asked_minor
    assert {code for reading in talk.readings for code in reading.currencies} == {EUR}


def test_what_the_terminal_tells_is_what_it_stored_and_what_the_driver_says(talk: Conversation) -> None:
    """No amount on the wire is without a booking or an end of day; every result of the driver was on the wire."""
    stored = {booking.amount_minor for booking in talk.bookings} | {closing.total_minor for closing in talk.closings}
    if talk.name == "reversal-wrong-amount":
        stored.add(1350)
    assert set(talk.told_minor) <= stored
    told = Tally(talk.told_minor)
    for result in talk.results:
        if result.amount_minor:
            assert told[result.amount_minor] > 0
        if result.outcome is TerminalOutcome.APPROVED and result.trace is not None:
            assert result.trace in {trace for reading in talk.readings for trace in reading.traces}
    traces = {booking.trace for booking in talk.bookings}
    approved = {result.trace for result in talk.results if result.outcome is TerminalOutcome.APPROVED}
    assert approved - {None} <= traces


def test_result_codes_are_those_that_the_driver_names(talk: Conversation) -> None:
    """04 0F and 06 1E carry a code; a decline that the driver names was told, and no other code than those stands."""
    codes_told = {code for reading in talk.readings for code in reading.result_codes}
    declined = {result.decline_code for result in talk.results if result.outcome is TerminalOutcome.DECLINED}
    names = {codes.result_name(code) for code in codes_told}
    spoken_by_us = {"", "aborted", "goods-not-issued", "terminal-busy", "not-possible"}
    assert declined - spoken_by_us <= names
    if any(result.outcome is TerminalOutcome.APPROVED for result in talk.results):
        assert codes.APPROVED in codes_told


def test_the_terminal_names_itself_and_no_card_number_travels_whole(talk: Conversation) -> None:
    assert {told for reading in talk.readings for told in reading.terminal_ids} <= {"52500041"}
    for number in {told for reading in talk.readings for told in reading.card_numbers}:
        assert sum(letter.isdecimal() for letter in number) <= 10, "six digits in front and four behind, at most"


@pytest.mark.parametrize(
    ("name", "outcome", "amount_minor"),
    [
        ("approve", "approved", 1250),
        ("decline", "declined", 0),
        ("customer-timeout", "declined", 0),
        ("partial-approval-named", "approved", 1000),
        ("abort-crossing-approval", "approved", 1250),
        ("more-time", "approved", 1250),
        ("line-lost-after-result", "unknown", 1250),
        ("line-lost-before-result", "unknown", 0),
        ("dead", "unknown", 0),
    ],
)
def test_the_scenes_ended_as_they_should(
    conversations: dict[str, Conversation], name: str, outcome: str, amount_minor: int
) -> None:
    result = conversations[name].results[0]
    assert (result.outcome, result.amount_minor) == (outcome, amount_minor)


def test_the_referee_reads_verdicts_refunds_and_ends_of_day(conversations: dict[str, Conversation]) -> None:
    def controls(name: str) -> set[tuple[bool, int]]:
        return {control for reading in conversations[name].readings for control in reading.controls}

    assert (True, 0x8400) in controls("hold-lost"), "goods not issued"
    assert (True, messages.REVERSAL) in controls("reversed-by-receipt")
    assert (True, messages.REFUND) in controls("refund")
    assert (True, messages.END_OF_DAY) in controls("end-of-day-none")
    assert (False, 0x8400) in controls("refuses-tlv")
    assert conversations["end-of-day-none"].told_minor.count(3250) == 2, "told, and told again by 06 20"


def test_the_referee_finds_a_frame_that_is_wrong(tmp_path: Path) -> None:
    """A status information whose amount ends in the middle, and one of three bytes: it must complain of such frames."""
    tshark()
    from tests.unit.devices.wire_recording import Piece

    broken = [bytes.fromhex("040f05270004000000")[:8], bytes.fromhex("060104 04 0000 00")]
    recordings = [Recording([Piece(0, True, data, 1.0)], 1) for data in broken]
    ports = write_capture(tmp_path / "broken.pcap", recordings)
    readings = read_capture(tmp_path / "broken.pcap", TERMINAL_PORT)
    assert [bool(readings[port].complaints) for port in ports] == [True, True]


async def test_a_live_capture_on_loopback_says_the_same(tmp_path: Path) -> None:
    """Nothing of ours between the wire and the decoder. Capturing needs rights that not every machine gives."""
    tshark()
    dumpcap = which("dumpcap")
    machine = Machine(delays=Delays(0, 0, 0), script=Script(Scene()))
    simulated = SimulatedTerminal(machine)
    await simulated.start()
    path = tmp_path / "live.pcapng"
    capture = await asyncio.create_subprocess_exec(
        dumpcap or "dumpcap", "-q", "-i", "lo", "-f", f"tcp port {simulated.port}", "-w", str(path),
        stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert capture.stderr is not None
        said = b""
        while b"File:" not in said:
            line = await asyncio.wait_for(capture.stderr.readline(), 20)
            if not line:
                pytest.skip(f"this machine lets nobody capture: {said.decode(errors='replace')[-200:]}")
            said += line

        async def accept(_result: TerminalResult) -> Verdict:
            return Verdict.ACCEPT

        driver = ZvtTerminal(ZvtSettings("127.0.0.1", simulated.port))
        result = await driver.pay(1250, "EUR", on_progress=lambda _: None, on_result=accept)
        readings = await _read_until_complete(path, simulated.port)
    finally:
        if capture.returncode is None:
            capture.send_signal(signal.SIGINT)
        await capture.wait()
        await simulated.close()
    (reading,) = readings
    assert reading.complaints == []
    assert reading.amounts == [(True, 1250), (False, 1250)]
    assert (reading.traces, reading.currencies, reading.result_codes) == ([result.trace], {EUR}, [codes.APPROVED])
    assert [booking.amount_minor for booking in machine.ledger.bookings] == [1250]


async def _read_until_complete(path: Path, port: int) -> list[Reading]:
    """What was captured reaches the file a moment later."""
    async with asyncio.timeout(20):
        while True:
            readings = list(read_capture(path, port).values())
            ends = [control for reading in readings for control in reading.controls]
            if ends.count((False, messages.COMPLETION)) == 2:
                return readings
            await asyncio.sleep(0.1)


def test_without_the_referee_ci_fails_and_others_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.unit.devices.zvt_referee.shutil.which", lambda _name: None)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="tshark"):
        tshark()
    monkeypatch.setenv("CI", "")
    with pytest.raises(pytest.skip.Exception, match="tshark"):
        tshark()
