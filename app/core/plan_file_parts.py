"""A plan file of our own format as it lies in JSON (docs/seating-plan-format.md), every member of it."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.plan_images import FilePicture, FileView


class FilePart(msgspec.Struct, forbid_unknown_fields=True):
    """A member that a draft could not carry would be lost at the next save: such a file is not opened."""


class FilePoint(FilePart):
    x: float = 0.0
    y: float = 0.0


class FileSize(FilePart):
    width: float = 0.0
    height: float = 0.0


class FileCategory(FilePart):
    name: str = ""
    color: str = ""


class FileText(FilePart):
    text: str = ""
    position: FilePoint = msgspec.field(default_factory=FilePoint)
    size: float = 16.0
    color: str = ""


class FileCircle(FilePart):
    radius: float = 0.0


class FileEllipse(FilePart):
    radius: FilePoint = msgspec.field(default_factory=FilePoint)


class FilePolygon(FilePart):
    points: list[FilePoint] = []


class FileArea(FilePart):
    shape: str = "rectangle"
    position: FilePoint = msgspec.field(default_factory=FilePoint)
    rotation: float = 0.0
    color: str = ""
    border_color: str = ""
    rectangle: FileSize = msgspec.field(default_factory=FileSize)
    circle: FileCircle = msgspec.field(default_factory=FileCircle)
    ellipse: FileEllipse = msgspec.field(default_factory=FileEllipse)
    polygon: FilePolygon = msgspec.field(default_factory=FilePolygon)
    text: FileText | None = None
    floor: int | None = None


class FileStanding(FilePart):
    name: str = ""
    capacity: int = 1
    category: str = ""
    area: FileArea = msgspec.field(default_factory=FileArea)


class FileSeat(FilePart):
    x: float
    y: float
    id: str = ""
    number: str | int = ""
    category: str = ""
    marks: list[Literal["accessible", "companion", "restricted-view"]] = []
    radius: float | None = None
    start_direction: str = ""


class FileTable(FilePart):
    x: float
    y: float
    width: float
    height: float
    kind: str = "table"
    shape: str = "circle"
    rotation: float = 0.0
    whole: bool = False


class FileRow(FilePart):
    label: str | int = ""
    label_position: str = ""
    row_text: str = ""
    seat_text: str = ""
    table: FileTable | None = None
    seats: list[FileSeat] = []


class FileSection(FilePart):
    name: str = ""
    key: str = ""
    floor: int = 0
    rows: list[FileRow] = []


class FilePlan(FilePart):
    taquilla_plan: int
    name: str = ""
    size: FileSize | None = None
    focal_point: FilePoint | None = None
    floors: list[str] = []
    categories: list[FileCategory] = []
    sections: list[FileSection] = []
    areas: list[FileArea] = []
    standing: list[FileStanding] = []
    pictures: list[FilePicture] = []
    views: list[FileView] = []
    schema: str = msgspec.field(default="", name="$schema")
