"""What can go wrong at a counter, sorted by blame. The shell words each by its `code`; nothing is shown as it stands.

    ConsoleError
    ├── ByPersonError          the person at the counter can do it differently
    │   ├── NotAllowedError            the role may not do this                             not-allowed
    │   ├── NothingPickedError         no seat is picked                                    nothing-picked
    │   ├── TooManySeatsError          more seats than one hold takes                       too-many-seats
    │   ├── SeatNotPickableError       the seat is taken, blocked or unknown                seat-not-pickable
    │   ├── NoBlockLeftError           so many seats are not free beside each other         no-block-left
    │   ├── PlacesNotPickableError     so many places of the area are not left, or unpriced places-not-pickable
    │   ├── TenderedTooLittleError     less cash than the total                             tendered-too-little
    │   ├── PartNotPayableError        a part of nothing, or of more than is left           part-not-payable
    │   ├── PlanFileError              the file is no seating plan of ours                  plan-file-unreadable
    │   │   └── PlanFileTooLargeError  a request could not carry it                         plan-file-too-large
    │   ├── PictureRefusedError        neither PNG nor JPEG, too large, or too many         picture-refused
    │   ├── PlanNotReadyError          the plan has faults, or no venue                     plan-not-ready
    │   ├── NoSuchOrderError           no order, or several, have the typed number          no-such-order
    │   ├── SettingsNotReadError       what stands there was not read yet                   settings-not-read
    │   └── SaleNotReadyError          the sale is not at a step where this can be done     sale-not-ready
    ├── BySurroundingsError    a device, a file or the keyring
    │   ├── NoTerminalError            no card terminal is set up                           no-terminal
    │   ├── TerminalUnsettledError     an earlier card payment must be settled first        terminal-unsettled
    │   ├── NoPrinterError             no ticket printer is set up                          no-printer
    │   ├── TicketsNotReadyError       the tickets are not issued yet                       tickets-not-ready
    │   ├── DeviceFileError            this counter's device id; `path` names the file
    │   │   ├── DeviceFileDamagedError     there, and cannot be read                        device-file-damaged
    │   │   ├── DeviceFileNotWrittenError  it has to be made, and cannot be written     device-file-not-written
    │   │   └── DeviceFileGoneError        gone, though sales were made under its id        device-file-gone
    │   └── JournalError               the local journal
    │       ├── JournalInUseError          another console works on this folder             journal-in-use
    │       ├── JournalDamagedError        unreadable, or gone; never recreated in silence  journal-damaged
    │       ├── JournalTooNewError         written by a newer console                       journal-too-new
    │       └── JournalWriteError          it could not be written (disk full, …)           journal-write-failed
    │           ├── JournalBeforeAskingError   before any payment was asked for        journal-failed-before-asking
    │           └── JournalAfterAskingError    after the payment had been asked for     journal-failed-after-asking
    └── ByProgramError         a fault of ours
        └── IllegalTransitionError     the sale cannot go from here to there                illegal-transition

Trouble with the booking system has a tree of its own (`backend_client.errors`), and so have devices.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar


class ConsoleError(Exception):
    """Base of all; `code` is stable and kebab-case."""

    code: ClassVar[str] = "console-error"


class ByPersonError(ConsoleError):
    code = "by-person"


class NotAllowedError(ByPersonError):
    code = "not-allowed"


class NothingPickedError(ByPersonError):
    code = "nothing-picked"


class TooManySeatsError(ByPersonError):
    """`limit` seats at most."""

    code = "too-many-seats"

    def __init__(self, limit: int) -> None:
        super().__init__(f"at most {limit} seats")
        self.limit = limit


class SeatNotPickableError(ByPersonError):
    code = "seat-not-pickable"

    def __init__(self, seat_no: int) -> None:
        super().__init__(f"seat {seat_no} cannot be picked")
        self.seat_no = seat_no


class NoBlockLeftError(ByPersonError):
    """`count` seats together were wanted; `most` is how many there are, 0 for not even one."""

    code = "no-block-left"

    def __init__(self, count: int, most: int) -> None:
        super().__init__(f"{count} seats beside each other are not free, {most} are")
        self.count = count
        self.most = most


class PlacesNotPickableError(ByPersonError):
    """`left` places of the tier `name` are left to this sale; None where the tier is not sold here."""

    code = "places-not-pickable"

    def __init__(self, name: str, left: int | None) -> None:
        super().__init__(f"{left} places of {name!r} are left")
        self.name = name
        self.left = left


class PlanFileError(ByPersonError):
    """The text says what is wrong, for the log."""

    code = "plan-file-unreadable"


class PlanFileTooLargeError(PlanFileError):
    code = "plan-file-too-large"


class PictureRefusedError(ByPersonError):
    """The text says what is wrong, for the log."""

    code = "picture-refused"


class PlanNotReadyError(ByPersonError):
    code = "plan-not-ready"


class TenderedTooLittleError(ByPersonError):
    """`missing_minor` more are needed."""

    code = "tendered-too-little"

    def __init__(self, missing_minor: int) -> None:
        super().__init__(f"{missing_minor} minor units are missing")
        self.missing_minor = missing_minor


class NoSuchOrderError(ByPersonError):
    code = "no-such-order"


class SettingsNotReadError(ByPersonError):
    """Nothing is changed that was not seen. The text names the subject."""

    code = "settings-not-read"


class PartNotPayableError(ByPersonError):
    """`left_minor` is what is left to pay."""

    code = "part-not-payable"

    def __init__(self, left_minor: int) -> None:
        super().__init__(f"between nothing and {left_minor}")
        self.left_minor = left_minor


class SaleNotReadyError(ByPersonError):
    code = "sale-not-ready"


class BySurroundingsError(ConsoleError):
    code = "by-surroundings"


class NoTerminalError(BySurroundingsError):
    code = "no-terminal"


class TerminalUnsettledError(BySurroundingsError):
    code = "terminal-unsettled"


class NoPrinterError(BySurroundingsError):
    code = "no-printer"


class TicketsNotReadyError(BySurroundingsError):
    code = "tickets-not-ready"


class DeviceFileError(BySurroundingsError):
    """`path` names the file."""

    code = "device-file-error"

    def __init__(self, path: Path) -> None:
        super().__init__(f"{self.code}: {path}")
        self.path = path


class DeviceFileDamagedError(DeviceFileError):
    code = "device-file-damaged"


class DeviceFileNotWrittenError(DeviceFileError):
    code = "device-file-not-written"


class DeviceFileGoneError(DeviceFileError):
    code = "device-file-gone"


class JournalError(BySurroundingsError):
    code = "journal-error"


class JournalInUseError(JournalError):
    code = "journal-in-use"


class JournalDamagedError(JournalError):
    code = "journal-damaged"


class JournalTooNewError(JournalError):
    code = "journal-too-new"


class JournalWriteError(JournalError):
    code = "journal-write-failed"


class JournalBeforeAskingError(JournalWriteError):
    """Neither the terminal nor the booking system had been asked to take money: nothing is charged."""

    code = "journal-failed-before-asking"


class JournalAfterAskingError(JournalWriteError):
    """The terminal, or for cash the booking system, had been asked: money may have moved."""

    code = "journal-failed-after-asking"


class ByProgramError(ConsoleError):
    code = "by-program"


class IllegalTransitionError(ByProgramError):
    code = "illegal-transition"
