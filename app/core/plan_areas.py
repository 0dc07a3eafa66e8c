"""What holds no seat: stages, texts, standing areas, pictures under the drawing. Each edit gives the next draft."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from typing import Final

from app.core.errors import PictureRefusedError
from app.core.plan_draft import DraftPicture, DraftShape, DraftStanding, PlanDraft

MAX_PLACES: Final = 10_000_000
MAX_PICTURES: Final = 20
MAX_PICTURE_BYTES: Final = 4 * 1024 * 1024
MAX_PICTURES_BYTES: Final = 8 * 1024 * 1024
PICTURE_SUFFIXES: Final = ("png", "jpg", "jpeg")
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
SIZED: Final = frozenset({"rectangle", "circle", "ellipse"})
"""Shapes that are a width and a depth."""


# ---------------------------------------------------------------- shapes


def add_shape(draft: PlanDraft, shape: DraftShape) -> PlanDraft:
    """`shape_id` is given here."""
    made = replace(shape, shape_id=draft.next_id)
    return replace(draft, shapes=(*draft.shapes, made), next_id=draft.next_id + 1)


def change_shape(draft: PlanDraft, shape: DraftShape) -> PlanDraft:
    """The shape of that id becomes this; that of a standing area too."""
    return replace(
        draft,
        shapes=tuple(shape if one.shape_id == shape.shape_id else one for one in draft.shapes),
        standing=tuple(
            replace(one, area=shape) if one.area.shape_id == shape.shape_id else one for one in draft.standing
        ),
    )


def bounds_of(shape: DraftShape) -> tuple[float, float, float, float]:
    """Left, top, right and bottom, without the shape's rotation."""
    if shape.points:
        xs, ys = [x for x, _y in shape.points], [y for _x, y in shape.points]
        return min(xs), min(ys), max(xs), max(ys)
    if shape.shape == "rectangle":
        return shape.x, shape.y, shape.x + shape.width, shape.y + shape.height
    half_width, half_height = shape.width / 2, shape.height / 2
    return shape.x - half_width, shape.y - half_height, shape.x + half_width, shape.y + half_height


def resized(shape: DraftShape, width: float, height: float) -> DraftShape:
    """The shape in another size, its upper left corner where it was; a circle stays round. Its words are centred."""
    if shape.shape == "rectangle":
        return replace(shape, width=width, height=height, text_at=None)
    if shape.shape == "circle":
        width = height = width if width != shape.width else height
    x = round(shape.x - shape.width / 2 + width / 2, 3)
    y = round(shape.y - shape.height / 2 + height / 2, 3)
    return replace(shape, x=x, y=y, width=width, height=height, text_at=None)


def reformed(shape: DraftShape, form: str) -> DraftShape:
    """A rectangle becomes an ellipse or a circle of the same box, and back; other shapes stay what they are."""
    if form == shape.shape or form not in SIZED or shape.shape not in SIZED:
        return shape
    left, top = (shape.x, shape.y) if shape.shape == "rectangle" else (
        shape.x - shape.width / 2, shape.y - shape.height / 2
    )  # fmt: skip
    width, height = shape.width, shape.height
    if form == "circle":
        width = height = min(width, height)
    at = (left, top) if form == "rectangle" else (left + width / 2, top + height / 2)
    x, y = (round(value, 3) for value in at)
    return replace(shape, shape=form, x=x, y=y, width=width, height=height, text_at=None)


# ---------------------------------------------------------------- standing areas


def add_standing(draft: PlanDraft, name: str, capacity: int, category_id: int, area: DraftShape) -> PlanDraft:
    """A standing area; the id of its shape is given here."""
    made = DraftStanding(name, _places(capacity), category_id, replace(area, shape_id=draft.next_id))
    return replace(draft, standing=(*draft.standing, made), next_id=draft.next_id + 1)


def change_standing(
    draft: PlanDraft,
    shape_id: int,
    *,
    name: str | None = None,
    capacity: int | None = None,
    category_id: int | None = None,
) -> PlanDraft:
    """Another name, capacity or category; None: as it is."""

    def changed(one: DraftStanding) -> DraftStanding:
        return replace(
            one,
            name=one.name if name is None else name,
            capacity=one.capacity if capacity is None else _places(capacity),
            category_id=one.category_id if category_id is None else category_id,
        )

    return replace(
        draft, standing=tuple(changed(one) if one.area.shape_id == shape_id else one for one in draft.standing)
    )


def _places(capacity: int) -> int:
    return max(1, min(capacity, MAX_PLACES))


# ---------------------------------------------------------------- pictures


def add_picture(draft: PlanDraft, data: bytes, width: float, height: float, floor_no: int) -> PlanDraft:
    """A picture of so many pixels, as large as fits into the hall without being drawn out of its proportions.

    Raises:
        PictureRefusedError: it is neither PNG nor JPEG, too large, or there are too many.
    """
    if not data.startswith((_PNG, _JPEG)) or width <= 0 or height <= 0:
        raise PictureRefusedError("neither PNG nor JPEG")
    if len(data) > MAX_PICTURE_BYTES:
        raise PictureRefusedError(f"{len(data)} bytes")
    if len(draft.pictures) >= MAX_PICTURES or pictures_size(draft) + len(data) > MAX_PICTURES_BYTES:
        raise PictureRefusedError(f"{len(draft.pictures)} pictures already")
    scale = min(draft.width / width, draft.height / height)
    wide, high = round(width * scale, 3), round(height * scale, 3)
    made = DraftPicture(
        b64encode(data).decode(), round((draft.width - wide) / 2, 3), round((draft.height - high) / 2, 3), wide, high,
        0.5, floor_no, draft.next_id,
    )  # fmt: skip
    return replace(draft, pictures=(*draft.pictures, made), next_id=draft.next_id + 1)


def pictures_size(draft: PlanDraft) -> int:
    """Bytes of all pictures, as far as base64 tells: to two bytes each."""
    return sum(len(picture.image) * 3 // 4 for picture in draft.pictures)


def change_picture(draft: PlanDraft, picture: DraftPicture) -> PlanDraft:
    """The picture of that id becomes this."""
    pictures = tuple(picture if one.picture_id == picture.picture_id else one for one in draft.pictures)
    return replace(draft, pictures=pictures)


def with_picture_ids(draft: PlanDraft) -> PlanDraft:
    """Ids for pictures that have none: those of a draft that an older console kept."""
    next_id = draft.next_id
    pictures = []
    for picture in draft.pictures:
        if picture.picture_id:
            pictures.append(picture)
        else:
            pictures.append(replace(picture, picture_id=next_id))
            next_id += 1
    return draft if next_id == draft.next_id else replace(draft, pictures=tuple(pictures), next_id=next_id)
