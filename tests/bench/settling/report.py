"""What was measured, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

BOUNDS_MS = (5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 60_000, 120_000)
BAR = 50


def histogram(seconds: Sequence[float]) -> dict[str, int]:
    """How many took up to each bound, in ms, and more than the one before; `more` for the rest."""
    counts = dict.fromkeys([*map(str, BOUNDS_MS), "more"], 0)
    for value in seconds:
        bound = next((str(bound) for bound in BOUNDS_MS if value * 1_000 <= bound), "more")
        counts[bound] += 1
    return counts


def in_words(counts: Mapping[str, int], title: str) -> str:
    """The histogram with a bar for each row, on a scale of shares."""
    total = max(1, sum(counts.values()))
    lines = [title]
    for bound, count in counts.items():
        label = "longer" if bound == "more" else f"≤ {int(bound):,} ms"
        bar = "█" * max(round(BAR * count / total), 1 if count else 0)
        lines.append(f"  {label:>12}  {count:>7,}  {100 * count / total:6.2f} %  {bar}")
    return "\n".join(lines)
