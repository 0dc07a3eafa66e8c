"""Pictures under a plan: the drawing of an architect, the photograph of a square. They come with the plan.

Nothing is ever fetched: our own format and SVG drawings carry the bytes themselves. PNG or JPEG, each of at most
`MAX_PICTURE_BYTES`, together `MAX_PICTURES_BYTES`, because every console loads them with the plan.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from typing import Any

from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.members import Members
from booking.domain.seating_plan.model import MAX_FLOORS, PlanPicture
from booking.domain.seating_plan.sayings import Says

MAX_PICTURES = 20
MAX_PICTURE_BYTES = 4 * 1024 * 1024
MAX_PICTURES_BYTES = 8 * 1024 * 1024
_PICTURE = frozenset({"image", "x", "y", "width", "height", "opacity", "floor"})
_Object = dict[str, Any]  # Any: a JSON value of our own making


def picture_type_of(image: bytes) -> str:
    """By the first bytes of the file; empty for every other kind."""
    if image.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    return "image/jpeg" if image.startswith(b"\xff\xd8\xff") else ""


def image_of_base64(findings: Findings, text: str, pointer: str) -> bytes | None:
    """The bytes of a picture; None after a fault."""
    try:
        image = b64decode("".join(text.split()), validate=True)
    except (Base64Error, ValueError):
        findings.fault(pointer, FindingCode.UNKNOWN_VALUE, Says.PICTURE_NOT_BASE64.of())
        return None
    if len(image) > MAX_PICTURE_BYTES:
        message = Says.PICTURE_TOO_LARGE.of(count=len(image), most=MAX_PICTURE_BYTES)
        findings.fault(pointer, FindingCode.FILE_TOO_LARGE, message)
        return None
    if not picture_type_of(image):
        findings.fault(pointer, FindingCode.UNKNOWN_VALUE, Says.PICTURE_OF_ANOTHER_KIND.of())
        return None
    return image


def read_pictures(findings: Findings, plan: Members, member: str, floors: int) -> tuple[PlanPicture, ...]:
    """The pictures of a file in JSON; without those that were reported."""
    pictures: list[PlanPicture] = []
    size = 0
    for index, value in enumerate(plan.items(member, limit=MAX_PICTURES, required=False)):
        picture = _read_picture(findings, Members(findings, value, f"{plan.at(member)}/{index}"), floors)
        if picture is not None:
            size += len(picture.image)
            pictures.append(picture)
    if size > MAX_PICTURES_BYTES:
        message = Says.PICTURES_TOO_LARGE.of(count=size, most=MAX_PICTURES_BYTES)
        findings.fault(plan.at(member), FindingCode.FILE_TOO_LARGE, message)
    return tuple(pictures)


def _read_picture(findings: Findings, members: Members, floors: int) -> PlanPicture | None:
    members.warn_about_others(_PICTURE)
    text = members.text("image", limit=2 * MAX_PICTURE_BYTES)
    x, y = members.number("x"), members.number("y")
    width, height = members.number("width", minimum=0.1), members.number("height", minimum=0.1)
    opacity = members.number("opacity", required=False, minimum=0.0)
    floor_no = members.whole("floor", minimum=0, maximum=MAX_FLOORS - 1, required=False) or 0
    if opacity is not None and opacity > 1.0:
        findings.fault(members.at("opacity"), FindingCode.OUT_OF_RANGE, Says.EXPECTED_NUMBER.of(least=0, most=1))
    if floor_no >= max(1, floors):
        findings.fault(members.at("floor"), FindingCode.UNKNOWN_VALUE, Says.FLOOR_OF_PICTURE_UNKNOWN.of())
    image = None if text is None else image_of_base64(findings, text, members.at("image"))
    if image is None or x is None or y is None or width is None or height is None:
        return None
    return PlanPicture(
        picture_type_of(image), image, x, y, width, height, 1.0 if opacity is None else opacity, floor_no
    )


def picture_object(picture: PlanPicture) -> _Object:
    """As files have it."""
    body: _Object = {"x": picture.x, "y": picture.y, "width": picture.width, "height": picture.height}
    body |= {"opacity": picture.opacity} if picture.opacity != 1.0 else {}
    body |= {"floor": picture.floor_no} if picture.floor_no else {}
    return body | {"image": b64encode(picture.image).decode()}


def picture_body(picture: PlanPicture) -> _Object:
    """As the stored document and the wire have it."""
    return {
        "media_type": picture.media_type,
        "image": b64encode(picture.image).decode(),
        "x": picture.x,
        "y": picture.y,
        "width": picture.width,
        "height": picture.height,
        "opacity": picture.opacity,
        "floor_no": picture.floor_no,
    }


def picture_of_body(body: _Object) -> PlanPicture:
    """A picture of a stored document."""
    return PlanPicture(
        body["media_type"],
        b64decode(body["image"]),
        body["x"],
        body["y"],
        body["width"],
        body["height"],
        body["opacity"],
        body["floor_no"],
    )
