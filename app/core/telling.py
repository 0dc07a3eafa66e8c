"""What the console does with a terminal's last word while the sale is still PAYING."""

from __future__ import annotations

from enum import StrEnum


class Telling(StrEnum):
    """Codes of `ConsoleStore.terminal_progress`, beside those that terminals say themselves."""

    APPROVED = "telling-approved"
    DECLINED = "telling-declined"
    UNCLEAR = "telling-unclear"
    NOTHING = "telling-nothing"
    """No bank was asked: the terminal could not be used, or somebody stopped it."""
