"""What the reader of plan files says about a file, in the words of the console (case I3).

The booking system names each sentence and gives its values apart; a name that is not known here is a newer server's,
and its English words are shown as they came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.i18n import _, figures, marked
from app.screens.plan_fields import as_it_is

FINDING_WORDS: Final[dict[str, str]] = {
    "format-unknown": marked("This is no plan in a format that can be read: {known}"),
    "file-too-large": marked("The file has {count} bytes; at most {most} are read"),
    "file-in-another-encoding": marked("The file looks like {name}; save it as UTF-8"),
    "byte-not-utf8": marked("Byte {count} is not UTF-8; save the file as UTF-8"),
    "encoding-unknown": marked("{detail}; save the file as UTF-8"),
    "byte-order-mark": marked("The file starts with a byte order mark; it is ignored"),
    "more-findings": marked("{count} more findings of {name}"),
    "not-json": marked("Not JSON at line {line}, column {column}: {detail}"),
    "digits-too-many": marked("A number has too many digits"),
    "file-is-null": marked("The file holds null; a plan is an object"),
    "too-deep": marked("Values are nested more than {most} deep"),
    "objects-too-many": marked("More than {most} objects or {members} members"),
    "expected": marked("Expected {wanted}, found {found}"),
    "expected-instead": marked("Expected {wanted}, found {found} ({text})"),
    "expected-number": marked("Expected a number from {least} to {most}"),
    "expected-whole": marked("Expected a whole number from {least} to {most}"),
    "expected-short-text": marked("Expected a text of at most {most} characters"),
    "expected-one-of": marked("Expected one of {known}"),
    "not-one-of": marked("“{text}” is not one of {known}"),
    "not-finite": marked("{text} is not a finite number"),
    "null": marked("Null is not allowed here"),
    "member-missing": marked("The member “{name}” is missing"),
    "member-repeats": marked("The member “{name}” stands here twice"),
    "member-unknown": marked("The member “{name}” is not known; it is ignored"),
    "items-too-many": marked("{count} items; at most {most} are read"),
    "text-too-long": marked("{count} characters; at most {most} are kept"),
    "text-unprintable": marked("The text holds control characters"),
    "number-as-text": marked("The number {text} is read as a text"),
    "color-replaced": marked("“{text}” is not a colour such as #1f77b4; {color} is used"),
    "color-left-out": marked("“{text}” is not a colour such as #1f77b4; no colour is used"),
    "version-unreadable": marked("This is version {version} of the format; version {known} can be read"),
    "version-not-seen": marked("Version {version}; {least} to {most} are known, so look at the plan closely"),
    "file-empty": marked("The file is empty; a header names the columns"),
    "line-unreadable": marked("Line {line} cannot be read: {detail}"),
    "cells-or-lines-too-many": marked("More than {most} cells or {lines} lines"),
    "cells-too-many": marked("{count} cells in a line; at most {most} are read"),
    "columns-too-many": marked("More than {most} columns"),
    "header-unknown": marked(
        "Line {line}, column {column} ({letter}): the header “{text}” is not known; there are {known}"
    ),
    "header-repeats": marked("Line {line}, column {column} ({letter}): a second column for “{name}”"),
    "header-missing": marked("Line {line}: there is no column “{name}”"),
    "cells-beyond": marked("Line {line} has {count} cells, the header {most}"),
    "cell-too-long": marked("{count} characters in a cell; at most {most} are kept"),
    "cell-unprintable": marked("The cell holds control characters"),
    "cell-no-seat": marked(
        "“{text}” is no seat: expected zone:seat such as Stalls:B12, with + behind an accessible one"
    ),
    "cell-no-number": marked("Line {line}: “{text}” is no number"),
    "cell-empty": marked("Line {line}: {name} is missing"),
    "cell-out-of-range": marked("Line {line}: expected a number from {least} to {most}"),
    "cell-not-yes-or-no": marked("Line {line}: “{text}” is neither yes nor no"),
    "cell-no-mark": marked("Line {line}: “{text}” is no mark; there are {known}"),
    "cell-no-capacity": marked("Line {line}: “{text}” is no capacity from 1 to {most}"),
    "line-without-seat-number": marked("Line {line}: the seat has no number; give it one, or have it filled in"),
    "line-without-standing-name": marked("Line {line}: the standing area has no name; write it as its row or section"),
    "not-xml": marked("Not XML at line {line}, column {column}: {detail}"),
    "not-svg": marked("This is no SVG: its first element is not <svg>"),
    "attributes-too-many": marked("More than {most} attributes"),
    "elements-too-many": marked("More than {most} elements"),
    "elements-too-deep": marked("Elements are nested more than {most} deep"),
    "entities": marked("The file declares entities; remove them (save it as plain SVG)"),
    "another-file": marked("The file refers to another file; remove that"),
    "uses-too-many": marked("Elements are used by elements that are used, too often to be followed"),
    "shapes-too-many": marked("Too many shapes: those from here on are left out"),
    "transform-unreadable": marked("The transform “{text}” of <{name}> cannot be read"),
    "seat-not-shown": marked("The seat “{name}” is not shown in the drawing; it is a seat all the same"),
    "seat-somewhere": marked("Where the seat “{name}” stands cannot be told from <{text}>"),
    "picture-left-out": marked(
        "The picture is left out: kept are PNG and JPEG that the drawing itself carries, upright, a few"
    ),
    "pattern-field-unknown": marked("The seat pattern “{text}”: there is no “{name}”; there are {known}"),
    "pattern-field-twice": marked("The seat pattern “{text}”: a field stands twice"),
    "pattern-without-number": marked("The seat pattern “{text}”: the number is missing"),
    "pattern-matches-nothing": marked("No shape matches the seat pattern “{text}”"),
    "seats-not-named": marked("No shape is named as a seat; say above how they are named, such as {text}"),
    "category-repeats": marked("A second category “{name}”"),
    "category-missing": marked("No category, so it would have no price; give it one, or have one added"),
    "category-given": marked("No category; “{name}” is used"),
    "category-added": marked("The category “{name}” is added to the list"),
    "category-unknown": marked("The category “{name}” is not in the list of categories ({known})"),
    "category-of-no-list": marked("The category “{name}” is not in the list of categories, which is empty"),
    "category-unused": marked("No seat is of this category"),
    "categories-too-many": marked("More than {most} categories"),
    "section-repeats": marked("A second {what} “{name}”"),
    "section-named": marked("The zone has no name; “{name}” is used"),
    "section-empty": marked("This has no rows ({what}); give it seats, remove it, or have it left out"),
    "section-empty-but-shapes": marked("The zone has no rows; only its shapes are kept"),
    "section-left-out": marked("This has no rows ({what}); it is left out"),
    "row-empty": marked("The row has no seats; remove it, or have it left out"),
    "row-left-out": marked("The row has no seats; it is left out"),
    "row-unnamed": marked("The row has no label"),
    "row-repeats": marked("A second row “{name}” ({what}), after {place}; its seats read alike"),
    "label-missing": marked("It has no label ({what}); nobody could be sent there"),
    "label-looks-alike": marked("{label} looks like {other} to a person ({what}); make them one or tell them apart"),
    "label-padded": marked("{label} ({what}): the spaces are kept out"),
    "floor-unknown": marked("It is on a floor that the plan does not have; there are {count}, counted from 0"),
    "floor-of-picture-unknown": marked("The plan has no such floor"),
    "floors-too-many": marked("More than {most} floors"),
    "table-moved": marked(
        "Table “{name}” stands exactly upon table “{other}”; it is drawn {distance} to the right of it: "
        "put it where it belongs"
    ),
    "tables-sold-by-seat": marked("Tables booked as a whole: here their seats are sold one by one"),
    "areas-sold-by-place": marked("Areas booked as a whole: here their places are sold one by one"),
    "not-kept": marked("{what}: not kept"),
    "no-seats": marked("The plan has neither seats nor standing places"),
    "seats-too-many": marked("{count} seats; at most {most} are read"),
    "seat-unnumbered": marked("The seat has no number; give it one, or have it filled in"),
    "seat-unlabelled": marked("The seat has no label (“{text}”); give it one, or have it filled in"),
    "seat-repeats": marked("A second seat “{name}” in this row"),
    "seat-numbered": marked("The seat has no number; it becomes “{other}”"),
    "seat-numbered-anew": marked("“{name}” stands twice in this row; it becomes “{other}”"),
    "seats-coincide": marked("This seat stands at the same point as {place}"),
    "seats-overlap": marked(
        "This seat lies over {place}: their middles are {distance} apart, those of neighbours here {size}"
    ),
    "identity-missing": marked("The seat has no “{name}”"),
    "identity-missing-mend": marked("The seat has no “{name}”; give it one, or have one made"),
    "identity-repeats": marked("The same identity as the seat at {place}"),
    "identity-repeats-mend": marked(
        "The same identity as the seat at {place}; give it one of its own, or have one made"
    ),
    "identity-from-uuid": marked("The identity is missing; its “uuid” is used: {text}"),
    "identity-from-uuid-anew": marked("The identity repeats; its “uuid” is used: {text}"),
    "identity-made": marked("The identity is missing; one made from its section, row and number is used: {text}"),
    "identity-made-anew": marked("The identity repeats; one made from its section, row and number is used: {text}"),
    "identities-from-uuids": marked(
        "{count} seats have {distinct} distinct “{name}”; the “uuid” of each seat, which does not "
        "repeat, is its identity instead"
    ),
    "standing-unnamed": marked("The standing area has no name"),
    "standing-repeats": marked("A second standing area “{name}”; they are sold by name, so each needs its own"),
    "shape-missing": marked("The area has no “shape”"),
    "polygon-too-short": marked("A polygon needs at least 3 points"),
    "picture-not-base64": marked("The picture is not base64"),
    "picture-of-another-kind": marked("The picture is neither PNG nor JPEG"),
    "picture-too-large": marked("A picture of {count} bytes; at most {most} are kept"),
    "pictures-too-large": marked("Pictures of {count} bytes together; at most {most} are kept"),
    "view-not-base64": marked("The view is not base64"),
    "view-of-another-kind": marked("The view is no JPEG, PNG or WebP"),
    "view-too-large": marked("A view has at most {most} bytes, all together at most {total}"),
    "view-of-nobody": marked("The plan has no section and no seat “{name}”"),
    "view-repeats": marked("There is a view of “{name}” already"),
    "views-too-many": marked("{count} views; a plan has at most {most}"),
}
THING_WORDS: Final[dict[str, str]] = {
    "object": marked("an object"),
    "list": marked("a list"),
    "text": marked("a text"),
    "number": marked("a number"),
    "true-or-false": marked("true or false"),
    "null": marked("nothing (null)"),
    "row": marked("row"),
    "seat": marked("seat"),
    "section": marked("section"),
    "zone": marked("zone"),
    "category": marked("price category"),
    "table": marked("table"),
    "booth": marked("booth"),
    "standing-area": marked("standing area"),
    "icons": marked("icons"),
    "images": marked("images"),
    "lines": marked("lines"),
    "background": marked("background image"),
    "reference-chart": marked("reference chart"),
}
_THING_PLACES: Final = frozenset({"what", "wanted", "found"})


def finding_words(says: str, values: Mapping[str, str | int | float], message: str) -> str:
    """One sentence; `message` is what the booking system says itself, in English."""
    words = FINDING_WORDS.get(says)
    if words is None:
        return as_it_is(message)
    try:
        return _(words).format(**{name: _value(name, value) for name, value in values.items()})
    except (KeyError, IndexError):  # a newer server says it with other values
        return as_it_is(message)


def place_words(pointer: str) -> str:
    """Where it is: a line and column of the file, a pointer into it, or all of it."""
    if not pointer:
        return _("Whole file")
    line, mark, column = pointer.partition(":")
    if mark and line.isdecimal() and column.isdecimal():
        shown = figures()
        return _("Line {line}, column {column}").format(line=shown.number(int(line)), column=shown.number(int(column)))
    return as_it_is(pointer)  # it does not turn round in a language from right to left


def _value(name: str, value: str | float) -> str:
    """As people read it; what stands in the file keeps its own direction of writing."""
    if isinstance(value, str):
        thing = THING_WORDS.get(value) if name in _THING_PLACES else None
        return _(thing) if thing is not None else f"\u2068{value}\u2069"
    return figures().number(int(value)) if value == int(value) else figures().decimal(value)
