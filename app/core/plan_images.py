"""Images that a plan carries: views from seats, which the editor keeps and does not show, and pictures under it.

Views belong to seats and sections, and go when those go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from app.core.errors import PlanFileError
from app.core.plan_draft import DraftPicture, DraftView, PlanDraft

Json = dict[str, Any]  # Any: a JSON value of our own making


class FileView(msgspec.Struct, forbid_unknown_fields=True):
    """A view as our format has it."""

    image: str
    section: str | None = None
    seats: list[str] = []


class FilePicture(msgspec.Struct, forbid_unknown_fields=True):
    """A picture as our format has it."""

    image: str
    x: float
    y: float
    width: float
    height: float
    opacity: float | None = None
    floor: int = 0


def drop_lost_views(draft: PlanDraft) -> PlanDraft:
    """After seats or sections were taken away: their views go with them, those of others stay."""
    if not draft.views:
        return draft
    guids = {seat.guid for row in draft.rows for seat in row.seats}
    sections = {section.section_id for section in draft.sections}
    views = tuple(_left_of(draft.views, guids, sections))
    return draft if views == draft.views else replace(draft, views=views)


def _left_of(views: Iterable[DraftView], guids: set[str], sections: set[int]) -> Iterator[DraftView]:
    """A view of seats never becomes one of their section: without any of its seats it goes."""
    for view in views:
        section_id = view.section_id if view.section_id in sections else 0
        left = tuple(guid for guid in view.guids if guid in guids)
        if left or (section_id and not view.guids):
            yield replace(view, section_id=section_id, guids=left)


# ---------------------------------------------------------------- files


def views_of_file(views: Iterable[FileView], sections: Mapping[str, int], guids: set[str]) -> tuple[DraftView, ...]:
    """The views of a file; `sections` are ids by name, `guids` all seats.

    Raises:
        PlanFileError: a view belongs to nobody in the plan. It could not be shown, kept or put right here.
    """
    return tuple(_view_of_file(number, view, sections, guids) for number, view in enumerate(views))


def _view_of_file(number: int, view: FileView, sections: Mapping[str, int], guids: set[str]) -> DraftView:
    seats = tuple(guid.strip() for guid in view.seats)
    nobody = next((guid for guid in seats if guid not in guids), None)
    if nobody is not None:
        raise PlanFileError(f'the plan has no seat "{nobody}" - at `$.views[{number}].seats`')
    section_id = 0 if view.section is None else sections.get(view.section.strip(), 0)
    if not seats and not section_id:
        raise PlanFileError(f'the plan has no section "{view.section or ""}" - at `$.views[{number}].section`')
    return DraftView(view.image, section_id, seats)


def view_bodies(draft: PlanDraft) -> list[Json]:
    """As files have them; sections under the names that they have now."""
    names = {section.section_id: section.name.strip() for section in draft.sections}
    return [_view_body(view, names) for view in draft.views]


def _view_body(view: DraftView, names: Mapping[int, str]) -> Json:
    body: Json = {"section": names[view.section_id]} if view.section_id else {}
    if view.guids:
        body["seats"] = list(view.guids)
    return body | {"image": view.image}


def picture_of_file(picture: FilePicture, picture_id: int) -> DraftPicture:
    """A picture of a file."""
    return DraftPicture(
        picture.image, picture.x, picture.y, picture.width, picture.height, picture.opacity, picture.floor, picture_id
    )


def picture_body(picture: DraftPicture) -> Json:
    """As files have it."""
    body: Json = {"x": picture.x, "y": picture.y, "width": picture.width, "height": picture.height}
    if picture.opacity is not None:
        body["opacity"] = picture.opacity
    if picture.floor_no:
        body["floor"] = picture.floor_no
    return body | {"image": picture.image}
