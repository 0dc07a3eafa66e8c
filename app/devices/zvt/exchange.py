"""The course of one command between till and terminal, as a state machine without I/O.

The till sends a command and the terminal has the word until it gives it back with a completion (06 0F) or an abort
(06 1E). Every frame of the terminal is answered with `80 00 00`, but an approval (04 0F with result 00) of a command
that asks for a verdict waits for `decide`: `80 00 00` means goods issued, `84 66 00` makes the terminal reverse.
An abort that the till asks for (06 B0) is a wish and changes no state.

    state          positive   refusal    status          completion   abort      silence, line lost
    CALLING        RUNNING    REFUSED    RUNNING *       COMPLETED    ABORTED    LOST
    RUNNING        -          -          RUNNING *       COMPLETED    ABORTED    LOST
    DECIDING       -          -          -               COMPLETED    ABORTED    LOST        (`decide` → RUNNING)
    * DECIDING when it is an approval that asks for a verdict; progress and receipt frames count as status
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from app.devices.zvt import messages
from app.devices.zvt.codec import Apdu, ZvtFormatError
from app.devices.zvt.messages import StatusInformation


class State(Enum):
    CALLING = auto()
    RUNNING = auto()
    DECIDING = auto()
    COMPLETED = auto()
    ABORTED = auto()
    REFUSED = auto()
    LOST = auto()


class Told(Enum):
    """Kinds of frames and happenings, as the transition table names them."""

    POSITIVE = auto()
    REFUSAL = auto()
    STATUS = auto()
    APPROVAL = auto()
    COMPLETION = auto()
    ABORT = auto()
    LOSS = auto()


TRANSITIONS: dict[tuple[State, Told], State] = {
    (State.CALLING, Told.POSITIVE): State.RUNNING,
    (State.CALLING, Told.REFUSAL): State.REFUSED,
    (State.CALLING, Told.STATUS): State.RUNNING,
    (State.CALLING, Told.APPROVAL): State.DECIDING,
    (State.CALLING, Told.COMPLETION): State.COMPLETED,
    (State.CALLING, Told.ABORT): State.ABORTED,
    (State.CALLING, Told.LOSS): State.LOST,
    (State.RUNNING, Told.STATUS): State.RUNNING,
    (State.RUNNING, Told.APPROVAL): State.DECIDING,
    (State.RUNNING, Told.COMPLETION): State.COMPLETED,
    (State.RUNNING, Told.ABORT): State.ABORTED,
    (State.RUNNING, Told.LOSS): State.LOST,
    (State.DECIDING, Told.COMPLETION): State.COMPLETED,
    (State.DECIDING, Told.ABORT): State.ABORTED,
    (State.DECIDING, Told.LOSS): State.LOST,
}
FINAL = frozenset({State.COMPLETED, State.ABORTED, State.REFUSED, State.LOST})


@dataclass(frozen=True, slots=True)
class ProgressTold:
    code: int


@dataclass(frozen=True, slots=True)
class ApprovalTold:
    """The terminal approved and waits: call `Exchange.decide`."""

    status: StatusInformation


Event = ProgressTold | ApprovalTold


class Exchange:
    """One command from its first byte to the terminal's last word. Bytes to send collect in `take_output`."""

    def __init__(self, command: Apdu, *, asks_verdict: bool = False, accepts: bool = False) -> None:
        """`accepts`: an approval needs no verdict and counts as accepted (a refund, where nothing can be refused)."""
        self.command = command
        self.state = State.CALLING
        self.statuses: list[StatusInformation] = []
        self.receipt_lines: list[str] = []
        self.malformed = False
        self.accepted: bool | None = True if accepts else None
        self.end_data = b""
        self.end_code: int | None = None
        self._asks_verdict = asks_verdict
        self._abort_wished = False
        self._abort_sent = False
        self._output: list[Apdu] = [command]

    @property
    def finished(self) -> bool:
        return self.state in FINAL

    @property
    def abort_wished(self) -> bool:
        return self._abort_wished

    def take_output(self) -> list[Apdu]:
        """Frames to send now, in order."""
        output, self._output = self._output, []
        return output

    def receive(self, apdu: Apdu) -> Event | None:
        """Take one frame of the terminal; what comes after the end is ignored."""
        if self.finished:
            return None
        if messages.is_positive(apdu):
            self._answered(Told.POSITIVE, None)
        elif (code := messages.refusal_code(apdu)) is not None:
            self._answered(Told.REFUSAL, code)
        elif apdu.control == messages.STATUS_INFORMATION:
            return self._status_told(apdu)
        else:
            return self._called(apdu)
        return None

    def decide(self, *, accept: bool) -> None:
        """The verdict on an approval. Without effect unless one is awaited."""
        if self.state is not State.DECIDING:
            return
        self.accepted = accept
        self.state = State.RUNNING
        self._output.append(messages.POSITIVE if accept else messages.GOODS_NOT_ISSUED)

    def wish_abort(self) -> None:
        """Ask the terminal to stop, now or once it has taken the command; asked once."""
        self._abort_wished = True
        self._send_abort()

    def lose(self) -> None:
        """The line is gone or a timer ran out: the end is not known."""
        self._move(Told.LOSS)

    def _answered(self, told: Told, code: int | None) -> None:
        if self.state is not State.CALLING:
            return  # the answer to our abort: a wish, granted or not
        self.end_code = code
        self._move(told)
        if self._abort_wished:
            self._send_abort()

    def _status_told(self, apdu: Apdu) -> Event | None:
        try:
            status = messages.read_status_information(apdu.data)
        except ZvtFormatError:
            self.malformed = True
            self._take_word(Told.STATUS)
            return None
        if self.state is State.DECIDING:
            return None
        if self._asks_verdict and self.accepted is None and status.approved:
            self.statuses.append(status)
            self._move(Told.APPROVAL)
            return ApprovalTold(status)
        if self.accepted is False and status in self.statuses:
            self._output.append(messages.GOODS_NOT_ISSUED)  # told again: the same verdict again
            return None
        self.statuses.append(status)
        self._take_word(Told.STATUS)
        return None

    def _called(self, apdu: Apdu) -> Event | None:
        data = apdu.data
        match apdu.control:
            case messages.COMPLETION:
                self.end_data = data
                self._take_word(Told.COMPLETION)
            case messages.ABORT:
                self.end_code = data[0] if data else None
                self._take_word(Told.ABORT)
            case messages.INTERMEDIATE_STATUS:
                self._take_word(Told.STATUS)
                return ProgressTold(data[0]) if data else None
            case messages.PRINT_LINE | messages.PRINT_TEXT_BLOCK:
                self._print(apdu)
                self._take_word(Told.STATUS)
            case _:
                self._output.append(messages.NOT_UNDERSTOOD)
        return None

    def _print(self, apdu: Apdu) -> None:
        try:
            if apdu.control == messages.PRINT_LINE:
                self.receipt_lines.append(messages.read_print_line(apdu.data))
            else:
                self.receipt_lines.extend(messages.read_text_block(apdu.data))
        except ZvtFormatError:
            self.receipt_lines.append("")  # a receipt that cannot be read changes nothing about the money

    def _take_word(self, told: Told) -> None:
        self._output.append(messages.POSITIVE)
        self._move(told)

    def _move(self, told: Told) -> None:
        self.state = TRANSITIONS.get((self.state, told), self.state)

    def _send_abort(self) -> None:
        told = any(status.approved for status in self.statuses)
        if self.state is State.RUNNING and not told and not self._abort_sent:
            self._abort_sent = True
            self._output.append(Apdu(messages.ABORT_REQUEST))
