"""Seat numbers that stay: a version of a plan numbers its seats as the versions before it did (I4).

A number that a buyer's map, a hold, an order or a ticket names must mean the same seat after the plan has changed, also
in a request that was sent a moment before. So seats are matched by guid: one that stays keeps its number, whatever its
label and place are now; a new one gets the next number that no version has used; the number of one that is gone is
never given to another seat. It stands in the document as a seat marked `GONE`, in a nameless section of its own in the
lower right corner, that nobody can hold. Categories keep their numbers by name in the same way, because prices hang on
them.

Seats of a row must follow each other in number: where a new seat stands inside a row, the row goes on as another row of
the same label. Rows are in the order of their numbers.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec

from booking.domain.seating_plan.model import LabelPosition, SeatFlag

_Body = dict[str, Any]  # Any: a JSON value of our own making (see document.py)
_COLUMNS = ("guid", "number", "row_no", "category_no", "x", "y", "flags")


def number_as_before(body: bytes, before: bytes) -> bytes:
    """The encoded body of a new version, its seats and categories numbered as in the document of the version before.

    The very same bytes when that changes nothing.
    """
    new, old = msgspec.json.decode(body), msgspec.json.decode(before)
    numbers = _numbers(new["seats"]["guid"], old["seats"]["guid"])
    categories = _category_numbers(new["categories"], old["categories"])
    if _is_as_it_was(numbers, len(old["seats"]["guid"])) and _is_as_it_was(categories, len(old["categories"])):
        return body
    return msgspec.json.encode(_renumbered(new, old, numbers, categories))


def _is_as_it_was(numbers: list[int], count_before: int) -> bool:
    return len(numbers) >= count_before and numbers == list(range(len(numbers)))


def _numbers(new: list[str], old: list[str]) -> list[int]:
    """The number of each new seat, in the new version's own order."""
    known = {guid: number for number, guid in enumerate(old)}
    free = len(old)
    numbers = []
    for guid in new:
        number = known.get(guid)
        if number is None:
            number, free = free, free + 1
        numbers.append(number)
    return numbers


def _category_numbers(new: list[_Body], old: list[_Body]) -> list[int]:
    known = {category["name"]: number for number, category in enumerate(old)}
    free = len(old)
    numbers = []
    for category in new:
        number = known.get(category["name"])
        if number is None:
            number, free = free, free + 1
        numbers.append(number)
    return numbers


def _renumbered(new: _Body, old: _Body, numbers: list[int], categories: list[int]) -> _Body:
    total = max(len(old["seats"]["guid"]), max(numbers) + 1)
    own = {number: index for index, number in enumerate(numbers)}
    gone = [number for number in range(total) if number not in own]
    runs = _runs(new["rows"], numbers) + _runs_of_gone(gone, len(new["sections"]))
    runs.sort(key=lambda run: int(run[1]["first_seat"]))
    rows = [row for _, row in runs]
    # Rows are in the order of their numbers, and leave none out.
    row_of_seat = [row_no for row_no, row in enumerate(rows) for _ in range(row["seat_count"])]
    seats: _Body = {name: [] for name in _COLUMNS}
    for number in range(total):
        index = own.get(number)
        seat = _gone_seat(old, number, new) if index is None else _seat(new, index, categories)
        for name, value in (*seat.items(), ("row_no", row_of_seat[number])):
            seats[name].append(value)
    body = {
        **new,
        "categories": _categories(new["categories"], old["categories"], categories),
        "sections": new["sections"] + ([{"name": "", "label_x": 0.0, "label_y": 0.0}] if gone else []),
        "rows": rows,
        "seats": seats,
    }
    if "extras" in new:
        body["extras"] = _extras(new["extras"], numbers, bool(gone))
    if "tables" in new:
        body["tables"] = _tables(new["tables"], [origin for origin, _ in runs])
    if "standing" in new:
        body["standing"] = [{**area, "category_no": categories[area["category_no"]]} for area in new["standing"]]
    return body


def _tables(tables: list[_Body], origins: list[int | None]) -> list[_Body]:
    """Each table at the first row that its row became; the others that it became are named beside it."""
    return [
        _table(table, [number for number, origin in enumerate(origins) if origin == table["row_no"]])
        for table in tables
    ]


def _table(table: _Body, rows: list[int]) -> _Body:
    return {**table, "row_no": rows[0], **({"more_rows": rows[1:]} if rows[1:] else {})}


def _seat(new: _Body, index: int, categories: list[int]) -> _Body:
    columns = new["seats"]
    seat = {name: columns[name][index] for name in _COLUMNS if name != "row_no"}
    return {**seat, "category_no": categories[seat["category_no"]]}


def _gone_seat(old: _Body, number: int, new: _Body) -> _Body:
    columns = old["seats"]
    return {
        "guid": columns["guid"][number],
        "number": "",
        "category_no": columns["category_no"][number],
        "x": new["width"],
        "y": new["height"],
        "flags": int(SeatFlag.GONE),
    }


def _categories(new: list[_Body], old: list[_Body], numbers: list[int]) -> list[_Body]:
    """Those of the version before, in their places, with the new colours; then those that are new."""
    renewed = dict(zip(numbers, new, strict=True))
    total = max(len(old), max(renewed, default=-1) + 1)
    return [{**(renewed.get(number) or old[number]), "category_no": number} for number in range(total)]


def _runs(rows: list[_Body], numbers: list[int]) -> list[tuple[int | None, _Body]]:
    """Rows as stretches of numbers that follow each other, each with the row that it is of."""
    runs: list[tuple[int | None, _Body]] = []
    for origin, row in enumerate(rows):
        own = numbers[row["first_seat"] : row["first_seat"] + row["seat_count"]]
        breaks = [place for place, (one, other) in enumerate(pairwise(own), start=1) if other != one + 1]
        edges = [0, *breaks, len(own)]
        for part, (first, end) in enumerate(pairwise(edges)):
            if first < end:
                position = _label_of_part(row["label_position"], first=part == 0, last=end == len(own))
                runs.append(
                    (origin, {**row, "first_seat": own[first], "seat_count": end - first, "label_position": position})
                )
    return runs


def _label_of_part(position: str, *, first: bool, last: bool) -> str:
    """A row in parts has its label where the whole row had it: at its outer ends."""
    starts = first and position in (LabelPosition.START, LabelPosition.BOTH)
    ends = last and position in (LabelPosition.END, LabelPosition.BOTH)
    if starts and ends:
        return LabelPosition.BOTH.value
    return (LabelPosition.START if starts else LabelPosition.END if ends else LabelPosition.NONE).value


def _runs_of_gone(gone: list[int], section_no: int) -> list[tuple[int | None, _Body]]:
    return [
        (None, {"section_no": section_no, "label": "", "first_seat": number, "seat_count": 1, "label_position": ""})
        for number in gone
    ]


def _extras(extras: _Body, numbers: list[int], gone: bool) -> _Body:
    """What hangs on seats by their place, by their new place."""
    moved = dict(extras)
    for name in ("radii", "start_directions"):
        if name in extras:
            moved[name] = {str(numbers[int(index)]): value for index, value in extras[name].items()}
    if "section_keys" in extras and gone:
        moved["section_keys"] = [*extras["section_keys"], ""]
    return moved
