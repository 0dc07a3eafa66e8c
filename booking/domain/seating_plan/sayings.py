"""Every sentence that a reader of plan files may say, by a stable name and with its values apart (case I3).

A finding's code says of which kind it is, for scripts; its sentence says what is wrong at this place, for people. The
console has each sentence in its own languages and puts the values in; whoever reads a log gets these English ones. A
sentence is never renamed or given another meaning; a test compares the names and values with those of the console.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum, unique

Value = str | int | float


class Thing(StrEnum):
    """A word within a sentence; the value names it for the console."""

    AN_OBJECT = "object"
    A_LIST = "list"
    A_TEXT = "text"
    A_NUMBER = "number"
    TRUE_OR_FALSE = "true-or-false"
    NULL = "null"
    ROW = "row"
    SEAT = "seat"
    SECTION = "section"
    ZONE = "zone"
    CATEGORY = "category"
    TABLE = "table"
    BOOTH = "booth"
    STANDING_AREA = "standing-area"
    ICONS = "icons"
    IMAGES = "images"
    LINES = "lines"
    BACKGROUND = "background"
    REFERENCE_CHART = "reference-chart"


_THINGS = {
    Thing.AN_OBJECT: "an object",
    Thing.A_LIST: "a list",
    Thing.A_TEXT: "a text",
    Thing.A_NUMBER: "a number",
    Thing.TRUE_OR_FALSE: "true or false",
    Thing.NULL: "null",
    Thing.STANDING_AREA: "standing area",
    Thing.BACKGROUND: "a background image",
    Thing.REFERENCE_CHART: "a reference chart",
}


@unique
class Says(Enum):
    """Sentences with their values in braces; the name in kebab case travels on the wire."""

    # files and texts
    FORMAT_UNKNOWN = "this is no plan in a format that can be read: {known}"
    FILE_TOO_LARGE = "the file has {count:,} bytes; at most {most:,} are read"
    FILE_IN_ANOTHER_ENCODING = "the file looks like {name}; save it as UTF-8"
    BYTE_NOT_UTF8 = "byte {count:,} is not UTF-8; save the file as UTF-8"
    ENCODING_UNKNOWN = "{detail}; save the file as UTF-8"
    BYTE_ORDER_MARK = "the file starts with a byte order mark; it is ignored"
    MORE_FINDINGS = "{count:,} more findings of {name}"
    # JSON
    NOT_JSON = "not JSON at line {line}, column {column}: {detail}"
    DIGITS_TOO_MANY = "a number has too many digits"
    FILE_IS_NULL = "the file holds null; a plan is an object"
    TOO_DEEP = "values are nested more than {most} deep"
    OBJECTS_TOO_MANY = "more than {most:,} objects or {members:,} members"
    EXPECTED = "expected {wanted}, found {found}"
    EXPECTED_INSTEAD = "expected {wanted}, found {found} ({text})"
    EXPECTED_NUMBER = "expected a number from {least:g} to {most:g}"
    EXPECTED_WHOLE = "expected a whole number from {least:,} to {most:,}"
    EXPECTED_SHORT_TEXT = "expected a text of at most {most} characters"
    EXPECTED_ONE_OF = "expected one of {known}"
    NOT_ONE_OF = '"{text}" is not one of {known}'
    NOT_FINITE = "{text} is not a finite number"
    NULL = "null is not allowed here"
    MEMBER_MISSING = 'the member "{name}" is missing'
    MEMBER_REPEATS = 'the member "{name}" stands here twice'
    MEMBER_UNKNOWN = 'the member "{name}" is not known; ignored'
    ITEMS_TOO_MANY = "{count:,} items; at most {most:,} are read"
    TEXT_TOO_LONG = "{count:,} characters; at most {most} are kept"
    TEXT_UNPRINTABLE = "the text holds control characters"
    NUMBER_AS_TEXT = 'the number {text} is read as the text "{text}"'
    COLOR_REPLACED = '"{text}" is not a colour such as #1f77b4; {color} is used'
    COLOR_LEFT_OUT = '"{text}" is not a colour such as #1f77b4; no colour is used'
    VERSION_UNREADABLE = "this is version {version} of the format; version {known} can be read"
    VERSION_NOT_SEEN = "version {version}; {least} to {most} are known, so look at the plan closely"
    # CSV
    FILE_EMPTY = "the file is empty; a header names the columns"
    LINE_UNREADABLE = "line {line} cannot be read: {detail}"
    CELLS_OR_LINES_TOO_MANY = "more than {most:,} cells or {lines:,} lines"
    CELLS_TOO_MANY = "{count:,} cells in a line; at most {most:,} are read"
    COLUMNS_TOO_MANY = "more than {most:,} columns"
    HEADER_UNKNOWN = 'line {line}, column {column} ({letter}): the header "{text}" is not known; there are {known}'
    HEADER_REPEATS = 'line {line}, column {column} ({letter}): a second column for "{name}"'
    HEADER_MISSING = 'line {line}: there is no column "{name}"'
    CELLS_BEYOND = "line {line} has {count} cells, the header {most}"
    CELL_TOO_LONG = "{count:,} characters in a cell; at most {most} are kept"
    CELL_UNPRINTABLE = "the cell holds control characters"
    CELL_NO_SEAT = '"{text}" is no seat: expected zone:seat such as Stalls:B12, with + behind an accessible one'
    CELL_NO_NUMBER = 'line {line}: "{text}" is no number'
    CELL_EMPTY = "line {line}: {name} is missing"
    CELL_OUT_OF_RANGE = "line {line}: expected a number from {least:g} to {most:g}"
    CELL_NOT_YES_OR_NO = 'line {line}: "{text}" is neither yes nor no'
    CELL_NO_MARK = 'line {line}: "{text}" is no mark; there are {known}'
    CELL_NO_CAPACITY = 'line {line}: "{text}" is no capacity from 1 to {most:,}'
    LINE_WITHOUT_SEAT_NUMBER = "line {line}: the seat has no number; give it one, or choose the repair number-seats"
    LINE_WITHOUT_STANDING_NAME = "line {line}: the standing area has no name; write it as its row or section"
    # SVG
    NOT_XML = "not XML at line {line}, column {column}: {detail}"
    NOT_SVG = "this is no SVG: its first element is not <svg>"
    ATTRIBUTES_TOO_MANY = "more than {most:,} attributes"
    ELEMENTS_TOO_MANY = "more than {most:,} elements"
    ELEMENTS_TOO_DEEP = "elements are nested more than {most} deep"
    ENTITIES = "the file declares entities; remove them (save it as plain SVG)"
    ANOTHER_FILE = "the file refers to another file; remove that"
    USES_TOO_MANY = "elements are used by elements that are used, too often to be followed"
    SHAPES_TOO_MANY = "too many shapes: those from here on are left out"
    TRANSFORM_UNREADABLE = 'the transform "{text}" of <{name}> cannot be read'
    SEAT_NOT_SHOWN = 'the seat "{name}" is not shown in the drawing; it is a seat all the same'
    SEAT_SOMEWHERE = 'where the seat "{name}" stands cannot be told from <{text}>'
    PICTURE_LEFT_OUT = "the picture is left out: kept are PNG and JPEG that the drawing itself carries, upright, a few"
    PATTERN_FIELD_UNKNOWN = 'the seat pattern "{text}": there is no {{{name}}}; there are {known}'
    PATTERN_FIELD_TWICE = 'the seat pattern "{text}": a field stands twice'
    PATTERN_WITHOUT_NUMBER = 'the seat pattern "{text}": {{number}} is missing'
    PATTERN_MATCHES_NOTHING = 'no shape matches the seat pattern "{text}"'
    SEATS_NOT_NAMED = "no shape is named as a seat; say how they are named with a seat pattern, such as {text}"
    # categories
    CATEGORY_REPEATS = 'a second category "{name}"'
    CATEGORY_MISSING = "no category, so it would have no price; give it one, or choose the repair add-categories"
    CATEGORY_GIVEN = 'no category; "{name}" is used'
    CATEGORY_ADDED = 'the category "{name}" is added to the list'
    CATEGORY_UNKNOWN = 'the category "{name}" is not in the list of categories ({known})'
    CATEGORY_OF_NO_LIST = 'the category "{name}" is not in the list of categories, which is empty'
    CATEGORY_UNUSED = "no seat is of this category"
    CATEGORIES_TOO_MANY = "more than {most} categories"
    # sections, rows, floors
    SECTION_REPEATS = 'a second {what} "{name}"'
    SECTION_NAMED = 'the zone has no name; "{name}" is used'
    SECTION_EMPTY = "the {what} has no rows; remove it or give it seats, or choose the repair drop-empty"
    SECTION_EMPTY_BUT_SHAPES = "the zone has no rows; only its shapes are kept"
    SECTION_LEFT_OUT = "the {what} has no rows; it is left out"
    ROW_EMPTY = "the row has no seats; remove it, or choose the repair drop-empty"
    ROW_LEFT_OUT = "the row has no seats; it is left out"
    ROW_UNNAMED = "the row has no label"
    ROW_REPEATS = 'a second row "{name}" in this {what}, after {place}; its seats read alike'
    LABEL_MISSING = "the {what} has no label; nobody could be sent there"
    LABEL_LOOKS_ALIKE = "the {what} {label} looks like {other} to a person; make them one or tell them apart"
    LABEL_PADDED = "the {what} {label}; the spaces are kept out"
    FLOOR_UNKNOWN = "it is on a floor that the plan has not; there are {count}, counted from 0"
    FLOOR_OF_PICTURE_UNKNOWN = "the plan has no such floor"
    FLOORS_TOO_MANY = "more than {most} floors"
    TABLE_MOVED = (
        'table "{name}" stands exactly upon table "{other}"; it is drawn {distance:g} to the right of it: put it where '
        "it belongs"
    )
    TABLES_SOLD_BY_SEAT = "tables booked as a whole: here their seats are sold one by one"
    AREAS_SOLD_BY_PLACE = "areas booked as a whole: here their places are sold one by one"
    NOT_KEPT = "{what}: not kept"
    # seats
    NO_SEATS = "the plan has neither seats nor standing places"
    SEATS_TOO_MANY = "{count:,} seats; at most {most:,} are read"
    SEAT_UNNUMBERED = "the seat has no number; give it one, or choose the repair number-seats"
    SEAT_UNLABELLED = 'the seat has no label ("{text}"); give it one, or choose the repair number-seats'
    SEAT_REPEATS = 'a second seat "{name}" in this row'
    SEAT_NUMBERED = 'the seat has no number; it becomes "{other}"'
    SEAT_NUMBERED_ANEW = '"{name}" stands twice in this row; it becomes "{other}"'
    SEATS_COINCIDE = "this seat stands at the same point as {place}"
    SEATS_OVERLAP = (
        "this seat lies over {place}: their middles are {distance:g} apart, those of neighbours here {size:g}"
    )
    IDENTITY_MISSING = 'the seat has no "{name}"'
    IDENTITY_MISSING_MEND = 'the seat has no "{name}"; give it one, or choose the repair make-guids'
    IDENTITY_REPEATS = "the same identity as the seat at {place}"
    IDENTITY_REPEATS_MEND = (
        "the same identity as the seat at {place}; give it one of its own, or choose the repair make-guids"
    )
    IDENTITY_FROM_UUID = 'the identity is missing; its "uuid" is used: {text}'
    IDENTITY_FROM_UUID_ANEW = 'the identity repeats; its "uuid" is used: {text}'
    IDENTITY_MADE = "the identity is missing; one made from its section, row and number is used: {text}"
    IDENTITY_MADE_ANEW = "the identity repeats; one made from its section, row and number is used: {text}"
    IDENTITIES_FROM_UUIDS = (
        '{count:,} seats have {distinct:,} distinct "{name}"; the "uuid" of each seat, which does not repeat, is its '
        "identity instead"
    )
    # standing areas, shapes, pictures
    STANDING_UNNAMED = "the standing area has no name"
    STANDING_REPEATS = 'a second standing area "{name}"; each becomes a tier, and tiers are told apart by name'
    SHAPE_MISSING = 'the area has no "shape"'
    POLYGON_TOO_SHORT = "a polygon needs at least 3 points"
    PICTURE_NOT_BASE64 = "the picture is not base64"
    PICTURE_OF_ANOTHER_KIND = "the picture is neither PNG nor JPEG"
    PICTURE_TOO_LARGE = "a picture of {count:,} bytes; at most {most:,} are kept"
    PICTURES_TOO_LARGE = "pictures of {count:,} bytes together; at most {most:,} are kept"
    VIEW_NOT_BASE64 = "the image is not base64"
    VIEW_OF_ANOTHER_KIND = "the image is no JPEG, PNG or WebP"
    VIEW_TOO_LARGE = "an image has at most {most:,} bytes, all together at most {total:,}"
    VIEW_OF_NOBODY = 'the plan has no section and no seat "{name}"'
    VIEW_REPEATS = 'there is a view of "{name}" already'
    VIEWS_TOO_MANY = "{count} images; a plan has at most {most}"

    @property
    def key(self) -> str:
        """The stable name of the sentence."""
        return self.name.lower().replace("_", "-")

    def of(self, **values: Value) -> Saying:
        """The sentence with its values."""
        return Saying(self, tuple(values.items()))


@dataclass(frozen=True, slots=True)
class Saying:
    """One sentence said of one thing."""

    says: Says
    values: tuple[tuple[str, Value], ...] = ()

    @property
    def text(self) -> str:
        """In English."""
        return self.says.value.format(**{name: _word(value) for name, value in self.values})


def _word(value: Value) -> Value:
    return _THINGS.get(value, value.value.replace("-", " ")) if isinstance(value, Thing) else value
