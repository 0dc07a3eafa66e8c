"""What an experiment found, and whether it is what the document says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Own:
    """The same through the project's own functions; `breaches` of its invariants afterwards."""

    buyers: int
    winners: int
    results: Mapping[str, int]
    seconds: float
    breaches: int
    lines: tuple[str, ...]
    as_expected: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """`winners` were told that they have the place; `lines` are the document's table."""

    mode: str
    buyers: int
    winners: int
    results: Mapping[str, int]
    seconds: float
    expected: str
    as_expected: bool
    lines: tuple[str, ...]
    figures: Mapping[str, object] = field(default_factory=dict)
    own: Own | None = None

    @property
    def good(self) -> bool:
        """The document is confirmed, and our own way holds beside it."""
        return self.as_expected and (self.own is None or self.own.as_expected)

    def as_json(self) -> dict[str, object]:
        """`{mode, buyers, winners, results, seconds}` and what stands beside them."""
        told: dict[str, object] = {
            "mode": self.mode,
            "buyers": self.buyers,
            "winners": self.winners,
            "results": dict(self.results),
            "seconds": round(self.seconds, 4),
            "expected": self.expected,
            "as_expected": self.as_expected,
            **self.figures,
        }
        if self.own is not None:
            told["ours"] = {
                "buyers": self.own.buyers,
                "winners": self.own.winners,
                "results": dict(self.own.results),
                "seconds": round(self.own.seconds, 4),
                "breaches": self.own.breaches,
                "as_expected": self.own.as_expected,
            }
        return told


def table_lines(name: str, buyers: int, seconds: float, results: Mapping[str, int], below: str) -> tuple[str, str]:
    """The two lines that the document prints for a crowd."""
    return (
        f"{name:<12} buyers={buyers}  time={seconds:.2f}s  results={dict(results)}",
        f"{'':<12} {below}",
    )
