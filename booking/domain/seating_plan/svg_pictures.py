"""Pictures of a drawing: those that it carries itself, as data; what lies elsewhere is never fetched."""

from __future__ import annotations

import re

from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.model import PlanPicture
from booking.domain.seating_plan.pictures import MAX_PICTURES, MAX_PICTURES_BYTES, image_of_base64, picture_type_of
from booking.domain.seating_plan.sayings import Says
from booking.domain.seating_plan.svg_drawing import Drawing, style_of
from booking.domain.seating_plan.svg_source import Element

_DATA = re.compile(r"data:image/[\w.+-]+;base64,")


def pictures_of(findings: Findings, drawing: Drawing) -> tuple[PlanPicture, ...]:
    """The pictures that are shown upright; what is left out is warned about."""
    pictures: list[PlanPicture] = []
    size = 0
    for index, element in enumerate(drawing.elements):
        if element.tag != "image" or not drawing.is_shown(index):
            continue
        picture = _picture(findings, drawing, index, element)
        size += 0 if picture is None else len(picture.image)
        if picture is None or len(pictures) >= MAX_PICTURES or size > MAX_PICTURES_BYTES:
            message = Says.PICTURE_LEFT_OUT.of()
            findings.warn(element.pointer, FindingCode.NOT_KEPT, message)
        else:
            pictures.append(picture)
    return tuple(pictures)


def _picture(findings: Findings, drawing: Drawing, index: int, element: Element) -> PlanPicture | None:
    link = element.attributes.get("href", "").strip()
    head = _DATA.match(link)
    outlines = drawing.outlines(index)
    if head is None or not outlines or not drawing.matrix(index).is_upright:
        return None
    unsaid = Findings(findings.chosen)  # a picture is no reason to refuse seats
    image = image_of_base64(unsaid, link[head.end() :], element.pointer)
    xs, ys = [point.x for point in outlines[0]], [point.y for point in outlines[0]]
    width, height = round(max(xs) - min(xs), 3), round(max(ys) - min(ys), 3)
    if image is None or min(width, height) < 0.1:
        return None
    x, y = round(min(xs) - drawing.origin.x, 3), round(min(ys) - drawing.origin.y, 3)
    return PlanPicture(picture_type_of(image), image, x, y, width, height, _opacity(element))


def _opacity(element: Element) -> float:
    try:
        return min(1.0, max(0.0, float(style_of(element, "opacity") or 1.0)))
    except ValueError:
        return 1.0
